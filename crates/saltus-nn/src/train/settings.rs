//! How to train, the recipes by name, and why it cannot be done.

use crate::data::Dataset;
use saltus::data::Examples;
use saltus::kernel::gibbs::Scan;
use saltus::names::unknown;
use saltus::rng::MOST_OF_TRAINING;
use saltus::{Kind, Method, Sampler};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How to train a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainSettings {
    /// The sampler that moves the chains, and what its scale is adapted to.
    #[serde(flatten)]
    pub sampler: Sampler,
    /// Its steps per iteration; a step of gibbs redraws one site.
    pub steps: usize,
    /// Updates of the parameters.
    pub iterations: usize,
    /// Examples per iteration, and chains.
    pub batch: usize,
    /// Chains in the replay buffer.
    pub buffer: usize,
    /// Adam's learning rate, after the warm-up.
    pub learning_rate: f64,
    /// Iterations during which the learning rate rises.
    pub warmup: usize,
    /// What is kept of the average of the parameters at every iteration.
    pub decay: f64,
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Threads, or as many as the machine has. Results do not depend on it.
    pub threads: Option<usize>,
}

/// A recipe by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// Small enough to see digits on two cores within minutes.
    #[default]
    Laptop,
    /// The paper's protocol, as far as it is known, but that no model is chosen by validation.
    Paper,
}

impl Preset {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Laptop, Self::Paper];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Laptop => "laptop",
            Self::Paper => "paper",
        }
    }

    /// Channels of the network.
    pub fn width(self) -> usize {
        match self {
            Self::Laptop => 16,
            Self::Paper => 64,
        }
    }

    /// How to train on a set of images with a sampler.
    pub fn settings(self, dataset: &Dataset, sampler: impl Into<Sampler>) -> TrainSettings {
        let sampler = Sampler { scan: Scan::One, ..sampler.into() };
        let paper = TrainSettings {
            steps: paper_steps(dataset, sampler.method),
            sampler,
            iterations: 50_000,
            batch: 100,
            buffer: if dataset.is_small() { 1000 } else { 10_000 },
            learning_rate: 1e-4,
            warmup: 10_000,
            decay: 0.999,
            seed: 0,
            threads: None,
        };
        match self {
            Self::Paper => paper,
            // Few chains in the buffer, each with its turn every fifth iteration, follow a model that
            // changes as quickly as it must to be learnt in some thousand iterations.
            Self::Laptop => TrainSettings {
                steps: paper.steps.min(10),
                iterations: 2000,
                buffer: 500,
                // With more, chains of grays, which move a few pixels per step, fall behind.
                learning_rate: if dataset.has_grays() { 1e-4 } else { 3e-4 },
                warmup: 300,
                decay: 0.99,
                ..paper
            },
        }
    }
}

/// Steps per iteration in the scripts of the paper's predecessors (Sun et al. 2022 for gwg and pas,
/// Zhang et al. 2022 for dmala). Those of DLMC are not known: it gets DMALA's, as does whoever else
/// changes all sites at once. Those of Gibbs are not either: it redraws as many sites as GWG tries to
/// change, as does whoever else changes few. (On dynamic MNIST and Omniglot the scripts let GWG flip
/// five sites per step; here a step is one.)
fn paper_steps(dataset: &Dataset, method: Method) -> usize {
    use Dataset::*;
    if method == Method::Pas {
        return match dataset {
            Caltech => 100,
            Frey => 50,
            Histopathology => 40,
            StaticMnist | DynamicMnist | Omniglot | Folder(_) => 30,
        };
    }
    match (method.kind(), dataset) {
        (Kind::AllSites, _) => 40,
        (Kind::FewSites | Kind::WithoutDifferences, StaticMnist | DynamicMnist) => 50,
        (Kind::FewSites | Kind::WithoutDifferences, Omniglot) => 40,
        (Kind::FewSites | Kind::WithoutDifferences, _) => 100,
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Preset {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|preset| preset.name() == name)
            .ok_or_else(|| unknown("preset", name, Self::ALL.map(Self::name)))
    }
}

impl TrainSettings {
    /// Fails if these examples cannot be learnt from in this way.
    pub fn check(&self, examples: &Examples) -> Result<(), TrainError> {
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
        if self.sampler.method.is_weighted() {
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
        if self.batch > examples.count() {
            return wrong(format!(
                "a batch of {} is more than the {} examples there are",
                self.batch,
                examples.count()
            ));
        }
        if self.batch > self.buffer {
            return wrong(format!(
                "a batch of {} chains cannot be taken from a buffer of {}",
                self.batch, self.buffer
            ));
        }
        if !(self.learning_rate > 0.0 && self.learning_rate.is_finite()) {
            return wrong(format!(
                "the learning rate must be a positive number, got {}",
                self.learning_rate
            ));
        }
        if !(0.0..1.0).contains(&self.decay) {
            return wrong(format!(
                "the decay of the average must be at least 0 and below 1, got {}",
                self.decay
            ));
        }
        self.sampler.check(examples.space()).or_else(|error| wrong(error.to_string()))
    }
}

/// Why a network could not be trained or kept.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
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
    /// The network could not be built or evaluated.
    #[error(transparent)]
    Model(#[from] saltus::ModelError),
    /// A checkpoint could not be written or read, or is of another training.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
}
