//! Learning models of discrete data, with the chains of [`saltus`].
//!
//! A model whose parameters can be learnt is [`Learnable`]: RBMs ([`rbm`]), Potts models of aligned sequences
//! ([`potts`]), the deep models of `saltus-nn`, and yours. One learner ([`Training`]) serves them all: persistent
//! contrastive divergence from a replay buffer, or contrastive divergence from the data, by any sampler, with Adam, rates
//! that rise and fall, averages and checkpoints. [`dbn`] puts one RBM on another, [`data`] reads examples.

pub mod adam;
mod clock;
pub mod data;
pub mod dbn;
#[doc(hidden)]
pub mod descent;
mod learnable;
mod pcd;
pub mod potts;
pub mod rbm;
mod validate;

pub use clock::{Clock, Spent};
pub use learnable::{Learnable, Means};
pub use pcd::{
    Buffer, Checkpoint, Fall, Order, Patience, Rate, Report, Start, TrainError, TrainSettings,
    Training,
};
pub use validate::{Validation, validate};
