//! A chart with two axes for a page: its colours come from the page's style sheet.

use super::axis::Axis;
use super::svg::Svg;

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 46.0;

/// How an axis is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// Equal distances for equal differences.
    Linear,
    /// Equal distances for equal ratios.
    Logarithmic,
}

/// A chart that is being drawn.
pub struct Chart {
    svg: Svg,
    x: Axis,
    y: Axis,
}

impl Chart {
    /// A frame around ranges of x and y, with marks and a name below the x axis.
    pub fn new(x: (f64, f64), y: (f64, f64), division: Division, name: &str) -> Self {
        let x = Axis::linear(x.0, x.1, LEFT, WIDTH - RIGHT);
        let y = match division {
            Division::Linear => Axis::linear(y.0, y.1, HEIGHT - BOTTOM, TOP),
            Division::Logarithmic => Axis::logarithmic(y.0, y.1, HEIGHT - BOTTOM, TOP),
        };
        let mut svg = Svg::new(WIDTH, HEIGHT);
        for tick in y.ticks(4) {
            let class = if tick.label.is_empty() { "grid faint" } else { "grid" };
            let ends = ((LEFT, tick.at), (WIDTH - RIGHT, tick.at));
            svg.line(ends.0, ends.1, &format!(r#"class="{class}""#));
            svg.text(LEFT - 7.0, tick.at + 4.0, &tick.label, r#"class="tick" text-anchor="end""#);
        }
        for tick in x.ticks(5) {
            let y = HEIGHT - BOTTOM;
            svg.line((tick.at, y), (tick.at, y + 4.0), r#"class="mark""#);
            svg.text(tick.at, y + 19.0, &tick.label, r#"class="tick" text-anchor="middle""#);
        }
        let ground = HEIGHT - BOTTOM;
        svg.line((LEFT, ground), (WIDTH - RIGHT, ground), r#"class="mark""#);
        let middle = (LEFT + WIDTH - RIGHT) / 2.0;
        svg.text(middle, HEIGHT - 6.0, name, r#"class="name" text-anchor="middle""#);
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
        let ends = ((LEFT, y), (WIDTH - RIGHT, y));
        self.svg.line(ends.0, ends.1, &format!(r#"class="{class}""#));
    }

    /// The finished chart, and what it shows in words.
    pub fn finish(self, description: &str) -> String {
        self.svg.finish(r#"class="chart""#, description)
    }
}
