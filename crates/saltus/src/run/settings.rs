//! What a run is asked to do, and whether that can be done.

use crate::model::Differences;
use crate::sampler::{STEP_SIZES, Sampler, Scale};
use crate::space::Space;
use crate::weight::Weight;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The sampler.
    pub sampler: Sampler,
    /// Its weight function.
    pub weight: Weight,
    /// The differences it sees.
    pub differences: Differences,
    /// Number of chains.
    pub chains: usize,
    /// Steps of each chain before the first kept draw; the scale is tuned during these.
    pub warmup: usize,
    /// Kept draws of each chain.
    pub draws: usize,
    /// Steps per kept draw.
    pub thin: usize,
    /// Seed of all random streams of the run.
    pub seed: u64,
    /// Threads, or as many as the machine has. Results do not depend on it.
    pub threads: Option<usize>,
    /// Acceptance to tune to, if not the sampler's own.
    pub target_acceptance: Option<f64>,
    /// A fixed scale; nothing is tuned then.
    pub scale: Option<f64>,
    /// Wall time after which the run stops with what it has.
    pub time_limit: Option<Duration>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            sampler: Sampler::default(),
            weight: Weight::default(),
            differences: Differences::default(),
            chains: 100,
            warmup: 3000,
            draws: 5000,
            thin: 1,
            seed: 0,
            threads: None,
            target_acceptance: None,
            scale: None,
            time_limit: None,
        }
    }
}

/// Beyond this, cutting the warm-up into rounds would overflow.
const LONGEST_WARMUP: usize = usize::MAX >> 8;

/// Why a run could not begin.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// A setting that must be positive is zero.
    #[error("{0} must be at least 1")]
    Zero(&'static str),
    /// An acceptance that no tuning can reach.
    #[error("the target acceptance must lie strictly between 0 and 1, got {0}")]
    TargetAcceptance(f64),
    /// A scale the sampler cannot use.
    #[error("the scale of {sampler} must be {allowed}, got {scale}")]
    Scale {
        /// The sampler.
        sampler: Sampler,
        /// What it takes.
        allowed: String,
        /// What was given.
        scale: f64,
    },
    /// A setting for tuning, given to a sampler that has no scale.
    #[error("{0} has no scale: there is nothing to set or to tune")]
    NoScale(Sampler),
    /// More steps than can be counted.
    #[error(
        "{warmup} steps of warm-up and {draws} draws of {thin} steps are more than can be counted"
    )]
    TooLong {
        /// Steps of warm-up.
        warmup: usize,
        /// Kept draws.
        draws: usize,
        /// Steps per kept draw.
        thin: usize,
    },
    /// The model started a chain outside its space.
    #[error(
        "the model started a chain with value {value} at site {site}; values go from 0 to {last}"
    )]
    InitialState {
        /// The site.
        site: usize,
        /// The value it was given.
        value: u8,
        /// The largest value there is.
        last: usize,
    },
    /// Two observables of one name.
    #[error("there are two observables named '{0}'")]
    ObservableName(String),
    /// Threads could not be started.
    #[error("cannot start the threads: {0}")]
    Threads(String),
}

impl Settings {
    /// Fails with a sentence if a model of that space cannot be run like this.
    pub fn check(&self, space: &Space) -> Result<(), RunError> {
        let counts = [("chains", self.chains), ("draws", self.draws), ("thin", self.thin)];
        if let Some((name, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(RunError::Zero(name));
        }
        let &Self { warmup, draws, thin, .. } = self;
        let steps = draws.checked_mul(thin).and_then(|steps| steps.checked_add(warmup));
        if steps.is_none() || warmup > LONGEST_WARMUP {
            return Err(RunError::TooLong { warmup, draws, thin });
        }
        if self.threads == Some(0) {
            return Err(RunError::Zero("threads"));
        }
        if let Some(target) = self.target_acceptance
            && !(target > 0.0 && target < 1.0)
        {
            return Err(RunError::TargetAcceptance(target));
        }
        let tunes = self.target_acceptance.is_some() || self.scale.is_some();
        if tunes && self.sampler.scale() == Scale::None {
            return Err(RunError::NoScale(self.sampler));
        }
        let Some(scale) = self.scale else {
            return Ok(());
        };
        let (low, high, allowed) = match self.sampler.scale() {
            Scale::Radius => {
                let sites = space.sites();
                (1.0, sites as f64, format!("a number of sites from 1 to {sites}"))
            }
            _ => {
                let (low, high) = STEP_SIZES;
                (low, high, format!("a step size from {low:e} to {high:e}"))
            }
        };
        if !(low..=high).contains(&scale) {
            return Err(RunError::Scale { sampler: self.sampler, allowed, scale });
        }
        Ok(())
    }
}
