//! The two layers of an RBM apart: inputs of the hidden units given the sites, and the reverse.

use super::{Draws, Rbm, RbmCache};
use crate::math::{log_sum_exp, logistic, softplus};
use crate::rng::ChainRng;

impl Rbm {
    /// Length of a row of hidden units, with what fills it up.
    pub fn row_length(&self) -> usize {
        self.stride
    }

    /// Fills in the input of every hidden unit of a chain of the block; what fills the row up has
    /// input zero.
    pub fn hidden_inputs(
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
    pub fn visible_inputs(&self, units: &[f32], inputs: &mut [f32]) {
        self.to_sites.multiply(units, self.stride, inputs);
    }

    /// The biases of the sites, in planes.
    pub fn visible_biases(&self) -> &[f32] {
        &self.visible_bias
    }

    /// Σ of the biases at a state.
    pub fn visible_log_prob(&self, state: &[u8]) -> f64 {
        self.visible_part(state)
    }

    /// log p(state | units) for each row of hidden units, 0 or 1: sites are independent once these are
    /// known.
    pub fn log_probs_given_units(&self, state: &[u8], units: &[f32]) -> Vec<f64> {
        let (sites, table) = (self.space.sites(), self.space.diff_len());
        let mut inputs = vec![0.0; units.len() / self.stride * table];
        self.visible_inputs(units, &mut inputs);
        let log = |inputs: &[f32], site: usize| {
            let log = |plane: usize| {
                let column = plane * sites + site;
                f64::from(inputs[column]) + f64::from(self.visible_bias[column])
            };
            if self.space.is_binary() {
                return -softplus(if state[site] == 1 { -log(0) } else { log(0) });
            }
            let logs: Vec<f64> = (0..self.space.values()).map(log).collect();
            logs[usize::from(state[site])] - log_sum_exp(&logs)
        };
        let rows = inputs.chunks_exact(table);
        rows.map(|inputs| (0..sites).map(|site| log(inputs, site)).sum()).collect()
    }

    /// Draws the sites given rows of hidden units, 0 or 1, one state after the other.
    pub fn draw_sites(&self, units: &[f32], rngs: &mut [ChainRng], states: &mut [u8]) {
        let table = self.space.diff_len();
        let mut inputs = vec![0.0; rngs.len() * table];
        self.visible_inputs(units, &mut inputs);
        let mut draws = Draws::new(&self.space, 0);
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
