//! Block Gibbs (BG): two sites at a time drawn jointly from their conditional distribution.

use super::{Kernel, Position, StepError, StepReport, draw_from_logs, follow_all, site_log_probs};
use crate::model::{Model, ModelError};
use crate::rng::ChainRng;

/// Redraws two random sites together; with one site in all, that one.
#[derive(Clone, Copy, Debug)]
pub struct BlockGibbs;

/// What [`BlockGibbs`] keeps of a block of chains.
pub struct BlockGibbsMemory<M: Model> {
    cache: M::Cache,
    first: Vec<f64>,
    second: Vec<f64>,
    joint: Vec<f64>,
    weights: Vec<f64>,
}

impl<M: Model> Kernel<M> for BlockGibbs {
    type Memory = BlockGibbsMemory<M>;

    fn new_memory(&self, model: &M, chains: usize) -> Self::Memory {
        let values = model.space().values();
        BlockGibbsMemory {
            cache: model.new_cache(chains),
            first: vec![0.0; values],
            second: vec![0.0; values],
            joint: Vec::with_capacity(values * values),
            weights: Vec::new(),
        }
    }

    fn start(
        &self,
        _scale: f64,
        model: &M,
        position: &mut Position,
        memory: &mut Self::Memory,
    ) -> Result<(), StepError> {
        follow_all(model, position, &mut memory.cache)
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
        let space = *model.space();
        for (chain, (rng, report)) in rngs.iter_mut().zip(reports).enumerate() {
            let here = position.log_prob[chain];
            let state = position.state_mut(chain);
            let first = rng.below(space.sites());
            let second = (space.sites() > 1).then(|| {
                let other = rng.below(space.sites() - 1);
                if other < first { other } else { other + 1 }
            });
            weigh_pair(model, state, chain, here, (first, second), memory)
                .map_err(StepError::at(chain))?;
            let drawn = draw_from_logs(chain, &memory.joint, &mut memory.weights, rng)?;
            let log_prob = memory.joint[drawn];
            let new = match second {
                Some(second) => [(first, drawn / space.values()), (second, drawn % space.values())],
                None => [(first, drawn); 2],
            };
            let evaluations = memory.joint.len() as u32 - 1;
            *report = StepReport { acceptance: 1.0, changed: 0, evaluations };
            for (site, value) in new {
                if value != usize::from(state[site]) {
                    model.set_site(state, chain, &mut memory.cache, site, value as u8);
                    report.changed += 1;
                }
            }
            position.log_prob[chain] = log_prob;
        }
        Ok(())
    }
}

/// Fills `memory.joint` with log π for every pair of values, the second site's value running
/// fastest. The second site is evaluated once for each value of the first, not for each pair.
fn weigh_pair<M: Model>(
    model: &M,
    state: &mut [u8],
    chain: usize,
    here: f64,
    (first, second): (usize, Option<usize>),
    memory: &mut BlockGibbsMemory<M>,
) -> Result<(), ModelError> {
    let BlockGibbsMemory { cache, first: first_logs, second: second_logs, joint, .. } = memory;
    joint.clear();
    site_log_probs(model, state, chain, cache, here, first, first_logs)?;
    let Some(second) = second else {
        joint.extend_from_slice(first_logs);
        return Ok(());
    };
    let old = state[first];
    for (value, here) in first_logs.iter().enumerate() {
        model.set_site(state, chain, cache, first, value as u8);
        site_log_probs(model, state, chain, cache, *here, second, second_logs)?;
        joint.extend_from_slice(second_logs);
    }
    model.set_site(state, chain, cache, first, old);
    Ok(())
}
