//! A drawing in SVG: shapes with attributes, one after the other.

use std::fmt::Write;

/// A drawing that is being made. Attributes are written out by the caller, as `fill="none"`.
pub struct Svg {
    width: f64,
    height: f64,
    body: String,
}

impl Svg {
    /// An empty drawing of that many units.
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    /// A filled rectangle.
    pub fn rectangle(&mut self, x: f64, y: f64, width: f64, height: f64, attributes: &str) {
        let (x, y, width, height) = (digits(x), digits(y), digits(width), digits(height));
        self.push(&format!(
            r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" {attributes}/>"#
        ));
    }

    /// A line from one point to another.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), attributes: &str) {
        self.push(&format!(
            r#"<line x1="{}" y1="{}" x2="{}" y2="{}" {attributes}/>"#,
            digits(from.0),
            digits(from.1),
            digits(to.0),
            digits(to.1)
        ));
    }

    /// A line through many points.
    pub fn path(&mut self, points: impl IntoIterator<Item = (f64, f64)>, attributes: &str) {
        let mut data = String::new();
        for (number, (x, y)) in points.into_iter().enumerate() {
            data.push(if number == 0 { 'M' } else { ' ' });
            // Writing to a string cannot fail.
            let _ = write!(data, "{} {}", digits(x), digits(y));
        }
        self.push(&format!(r#"<path d="{data}" {attributes}/>"#));
    }

    /// A text at its baseline.
    pub fn text(&mut self, x: f64, y: f64, text: &str, attributes: &str) {
        let (x, y, text) = (digits(x), digits(y), escape(text));
        self.push(&format!(r#"<text x="{x}" y="{y}" {attributes}>{text}</text>"#));
    }

    /// Anything else that SVG knows.
    pub fn push(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }

    /// The finished drawing, with attributes for the whole and a sentence for those who cannot see
    /// it.
    pub fn finish(self, attributes: &str, description: &str) -> String {
        let Self { width, height, body } = self;
        let description = escape(description);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             role=\"img\" aria-label=\"{description}\" {attributes}>\n{body}</svg>\n"
        )
    }
}

/// A coordinate: a hundredth of a unit is finer than any screen, and shorter than all digits.
pub fn digits(number: f64) -> String {
    let mut text = format!("{:.2}", if number.is_finite() { number } else { 0.0 });
    text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    if text == "-0" { "0".to_owned() } else { text }
}

/// A text as it may stand between tags and in attributes.
pub fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // SVG is XML, which has no other control characters.
            c if c.is_control() && !c.is_whitespace() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short() {
        let texts = [1.0, 0.5, 12.345, -0.001, 100.0, f64::NAN].map(digits);
        assert_eq!(texts, ["1", "0.5", "12.35", "0", "100", "0"]);
    }

    #[test]
    fn texts_cannot_break_out() {
        let mut svg = Svg::new(10.0, 10.0);
        svg.text(0.0, 0.0, "<a & \"b\">\u{7}", "class=\"t\"");
        let text = svg.finish("", "\"x\"");
        assert!(text.contains("&lt;a &amp; &quot;b&quot;&gt;\u{fffd}"), "{text}");
        assert!(text.contains(r#"aria-label="&quot;x&quot;""#), "{text}");
    }
}
