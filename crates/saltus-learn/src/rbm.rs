//! Learning a restricted Boltzmann machine from examples.
//!
//! ```
//! use saltus::{Control, Model, Space};
//! use saltus_learn::data::Examples;
//! use saltus_learn::rbm::{RbmSettings, train_rbm};
//! // Four bits that are always all equal.
//! let states = [[0; 4], [1; 4]].concat().repeat(50);
//! let examples = Examples::new(Space::new(4, 2)?, states)?;
//! let settings = RbmSettings { hidden: 2, steps: 2, epochs: 3, batch: 20, ..Default::default() };
//! let trained = train_rbm(&examples, &settings, |_| Control::Continue)?;
//! assert_eq!((trained.updates, trained.rbm().space().sites()), (15, 4));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod file;
mod gradient;
mod initial;
mod reconstruct;
mod reference;
mod settings;
mod statistics;
#[cfg(test)]
mod tests;
mod trained;
mod training;

pub use gradient::RbmWork;
pub use reference::reference;
pub use settings::{Method, RbmSettings};
pub use statistics::{RbmStatistics, Statistics};
pub use trained::Trained;
pub use training::RbmTraining;

use crate::data::Examples;
use crate::pcd::TrainError;
use saltus::Control;
use serde::{Deserialize, Serialize};

/// How well the RBM did at an update, before its parameters were moved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RbmReport {
    /// The update, counted from 1.
    pub update: usize,
    /// Share of the sites of its examples that one step by layers is expected to change.
    pub reconstruction_error: f64,
    /// Mean free energy (−log π, up to the same constant) of the data minus that of the chains:
    /// near zero if the RBM finds both equally likely.
    pub free_energy_gap: f64,
}

/// Where a training is.
#[derive(Clone, Copy, Debug)]
pub struct RbmProgress {
    /// Updates made.
    pub update: usize,
    /// Updates that will have been made at the end.
    pub updates: usize,
    /// The latest report.
    pub latest: RbmReport,
}

/// Trains an RBM; `monitor` is told of every update and may ask to stop.
///
/// The same seed gives the same RBM, byte for byte, for any number of threads.
pub fn train_rbm(
    examples: &Examples,
    settings: &RbmSettings,
    mut monitor: impl FnMut(RbmProgress) -> Control,
) -> Result<Trained, TrainError> {
    let mut training = RbmTraining::new(examples, settings)?;
    while !training.is_complete() {
        if monitor(training.iterate()?) == Control::Stop {
            break;
        }
    }
    training.finish()
}
