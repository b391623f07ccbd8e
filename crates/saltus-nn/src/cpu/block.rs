//! A residual block of the network, there and back.

use super::layer::{Convolution, Gradient, WayBack};
use super::plane::Plane;
use super::swish::{multiply, swish};
use super::tiles::Coordinates;
use crate::layout::{self, Layer};

/// A residual block.
#[derive(Clone, Debug)]
pub(super) struct Block {
    first: TwoWay,
    second: TwoWay,
    skip: Option<TwoWay>,
}

/// A convolution and the way back through it.
#[derive(Clone, Debug)]
struct TwoWay {
    there: Convolution,
    back: WayBack,
}

/// What a block made of an image.
#[derive(Clone, Debug)]
pub(super) struct Activations {
    inner: Vec<f32>,
    inner_slopes: Vec<f32>,
    /// Its output.
    pub(super) outer: Vec<f32>,
    outer_slopes: Vec<f32>,
}

/// Gradients on their way back through images of one size.
#[derive(Clone, Debug)]
pub(super) struct Gradients {
    inner: Vec<f32>,
    /// At the output of a block.
    pub(super) outer: Vec<f32>,
}

impl Gradients {
    pub(super) fn new(plane: Plane) -> Self {
        Self { inner: plane.zeros(), outer: plane.zeros() }
    }
}

impl TwoWay {
    fn new(layer: &Layer, input: Plane) -> Self {
        Self { there: Convolution::new(layer, input), back: WayBack::new(layer, input) }
    }

    fn set(&mut self, parameters: &[f32]) {
        self.there.set(parameters);
        self.back.set(parameters);
    }
}

impl Block {
    /// A block on images of channels of that size, without weights yet.
    pub(super) fn new(layers: &layout::Block, input: Plane) -> Self {
        let first = TwoWay::new(&layers.first, input);
        let second = TwoWay::new(&layers.second, first.there.output);
        let skip = layers.skip.as_ref().map(|layer| TwoWay::new(layer, input));
        Self { first, second, skip }
    }

    /// Takes its weights and biases from the parameters of the network.
    pub(super) fn set(&mut self, parameters: &[f32]) {
        let Self { first, second, skip } = self;
        first.set(parameters);
        second.set(parameters);
        if let Some(skip) = skip {
            skip.set(parameters);
            second.there.add_bias(&skip.there);
        }
    }

    /// The images that it makes.
    pub(super) fn output(&self) -> Plane {
        self.first.there.output
    }

    /// Whether these are smaller than those it gets.
    pub(super) fn shrinks(&self) -> bool {
        self.skip.is_some()
    }

    /// Memory for what it makes of an image.
    pub(super) fn new_activations(&self) -> Activations {
        let zeros = || self.output().zeros();
        Activations { inner: zeros(), inner_slopes: zeros(), outer: zeros(), outer_slopes: zeros() }
    }

    /// Its convolutions, in the order of their sums.
    pub(super) fn convolutions(&self) -> impl Iterator<Item = &Convolution> {
        [&self.first, &self.second].into_iter().chain(&self.skip).map(|layer| &layer.there)
    }

    /// What it makes of an image.
    pub(super) fn apply(
        &self,
        before: &[f32],
        activations: &mut Activations,
        coordinates: &mut Coordinates,
    ) {
        let Activations { inner, inner_slopes, outer, outer_slopes } = activations;
        let plane = self.output();
        self.first.there.apply(before, inner, coordinates);
        swish(plane, None, inner, inner_slopes);
        self.second.there.apply(inner, outer, coordinates);
        match &self.skip {
            // Its biases are among those of the second convolution.
            Some(skip) => {
                skip.there.add(before, outer, coordinates);
                swish(plane, None, outer, outer_slopes);
            }
            None => swish(plane, Some(before), outer, outer_slopes),
        }
    }

    /// From the gradient at its output to those at its sums, and from there to its parameters.
    pub(super) fn back_inside(
        &self,
        before: &[f32],
        activations: &Activations,
        Gradients { inner, outer }: &mut Gradients,
        coordinates: &mut Coordinates,
        sums: Option<&mut [Gradient]>,
    ) {
        let plane = self.output();
        multiply(plane, &activations.outer_slopes, outer);
        self.second.back.apply(outer, inner, coordinates);
        multiply(plane, &activations.inner_slopes, inner);
        if let Some([first, second, rest @ ..]) = sums {
            self.first.there.learn(before, inner, first);
            self.second.there.learn(&activations.inner, outer, second);
            if let (Some(skip), [sums]) = (&self.skip, rest) {
                skip.there.learn(before, outer, sums);
            }
        }
    }

    /// From the gradients at its sums to that at its input, which takes the place of the one at its
    /// output if the sizes are the same.
    pub(super) fn back_to_input(
        &self,
        own: &mut Gradients,
        larger: Option<&mut Gradients>,
        coordinates: &mut Coordinates,
    ) {
        match (&self.skip, larger) {
            (Some(skip), Some(larger)) => {
                self.first.back.apply(&own.inner, &mut larger.outer, coordinates);
                skip.back.add(&own.outer, &mut larger.outer, coordinates);
            }
            _ => self.first.back.add(&own.inner, &mut own.outer, coordinates),
        }
    }
}
