//! Factor graphs: tables over any few sites, any numbers of values, hard zeros.

use super::factor::{Factor, strides_of};
use super::feasible::Constraints;
use super::pair_rows::{PairRows, PairScratch};
use super::{Differences, Model, SweptChains, Work};
use crate::adjacency::Adjacency;
use crate::base::Base;
use crate::error::ModelError;
use crate::rng::ChainRng;
use crate::space::{Space, States};
use std::collections::{BTreeMap, BTreeSet};

/// A product of tables, log π = Σ_f θ_f(x_f): Markov random fields, Bayesian networks, Potts models with
/// couplings J_ij(a, b).
///
/// Every site has, for each of its factors, the table in an order where its own value runs fastest.
/// So the differences of a site are sums of contiguous rows, which vectorise over values, and one
/// table serves all chains of a block while it is in the cache.
///
/// If no factor has more than two sites, sweeps of Gibbs sampling redraw a site of all chains of a block from rows in
/// single precision; if there are many tables as well, as in Potts models with couplings J_ij(a, b) of all pairs, these
/// rows are all that is kept for sampling. [`Model::factors`] still has the numbers as they were given.
///
/// ```
/// use saltus::model::factor::Factor;
/// use saltus::model::factors::Factors;
/// use saltus::{Run, Sampler, Settings, Space};
/// // A bit that is one in three of ten cases, and a number that depends on it.
/// let space = Space::mixed(&[2, 3])?;
/// let bit = Factor::from_potentials(&[0], &[0.7, 0.3])?;
/// let number = Factor::from_potentials(&[0, 1], &[0.5, 0.5, 0.0, 0.1, 0.1, 0.8])?;
/// let model = Factors::new(space, &[bit, number])?;
/// let settings = Settings { chains: 2, warmup: 100, draws: 100, ..Sampler::gibbs().into() };
/// let outcome = Run::new(&model, settings).keep_states().go()?;
/// assert!(outcome.trace.states(0).chunks(2).all(|state| state != [0, 2]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Factors {
    space: Space,
    /// Logarithms of all tables, one after the other.
    tables: Vec<f64>,
    /// Where the incidences of each site begin.
    starts: Vec<u32>,
    incidences: Vec<Incidence>,
    /// The other sites of an incidence, and how far each of their values moves its row.
    others: Vec<(u32, u32)>,
    /// The site and incidence in which each factor is counted, by site.
    counted: Vec<(u32, u32)>,
    constant: f64,
    adjacency: Adjacency,
    constraints: Constraints,
    factors: Vec<Factor>,
    /// The same in single precision, if all factors are of one or two sites.
    rows: Option<PairRows>,
}

/// What is kept of one block of chains.
#[derive(Clone, Debug, Default)]
pub struct FactorsCache {
    /// Sums for each chain and value of a site.
    sums: Vec<f64>,
    pairs: PairScratch,
}

/// A factor as one of its sites sees it.
#[derive(Clone, Copy, Debug)]
struct Incidence {
    table: usize,
    /// How far a value of the own site moves: 1 unless the table was too large to be copied.
    stride: u32,
    others: (u32, u32),
    /// Whether this is the site at which the factor counts for log π.
    counts: bool,
}

/// Tables of more sites than two, and of more entries than this, are not copied for each site.
const MOST_COPIED: usize = 4096;
/// Tables that stay in the cache whatever the number of chains in a block.
const SMALL: usize = 1 << 15;
/// Chains of a block that read a table one after the other.
const MOST_CHAINS: usize = 25;

impl Factors {
    /// The product of these factors. Several over the same sites become one.
    pub fn new(space: Space, factors: &[Factor]) -> Result<Self, ModelError> {
        let mut constant = 0.0;
        let mut merged: BTreeMap<Box<[u32]>, Vec<f64>> = BTreeMap::new();
        for factor in factors {
            factor.check(&space)?;
            if factor.scope().is_empty() {
                constant += factor.log_values()[0];
                continue;
            }
            let factor = factor.sorted(&space);
            match merged.get_mut(factor.scope()) {
                None => {
                    merged.insert(factor.scope().into(), factor.log_values().to_vec());
                }
                Some(sum) => {
                    sum.iter_mut().zip(factor.log_values()).for_each(|(sum, log)| *sum += log);
                }
            }
        }
        if constant == f64::NEG_INFINITY {
            return Err(ModelError::invalid("a factor of no sites is zero: no state is possible"));
        }
        let merged: Vec<Factor> = merged
            .into_iter()
            .map(|(scope, logs)| Factor::new(scope, logs))
            .collect::<Result<_, _>>()?;
        Self::laid_out(space, merged, constant)
    }

    /// Lays out the tables of factors whose sites are in order, none of the same sites.
    fn laid_out(space: Space, factors: Vec<Factor>, constant: f64) -> Result<Self, ModelError> {
        let sites = space.sites();
        let pairs: BTreeSet<(u32, u32)> = factors
            .iter()
            .flat_map(|factor| {
                let scope = factor.scope();
                (0..scope.len()).flat_map(move |b| (0..b).map(move |a| (scope[a], scope[b])))
            })
            .collect();
        let adjacency = Adjacency::new(sites, &pairs.into_iter().collect::<Vec<_>>());
        let rows = PairRows::new(&space, &factors, &adjacency, constant);
        let entries: usize = factors.iter().map(|factor| factor.log_values().len()).sum();
        // Many tables are not kept twice.
        let kept = if rows.is_some() && entries > SMALL { &[] } else { &factors[..] };
        let mut of_site: Vec<Vec<Incidence>> = vec![Vec::new(); sites];
        let mut tables = Vec::new();
        let mut others = Vec::new();
        for factor in kept {
            let scope = factor.scope();
            let whole = tables.len();
            tables.extend_from_slice(factor.log_values());
            let copied = scope.len() <= 2 || factor.log_values().len() <= MOST_COPIED;
            for (at, site) in scope.iter().enumerate() {
                let last = at + 1 == scope.len();
                let mut order = scope.to_vec();
                let table = match copied && !last {
                    false => whole,
                    true => {
                        order.remove(at);
                        order.push(*site);
                        let start = tables.len();
                        tables.extend(factor.arranged(&space, &order));
                        start
                    }
                };
                let strides = strides_of(&space, &order);
                let begin = others.len() as u32;
                let mut own = 1;
                for (other, stride) in order.iter().zip(strides) {
                    if other == site {
                        own = stride as u32;
                    } else {
                        others.push((*other, stride as u32));
                    }
                }
                of_site[*site as usize].push(Incidence {
                    table,
                    stride: own,
                    others: (begin, others.len() as u32),
                    counts: last,
                });
            }
            if tables.len().max(others.len()) > u32::MAX as usize {
                return Err(ModelError::invalid("the tables are more than saltus can index"));
            }
        }
        let mut starts = vec![0];
        let mut incidences = Vec::new();
        let mut counted = Vec::new();
        for (site, own) in of_site.into_iter().enumerate() {
            for incidence in own {
                if incidence.counts {
                    counted.push((site as u32, incidences.len() as u32));
                }
                incidences.push(incidence);
            }
            starts.push(incidences.len() as u32);
        }
        let constraints = Constraints::new(&space, factors.iter());
        Ok(Self {
            space,
            tables,
            starts,
            incidences,
            others,
            counted,
            constant,
            adjacency,
            constraints,
            factors,
            rows,
        })
    }

    /// The same with rows and columns, or any other arrangement of its sites.
    pub fn with_shape(mut self, shape: &[usize]) -> Result<Self, ModelError> {
        self.space = self.space.with_shape(shape)?;
        Ok(self)
    }

    /// The rows in single precision, where there is nothing else.
    fn only_rows(&self) -> Option<&PairRows> {
        self.rows.as_ref().filter(|_| self.tables.is_empty())
    }

    fn of_site(&self, site: usize) -> &[Incidence] {
        &self.incidences[self.starts[site] as usize..self.starts[site + 1] as usize]
    }

    /// Where the row of the own site's values begins, given the others.
    #[inline]
    fn row(&self, incidence: &Incidence, state: &[u8]) -> usize {
        let others = &self.others[incidence.others.0 as usize..incidence.others.1 as usize];
        let places = others
            .iter()
            .map(|(site, stride)| usize::from(state[*site as usize]) * *stride as usize);
        incidence.table + places.sum::<usize>()
    }

    /// Adds what a factor says of each value of its own site.
    #[inline]
    fn add_row(&self, incidence: &Incidence, row: usize, sums: &mut [f64]) {
        if incidence.stride == 1 {
            let logs = &self.tables[row..row + sums.len()];
            sums.iter_mut().zip(logs).for_each(|(sum, log)| *sum += log);
        } else {
            let logs = self.tables[row..].iter().step_by(incidence.stride as usize);
            sums.iter_mut().zip(logs).for_each(|(sum, log)| *sum += log);
        }
    }

    #[inline]
    fn entry(&self, incidence: &Incidence, row: usize, value: u8) -> f64 {
        self.tables[row + usize::from(value) * incidence.stride as usize]
    }

    /// log π of a state; terms are added in the order of `log_prob_and_diff`.
    fn log_prob_of(&self, state: &[u8]) -> f64 {
        let mut sum = self.constant;
        for (site, number) in &self.counted {
            let incidence = &self.incidences[*number as usize];
            sum += self.entry(incidence, self.row(incidence, state), state[*site as usize]);
        }
        sum
    }

    /// Writes the differences of one site of one chain, from the sums of its values.
    fn write(&self, site: usize, value: u8, sums: &[f64], diff: &mut [f32]) {
        let (sites, own) = (self.space.sites(), usize::from(value));
        let here = sums[own];
        // From a forbidden state nobody goes on.
        let change = |sum: f64| if here == f64::NEG_INFINITY { 0.0 } else { (sum - here) as f32 };
        if !self.space.is_binary() {
            for (value, sum) in sums.iter().enumerate() {
                diff[value * sites + site] = if value == own { 0.0 } else { change(*sum) };
            }
        } else if let Some(other) = sums.get(1 - own) {
            diff[site] = change(*other);
        }
    }
}

impl Model for Factors {
    type Cache = FactorsCache;

    fn space(&self) -> &Space {
        &self.space
    }

    fn new_cache(&self, chains: usize) -> FactorsCache {
        FactorsCache { sums: vec![0.0; chains * self.space.values()], ..FactorsCache::default() }
    }

    fn log_prob(
        &self,
        states: States<'_>,
        _cache: &mut FactorsCache,
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        for (state, log_prob) in states.rows().zip(log_prob) {
            *log_prob = match self.only_rows() {
                Some(rows) => rows.log_prob(state),
                None => self.log_prob_of(state),
            };
        }
        Ok(())
    }

    fn log_prob_and_diff(
        &self,
        _kind: Differences,
        states: States<'_>,
        FactorsCache { sums: cache, pairs }: &mut FactorsCache,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        let table = self.space.diff_len();
        if let Some(rows) = self.only_rows() {
            rows.log_prob_and_diff(states, pairs, log_prob, diff);
            diff.chunks_exact_mut(table).for_each(|diff| self.space.mask(diff));
            return Ok(());
        }
        log_prob.fill(self.constant);
        for site in 0..self.space.sites() {
            let values = self.space.values_at(site);
            cache.clear();
            cache.resize(states.chains() * values, 0.0);
            for incidence in self.of_site(site) {
                let sums = cache.chunks_exact_mut(values);
                for ((state, sums), log_prob) in states.rows().zip(sums).zip(&mut *log_prob) {
                    let row = self.row(incidence, state);
                    self.add_row(incidence, row, sums);
                    if incidence.counts {
                        *log_prob += self.entry(incidence, row, state[site]);
                    }
                }
            }
            let rows = states.rows().zip(cache.chunks_exact(values));
            for ((state, sums), diff) in rows.zip(diff.chunks_exact_mut(table)) {
                self.write(site, state[site], sums, diff);
            }
        }
        diff.chunks_exact_mut(table).for_each(|diff| self.space.mask(diff));
        Ok(())
    }

    fn taylor_is_exact(&self) -> bool {
        true
    }

    fn work(&self) -> Work {
        let rows = self.incidences.len() as f64;
        let (sites, values) = (self.space.sites() as f64, self.space.values() as f64);
        let around = rows / sites;
        Work {
            evaluation: rows * (7.0 + 1.75 * values),
            site: 10.0 + 8.0 * values + around * (4.0 + values),
            sweep: None,
            far: 0.0,
            is_known: true,
        }
    }

    fn is_incremental(&self) -> bool {
        true
    }

    fn site_diff(
        &self,
        state: &[u8],
        _chain: usize,
        _cache: &mut FactorsCache,
        site: usize,
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        diff.fill(0.0);
        if let Some(rows) = self.only_rows() {
            rows.site_sums(state, site, diff);
        }
        for incidence in self.of_site(site) {
            self.add_row(incidence, self.row(incidence, state), diff);
        }
        let here = diff[usize::from(state[site])];
        diff.iter_mut().for_each(|diff| *diff -= here);
        diff[usize::from(state[site])] = 0.0;
        Ok(())
    }

    fn adjacency(&self) -> Option<&Adjacency> {
        Some(&self.adjacency)
    }

    fn sweep(&self, chains: SweptChains<'_>, cache: &mut FactorsCache) -> bool {
        match &self.rows {
            None => false,
            Some(rows) => {
                rows.sweep(chains, &mut cache.pairs);
                true
            }
        }
    }

    fn sweep_block_size(&self, chains: usize) -> usize {
        if self.rows.is_some() { chains.clamp(1, MOST_CHAINS) } else { self.block_size(chains) }
    }

    fn initial_state(&self, rng: &mut ChainRng, state: &mut [u8]) {
        self.complete(rng, &[], state);
    }

    /// A state that no zero forbids, if the search finds one.
    fn complete(&self, rng: &mut ChainRng, known: &[Option<u8>], state: &mut [u8]) {
        self.constraints.draw(&self.space, known, rng, state);
    }

    /// The factors of single sites, no value of which is impossible.
    fn base(&self) -> Base {
        /// A value is at least e^this as likely as the likeliest.
        const LEAST: f64 = -4.0;
        let (space, sites) = (&self.space, self.space.sites());
        let mut planes = vec![0.0f32; space.diff_len()];
        let mut any = false;
        for factor in self.factors.iter().filter(|factor| factor.scope().len() == 1) {
            let logs = factor.log_values();
            let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if most == f64::NEG_INFINITY {
                continue;
            }
            let weight = |value: usize| (logs[value] - most).max(LEAST) as f32;
            let site = factor.scope()[0] as usize;
            any |= logs.iter().any(|log| *log != most);
            if !space.is_binary() {
                (0..logs.len()).for_each(|value| planes[value * sites + site] = weight(value));
            } else if logs.len() == 2 {
                planes[site] = weight(1) - weight(0);
            }
        }
        let known = if any { Base::new(space.clone(), planes).ok() } else { None };
        known.unwrap_or_else(|| Base::uniform(space))
    }

    fn factors(&self) -> Option<Vec<Factor>> {
        let constant = Factor::new([], [self.constant]).ok()?;
        Some(self.factors.iter().cloned().chain([constant]).collect())
    }

    fn block_size(&self, chains: usize) -> usize {
        let is_small = self.only_rows().is_none() && self.tables.len() <= SMALL;
        chains.clamp(1, if is_small { 4 } else { MOST_CHAINS })
    }
}
