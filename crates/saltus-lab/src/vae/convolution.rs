//! Convolutions as layers for every place of a map: what a place sees is put into a row of its own.
//!
//! A map is place after place, row by row, with all channels of a place together.

use super::dense::{Dense, parameter_gradient};
use super::plan::Layer;
use saltus::math::matrix::PackedMatrix;

/// The shape of a convolution; beyond the edge of the map are zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Convolution {
    rows: usize,
    columns: usize,
    channels: usize,
    outputs: usize,
    kernel: usize,
    stride: usize,
}

impl Convolution {
    /// Of a map of (rows, columns) with so many channels; the kernel has an odd number of rows and columns.
    pub(super) fn new(
        (rows, columns): (usize, usize),
        channels: usize,
        outputs: usize,
        kernel: usize,
        stride: usize,
    ) -> Self {
        Self { rows, columns, channels, outputs, kernel, stride }
    }

    /// One of what this one makes.
    pub(super) fn then(self, outputs: usize, kernel: usize, stride: usize) -> Self {
        Self::new(self.map(), self.outputs, outputs, kernel, stride)
    }

    /// The same with other outputs and another kernel.
    pub(super) fn with_outputs(self, outputs: usize, kernel: usize) -> Self {
        Self { outputs, kernel, ..self }
    }

    /// Rows and columns of the map that it makes.
    fn map(&self) -> (usize, usize) {
        (self.rows.div_ceil(self.stride), self.columns.div_ceil(self.stride))
    }

    /// Places of that map.
    pub(super) fn places(&self) -> usize {
        self.map().0 * self.map().1
    }

    /// Numbers that a place sees.
    pub(super) fn inputs(&self) -> usize {
        self.kernel * self.kernel * self.channels
    }

    /// Numbers that a place becomes.
    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    pub(super) fn kernel(&self) -> usize {
        self.kernel
    }

    /// Numbers of a map that goes in.
    fn width(&self) -> usize {
        self.rows * self.columns * self.channels
    }

    /// Calls with every piece of every row of what places see, and where on the map it is, if it is on it.
    fn each_piece(&self, mut piece: impl FnMut(usize, Option<usize>)) {
        let (down, across) = self.map();
        let reach = self.kernel / 2;
        let mut at = 0;
        for (top, left) in (0..down).flat_map(|row| (0..across).map(move |column| (row, column))) {
            for row in (0..self.kernel).map(|row| (top * self.stride + row).wrapping_sub(reach)) {
                for column in 0..self.kernel {
                    let column = (left * self.stride + column).wrapping_sub(reach);
                    let is_on = row < self.rows && column < self.columns;
                    let place = (row.wrapping_mul(self.columns)).wrapping_add(column);
                    piece(at, is_on.then(|| place * self.channels));
                    at += self.channels;
                }
            }
        }
    }

    /// What every place sees of a map.
    fn see(&self, map: &[f32], seen: &mut [f32]) {
        self.each_piece(|at, place| {
            let seen = &mut seen[at..at + self.channels];
            match place {
                Some(place) => seen.copy_from_slice(&map[place..place + self.channels]),
                None => seen.fill(0.0),
            }
        });
    }

    /// Takes maps, one after the other, through a layer.
    pub(super) fn forward(&self, dense: &Dense, input: &[f32], output: &mut [f32]) {
        let mut seen = vec![0.0; self.places() * self.inputs()];
        let maps = output.chunks_exact_mut(self.places() * self.outputs);
        for (input, output) in input.chunks_exact(self.width()).zip(maps) {
            self.see(input, &mut seen);
            dense.forward(&seen, output);
        }
    }

    /// The gradient at what went in, from that at what came out.
    pub(super) fn back(&self, dense: &Dense, output: &[f32], input: &mut [f32]) {
        let mut seen = vec![0.0; self.places() * self.inputs()];
        let maps = output.chunks_exact(self.places() * self.outputs);
        for (input, output) in input.chunks_exact_mut(self.width()).zip(maps) {
            dense.back(output, &mut seen);
            input.fill(0.0);
            self.each_piece(|at, place| {
                let Some(place) = place else { return };
                let sums = &mut input[place..place + self.channels];
                sums.iter_mut().zip(&seen[at..]).for_each(|(sum, term)| *sum += term);
            });
        }
    }

    /// The gradient of the layer's weights and biases, added up over maps in their order.
    pub(super) fn parameter_gradient(
        &self,
        layer: &Layer,
        input: &[f32],
        output: &[f32],
    ) -> Vec<f32> {
        let mut seen = vec![0.0; self.places() * self.inputs()];
        let mut matrix = PackedMatrix::zeros(self.places(), self.inputs());
        let mut sum = vec![0.0; layer.parameters().len()];
        let mut of_map = sum.clone();
        let maps = output.chunks_exact(self.places() * self.outputs);
        for (input, output) in input.chunks_exact(self.width()).zip(maps) {
            self.see(input, &mut seen);
            parameter_gradient(layer, &[(&seen[..], output)], &mut matrix, &mut of_map);
            sum.iter_mut().zip(&of_map).for_each(|(sum, term)| *sum += term);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_see_what_is_around_them() {
        // A map of 2×3 places of one channel, each of whose places sees 3×3, every second of them kept.
        let shape = Convolution::new((2, 3), 1, 1, 3, 2);
        assert_eq!((shape.places(), shape.inputs()), (2, 9));
        let mut seen = [f32::NAN; 18];
        shape.see(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut seen);
        assert_eq!(seen[..9], [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 4.0, 5.0]);
        assert_eq!(seen[9..], [0.0, 0.0, 0.0, 2.0, 3.0, 0.0, 5.0, 6.0, 0.0]);
    }

    #[test]
    fn gradients_are_those_of_the_sum_they_belong_to() {
        // f = Σ c·(W·seen + b) is linear in maps and in weights: its gradients are exact differences.
        let shape = Convolution::new((3, 4), 2, 3, 3, 2);
        let layer = Layer { inputs: 18, outputs: 3, weight: 0..54, bias: 54..57 };
        let numbers = |seed: usize, count: usize| -> Vec<f32> {
            (0..count).map(|at| ((at * 31 + seed * 17) % 23) as f32 / 8.0 - 1.25).collect()
        };
        let (maps, parameters) = (numbers(1, 2 * 24), numbers(2, 57));
        let factors = numbers(3, 2 * shape.places() * 3);
        let value = |maps: &[f32], parameters: &[f32]| -> f64 {
            let mut dense = Dense::new(layer.clone());
            dense.set(parameters);
            let mut output = vec![0.0; factors.len()];
            shape.forward(&dense, maps, &mut output);
            output.iter().zip(&factors).map(|(o, f)| f64::from(*o) * f64::from(*f)).sum()
        };
        let mut dense = Dense::new(layer.clone());
        dense.set(&parameters);
        let mut found = vec![f32::NAN; maps.len()];
        shape.back(&dense, &factors, &mut found);
        let here = value(&maps, &parameters);
        for at in 0..maps.len() {
            let mut moved = maps.clone();
            moved[at] += 1.0;
            let expected = value(&moved, &parameters) - here;
            assert!((f64::from(found[at]) - expected).abs() < 1e-4, "{at}: {expected}");
        }
        let found = shape.parameter_gradient(&layer, &maps, &factors);
        for at in 0..57 {
            let mut moved = parameters.clone();
            moved[at] += 1.0;
            let expected = value(&maps, &moved) - here;
            assert!((f64::from(found[at]) - expected).abs() < 1e-4, "{at}: {expected}");
        }
    }
}
