//! The Hamming-ball sampler (HB): a uniform step inside a ball around the state, then a draw from
//! π within the ball around where that led (Titsias and Yau 2017).

use super::conditional::{Conditional, Followed, Redraw, Redrawn};
use super::options::{Options, WithKernel};
use super::{KernelTraits, Kind};
use crate::error::StepError;
use crate::model::Model;
use crate::rng::ChainRng;
use crate::space::Space;

/// What the Hamming-ball sampler says of itself.
pub fn traits(space: &Space) -> KernelTraits {
    KernelTraits {
        name: "hb",
        summary: "Hamming ball: a blind step, then a draw from π within radius 1 of 10 sites",
        reference: "Titsias and Yau 2017, The Hamming ball sampler, JASA 112",
        kind: Kind::WithoutDifferences,
        is_balanced: false,
        has_solver: false,
        scale: None,
        evaluations_charged: 1.0 + BLOCK as f64 * (space.values() as f64 - 1.0),
        is_weighted: false,
        is_tried: false,
    }
}

pub(crate) fn with_kernel<'a, M: Model + 'a, W: WithKernel<'a, M>>(
    _options: &Options,
    _model: &M,
    then: W,
) -> W::Output {
    then.with(Conditional(HammingBall))
}

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

    fn traits(&self, space: &Space) -> KernelTraits {
        traits(space)
    }

    fn tried(&self) -> Option<usize> {
        Some(BLOCK)
    }

    fn new_scratch<M: Model>(&self, model: &M) -> HammingBallScratch {
        HammingBallScratch {
            block: vec![0; BLOCK.min(model.space().free_sites())],
            site_logs: Vec::with_capacity(model.space().values()),
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
        let space = chain.model.space();
        rng.distinct(space.free_sites(), block);
        block.iter_mut().for_each(|site| *site = space.free_site(*site as usize) as u32);
        // A ball is the state itself and every other value of every site of the block; its members
        // are numbered in this order.
        let member = |number: usize, state: &[u8]| {
            let mut number = number.checked_sub(1)?;
            for site in block.iter().map(|site| *site as usize) {
                let values = space.values_at(site);
                if number < values - 1 {
                    return Some((site, ((usize::from(state[site]) + 1 + number) % values) as u8));
                }
                number -= values - 1;
            }
            None
        };
        let mut evaluations: usize =
            block.iter().map(|site| space.values_at(*site as usize) - 1).sum();
        // The sites that a step out and a step back touch, with the values they had before.
        let mut touched = [None; 2];
        if let Some((site, value)) = member(rng.below(evaluations + 1), chain.state) {
            touched[0] = Some((site, chain.state[site]));
            site_logs.resize(space.values_at(site), 0.0);
            chain.log_densities(site, site_logs)?;
            chain.set(site, value, site_logs[usize::from(value)])?;
            evaluations += 1;
        }
        logs.clear();
        logs.push(chain.log_density);
        for site in block.iter() {
            let site = *site as usize;
            let values = space.values_at(site);
            site_logs.resize(values, 0.0);
            chain.log_densities(site, site_logs)?;
            let own = usize::from(chain.state[site]);
            logs.extend((1..values).map(|shift| site_logs[(own + shift) % values]));
        }
        let drawn = chain.draw(logs, weights, rng)?;
        if let Some((site, value)) = member(drawn, chain.state) {
            if touched[0].is_none_or(|(out, _)| out != site) {
                touched[1] = Some((site, chain.state[site]));
            }
            chain.set(site, value, logs[drawn])?;
        }
        let touched = touched.into_iter().flatten();
        let changed = touched.filter(|(site, old)| chain.record(*site, *old)).count();
        Ok(Redrawn { evaluations, changed })
    }
}
