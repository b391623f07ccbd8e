//! One fully connected layer for blocks of rows, the way back through it, and the gradient of its
//! parameters.

use super::plan::Layer;
use rayon::prelude::*;
use saltus::math::matrix::{PackedMatrix, TILE_ROWS};
use saltus::math::vectorised;

/// Outputs whose weights' gradients one task adds up.
const OUTPUTS: usize = 4 * TILE_ROWS;

/// A layer with its weights, ready for products in both directions.
#[derive(Clone, Debug)]
pub(super) struct Dense {
    layer: Layer,
    bias: Vec<f32>,
    /// Inputs × outputs.
    forwards: PackedMatrix,
    /// Outputs × inputs.
    backwards: PackedMatrix,
}

impl Dense {
    /// A layer without weights yet.
    pub(super) fn new(layer: Layer) -> Self {
        Self {
            bias: vec![0.0; layer.outputs],
            forwards: PackedMatrix::zeros(layer.inputs, layer.outputs),
            backwards: PackedMatrix::zeros(layer.outputs, layer.inputs),
            layer,
        }
    }

    /// Takes its weights and biases from the parameters of the autoencoder.
    pub(super) fn set(&mut self, parameters: &[f32]) {
        let weight = &parameters[self.layer.weight.clone()];
        self.forwards.set_columns(weight);
        self.backwards.set_rows(weight.chunks_exact(self.layer.inputs));
        self.bias.copy_from_slice(&parameters[self.layer.bias.clone()]);
    }

    /// What comes out where rows go in.
    pub(super) fn forward(&self, input: &[f32], output: &mut [f32]) {
        self.forwards.multiply(input, self.layer.inputs, output);
        vectorised(
            #[inline(always)]
            || {
                for row in output.chunks_exact_mut(self.bias.len()) {
                    row.iter_mut().zip(&self.bias).for_each(|(number, bias)| *number += bias);
                }
            },
        );
    }

    /// The gradient at what went in, from that at what came out.
    pub(super) fn back(&self, output: &[f32], input: &mut [f32]) {
        self.backwards.multiply(output, self.layer.outputs, input);
    }
}

/// What went into a layer and the gradient at what came out, for some rows of a batch.
pub(super) type Rows<'a> = (&'a [f32], &'a [f32]);

/// Writes the gradient of a layer's weights and biases, added up over all rows of a batch in their
/// order, so that it depends neither on threads nor on how the batch is cut. `inputs` is memory for
/// what went in, batch × inputs.
pub(super) fn parameter_gradient(
    layer: &Layer,
    parts: &[Rows<'_>],
    inputs: &mut PackedMatrix,
    gradient: &mut [f32],
) {
    let outputs = layer.outputs;
    let gradients = || parts.iter().flat_map(move |(_, output)| output.chunks_exact(outputs));
    let batch = gradients().count();
    inputs.set_rows(parts.iter().flat_map(|(input, _)| input.chunks_exact(layer.inputs)));
    let inputs = &*inputs;
    let (weights, biases) = gradient.split_at_mut(layer.weight.len());
    weights.par_chunks_mut(OUTPUTS * layer.inputs).enumerate().for_each(|(chunk, weights)| {
        let first = chunk * OUTPUTS;
        let count = weights.len() / layer.inputs;
        // The gradients at these outputs, output after output.
        let mut columns = vec![0.0; count * batch];
        for (row, gradients) in gradients().enumerate() {
            for (output, gradient) in gradients[first..first + count].iter().enumerate() {
                columns[output * batch + row] = *gradient;
            }
        }
        inputs.multiply(&columns, batch, weights);
    });
    biases.fill(0.0);
    for gradients in gradients() {
        biases.iter_mut().zip(gradients).for_each(|(sum, term)| *sum += term);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_computed_by_hand() {
        let layer = Layer { inputs: 2, outputs: 3, weight: 1..7, bias: 7..10 };
        let parameters = [99.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.5, 0.25, -1.0];
        let mut dense = Dense::new(layer.clone());
        dense.set(&parameters);
        let mut output = [0.0; 6];
        dense.forward(&[1.0, 10.0, 0.0, -1.0], &mut output);
        // 1 + 20 + 0.5, 3 + 40 + 0.25, 5 + 60 − 1; −2 + 0.5, −4 + 0.25, −6 − 1.
        assert_eq!(output, [21.5, 43.25, 64.0, -1.5, -3.75, -7.0]);
        let mut input = [0.0; 2];
        dense.back(&[1.0, 0.0, 2.0], &mut input);
        // 1·1 + 2·5, 1·2 + 2·6.
        assert_eq!(input, [11.0, 14.0]);
        // Rows (1, 2) and (3, 5) with gradients (1, 0, 2) and (0, 1, −1), in one part or two.
        let inputs = [1.0, 2.0, 3.0, 5.0];
        let gradients = [1.0, 0.0, 2.0, 0.0, 1.0, -1.0];
        let whole = vec![(&inputs[..], &gradients[..])];
        let parts = vec![(&inputs[..2], &gradients[..3]), (&inputs[2..], &gradients[3..])];
        for rows in [whole, parts] {
            let mut found = [f32::NAN; 9];
            parameter_gradient(&layer, &rows, &mut PackedMatrix::zeros(2, 2), &mut found);
            assert_eq!(found, [1.0, 2.0, 3.0, 5.0, -1.0, -1.0, 1.0, 1.0, 1.0]);
        }
    }
}
