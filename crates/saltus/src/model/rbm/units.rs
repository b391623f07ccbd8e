//! The two layers of a machine apart: inputs of the hidden units given the sites, and the reverse.

use super::{Rbm, RbmCache};
use crate::math::{logistic, sigmoid, softplus};
use crate::rng::ChainRng;

impl Rbm {
    /// Length of a row of hidden units, with what fills it up.
    pub(crate) fn row_length(&self) -> usize {
        self.stride
    }

    /// Fills in the input of every hidden unit of a chain of the block; what fills the row up has
    /// input zero.
    pub(crate) fn hidden_inputs(
        &self,
        state: &[u8],
        chain: usize,
        cache: &mut RbmCache,
        inputs: &mut [f64],
    ) {
        self.fill_activations(state, &mut cache.sums[chain], inputs);
        inputs[self.hidden..].fill(0.0);
    }

    /// Fills in what rows of hidden units add to the biases of the sites, in planes.
    pub(crate) fn visible_inputs(&self, units: &[f32], inputs: &mut [f32]) {
        self.gradient.multiply(units, self.stride, inputs);
    }

    /// The biases of the sites, in planes.
    pub(crate) fn visible_biases(&self) -> &[f32] {
        &self.visible_bias
    }

    /// Σ of the biases at a state.
    pub(crate) fn visible_log_prob(&self, state: &[u8]) -> f64 {
        self.visible_part(state)
    }

    /// Probability of on of every hidden unit, given a state.
    pub(crate) fn hidden_means(&self, state: &[u8], cache: &mut RbmCache) -> Vec<f64> {
        let mut inputs = vec![0.0; self.stride];
        self.hidden_inputs(state, 0, cache, &mut inputs);
        inputs.truncate(self.hidden);
        inputs.iter_mut().for_each(|input| *input = sigmoid(*input));
        inputs
    }

    /// log p(state | units): sites are independent once the hidden units, 0 or 1, are known.
    pub(crate) fn log_prob_given_units(&self, state: &[u8], units: &[f32]) -> f64 {
        let (sites, values) = (self.space.sites(), self.space.values());
        let mut inputs = vec![0.0; self.space.diff_len()];
        self.visible_inputs(units, &mut inputs);
        for (input, bias) in inputs.iter_mut().zip(&self.visible_bias) {
            *input += bias;
        }
        if self.space.is_binary() {
            let log = |(input, value): (&f32, &u8)| {
                let towards = if *value == 1 { *input } else { -*input };
                -softplus(-f64::from(towards))
            };
            return inputs.iter().zip(state).map(log).sum();
        }
        let log = |site: usize| {
            let logs: Vec<f64> =
                (0..values).map(|value| f64::from(inputs[value * sites + site])).collect();
            logs[usize::from(state[site])] - crate::math::log_sum_exp(&logs)
        };
        (0..sites).map(log).sum()
    }

    /// Draws the sites given rows of hidden units, 0 or 1, one state after the other.
    pub(crate) fn draw_sites(&self, units: &[f32], rngs: &mut [ChainRng], states: &mut [u8]) {
        let table = self.space.diff_len();
        let mut inputs = vec![0.0; rngs.len() * table];
        self.visible_inputs(units, &mut inputs);
        let mut draws = super::Draws::new(&self.space, 0);
        let rows = states.chunks_exact_mut(self.space.sites()).zip(inputs.chunks_exact_mut(table));
        for ((state, inputs), rng) in rows.zip(rngs) {
            draws.sites(rng, inputs, &self.visible_bias, state);
        }
    }
}

/// Σ softplus(to · input) − softplus(from · input) over a row of inputs.
///
/// Single precision is enough for log(1 + e^−|a|) ≤ ln 2, not for a itself.
#[inline(always)]
pub(crate) fn softplus_gain(inputs: &[f64], from: f64, to: f64) -> f64 {
    const LANES: usize = super::LANES;
    let mut sums = [0.0f64; LANES];
    for inputs in inputs.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            let (before, after) = (from * inputs[lane], to * inputs[lane]);
            let logs = logistic(after as f32).0 - logistic(before as f32).0;
            sums[lane] += after.max(0.0) - before.max(0.0) + f64::from(logs);
        }
    }
    sums.iter().sum()
}
