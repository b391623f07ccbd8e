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

pub use gradient::RbmWork;
pub use reference::reference;
pub use settings::{Method, RbmSettings};
pub use statistics::{RbmStatistics, Statistics};
pub use trained::Trained;

use crate::data::Examples;
use crate::pcd::{TrainError, Training};
use initial::initial;
use reconstruct::reconstruction_error;
use saltus::{Control, Rbm, Workers};
use serde::Serialize;

/// How well the RBM did at an update, before its parameters were moved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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

/// Reports per epoch.
const REPORTS: usize = 20;

/// Trains an RBM; `monitor` is told of every update and may ask to stop.
///
/// The same seed gives the same RBM, byte for byte, for any number of threads.
pub fn train_rbm(
    examples: &Examples,
    settings: &RbmSettings,
    mut monitor: impl FnMut(RbmProgress) -> Control,
) -> Result<Trained, TrainError> {
    let (per_epoch, updates) = settings.updates(examples)?;
    let workers = Workers::new(settings.threads).map_err(TrainError::Threads)?;
    let rbm = workers.install(|| initial(examples, settings))?;
    let mut training: Training<'_, Rbm> =
        Training::new(examples, rbm, settings.of_learner(updates))?;
    let mut history: Vec<RbmReport> = Vec::new();
    while !training.is_complete() {
        let update = training.iteration() + 1;
        let often = ((update - 1) % per_epoch).is_multiple_of(per_epoch.div_ceil(REPORTS));
        let before = (often || update == updates).then(|| training.model().clone());
        let report = training.iterate()?;
        if let Some(rbm) = &before {
            let data = training.data();
            let error = workers.install(|| reconstruction_error(rbm, data));
            history.push(RbmReport {
                update,
                reconstruction_error: error,
                free_energy_gap: report.energy_gap(),
            });
        }
        let latest = history[history.len() - 1];
        if monitor(RbmProgress { update, updates, latest }) == Control::Stop {
            break;
        }
    }
    Ok(Trained {
        settings: settings.clone(),
        updates: training.iteration(),
        complete: training.is_complete(),
        history,
        seconds: training.seconds(),
        parameters: training.average().to_vec(),
        rbm: training.averaged()?,
    })
}
