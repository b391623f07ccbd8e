//! Draws of a whole row of hidden units or visible sites, given their inputs.

use crate::math::{Plain, exp, larger, logistic, vectorised};
use crate::rng::ChainRng;
use crate::space::Space;

/// Scratch space for drawing rows.
#[derive(Clone, Debug)]
pub(crate) struct Draws {
    binary: bool,
    words: Vec<u32>,
    uniforms: Vec<f32>,
    /// Largest input and sum of exponentials of every site.
    largest: Vec<f32>,
    totals: Vec<f32>,
}

impl Draws {
    /// For the sites of a space and rows of that many hidden units.
    pub(crate) fn new(space: &Space, units: usize) -> Self {
        let sites = space.sites();
        let draws = sites.max(units);
        Self {
            binary: space.is_binary(),
            words: vec![0; draws],
            uniforms: vec![0.0; draws],
            largest: vec![0.0; sites],
            totals: vec![0.0; sites],
        }
    }

    /// Turns the inputs of hidden units into `on` or 0.
    pub(crate) fn units(&mut self, rng: &mut ChainRng, units: &mut [f32], on: f32) {
        let count = units.len();
        let (words, uniforms) = (&mut self.words[..count], &mut self.uniforms[..count]);
        vectorised(
            #[inline(always)]
            || {
                rng.fill_uniform(words, uniforms);
                for (unit, uniform) in units.iter_mut().zip(uniforms.iter()) {
                    *unit = on * f32::from(u8::from(*uniform < logistic(*unit).1));
                }
            },
        );
    }

    /// Draws all sites from their inputs and biases, which are in planes.
    pub(crate) fn sites(
        &mut self,
        rng: &mut ChainRng,
        inputs: &mut [f32],
        bias: &[f32],
        state: &mut [u8],
    ) {
        let sites = state.len();
        let (words, uniforms) = (&mut self.words[..sites], &mut self.uniforms[..sites]);
        vectorised(
            #[inline(always)]
            || {
                rng.fill_uniform(words, uniforms);
                if self.binary {
                    draw_bits(inputs, bias, uniforms, state);
                } else {
                    exponentials(inputs, bias, &mut self.largest, &mut self.totals);
                    draw_values(inputs, &mut self.totals, uniforms, state);
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
