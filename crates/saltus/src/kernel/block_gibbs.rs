//! Block Gibbs (BG): two sites at a time drawn jointly from their conditional distribution
//! (Titsias and Yau 2017; the baseline BG-2 of Grathwohl et al. 2021).

use super::conditional::{Conditional, Followed, Redraw, Redrawn};
use super::options::{Options, WithKernel};
use super::{KernelTraits, Kind};
use crate::error::StepError;
use crate::model::Model;
use crate::rng::ChainRng;
use crate::space::Space;

/// What block Gibbs says of itself.
pub fn traits(space: &Space) -> KernelTraits {
    let values = space.values() as f64;
    KernelTraits {
        name: "bg",
        summary: "block Gibbs: redraws two sites jointly",
        reference: "Titsias and Yau 2017, The Hamming ball sampler, JASA 112",
        kind: Kind::WithoutDifferences,
        is_balanced: false,
        has_solver: false,
        scale: None,
        evaluations_charged: values * values,
        is_weighted: false,
        is_tried: false,
    }
}

pub(crate) fn with_kernel<'a, M: Model + 'a, W: WithKernel<'a, M>>(
    _options: &Options,
    _model: &M,
    then: W,
) -> W::Output {
    then.with(Conditional(BlockGibbs))
}

/// Redraws two random sites together; with one site in all, that one.
#[derive(Clone, Copy, Debug)]
pub struct BlockGibbs;

/// What [`BlockGibbs`] works with.
pub struct BlockGibbsScratch {
    first: Vec<f64>,
    second: Vec<f64>,
    /// log π for every pair of values, the second site's running fastest.
    joint: Vec<f64>,
    weights: Vec<f64>,
}

impl Redraw for BlockGibbs {
    type Scratch = BlockGibbsScratch;

    fn traits(&self, space: &Space) -> KernelTraits {
        traits(space)
    }

    fn tried(&self) -> Option<usize> {
        Some(2)
    }

    fn new_scratch<M: Model>(&self, model: &M) -> BlockGibbsScratch {
        let values = model.space().values();
        BlockGibbsScratch {
            first: Vec::with_capacity(values),
            second: Vec::with_capacity(values),
            joint: Vec::with_capacity(values * values),
            weights: Vec::new(),
        }
    }

    fn redraw<M: Model>(
        &self,
        chain: &mut Followed<'_, M>,
        scratch: &mut BlockGibbsScratch,
        rng: &mut ChainRng,
    ) -> Result<Redrawn, StepError> {
        let BlockGibbsScratch { first: first_logs, second: second_logs, joint, weights } = scratch;
        let space = chain.model.space();
        let sites = space.free_sites();
        let number = rng.below(sites);
        let first = space.free_site(number);
        let first_before = chain.state[first];
        first_logs.resize(space.values_at(first), 0.0);
        chain.log_densities(first, first_logs)?;
        if sites == 1 {
            let value = chain.draw(first_logs, weights, rng)?;
            chain.set(first, value as u8, first_logs[value])?;
            let changed = usize::from(chain.record(first, first_before));
            return Ok(Redrawn { evaluations: first_logs.len() - 1, changed });
        }
        let other = rng.below(sites - 1);
        let second = space.free_site(if other < number { other } else { other + 1 });
        let second_before = chain.state[second];
        let values = space.values_at(second);
        second_logs.resize(values, 0.0);
        joint.clear();
        for (value, log_density) in first_logs.iter().enumerate() {
            // The second site is evaluated once for each value of the first, not for each pair.
            chain.set(first, value as u8, *log_density)?;
            chain.log_densities(second, second_logs)?;
            joint.extend_from_slice(second_logs);
        }
        let drawn = chain.draw(joint, weights, rng)?;
        chain.set(first, (drawn / values) as u8, first_logs[drawn / values])?;
        chain.set(second, (drawn % values) as u8, joint[drawn])?;
        let changed = usize::from(chain.record(first, first_before))
            + usize::from(chain.record(second, second_before));
        Ok(Redrawn { evaluations: joint.len() - 1, changed })
    }
}
