//! Pictures in files: SVG as it is, or PNG with a font of its own, as machines may have none.

use super::outline::outlined;
use crate::export::{cannot_write, check_free};
use crate::failure::Failure;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use saltus::files::{Durability, Existing, put_bytes};
use std::path::Path;

/// Pixels per unit of a drawing: sharp on screens and in print.
const PIXELS: f32 = 2.0;

#[derive(Clone, Copy)]
enum Format {
    Svg,
    Png,
}

fn format(path: &Path) -> Result<Format, Failure> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    match ending.as_deref() {
        Some("svg") => Ok(Format::Svg),
        Some("png") => Ok(Format::Png),
        _ => Err(Failure::Usage(format!(
            "a picture is written as .svg or .png, and '{}' ends in neither",
            path.display()
        ))),
    }
}

/// Fails if a picture could not be written under that name, before any work is done.
pub fn check_name(path: &Path, existing: Existing) -> Result<(), Failure> {
    format(path)?;
    check_free(path, existing == Existing::Replace)
}

/// Writes a drawing to a file of the format that its name tells.
pub fn write(svg: &str, path: &Path, existing: Existing) -> Result<(), Failure> {
    let bytes = match format(path)? {
        Format::Svg => svg.as_bytes().to_vec(),
        Format::Png => png(svg)?,
    };
    put_bytes(path, &bytes, Durability::Now, existing).map_err(|error| cannot_write(path, &error))
}

fn png(svg: &str) -> Result<Vec<u8>, Failure> {
    let failed = |reason: String| Failure::Failed(format!("cannot draw the picture: {reason}"));
    let svg = outlined(svg).map_err(failed)?;
    let tree =
        Tree::from_str(&svg, &Options::default()).map_err(|error| failed(error.to_string()))?;
    let size = tree.size().to_int_size().scale_by(PIXELS);
    let size = size.ok_or_else(|| failed("it is empty".to_owned()))?;
    let mut pixels = Pixmap::new(size.width(), size.height())
        .ok_or_else(|| failed("it does not fit in memory".to_owned()))?;
    let scale = Transform::from_scale(PIXELS, PIXELS);
    resvg::render(&tree, scale, &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_leave_ink_on_a_png() {
        let draw = |text: &str| {
            let mut svg = crate::plot::svg::Svg::new(100.0, 30.0);
            svg.text(5.0, 20.0, text, r#"font-size="16" font-family="'DejaVu Sans', sans-serif""#);
            png(&svg.finish(r#"width="100" height="30""#, "")).unwrap()
        };
        assert!(draw("ESS 10⁻³ π").len() > draw("").len() + 200);
        assert_eq!(draw("")[..4], [0x89, b'P', b'N', b'G']);
    }

    #[test]
    fn the_name_tells_the_format() {
        for wrong in ["plot", "plot.pdf", "no/such/folder/plot.svg"] {
            assert!(
                matches!(check_name(Path::new(wrong), Existing::Keep), Err(Failure::Usage(_))),
                "{wrong}"
            );
        }
        assert!(check_name(Path::new("plot.SVG"), Existing::Keep).is_ok());
    }
}
