//! Random-walk Metropolis (RWM): change some sites, chosen blindly, and accept or reject.

use super::path::round_randomly;
use super::{
    Kernel, Position, StepError, StepReport, accept, check_log_prob, check_start, follow_all,
};
use crate::math::bytes::count_differences;
use crate::model::Model;
use crate::rng::ChainRng;
use crate::space::States;

/// Changes `scale` distinct sites, each to another value chosen uniformly.
#[derive(Clone, Copy, Debug)]
pub struct RandomWalk;

/// What [`RandomWalk`] keeps of a block of chains.
pub struct RandomWalkMemory<M: Model> {
    cache: M::Cache,
    picked: Vec<u32>,
    /// The values that the picked sites had before.
    before: Vec<u8>,
    diff: Vec<f64>,
    proposed: Vec<u8>,
    log_prob: Vec<f64>,
}

impl<M: Model> Kernel<M> for RandomWalk {
    type Memory = RandomWalkMemory<M>;

    fn new_memory(&self, model: &M, chains: usize) -> Self::Memory {
        let space = model.space();
        let dense = if model.is_incremental() { 0 } else { chains };
        RandomWalkMemory {
            cache: model.new_cache(chains),
            picked: Vec::new(),
            before: Vec::new(),
            diff: vec![0.0; space.values()],
            proposed: vec![0; dense * space.sites()],
            log_prob: vec![0.0; dense],
        }
    }

    fn start(
        &self,
        _scale: f64,
        model: &M,
        position: &mut Position,
        memory: &mut Self::Memory,
    ) -> Result<(), StepError> {
        if model.is_incremental() {
            return follow_all(model, position, &mut memory.cache);
        }
        let states = States::new(&position.states, position.sites);
        model
            .log_prob(states, &mut memory.cache, &mut position.log_prob)
            .map_err(StepError::at(0))?;
        for (chain, log_prob) in position.log_prob.iter().enumerate() {
            check_start(chain, *log_prob)?;
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
        if model.is_incremental() {
            for (chain, (rng, report)) in rngs.iter_mut().zip(reports).enumerate() {
                *report = walk_along(scale, model, position, chain, memory, rng)?;
            }
            Ok(())
        } else {
            walk_at_once(scale, model, position, memory, rngs, reports)
        }
    }
}

/// Picks sites and a new value for each.
fn pick(
    scale: f64,
    values: usize,
    state: &[u8],
    picked: &mut Vec<u32>,
    rng: &mut ChainRng,
    mut change: impl FnMut(usize, u8),
) {
    let count = round_randomly(scale, rng).clamp(1, state.len());
    picked.resize(count, 0);
    rng.distinct(state.len(), picked);
    for site in picked.iter() {
        let site = *site as usize;
        let shift = 1 + rng.below(values - 1);
        change(site, ((usize::from(state[site]) + shift) % values) as u8);
    }
}

/// One chain, site by site, touching nothing but the changed sites.
fn walk_along<M: Model>(
    scale: f64,
    model: &M,
    position: &mut Position,
    chain: usize,
    memory: &mut RandomWalkMemory<M>,
    rng: &mut ChainRng,
) -> Result<StepReport, StepError> {
    let RandomWalkMemory { cache, picked, before, diff, .. } = memory;
    let values = model.space().values();
    let mut targets = std::mem::take(before);
    targets.clear();
    pick(scale, values, position.state(chain), picked, rng, |_, value| targets.push(value));
    let state = position.state_mut(chain);
    let mut log_ratio = 0.0;
    for (site, value) in picked.iter().zip(&mut targets) {
        let site = *site as usize;
        model.site_diff(state, chain, cache, site, diff).map_err(StepError::at(chain))?;
        log_ratio += diff[usize::from(*value)];
        let old = state[site];
        model.set_site(state, chain, cache, site, *value);
        *value = old;
    }
    check_log_prob(chain, log_ratio)?;
    let (acceptance, accepted) = accept(chain, log_ratio, rng)?;
    let mut changed = picked.len() as u32;
    if accepted {
        position.log_prob[chain] += log_ratio;
    } else {
        for (site, old) in picked.iter().zip(&targets) {
            model.set_site(state, chain, cache, *site as usize, *old);
        }
        changed = 0;
    }
    *before = targets;
    Ok(StepReport { acceptance, changed, evaluations: 1 })
}

/// The whole block with one evaluation, for models that are evaluated as a whole.
fn walk_at_once<M: Model>(
    scale: f64,
    model: &M,
    position: &mut Position,
    memory: &mut RandomWalkMemory<M>,
    rngs: &mut [ChainRng],
    reports: &mut [StepReport],
) -> Result<(), StepError> {
    let RandomWalkMemory { cache, picked, proposed, log_prob, .. } = memory;
    let sites = position.sites;
    for (chain, proposed) in proposed.chunks_exact_mut(sites).enumerate() {
        let state = position.state(chain);
        proposed.copy_from_slice(state);
        let change = |site, value| proposed[site] = value;
        pick(scale, model.space().values(), state, picked, &mut rngs[chain], change);
    }
    model.log_prob(States::new(proposed, sites), cache, log_prob).map_err(StepError::at(0))?;
    for (chain, proposed) in proposed.chunks_exact(sites).enumerate() {
        let log_ratio = check_log_prob(chain, log_prob[chain])? - position.log_prob[chain];
        let report = &mut reports[chain];
        let (acceptance, accepted) = accept(chain, log_ratio, &mut rngs[chain])?;
        *report = StepReport { acceptance, changed: 0, evaluations: 1 };
        if accepted {
            report.changed = count_differences(position.state(chain), proposed);
            position.state_mut(chain).copy_from_slice(proposed);
            position.log_prob[chain] = log_prob[chain];
        }
    }
    Ok(())
}
