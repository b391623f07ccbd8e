//! What a run shows about itself: findings with stable codes, in the order in which they should be
//! heard. `evidence` comes to them, `words` says what was found; how advice is worded is the business of whoever gives it.
//!
//! Thresholds and their reasons are in `docs/diagnostics.md`.

mod evidence;
mod words;

pub(crate) use evidence::{Evidence, fewest, judged, largest_rhat};
pub use evidence::{of_annealing, of_ladder};
pub use words::{is_further_distance, plain_name};

use crate::run::{Elsewhere, Unsent};
use serde::Serialize;

/// Something that deserves attention. Its code for scripts is the name of the variant in kebab-case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Finding {
    /// The run did not make all draws that were asked for.
    Incomplete {
        /// How it ended.
        ended: String,
        /// Whether a step could not be made.
        failed: bool,
        /// Draws of each chain that were made.
        draws: usize,
        /// Draws that were asked for.
        asked: usize,
    },
    /// No site ever changed in some chains.
    Stuck {
        /// Those chains.
        chains: Vec<usize>,
        /// All chains.
        of: usize,
    },
    /// Tuning missed its target, and not because the scale ends there.
    Acceptance {
        /// The acceptance of the draws.
        acceptance: f64,
        /// What it was tuned to.
        target: f64,
        /// Why.
        cause: AcceptanceCause,
        /// Steps of warm-up.
        warmup: usize,
    },
    /// Chains that move do not show it in the distance to the reference state.
    Silent {
        /// How many.
        chains: usize,
    },
    /// log π never changed in chains that moved: the target is flat there, or they go to and fro between few states.
    Level {
        /// How many.
        chains: usize,
        /// All chains.
        of: usize,
    },
    /// Sites that differ between chains and never changed within one.
    Frozen {
        /// How many.
        sites: usize,
        /// All sites.
        of: usize,
    },
    /// An observable still moved the same way in all chains alike.
    ShortWarmup {
        /// The observable.
        observable: String,
        /// Whether it was rising or falling.
        rising: bool,
        /// Steps of warm-up.
        warmup: usize,
    },
    /// The chains are in different places, each at home in its own, and change between them too rarely if at all.
    Disagree {
        /// What shows it.
        by: Disagreement,
    },
    /// The chains differ, and move so slowly that it cannot be told whether they would come to agree.
    TooSlow {
        /// The observable that differs most.
        observable: String,
        /// Its R-hat; none if it is infinite.
        rhat: Option<f64>,
        /// What the draws of a chain are worth on their own.
        ess: f64,
    },
    /// A mean is not what a symmetry of the model says it is: the chains have seen a part of the states.
    Asymmetric {
        /// The observable.
        observable: String,
        /// Its mean.
        mean: f64,
        /// The standard error of the mean; none if it never changed.
        error: Option<f64>,
        /// What it is.
        exact: f64,
    },
    /// A mean is not the exact one, which is known.
    Inexact {
        /// The observable.
        observable: String,
        /// Its mean.
        mean: f64,
        /// The standard error of the mean; none if it never changed.
        error: Option<f64>,
        /// What it is.
        exact: f64,
    },
    /// Chains that were sent from other starts ended in another place.
    Elsewhere {
        /// How many.
        scouts: usize,
        /// All that were sent.
        of: usize,
        /// What shows it.
        by: Elsewhere,
    },
    /// Another sampler finds another mean of the same observable of the same model.
    Contradicted {
        /// The sampler.
        by: String,
        /// The observable.
        observable: String,
        /// Its mean here.
        here: f64,
        /// Its mean there.
        there: f64,
    },
    /// No chains could be sent from other starts: nobody has looked for other modes.
    Unscouted {
        /// Why.
        why: Unsent,
    },
    /// There is one chain, which cannot tell what others would find.
    OneChain,
    /// Means and errors are rough.
    TooFewDraws {
        /// The observable with the fewest effective draws of all chains together, if these are too
        /// few.
        #[serde(skip_serializing_if = "Option::is_none")]
        fewest: Option<(String, f64)>,
        /// The observable with the largest R-hat, if that is too large.
        #[serde(skip_serializing_if = "Option::is_none")]
        rhat: Option<(String, f64)>,
        /// States still resemble those of so many draws before.
        #[serde(skip_serializing_if = "Option::is_none")]
        resembles: Option<usize>,
    },
    /// Swaps are so rare somewhere that the barrier of a ladder is not known.
    Barrier {
        /// The largest rejection.
        rejection: f64,
        /// Between the rung of that inverse temperature and the next.
        beta: f64,
    },
    /// Replicas travel along the ladder much more slowly than their swaps would let them.
    Exploration {
        /// The inverse temperature whose chain forgets most slowly.
        beta: f64,
    },
    /// The weights of annealed chains differ so much that few of them count.
    UnequalWeights {
        /// How many chains there are.
        chains: usize,
        /// How many they are worth.
        effective: f64,
    },
    /// log Z is below what the surroundings of a place hold by themselves.
    MissedMass {
        /// What was found.
        log_z: f64,
        /// What it is at least.
        at_least: f64,
    },
    /// Annealing back from the model gives more than annealing towards it: mass was missed.
    DirectionsApart {
        /// log Z towards the model, low on average.
        forward: f64,
        /// log Z back from it.
        reverse: f64,
    },
}

/// Why an acceptance is not what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AcceptanceCause {
    /// Even changing one site at a time is accepted less often.
    SmallestRadius,
    /// Even the smallest step is accepted less often.
    SmallestStep,
    /// The warm-up was too short to tune.
    ShortWarmup,
}

/// What shows that chains are in different places.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Disagreement {
    /// The R-hat of an observable, beyond what slow chains explain.
    Rhat {
        /// The observable.
        observable: String,
        /// Its R-hat; none if it is infinite.
        rhat: Option<f64>,
    },
    /// Whole states.
    Overlap {
        /// Share of sites that agree within a chain after `lag` draws.
        within: f64,
        /// Share of sites that agree between chains.
        between: f64,
        /// Draws between the states that were compared.
        lag: usize,
    },
}

/// What may help, to be said in the terms of whoever tells it: who does must know them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// So many chains.
    Chains(usize),
    /// So many steps of warm-up.
    Warmup(usize),
    /// A longer warm-up.
    LongerWarmup,
    /// More draws.
    Draws,
    /// More steps per draw.
    Thin,
    /// A smaller scale.
    SmallerScale,
    /// Another sampler.
    Sampler,
    /// Another sampler, found by comparing them.
    Compare,
    /// More rungs of the ladder.
    Rungs,
    /// A ladder of temperatures.
    Temper,
    /// An observable of one's own.
    Observe,
    /// More temperatures of annealing.
    Temperatures,
    /// log Z by a ladder of temperatures instead of by annealing.
    LadderForLogZ,
}

/// Something that looks fine.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Assurance {
    /// Some site changed in every chain.
    Moved {
        /// Number of chains.
        chains: usize,
    },
    /// The chains agree.
    Agree {
        /// The largest R-hat.
        rhat: f64,
    },
    /// There are enough effective draws.
    Enough {
        /// The observable with the fewest.
        observable: String,
        /// Of all chains together.
        ess: f64,
    },
    /// Chains have forgotten their start.
    Forgotten,
    /// Steps are accepted more often than asked for because they cannot be made bolder: the scale is the
    /// largest, at which a step on flat ground is a fresh draw.
    Boldest {
        /// The acceptance of the draws.
        acceptance: f64,
        /// What it was tuned to.
        target: f64,
    },
}

impl Finding {
    /// Whether it says that chains do not agree, with each other or with what is known otherwise, so that what their draws
    /// are worth is not known.
    pub fn voids_effective_draws(&self) -> bool {
        matches!(
            self,
            Self::Stuck { .. }
                | Self::Frozen { .. }
                | Self::Disagree { .. }
                | Self::TooSlow { .. }
                | Self::Asymmetric { .. }
                | Self::Inexact { .. }
                | Self::Elsewhere { .. }
                | Self::Contradicted { .. }
        )
    }

    /// Whether it says that a part of the states was not seen.
    pub(crate) fn is_partial(&self) -> bool {
        matches!(self, Self::Incomplete { .. }) || self.voids_effective_draws()
    }

    /// What may help, the first thing first.
    pub fn advice(&self) -> Vec<Advice> {
        match self {
            Self::Stuck { .. } => vec![Advice::SmallerScale, Advice::Sampler],
            Self::Silent { .. } => vec![Advice::Observe],
            Self::Level { .. } => vec![Advice::Sampler],
            Self::Frozen { .. } => vec![Advice::Draws, Advice::Sampler],
            Self::ShortWarmup { warmup, .. } => vec![Advice::Warmup((4 * warmup).max(1000))],
            Self::Disagree { .. }
            | Self::Elsewhere { .. }
            | Self::Asymmetric { .. }
            | Self::Inexact { .. } => vec![Advice::Temper, Advice::Compare],
            Self::Contradicted { .. } => vec![Advice::Temper, Advice::Draws],
            Self::TooSlow { .. } => vec![Advice::Compare, Advice::Thin],
            Self::Unscouted { why: Unsent::TimeLimit | Unsent::Interrupted } => Vec::new(),
            Self::Unscouted { .. } => vec![Advice::Draws, Advice::Temper],
            Self::OneChain => vec![Advice::Chains(4)],
            Self::TooFewDraws { .. } => vec![Advice::Draws, Advice::Compare],
            Self::Barrier { .. } => vec![Advice::Rungs, Advice::LongerWarmup],
            Self::Exploration { .. } => vec![Advice::Sampler, Advice::Thin],
            Self::UnequalWeights { .. } => vec![Advice::Temperatures, Advice::LadderForLogZ],
            Self::DirectionsApart { .. } => vec![Advice::LadderForLogZ, Advice::Temperatures],
            Self::MissedMass { .. } => vec![Advice::LongerWarmup, Advice::Sampler],
            Self::Incomplete { .. } | Self::Acceptance { .. } => Vec::new(),
        }
    }

    /// Its code, for scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Incomplete { .. } => "incomplete",
            Self::Stuck { .. } => "stuck",
            Self::Acceptance { .. } => "acceptance",
            Self::Silent { .. } => "silent",
            Self::Frozen { .. } => "frozen",
            Self::ShortWarmup { .. } => "short-warmup",
            Self::Disagree { .. } => "disagree",
            Self::TooFewDraws { .. } => "too-few-draws",
            Self::Level { .. } => "level",
            Self::TooSlow { .. } => "too-slow",
            Self::Asymmetric { .. } => "asymmetric",
            Self::Inexact { .. } => "inexact",
            Self::Elsewhere { .. } => "elsewhere",
            Self::Contradicted { .. } => "contradicted",
            Self::Unscouted { .. } => "unscouted",
            Self::OneChain => "one-chain",
            Self::UnequalWeights { .. } => "unequal-weights",
            Self::MissedMass { .. } => "missed-mass",
            Self::DirectionsApart { .. } => "directions-apart",
            Self::Barrier { .. } => "barrier",
            Self::Exploration { .. } => "exploration",
        }
    }
}
