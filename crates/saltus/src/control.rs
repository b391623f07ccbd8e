//! Who decides when a computation stops, and how it ended.

use crate::error::StepFailure;
use serde::{Deserialize, Serialize};

/// What a monitor asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// Stop after the steps in progress; what was computed is kept.
    Stop,
}

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
            Self::Reached(Reached { rhat: Some(_), .. }) => "until-rhat",
            Self::Reached(_) => "until-log-z",
            Self::Failed { .. } => "failure",
        }
    }
}

/// The stop rules that were met, each with what was found and what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reached {
    /// Draws of each chain until then.
    pub draws: usize,
    /// Effective draws of all chains together, of the observable that has the fewest.
    pub ess: Option<(f64, f64)>,
    /// The largest split R-hat of an observable.
    pub rhat: Option<(f64, f64)>,
    /// The standard error of log Z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_z: Option<(f64, f64)>,
}

impl std::fmt::Display for Reached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ess = self.ess.map(|(ess, asked)| {
            format!("they are worth {ess:.0} independent ones ({asked} were asked for)")
        });
        let rhat = self
            .rhat
            .map(|(rhat, asked)| format!("R-hat is {rhat:.4} (at most {asked} was asked for)"));
        let log_z = self
            .log_z
            .map(|(error, asked)| format!("log Z is known to {error:.4} ({asked} was asked for)"));
        let found: Vec<String> = ess.into_iter().chain(rhat).chain(log_z).collect();
        write!(f, "enough after {} draws: {}", self.draws, found.join(" and "))
    }
}

/// Wall time of the parts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// Warm-up.
    pub warmup: f64,
    /// Kept draws, with everything that was observed of them.
    pub draws: f64,
    /// Summing up; none before that was done.
    #[serde(default)]
    pub summary: f64,
    /// Chains from other starts; none if there were none.
    #[serde(default)]
    pub scouts: f64,
    /// Trials of samplers, of which the best was taken; none if one was named.
    #[serde(default)]
    pub trials: f64,
}

impl Seconds {
    /// All that one has waited for.
    pub fn total(&self) -> f64 {
        let Self { warmup, draws, summary, scouts, trials } = self;
        trials + warmup + draws + summary + scouts
    }
}
