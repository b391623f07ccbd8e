//! Block Gibbs steps of many chains: all hidden units, then all visible sites.

use super::machine::{LANES, Machine};
use crate::math::matrix::TILE_ROWS;
use crate::math::{larger, logistic, vectorised};
use crate::model::rbm::Draws;
use crate::rng::ChainRng;

/// Chains that go through their steps together: enough to use a loaded part of the weights several
/// times, few enough that a batch can be shared by threads.
pub(super) const BLOCK: usize = 2 * TILE_ROWS;

/// Memory of one block of chains.
#[derive(Clone, Debug)]
pub(super) struct Workspace {
    /// The hidden units of every chain, 0 or 1.
    units: Vec<f32>,
    /// The inputs of every chain's sites, in planes.
    inputs: Vec<f32>,
    /// Rows of weights that a state names.
    named: Vec<u32>,
    draws: Draws,
}

impl Workspace {
    pub(super) fn new(machine: &Machine) -> Self {
        let (sites, stride) = (machine.space.sites(), machine.stride);
        Self {
            units: vec![0.0; BLOCK * stride],
            inputs: vec![0.0; BLOCK * machine.space.diff_len()],
            named: Vec::with_capacity(sites),
            draws: Draws::new(&machine.space, stride),
        }
    }
}

impl Machine {
    /// Moves a block of at most [`BLOCK`] chains by that many steps.
    pub(super) fn gibbs(
        &self,
        states: &mut [u8],
        rngs: &mut [ChainRng],
        steps: usize,
        work: &mut Workspace,
    ) {
        let (sites, stride) = (self.space.sites(), self.stride);
        let (chains, table) = (rngs.len(), self.space.diff_len());
        for _ in 0..steps {
            for ((state, rng), units) in states
                .chunks_exact(sites)
                .zip(rngs.iter_mut())
                .zip(work.units.chunks_exact_mut(stride))
            {
                self.fill_inputs(state, &mut work.named, units);
                work.draws.units(rng, units, 1.0);
            }
            let inputs = &mut work.inputs[..chains * table];
            self.product.multiply(&work.units[..chains * stride], stride, inputs);
            for ((state, rng), inputs) in states
                .chunks_exact_mut(sites)
                .zip(rngs.iter_mut())
                .zip(inputs.chunks_exact_mut(table))
            {
                work.draws.sites(rng, inputs, &self.bias_planes, state);
            }
        }
    }

    /// The hidden units' probabilities of being on, given a state, and its log π.
    pub(super) fn look(&self, state: &[u8], work: &mut Workspace, on: &mut [f32]) -> f64 {
        self.fill_inputs(state, &mut work.named, on);
        let hidden = vectorised(
            #[inline(always)]
            || {
                let mut sums = [0.0f64; LANES];
                for units in on.as_chunks_mut::<LANES>().0 {
                    for lane in 0..LANES {
                        let (log, probability, _) = logistic(units[lane]);
                        sums[lane] += f64::from(larger(units[lane], 0.0)) + f64::from(log);
                        units[lane] = probability;
                    }
                }
                sums.iter().sum::<f64>()
            },
        );
        // The filling has input zero: on half the time, as far as the loop knows.
        let filling = self.stride - self.hidden;
        on[self.hidden..].fill(0.0);
        let visible: f64 =
            work.named.iter().map(|row| f64::from(self.visible_bias[*row as usize])).sum();
        hidden - filling as f64 * std::f64::consts::LN_2 + visible
    }

    /// The share of a state's sites that one step is expected to change, if every hidden unit
    /// gives its probability `on` in place of a draw.
    pub(super) fn reconstruction_error(
        &self,
        state: &[u8],
        on: &[f32],
        work: &mut Workspace,
    ) -> f64 {
        let (sites, inputs) = (self.space.sites(), &mut work.inputs[..self.space.diff_len()]);
        self.product.multiply(on, self.stride, inputs);
        let wrong: f64 = if self.space.is_binary() {
            (0..sites)
                .map(|site| {
                    let (_, one, zero) = logistic(inputs[site] + self.bias_planes[site]);
                    f64::from(if state[site] == 1 { zero } else { one })
                })
                .sum()
        } else {
            let totals = work.draws.weights(inputs, &self.bias_planes);
            (0..sites)
                .map(|site| {
                    let right = inputs[usize::from(state[site]) * sites + site];
                    1.0 - f64::from(right / totals[site])
                })
                .sum()
        };
        wrong / sites as f64
    }

    /// The input of every hidden unit: its bias and the rows of weights that a state names, which
    /// are left in `named`.
    fn fill_inputs(&self, state: &[u8], named: &mut Vec<u32>, inputs: &mut [f32]) {
        named.clear();
        if self.space.is_binary() {
            named.extend((0..state.len() as u32).filter(|site| state[*site as usize] == 1));
        } else {
            let values = self.space.values() as u32;
            let rows = state.iter().zip(0..).map(|(value, site)| site * values + u32::from(*value));
            named.extend(rows);
        }
        inputs.copy_from_slice(&self.hidden_bias);
        vectorised(
            #[inline(always)]
            || {
                for (panel, sums) in inputs.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
                    let mut total = *sums;
                    for row in named.iter() {
                        let start = *row as usize * self.stride + panel * LANES;
                        let weights = &self.weights[start..start + LANES];
                        for lane in 0..LANES {
                            total[lane] += weights[lane];
                        }
                    }
                    *sums = total;
                }
            },
        );
    }
}
