//! Learning an RBM, update by update.

use super::initial::{initial, mirrored};
use super::reconstruct::reconstruction_error;
use super::{RbmProgress, RbmReport, RbmSettings, Trained};
use crate::data::Examples;
use crate::pcd::{Checkpoint, TrainError, Training};
use saltus::{Rbm, Workers};

/// Reports per epoch.
const REPORTS: usize = 20;

/// The learning of an RBM in progress.
///
/// The same seed gives the same RBM, byte for byte, for any number of threads, and also if it is stopped and resumed.
pub struct RbmTraining<'a> {
    settings: RbmSettings,
    per_epoch: usize,
    workers: Workers,
    training: Training<'a, Rbm>,
    history: Vec<RbmReport>,
}

impl<'a> RbmTraining<'a> {
    /// Before the first update: small random weights, and biases that give every value its frequency.
    pub fn new(examples: &'a Examples, settings: &RbmSettings) -> Result<Self, TrainError> {
        Self::begin(examples, settings, || initial(examples, settings))
    }

    /// The same of the top RBM of a network, which learns from the hidden units that `bottom` gives to data.
    ///
    /// With at least as many hidden units as `bottom` has sites of two values, it begins as `bottom` upside down, so that the
    /// network gives the data what `bottom` alone gives them, and learning can only add to that (Hinton, Osindero and Teh 2006).
    /// The units beyond have next to no weights.
    pub fn on_top_of(
        bottom: &Rbm,
        examples: &'a Examples,
        settings: &RbmSettings,
    ) -> Result<Self, TrainError> {
        Self::begin(examples, settings, || match mirrored(bottom, examples, settings) {
            Some(top) => top,
            None => initial(examples, settings),
        })
    }

    fn begin(
        examples: &'a Examples,
        settings: &RbmSettings,
        first: impl FnOnce() -> Result<Rbm, saltus::ModelError> + Send,
    ) -> Result<Self, TrainError> {
        let (per_epoch, updates) = settings.updates(examples)?;
        let workers = Workers::new(settings.threads).map_err(TrainError::Threads)?;
        let rbm = workers.install(first)?;
        let training = Training::new(examples, rbm, settings.of_learner(updates))?;
        Ok(Self { settings: settings.clone(), per_epoch, workers, training, history: Vec::new() })
    }

    /// Goes on from a checkpoint of the same learning, with the history up to there.
    pub fn resumed(
        mut self,
        checkpoint: Checkpoint,
        history: Vec<RbmReport>,
    ) -> Result<Self, TrainError> {
        let until = checkpoint.iteration();
        self.training = self.training.resumed(checkpoint)?;
        self.history = history;
        self.history.retain(|report| report.update <= until);
        Ok(self)
    }

    /// The learner.
    pub fn learner(&self) -> &Training<'a, Rbm> {
        &self.training
    }

    /// How it went so far.
    pub fn history(&self) -> &[RbmReport] {
        &self.history
    }

    /// Whether it has come to its end.
    pub fn is_complete(&self) -> bool {
        self.training.is_complete()
    }

    /// Makes one update.
    pub fn iterate(&mut self) -> Result<RbmProgress, TrainError> {
        let updates = self.training.settings().iterations;
        let update = self.training.iteration() + 1;
        let every = self.per_epoch.div_ceil(REPORTS);
        let often = ((update - 1) % self.per_epoch).is_multiple_of(every);
        let wanted = often || update == updates || self.history.is_empty();
        let before = wanted.then(|| self.training.model().clone());
        let report = self.training.iterate()?;
        if let Some(rbm) = &before {
            let data = self.training.data();
            let error = self.workers.install(|| reconstruction_error(rbm, data));
            self.history.push(RbmReport {
                update,
                reconstruction_error: error,
                free_energy_gap: report.energy_gap(),
            });
        }
        let latest = self.history[self.history.len() - 1];
        Ok(RbmProgress { update, updates, latest })
    }

    /// What has been learnt.
    pub fn finish(self) -> Result<Trained, TrainError> {
        Ok(Trained {
            settings: self.settings,
            updates: self.training.iteration(),
            complete: self.training.is_complete(),
            history: self.history,
            spent: self.training.spent(),
            parameters: self.training.average().to_vec(),
            rbm: self.training.averaged()?,
        })
    }
}
