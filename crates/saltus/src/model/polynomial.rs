//! Polynomials of spins or bits: terms over any few sites (k-local, HOBO, PUBO, p-spin models).

use super::factor::Factor;
use super::{Differences, Model, check_finite};
use crate::adjacency::Adjacency;
use crate::base::Base;
use crate::error::ModelError;
use crate::space::{Space, States};
use std::collections::{BTreeMap, BTreeSet};

/// log π = Σ_S c_S Π_{n∈S} vₙ over spins v = ±1 or bits v = 0, 1.
///
/// ```
/// use saltus::model::polynomial::{Polynomial, Variables};
/// use saltus::{Model, States};
/// // Three spins whose product likes to be one.
/// let model = Polynomial::new(Variables::Spins, 3, &[(vec![0, 1, 2], 0.5)])?;
/// let mut log_prob = [0.0; 2];
/// let states = States::new(&[1, 0, 0, 0, 1, 1], 3);
/// model.log_prob(states, &mut model.new_cache(2), &mut log_prob)?;
/// assert_eq!(log_prob, [0.5, -0.5]);
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Polynomial {
    space: Space,
    variables: Variables,
    /// Where the sites of each term begin.
    starts: Vec<u32>,
    sites: Vec<u32>,
    coefficients: Vec<f64>,
    /// Where the terms of each site begin.
    of_site: Vec<u32>,
    terms: Vec<u32>,
    constant: f64,
    adjacency: Option<Adjacency>,
}

/// What the two values of a site stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variables {
    /// −1 and +1.
    Spins,
    /// 0 and 1.
    Bits,
}

/// Terms of more sites make neighbours of too many to be listed.
const MOST_NEIGHBOURS: usize = 32;
/// Terms of more sites are no tables.
const MOST_IN_TABLES: usize = 16;

impl Polynomial {
    /// The polynomial of these terms, sites and coefficient each. Several terms of the same sites add up; a spin that a
    /// term names twice counts not at all, a bit once; a term of no sites is a constant.
    pub fn new(
        variables: Variables,
        sites: usize,
        terms: &[(Vec<u32>, f64)],
    ) -> Result<Self, ModelError> {
        let space = Space::new(sites, 2)?;
        let mut merged: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
        for (scope, coefficient) in terms {
            check_finite("a coefficient", &[*coefficient as f32])?;
            if let Some(site) = scope.iter().find(|site| **site as usize >= sites) {
                return Err(ModelError::invalid(format!(
                    "a term names site {site}, but the last site is {}",
                    sites - 1
                )));
            }
            *merged.entry(variables.reduced(scope)).or_insert(0.0) += coefficient;
        }
        let constant = merged.remove(&[][..]).unwrap_or(0.0);
        let entries: usize = merged.keys().map(Vec::len).sum();
        if entries > u32::MAX as usize {
            return Err(ModelError::invalid("the terms are more than saltus can index"));
        }
        let (mut starts, mut all, mut coefficients) = (vec![0], Vec::new(), Vec::new());
        let mut terms_of: Vec<Vec<u32>> = vec![Vec::new(); sites];
        let mut pairs = BTreeSet::new();
        let largest = merged.keys().map(Vec::len).max().unwrap_or(0);
        for (number, (scope, coefficient)) in merged.into_iter().enumerate() {
            for (at, site) in scope.iter().enumerate() {
                terms_of[*site as usize].push(number as u32);
                if largest <= MOST_NEIGHBOURS {
                    pairs.extend(scope[..at].iter().map(|other| (*other, *site)));
                }
            }
            all.extend(scope);
            starts.push(all.len() as u32);
            coefficients.push(coefficient);
        }
        let adjacency = (largest <= MOST_NEIGHBOURS)
            .then(|| Adjacency::new(sites, &pairs.into_iter().collect::<Vec<_>>()));
        let mut of_site = vec![0];
        let mut terms = Vec::with_capacity(entries);
        for own in terms_of {
            terms.extend(own);
            of_site.push(terms.len() as u32);
        }
        Ok(Self {
            space,
            variables,
            starts,
            sites: all,
            coefficients,
            of_site,
            terms,
            constant,
            adjacency,
        })
    }

    /// The same with that much more log π everywhere.
    pub fn with_constant(self, constant: f64) -> Self {
        Self { constant: self.constant + constant, ..self }
    }

    fn scope(&self, term: usize) -> &[u32] {
        &self.sites[self.starts[term] as usize..self.starts[term + 1] as usize]
    }

    /// How many sites of a term have value 0, which decides what its product is.
    fn zeros(&self, state: &[u8], term: usize) -> u32 {
        self.scope(term).iter().map(|site| u32::from(state[*site as usize] ^ 1)).sum()
    }

    /// What a term adds to log π.
    fn value(&self, term: usize, zeros: u32) -> f64 {
        let coefficient = self.coefficients[term];
        match self.variables {
            Variables::Spins if zeros % 2 == 1 => -coefficient,
            Variables::Bits if zeros > 0 => 0.0,
            _ => coefficient,
        }
    }

    /// By how much that changes if a site of that value flips.
    fn change(&self, term: usize, zeros: u32, value: u8) -> f64 {
        let after = if value == 0 { zeros - 1 } else { zeros + 1 };
        self.value(term, after) - self.value(term, zeros)
    }
}

impl Variables {
    /// The sites of a term in order, none twice.
    fn reduced(self, scope: &[u32]) -> Vec<u32> {
        let mut sorted = scope.to_vec();
        sorted.sort_unstable();
        let runs = sorted.chunk_by(|one, other| one == other);
        // s² = 1, and x² = x.
        let counts = |run: &&[u32]| self == Self::Bits || run.len() % 2 == 1;
        runs.filter(counts).map(|run| run[0]).collect()
    }
}

impl Model for Polynomial {
    /// Changes of the sites of one chain.
    type Cache = Vec<f64>;

    fn space(&self) -> &Space {
        &self.space
    }

    fn new_cache(&self, _chains: usize) -> Vec<f64> {
        vec![0.0; self.space.sites()]
    }

    fn log_prob(
        &self,
        states: States<'_>,
        _cache: &mut Vec<f64>,
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        for (state, log_prob) in states.rows().zip(log_prob) {
            let terms = 0..self.coefficients.len();
            let sum: f64 = terms.map(|term| self.value(term, self.zeros(state, term))).sum();
            *log_prob = self.constant + sum;
        }
        Ok(())
    }

    fn log_prob_and_diff(
        &self,
        _kind: Differences,
        states: States<'_>,
        changes: &mut Vec<f64>,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        let rows = states.rows().zip(diff.chunks_exact_mut(self.space.sites()));
        for ((state, diff), log_prob) in rows.zip(log_prob) {
            changes.fill(0.0);
            let mut sum = 0.0;
            for term in 0..self.coefficients.len() {
                let zeros = self.zeros(state, term);
                sum += self.value(term, zeros);
                for site in self.scope(term).iter().map(|site| *site as usize) {
                    changes[site] += self.change(term, zeros, state[site]);
                }
            }
            *log_prob = self.constant + sum;
            diff.iter_mut().zip(&*changes).for_each(|(diff, change)| *diff = *change as f32);
        }
        Ok(())
    }

    fn taylor_is_exact(&self) -> bool {
        true
    }

    fn is_incremental(&self) -> bool {
        true
    }

    fn site_diff(
        &self,
        state: &[u8],
        _chain: usize,
        _cache: &mut Vec<f64>,
        site: usize,
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        let terms = self.of_site[site] as usize..self.of_site[site + 1] as usize;
        let own = state[site];
        let changes = self.terms[terms].iter().map(|term| {
            let term = *term as usize;
            self.change(term, self.zeros(state, term), own)
        });
        diff[usize::from(1 - own)] = changes.sum();
        diff[usize::from(own)] = 0.0;
        Ok(())
    }

    fn adjacency(&self) -> Option<&Adjacency> {
        self.adjacency.as_ref()
    }

    /// A table per term, unless one has too many sites.
    fn factors(&self) -> Option<Vec<Factor>> {
        let mut factors = vec![Factor::new([], [self.constant]).ok()?];
        for term in 0..self.coefficients.len() {
            let scope = self.scope(term);
            if scope.len() > MOST_IN_TABLES {
                return None;
            }
            let zeros = |place: usize| scope.len() as u32 - place.count_ones();
            let logs = (0..1usize << scope.len()).map(|place| self.value(term, zeros(place)));
            factors.push(Factor::new(scope, logs.collect::<Vec<_>>()).ok()?);
        }
        Some(factors)
    }

    /// The terms of single sites, none of which is nearly certain.
    fn base(&self) -> Base {
        /// The largest logit.
        const MOST: f64 = 4.0;
        let mut logits = vec![0.0f32; self.space.sites()];
        for term in (0..self.coefficients.len()).filter(|term| self.scope(*term).len() == 1) {
            let logit = self.value(term, 0) - self.value(term, 1);
            logits[self.scope(term)[0] as usize] = logit.clamp(-MOST, MOST) as f32;
        }
        if logits.iter().all(|logit| *logit == 0.0) {
            return Base::uniform(&self.space);
        }
        Base::new(self.space.clone(), logits).unwrap_or_else(|_| Base::uniform(&self.space))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_prob(model: &Polynomial, state: &[u8]) -> f64 {
        let mut found = [0.0];
        let states = States::new(state, state.len());
        model.log_prob(states, &mut model.new_cache(1), &mut found).unwrap();
        found[0]
    }

    #[test]
    fn products_are_those_of_spins_and_of_bits() {
        let terms = [(vec![2, 0, 1], 0.5), (vec![], 1.0), (vec![1, 1, 0], 2.0), (vec![0, 0], -3.0)];
        let spins = Polynomial::new(Variables::Spins, 3, &terms).unwrap();
        let bits = Polynomial::new(Variables::Bits, 3, &terms).unwrap();
        for place in 0..8u8 {
            let state = [place >> 2 & 1, place >> 1 & 1, place & 1];
            let [a, b, c] = state.map(|value| 2.0 * f64::from(value) - 1.0);
            assert_eq!(log_prob(&spins, &state), 0.5 * a * b * c + 1.0 + 2.0 * a - 3.0);
            let [a, b, c] = state.map(f64::from);
            assert_eq!(log_prob(&bits, &state), 0.5 * a * b * c + 1.0 + 2.0 * b * a - 3.0 * a);
        }
        let wrong = Polynomial::new(Variables::Bits, 3, &[(vec![3], 1.0)]).unwrap_err();
        assert_eq!(wrong.to_string(), "a term names site 3, but the last site is 2");
        assert!(Polynomial::new(Variables::Bits, 3, &[(vec![1], f64::NAN)]).is_err());
    }

    #[test]
    fn long_terms_have_no_neighbours_and_no_tables() {
        let long = (vec![(0..40).collect::<Vec<u32>>()], 1.0);
        let model = Polynomial::new(Variables::Bits, 40, &[(long.0[0].clone(), long.1)]).unwrap();
        assert!(model.adjacency().is_none() && model.factors().is_none());
        assert_eq!(log_prob(&model, &[1; 40]), 1.0);
    }
}
