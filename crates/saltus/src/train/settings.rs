//! How to train, and why that cannot be done.

use crate::data::Examples;
use crate::names::unknown;
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
pub struct TrainSettings {
    /// Hidden units.
    pub hidden: usize,
    /// Where chains start.
    pub method: Method,
    /// Block Gibbs steps of every chain per update.
    pub steps: usize,
    /// Times that every example is looked at.
    pub epochs: usize,
    /// Examples per update, and chains; the last update of an epoch gets what is left.
    pub batch: usize,
    /// Adam's learning rate: about as far as an update moves a weight.
    pub learning_rate: f64,
    /// The learning rate of the last update, if it is another: in between it falls (or rises) in equal
    /// steps.
    pub final_learning_rate: Option<f64>,
    /// Seed of the initial weights, the order of the examples and the chains.
    pub seed: u64,
    /// Threads, or as many as the machine has. Results do not depend on it.
    pub threads: Option<usize>,
}

impl Default for TrainSettings {
    fn default() -> Self {
        Self {
            hidden: 25,
            method: Method::Cd,
            steps: 100,
            epochs: 1,
            batch: 100,
            learning_rate: 1e-3,
            final_learning_rate: None,
            seed: 0,
            threads: None,
        }
    }
}

/// Weights are counted with 32 bits.
const MOST_WEIGHTS: usize = u32::MAX as usize;

impl TrainSettings {
    /// Fails if these examples cannot be learnt from in this way.
    pub fn check(&self, examples: &Examples) -> Result<(), TrainError> {
        self.updates(examples).map(|_| ())
    }

    /// The learning rate of an update, counted from 1, of so many.
    pub(super) fn rate_of(&self, update: usize, updates: usize) -> f64 {
        let Some(last) = self.final_learning_rate else {
            return self.learning_rate;
        };
        let done = (update - 1) as f64 / (updates.max(2) - 1) as f64;
        self.learning_rate + done * (last - self.learning_rate)
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
        for (what, rate) in [
            ("learning rate", self.learning_rate),
            ("final learning rate", self.final_learning_rate.unwrap_or(self.learning_rate)),
        ] {
            if !(rate > 0.0 && rate.is_finite()) {
                return Err(TrainError::Setting(format!(
                    "the {what} must be a positive number, got {rate}"
                )));
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
        let per_epoch = examples.count().div_ceil(self.batch);
        let all = per_epoch.checked_mul(self.epochs).ok_or_else(|| {
            TrainError::Setting(format!("{} epochs are more than can be counted", self.epochs))
        })?;
        Ok((per_epoch, all))
    }
}

/// Why an RBM could not be trained or kept.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TrainError {
    /// A setting that makes no sense.
    #[error("{0}")]
    Setting(String),
    /// Numbers that grew beyond all bounds.
    #[error(
        "training diverged at update {update}: a parameter is no longer a usable number; try a \
         smaller learning rate than {learning_rate}"
    )]
    Diverged {
        /// The update, counted from 1.
        update: usize,
        /// The learning rate it happened with.
        learning_rate: f64,
    },
    /// The system did not give threads.
    #[error("threads could not be started: {0}")]
    Threads(String),
    /// The file of the machine could not be written.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
}
