//! What annealing is asked to do, and why that cannot be done.

use super::Direction;
use crate::kernel::StepFailure;
use crate::model::Differences;
use crate::run::{RunError, Settings};
use crate::sampler::Sampler;
use crate::solver::Solver;
use crate::space::Space;
use crate::weight::Weight;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How to anneal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AisSettings {
    /// Number of chains.
    pub chains: usize,
    /// Number of inverse temperatures from 0 to 1, both included; a step of the sampler at each but
    /// the first.
    pub temperatures: usize,
    /// The sampler that moves chains; so do the next five. Not used by
    /// [`Ais::alternating`](super::Ais::alternating).
    pub sampler: Sampler,
    /// Its weight function.
    pub weight: Weight,
    /// How dlmc makes its rows.
    pub solver: Solver,
    /// The differences it sees.
    pub differences: Differences,
    /// Acceptance to tune to, if not the sampler's own.
    pub target_acceptance: Option<f64>,
    /// A scale for all temperatures; nothing is tuned then.
    pub scale: Option<f64>,
    /// Seed of all random streams.
    pub seed: u64,
    /// Threads, or as many as the machine has. Results do not depend on it.
    pub threads: Option<usize>,
    /// Wall time after which annealing stops, to be resumed; finding the scale is part of it.
    pub time_limit: Option<Duration>,
}

impl Default for AisSettings {
    fn default() -> Self {
        Self {
            chains: 500,
            temperatures: 5000,
            sampler: Sampler::default(),
            weight: Weight::default(),
            solver: Solver::default(),
            differences: Differences::default(),
            target_acceptance: None,
            scale: None,
            seed: 0,
            threads: None,
            time_limit: None,
        }
    }
}

impl AisSettings {
    /// Fails with a sentence if a model of that space cannot be annealed like this.
    pub fn check(&self, space: &Space) -> Result<(), AisError> {
        if self.temperatures < 2 {
            return Err(AisError::Temperatures(self.temperatures));
        }
        if self.sampler.is_weighted() {
            return Err(AisError::Weighted(self.sampler));
        }
        Ok(self.of_the_sampler().check(space)?)
    }

    /// The settings that a run with the same sampler would have.
    pub(super) fn of_the_sampler(&self) -> Settings {
        Settings {
            sampler: self.sampler,
            weight: self.weight,
            solver: self.solver,
            differences: self.differences,
            chains: self.chains,
            seed: self.seed,
            threads: self.threads,
            target_acceptance: self.target_acceptance,
            scale: self.scale,
            ..Settings::default()
        }
    }

    /// The settings that decide what the chains do.
    pub(super) fn of_the_chains(&self) -> Self {
        Self { threads: None, time_limit: None, ..self.clone() }
    }
}

/// Why there is no estimate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AisError {
    /// A ladder without steps.
    #[error("annealing needs at least 2 temperatures, got {0}")]
    Temperatures(usize),
    /// A sampler that does not leave a distribution as it is.
    #[error("the states of {0} count by weights of their own: annealing needs another sampler")]
    Weighted(Sampler),
    /// A setting of the sampler that makes no sense.
    #[error(transparent)]
    Settings(#[from] RunError),
    /// Independent sites of another space than the model's.
    #[error(
        "the independent sites have {sites} sites of {values} values, the model has \
         {model_sites} of {model_values}"
    )]
    Base {
        /// Their sites.
        sites: usize,
        /// Their values.
        values: usize,
        /// Sites of the model.
        model_sites: usize,
        /// Values of the model.
        model_values: usize,
    },
    /// States that reverse chains cannot start from.
    #[error("reverse chains cannot start there: {0}")]
    Starts(String),
    /// A chain could not be weighed or moved.
    #[error("{direction} chain {chain} failed at inverse temperature {beta}: {cause}")]
    Failed {
        /// Where the chain was going.
        direction: Direction,
        /// The chain, numbered in its direction.
        chain: usize,
        /// Where it was.
        beta: f64,
        /// What went wrong.
        cause: StepFailure,
    },
    /// The checkpoint is not of this annealing.
    #[error("the checkpoint cannot be resumed: {0}")]
    Checkpoint(String),
    /// A checkpoint could not be kept.
    #[error("{0}")]
    NotKept(String),
    /// Threads could not be started.
    #[error("cannot start the threads: {0}")]
    Threads(String),
}
