//! Where draws go while a run makes them: into memory, or into a store on disk.

use super::sites::Sites;
use crate::control::{Ended, Seconds};
use crate::space::Space;
use crate::temper::TemperReport;
use crate::tune::Round;

/// Takes the draws of a run in order, all chains together, while it goes on. It only writes.
///
/// [`Trace`](super::trace::Trace) keeps them in memory; the store of the feature `zarr` writes them to
/// disk.
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

    /// Makes everything taken so far last. A run that is resumed from the checkpoint makes the same
    /// draws again from there on; without one, an older checkpoint stays the one to resume from.
    fn save(&mut self, state: &Saved<'_>) -> Result<(), SinkError> {
        let _ = state;
        Ok(())
    }
}

/// What is going to be drawn.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The space of the states.
    pub space: &'a Space,
    /// Number of chains.
    pub chains: usize,
    /// Names of the observables, log π first.
    pub names: &'a [String],
    /// Draws of each chain after which a resumed run goes on; it makes those that came later again.
    pub resumed: Option<usize>,
}

/// What a run knows when it asks for its draws to be saved.
#[derive(Clone, Copy, Debug, Default)]
pub struct Saved<'a> {
    /// The rounds of warm-up so far.
    pub rounds: &'a [Round],
    /// The scale of the draws, once warm-up is over.
    pub scale: Option<f64>,
    /// Where to resume from, written down, unless the run is in no state to be resumed.
    pub checkpoint: Option<&'a [u8]>,
    /// Wall time so far.
    pub seconds: Seconds,
    /// Threads in use.
    pub threads: usize,
    /// What the sites did, once the run ended, if they were watched.
    pub sites: Option<&'a Sites>,
    /// What the ladder of a tempered run showed, once it ended, written down.
    pub tempering: Option<&'a TemperReport>,
    /// Whether the model says that it is the same with its values exchanged.
    pub symmetric: bool,
    /// How the run ended, if it did.
    pub ended: Option<&'a Ended>,
}

/// Consecutive draws of one chain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChainDraws {
    columns: usize,
    /// A row for every draw: the observables, then [`STATISTICS`].
    pub(crate) numbers: Vec<f64>,
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
        Self { columns: observables + STATISTICS.len(), ..Self::default() }
    }

    /// Number of draws.
    pub fn draws(&self) -> usize {
        self.numbers.len().checked_div(self.columns).unwrap_or(0)
    }

    /// The draws of an observable, or behind these of one of the [`STATISTICS`].
    pub fn column(&self, number: usize) -> impl ExactSizeIterator<Item = f64> + '_ {
        // By place: an iterator that steps over a slice costs several times as much.
        (0..self.draws()).map(move |draw| self.numbers[draw * self.columns + number])
    }

    /// Forgets all but the first draws.
    pub(crate) fn truncate(&mut self, draws: usize) {
        let all = self.draws();
        if draws < all {
            self.states.truncate(self.states.len() / all * draws);
            self.numbers.truncate(draws * self.columns);
        }
    }
}

/// Why draws could not be kept, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SinkError(pub String);
