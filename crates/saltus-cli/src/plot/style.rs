//! What all pictures in files have in common: colours of texts, and a frame of their own.

/// Titles and numbers.
pub const TEXT: &str = "#222222";
/// What explains them.
pub const FAINT: &str = "#666666";

/// Attributes of a whole picture: its size, and fonts that are there nearly everywhere.
pub fn whole(width: f64, height: f64) -> String {
    format!(
        "width=\"{width}\" height=\"{height}\" \
         font-family=\"'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif\""
    )
}
