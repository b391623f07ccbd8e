//! How to train an RBM.

use crate::adam::EPSILON;
use crate::data::Examples;
use crate::pcd::{Fall, Start, TrainError, TrainSettings};
use saltus::Sampler;
use saltus::names::unknown;
use std::fmt;
use std::str::FromStr;

/// Where the chains start whose states the data are set against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Contrastive divergence: at every update, from the data of that update (Hinton 2002).
    #[default]
    Cd,
    /// Persistent contrastive divergence: where they ended at the last update; at first, from
    /// independent sites with the frequencies of the data (Tieleman 2008).
    Pcd,
}

impl Method {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Cd, Self::Pcd];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cd => "cd",
            Self::Pcd => "pcd",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|method| method.name() == name)
            .ok_or_else(|| unknown("method", name, Self::ALL.map(Self::name)))
    }
}

/// How to train an RBM. The defaults are the protocol of the paper's RBMs.
#[derive(Clone, Debug, PartialEq)]
pub struct RbmSettings {
    /// Hidden units.
    pub hidden: usize,
    /// Where chains start.
    pub method: Method,
    /// What moves the chains; without one, their layers are redrawn in turn (Gibbs by layers).
    pub sampler: Option<Sampler>,
    /// Steps of every chain per update.
    pub steps: usize,
    /// Steps that there may be at most, if chains fall behind.
    pub most_steps: Option<usize>,
    /// Chains that are kept by `pcd`, if more than a batch.
    pub buffer: Option<usize>,
    /// Times that every example is looked at.
    pub epochs: usize,
    /// Examples per update, and chains; what is left at the end of an epoch is left out.
    pub batch: usize,
    /// Adam's learning rate: about as far as an update moves a weight.
    pub learning_rate: f64,
    /// The learning rate of the last update, if it is another.
    pub final_learning_rate: Option<f64>,
    /// How the learning rate falls (or rises) in between.
    pub fall: Fall,
    /// What is kept of the average of the parameters at every update; with zero, the last ones are taken.
    pub decay: f64,
    /// Seed of the initial weights, the order of the examples and the chains.
    pub seed: u64,
    /// Threads, or as many as the machine has. Results do not depend on it.
    pub threads: Option<usize>,
}

impl Default for RbmSettings {
    fn default() -> Self {
        Self {
            hidden: 25,
            method: Method::Cd,
            sampler: None,
            steps: 100,
            most_steps: None,
            buffer: None,
            epochs: 1,
            batch: 100,
            learning_rate: 1e-3,
            final_learning_rate: None,
            fall: Fall::Linear,
            decay: 0.0,
            seed: 0,
            threads: None,
        }
    }
}

/// Weights are counted with 32 bits.
const MOST_WEIGHTS: usize = u32::MAX as usize;

impl RbmSettings {
    /// Fails if these examples cannot be learnt from in this way.
    pub fn check(&self, examples: &Examples) -> Result<(), TrainError> {
        self.updates(examples).map(|_| ())
    }

    /// What the learner is told.
    pub(super) fn of_learner(&self, updates: usize) -> TrainSettings {
        TrainSettings {
            sampler: self.sampler.clone().unwrap_or_default(),
            own_kernel: self.sampler.is_none(),
            start: match self.method {
                Method::Cd => Start::Data,
                Method::Pcd => Start::Buffer,
            },
            steps: self.steps,
            most_steps: self.most_steps,
            iterations: updates,
            batch: self.batch,
            buffer: self.buffer.unwrap_or(self.batch),
            learning_rate: self.learning_rate,
            final_learning_rate: self.final_learning_rate,
            fall: self.fall,
            epsilon: EPSILON,
            warmup: 0,
            decay: self.decay,
            seed: self.seed,
            threads: self.threads,
        }
    }

    /// Updates per epoch and in all, if these examples can be learnt from.
    pub(super) fn updates(&self, examples: &Examples) -> Result<(usize, usize), TrainError> {
        for (what, number) in [
            ("the number of hidden units", self.hidden),
            ("the number of steps", self.steps),
            ("the number of epochs", self.epochs),
            ("the batch", self.batch),
        ] {
            if number == 0 {
                return Err(TrainError::Setting(format!("{what} must be at least 1")));
            }
        }
        if self.batch > examples.count() {
            return Err(TrainError::Setting(format!(
                "a batch of {} is more than the {} examples there are",
                self.batch,
                examples.count()
            )));
        }
        let table = examples.space().diff_len();
        if self.hidden.checked_mul(table).is_none_or(|weights| weights > MOST_WEIGHTS) {
            return Err(TrainError::Setting(format!(
                "{} hidden units for {} sites of {} values need more than the {MOST_WEIGHTS} \
                 weights saltus can index",
                self.hidden,
                examples.space().sites(),
                examples.space().values()
            )));
        }
        let per_epoch = examples.count() / self.batch;
        let all = per_epoch.checked_mul(self.epochs).ok_or_else(|| {
            TrainError::Setting(format!("{} epochs are more than can be counted", self.epochs))
        })?;
        self.of_learner(all).check(examples.space(), Some(examples.count()))?;
        Ok((per_epoch, all))
    }
}
