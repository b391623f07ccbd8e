//! An estimate of the effective draws while a run goes on, for whoever watches.

use crate::sink::{Sink, SinkError};
use crate::stats::EssSummary;

/// Chains that are looked at: more would cost time and change little.
const CHAINS: usize = 8;
/// Draws of each chain before the first estimate.
const FIRST: usize = 100;

/// Estimates anew whenever the draws have grown by half, so that all estimates together cost about
/// three times the last one.
pub(super) struct RunningEss {
    watched: bool,
    next: usize,
    last: Option<f64>,
}

impl RunningEss {
    /// Nothing is estimated if nobody watches.
    pub(super) fn new(watched: bool) -> Self {
        Self { watched, next: FIRST, last: None }
    }

    /// The latest estimate, after so many draws of each chain.
    pub(super) fn look(
        &mut self,
        draws: usize,
        sink: &mut dyn Sink,
    ) -> Result<Option<f64>, SinkError> {
        if self.watched && draws >= self.next {
            self.next = draws + draws / 2;
            // Observable 1 is the Hamming distance.
            let series = sink.series(1)?;
            let few = &series[..series.len().min(CHAINS)];
            self.last = Some(EssSummary::of_chains(few).mean * series.len() as f64);
        }
        Ok(self.last)
    }
}
