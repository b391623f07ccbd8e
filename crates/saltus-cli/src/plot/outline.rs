//! The texts of a drawing as shapes: letters of a font that is compiled in, as machines may have none.
//!
//! It knows what [`Svg::text`](super::svg::Svg::text) writes and no more: a place, a size, an anchor, one line.

use super::svg::digits;
use std::fmt::Write;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// What a browser takes where a text has no size.
const SIZE: f64 = 16.0;

/// A drawing whose texts are shapes.
pub fn outlined(svg: &str) -> Result<String, String> {
    let face = Face::parse(dejavu::sans::regular(), 0).map_err(|error| error.to_string())?;
    let mut drawing = String::new();
    let mut rest = svg;
    while let Some((before, text)) = rest.split_once("<text ") {
        drawing.push_str(before);
        let (element, after) = text.split_once("</text>").ok_or("a text that does not end")?;
        let (attributes, words) = element.split_once('>').ok_or("a text that does not begin")?;
        drawing.push_str(&shapes(&face, attributes, &unescape(words)));
        rest = after;
    }
    drawing.push_str(rest);
    Ok(drawing)
}

/// One path of all letters.
fn shapes(face: &Face, attributes: &str, words: &str) -> String {
    let number = |name: &str| attribute(attributes, name).and_then(|text| text.parse::<f64>().ok());
    let scale = number("font-size").unwrap_or(SIZE) / f64::from(face.units_per_em());
    let letters: Vec<(GlyphId, f64)> = words
        .chars()
        .map(|letter| {
            // The first glyph is a box: this letter is not in the font.
            let glyph = face.glyph_index(letter).unwrap_or(GlyphId(0));
            (glyph, scale * f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)))
        })
        .collect();
    let width: f64 = letters.iter().map(|(_, advance)| advance).sum();
    let before = match attribute(attributes, "text-anchor") {
        Some("middle") => width / 2.0,
        Some("end") => width,
        _ => 0.0,
    };
    let (x, y) = (number("x").unwrap_or(0.0) - before, number("y").unwrap_or(0.0));
    let mut pen = Pen { scale, x, y, data: String::new() };
    for (glyph, advance) in letters {
        face.outline_glyph(glyph, &mut pen);
        pen.x += advance;
    }
    let fill = attribute(attributes, "fill").unwrap_or("#000000");
    format!(r#"<path d="{}" fill="{fill}"/>"#, pen.data)
}

/// The value of an attribute, if it is there.
fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let mut parts = attributes.split('"');
    while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
        if key.trim().strip_suffix('=') == Some(name) {
            return Some(value);
        }
    }
    None
}

/// What [`escape`](super::svg::escape) was given.
fn unescape(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&amp;", "&")
}

/// Draws letters where they belong; fonts look up, drawings down.
struct Pen {
    scale: f64,
    x: f64,
    y: f64,
    data: String,
}

impl Pen {
    fn to(&mut self, command: char, points: &[(f32, f32)]) {
        self.data.push(command);
        for (x, y) in points {
            let x = digits(self.x + self.scale * f64::from(*x));
            let y = digits(self.y - self.scale * f64::from(*y));
            // Writing to a string cannot fail.
            let _ = write!(self.data, "{x} {y} ");
        }
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.to('M', &[(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.to('L', &[(x, y)]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.to('Q', &[(x1, y1), (x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.to('C', &[(x1, y1), (x2, y2), (x, y)]);
    }

    fn close(&mut self) {
        self.data.push('Z');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::svg::Svg;

    /// Left and right end of what a text draws.
    fn ends(text: &str, attributes: &str) -> (f64, f64) {
        let mut svg = Svg::new(100.0, 30.0);
        svg.text(50.0, 20.0, text, attributes);
        let drawing = outlined(&svg.finish("", "")).unwrap();
        assert!(!drawing.contains("<text"), "{drawing}");
        let data = drawing.split("<path d=\"").nth(1).unwrap().split('"').next().unwrap();
        let numbers = data.split(|c: char| c.is_ascii_alphabetic() || c == ' ');
        let numbers: Vec<f64> = numbers.filter_map(|number| number.parse().ok()).collect();
        let x = numbers.iter().step_by(2);
        x.fold((f64::INFINITY, 0.0), |(left, right), x| (left.min(*x), right.max(*x)))
    }

    #[test]
    fn texts_begin_end_or_have_their_middle_at_their_place() {
        let (left, right) = ends("HHHH", r#"font-size="10""#);
        assert!(left > 50.0 && left < 52.0, "{left}");
        let width = right - left;
        // Four capitals of three quarters of their size each.
        assert!((25.0..31.0).contains(&width), "{width}");
        let (left, right) = ends("HHHH", r#"font-size="10" text-anchor="end""#);
        assert!(right < 50.0 && right > 48.0 && (right - left - width).abs() < 0.02);
        let (left, right) = ends("HHHH", r#"font-size="10" text-anchor="middle""#);
        assert!((left + right - 100.0).abs() < 0.1, "{left} {right}");
        let (left, right) = ends("HHHH", r#"font-size="20""#);
        assert!((right - left - 2.0 * width).abs() < 0.03);
    }

    #[test]
    fn letters_that_svg_writes_otherwise_are_drawn_as_they_are() {
        assert_eq!(unescape(&crate::plot::svg::escape("a<b & \"c\" &lt;>")), "a<b & \"c\" &lt;>");
        assert!(ends("&", "").1 < ends("&&", "").1);
    }
}
