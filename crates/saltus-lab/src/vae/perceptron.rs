//! Two layers of gated units and a linear one: the shape of both encoder and decoder.

use super::dense::{Dense, Rows};
use super::gate;
use super::sizes::Layer;

/// An encoder or a decoder.
#[derive(Clone, Debug)]
pub(super) struct Perceptron {
    layers: [Dense; 3],
}

/// What a block of rows became in every layer, and on the way back the gradients there.
#[derive(Clone, Debug, Default)]
pub(super) struct Activations {
    /// What goes in.
    pub(super) input: Vec<f32>,
    /// What comes out; before the way back, to be replaced by the gradient there.
    pub(super) output: Vec<f32>,
    /// Numbers and gates of the hidden layers; after the way back, the gradients there.
    pairs: [Vec<f32>; 2],
    units: [Vec<f32>; 2],
    /// Gradient at the units of a hidden layer.
    gradient: Vec<f32>,
}

impl Perceptron {
    /// Without weights yet.
    pub(super) fn new(layers: [Layer; 3]) -> Self {
        Self { layers: layers.map(Dense::new) }
    }

    pub(super) fn layers_mut(&mut self) -> &mut [Dense; 3] {
        &mut self.layers
    }

    /// Memory for so many rows.
    pub(super) fn new_activations(&self, rows: usize) -> Activations {
        let mut activations = Activations::default();
        self.resize(&mut activations, rows);
        activations
    }

    /// Keeps room for so many rows, whose content is left to the next call.
    pub(super) fn resize(&self, activations: &mut Activations, rows: usize) {
        let [first, second, last] = &self.layers;
        let Activations { input, output, pairs: [one, two], units: [below, above], gradient } =
            activations;
        for (numbers, per_row) in [
            (input, first.inputs()),
            (one, first.outputs()),
            (below, second.inputs()),
            (two, second.outputs()),
            (above, last.inputs()),
            (gradient, last.inputs()),
            (output, last.outputs()),
        ] {
            numbers.resize(rows * per_row, 0.0);
        }
    }

    /// Takes rows from what goes in to what comes out.
    pub(super) fn forward(&self, activations: &mut Activations) {
        let [first, second, last] = &self.layers;
        let Activations { input, output, pairs: [one, two], units: [below, above], .. } =
            activations;
        first.forward(input, one);
        gate::forward(one, below, second.inputs());
        second.forward(below, two);
        gate::forward(two, above, last.inputs());
        last.forward(above, output);
    }

    /// Takes the gradient at what came out back to the first layer.
    pub(super) fn back(&self, activations: &mut Activations) {
        let [_, second, last] = &self.layers;
        let Activations { output, pairs: [one, two], gradient, .. } = activations;
        last.back(output, gradient);
        gate::back(gradient, two, last.inputs());
        second.back(two, gradient);
        gate::back(gradient, one, second.inputs());
    }

    /// And from there to what went in.
    pub(super) fn back_to_input(&self, activations: &Activations, gradient: &mut [f32]) {
        self.layers[0].back(&activations.pairs[0], gradient);
    }
}

impl Activations {
    /// After the way back: what went into every layer, and the gradient at what came out.
    pub(super) fn layers(&self) -> [Rows<'_>; 3] {
        let [one, two] = &self.pairs;
        let [below, above] = &self.units;
        [(&self.input[..], &one[..]), (&below[..], &two[..]), (&above[..], &self.output[..])]
    }
}
