//! Bits of which exactly one is set, as one site of several values.

use super::factor::{Factor, states_of};
use super::feasible::Constraints;
use super::{Differences, Model, Work, brute_force_diff};
use crate::adjacency::Adjacency;
use crate::base::Base;
use crate::error::ModelError;
use crate::rng::ChainRng;
use crate::space::{Space, States};
use std::collections::BTreeSet;

/// Any model given that of each group of bits exactly one is set.
///
/// A group is a site whose value says which bit that is, in the place of the group's first bit: no state
/// breaks the constraint, and every sampler works as on any other model. What observers, stores and
/// pictures are shown are the bits again.
///
/// ```
/// use saltus::model::graph::Edge;
/// use saltus::model::one_hot::OneHot;
/// use saltus::model::pairwise::Pairwise;
/// use saltus::{Model, Run, Settings};
/// // Three colours for each of two neighbours that should differ.
/// let edge = |colour| Edge { from: colour, to: 3 + colour, weight: -0.5 };
/// let bits = Pairwise::ising(&[0, 1, 2].map(edge), vec![0.0; 6])?;
/// let colours = OneHot::new(bits, &[vec![0, 1, 2], vec![3, 4, 5]])?;
/// assert_eq!((colours.space().sites(), colours.space().values()), (2, 3));
/// let settings = Settings { chains: 2, warmup: 50, draws: 50, ..Settings::default() };
/// let outcome = Run::new(&colours, settings).keep_states().go()?;
/// let ones = |bits: &[u8]| bits.iter().sum::<u8>();
/// assert!(outcome.trace.states(0).chunks(3).all(|group| ones(group) == 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct OneHot<M> {
    inner: M,
    space: Space,
    /// The inner sites of each own site: one, or the bits of a group.
    members: Vec<Vec<u32>>,
    adjacency: Option<Adjacency>,
    /// What the model's zeros leave possible, if it has any.
    constraints: Constraints,
}

/// What [`OneHot`] keeps of a block of chains.
pub struct OneHotCache<C> {
    inner: C,
    /// Whole states of the followed chains.
    states: Vec<u8>,
    /// The same of states that are evaluated, which are others than those that are followed.
    evaluating: C,
    evaluated: Vec<u8>,
    diff: Vec<f32>,
    changes: Vec<f64>,
}

/// Entries of a table over groups beyond which the model is no sum of tables to anyone.
const MOST_ENTRIES: usize = 1 << 20;

impl<M: Model> OneHot<M> {
    /// The model given that one bit of each of these groups is set; no two share a site.
    pub fn new(inner: M, groups: &[Vec<u32>]) -> Result<Self, ModelError> {
        let whole = inner.space();
        let mut group_of: Vec<Option<usize>> = vec![None; whole.sites()];
        for (number, group) in groups.iter().enumerate() {
            if group.is_empty() {
                return Err(ModelError::invalid("a one-hot group has no sites"));
            }
            for site in group {
                let refused = |reason: String| Err(ModelError::invalid(reason));
                match group_of.get_mut(*site as usize) {
                    None => {
                        let last = whole.sites() - 1;
                        return refused(format!(
                            "a one-hot group names site {site}, but the last site is {last}"
                        ));
                    }
                    Some(_) if whole.values_at(*site as usize) != 2 => {
                        return refused(format!(
                            "site {site} of a one-hot group has {} values, not two",
                            whole.values_at(*site as usize)
                        ));
                    }
                    Some(Some(_)) => {
                        return refused(format!("site {site} is in a one-hot group twice"));
                    }
                    Some(group) => *group = Some(number),
                }
            }
        }
        let members: Vec<Vec<u32>> = (0..whole.sites() as u32)
            .filter_map(|site| match group_of[site as usize] {
                None => Some(vec![site]),
                // A group stands where the first of its sites does.
                Some(group) if groups[group].iter().min() == Some(&site) => {
                    Some(groups[group].clone())
                }
                Some(_) => None,
            })
            .collect();
        let is_group = |members: &[u32]| group_of[members[0] as usize].is_some();
        let values = |members: &Vec<u32>| match is_group(members) {
            true => members.len(),
            false => whole.values_at(members[0] as usize),
        };
        let cardinalities: Vec<usize> = members.iter().map(values).collect();
        let space = Space::mixed(&cardinalities)?;
        let adjacency = inner.adjacency().map(|adjacency| joined(adjacency, &members));
        let mut made =
            Self { inner, space, members, adjacency, constraints: Constraints::default() };
        if let Some(factors) = made.factors() {
            made.constraints = Constraints::new(&made.space, factors.iter());
        }
        Ok(made)
    }

    /// The model of the bits.
    pub fn inner(&self) -> &M {
        &self.inner
    }

    /// The inner sites of each own site: one, or the bits of a group.
    pub fn members(&self) -> &[Vec<u32>] {
        &self.members
    }

    /// Whether a site is a group. One of a single bit is, too: it is always set.
    fn is_group(&self, site: usize) -> bool {
        self.members[site].len() > 1 || self.space.values_at(site) == 1 && self.is_bit(site)
    }

    /// Whether the first inner site of a site has two values.
    fn is_bit(&self, site: usize) -> bool {
        self.inner.space().values_at(self.members[site][0] as usize) == 2
    }

    /// Writes what a value of a site means for the inner sites.
    fn write(&self, site: usize, value: u8, whole: &mut [u8]) {
        let members = &self.members[site];
        if !self.is_group(site) {
            whole[members[0] as usize] = value;
            return;
        }
        for (number, member) in members.iter().enumerate() {
            whole[*member as usize] = u8::from(number == usize::from(value));
        }
    }

    fn expand(&self, state: &[u8], whole: &mut [u8]) {
        for (site, value) in state.iter().enumerate() {
            self.write(site, *value, whole);
        }
    }

    /// The changes of log π with each value of a site of a chain that the inner model follows.
    fn changes(
        &self,
        whole: &mut [u8],
        followed: (usize, &mut M::Cache),
        (site, own): (usize, u8),
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        let (chain, cache) = followed;
        let members = &self.members[site];
        if !self.is_group(site) {
            return self.inner.site_diff(whole, chain, cache, members[0] as usize, diff);
        }
        let set = members[usize::from(own)] as usize;
        let mut bit = [0.0; 2];
        self.inner.site_diff(whole, chain, cache, set, &mut bit)?;
        let without = bit[0];
        if without > f64::NEG_INFINITY {
            self.inner.set_site(whole, chain, cache, set, 0);
            for (diff, member) in diff.iter_mut().zip(members) {
                if *member as usize != set {
                    self.inner.site_diff(whole, chain, cache, *member as usize, &mut bit)?;
                    *diff = without + bit[1];
                }
            }
            self.inner.set_site(whole, chain, cache, set, 1);
        } else {
            // The model itself forbids that no bit is set: whole states are compared.
            let here = self.inner.follow(whole, chain, cache)?;
            for (value, diff) in diff.iter_mut().enumerate() {
                self.write(site, value as u8, whole);
                *diff = self.inner.follow(whole, chain, cache)? - here;
            }
            self.write(site, own, whole);
            self.inner.follow(whole, chain, cache)?;
        }
        diff[usize::from(own)] = 0.0;
        Ok(())
    }

    /// Writes the changes of a site into a table of differences.
    fn place(&self, site: usize, own: u8, changes: &[f64], diff: &mut [f32]) {
        let sites = self.space.sites();
        if !self.space.is_binary() {
            for (value, change) in changes.iter().enumerate() {
                diff[value * sites + site] = *change as f32;
            }
        } else if let Some(change) = changes.get(1 - usize::from(own)) {
            diff[site] = *change as f32;
        }
    }

    /// Changes of a site by first order: those of the bits that change, each alone.
    fn first_order(&self, site: usize, state: &[u8], of_bits: &[f32], changes: &mut [f64]) {
        let whole = self.inner.space();
        let all = whole.sites();
        let change = |member: u32, from: u8, to: usize| match whole.is_binary() {
            true if usize::from(from) == to => 0.0,
            true => f64::from(of_bits[member as usize]),
            false => f64::from(of_bits[to * all + member as usize]),
        };
        let (members, own) = (&self.members[site], state[site]);
        for (value, entry) in changes.iter_mut().enumerate() {
            *entry = match self.is_group(site) {
                _ if value == usize::from(own) => 0.0,
                false => change(members[0], own, value),
                true => change(members[usize::from(own)], 1, 0) + change(members[value], 0, 1),
            };
        }
    }

    /// A table over bits as one over groups; none if it would be too large.
    fn mapped(&self, owner: &[(u32, u8)], factor: &Factor) -> Option<Factor> {
        let scope: Vec<u32> = factor
            .scope()
            .iter()
            .map(|site| owner[*site as usize].0)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let entries = states_of(&self.space, &scope).filter(|entries| *entries <= MOST_ENTRIES)?;
        let strides = factor.strides(self.inner.space());
        let mut values = vec![0usize; scope.len()];
        let mut logs = Vec::with_capacity(entries);
        for _ in 0..entries {
            let value = |site: u32| {
                let (group, number) = owner[site as usize];
                let value = scope.binary_search(&group).map_or(0, |at| values[at]);
                match self.is_group(group as usize) {
                    true => usize::from(value == usize::from(number)),
                    false => value,
                }
            };
            let sites = factor.scope().iter().zip(&strides);
            let place: usize = sites.map(|(site, stride)| value(*site) * stride).sum();
            logs.push(factor.log_values()[place]);
            for (at, site) in scope.iter().enumerate().rev() {
                values[at] += 1;
                if values[at] < self.space.values_at(*site as usize) {
                    break;
                }
                values[at] = 0;
            }
        }
        Factor::new(scope, logs).ok()
    }

    fn whole_row(&self, chain: usize) -> std::ops::Range<usize> {
        let sites = self.inner.space().sites();
        chain * sites..(chain + 1) * sites
    }
}

/// Who sees whom, where several sites are one.
fn joined(adjacency: &Adjacency, members: &[Vec<u32>]) -> Adjacency {
    let mut owner = vec![0; adjacency.sites()];
    for (site, members) in members.iter().enumerate() {
        members.iter().for_each(|member| owner[*member as usize] = site as u32);
    }
    let mut pairs = BTreeSet::new();
    for site in 0..adjacency.sites() {
        for other in adjacency.neighbours(site) {
            let (one, other) = (owner[site], owner[*other as usize]);
            if one < other {
                pairs.insert((one, other));
            }
        }
    }
    Adjacency::new(members.len(), &pairs.into_iter().collect::<Vec<_>>())
}

impl<M: Model> Model for OneHot<M> {
    type Cache = OneHotCache<M::Cache>;

    fn space(&self) -> &Space {
        &self.space
    }

    fn new_cache(&self, chains: usize) -> Self::Cache {
        let sites = self.inner.space().sites();
        OneHotCache {
            inner: self.inner.new_cache(chains),
            states: vec![0; sites * chains.max(1)],
            evaluating: self.inner.new_cache(chains),
            evaluated: vec![0; sites * chains.max(1)],
            diff: Vec::new(),
            changes: Vec::new(),
        }
    }

    fn log_prob(
        &self,
        states: States<'_>,
        cache: &mut Self::Cache,
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        let sites = self.inner.space().sites();
        let whole = &mut cache.evaluated[..states.chains() * sites];
        for (state, whole) in states.rows().zip(whole.chunks_exact_mut(sites)) {
            self.expand(state, whole);
        }
        self.inner.log_prob(States::new(whole, sites), &mut cache.evaluating, log_prob)
    }

    fn log_prob_and_diff(
        &self,
        kind: Differences,
        states: States<'_>,
        cache: &mut Self::Cache,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        let (table, sites) = (self.space.diff_len(), self.inner.space().sites());
        self.log_prob(states, cache, log_prob)?;
        if !self.is_incremental() && kind == Differences::Exact {
            return brute_force_diff(self, states, cache, log_prob, diff);
        }
        let OneHotCache { evaluating, evaluated, diff: of_bits, changes, .. } = cache;
        let whole_table = self.inner.space().diff_len();
        if !self.is_incremental() {
            of_bits.resize(states.chains() * whole_table, 0.0);
            let whole = States::new(&evaluated[..states.chains() * sites], sites);
            self.inner.log_prob_and_diff(kind, whole, evaluating, log_prob, of_bits)?;
        }
        for (chain, (state, diff)) in states.rows().zip(diff.chunks_exact_mut(table)).enumerate() {
            let whole = &mut evaluated[chain * sites..(chain + 1) * sites];
            if log_prob[chain] == f64::NEG_INFINITY {
                // Nobody asks for the differences of a forbidden state.
                diff.fill(0.0);
                continue;
            }
            if self.is_incremental() {
                self.inner.follow(whole, chain, evaluating)?;
            }
            for (site, own) in state.iter().enumerate() {
                changes.resize(self.space.values_at(site), 0.0);
                if self.is_incremental() {
                    self.changes(whole, (chain, evaluating), (site, *own), changes)?;
                } else {
                    let of_bits = &of_bits[chain * whole_table..(chain + 1) * whole_table];
                    self.first_order(site, state, of_bits, changes);
                }
                self.place(site, *own, changes, diff);
            }
            self.space.mask(diff);
        }
        Ok(())
    }

    /// Where single sites are followed, the differences are always the true ones.
    fn taylor_is_exact(&self) -> bool {
        self.is_incremental()
    }

    fn is_incremental(&self) -> bool {
        self.inner.is_incremental()
    }

    fn follow(
        &self,
        state: &[u8],
        chain: usize,
        cache: &mut Self::Cache,
    ) -> Result<f64, ModelError> {
        let whole = &mut cache.states[self.whole_row(chain)];
        self.expand(state, whole);
        self.inner.follow(whole, chain, &mut cache.inner)
    }

    fn site_diff(
        &self,
        state: &[u8],
        chain: usize,
        cache: &mut Self::Cache,
        site: usize,
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        let whole = &mut cache.states[self.whole_row(chain)];
        self.changes(whole, (chain, &mut cache.inner), (site, state[site]), diff)
    }

    fn set_site(
        &self,
        state: &mut [u8],
        chain: usize,
        cache: &mut Self::Cache,
        site: usize,
        value: u8,
    ) {
        let whole = &mut cache.states[self.whole_row(chain)];
        let (members, own) = (&self.members[site], usize::from(state[site]));
        let mut set = |number: usize, bit: u8| {
            let member = members[number] as usize;
            self.inner.set_site(whole, chain, &mut cache.inner, member, bit);
        };
        if !self.is_group(site) {
            set(0, value);
        } else if own != usize::from(value) {
            set(own, 0);
            set(usize::from(value), 1);
        }
        state[site] = value;
    }

    fn adjacency(&self) -> Option<&Adjacency> {
        self.adjacency.as_ref()
    }

    fn initial_state(&self, rng: &mut ChainRng, state: &mut [u8]) {
        self.complete(rng, &[], state);
    }

    /// A state that no zero forbids, if the search finds one; groups at random where nothing is forbidden.
    fn complete(&self, rng: &mut ChainRng, known: &[Option<u8>], state: &mut [u8]) {
        if !self.constraints.is_empty() {
            self.constraints.draw(&self.space, known, rng, state);
            return;
        }
        let mut whole = vec![0; self.inner.space().sites()];
        let mut of_whole = vec![None; whole.len()];
        for (site, value) in state.iter_mut().enumerate() {
            let given = known.get(site).copied().flatten();
            if given.is_some() || self.is_group(site) {
                *value = given.unwrap_or_else(|| rng.below(self.space.values_at(site)) as u8);
                self.write(site, *value, &mut whole);
                let members = self.members[site].iter().map(|member| *member as usize);
                members.for_each(|member| of_whole[member] = Some(whole[member]));
            }
        }
        self.inner.complete(rng, &of_whole, &mut whole);
        for (site, value) in state.iter_mut().enumerate().filter(|(site, _)| !self.is_group(*site))
        {
            *value = whole[self.members[site][0] as usize];
        }
    }

    fn factors(&self) -> Option<Vec<Factor>> {
        let mut owner = vec![(0, 0); self.inner.space().sites()];
        for (site, members) in self.members.iter().enumerate() {
            for (number, member) in members.iter().enumerate() {
                owner[*member as usize] = (site as u32, number as u8);
            }
        }
        self.inner.factors()?.iter().map(|factor| self.mapped(&owner, factor)).collect()
    }

    /// That of the bits, given that one of each group is set.
    fn base(&self) -> Base {
        let (whole, sites) = (self.inner.base(), self.space.sites());
        let weight = |site: usize, value: usize| {
            let members = &self.members[site];
            match self.is_group(site) {
                true => whole.change(members[value] as usize, 0, 1),
                false => whole.change(members[0] as usize, 0, value as u8),
            }
        };
        let mut planes = vec![0.0f32; self.space.diff_len()];
        for site in 0..sites {
            let values = 0..self.space.values_at(site);
            if !self.space.is_binary() {
                values.for_each(|value| planes[value * sites + site] = weight(site, value) as f32);
            } else if values.len() == 2 {
                planes[site] = (weight(site, 1) - weight(site, 0)) as f32;
            }
        }
        match whole.is_uniform() {
            true => Base::uniform(&self.space),
            false => {
                let known = Base::new(self.space.clone(), planes);
                known.unwrap_or_else(|_| Base::uniform(&self.space))
            }
        }
    }

    fn shown_space(&self) -> &Space {
        self.inner.shown_space()
    }

    fn show(&self, state: &[u8], shown: &mut [u8]) {
        let mut whole = vec![0; self.inner.space().sites()];
        self.expand(state, &mut whole);
        self.inner.show(&whole, shown);
    }

    /// That of the whole, site by site.
    fn work(&self) -> Work {
        Work { sweep: None, ..self.inner.work() }
    }

    fn block_size(&self, chains: usize) -> usize {
        self.inner.block_size(chains)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::independent::Independent;

    #[test]
    fn impossible_groups_are_refused_in_a_sentence() {
        let reason = |groups: &[Vec<u32>]| {
            let model = Independent::bernoulli(vec![0.0; 4]).unwrap();
            OneHot::new(model, groups).unwrap_err().to_string()
        };
        assert_eq!(reason(&[vec![1, 4]]), "a one-hot group names site 4, but the last site is 3");
        assert_eq!(reason(&[vec![0, 1], vec![2, 1]]), "site 1 is in a one-hot group twice");
        assert_eq!(reason(&[vec![]]), "a one-hot group has no sites");
        let values = Independent::categorical(3, &[0.0; 9]).unwrap();
        let refused = OneHot::new(values, &[vec![0, 1]]).unwrap_err().to_string();
        assert_eq!(refused, "site 0 of a one-hot group has 3 values, not two");
    }
}
