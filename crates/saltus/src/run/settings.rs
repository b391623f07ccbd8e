//! What a run is asked to do, and whether that can be done.

use crate::control::Ended;
use crate::draws::sink::SinkError;
use crate::error::ModelError;
use crate::kernel::KernelTraits;
use crate::kernel::terms::Terms;
use crate::model::Model;
use crate::sampler::{Sampler, SamplerError, check_tuning};
use crate::temper::Temper;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How to run.
///
/// ```
/// use saltus::{Sampler, Settings};
/// let settings = Settings { chains: 8, ..Settings::from(Sampler::pas()) };
/// assert_eq!((settings.chains, settings.draws), (8, 5000));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The sampler, and how its scale is found.
    #[serde(flatten)]
    pub sampler: Sampler,
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
    /// Wall time after which the run stops with what it has.
    pub time_limit: Option<Duration>,
    /// Stop before all draws are made, once every observable is worth this many independent draws.
    /// Looked at after fixed numbers of draws only, so that where a run stops is as reproducible as
    /// its draws; so is the next.
    pub until_ess: Option<f64>,
    /// Stop before all draws are made, once the split R-hat of every observable is at most this.
    pub until_rhat: Option<f64>,
    /// Stop a tempered run before all draws are made, once the standard error of log Z is at most this, and round trips
    /// can be judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until_log_z: Option<f64>,
    /// Sample π^β instead of π, for an inverse temperature β.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// Every chain is the highest rung of an ensemble of replicas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temper: Option<Temper>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            sampler: Sampler::default(),
            chains: 100,
            warmup: 3000,
            draws: 5000,
            thin: 1,
            seed: 0,
            threads: None,
            time_limit: None,
            until_ess: None,
            until_rhat: None,
            until_log_z: None,
            beta: None,
            temper: None,
        }
    }
}

impl From<Sampler> for Settings {
    fn from(sampler: Sampler) -> Self {
        Self { sampler, ..Self::default() }
    }
}

/// Most steps per draw that are chosen for anyone: with as many, keeping a draw costs next to nothing.
const MOST_THINNED: usize = 100;
/// Draws' worth of steps that chains need to forget where they started: as a share of all draws, at least, and at most, so that a
/// run that its time ends has draws.
const FORGETTING: (usize, usize, usize) = (10, 100, 100_000);

/// Beyond this, cutting the warm-up into rounds would overflow.
const LONGEST_WARMUP: usize = usize::MAX >> 8;

/// Ladders of more rungs than this serve nobody.
const MOST_RUNGS: usize = 10_000;

/// Why a run could not begin, or why its draws could not be handed on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A setting that must be positive is zero.
    #[error("{0} must be at least 1")]
    Zero(&'static str),
    /// A sampler that cannot be used as it is set.
    #[error(transparent)]
    Sampler(#[from] SamplerError),
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
    /// States to start from that are not one for every chain.
    #[error("{chains} chains of {sites} sites cannot start from states of {bytes} bytes in all")]
    Starts {
        /// Bytes that were given.
        bytes: usize,
        /// Number of chains.
        chains: usize,
        /// Sites of a state.
        sites: usize,
    },
    /// The model started a chain outside its space.
    #[error(
        "the model started a chain with value {value} at site {site}, but values go from 0 to {last}"
    )]
    InitialState {
        /// The site.
        site: usize,
        /// The value it was given.
        value: u8,
        /// The largest value there is.
        last: usize,
    },
    /// Two observables or observers of one name.
    #[error("there are two observables named '{0}'")]
    ObservableName(String),
    /// A stop rule that can never be met, or always is.
    #[error("{0}")]
    StopRule(String),
    /// An inverse temperature or a ladder that cannot be.
    #[error("{0}")]
    Temper(String),
    /// The model could not be evaluated before the first step.
    #[error(transparent)]
    Model(ModelError),
    /// The pilot of a run in parts failed.
    #[error("the first chains, which find what all parts of the run have in common: {0}")]
    Pilot(Ended),
    /// What a part of a run left cannot be joined with the others.
    #[error("a part of the run cannot be joined with the others: {0}")]
    Part(String),
    /// The checkpoint is not of this run.
    #[error("the checkpoint cannot be resumed: {0}")]
    Checkpoint(String),
    /// The draws could not be kept.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// Threads could not be started.
    #[error("cannot start the threads: {0}")]
    Threads(String),
    /// The code of a model, a kernel or an observer panicked before the first step.
    #[error("the code of the model, kernel or observer panicked: {0}")]
    Panic(String),
}

impl Settings {
    /// The same with the steps of warm-up and per draw that suit its sampler on a model, where nobody chose them.
    ///
    /// A sampler that tries a few sites per step keeps a draw once it has tried about as many as there are, after 100
    /// steps at most. The warm-up is a tenth of the draws, from 100 to 100,000 of them; where a scale is tuned, at least 3000
    /// steps. Ladders of temperatures have 3000 scans of warm-up, and every scan is a draw.
    ///
    /// ```
    /// # use saltus::{Independent, Sampler, Settings};
    /// let model = Independent::bernoulli(vec![0.0; 40])?;
    /// let steps = |sampler: Sampler| {
    ///     let settings = Settings::from(sampler).suited(&model, None, None);
    ///     (settings.warmup, settings.thin)
    /// };
    /// assert_eq!(steps(Sampler::dlmc()), (3000, 1));
    /// assert_eq!(steps(Sampler::gibbs()), (500, 1));
    /// // One of forty sites per step.
    /// assert_eq!(steps(Sampler::gwg()), (20_000, 40));
    /// let endless = Settings { draws: usize::MAX, ..Sampler::gibbs().into() };
    /// assert_eq!(endless.suited(&model, None, None).warmup, 100_000);
    /// # Ok::<(), saltus::ModelError>(())
    /// ```
    pub fn suited<M: Model>(
        mut self,
        model: &M,
        warmup: Option<usize>,
        thin: Option<usize>,
    ) -> Self {
        let Self { warmup: longest, thin: every, .. } = Self::default();
        if self.temper.is_some() {
            (self.warmup, self.thin) = (warmup.unwrap_or(longest), thin.unwrap_or(every));
            return self;
        }
        let suiting = || self.sampler.terms(model, 1).steps_per_sweep.min(MOST_THINNED);
        self.thin = thin.unwrap_or_else(suiting);
        let (share, least, most) = FORGETTING;
        let forgetting = (self.draws / share).clamp(least, most).saturating_mul(self.thin);
        let traits = self.sampler.traits(model.space());
        let tunes = traits.scale.is_some() && self.sampler.scale.is_none();
        let tuning = if tunes {
            longest.max(if self.thin > 1 { forgetting } else { 0 })
        } else {
            forgetting
        };
        self.warmup = warmup.unwrap_or(tuning);
        self
    }

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
            until_log_z: None,
            ..settings
        }
    }

    /// Fails with a sentence if a kernel of those traits cannot be run like this.
    pub fn check(&self, traits: &KernelTraits) -> Result<(), RunError> {
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
        if let Some(error) = self.until_log_z
            && !(error > 0.0 && error.is_finite() && self.temper.is_some())
        {
            return Err(RunError::StopRule(format!(
                "the error of log Z to stop at must be positive, and of a ladder, got {error}"
            )));
        }
        self.check_temper(traits)?;
        Ok(check_tuning(traits, self.sampler.scale, self.sampler.target_acceptance)?)
    }

    /// Fails with a sentence if its sampler or its temperatures cannot move chains of a model.
    pub fn suits<M: Model>(&self, model: &M) -> Result<(), SamplerError> {
        self.sampler.check(model.space())?;
        self.on_terms(model, &self.sampler.terms(model, self.chains))
    }

    /// Fails with a sentence if a kernel on these terms or its temperatures cannot move chains of a model.
    pub(super) fn on_terms<M: Model>(&self, model: &M, terms: &Terms) -> Result<(), SamplerError> {
        let suits = match (&self.temper, self.beta) {
            (None, None) => &terms.suits,
            // Without a ladder nothing begins at independent sites.
            (None, Some(_)) if !model.sums().is_empty() => &terms.suits,
            (Some(_), _) | (None, Some(_)) => &terms.suits_path,
        };
        suits.clone().map_err(|error| SamplerError(error.to_string()))
    }

    fn check_temper(&self, traits: &KernelTraits) -> Result<(), RunError> {
        let refused = |reason: String| Err(RunError::Temper(reason));
        if let Some(beta) = self.beta
            && !(beta > 0.0 && beta.is_finite())
        {
            return refused(format!("an inverse temperature must be positive, got {beta}"));
        }
        let Some(temper) = &self.temper else { return Ok(()) };
        if let Some(rungs) = temper.rungs
            && !(2..=MOST_RUNGS).contains(&rungs)
        {
            return refused(format!("a ladder has from 2 to {MOST_RUNGS} rungs, got {rungs}"));
        }
        if let Some(ladder) = &temper.ladder
            && !(ladder.are_sound() && ladder.leads_to(self.beta.unwrap_or(1.0)))
        {
            return refused(
                "a ladder rises from 0 to the inverse temperature of the run, with a scale for every rung and a shift \
                 between any two"
                    .to_owned(),
            );
        }
        if traits.is_weighted {
            return refused(format!(
                "{} weighs its draws: tempering needs a sampler whose draws count alike",
                traits.name
            ));
        }
        Ok(())
    }
}
