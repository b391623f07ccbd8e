//! Gibbs sampling: every site in turn drawn from its conditional distribution, a sweep per step.

use super::{
    Kernel, Position, StepError, StepFailure, StepReport, draw_from_logs, follow_all,
    site_log_probs,
};
use crate::math::sigmoid;
use crate::model::Model;
use crate::model::checkerboard::Sweep;
use crate::rng::ChainRng;

/// Sweeps over all sites; on a sparse graph colour by colour, because sites of one colour do not
/// see each other.
#[derive(Clone, Copy, Debug)]
pub struct Gibbs;

/// What [`Gibbs`] keeps of a block of chains.
pub struct GibbsMemory<M: Model> {
    cache: M::Cache,
    order: Vec<u32>,
    log_probs: Vec<f64>,
    weights: Vec<f64>,
}

impl<M: Model> Kernel<M> for Gibbs {
    type Memory = GibbsMemory<M>;

    fn new_memory(&self, model: &M, chains: usize) -> Self::Memory {
        let order = match model.graph() {
            Some(graph) => graph.colours().concat(),
            None => (0..model.space().sites() as u32).collect(),
        };
        let cache = model.new_cache(chains);
        let log_probs = vec![0.0; model.space().values()];
        GibbsMemory { cache, order, log_probs, weights: Vec::new() }
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
        let GibbsMemory { cache, order, log_probs, weights } = memory;
        for (chain, (rng, report)) in rngs.iter_mut().zip(reports).enumerate() {
            let mut log_prob = position.log_prob[chain];
            let state = position.state_mut(chain);
            let evaluations = (order.len() * (log_probs.len() - 1)) as u32;
            if let Some(sweep) = whole_sweep(model, state, cache, rng) {
                position.log_prob[chain] = sweep.log_prob;
                *report = StepReport { acceptance: 1.0, changed: sweep.changed, evaluations };
                continue;
            }
            *report = StepReport { acceptance: 1.0, changed: 0, evaluations };
            for site in order.iter() {
                let site = *site as usize;
                if log_probs.len() == 2 && log_prob > f64::NEG_INFINITY {
                    // Two values need one exponential, not two and a sum.
                    let diffs = model.site_diff(state, chain, cache, site, log_probs);
                    diffs.map_err(StepError::at(chain))?;
                    let other = 1 - state[site];
                    let change = log_probs[usize::from(other)];
                    if change.is_nan() {
                        return Err(StepError { chain, cause: StepFailure::Difference });
                    }
                    if rng.flip(sigmoid(change)) {
                        model.set_site(state, chain, cache, site, other);
                        log_prob += change;
                        report.changed += 1;
                    }
                    continue;
                }
                site_log_probs(model, state, chain, cache, log_prob, site, log_probs)
                    .map_err(StepError::at(chain))?;
                let value = draw_from_logs(chain, log_probs, weights, rng)?;
                if value != usize::from(state[site]) {
                    model.set_site(state, chain, cache, site, value as u8);
                    log_prob = log_probs[value];
                    report.changed += 1;
                }
            }
            position.log_prob[chain] = log_prob;
        }
        Ok(())
    }
}

/// A sweep by the model itself, if it has one.
fn whole_sweep<M: Model>(
    model: &M,
    state: &mut [u8],
    cache: &mut M::Cache,
    rng: &mut ChainRng,
) -> Option<Sweep> {
    // Decisions of a vector loop cannot be enumerated; tests compare the two ways instead.
    #[cfg(test)]
    if rng.is_scripted() {
        return None;
    }
    model.sweep(state, cache, rng)
}
