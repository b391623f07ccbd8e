//! What a sampler asks of a model: log π of a block of states, and by how much it would change if
//! one site alone took another value.

pub mod callable;
mod checkerboard;
pub mod clamped;
pub mod couplings;
pub(crate) mod dense;
pub mod edge_list;
pub mod erased;
pub mod factor;
pub mod factors;
mod feasible;
pub mod fhmm;
pub mod fixed_sum;
pub mod graph;
pub mod grid;
pub mod independent;
mod lanes;
pub mod lattice;
pub mod one_hot;
mod pair_rows;
pub mod pairwise;
pub mod paper;
pub mod polynomial;
pub mod rbm;
pub mod settled;
mod sweep;
pub(crate) mod sweeper;
mod work;

pub use sweep::{Sweep, SweptChains};
pub use work::Work;

use crate::adjacency::Adjacency;
use crate::base::Base;
use crate::error::ModelError;
use crate::model::couplings::Couplings;
use crate::model::factor::Factor;
use crate::model::fixed_sum::FixedSum;
use crate::model::rbm::Rbm;
use crate::rng::ChainRng;
use crate::space::{Space, States};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Which differences a sampler is given: the true ones, or a first-order estimate.
///
/// Metropolis–Hastings repairs either. They coincide where log π is affine in each single site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Differences {
    /// From the gradient at the current state: one evaluation for all sites.
    #[default]
    Taylor,
    /// The true change of log π for every site and value.
    Exact,
}

/// An unnormalised distribution over a [`Space`], evaluated for a block of chains at a time.
///
/// Only [`space`](Model::space), [`new_cache`](Model::new_cache) and [`log_prob`](Model::log_prob)
/// must be written; everything else has a correct default that calls `log_prob`, and is overridden
/// for speed. The model itself never changes: what it wants to remember of a block of chains goes
/// into the cache, so one model serves all threads.
///
/// **Differences** are stored per chain as [`Space::diff_len`] numbers, plane after plane. With two
/// values there is one plane, `diff[n]` = change of log π if site n flips. With more, plane j holds
/// `diff[j·sites + n]` = change if site n took value j, zero where it already has it.
pub trait Model: Send + Sync {
    /// What it keeps of one block of chains: scratch space, hidden activations, residuals.
    type Cache: Send;

    /// The space its states live in.
    fn space(&self) -> &Space;

    /// A cache for a block of at most that many chains.
    fn new_cache(&self, chains: usize) -> Self::Cache;

    /// log π, up to a constant, of every state of the block. −∞ is a forbidden state.
    fn log_prob(
        &self,
        states: States<'_>,
        cache: &mut Self::Cache,
        log_prob: &mut [f64],
    ) -> Result<(), ModelError>;

    /// log π and the differences of every state of the block.
    ///
    /// The default tries every value of every site through `log_prob`: it is the oracle that
    /// faster implementations are tested against.
    fn log_prob_and_diff(
        &self,
        kind: Differences,
        states: States<'_>,
        cache: &mut Self::Cache,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        let _ = kind;
        self.log_prob(states, cache, log_prob)?;
        brute_force_diff(self, states, cache, log_prob, diff)
    }

    /// Whether Taylor differences are the exact ones: log π is affine in each single site.
    fn taylor_is_exact(&self) -> bool {
        false
    }

    /// Whether [`site_diff`](Model::site_diff) and [`set_site`](Model::set_site) cost much less
    /// than `log_prob`, so that a sampler which changes few sites should use them.
    fn is_incremental(&self) -> bool {
        false
    }

    /// Starts following one chain of the block site by site; returns its log π.
    fn follow(
        &self,
        state: &[u8],
        chain: usize,
        cache: &mut Self::Cache,
    ) -> Result<f64, ModelError> {
        let _ = chain;
        let mut log_prob = [0.0];
        self.log_prob(States::new(state, state.len()), cache, &mut log_prob)?;
        Ok(log_prob[0])
    }

    /// The true change of log π for every value of one site of a followed chain: `diff[j]`, zero
    /// at the current value, −∞ where the value would make the state forbidden. `diff` has as many
    /// entries as the site has values. Never asked where the state itself is forbidden.
    fn site_diff(
        &self,
        state: &[u8],
        chain: usize,
        cache: &mut Self::Cache,
        site: usize,
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        let mut changed = state.to_vec();
        for (value, diff) in diff.iter_mut().enumerate() {
            changed[site] = value as u8;
            *diff = self.follow(&changed, chain, cache)?;
        }
        // The state itself comes last, so that the cache goes on following it.
        let here = self.follow(state, chain, cache)?;
        diff.iter_mut().for_each(|diff| *diff -= here);
        diff[usize::from(state[site])] = 0.0;
        Ok(())
    }

    /// Gives one site of a followed chain a new value, in the state and in the cache.
    fn set_site(
        &self,
        state: &mut [u8],
        chain: usize,
        cache: &mut Self::Cache,
        site: usize,
        value: u8,
    ) {
        let _ = (chain, cache);
        state[site] = value;
    }

    /// Which sites a site's differences depend on, if they are few.
    fn adjacency(&self) -> Option<&Adjacency> {
        None
    }

    /// Sums that all allowed states have: no single site of these can change alone, and samplers must
    /// change two at once (see [`FixedSums`](fixed_sum::FixedSums)).
    fn sums(&self) -> &[FixedSum] {
        &[]
    }

    /// The true change of log π if the first of two sites of a followed chain took each of its values and
    /// the second took what is left of their sum: `diff[j]`, −∞ where the second cannot, or the state
    /// would be forbidden. The state is left as it was.
    fn exchange_diff(
        &self,
        state: &mut [u8],
        chain: usize,
        cache: &mut Self::Cache,
        sites: (usize, usize),
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        let pair = fixed_sum::Pair::new(self.space(), state, sites);
        for (value, diff) in diff.iter_mut().enumerate() {
            *diff = match pair.other(value) {
                None => f64::NEG_INFINITY,
                Some(other) => {
                    pair.write(state, (value as u8, other));
                    self.follow(state, chain, cache)?
                }
            };
        }
        // The state itself comes last, so that the cache goes on following it.
        pair.write(state, pair.own);
        let here = self.follow(state, chain, cache)?;
        diff.iter_mut().for_each(|diff| *diff -= here);
        diff[usize::from(pair.own.0)] = 0.0;
        Ok(())
    }

    /// Redraws every site of every chain of a block once from its conditional distribution on the
    /// chain's rung, in an order that does not depend on the states, if the model can do that faster
    /// than site by site; returns whether it did. What happens to a chain must not depend on the
    /// others.
    fn sweep(&self, chains: SweptChains<'_>, cache: &mut Self::Cache) -> bool {
        let _ = (chains, cache);
        false
    }

    /// How many of `chains` chains it likes to redraw together in a [`sweep`](Model::sweep).
    fn sweep_block_size(&self, chains: usize) -> usize {
        self.block_size(chains)
    }

    /// What its answers cost, counted from its sizes: by this samplers are chosen, and nothing else.
    fn work(&self) -> Work {
        Work::unknown(self.space().diff_len())
    }

    /// Draws a state to start a chain from; uniform unless the model knows better.
    fn initial_state(&self, rng: &mut ChainRng, state: &mut [u8]) {
        let space = self.space();
        for (site, value) in state.iter_mut().enumerate() {
            *value = rng.below(space.values_at(site)) as u8;
        }
    }

    /// States in places that may have mass and that chains would not come to by themselves, if the model knows any; the best
    /// first. From there it is looked whether a run, or an estimate of log Z, has missed something.
    fn places(&self, rng: &mut ChainRng) -> Vec<Vec<u8>> {
        let _ = rng;
        Vec::new()
    }

    /// Draws a state to start from that has these values at the sites where one is known; there may be
    /// fewer of them than sites.
    fn complete(&self, rng: &mut ChainRng, known: &[Option<u8>], state: &mut [u8]) {
        self.initial_state(rng, state);
        for (value, known) in state.iter_mut().zip(known) {
            *value = known.unwrap_or(*value);
        }
    }

    /// Whether log π stays the same when all sites exchange their values alike, whichever values these
    /// are: spins that are all flipped, colours that change names. Then every value of a site is equally
    /// likely, and a run whose means say otherwise has not seen all states.
    fn is_symmetric(&self) -> bool {
        false
    }

    /// log π as a sum of tables over few sites, if it is one: then sums over all states may be had
    /// by elimination.
    fn factors(&self) -> Option<Vec<Factor>> {
        None
    }

    /// log π as couplings of pairs without frustration, by which clusters of sites can be redrawn; the error
    /// says why it has none. From its tables unless the model knows better.
    fn couplings(&self) -> Result<Arc<Couplings>, ModelError> {
        match self.factors() {
            Some(factors) => Couplings::new(self.space(), &factors).map(Arc::new),
            None => Err(ModelError::invalid(
                "clusters are for pairs of sites, but log π is not known to be a sum over pairs: gibbs or dlmc \
                 sample it",
            )),
        }
    }

    /// The restricted Boltzmann machine that it is, if it is one: then all hidden units and all sites can be redrawn in
    /// turn.
    fn rbm(&self) -> Option<&Rbm> {
        None
    }

    /// Independent sites that resemble the model, from which annealing and tempering start: uniform
    /// unless the model knows better.
    fn base(&self) -> Base {
        Base::uniform(self.space())
    }

    /// The space of what observers, stores and pictures are shown: that of the states, unless the
    /// model leaves out sites that are known.
    fn shown_space(&self) -> &Space {
        self.space()
    }

    /// Writes a state as it is shown.
    fn show(&self, state: &[u8], shown: &mut [u8]) {
        shown.copy_from_slice(state);
    }

    /// How many of `chains` chains it likes to see per call: few stay in the processor's cache,
    /// many feed a matrix product.
    fn block_size(&self, chains: usize) -> usize {
        let _ = chains;
        1
    }
}

/// Where on the path p^(1−β) π^β from independent sites p to the model π a chain stands.
#[derive(Clone, Copy, Debug)]
pub struct Rung<'a> {
    /// The inverse temperature, from 0 to 1 where there is a base.
    pub beta: f64,
    /// The independent sites; without them the chain is at the model itself.
    pub base: Option<&'a Base>,
}

impl Rung<'_> {
    /// At the model itself.
    pub const MODEL: Rung<'static> = Rung { beta: 1.0, base: None };

    /// By what log π counts there: β, or one without a base.
    #[inline]
    pub fn factor(&self) -> f64 {
        if self.base.is_some() { self.beta } else { 1.0 }
    }

    /// The logarithm of the density of a state there, from log π and log p.
    #[inline]
    pub fn mix(&self, log_prob: f64, log_base: f64) -> f64 {
        (1.0 - self.beta) * log_base + self.beta * log_prob
    }

    /// Turns the model's changes of a site, which has value `own`, into those of the density there.
    #[inline]
    pub(crate) fn mix_changes(&self, site: usize, own: u8, changes: &mut [f64]) {
        if let Some(base) = self.base {
            for (value, change) in changes.iter_mut().enumerate() {
                // What the model forbids is forbidden at β = 0, too.
                if *change != f64::NEG_INFINITY {
                    *change = self.mix(*change, base.change(site, own, value as u8));
                }
            }
        }
    }
}

/// The differences by trying every value of every site; `log_prob` is known already.
pub fn brute_force_diff<M: Model + ?Sized>(
    model: &M,
    states: States<'_>,
    cache: &mut M::Cache,
    log_prob: &[f64],
    diff: &mut [f32],
) -> Result<(), ModelError> {
    let space = model.space();
    let (sites, binary) = (space.sites(), space.is_binary());
    let mut changed = vec![0; sites];
    for ((state, here), diff) in
        states.rows().zip(log_prob).zip(diff.chunks_exact_mut(space.diff_len()))
    {
        changed.copy_from_slice(state);
        for site in 0..sites {
            for value in (0..space.values_at(site)).map(|value| value as u8) {
                if value == state[site] {
                    if !binary {
                        diff[usize::from(value) * sites + site] = 0.0;
                    }
                    continue;
                }
                changed[site] = value;
                let mut there = [0.0];
                model.log_prob(States::new(&changed, sites), cache, &mut there)?;
                let plane = if binary { 0 } else { usize::from(value) };
                diff[plane * sites + site] = (there[0] - here) as f32;
            }
            changed[site] = state[site];
        }
        space.mask(diff);
    }
    Ok(())
}

/// Fails with a sentence if a number of a model's parameters is not finite.
pub fn check_finite(what: &str, numbers: &[f32]) -> Result<(), ModelError> {
    match numbers.iter().position(|number| !number.is_finite()) {
        None => Ok(()),
        Some(at) => Err(ModelError::invalid(format!(
            "{what}[{at}] is {}, not a number a model can use",
            numbers[at]
        ))),
    }
}

/// Fails with a sentence if a table of parameters has the wrong length.
pub fn check_length(what: &str, found: usize, expected: usize) -> Result<(), ModelError> {
    if found == expected {
        Ok(())
    } else {
        Err(ModelError::invalid(format!("{what} has {found} entries, expected {expected}")))
    }
}
