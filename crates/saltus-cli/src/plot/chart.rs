//! A chart with two axes for a page: its colours come from the page's style sheet.

use super::axis::Axis;
use super::frame::{Division, Frame, Look};
use super::svg::Svg;

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 250.0;

const FRAME: Frame =
    Frame { left: 64.0, right: WIDTH - 20.0, top: 12.0, ground: HEIGHT - 46.0, look: &LOOK };
const LOOK: Look = Look {
    grid: r#"class="grid""#,
    faint: r#"class="grid faint""#,
    axis: r#"class="mark""#,
    number: r#"class="tick""#,
    name: r#"class="name""#,
};

/// A chart that is being drawn.
pub struct Chart {
    svg: Svg,
    x: Axis,
    y: Axis,
}

impl Chart {
    /// A frame around ranges of x and y, with marks and a name below the x axis.
    pub fn new(x: (f64, f64), y: (f64, f64), division: Division, name: &str) -> Self {
        let (x, y) = (FRAME.x_axis(x.0, x.1), FRAME.y_axis(y.0, y.1, division));
        let mut svg = Svg::new(WIDTH, HEIGHT);
        FRAME.y_ticks(&mut svg, &y, 4);
        FRAME.x_ticks(&mut svg, &x, name);
        Self { svg, x, y }
    }

    /// A line through points.
    pub fn line(&mut self, points: impl IntoIterator<Item = (f64, f64)>, class: &str) {
        let (x, y) = (self.x, self.y);
        let places = points.into_iter().map(|point| (x.at(point.0), y.at(point.1)));
        self.svg.path(places, &format!(r#"class="line {class}""#));
    }

    /// A dot at each point.
    pub fn dots(&mut self, points: &[(f64, f64)], class: &str) {
        for (x, y) in points {
            let (x, y) = (super::svg::digits(self.x.at(*x)), super::svg::digits(self.y.at(*y)));
            self.svg.push(&format!(r#"<circle class="dot {class}" cx="{x}" cy="{y}" r="3"/>"#));
        }
    }

    /// A bar from 0 over a stretch of the x axis.
    pub fn bar(&mut self, from: f64, to: f64, height: f64, class: &str) {
        let (left, right) = (self.x.at(from), self.x.at(to));
        let (top, ground) = (self.y.at(height), self.y.at(0.0));
        // A hair of space between neighbours.
        let gap = ((right - left) * 0.08).min(1.0);
        let width = (right - left - gap).max(0.3);
        let class = format!(r#"class="bar {class}""#);
        self.svg.rectangle(left, top.min(ground), width, (ground - top).abs(), &class);
    }

    /// A straight line across at some height.
    pub fn level(&mut self, height: f64, class: &str) {
        let y = self.y.at(height);
        FRAME.across(&mut self.svg, y, &format!(r#"class="{class}""#));
    }

    /// The finished chart, and what it shows in words.
    pub fn finish(self, description: &str) -> String {
        self.svg.finish(r#"class="chart""#, description)
    }
}
