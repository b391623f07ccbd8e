//! Charts beside each other in one picture, for a file.

use super::axis::Axis;
use super::frame::{Division, Frame};
use super::style::{self, TEXT};
use super::svg::Svg;

const WIDTH: f64 = 400.0;
const TOP: f64 = 84.0;
const GROUND: f64 = TOP + 300.0;
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
    pub fn panel(&mut self, number: usize) -> Panel<'_> {
        let left = LEFT + number as f64 * (LEFT + WIDTH + GAP);
        let right = left + WIDTH;
        let frame = Frame { left, right, top: TOP, ground: GROUND, look: &style::LOOK };
        Panel { svg: &mut self.svg, frame }
    }

    /// The finished picture, and what it shows in words.
    pub fn finish(self, description: &str) -> String {
        self.svg.finish(&style::whole(self.width, GROUND + BOTTOM), description)
    }
}

/// One of the charts.
pub struct Panel<'a> {
    pub svg: &'a mut Svg,
    pub frame: Frame,
}

impl Panel<'_> {
    /// A text of some size and colour.
    pub fn text(&mut self, x: f64, y: f64, text: &str, size: u32, anchor: &str, colour: &str) {
        self.svg.text(x, y, text, &style::text(size, anchor, colour));
    }

    /// A line above the chart.
    pub fn title(&mut self, title: &str) {
        self.text(self.frame.left, self.frame.top - 14.0, title, 13, "start", TEXT);
    }

    /// Both axes, drawn: x from 0, y over a range.
    pub fn axes(
        &mut self,
        (last, name): (f64, &str),
        (low, high): (f64, f64),
        division: Division,
    ) -> (Axis, Axis) {
        let (x, y) = (self.frame.x_axis(0.0, last), self.frame.y_axis(low, high, division));
        self.frame.y_ticks(self.svg, &y, 5);
        self.frame.x_ticks(self.svg, &x, name);
        (x, y)
    }

    /// A line through places.
    pub fn curve(&mut self, points: impl Iterator<Item = (f64, f64)>, colour: &str, more: &str) {
        let attributes = format!(r#"fill="none" stroke="{colour}" stroke-width="2" {more}"#);
        self.svg.path(points, &attributes);
    }
}
