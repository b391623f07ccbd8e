//! Drawing: SVG written by hand, the same as PNG, many images in one, and bars in a terminal.

pub mod axis;
pub mod bars;
pub mod chart;
mod file;
pub mod frame;
pub mod mosaic;
mod outline;
pub mod row;
pub mod style;
pub mod svg;
mod text;

pub use file::{check_name, write};
