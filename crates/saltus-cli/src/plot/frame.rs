//! Charts beside each other in one picture, for a file.

use super::axis::Axis;
use super::style::{self, FAINT, TEXT};
use super::svg::Svg;

/// Colours that stay apart for the colour-blind (Okabe and Ito 2008).
pub const COLOURS: [&str; 7] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"];

/// The width of a chart between its axes.
pub const WIDTH: f64 = 400.0;
/// Where its y axis ends.
pub const TOP: f64 = 84.0;
/// Where its x axis is.
pub const GROUND: f64 = TOP + 300.0;
const LEFT: f64 = 64.0;
const BOTTOM: f64 = 56.0;
const GAP: f64 = 20.0;

/// A picture of some charts that is being drawn.
pub struct Row {
    svg: Svg,
    width: f64,
}

impl Row {
    /// An empty picture for so many charts.
    pub fn new(charts: usize, title: &str) -> Self {
        let width = charts as f64 * (LEFT + WIDTH + GAP);
        let mut svg = Svg::new(width, GROUND + BOTTOM);
        svg.rectangle(0.0, 0.0, width, GROUND + BOTTOM, r##"fill="#ffffff""##);
        svg.text(24.0, 34.0, title, &format!(r#"font-size="18" fill="{TEXT}""#));
        Self { svg, width }
    }

    /// One of its charts, from the left.
    pub fn frame(&mut self, number: usize) -> Frame<'_> {
        Frame { svg: &mut self.svg, left: LEFT + number as f64 * (LEFT + WIDTH + GAP) }
    }

    /// The finished picture, and what it shows in words.
    pub fn finish(self, description: &str) -> String {
        self.svg.finish(&style::whole(self.width, GROUND + BOTTOM), description)
    }
}

/// One of the charts.
pub struct Frame<'a> {
    pub svg: &'a mut Svg,
    /// Where its y axis is.
    pub left: f64,
}

impl Frame<'_> {
    pub fn text(&mut self, x: f64, y: f64, text: &str, size: u32, anchor: &str, colour: &str) {
        let attributes = format!(r#"font-size="{size}" text-anchor="{anchor}" fill="{colour}""#);
        self.svg.text(x, y, text, &attributes);
    }

    pub fn title(&mut self, title: &str) {
        self.text(self.left, TOP - 14.0, title, 13, "start", TEXT);
    }

    pub fn x_axis(&self, high: f64) -> Axis {
        Axis::linear(0.0, high, self.left, self.left + WIDTH)
    }

    pub fn x_ticks(&mut self, axis: &Axis, name: &str) {
        for tick in axis.ticks(5) {
            self.text(tick.at, GROUND + 18.0, &tick.label, 11, "middle", FAINT);
        }
        self.text(self.left + WIDTH / 2.0, GROUND + 38.0, name, 12, "middle", TEXT);
        let ends = ((self.left, GROUND), (self.left + WIDTH, GROUND));
        self.svg.line(ends.0, ends.1, &format!(r#"stroke="{FAINT}""#));
    }

    pub fn y_ticks(&mut self, axis: &Axis) {
        for tick in axis.ticks(5) {
            let colour = if tick.label.is_empty() { "#f1f1f1" } else { "#d9d9d9" };
            let ends = ((self.left, tick.at), (self.left + WIDTH, tick.at));
            self.svg.line(ends.0, ends.1, &format!(r#"stroke="{colour}""#));
            self.text(self.left - 8.0, tick.at + 4.0, &tick.label, 11, "end", FAINT);
        }
    }

    pub fn curve(&mut self, points: impl Iterator<Item = (f64, f64)>, colour: &str, more: &str) {
        let attributes = format!(r#"fill="none" stroke="{colour}" stroke-width="2" {more}"#);
        self.svg.path(points, &attributes);
    }
}
