//! Fast, exact sampling from discrete distributions.

pub mod kernel;
pub mod math;
pub mod model;
mod names;
pub mod rng;
pub mod run;
pub mod sampler;
pub mod space;
pub mod stats;
pub mod summary;
pub mod trace;
pub mod tune;
pub mod weight;

pub use model::{Differences, Model, ModelError};
pub use rng::ChainRng;
pub use run::{Ended, Outcome, Run, RunError, Settings};
pub use sampler::Sampler;
pub use space::{Space, States};
pub use summary::Summary;
pub use trace::Trace;
pub use weight::Weight;
