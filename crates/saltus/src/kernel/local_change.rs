//! GWG and LB-1 on models whose sites see few others: after a move only the weights around the
//! changed site are computed anew.

use super::path::spare_share;
use super::sum_tree::SumTree;
use super::{
    ChainMut, Chains, Kernel, KernelTraits, StepReport, accept, check_log_prob, follow_all,
    local_steps_per_sweep,
};
use crate::adjacency::Adjacency;
use crate::balancing::Balancing;
use crate::closeness::Closeness;
use crate::error::{ModelError, StepError, StepFailure};
use crate::model::{Differences, Model, Rung};
use crate::rng::ChainRng;
use crate::space::Space;

/// The same transitions as [`PathProposal`](super::path::PathProposal) makes with a path of one
/// change, at a cost that does not grow with the number of sites.
#[derive(Clone, Copy, Debug)]
pub struct LocalChange {
    /// The sampler that this makes.
    pub traits: fn(&Space) -> KernelTraits,
    /// The balancing function g.
    pub balancing: Balancing,
    /// How close values are to each other.
    pub closeness: Closeness,
}

impl LocalChange {
    /// Whether a model can be sampled this way: it must follow single sites, know who sees whom, and
    /// its differences must be the exact ones.
    pub fn suits<M: Model>(model: &M, differences: Differences) -> bool {
        let exact = differences == Differences::Exact || model.taylor_is_exact();
        exact && model.is_incremental() && model.adjacency().is_some()
    }
}

/// What [`LocalChange`] keeps of a block of chains.
pub struct LocalChangeScratch<M: Model> {
    cache: M::Cache,
    weights: Vec<ChangeWeights>,
    diff: Vec<f64>,
}

/// The weights g(e^Δ) of all changes from the state of one chain.
struct ChangeWeights {
    /// More than two values: the weight of each change, site after site, zero at the current value.
    changes: Vec<f64>,
    /// The weight of each site: the sum of its changes.
    sites: SumTree,
    /// Factors of the weights by the distance of two values; empty if they are all one.
    closeness: Vec<f64>,
    /// On a path of temperatures: the model's differences, site after site, so that another
    /// temperature costs no evaluation.
    of_model: Vec<f64>,
}

/// Logarithms of weights are held within this of zero, so that sums over 10⁹ sites and products
/// with them stay finite; a change less likely than e⁻³⁰⁰ is never drawn anyway.
const SHARPEST: f64 = 300.0;

/// The weight of a change by a difference of log π.
fn weigh(balancing: Balancing, diff: f64) -> f64 {
    // What is forbidden is never proposed, also by functions that never vanish.
    if diff == f64::NEG_INFINITY {
        return 0.0;
    }
    balancing.log(diff).clamp(-SHARPEST, SHARPEST).exp()
}

impl ChangeWeights {
    fn new(space: &Space, closeness: Closeness) -> Self {
        let changes = if space.is_binary() { 0 } else { space.sites() * space.values() };
        Self {
            changes: vec![0.0; changes],
            sites: SumTree::new(space.sites()),
            closeness: closeness.table(space.values()),
            of_model: Vec::new(),
        }
    }

    /// Weighs the changes of one site that holds `own` on a rung, from the model's differences in a
    /// space of so many values; returns their sum.
    fn weigh_site(
        &mut self,
        balancing: Balancing,
        rung: Rung<'_>,
        (site, own, values): (usize, u8, usize),
        diff: &mut [f64],
    ) -> f64 {
        if rung.base.is_some() {
            self.of_model[site * values..][..diff.len()].copy_from_slice(diff);
            rung.mix_changes(site, own, diff);
        }
        let own = usize::from(own);
        if diff.len() == 1 {
            return 0.0;
        }
        if self.changes.is_empty() {
            return weigh(balancing, diff[1 - own]);
        }
        let changes = &mut self.changes[site * values..][..diff.len()];
        for (value, (change, diff)) in changes.iter_mut().zip(diff).enumerate() {
            *change = if value == own { 0.0 } else { weigh(balancing, *diff) };
            if let Some(factor) = self.closeness.get(value.abs_diff(own)) {
                *change *= factor;
            }
        }
        changes.iter().sum()
    }

    /// Draws a site and its new value, in a space of so many values.
    fn draw(&self, state: &[u8], values: usize, rng: &mut ChainRng) -> (usize, u8) {
        let site = self.sites.draw(rng);
        if self.changes.is_empty() {
            return (site, 1 - state[site]);
        }
        let changes = &self.changes[site * values..][..values];
        (site, rng.index(changes, self.sites.weight(site)) as u8)
    }

    /// The probability of drawing that change.
    fn probability(&self, site: usize, value: u8, values: usize) -> f64 {
        let change = if self.changes.is_empty() {
            self.sites.weight(site)
        } else {
            self.changes[site * values + usize::from(value)]
        };
        change / self.sites.total()
    }
}

impl<M: Model> LocalChangeScratch<M> {
    /// Draws a change of a chain.
    pub(super) fn draw(
        &self,
        model: &M,
        state: &[u8],
        chain: usize,
        rng: &mut ChainRng,
    ) -> (usize, u8) {
        self.weights[chain].draw(state, model.space().values(), rng)
    }

    /// The weight of all changes of a chain together.
    pub(super) fn total(&self, chain: usize) -> f64 {
        self.weights[chain].sites.total()
    }

    /// Gives a site another value and weighs it and everyone who sees it anew; returns the change
    /// of the model's log π.
    pub(super) fn change(
        &mut self,
        model: &M,
        balancing: Balancing,
        chain: &mut ChainMut<'_>,
        (site, value): (usize, u8),
    ) -> Result<f64, ModelError> {
        let Self { cache, weights, diff } = self;
        let (space, number) = (model.space(), chain.number);
        let values = space.values();
        let of_site = &mut diff[..space.values_at(site)];
        model.site_diff(chain.state, number, cache, site, of_site)?;
        let change = of_site[usize::from(value)];
        if change == f64::NEG_INFINITY {
            // Nothing can be weighed from there; such a change is never drawn.
            return Ok(change);
        }
        model.set_site(chain.state, number, cache, site, value);
        let adjacency = model.adjacency().expect("checked when the sampler was chosen");
        let neighbours = adjacency.neighbours(site).iter().map(|other| *other as usize);
        for site in std::iter::once(site).chain(neighbours) {
            let of_site = &mut diff[..space.values_at(site)];
            model.site_diff(chain.state, number, cache, site, of_site)?;
            let at = (site, chain.state[site], values);
            let total = weights[number].weigh_site(balancing, chain.rung, at, of_site);
            weights[number].sites.set(site, total);
        }
        Ok(change)
    }
}

/// Scratch for a block of chains of a model.
pub(super) fn new_scratch<M: Model>(
    model: &M,
    closeness: Closeness,
    chains: usize,
) -> LocalChangeScratch<M> {
    let space = model.space();
    LocalChangeScratch {
        cache: model.new_cache(chains),
        weights: (0..chains).map(|_| ChangeWeights::new(space, closeness)).collect(),
        diff: vec![0.0; space.values()],
    }
}

/// Follows all chains and weighs all their changes.
pub(super) fn start<M: Model>(
    model: &M,
    balancing: Balancing,
    chains: &mut Chains,
    scratch: &mut LocalChangeScratch<M>,
) -> Result<(), StepError> {
    follow_all(model, chains, &mut scratch.cache)?;
    let LocalChangeScratch { cache, weights, diff } = scratch;
    let space = model.space();
    let values = space.values();
    for (chain, weights) in weights.iter_mut().enumerate() {
        let (state, rung) = (chains.state(chain), chains.rung(chain));
        if rung.base.is_some() {
            weights.of_model.resize(space.sites() * values, 0.0);
        }
        for (site, own) in state.iter().enumerate() {
            let of_site = &mut diff[..space.values_at(site)];
            let diffs = model.site_diff(state, chain, cache, site, of_site);
            diffs.map_err(StepError::at(chain))?;
            if of_site.iter().any(|diff| diff.is_nan()) {
                return Err(StepError { chain, cause: StepFailure::Difference });
            }
            let total = weights.weigh_site(balancing, rung, (site, *own, values), of_site);
            weights.sites.weights_mut()[site] = total;
        }
        weights.sites.rebuild();
    }
    Ok(())
}

/// Weighs all changes anew from the model's differences, which are known where chains stand on a
/// path of temperatures. Without one the weights do not depend on anything that may have changed.
pub(super) fn adjust<M: Model>(
    model: &M,
    balancing: Balancing,
    chains: &mut Chains,
    scratch: &mut LocalChangeScratch<M>,
) {
    let space = model.space();
    let values = space.values();
    let LocalChangeScratch { weights, diff, .. } = scratch;
    for (chain, weights) in weights.iter_mut().enumerate() {
        let (state, rung) = (chains.state(chain), chains.rung(chain));
        if rung.base.is_none() {
            return;
        }
        for (site, own) in state.iter().enumerate() {
            let of_site = &mut diff[..space.values_at(site)];
            of_site.copy_from_slice(&weights.of_model[site * values..][..of_site.len()]);
            let total = weights.weigh_site(balancing, rung, (site, *own, values), of_site);
            weights.sites.weights_mut()[site] = total;
        }
        weights.sites.rebuild();
    }
}

impl<M: Model> Kernel<M> for LocalChange {
    type Scratch = LocalChangeScratch<M>;
    type Own = ();

    fn traits(&self, model: &M) -> KernelTraits {
        (self.traits)(model.space())
    }

    /// A draw from a tree, and the weights around the change with their places in it.
    fn work(&self, model: &M) -> f64 {
        let around = model.adjacency().map_or(0.0, Adjacency::mean_degree);
        let depth = (model.space().sites() as f64).log2();
        150.0 + (1.0 + around) * (model.work().site + 3.0 * depth)
    }

    /// Chains are followed one by one, and their weights take much of the processor's cache.
    fn block_size(&self, _model: &M, _chains: usize) -> usize {
        1
    }

    fn steps_per_sweep(&self, model: &M) -> usize {
        local_steps_per_sweep(model, 1)
    }

    fn new_scratch(&self, model: &M, chains: usize) -> Self::Scratch {
        new_scratch(model, self.closeness, chains)
    }

    fn start(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        start(model, self.balancing, chains, scratch)
    }

    fn adjust(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        adjust(model, self.balancing, chains, scratch);
        Ok(())
    }

    fn step(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        let values = model.space().values();
        let spare = spare_share(1, model.space().free_sites());
        for number in 0..chains.len() {
            let mut chain = chains.chain(number);
            if chain.rng.flip(spare) {
                *chain.report = StepReport { acceptance: 1.0, changed: 0, evaluations: 1 };
                continue;
            }
            if scratch.total(number) <= 0.0 {
                // An isolated state: there is nothing to propose.
                *chain.report = StepReport { acceptance: 0.0, changed: 0, evaluations: 1 };
                continue;
            }
            let (site, value) = scratch.draw(model, chain.state, number, chain.rng);
            let forward = scratch.weights[number].probability(site, value, values);
            let before = chain.state[site];
            let change = scratch
                .change(model, self.balancing, &mut chain, (site, value))
                .map_err(StepError::at(number))?;
            check_log_prob(number, change)?;
            let of_base = chain.rung.base.map_or(0.0, |base| base.change(site, before, value));
            let of_density = match chain.rung.base {
                None => change,
                Some(_) => chain.rung.mix(change, of_base),
            };
            let reverse = scratch.weights[number].probability(site, before, values);
            let log_ratio = of_density + (reverse / forward).ln();
            let (acceptance, accepted) = accept(number, log_ratio, chain.rng)?;
            *chain.report = StepReport { acceptance, changed: u32::from(accepted), evaluations: 1 };
            if accepted {
                *chain.log_prob += change;
                *chain.log_base += of_base;
                chain.journal.record(site, before, value);
            } else {
                scratch
                    .change(model, self.balancing, &mut chain, (site, before))
                    .map_err(StepError::at(number))?;
            }
        }
        Ok(())
    }
}
