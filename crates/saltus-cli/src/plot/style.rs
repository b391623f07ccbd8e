//! What all pictures in files have in common: colours, texts, marks, and the attributes of the whole.

use super::frame::Look;

/// Titles and numbers.
pub const TEXT: &str = "#222222";
/// What explains them.
pub const FAINT: &str = "#666666";
/// Colours that stay apart for the colour-blind (Okabe and Ito 2008).
pub const COLOURS: [&str; 7] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"];

/// The marks of a chart.
pub const LOOK: Look = Look {
    grid: r##"stroke="#d9d9d9""##,
    faint: r##"stroke="#f1f1f1""##,
    axis: r##"stroke="#666666""##,
    number: r##"font-size="11" fill="#666666""##,
    name: r##"font-size="12" fill="#222222""##,
};

/// Attributes of a text.
pub fn text(size: u32, anchor: &str, colour: &str) -> String {
    format!(r#"font-size="{size}" text-anchor="{anchor}" fill="{colour}""#)
}

/// Attributes of a whole picture: its size, and fonts that are there nearly everywhere.
pub fn whole(width: f64, height: f64) -> String {
    format!(
        "width=\"{width}\" height=\"{height}\" \
         font-family=\"'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif\""
    )
}
