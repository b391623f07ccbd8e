//! What a run leaves: its draws, what it chose, how it went and how it ended.

use super::block::{ChainBlock, ChainResult};
use super::{Settings, Sites};
use crate::kernel::StepFailure;
use crate::space::Space;
use crate::trace::Trace;
use serde::Serialize;

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

/// Wall time of the two parts of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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

#[expect(clippy::too_many_arguments, reason = "called once, with everything a run knows")]
pub(super) fn collect(
    settings: &Settings,
    space: Space,
    threads: usize,
    names: Vec<String>,
    blocks: Vec<Box<dyn ChainBlock + '_>>,
    scale: Option<f64>,
    seconds: Seconds,
    ended: Ended,
) -> Outcome {
    let results: Vec<ChainResult> = blocks.into_iter().flat_map(ChainBlock::finish).collect();
    let steps: f64 = results.iter().map(|chain| chain.steps as f64).sum::<f64>().max(1.0);
    let per_step = |total: fn(&ChainResult) -> f64| results.iter().map(total).sum::<f64>() / steps;
    Outcome {
        settings: settings.clone(),
        space,
        threads,
        scale,
        acceptance: per_step(|chain| chain.acceptance),
        stuck: (0..results.len()).filter(|chain| results[*chain].changed == 0.0).collect(),
        sites_changed_per_step: per_step(|chain| chain.changed),
        evaluations_performed_per_step: per_step(|chain| chain.evaluations),
        last_states: results.iter().map(|chain| chain.state.clone()).collect(),
        trace: Trace::new(names, results.into_iter().map(|chain| chain.trace).collect()),
        sites: None,
        seconds,
        ended,
    }
}
