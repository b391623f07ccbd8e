//! What a run is asked to do, and whether that can be done.

use crate::kernel::closeness::Closeness;
use crate::kernel::transition::Transition;
use crate::model::Differences;
use crate::sampler::{STEP_SIZES, Sampler, Scale};
use crate::sink::SinkError;
use crate::solver::Solver;
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
    /// How dlmc makes its rows; the others have no choice.
    pub solver: Solver,
    /// How close the values of a site are to each other, for samplers that have a weight function.
    pub closeness: Closeness,
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
    /// Stop before all draws are made, once log π and the Hamming distance are both worth this many
    /// independent draws. Looked at after fixed numbers of draws only, so that where a run stops is
    /// as reproducible as its draws; so is the next.
    pub until_ess: Option<f64>,
    /// Stop before all draws are made, once the split R-hat of both is at most this.
    pub until_rhat: Option<f64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            sampler: Sampler::default(),
            weight: Weight::default(),
            solver: Solver::default(),
            closeness: Closeness::default(),
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
            until_ess: None,
            until_rhat: None,
        }
    }
}

/// Beyond this, cutting the warm-up into rounds would overflow.
const LONGEST_WARMUP: usize = usize::MAX >> 8;

/// Why a run could not begin, or why its draws could not be handed on.
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
    /// A solver, given to a sampler that has none.
    #[error("{0} has no solver to choose: that is about dlmc")]
    NoSolver(Sampler),
    /// Values at distances, given to a sampler that cannot use them.
    #[error("{0}")]
    Closeness(String),
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
    /// A stop rule that can never be met, or always is.
    #[error("{0}")]
    StopRule(String),
    /// The checkpoint is not of this run.
    #[error("the checkpoint cannot be resumed: {0}")]
    Checkpoint(String),
    /// The draws could not be kept.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// Threads could not be started.
    #[error("cannot start the threads: {0}")]
    Threads(String),
}

impl Settings {
    /// The settings that decide what the chains do, without those that only say when to stop and how
    /// fast to go.
    pub(crate) fn of_the_chains(&self) -> Self {
        let settings = self.clone();
        let draws = Self::default().draws;
        Self {
            draws,
            threads: None,
            time_limit: None,
            until_ess: None,
            until_rhat: None,
            ..settings
        }
    }

    /// What moves the chains.
    pub(crate) fn transition(&self) -> Transition {
        let &Self { sampler, weight, solver, differences, closeness, .. } = self;
        Transition { sampler, weight, solver, differences, closeness, ..Transition::default() }
    }

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
        if let Some(ess) = self.until_ess
            && !(ess > 0.0 && ess.is_finite())
        {
            return Err(RunError::StopRule(format!(
                "the number of effective draws to stop at must be positive, got {ess}"
            )));
        }
        if let Some(rhat) = self.until_rhat
            && !(rhat > 1.0 && rhat.is_finite())
        {
            return Err(RunError::StopRule(format!(
                "the R-hat to stop at must be above 1, got {rhat}: chains that agree come close to 1"
            )));
        }
        if let Some(target) = self.target_acceptance
            && !(target > 0.0 && target < 1.0)
        {
            return Err(RunError::TargetAcceptance(target));
        }
        if self.solver != Solver::default() && self.sampler != Sampler::Dlmc {
            return Err(RunError::NoSolver(self.sampler));
        }
        if let Closeness::Ordinal { length } = self.closeness {
            let refused = |reason: String| Err(RunError::Closeness(reason));
            if !(length > 0.0 && length.is_finite()) {
                return refused(format!(
                    "the length of ordinal values must be positive, got {length}"
                ));
            }
            if !self.sampler.uses_weight() {
                return refused(format!(
                    "{} proposes blindly: nothing is ordinal to it",
                    self.sampler
                ));
            }
            if self.solver == Solver::Exact {
                return refused("exact rows know only values that are all alike".to_owned());
            }
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
