//! Block Gibbs (BG): two sites at a time drawn jointly from their conditional distribution.

use super::StepError;
use super::conditional::{Followed, Redraw, Redrawn};
use crate::model::Model;
use crate::rng::ChainRng;

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

    fn new_scratch<M: Model>(&self, model: &M) -> BlockGibbsScratch {
        let values = model.space().values();
        BlockGibbsScratch {
            first: vec![0.0; values],
            second: vec![0.0; values],
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
        let (sites, values) = (chain.state.len(), first_logs.len());
        let first = rng.below(sites);
        let first_before = chain.state[first];
        chain.log_probs(first, first_logs)?;
        if sites == 1 {
            let value = chain.draw(first_logs, weights, rng)?;
            chain.set(first, value as u8, first_logs[value]);
            let changed = usize::from(value != usize::from(first_before));
            return Ok(Redrawn { evaluations: values - 1, changed });
        }
        let other = rng.below(sites - 1);
        let second = if other < first { other } else { other + 1 };
        let second_before = chain.state[second];
        joint.clear();
        for (value, log_prob) in first_logs.iter().enumerate() {
            // The second site is evaluated once for each value of the first, not for each pair.
            chain.set(first, value as u8, *log_prob);
            chain.log_probs(second, second_logs)?;
            joint.extend_from_slice(second_logs);
        }
        let drawn = chain.draw(joint, weights, rng)?;
        chain.set(first, (drawn / values) as u8, first_logs[drawn / values]);
        chain.set(second, (drawn % values) as u8, joint[drawn]);
        let changed = usize::from(chain.state[first] != first_before)
            + usize::from(chain.state[second] != second_before);
        Ok(Redrawn { evaluations: joint.len() - 1, changed })
    }
}
