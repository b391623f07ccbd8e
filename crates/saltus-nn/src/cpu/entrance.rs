//! From the values of the pixels to the first channels, and from the gradient there back to the
//! values.

use super::layer::{Convolution, Gradient, index};
use super::narrow::{convolve_to_planes, place};
use super::plan::Plan;
use super::plane::Plane;
use crate::architecture::Architecture;
use crate::layout::Layer;
use pulp::Arch;
use saltus::math::vectorised;

/// The first convolution and, with more than two values, what it sees in the place of each.
#[derive(Clone, Debug)]
pub(super) struct Entrance {
    pub(super) input: Plane,
    pub(super) first: Convolution,
    layer: Layer,
    /// The way back from the first channels, and its weights: windows of all that is seen of a pixel.
    backwards: Plan,
    windows: Vec<f32>,
    projection: Option<Projection>,
}

/// What stands in the place of a value.
#[derive(Clone, Debug)]
struct Projection {
    layer: Layer,
    /// Value after value, biases included.
    rows: Vec<f32>,
    /// Channel after channel, as they are among the parameters.
    weights: Vec<f32>,
}

impl Entrance {
    pub(super) fn new(architecture: &Architecture) -> Self {
        let layout = architecture.layout();
        let input = Plane {
            rows: architecture.rows(),
            columns: architecture.columns(),
            channels: architecture.channels(),
        };
        let first = Convolution::new(&layout.first, input);
        let backwards = Plan::backwards(&layout.first, input, first.output);
        Self {
            input,
            windows: vec![0.0; input.channels * backwards.groups[0].taps.len() * backwards.inputs],
            first,
            layer: layout.first,
            backwards,
            projection: layout.projection.map(|layer| Projection {
                rows: vec![0.0; layer.inputs * layer.outputs],
                weights: vec![0.0; layer.inputs * layer.outputs],
                layer,
            }),
        }
    }

    pub(super) fn set(&mut self, parameters: &[f32]) {
        self.first.set(parameters);
        let Layer { inputs, outputs, side, .. } = self.layer;
        let weight = &parameters[self.layer.weight.clone()];
        let (window, index) = (self.windows.len() / inputs, index(&self.layer));
        for tap in 0..side * side {
            for output in 0..outputs {
                let at = place(&self.backwards, tap, output);
                for input in 0..inputs {
                    self.windows[input * window + at] = weight[index(tap, input, output)];
                }
            }
        }
        if let Some(Projection { layer, rows, weights }) = &mut self.projection {
            let bias = &parameters[layer.bias.clone()];
            weights.copy_from_slice(&parameters[layer.weight.clone()]);
            for (value, row) in rows.chunks_exact_mut(layer.outputs).enumerate() {
                for (channel, number) in row.iter_mut().enumerate() {
                    *number = weights[channel * layer.inputs + value] + bias[channel];
                }
            }
        }
    }

    /// What is seen of a state.
    pub(super) fn fill(&self, state: &[u8], input: &mut [f32]) {
        let rows = state.chunks_exact(self.input.columns).zip(self.input.row_ranges());
        for (values, range) in rows {
            let numbers = &mut input[range];
            match &self.projection {
                None => {
                    for (number, value) in numbers.iter_mut().zip(values) {
                        *number = f32::from(*value);
                    }
                }
                Some(Projection { rows, .. }) => {
                    let channels = self.input.channels;
                    for (numbers, value) in numbers.chunks_exact_mut(channels).zip(values) {
                        let start = usize::from(*value) * channels;
                        numbers.copy_from_slice(&rows[start..start + channels]);
                    }
                }
            }
        }
    }

    /// From the gradient at the first channels to that at what is seen of the pixels, in planes.
    pub(super) fn back(&self, gradient: &[f32], seen: &mut [f32]) {
        convolve_to_planes(Arch::new(), &self.backwards, &self.windows, gradient, seen);
    }

    /// The gradient at the values: of the scalar coding 0, 1 of two values; of the indicator of
    /// every value, in planes, of more.
    pub(super) fn at_values(&self, seen: &[f32], gradient: &mut [f32]) {
        let Some(Projection { layer, weights, .. }) = &self.projection else {
            gradient.copy_from_slice(seen);
            return;
        };
        let sites = self.input.pixels();
        vectorised(
            #[inline(always)]
            || {
                for (value, plane) in gradient.chunks_exact_mut(sites).enumerate() {
                    plane.fill(0.0);
                    for (channel, seen) in seen.chunks_exact(sites).enumerate() {
                        let weight = weights[channel * layer.inputs + value];
                        for (number, seen) in plane.iter_mut().zip(seen) {
                            *number += weight * seen;
                        }
                    }
                }
            },
        );
    }

    /// Adds a state's part to the gradient of its parameters: of the projection at once, of the
    /// convolution in the sums.
    pub(super) fn learn(
        &self,
        state: &[u8],
        input: &[f32],
        (gradient, seen): (&[f32], &[f32]),
        (sums, parameters): (&mut Gradient, &mut [f32]),
    ) {
        self.first.learn(input, gradient, sums);
        if let Some(Projection { layer, .. }) = &self.projection {
            for (channel, seen) in seen.chunks_exact(state.len()).enumerate() {
                let row = layer.weight.start + channel * layer.inputs;
                for (value, number) in state.iter().zip(seen) {
                    parameters[row + usize::from(*value)] += number;
                }
                parameters[layer.bias.start + channel] += seen.iter().sum::<f32>();
            }
        }
    }
}
