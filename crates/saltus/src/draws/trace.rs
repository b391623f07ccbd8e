//! The draws of a run in memory: one number per observable, chain and draw, and whole states on
//! request.

use super::sink::{ChainDraws, Plan, STATISTICS, Sink, SinkError};
#[cfg(feature = "zarr")]
use std::ops::Range;

/// The kept draws of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    chains: usize,
    draws: usize,
    /// One of how many draws is in the series, the first among them.
    every: usize,
    /// Draws of all chains together that are in the series, at most.
    most: Option<usize>,
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

/// Draws of all chains together that a summary is computed from, at most, so that it takes no more
/// memory however long a run was.
pub const MOST_JUDGED: usize = 1 << 20;
/// Draws of a chain that are always kept, however many the chains.
const FEWEST_KEPT: usize = 1 << 10;

/// One of how many draws is kept if there shall be at most so many in all chains together: a power of
/// two, so that what was kept of fewer draws can be thinned to it.
///
/// ```
/// use saltus::draws::trace::thinning;
/// assert_eq!(thinning(4, 1_000, 4_000), 1);
/// assert_eq!(thinning(4, 10_000, 8_000), 8); // 1,250 draws of each chain are left
/// ```
pub fn thinning(chains: usize, draws: usize, most: usize) -> usize {
    let most = most.max(chains.saturating_mul(FEWEST_KEPT));
    let mut every = 1;
    while chains.saturating_mul(draws.div_ceil(every)) > most {
        every *= 2;
    }
    every
}

impl Default for Trace {
    fn default() -> Self {
        Self {
            chains: 0,
            draws: 0,
            every: 1,
            most: None,
            names: Vec::new(),
            series: Vec::new(),
            keeps_states: false,
            states: Vec::new(),
        }
    }
}

impl Trace {
    /// A trace to be filled by a run.
    pub fn new(keep_states: bool) -> Self {
        Self { keeps_states: keep_states, ..Self::default() }
    }

    /// The same in memory that does not grow with the draws: if there are more than `most` in all chains
    /// together, the series keep every second, fourth, … draw. Whole states are all kept.
    ///
    /// ```
    /// use saltus::draws::trace::Trace;
    /// use saltus::model::independent::Independent;
    /// use saltus::{Run, Settings};
    /// let model = Independent::bernoulli(vec![0.0; 3])?;
    /// let settings = Settings { chains: 2, warmup: 10, draws: 5000, ..Settings::default() };
    /// let mut thinned = Trace::new(false).at_most(4000);
    /// Run::new(&model, settings.clone()).go_into(&mut thinned)?;
    /// assert_eq!((thinned.draws(), thinned.every(), thinned.hamming()[1].len()), (5000, 4, 1250));
    /// let all = Run::new(&model, settings).go()?.trace;
    /// assert_eq!(thinned.hamming()[1][7], all.hamming()[1][28]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn at_most(self, most: usize) -> Self {
        Self { most: Some(most), ..self }
    }

    /// A trace of series that were kept elsewhere: observables, then [`STATISTICS`], each by chain.
    pub(crate) fn of_series(
        names: Vec<String>,
        series: Vec<Vec<Vec<f64>>>,
        draws: usize,
        every: usize,
    ) -> Self {
        let chains = series.first().map_or(0, Vec::len);
        Self { chains, draws, every, names, series, ..Self::default() }
    }

    /// The same with the states of every chain, none if they were not kept.
    pub(crate) fn with_states(self, states: Vec<Vec<u8>>) -> Self {
        Self { keeps_states: !states.is_empty(), states, ..self }
    }

    /// Some draws of a chain, as a sink takes them.
    #[cfg(feature = "zarr")]
    pub(crate) fn draws_of(&self, chain: usize, draws: Range<usize>, sites: usize) -> ChainDraws {
        let mut taken = ChainDraws::new(self.names.len());
        for draw in draws.clone() {
            taken.numbers.extend(self.series.iter().map(|series| series[chain][draw]));
        }
        if let Some(states) = self.states.get(chain) {
            taken.states.extend_from_slice(&states[draws.start * sites..draws.end * sites]);
        }
        taken
    }

    /// All series, as they are kept.
    pub(crate) fn all_series(&self) -> &[Vec<Vec<f64>>] {
        &self.series
    }

    /// The states of all chains; none unless they were kept.
    pub(crate) fn all_states(&self) -> &[Vec<u8>] {
        &self.states
    }

    /// Number of chains.
    pub fn chains(&self) -> usize {
        self.chains
    }

    /// Draws of each chain.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// One of how many draws is in the series; 1 unless their number was limited.
    pub fn every(&self) -> usize {
        self.every
    }

    /// Drops every other number of the series until there are no more than allowed.
    fn thin(&mut self) {
        let Some(most) = self.most else {
            return;
        };
        let every = thinning(self.chains, self.draws, most);
        while self.every < every {
            self.every *= 2;
            for series in self.series.iter_mut().flatten() {
                let mut place = 0;
                series.retain(|_| {
                    place += 1;
                    place % 2 == 1
                });
            }
        }
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
            let kept = draws.div_ceil(self.every);
            self.series.iter_mut().flatten().for_each(|series| series.truncate(kept));
            for states in &mut self.states {
                states.truncate(draws * plan.space.sites());
            }
        } else {
            self.chains = plan.chains;
            self.names = plan.names.to_vec();
            (self.draws, self.every) = (0, 1);
            let count = plan.names.len() + STATISTICS.len();
            self.series = vec![vec![Vec::new(); plan.chains]; count];
            self.states = vec![Vec::new(); if self.keeps_states { plan.chains } else { 0 }];
        }
        Ok(())
    }

    fn take(&mut self, draws: Vec<ChainDraws>) -> Result<(), SinkError> {
        // The first of them that is kept.
        let skipped = (self.every - self.draws % self.every) % self.every;
        self.draws += draws.first().map_or(0, ChainDraws::draws);
        for (number, chain) in draws.into_iter().enumerate() {
            for (column, series) in self.series.iter_mut().enumerate() {
                series[number].extend(chain.column(column).skip(skipped).step_by(self.every));
            }
            if let Some(states) = self.states.get_mut(number) {
                states.extend(chain.states);
            }
        }
        self.thin();
        Ok(())
    }
}
