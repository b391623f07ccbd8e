//! The Hamming-ball sampler (HB): a uniform step inside a ball around the state, then a draw from
//! π within the ball around where that led.

use super::StepError;
use super::conditional::{Followed, Redraw, Redrawn};
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

/// What [`HammingBall`] works with.
pub struct HammingBallScratch {
    block: Vec<u32>,
    site_logs: Vec<f64>,
    /// log π of every member of the ball.
    logs: Vec<f64>,
    weights: Vec<f64>,
}

impl Redraw for HammingBall {
    type Scratch = HammingBallScratch;

    fn new_scratch<M: Model>(&self, model: &M) -> HammingBallScratch {
        HammingBallScratch {
            block: vec![0; BLOCK.min(model.space().sites())],
            site_logs: vec![0.0; model.space().values()],
            logs: Vec::new(),
            weights: Vec::new(),
        }
    }

    fn redraw<M: Model>(
        &self,
        chain: &mut Followed<'_, M>,
        HammingBallScratch { block, site_logs, logs, weights }: &mut HammingBallScratch,
        rng: &mut ChainRng,
    ) -> Result<Redrawn, StepError> {
        let values = site_logs.len();
        rng.distinct(chain.state.len(), block);
        // A ball is the state itself and every other value of every site of the block; its members
        // are numbered in this order.
        let member = |number: usize, state: &[u8]| {
            let number = number.checked_sub(1)?;
            let site = block[number / (values - 1)] as usize;
            let shift = 1 + number % (values - 1);
            Some((site, ((usize::from(state[site]) + shift) % values) as u8))
        };
        let mut evaluations = block.len() * (values - 1);
        // The sites that a step out and a step back touch, with the values they had before.
        let mut touched = [None; 2];
        if let Some((site, value)) = member(rng.below(evaluations + 1), chain.state) {
            touched[0] = Some((site, chain.state[site]));
            chain.log_probs(site, site_logs)?;
            chain.set(site, value, site_logs[usize::from(value)]);
            evaluations += 1;
        }
        logs.clear();
        logs.push(chain.log_prob);
        for site in block.iter() {
            let site = *site as usize;
            chain.log_probs(site, site_logs)?;
            let own = usize::from(chain.state[site]);
            logs.extend((1..values).map(|shift| site_logs[(own + shift) % values]));
        }
        let drawn = chain.draw(logs, weights, rng)?;
        if let Some((site, value)) = member(drawn, chain.state) {
            if touched[0].is_none_or(|(out, _)| out != site) {
                touched[1] = Some((site, chain.state[site]));
            }
            chain.set(site, value, logs[drawn]);
        }
        let changed = touched.iter().flatten().filter(|(site, old)| chain.state[*site] != *old);
        Ok(Redrawn { evaluations, changed: changed.count() })
    }
}
