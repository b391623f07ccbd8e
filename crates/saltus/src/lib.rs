//! Fast, exact sampling from discrete distributions.

pub mod math;
pub mod model;
mod names;
pub mod rng;
pub mod space;
pub mod stats;
pub mod weight;

pub use model::{Differences, Model, ModelError};
pub use rng::ChainRng;
pub use space::{Space, States};
pub use weight::Weight;
