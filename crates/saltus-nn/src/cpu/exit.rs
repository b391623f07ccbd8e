//! From the last channels of the network to one number, there and back.

use super::plane::Plane;
use crate::layout::Layer;

/// From the last channels to one number.
#[derive(Clone, Debug)]
pub(super) struct Exit {
    layer: Layer,
    plane: Plane,
    weights: Vec<f32>,
    bias: f32,
}

impl Exit {
    /// From images of channels of that size, without weights yet.
    pub(super) fn new(layer: &Layer, plane: Plane) -> Self {
        Self { layer: layer.clone(), plane, weights: vec![0.0; plane.channels], bias: 0.0 }
    }

    /// Takes its weights and bias from the parameters of the network.
    pub(super) fn set(&mut self, parameters: &[f32]) {
        let Self { layer, weights, bias, .. } = self;
        weights[..layer.inputs].copy_from_slice(&parameters[layer.weight.clone()]);
        *bias = parameters[layer.bias.start];
    }

    /// Memory for the mean of every channel.
    pub(super) fn new_means(&self) -> Vec<f32> {
        vec![0.0; self.plane.channels]
    }

    /// Adds an image's part to the gradient of its parameters.
    pub(super) fn learn(&self, means: &[f32], parameters: &mut [f32]) {
        let Layer { weight, bias, .. } = &self.layer;
        for (sum, mean) in parameters[weight.clone()].iter_mut().zip(means) {
            *sum += mean;
        }
        parameters[bias.start] += 1.0;
    }

    /// The value, and the means of the channels that it is made of.
    pub(super) fn value(&self, last: &[f32], means: &mut [f32]) -> f64 {
        means.fill(0.0);
        for row in self.plane.row_ranges() {
            for pixel in last[row].chunks_exact(self.plane.channels) {
                means.iter_mut().zip(pixel).for_each(|(mean, number)| *mean += number);
            }
        }
        let share = 1.0 / self.plane.pixels() as f32;
        means.iter_mut().for_each(|mean| *mean *= share);
        let products = means.iter().zip(&self.weights);
        f64::from(self.bias)
            + products.map(|(mean, weight)| f64::from(*mean) * f64::from(*weight)).sum::<f64>()
    }

    /// The gradient at the last channels, the same at every pixel.
    pub(super) fn back(&self, gradient: &mut [f32]) {
        let share = 1.0 / self.plane.pixels() as f32;
        for row in self.plane.row_ranges() {
            for pixel in gradient[row].chunks_exact_mut(self.plane.channels) {
                for (number, weight) in pixel.iter_mut().zip(&self.weights) {
                    *number = share * weight;
                }
            }
        }
    }
}
