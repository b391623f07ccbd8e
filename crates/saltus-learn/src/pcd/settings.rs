//! How to train, and why it cannot be done.

use super::schedule::{Fall, Rate};
use crate::adam::EPSILON;
use saltus::rng::MOST_OF_TRAINING;
use saltus::{Method, Sampler, Space};
use serde::{Deserialize, Serialize};

/// Where the chains of an iteration start, whose states the data are set against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// Where they ended in an earlier iteration: persistent contrastive divergence (Tieleman 2008).
    #[default]
    Buffer,
    /// At the examples of the iteration: contrastive divergence (Hinton 2002).
    Data,
}

/// How to train a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainSettings {
    /// The sampler that moves the chains, and what its scale is adapted to.
    #[serde(flatten)]
    pub sampler: Sampler,
    /// Whether a kernel of the model's own moves them in its place.
    #[serde(default)]
    pub own_kernel: bool,
    /// Where chains start.
    #[serde(default)]
    pub start: Start,
    /// Steps of the sampler per iteration; a step of gibbs may redraw one site.
    pub steps: usize,
    /// Steps that there may be at most, if chains fall behind.
    #[serde(default)]
    pub most_steps: Option<usize>,
    /// Updates of the parameters.
    pub iterations: usize,
    /// Examples per iteration, and chains.
    pub batch: usize,
    /// Chains in the replay buffer; none are kept where chains start at the data.
    pub buffer: usize,
    /// Adam's learning rate, after the warm-up.
    pub learning_rate: f64,
    /// The learning rate of the last iteration, if it is another.
    #[serde(default)]
    pub final_learning_rate: Option<f64>,
    /// How it falls.
    #[serde(default)]
    pub fall: Fall,
    /// What Adam adds to the usual size of a gradient: those well below are followed in proportion.
    #[serde(default = "epsilon")]
    pub epsilon: f64,
    /// Iterations during which the learning rate rises.
    pub warmup: usize,
    /// What is kept of the average of the parameters at every iteration.
    pub decay: f64,
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Threads, or as many as the machine has. Results do not depend on it.
    pub threads: Option<usize>,
}

/// Adam's own.
fn epsilon() -> f64 {
    EPSILON
}

impl Default for TrainSettings {
    fn default() -> Self {
        Self {
            sampler: Sampler::default(),
            own_kernel: false,
            start: Start::Buffer,
            steps: 10,
            most_steps: None,
            iterations: 1000,
            batch: 100,
            buffer: 500,
            learning_rate: 1e-3,
            final_learning_rate: None,
            fall: Fall::Linear,
            epsilon: EPSILON,
            warmup: 0,
            decay: 0.99,
            seed: 0,
            threads: None,
        }
    }
}

impl From<Sampler> for TrainSettings {
    fn from(sampler: Sampler) -> Self {
        Self { sampler, ..Self::default() }
    }
}

impl From<Method> for TrainSettings {
    fn from(method: Method) -> Self {
        Sampler::new(method).into()
    }
}

impl TrainSettings {
    /// Its learning rates.
    pub fn rate(&self) -> Rate {
        Rate {
            full: self.learning_rate,
            warmup: self.warmup,
            last: self.final_learning_rate,
            fall: self.fall,
        }
    }

    /// Chains that are kept between iterations.
    pub(super) fn buffer(&self) -> usize {
        if self.start == Start::Data { 0 } else { self.buffer }
    }

    /// Fails if so many examples of a space cannot be learnt from in this way.
    pub fn check(&self, space: &Space, examples: Option<usize>) -> Result<(), TrainError> {
        let wrong = |sentence: String| Err(TrainError::Setting(sentence));
        for (what, number) in [
            ("the number of steps", self.steps),
            ("the number of iterations", self.iterations),
            ("the batch", self.batch),
        ] {
            if number == 0 {
                return wrong(format!("{what} must be at least 1"));
            }
        }
        if self.sampler.method.is_weighted() && !self.own_kernel {
            return wrong(format!(
                "the states of {} count by weights, which a replay buffer does not have",
                self.sampler
            ));
        }
        let (iterations, rows) = MOST_OF_TRAINING;
        if self.iterations > iterations || self.buffer > rows {
            return wrong(format!(
                "{} iterations of a buffer of {} chains are more than the {iterations} and {rows} \
                 that have random numbers of their own",
                self.iterations, self.buffer
            ));
        }
        if let Some(count) = examples.filter(|count| self.batch > *count) {
            return wrong(format!(
                "a batch of {} is more than the {count} examples there are",
                self.batch
            ));
        }
        if self.start == Start::Buffer && self.batch > self.buffer {
            return wrong(format!(
                "a batch of {} chains cannot be taken from a buffer of {}",
                self.batch, self.buffer
            ));
        }
        let last = self.final_learning_rate.unwrap_or(self.learning_rate);
        for (what, rate) in [("learning rate", self.learning_rate), ("final learning rate", last)] {
            if !(rate > 0.0 && rate.is_finite()) {
                return wrong(format!("the {what} must be a positive number, got {rate}"));
            }
        }
        if !(self.epsilon > 0.0 && self.epsilon.is_finite()) {
            return wrong(format!("epsilon must be a positive number, got {}", self.epsilon));
        }
        if self.most_steps.is_some_and(|most| most < self.steps) {
            return wrong(format!("there are {} steps at first, not fewer later", self.steps));
        }
        if !(0.0..1.0).contains(&self.decay) {
            return wrong(format!(
                "the decay of the average must be at least 0 and below 1, got {}",
                self.decay
            ));
        }
        if self.own_kernel {
            return Ok(());
        }
        self.sampler.check(space).or_else(|error| wrong(error.to_string()))
    }
}

/// Why a model could not be trained or kept.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// A setting that makes no sense.
    #[error("{0}")]
    Setting(String),
    /// Numbers that grew beyond all bounds.
    #[error(
        "training diverged at iteration {iteration}: {reason}; try a smaller learning rate than \
         {learning_rate}, or more steps"
    )]
    Diverged {
        /// The iteration, counted from 1.
        iteration: usize,
        /// What was seen.
        reason: String,
        /// The learning rate it happened with.
        learning_rate: f64,
    },
    /// The system did not give threads.
    #[error("threads could not be started: {0}")]
    Threads(String),
    /// A model could not be judged.
    #[error("{0}")]
    Annealing(String),
    /// The model could not be built or evaluated.
    #[error(transparent)]
    Model(#[from] saltus::ModelError),
    /// A file could not be written or read, or is of another training.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
}
