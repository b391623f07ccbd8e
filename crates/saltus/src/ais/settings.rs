//! What annealing is asked to do, and why that cannot be done.

use super::Direction;
use crate::error::StepFailure;
use crate::kernel::KernelTraits;
use crate::sampler::{Sampler, SamplerError, check_tuning};
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
    /// The sampler that moves chains, and how its scales are found. Of the first nothing is read by
    /// [`Ais::with_kernel`](super::Ais::with_kernel).
    pub sampler: Sampler,
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
            seed: 0,
            threads: None,
            time_limit: None,
        }
    }
}

impl AisSettings {
    /// Fails with a sentence if chains cannot be annealed like this by a kernel of those traits.
    pub fn check(&self, traits: &KernelTraits) -> Result<(), AisError> {
        if self.temperatures < 2 {
            return Err(AisError::Temperatures(self.temperatures));
        }
        if self.chains == 0 {
            return Err(AisError::Zero("chains"));
        }
        if self.threads == Some(0) {
            return Err(AisError::Zero("threads"));
        }
        if traits.is_weighted {
            return Err(AisError::Weighted(traits.name));
        }
        Ok(check_tuning(traits, self.sampler.scale, self.sampler.target_acceptance)?)
    }

    /// The settings that decide what the chains do.
    pub(super) fn of_the_chains(&self) -> Self {
        Self { threads: None, time_limit: None, ..self.clone() }
    }
}

/// Why there is no estimate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AisError {
    /// A setting that must be positive is zero.
    #[error("{0} must be at least 1")]
    Zero(&'static str),
    /// A ladder without steps.
    #[error("annealing needs at least 2 temperatures, got {0}")]
    Temperatures(usize),
    /// A sampler that does not leave a distribution as it is.
    #[error("the states of {0} count by weights of their own: annealing needs another sampler")]
    Weighted(&'static str),
    /// A setting of the sampler that makes no sense.
    #[error(transparent)]
    Sampler(#[from] SamplerError),
    /// Independent sites of another space than the model's.
    #[error("the independent sites are {base}, the model has {model}")]
    Base {
        /// Their space, in words.
        base: String,
        /// That of the model.
        model: String,
    },
    /// States that reverse chains cannot start from.
    #[error("reverse chains cannot start there: {0}")]
    Starts(String),
    /// A chain begins where the model has no mass.
    #[error(
        "{direction} chain {chain} begins at a state that the model's hard zeros forbid, and has no weight to go on with: \
         log Z of such a model is for a ladder, `saltus log-z --method temper`"
    )]
    Forbidden {
        /// Where the chain was going.
        direction: Direction,
        /// The chain, numbered in its direction.
        chain: usize,
    },
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
