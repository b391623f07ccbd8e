//! GWG and LB-1 on models whose sites see few others: after a move only the weights around the
//! changed site are computed anew.

use super::closeness::Closeness;
use super::sum_tree::SumTree;
use super::{
    Kernel, Position, StepError, StepFailure, StepReport, accept, check_log_prob, follow_all,
};
use crate::model::{Differences, Model, ModelError};
use crate::rng::ChainRng;
use crate::space::Space;
use crate::weight::Weight;

/// The same transitions as [`PathProposal`](super::path::PathProposal) makes with a path of one
/// change, at a cost that does not grow with the number of sites.
#[derive(Clone, Copy, Debug)]
pub struct LocalChange {
    /// The weight function g.
    pub weight: Weight,
    /// How close values are to each other.
    pub closeness: Closeness,
}

impl LocalChange {
    /// Whether a model can be sampled this way: it must follow single sites, know who sees whom, and
    /// its differences must be the exact ones.
    pub fn suits<M: Model>(model: &M, differences: Differences) -> bool {
        let exact = differences == Differences::Exact || model.taylor_is_exact();
        exact && model.is_incremental() && model.graph().is_some()
    }
}

/// What [`LocalChange`] keeps of a block of chains.
pub struct LocalChangeMemory<M: Model> {
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
}

/// Logarithms of weights are held within this of zero, so that sums over 10⁹ sites and products
/// with them stay finite; a change less likely than e⁻³⁰⁰ is never drawn anyway.
const SHARPEST: f64 = 300.0;

/// The weight of a change by a difference of log π.
fn weigh(weight: Weight, diff: f64) -> f64 {
    weight.log(diff).clamp(-SHARPEST, SHARPEST).exp()
}

impl ChangeWeights {
    fn new(space: &Space, closeness: Closeness) -> Self {
        let changes = if space.is_binary() { 0 } else { space.sites() * space.values() };
        Self {
            changes: vec![0.0; changes],
            sites: SumTree::new(space.sites()),
            closeness: closeness.table(space.values()),
        }
    }

    /// Weighs the changes of one site that holds `own`; returns their sum.
    fn weigh_site(&mut self, weight: Weight, site: usize, own: u8, diff: &[f64]) -> f64 {
        let own = usize::from(own);
        if self.changes.is_empty() {
            return weigh(weight, diff[1 - own]);
        }
        let changes = &mut self.changes[site * diff.len()..][..diff.len()];
        for (value, (change, diff)) in changes.iter_mut().zip(diff).enumerate() {
            *change = if value == own { 0.0 } else { weigh(weight, *diff) };
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

impl<M: Model> LocalChangeMemory<M> {
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
    /// of log π.
    pub(super) fn change(
        &mut self,
        model: &M,
        weight: Weight,
        state: &mut [u8],
        chain: usize,
        (site, value): (usize, u8),
    ) -> Result<f64, ModelError> {
        let Self { cache, weights, diff } = self;
        model.site_diff(state, chain, cache, site, diff)?;
        let change = diff[usize::from(value)];
        model.set_site(state, chain, cache, site, value);
        let graph = model.graph().expect("checked when the sampler was chosen");
        let neighbours = graph.neighbours(site).map(|(other, _)| other);
        for site in std::iter::once(site).chain(neighbours) {
            model.site_diff(state, chain, cache, site, diff)?;
            let total = weights[chain].weigh_site(weight, site, state[site], diff);
            weights[chain].sites.set(site, total);
        }
        Ok(change)
    }
}

impl<M: Model> Kernel<M> for LocalChange {
    type Memory = LocalChangeMemory<M>;

    fn new_memory(&self, model: &M, chains: usize) -> Self::Memory {
        let space = model.space();
        LocalChangeMemory {
            cache: model.new_cache(chains),
            weights: (0..chains).map(|_| ChangeWeights::new(space, self.closeness)).collect(),
            diff: vec![0.0; space.values()],
        }
    }

    fn start(
        &self,
        _scale: f64,
        model: &M,
        position: &mut Position,
        memory: &mut Self::Memory,
    ) -> Result<(), StepError> {
        follow_all(model, position, &mut memory.cache)?;
        let LocalChangeMemory { cache, weights, diff } = memory;
        for (chain, weights) in weights.iter_mut().enumerate() {
            let state = position.state(chain);
            for (site, own) in state.iter().enumerate() {
                let diffs = model.site_diff(state, chain, cache, site, diff);
                diffs.map_err(StepError::at(chain))?;
                if diff.iter().any(|diff| diff.is_nan()) {
                    return Err(StepError { chain, cause: StepFailure::Difference });
                }
                let total = weights.weigh_site(self.weight, site, *own, diff);
                weights.sites.weights_mut()[site] = total;
            }
            weights.sites.rebuild();
        }
        Ok(())
    }

    fn step(
        &self,
        _scale: f64,
        model: &M,
        position: &mut Position,
        memory: &mut Self::Memory,
        rngs: &mut [ChainRng],
        reports: &mut [StepReport],
    ) -> Result<(), StepError> {
        let values = model.space().values();
        for (chain, (rng, report)) in rngs.iter_mut().zip(reports).enumerate() {
            let state = position.state_mut(chain);
            let (site, value) = memory.draw(model, state, chain, rng);
            let forward = memory.weights[chain].probability(site, value, values);
            let before = state[site];
            let change = memory
                .change(model, self.weight, state, chain, (site, value))
                .map_err(StepError::at(chain))?;
            check_log_prob(chain, change)?;
            let reverse = memory.weights[chain].probability(site, before, values);
            let (acceptance, accepted) = accept(chain, change + (reverse / forward).ln(), rng)?;
            *report = StepReport { acceptance, changed: u32::from(accepted), evaluations: 1 };
            if accepted {
                position.log_prob[chain] += change;
            } else {
                memory
                    .change(model, self.weight, state, chain, (site, before))
                    .map_err(StepError::at(chain))?;
            }
        }
        Ok(())
    }
}
