//! Where draws go while a run makes them: into memory, or into a store on disk.

use crate::checkpoint::Checkpoint;
use crate::run::{Ended, Seconds, Sites};
use crate::space::Space;
use crate::trace::Trace;
use crate::tune::Round;
use std::borrow::Cow;

/// Takes the draws of a run in order, all chains together, while it goes on.
///
/// [`Trace`] keeps them in memory; the store of the feature `zarr` writes them to disk.
pub trait Sink {
    /// Whether the whole state of every draw is wanted.
    fn wants_states(&self) -> bool {
        false
    }

    /// Whether it saves checkpoints; chains then remember where they were last evaluated afresh.
    fn wants_checkpoints(&self) -> bool {
        false
    }

    /// Comes before everything else: what the draws will be, and where a resumed run goes on.
    fn begin(&mut self, plan: &Plan<'_>) -> Result<(), SinkError>;

    /// The next draws of every chain.
    fn take(&mut self, draws: Vec<ChainDraws>) -> Result<(), SinkError>;

    /// The draws of one observable so far, chain by chain; observables count as in [`Plan::names`].
    fn series(&mut self, observable: usize) -> Result<Cow<'_, [Vec<f64>]>, SinkError>;

    /// Makes everything taken so far last. A run that is resumed from the checkpoint makes the same
    /// draws again from there on; without one, an older checkpoint stays the one to resume from.
    fn save(&mut self, state: &Saved<'_>) -> Result<(), SinkError> {
        let _ = state;
        Ok(())
    }

    /// Everything taken, to be summed up; whole states only if they are in memory anyway.
    fn trace(&mut self) -> Result<Trace, SinkError>;
}

/// What is going to be drawn.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The space of the states.
    pub space: Space,
    /// Number of chains.
    pub chains: usize,
    /// Names of the observables, log π first.
    pub names: &'a [String],
    /// Where a resumed run goes on; it makes the draws after that checkpoint again.
    pub resumed: Option<&'a Checkpoint>,
}

/// What a run knows when it asks for its draws to be saved.
#[derive(Clone, Copy, Debug, Default)]
pub struct Saved<'a> {
    /// The rounds of warm-up so far.
    pub rounds: &'a [Round],
    /// The scale of the draws, once warm-up is over.
    pub scale: Option<f64>,
    /// Where to resume from, unless the run is in no state to be resumed.
    pub checkpoint: Option<&'a Checkpoint>,
    /// Wall time so far.
    pub seconds: Seconds,
    /// Threads in use.
    pub threads: usize,
    /// What the sites did, once the run ended, if they were watched.
    pub sites: Option<&'a Sites>,
    /// How the run ended, if it did.
    pub ended: Option<&'a Ended>,
}

/// Consecutive draws of one chain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChainDraws {
    /// Number of draws.
    pub draws: usize,
    /// By observable, then draw.
    pub series: Vec<Vec<f64>>,
    /// By [`STATISTICS`], then draw.
    pub statistics: [Vec<f64>; STATISTICS.len()],
    /// One row per draw; empty unless states are wanted.
    pub states: Vec<u8>,
}

/// What is kept of the steps that led to a draw: their mean acceptance, how many sites they changed,
/// and how many evaluations they took.
pub const STATISTICS: [&str; 3] = ["acceptance_rate", SITES_CHANGED, "evaluations"];
/// Name of the statistic that counts the changes of sites since the draw before.
pub const SITES_CHANGED: &str = "sites_changed";

impl ChainDraws {
    pub(crate) fn new(observables: usize) -> Self {
        Self { series: vec![Vec::new(); observables], ..Self::default() }
    }

    /// Forgets all but the first draws.
    pub(crate) fn truncate(&mut self, draws: usize) {
        if draws < self.draws {
            self.states.truncate(self.states.len() / self.draws * draws);
            let statistics = self.statistics.iter_mut();
            self.series.iter_mut().chain(statistics).for_each(|series| series.truncate(draws));
            self.draws = draws;
        }
    }
}

/// Why draws could not be kept, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SinkError(pub String);
