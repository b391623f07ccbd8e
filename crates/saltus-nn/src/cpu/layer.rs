//! One convolution of the network, the way back through it, and the gradient of its parameters.

use super::convolve::{Start, convolve};
use super::outer::{add_biases, add_weights};
use super::packed::{Packed, filled};
use super::plan::Plan;
use super::plane::Plane;
use super::tiles::{Coordinates, Tiles};
use crate::layout::Layer;
use pulp::Arch;

/// How the sums of a convolution, or of the way back through it, are added up.
#[derive(Clone, Debug)]
enum Sums {
    /// As its plan says.
    Direct(Packed),
    /// With fewer products.
    Tiles(Tiles),
}

impl Sums {
    /// Those of a layer from images of one size to images of another, without weights yet.
    fn new(layer: &Layer, plan: &Plan, from: Plane, to: Plane) -> Self {
        match Tiles::new(layer, from, to) {
            Some(tiles) => Self::Tiles(tiles),
            None => Self::Direct(Packed::zeros(plan)),
        }
    }

    fn apply(
        &self,
        (instructions, plan): (Arch, &Plan),
        start: Start<'_>,
        (input, output): (&[f32], &mut [f32]),
        coordinates: &mut Coordinates,
    ) {
        match self {
            Self::Direct(weights) => convolve(instructions, plan, weights, start, input, output),
            Self::Tiles(tiles) => tiles.apply(instructions, start, input, output, coordinates),
        }
    }
}

/// A convolution.
#[derive(Clone, Debug)]
pub(super) struct Convolution {
    instructions: Arch,
    layer: Layer,
    pub(super) output: Plane,
    forwards: Plan,
    sums: Sums,
    bias: Vec<f32>,
}

impl Convolution {
    /// A layer on images of channels of that size, without weights yet.
    pub(super) fn new(layer: &Layer, input: Plane) -> Self {
        let output = output_plane(layer, input);
        let forwards = Plan::forwards(layer, input, output);
        Self {
            instructions: Arch::new(),
            layer: layer.clone(),
            output,
            sums: Sums::new(layer, &forwards, input, output),
            bias: vec![0.0; output.channels],
            forwards,
        }
    }

    /// Takes its weights and biases from the parameters of the network.
    pub(super) fn set(&mut self, parameters: &[f32]) {
        let Layer { inputs, outputs, .. } = self.layer;
        let weight = &parameters[self.layer.weight.clone()];
        let index = index(&self.layer);
        match &mut self.sums {
            Sums::Direct(weights) => {
                weights.for_each(&self.forwards, inputs, outputs, |tap, input, output, number| {
                    *number = weight[index(tap, input, output)];
                });
            }
            Sums::Tiles(tiles) => {
                tiles.set(inputs, outputs, |tap, input, output| weight[index(tap, input, output)])
            }
        }
        self.bias[..outputs].copy_from_slice(&parameters[self.layer.bias.clone()]);
    }

    /// Adds the biases of another layer, whose output is added to this one's.
    pub(super) fn add_bias(&mut self, other: &Self) {
        self.bias.iter_mut().zip(&other.bias).for_each(|(bias, other)| *bias += other);
    }

    /// Its output.
    pub(super) fn apply(&self, input: &[f32], output: &mut [f32], coordinates: &mut Coordinates) {
        let how = (self.instructions, &self.forwards);
        self.sums.apply(how, Start::Bias(&self.bias), (input, output), coordinates);
    }

    /// Adds its output, without biases, to what is there.
    pub(super) fn add(&self, input: &[f32], output: &mut [f32], coordinates: &mut Coordinates) {
        let how = (self.instructions, &self.forwards);
        self.sums.apply(how, Start::Sum, (input, output), coordinates);
    }

    /// Adds an image's part to the gradient of its parameters.
    pub(super) fn learn(&self, input: &[f32], output: &[f32], sums: &mut Gradient) {
        add_weights(self.instructions, &self.forwards, input, output, &mut sums.weights);
        add_biases(&self.forwards, output, &mut sums.bias);
    }

    /// The gradient of its parameters before the first image.
    pub(super) fn new_gradient(&self) -> Gradient {
        Gradient { weights: Packed::zeros(&self.forwards), bias: vec![0.0; self.output.channels] }
    }

    /// Adds a gradient to that of all parameters of the network, and sets it to zero.
    pub(super) fn hand_over(&self, sums: &mut Gradient, gradient: &mut [f32]) {
        let Layer { inputs, outputs, .. } = self.layer;
        let weight = &mut gradient[self.layer.weight.clone()];
        let index = index(&self.layer);
        sums.weights.for_each(&self.forwards, inputs, outputs, |tap, input, output, sum| {
            weight[index(tap, input, output)] += std::mem::take(sum);
        });
        let bias = &mut gradient[self.layer.bias.clone()];
        bias.iter_mut().zip(&mut sums.bias).for_each(|(bias, sum)| *bias += std::mem::take(sum));
    }
}

/// The way back through a convolution.
#[derive(Clone, Debug)]
pub(super) struct WayBack {
    instructions: Arch,
    layer: Layer,
    plan: Plan,
    sums: Sums,
}

impl WayBack {
    /// Through a layer on images of channels of that size, without weights yet.
    pub(super) fn new(layer: &Layer, input: Plane) -> Self {
        let output = output_plane(layer, input);
        let plan = Plan::backwards(layer, input, output);
        let sums = Sums::new(layer, &plan, output, input);
        Self { instructions: Arch::new(), layer: layer.clone(), sums, plan }
    }

    /// Takes its weights from the parameters of the network.
    pub(super) fn set(&mut self, parameters: &[f32]) {
        let Layer { inputs, outputs, side, .. } = self.layer;
        let weight = &parameters[self.layer.weight.clone()];
        let index = index(&self.layer);
        match &mut self.sums {
            Sums::Direct(weights) => {
                weights.for_each(&self.plan, outputs, inputs, |tap, output, input, number| {
                    *number = weight[index(tap, input, output)];
                });
            }
            // Backwards the window is turned round.
            Sums::Tiles(tiles) => tiles.set(outputs, inputs, |tap, output, input| {
                weight[index(side * side - 1 - tap, input, output)]
            }),
        }
    }

    /// The gradient at the input.
    pub(super) fn apply(&self, output: &[f32], input: &mut [f32], coordinates: &mut Coordinates) {
        let how = (self.instructions, &self.plan);
        self.sums.apply(how, Start::Zero, (output, input), coordinates);
    }

    /// Adds the gradient at the input to what is there.
    pub(super) fn add(&self, output: &[f32], input: &mut [f32], coordinates: &mut Coordinates) {
        let how = (self.instructions, &self.plan);
        self.sums.apply(how, Start::Sum, (output, input), coordinates);
    }
}

/// Sums for the gradient of a convolution's parameters.
#[derive(Clone, Debug)]
pub(super) struct Gradient {
    weights: Packed,
    bias: Vec<f32>,
}

/// The images that a layer makes of images of channels of that size.
pub(super) fn output_plane(layer: &Layer, input: Plane) -> Plane {
    Plane {
        rows: layer.output_side(input.rows),
        columns: layer.output_side(input.columns),
        channels: filled(layer.outputs),
    }
}

/// Where the weight of a tap, an input and an output is among those of a layer.
pub(super) fn index(layer: &Layer) -> impl Fn(usize, usize, usize) -> usize + use<> {
    let (inputs, taps) = (layer.inputs, layer.side * layer.side);
    move |tap, input, output| (output * inputs + input) * taps + tap
}
