//! A model whose states must have given sums over some of their sites.

use super::{Differences, Model, Work};
use crate::base::Base;
use crate::error::ModelError;
use crate::rng::ChainRng;
use crate::space::{Space, States};
use serde::{Deserialize, Serialize};

/// Some sites, and what their values must add up to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixedSum {
    /// The sum.
    pub total: usize,
    /// The sites.
    pub sites: Vec<u32>,
}

impl FixedSum {
    fn holds(&self, state: &[u8]) -> bool {
        self.sites.iter().map(|site| usize::from(state[*site as usize])).sum::<usize>()
            == self.total
    }
}

/// Any model given sums of its sites: as many ones as there are particles, items or dollars.
///
/// States with other sums are forbidden, so that no site of a sum can change alone. Gibbs sweeps redraw two
/// such sites together, given what they add up to; for spins that is the exchange of two values
/// (Kawasaki 1966, Phys. Rev. 145), drawn from its conditional distribution.
///
/// ```
/// use saltus::model::fixed_sum::{FixedSum, FixedSums};
/// use saltus::model::lattice::Lattice;
/// use saltus::model::pairwise::Pairwise;
/// use saltus::{Run, Sampler, Settings};
/// // A lattice gas of three particles on nine sites.
/// let lattice = Pairwise::ising_lattice(Lattice::free(3, 3)?, 0.5, vec![0.0; 9])?;
/// let gas = FixedSums::new(lattice, &[FixedSum { total: 3, sites: (0..9).collect() }])?;
/// let settings = Settings { chains: 2, warmup: 50, draws: 50, ..Sampler::gibbs().into() };
/// let outcome = Run::new(&gas, settings).keep_states().go()?;
/// assert!(outcome.trace.states(0).chunks(9).all(|state| state.iter().sum::<u8>() == 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FixedSums<M> {
    inner: M,
    sums: Vec<FixedSum>,
    /// Whether a site is in a sum.
    bound: Vec<bool>,
}

/// Starts that are tried where the model forbids some.
const STARTS: usize = 100;

impl<M: Model> FixedSums<M> {
    /// The model given these sums, no two of which share a site.
    pub fn new(inner: M, sums: &[FixedSum]) -> Result<Self, ModelError> {
        let space = inner.space();
        let mut bound = vec![false; space.sites()];
        for FixedSum { total, sites } in sums {
            for site in sites {
                match bound.get_mut(*site as usize) {
                    None => {
                        return Err(ModelError::invalid(format!(
                            "a fixed sum names site {site}, but the last site is {}",
                            space.sites() - 1
                        )));
                    }
                    Some(true) => {
                        return Err(ModelError::invalid(format!(
                            "site {site} is in a fixed sum twice"
                        )));
                    }
                    Some(bound) => *bound = true,
                }
            }
            let most: usize = sites.iter().map(|site| space.values_at(*site as usize) - 1).sum();
            if *total > most {
                return Err(ModelError::invalid(format!(
                    "{} sites cannot add up to {total}: their values make {most} at most",
                    sites.len()
                )));
            }
        }
        Ok(Self { inner, sums: sums.to_vec(), bound })
    }

    /// The model whose sums are fixed.
    pub fn inner(&self) -> &M {
        &self.inner
    }

    fn holds(&self, state: &[u8]) -> bool {
        self.sums.iter().all(|sum| sum.holds(state))
    }

    /// Puts what is missing of a sum onto sites that have room, one unit at a time; whether there was
    /// nothing too much and room for all.
    fn fill(
        &self,
        sum: &FixedSum,
        rng: &mut ChainRng,
        known: &[Option<u8>],
        filled: &mut [Option<u8>],
    ) -> bool {
        let space = self.inner.space();
        let fixed = |site: u32| known.get(site as usize).copied().flatten();
        let given: usize = sum.sites.iter().filter_map(|site| fixed(*site)).map(usize::from).sum();
        let mut room: Vec<u32> =
            sum.sites.iter().copied().filter(|site| fixed(*site).is_none()).collect();
        room.iter().for_each(|site| filled[*site as usize] = Some(0));
        room.retain(|site| space.values_at(*site as usize) > 1);
        for _ in given..sum.total {
            if room.is_empty() {
                return false;
            }
            let at = rng.below(room.len());
            let site = room[at] as usize;
            let value = filled[site].unwrap_or(0) + 1;
            filled[site] = Some(value);
            if usize::from(value) + 1 == space.values_at(site) {
                room.swap_remove(at);
            }
        }
        given <= sum.total
    }
}

impl<M: Model> Model for FixedSums<M> {
    type Cache = M::Cache;

    fn space(&self) -> &Space {
        self.inner.space()
    }

    fn new_cache(&self, chains: usize) -> M::Cache {
        self.inner.new_cache(chains)
    }

    fn log_prob(
        &self,
        states: States<'_>,
        cache: &mut M::Cache,
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        self.inner.log_prob(states, cache, log_prob)?;
        for (state, log_prob) in states.rows().zip(log_prob) {
            if !self.holds(state) {
                *log_prob = f64::NEG_INFINITY;
            }
        }
        Ok(())
    }

    fn log_prob_and_diff(
        &self,
        kind: Differences,
        states: States<'_>,
        cache: &mut M::Cache,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        self.inner.log_prob_and_diff(kind, states, cache, log_prob, diff)?;
        let (space, sites) = (self.inner.space(), self.inner.space().sites());
        let rows = states.rows().zip(diff.chunks_exact_mut(space.diff_len()));
        for ((state, diff), log_prob) in rows.zip(log_prob) {
            if !self.holds(state) {
                *log_prob = f64::NEG_INFINITY;
            }
            for (plane, diff) in diff.chunks_exact_mut(sites).enumerate() {
                for (site, diff) in
                    diff.iter_mut().enumerate().filter(|(site, _)| self.bound[*site])
                {
                    if space.is_binary() || usize::from(state[site]) != plane {
                        *diff = f32::NEG_INFINITY;
                    }
                }
            }
        }
        Ok(())
    }

    fn taylor_is_exact(&self) -> bool {
        self.inner.taylor_is_exact()
    }

    fn is_incremental(&self) -> bool {
        self.inner.is_incremental()
    }

    fn follow(&self, state: &[u8], chain: usize, cache: &mut M::Cache) -> Result<f64, ModelError> {
        let log_prob = self.inner.follow(state, chain, cache)?;
        Ok(if self.holds(state) { log_prob } else { f64::NEG_INFINITY })
    }

    fn site_diff(
        &self,
        state: &[u8],
        chain: usize,
        cache: &mut M::Cache,
        site: usize,
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        if !self.bound[site] {
            return self.inner.site_diff(state, chain, cache, site, diff);
        }
        diff.fill(f64::NEG_INFINITY);
        diff[usize::from(state[site])] = 0.0;
        Ok(())
    }

    fn set_site(
        &self,
        state: &mut [u8],
        chain: usize,
        cache: &mut M::Cache,
        site: usize,
        value: u8,
    ) {
        self.inner.set_site(state, chain, cache, site, value);
    }

    fn sums(&self) -> &[FixedSum] {
        &self.sums
    }

    /// One site after the other, where the model allows the state between; else both at once.
    fn exchange_diff(
        &self,
        state: &mut [u8],
        chain: usize,
        cache: &mut M::Cache,
        sites: (usize, usize),
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        let pair = Pair::new(self.space(), state, sites);
        let (first, second) = sites;
        self.inner.site_diff(state, chain, cache, first, diff)?;
        let values = self.space().values_at(second);
        let (mut few, mut many) = ([0.0; 4], Vec::new());
        let of_second = match few.get_mut(..values) {
            Some(few) => few,
            None => {
                many.resize(values, 0.0);
                &mut many[..]
            }
        };
        let mut log_prob = None;
        for (value, diff) in diff.iter_mut().enumerate() {
            let Some(other) = pair.other(value) else {
                *diff = f64::NEG_INFINITY;
                continue;
            };
            if value == usize::from(pair.own.0) {
                *diff = 0.0;
            } else if *diff == f64::NEG_INFINITY {
                let here = match log_prob {
                    Some(here) => here,
                    None => *log_prob.insert(self.inner.follow(state, chain, cache)?),
                };
                pair.write(state, (value as u8, other));
                *diff = self.inner.follow(state, chain, cache)? - here;
                pair.write(state, pair.own);
                self.inner.follow(state, chain, cache)?;
            } else {
                self.inner.set_site(state, chain, cache, first, value as u8);
                self.inner.site_diff(state, chain, cache, second, of_second)?;
                *diff += of_second[usize::from(other)];
                self.inner.set_site(state, chain, cache, first, pair.own.0);
            }
        }
        Ok(())
    }

    fn initial_state(&self, rng: &mut ChainRng, state: &mut [u8]) {
        self.complete(rng, &[], state);
    }

    /// Sums are filled at random; again, if the model forbids what came of it.
    fn complete(&self, rng: &mut ChainRng, known: &[Option<u8>], state: &mut [u8]) {
        let mut cache = self.new_cache(1);
        for _ in 0..STARTS {
            let mut filled = known.to_vec();
            filled.resize(self.bound.len(), None);
            let fits = self.sums.iter().all(|sum| self.fill(sum, rng, known, &mut filled));
            self.inner.complete(rng, &filled, state);
            let mut log_prob = [0.0];
            let evaluated =
                self.log_prob(States::new(state, state.len()), &mut cache, &mut log_prob);
            // A model that cannot be evaluated says so when its chains start.
            if !fits || evaluated.is_err() || log_prob[0] > f64::NEG_INFINITY {
                return;
            }
        }
    }

    fn base(&self) -> Base {
        self.inner.base()
    }

    fn shown_space(&self) -> &Space {
        self.inner.shown_space()
    }

    fn show(&self, state: &[u8], shown: &mut [u8]) {
        self.inner.show(state, shown);
    }

    /// That of the whole, site by site.
    fn work(&self) -> Work {
        Work { sweep: None, ..self.inner.work() }
    }

    fn block_size(&self, chains: usize) -> usize {
        self.inner.block_size(chains)
    }
}

/// Two sites that share what they add up to.
pub(crate) struct Pair {
    sites: (usize, usize),
    /// Their values.
    pub(crate) own: (u8, u8),
    /// How many values the second has.
    values: usize,
}

impl Pair {
    pub(crate) fn new(space: &Space, state: &[u8], sites: (usize, usize)) -> Self {
        let own = (state[sites.0], state[sites.1]);
        Self { sites, own, values: space.values_at(sites.1) }
    }

    /// What the second site has if the first has that value, if it can.
    pub(crate) fn other(&self, value: usize) -> Option<u8> {
        let total = usize::from(self.own.0) + usize::from(self.own.1);
        let other = total.checked_sub(value).filter(|other| *other < self.values)?;
        Some(other as u8)
    }

    pub(crate) fn write(&self, state: &mut [u8], values: (u8, u8)) {
        (state[self.sites.0], state[self.sites.1]) = values;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::independent::Independent;

    #[test]
    fn impossible_sums_are_refused_in_a_sentence() {
        let reason = |total, sites: &[u32]| {
            let model = Independent::bernoulli(vec![0.0; 4]).unwrap();
            let sum = FixedSum { total, sites: sites.to_vec() };
            FixedSums::new(model, &[sum]).unwrap_err().to_string()
        };
        assert_eq!(reason(1, &[1, 4]), "a fixed sum names site 4, but the last site is 3");
        assert_eq!(reason(1, &[1, 1]), "site 1 is in a fixed sum twice");
        assert_eq!(reason(3, &[1, 2]), "2 sites cannot add up to 3: their values make 2 at most");
    }
}
