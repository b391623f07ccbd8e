//! The Hamming-ball sampler (HB): a uniform step inside a ball around the state, then a draw from
//! π within the ball around where that led.

use super::{Kernel, Position, StepError, StepReport, draw_from_logs, follow_all, site_log_probs};
use crate::model::Model;
use crate::rng::ChainRng;

/// Balls of radius one inside a random block of ten sites.
///
/// The auxiliary centre is uniform on the ball around the state, and being in each other's ball is
/// symmetric, so drawing from π restricted to the centre's ball needs no acceptance test.
#[derive(Clone, Copy, Debug)]
pub struct HammingBall;

/// Sites of a block.
pub const BLOCK: usize = 10;

/// What [`HammingBall`] keeps of a block of chains.
pub struct HammingBallMemory<M: Model> {
    cache: M::Cache,
    site_logs: Vec<f64>,
    logs: Vec<f64>,
    weights: Vec<f64>,
}

impl<M: Model> Kernel<M> for HammingBall {
    type Memory = HammingBallMemory<M>;

    fn new_memory(&self, model: &M, chains: usize) -> Self::Memory {
        HammingBallMemory {
            cache: model.new_cache(chains),
            site_logs: vec![0.0; model.space().values()],
            logs: Vec::new(),
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
        let HammingBallMemory { cache, site_logs, logs, weights } = memory;
        let mut block = [0; BLOCK];
        let block = &mut block[..BLOCK.min(space.sites())];
        for (chain, (rng, report)) in rngs.iter_mut().zip(reports).enumerate() {
            rng.distinct(space.sites(), block);
            let mut here = position.log_prob[chain];
            let state = &mut position.states[chain * space.sites()..(chain + 1) * space.sites()];
            // A ball is the state itself and every other value of every site of the block; its
            // members are numbered in this order.
            let member = |number: usize, state: &[u8]| {
                let number = number.checked_sub(1)?;
                let site = block[number / (space.values() - 1)] as usize;
                let shift = 1 + number % (space.values() - 1);
                Some((site, ((usize::from(state[site]) + shift) % space.values()) as u8))
            };
            let size = 1 + block.len() * (space.values() - 1);

            let step_out = member(rng.below(size), state);
            let mut origin = None;
            if let Some((site, value)) = step_out {
                site_log_probs(model, state, chain, cache, here, site, site_logs)
                    .map_err(StepError::at(chain))?;
                here = site_logs[usize::from(value)];
                origin = Some((site, state[site]));
                model.set_site(state, chain, cache, site, value);
            }
            logs.clear();
            logs.push(here);
            for site in block.iter() {
                let site = *site as usize;
                site_log_probs(model, state, chain, cache, here, site, site_logs)
                    .map_err(StepError::at(chain))?;
                let own = usize::from(state[site]);
                let others = (1..space.values()).map(|shift| (own + shift) % space.values());
                logs.extend(others.map(|value| site_logs[value]));
            }
            let drawn = draw_from_logs(chain, logs, weights, rng)?;
            position.log_prob[chain] = logs[drawn];
            let step_back = member(drawn, state);
            if let Some((site, value)) = step_back {
                model.set_site(state, chain, cache, site, value);
            }
            *report = StepReport {
                acceptance: 1.0,
                changed: count(origin, step_back, state),
                evaluations: (logs.len() - 1 + usize::from(origin.is_some())) as u32,
            };
        }
        Ok(())
    }
}

/// Sites that differ after a step out and a step back: none if it led back to the origin.
fn count(origin: Option<(usize, u8)>, last: Option<(usize, u8)>, state: &[u8]) -> u32 {
    match (origin, last) {
        (None, None) => 0,
        (Some((site, value)), Some((other, _))) if site == other => u32::from(state[site] != value),
        (Some(_), Some(_)) => 2,
        _ => 1,
    }
}
