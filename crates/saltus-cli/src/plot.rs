//! Drawing: SVG written by hand, and the same as PNG.

pub mod axis;
pub mod bars;
pub mod chart;
mod file;
pub mod svg;

pub use file::{check_name, write};
