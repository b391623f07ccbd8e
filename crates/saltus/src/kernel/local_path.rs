//! PAS, GWG and LB-1 on models whose sites see few others: after a move only the weights around the
//! changed sites are computed anew.

use super::path::round_randomly;
use super::path_table::{Change, PathTable};
use super::{
    Kernel, Position, StepError, StepFailure, StepReport, accept, check_log_prob, follow_all,
};
use crate::model::{Differences, Model, ModelError};
use crate::rng::ChainRng;
use crate::weight::Weight;

/// The same transitions as [`PathProposal`](super::path::PathProposal) makes, at a cost that does not
/// grow with the number of sites.
#[derive(Clone, Copy, Debug)]
pub struct LocalPath {
    /// The weight function g.
    pub weight: Weight,
}

impl LocalPath {
    /// Whether a model can be sampled this way: it must follow single sites, know who sees whom, and
    /// its differences must be the exact ones.
    pub fn suits<M: Model>(model: &M, differences: Differences) -> bool {
        let exact = differences == Differences::Exact || model.taylor_is_exact();
        exact && model.is_incremental() && model.graph().is_some()
    }
}

/// What [`LocalPath`] keeps of a block of chains.
pub struct LocalPathMemory<M: Model> {
    cache: M::Cache,
    tables: Vec<PathTable>,
    path: Vec<Change>,
    /// The values that the changed sites had before.
    before: Vec<Change>,
    diff: Vec<f64>,
    /// Sites whose weights changed, and when a site was last put on that list.
    touched: Vec<u32>,
    touched_at: Vec<u32>,
    moves: u32,
}

impl<M: Model> LocalPathMemory<M> {
    /// Weighs the changed sites and everyone who sees them anew.
    fn weigh_around(
        &mut self,
        model: &M,
        weight: Weight,
        state: &[u8],
        chain: usize,
    ) -> Result<(), ModelError> {
        let graph = model.graph().expect("checked when the sampler was chosen");
        self.moves = self.moves.wrapping_add(1);
        self.touched.clear();
        for (site, _) in &self.path {
            let neighbours = graph.neighbours(*site as usize).map(|(other, _)| other as u32);
            for site in std::iter::once(*site).chain(neighbours) {
                if self.touched_at[site as usize] != self.moves {
                    self.touched_at[site as usize] = self.moves;
                    self.touched.push(site);
                }
            }
        }
        let Self { tables, touched, cache, diff, .. } = self;
        let touched = touched.iter().map(|site| *site as usize);
        tables[chain].set(weight, touched, diff, |site, diff| {
            model.site_diff(state, chain, cache, site, diff)?;
            Ok(state[site])
        })
    }

    /// Takes the changes of the path, or takes them back; returns the change of log π.
    fn walk(&mut self, model: &M, state: &mut [u8], chain: usize) -> Result<f64, ModelError> {
        let mut change = 0.0;
        self.before.clear();
        for (site, value) in &self.path {
            let at = *site as usize;
            model.site_diff(state, chain, &mut self.cache, at, &mut self.diff)?;
            change += self.diff[usize::from(*value)];
            self.before.push((*site, state[at]));
            model.set_site(state, chain, &mut self.cache, at, *value);
        }
        Ok(change)
    }
}

impl<M: Model> Kernel<M> for LocalPath {
    type Memory = LocalPathMemory<M>;

    fn new_memory(&self, model: &M, chains: usize) -> Self::Memory {
        let space = model.space();
        LocalPathMemory {
            cache: model.new_cache(chains),
            tables: (0..chains).map(|_| PathTable::new(space)).collect(),
            path: Vec::new(),
            before: Vec::new(),
            diff: vec![0.0; space.values()],
            touched: Vec::new(),
            touched_at: vec![0; space.sites()],
            moves: 0,
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
        for chain in 0..position.chains() {
            let state = position.state(chain);
            let LocalPathMemory { tables, cache, diff, .. } = memory;
            tables[chain].set(self.weight, 0..state.len(), diff, |site, diff| {
                let diffs = model.site_diff(state, chain, cache, site, diff);
                diffs.map_err(StepError::at(chain))?;
                if diff.iter().any(|diff| diff.is_nan()) {
                    return Err(StepError { chain, cause: StepFailure::Difference });
                }
                Ok(state[site])
            })?;
        }
        Ok(())
    }

    fn step(
        &self,
        scale: f64,
        model: &M,
        position: &mut Position,
        memory: &mut Self::Memory,
        rngs: &mut [ChainRng],
        reports: &mut [StepReport],
    ) -> Result<(), StepError> {
        for (chain, (rng, report)) in rngs.iter_mut().zip(reports).enumerate() {
            let state = position.state_mut(chain);
            let count = round_randomly(scale, rng).clamp(1, state.len());
            let log_forward = memory.tables[chain].draw(count, state, rng, &mut memory.path);
            let change = memory.walk(model, state, chain).map_err(StepError::at(chain))?;
            check_log_prob(chain, change)?;
            memory.weigh_around(model, self.weight, state, chain).map_err(StepError::at(chain))?;
            let way_back = memory.before.iter().rev().copied();
            let log_reverse = memory.tables[chain].log_prob_of(way_back);
            let log_ratio = change + (log_reverse - log_forward);
            let (acceptance, accepted) = accept(chain, log_ratio, rng)?;
            *report = StepReport { acceptance, changed: count as u32, evaluations: 1 };
            if accepted {
                position.log_prob[chain] += change;
            } else {
                report.changed = 0;
                std::mem::swap(&mut memory.path, &mut memory.before);
                memory.walk(model, state, chain).map_err(StepError::at(chain))?;
                memory
                    .weigh_around(model, self.weight, state, chain)
                    .map_err(StepError::at(chain))?;
            }
        }
        Ok(())
    }
}
