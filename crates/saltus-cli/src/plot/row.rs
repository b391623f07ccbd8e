//! Charts in one picture for a file, beside each other and then below.

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
/// Charts beside each other, at most.
const MOST: usize = 4;
/// From one line of charts to the next.
const LINE: f64 = GROUND + BOTTOM - 40.0;

/// A picture of some charts that is being drawn.
pub struct Row {
    svg: Svg,
    width: f64,
    height: f64,
}

impl Row {
    /// An empty picture for so many charts.
    pub fn new(charts: usize, title: &str) -> Self {
        let width = charts.min(MOST) as f64 * (LEFT + WIDTH + GAP);
        let lines = charts.div_ceil(MOST).max(1);
        let height = GROUND + BOTTOM + (lines - 1) as f64 * LINE;
        let mut svg = Svg::new(width, height);
        svg.rectangle(0.0, 0.0, width, height, r##"fill="#ffffff""##);
        svg.text(24.0, 34.0, title, &format!(r#"font-size="18" fill="{TEXT}""#));
        Self { svg, width, height }
    }

    /// One of its charts, from the left.
    pub fn panel(&mut self, number: usize) -> Panel<'_> {
        let left = LEFT + (number % MOST) as f64 * (LEFT + WIDTH + GAP);
        let below = (number / MOST) as f64 * LINE;
        let (right, top, ground) = (left + WIDTH, TOP + below, GROUND + below);
        let frame = Frame { left, right, top, ground, look: &style::LOOK };
        Panel { svg: &mut self.svg, frame }
    }

    /// The finished picture, and what it shows in words.
    pub fn finish(self, description: &str) -> String {
        self.svg.finish(&style::whole(self.width, self.height), description)
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
        range: (f64, f64),
        division: Division,
    ) -> (Axis, Axis) {
        self.axes_from((0.0, last, name), range, division)
    }

    /// The same with x from anywhere.
    pub fn axes_from(
        &mut self,
        (first, last, name): (f64, f64, &str),
        (low, high): (f64, f64),
        division: Division,
    ) -> (Axis, Axis) {
        let (x, y) = (self.frame.x_axis(first, last), self.frame.y_axis(low, high, division));
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
