//! What a run leaves: its draws, what it chose, how it went and how it ended.

use super::{Settings, Sites};
use crate::kernel::StepFailure;
use crate::space::Space;
use crate::trace::Trace;
use crate::tune::Round;
use serde::{Deserialize, Serialize};

/// How a run ended. Whatever the reason, what was drawn before is in the outcome.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Ended {
    /// All draws were made.
    #[error("complete")]
    Complete,
    /// The monitor asked to stop.
    #[error("stopped by the user")]
    Interrupted,
    /// The time limit was reached.
    #[error("stopped at the time limit")]
    TimeLimit,
    /// What the draws were asked to be worth was reached before all were made.
    #[error("{0}")]
    Reached(Reached),
    /// A step could not be made.
    #[error("chain {chain} failed at step {step}: {cause}")]
    Failed {
        /// The chain.
        chain: usize,
        /// Steps it had made before, warm-up included.
        step: usize,
        /// What went wrong.
        cause: StepFailure,
    },
}

impl Ended {
    /// Whether everything that was asked was done: all draws, or as many as the stop rules wanted.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Complete | Self::Reached(_))
    }

    /// The rule that ended the run, in a word for scripts.
    pub fn rule(&self) -> &'static str {
        match self {
            Self::Complete => "draws",
            Self::Interrupted => "interrupt",
            Self::TimeLimit => "time-limit",
            Self::Reached(Reached { ess: Some(_), rhat: Some(_), .. }) => "until-ess,until-rhat",
            Self::Reached(Reached { ess: Some(_), .. }) => "until-ess",
            Self::Reached(_) => "until-rhat",
            Self::Failed { .. } => "failure",
        }
    }
}

/// The stop rules that were met, each with what was found and what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reached {
    /// Draws of each chain until then.
    pub draws: usize,
    /// Effective draws of all chains together, of log π or the Hamming distance, whichever is fewer.
    pub ess: Option<(f64, f64)>,
    /// The larger split R-hat of the two.
    pub rhat: Option<(f64, f64)>,
}

impl std::fmt::Display for Reached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ess = self.ess.map(|(ess, asked)| {
            format!("they are worth {ess:.0} independent ones ({asked} were asked for)")
        });
        let rhat = self
            .rhat
            .map(|(rhat, asked)| format!("R-hat is {rhat:.4} (at most {asked} was asked for)"));
        let found: Vec<String> = ess.into_iter().chain(rhat).collect();
        write!(f, "enough after {} draws: {}", self.draws, found.join(" and "))
    }
}

/// Wall time of the two parts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// Warm-up.
    pub warmup: f64,
    /// Kept draws.
    pub draws: f64,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The settings it ran with.
    pub settings: Settings,
    /// The model's space.
    pub space: Space,
    /// Threads that were used.
    pub threads: usize,
    /// The kept draws.
    pub trace: Trace,
    /// The last state of each chain; after a failure, that of the failed chain may be half of a
    /// move.
    pub last_states: Vec<Vec<u8>>,
    /// The scale that the draws were made with, if the sampler has one.
    pub scale: Option<f64>,
    /// Mean acceptance over the kept draws, or over the warm-up if it ended there.
    pub acceptance: f64,
    /// The rounds of warm-up.
    pub warmup: Vec<Round>,
    /// Chains in which no site changed during the kept draws.
    pub stuck: Vec<usize>,
    /// Mean number of sites that changed in a step.
    pub sites_changed_per_step: f64,
    /// Evaluations made per step and chain: of value and differences together, or of the value at
    /// one state.
    pub evaluations_performed_per_step: f64,
    /// What every site did, if that was asked.
    pub sites: Option<Sites>,
    /// Wall time.
    pub seconds: Seconds,
    /// How it ended.
    pub ended: Ended,
}
