//! The states of largest log π, with any sampler: by simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983), by annealing that is
//! reheated to where the specific heat is largest (Abramson, Krishnamoorthy and Dang 1999), or by a ladder of temperatures.
//!
//! All chains cool from where everything is accepted to where nothing is; then they begin anew and cool more
//! slowly, until the time is over. Reheated chains begin where they were best, and no hotter than where most is decided.
//!
//! ```
//! use saltus::minimize::{Minimize, MinimizeSettings};
//! use saltus::{Edge, Pairwise};
//! // A triangle of spins that all want to differ: one pair cannot.
//! let edge = |from, to| Edge { from, to, weight: -1.0 };
//! let model = Pairwise::ising(&[edge(0, 1), edge(1, 2), edge(0, 2)], vec![0.0; 3])?;
//! let found = Minimize::new(&model, MinimizeSettings::default()).go()?;
//! assert_eq!(found.states[0].log_prob, 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cooling;
mod ladder;

use crate::base::Base;
use crate::control::{Control, Ended};
use crate::engine::{self, Failed, block_ranges, sampler_block};
use crate::error::ModelError;
use crate::model::{Differences, Model};
use crate::rng::{ChainRng, Stream};
use crate::run::RunError;
use crate::sampler::Sampler;
use crate::space::States;
use crate::tune::Tuner;
use crate::workers::Workers;
use cooling::{Cooling, Heat};
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How temperatures are gone through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// Chains cool, and begin anew.
    #[default]
    Anneal,
    /// Chains cool; then they go on from where they were best, as hot as where the specific heat was largest.
    Reheat,
    /// Every chain is a ladder of temperatures, whose coldest rung is where cooling would end.
    Temper,
}

impl Search {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Anneal, Self::Reheat, Self::Temper];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anneal => "anneal",
            Self::Reheat => "reheat",
            Self::Temper => "temper",
        }
    }
}

impl std::str::FromStr for Search {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|search| search.name() == name).ok_or_else(|| {
            crate::names::unknown("search", name, Self::ALL.iter().map(|search| search.name()))
        })
    }
}

/// How to look for the best states.
#[derive(Clone, Debug, PartialEq)]
pub struct MinimizeSettings {
    /// The sampler that moves chains.
    pub sampler: Sampler,
    /// How temperatures are gone through.
    pub search: Search,
    /// Chains that cool side by side, or ladders.
    pub chains: usize,
    /// Steps of the first cooling; every one after it takes twice as many. Of a ladder the scans that find its rungs, and as many after.
    pub sweeps: usize,
    /// Wall time after which no more is looked for; one cooling (two where the second is a reheating) if there is none.
    pub time_limit: Option<Duration>,
    /// Seed of all random streams.
    pub seed: u64,
    /// Threads, or as many as the machine has.
    pub threads: Option<usize>,
    /// The first and the last inverse temperature; found from the model unless given.
    pub betas: Option<(f64, f64)>,
    /// Distinct states to keep.
    pub states: usize,
}

impl Default for MinimizeSettings {
    fn default() -> Self {
        Self {
            sampler: Sampler::gibbs(),
            search: Search::default(),
            chains: 32,
            sweeps: 1000,
            time_limit: None,
            seed: 0,
            threads: None,
            betas: None,
            states: 10,
        }
    }
}

/// One of the best states.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoundState {
    /// log π.
    pub log_prob: f64,
    /// −log π.
    pub energy: f64,
    /// Coolings of a chain whose best state it was, or scans in which the coldest rung of a ladder was there.
    pub count: usize,
    /// The state as it is shown.
    pub state: Vec<u8>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Minimum {
    /// The best states, the very best first.
    pub states: Vec<FoundState>,
    /// Coolings of a chain that came to their end.
    pub coolings: usize,
    /// Steps of each chain.
    pub sweeps: usize,
    /// The first and the last inverse temperature; ladders begin at 0.
    pub betas: (f64, f64),
    /// The inverse temperature that chains were reheated to.
    pub reheated_to: Option<f64>,
    /// Wall time, and how long it took to find the best state.
    pub seconds: f64,
    /// The same until the best state was found.
    pub seconds_to_best: f64,
    /// How it ended.
    pub ended: Ended,
}

/// Where a search is.
#[derive(Clone, Copy, Debug)]
pub struct MinimizeProgress {
    /// The cooling in progress, from 1.
    pub cooling: usize,
    /// Steps of it that are done, and all.
    pub done: (usize, usize),
    /// The largest log π so far.
    pub best: f64,
}

type Monitor<'a> = dyn FnMut(MinimizeProgress) -> Control + Send + 'a;

/// A search being set up.
pub struct Minimize<'a, M: Model> {
    model: &'a M,
    settings: MinimizeSettings,
    monitor: Box<Monitor<'a>>,
}

/// Steps of the cooling after one of so many that took so long: twice as many, or as many as fit into what is left of the time where that is less than
/// four times as long, since a cooling that is cut off before it is cold finds nothing.
fn next_sweeps(sweeps: usize, took: Duration, deadline: Option<Instant>) -> usize {
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    let fits = left.map_or(f64::INFINITY, |left| {
        sweeps as f64 * FITTED * left.as_secs_f64() / took.as_secs_f64().max(1e-9)
    });
    if fits < 4.0 * sweeps as f64 { (fits as usize).max(1) } else { sweeps.saturating_mul(2) }
}

/// Share of the time that is left which a cooling is planned for.
const FITTED: f64 = 0.97;

/// Inverse temperatures at which a cooling stops to look around.
const STOPS: usize = 100;

impl<'a, M: Model> Minimize<'a, M> {
    /// A search on a model.
    pub fn new(model: &'a M, settings: MinimizeSettings) -> Self {
        Self { model, settings, monitor: Box::new(|_| Control::Continue) }
    }

    /// Calls `monitor` several times a second; it may ask to stop.
    pub fn monitor(mut self, monitor: impl FnMut(MinimizeProgress) -> Control + Send + 'a) -> Self {
        self.monitor = Box::new(monitor);
        self
    }

    /// Looks.
    pub fn go(mut self) -> Result<Minimum, RunError> {
        let began = Instant::now();
        self.settings.sampler.suits(self.model)?;
        for (name, count) in [("chains", self.settings.chains), ("sweeps", self.settings.sweeps)] {
            if count == 0 {
                return Err(RunError::Zero(name));
            }
        }
        let betas = match self.settings.betas {
            Some(betas) => betas,
            None => self.temperatures()?,
        };
        if !(betas.0 > 0.0 && betas.0 <= betas.1 && betas.1.is_finite()) {
            return Err(RunError::Temper(format!(
                "inverse temperatures must be positive and rise, got {} to {}",
                betas.0, betas.1
            )));
        }
        let mut found = Minimum {
            states: Vec::new(),
            coolings: 0,
            sweeps: 0,
            betas,
            reheated_to: None,
            seconds: 0.0,
            seconds_to_best: 0.0,
            ended: Ended::Complete,
        };
        match self.settings.search {
            Search::Temper => self.by_ladder(began, &mut found)?,
            Search::Anneal | Search::Reheat => self.by_coolings(began, &mut found)?,
        }
        found.seconds = began.elapsed().as_secs_f64();
        Ok(found)
    }

    /// One cooling after another, each twice as long, until the time is over.
    fn by_coolings(&mut self, began: Instant, found: &mut Minimum) -> Result<(), RunError> {
        let settings = self.settings.clone();
        let deadline = settings.time_limit.and_then(|limit| began.checked_add(limit));
        let reheats = settings.search == Search::Reheat;
        let count = block_ranges(self.block_size(), settings.chains).count();
        let workers = Workers::for_blocks(settings.threads, count).map_err(RunError::Threads)?;
        let mut sweeps = settings.sweeps;
        let mut best_of_chains = None;
        for cooling in 0.. {
            let from = found.reheated_to.unwrap_or(found.betas.0);
            let mut blocks = self.blocks(cooling, best_of_chains.take())?;
            let started = Instant::now();
            let mut heat = Heat::default();
            let went =
                self.cool(&workers, &mut blocks, (cooling, sweeps, from), (began, deadline), found);
            let stop = went.err();
            self.gather(&blocks, found)?;
            blocks.iter().for_each(|block| heat.add(&block.heat));
            if stop.is_none() {
                found.coolings += settings.chains;
            }
            match stop {
                // Time that was given was used as it should be.
                Some(Ended::TimeLimit) => break,
                Some(ended) => {
                    found.ended = ended;
                    break;
                }
                None if deadline.is_none() && !(reheats && cooling == 0) => break,
                None => sweeps = next_sweeps(sweeps, started.elapsed(), deadline),
            }
            if reheats {
                found.reheated_to = found.reheated_to.or_else(|| heat.peak());
                let best = blocks.iter().flat_map(|block| &block.best);
                best_of_chains = Some(best.map(|(_, state)| state.clone()).collect());
            }
        }
        Ok(())
    }

    /// Cools all chains once, of a cooling of that number, length and first inverse temperature.
    fn cool(
        &mut self,
        workers: &Workers,
        blocks: &mut [Cooling<'a, M>],
        (cooling, sweeps, from): (usize, usize, f64),
        (began, deadline): (Instant, Option<Instant>),
        found: &mut Minimum,
    ) -> Result<(), Ended> {
        let MinimizeSettings { sampler, chains, .. } = &self.settings;
        let traits = sampler.traits(self.model.space());
        let mut tuner = match (sampler.scale, &traits.scale) {
            (None, Some(scale)) => Some(Tuner::following(scale, sampler.target_acceptance)),
            _ => None,
        };
        let (stops, to) = (STOPS.min(sweeps), found.betas.1);
        let mut done = 0;
        for at in 0..stops {
            let steps = (at + 1) * sweeps / stops - at * sweeps / stops;
            let share = if stops > 1 { at as f64 / (stops - 1) as f64 } else { 1.0 };
            // From one end to the other by equal steps of β: slow where the energy falls.
            let beta = from + (to - from) * share;
            let scale = tuner.as_ref().map_or(sampler.scale.unwrap_or(1.0), Tuner::scale);
            let moved = engine::each(workers, blocks, |block| {
                block.advance(self.model, beta, scale, steps)
            });
            done += steps;
            found.sweeps += steps;
            moved.map_err(|Failed { chain, step, cause }| Ended::Failed { chain, step, cause })?;
            if let Some(tuner) = &mut tuner {
                let sum: f64 = blocks.iter().map(|block| block.acceptance).sum();
                tuner.round(sum / (steps * chains) as f64);
            }
            let best = blocks.iter().flat_map(|block| &block.best).map(|best| best.0);
            let best = best.fold(f64::NEG_INFINITY, f64::max);
            let known = found.states.first().map_or(f64::NEG_INFINITY, |first| first.log_prob);
            if best > known && blocks.iter().any(|block| block.has_just_found(best, steps)) {
                found.seconds_to_best = began.elapsed().as_secs_f64();
            }
            let best = known.max(best);
            let progress = MinimizeProgress { cooling: cooling + 1, done: (done, sweeps), best };
            if (self.monitor)(progress) == Control::Stop {
                return Err(Ended::Interrupted);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(Ended::TimeLimit);
            }
        }
        Ok(())
    }

    fn block_size(&self) -> usize {
        self.settings.sampler.terms(self.model, self.settings.chains).block_size
    }

    /// Chains of a cooling at states to start from, if not at those that the model draws.
    fn blocks(
        &self,
        cooling: usize,
        starts: Option<Vec<Vec<u8>>>,
    ) -> Result<Vec<Cooling<'a, M>>, RunError> {
        let (model, settings) = (self.model, &self.settings);
        let sites = model.space().sites();
        let base = Arc::new(Base::uniform(model.space()));
        let block = |numbers: std::ops::Range<usize>| {
            let first = numbers.start;
            let stream = |chain: usize| Stream::Chain((cooling * settings.chains + chain) as u64);
            let mut rngs: Vec<ChainRng> =
                numbers.map(|chain| ChainRng::new(settings.seed, stream(chain))).collect();
            let mut states = vec![0; rngs.len() * sites];
            for (chain, state) in states.chunks_exact_mut(sites).enumerate() {
                match &starts {
                    Some(starts) => state.copy_from_slice(&starts[first + chain]),
                    None => model.initial_state(&mut rngs[chain], state),
                }
            }
            let (count, base) = (rngs.len(), Some(base.clone()));
            let block = sampler_block(model, &settings.sampler, first, states, rngs, base);
            Cooling::new(block, count, sites)
        };
        Ok(block_ranges(self.block_size(), settings.chains).map(block).collect())
    }

    /// Takes the best states of a cooling in.
    fn gather(&self, blocks: &[Cooling<'_, M>], found: &mut Minimum) -> Result<(), RunError> {
        let best = blocks.iter().flat_map(|block| &block.best);
        let reached = best.filter(|(followed, _)| *followed != f64::NEG_INFINITY);
        self.take(reached.map(|(_, state)| state.as_slice()), found)
    }

    /// Takes states in: the same one counts again. They are evaluated afresh, because sums of changes drift.
    fn take<'s>(
        &self,
        states: impl Iterator<Item = &'s [u8]>,
        found: &mut Minimum,
    ) -> Result<(), RunError> {
        let mut cache = self.model.new_cache(1);
        for state in states {
            let mut log_prob = [0.0];
            let evaluated = States::new(state, state.len());
            self.model.log_prob(evaluated, &mut cache, &mut log_prob).map_err(RunError::Model)?;
            let [log_prob] = log_prob;
            let mut shown = vec![0; self.model.shown_space().sites()];
            self.model.show(state, &mut shown);
            match found.states.iter_mut().find(|known| known.state == shown) {
                Some(known) => known.count += 1,
                None => found.states.push(FoundState {
                    log_prob,
                    energy: 0.0 - log_prob,
                    count: 1,
                    state: shown,
                }),
            }
        }
        found.states.sort_by(|one, other| other.log_prob.total_cmp(&one.log_prob));
        found.states.truncate(self.settings.states.max(1));
        Ok(())
    }

    /// Where to begin and to end: the largest change that a site can make is accepted every other time at
    /// first, and the smallest one in a thousand in the end. With one in a hundred a lattice of ±1 couplings (Gset's G11) is left with
    /// pairs of defects that cost it ten cuts.
    fn temperatures(&self) -> Result<(f64, f64), RunError> {
        let model = self.model;
        let space = model.space();
        let mut rng = ChainRng::new(self.settings.seed, Stream::Reference);
        let mut changes: Vec<f64> = Vec::new();
        let mut cache = model.new_cache(1);
        for _ in 0..4 {
            let mut state = vec![0; space.sites()];
            model.initial_state(&mut rng, &mut state);
            let (mut log_prob, mut diff) = ([0.0], vec![0.0; space.diff_len()]);
            let states = States::new(&state, space.sites());
            let exact = Differences::Exact;
            let evaluated =
                model.log_prob_and_diff(exact, states, &mut cache, &mut log_prob, &mut diff);
            let failed = RunError::Model;
            evaluated.map_err(failed)?;
            changes.extend(diff.iter().map(|change| f64::from(change.abs())));
            changes.extend(self.exchanges(&mut state, &mut cache, &mut rng).map_err(failed)?);
        }
        changes.retain(|change| change.is_finite() && *change > 1e-9);
        changes.sort_by(f64::total_cmp);
        let (Some(largest), Some(small)) = (changes.last(), changes.get(changes.len() / 20)) else {
            return Ok((1.0, 1.0));
        };
        let (first, last) = (std::f64::consts::LN_2 / largest, 1000f64.ln() / small);
        Ok((first, last.max(first)))
    }

    /// Changes that two sites of a fixed sum can make together, of a few pairs.
    fn exchanges(
        &self,
        state: &mut [u8],
        cache: &mut M::Cache,
        rng: &mut ChainRng,
    ) -> Result<Vec<f64>, ModelError> {
        const PAIRS: usize = 200;
        let (model, mut changes) = (self.model, Vec::new());
        for sum in model.sums().iter().filter(|sum| sum.sites.len() > 1) {
            model.follow(state, 0, cache)?;
            for _ in 0..PAIRS {
                let [one, other] = [(); 2].map(|()| rng.below(sum.sites.len()));
                if one != other {
                    let pair = (sum.sites[one] as usize, sum.sites[other] as usize);
                    let mut diff = vec![0.0; model.space().values_at(pair.0)];
                    model.exchange_diff(state, 0, cache, pair, &mut diff)?;
                    changes.extend(diff.iter().map(|change| change.abs()));
                }
            }
        }
        Ok(changes)
    }
}
