//! The draws of a run in memory: one number per observable, chain and draw, and whole states on
//! request.

use super::sink::{ChainDraws, Plan, STATISTICS, Sink, SinkError};

/// The kept draws of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    chains: usize,
    draws: usize,
    names: Vec<String>,
    /// By observable and then [`STATISTICS`], then chain, then draw.
    series: Vec<Vec<Vec<f64>>>,
    keeps_states: bool,
    /// By chain, rows of one state per draw; empty unless states are kept.
    states: Vec<Vec<u8>>,
}

/// Observable 0 of every trace: log π of the state.
pub const LOG_PROB: &str = "log_prob";
/// The last observable of a trace whose draws are weighted: by what each counts.
pub const WEIGHT: &str = "weight";
/// Observable 1 of every trace: number of sites that differ from a fixed random state.
pub const HAMMING: &str = "hamming";

impl Trace {
    /// A trace to be filled by a run.
    pub fn new(keep_states: bool) -> Self {
        Self { keeps_states: keep_states, ..Self::default() }
    }

    /// A trace of series that were kept elsewhere: observables, then [`STATISTICS`], each by chain.
    #[cfg(feature = "zarr")]
    pub(crate) fn of_series(names: Vec<String>, series: Vec<Vec<Vec<f64>>>) -> Self {
        let chains = series.first().map_or(0, Vec::len);
        let draws = series.iter().flatten().map(Vec::len).min().unwrap_or(0);
        Self { chains, draws, names, series, ..Self::default() }
    }

    /// Number of chains.
    pub fn chains(&self) -> usize {
        self.chains
    }

    /// Kept draws of each chain.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// Names of the observables.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The draws of an observable or of one of the [`STATISTICS`], chain by chain; `None` if there
    /// is none of that name.
    pub fn series(&self, name: &str) -> Option<&[Vec<f64>]> {
        let mut names = self.names.iter().map(String::as_str).chain(STATISTICS);
        self.series.get(names.position(|known| known == name)?).map(Vec::as_slice)
    }

    /// log π of every draw, chain by chain; no chains if the draws are elsewhere.
    pub fn log_prob(&self) -> &[Vec<f64>] {
        self.series.first().map_or(&[], Vec::as_slice)
    }

    /// Hamming distance of every draw to the reference state, chain by chain; no chains if the draws
    /// are elsewhere.
    pub fn hamming(&self) -> &[Vec<f64>] {
        self.series.get(1).map_or(&[], Vec::as_slice)
    }

    /// By what each draw counts, chain by chain; none if all count the same.
    pub fn weights(&self) -> Option<&[Vec<f64>]> {
        let last = self.names.last().is_some_and(|name| name == WEIGHT);
        last.then(|| self.series[self.names.len() - 1].as_slice())
    }

    /// The states of one chain, draw after draw; empty unless states were kept.
    pub fn states(&self, chain: usize) -> &[u8] {
        self.states.get(chain).map_or(&[], Vec::as_slice)
    }
}

impl Sink for Trace {
    fn wants_states(&self) -> bool {
        self.keeps_states
    }

    fn begin(&mut self, plan: &Plan<'_>) -> Result<(), SinkError> {
        if let Some(draws) = plan.resumed {
            if self.draws < draws || self.names != plan.names || self.chains != plan.chains {
                return Err(SinkError("the trace is not the one that was drawn so far".to_owned()));
            }
            self.draws = draws;
            self.series.iter_mut().flatten().for_each(|series| series.truncate(draws));
            for states in &mut self.states {
                states.truncate(draws * plan.space.sites());
            }
        } else {
            self.chains = plan.chains;
            self.names = plan.names.to_vec();
            self.draws = 0;
            let count = plan.names.len() + STATISTICS.len();
            self.series = vec![vec![Vec::new(); plan.chains]; count];
            self.states = vec![Vec::new(); if self.keeps_states { plan.chains } else { 0 }];
        }
        Ok(())
    }

    fn take(&mut self, draws: Vec<ChainDraws>) -> Result<(), SinkError> {
        self.draws += draws.first().map_or(0, ChainDraws::draws);
        for (number, chain) in draws.into_iter().enumerate() {
            for (column, series) in self.series.iter_mut().enumerate() {
                series[number].extend(chain.column(column));
            }
            if let Some(states) = self.states.get_mut(number) {
                states.extend(chain.states);
            }
        }
        Ok(())
    }
}
