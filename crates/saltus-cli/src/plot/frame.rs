//! The frame of a chart, the same for all of them: where its axes are, with marks, numbers and names.

use super::axis::Axis;
use super::svg::Svg;

/// The place between the axes of a chart.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Where the y axis is.
    pub left: f64,
    /// Where the x axis ends.
    pub right: f64,
    /// Where the y axis ends.
    pub top: f64,
    /// Where the x axis is.
    pub ground: f64,
    /// How its marks look.
    pub look: &'static Look,
}

/// Attributes of what a frame is made of.
#[derive(Debug)]
pub struct Look {
    /// A line across at a number.
    pub grid: &'static str,
    /// A line across between numbers.
    pub faint: &'static str,
    /// The x axis.
    pub axis: &'static str,
    /// A number at an axis.
    pub number: &'static str,
    /// What an axis measures.
    pub name: &'static str,
}

/// How an axis is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// Equal distances for equal differences.
    Linear,
    /// Equal distances for equal ratios.
    Logarithmic,
}

impl Frame {
    /// An x axis from one number to another.
    pub fn x_axis(&self, low: f64, high: f64) -> Axis {
        Axis::linear(low, high, self.left, self.right)
    }

    /// A y axis from one number to another.
    pub fn y_axis(&self, low: f64, high: f64, division: Division) -> Axis {
        let along = match division {
            Division::Linear => Axis::linear,
            Division::Logarithmic => Axis::logarithmic,
        };
        along(low, high, self.ground, self.top)
    }

    /// Half the way between its sides.
    pub fn middle(&self) -> f64 {
        (self.left + self.right) / 2.0
    }

    /// Lines across, with their numbers.
    pub fn y_ticks(&self, svg: &mut Svg, axis: &Axis, wanted: usize) {
        let number = format!(r#"{} text-anchor="end""#, self.look.number);
        for tick in axis.ticks(wanted) {
            let line = if tick.label.is_empty() { self.look.faint } else { self.look.grid };
            self.across(svg, tick.at, line);
            svg.text(self.left - 8.0, tick.at + 4.0, &tick.label, &number);
        }
    }

    /// The x axis with marks, their numbers, and what it measures.
    pub fn x_ticks(&self, svg: &mut Svg, axis: &Axis, name: &str) {
        for tick in axis.ticks(5) {
            svg.line((tick.at, self.ground), (tick.at, self.ground + 4.0), self.look.axis);
            self.x_number(svg, tick.at, &tick.label);
        }
        self.x_name(svg, name);
    }

    /// A number below the x axis.
    pub fn x_number(&self, svg: &mut Svg, x: f64, number: &str) {
        let attributes = format!(r#"{} text-anchor="middle""#, self.look.number);
        svg.text(x, self.ground + 18.0, number, &attributes);
    }

    /// The x axis, and what it measures.
    pub fn x_name(&self, svg: &mut Svg, name: &str) {
        self.across(svg, self.ground, self.look.axis);
        let attributes = format!(r#"{} text-anchor="middle""#, self.look.name);
        svg.text(self.middle(), self.ground + 38.0, name, &attributes);
    }

    /// A straight line from side to side.
    pub fn across(&self, svg: &mut Svg, y: f64, attributes: &str) {
        svg.line((self.left, y), (self.right, y), attributes);
    }
}
