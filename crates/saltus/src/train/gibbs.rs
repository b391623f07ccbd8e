//! Block Gibbs steps of many chains: all hidden units, then all visible sites.

use super::machine::{LANES, Machine};
use crate::math::matrix::TILE_ROWS;
use crate::math::{Plain, exp, larger, logistic, vectorised};
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
    words: Vec<u32>,
    uniforms: Vec<f32>,
    /// Largest input and sum of exponentials of every site.
    largest: Vec<f32>,
    totals: Vec<f32>,
}

impl Workspace {
    pub(super) fn new(machine: &Machine) -> Self {
        let (sites, stride) = (machine.space.sites(), machine.stride);
        let draws = sites.max(stride);
        Self {
            units: vec![0.0; BLOCK * stride],
            inputs: vec![0.0; BLOCK * machine.space.diff_len()],
            named: Vec::with_capacity(sites),
            words: vec![0; draws],
            uniforms: vec![0.0; draws],
            largest: vec![0.0; sites],
            totals: vec![0.0; sites],
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
                let (words, uniforms) = (&mut work.words[..stride], &mut work.uniforms[..stride]);
                vectorised(
                    #[inline(always)]
                    || {
                        rng.fill_uniform(words, uniforms);
                        for (unit, uniform) in units.iter_mut().zip(uniforms.iter()) {
                            *unit = f32::from(u8::from(*uniform < logistic(*unit).1));
                        }
                    },
                );
            }
            let inputs = &mut work.inputs[..chains * table];
            self.product.multiply(&work.units[..chains * stride], stride, inputs);
            for ((state, rng), inputs) in states
                .chunks_exact_mut(sites)
                .zip(rngs.iter_mut())
                .zip(inputs.chunks_exact_mut(table))
            {
                let (words, uniforms) = (&mut work.words[..sites], &mut work.uniforms[..sites]);
                let (largest, totals) = (&mut work.largest, &mut work.totals);
                vectorised(
                    #[inline(always)]
                    || {
                        rng.fill_uniform(words, uniforms);
                        if self.space.is_binary() {
                            draw_bits(inputs, &self.bias_planes, uniforms, state);
                        } else {
                            exponentials(inputs, &self.bias_planes, largest, totals);
                            draw_values(inputs, totals, uniforms, state);
                        }
                    },
                );
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
            exponentials(inputs, &self.bias_planes, &mut work.largest, &mut work.totals);
            (0..sites)
                .map(|site| {
                    let right = inputs[usize::from(state[site]) * sites + site];
                    1.0 - f64::from(right / work.totals[site])
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

#[inline(always)]
fn draw_bits(inputs: &[f32], bias: &[f32], uniforms: &[f32], state: &mut [u8]) {
    for (((value, uniform), input), bias) in state.iter_mut().zip(uniforms).zip(inputs).zip(bias) {
        *value = u8::from(*uniform < logistic(input + bias).1);
    }
}

/// Inputs to exponentials of how far they are below the largest of their site, and the sums of
/// these.
#[inline(always)]
fn exponentials(inputs: &mut [f32], bias: &[f32], largest: &mut [f32], totals: &mut [f32]) {
    /// Differences beyond this are as good as none at all, and their exponentials would be denormal.
    const NEGLIGIBLE: f32 = -80.0;
    let sites = largest.len();
    largest.fill(f32::NEG_INFINITY);
    for (inputs, bias) in inputs.chunks_exact_mut(sites).zip(bias.chunks_exact(sites)) {
        for ((input, bias), largest) in inputs.iter_mut().zip(bias).zip(largest.iter_mut()) {
            *input += bias;
            *largest = larger(*input, *largest);
        }
    }
    totals.fill(0.0);
    for inputs in inputs.chunks_exact_mut(sites) {
        for ((input, largest), total) in inputs.iter_mut().zip(&*largest).zip(totals.iter_mut()) {
            *input = exp::<Plain>(larger(*input - largest, NEGLIGIBLE));
            *total += *input;
        }
    }
}

/// The value at which the running sum of weights passes a uniform part of their total.
#[inline(always)]
fn draw_values(weights: &mut [f32], totals: &mut [f32], uniforms: &[f32], state: &mut [u8]) {
    let sites = state.len();
    for (total, uniform) in totals.iter_mut().zip(uniforms) {
        *total *= uniform;
    }
    state.fill(0);
    // All planes but the last: what passes none of them has the last value.
    let last = weights.len() - sites;
    for weights in weights[..last].chunks_exact(sites) {
        for ((value, left), weight) in state.iter_mut().zip(totals.iter_mut()).zip(weights) {
            // Once below zero, it stays there.
            *left -= weight;
            *value += u8::from(*left >= 0.0);
        }
    }
}
