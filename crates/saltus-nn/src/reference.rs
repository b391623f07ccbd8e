//! The network as its definition says, in double precision and one number at a time: what the fast
//! ways are tested against.

use crate::architecture::Architecture;
use crate::layout::Layer;

/// An image of channels.
struct Image {
    rows: usize,
    columns: usize,
    /// [channel][row][column]
    numbers: Vec<f64>,
}

impl Image {
    fn at(&self, channel: usize, row: isize, column: isize) -> f64 {
        let inside = |at: isize, size: usize| usize::try_from(at).ok().filter(|at| *at < size);
        match (inside(row, self.rows), inside(column, self.columns)) {
            (Some(row), Some(column)) => {
                self.numbers[(channel * self.rows + row) * self.columns + column]
            }
            _ => 0.0,
        }
    }

    fn map(mut self, function: impl Fn(usize, f64) -> f64) -> Self {
        let numbers = self.numbers.iter_mut().enumerate();
        numbers.for_each(|(index, number)| *number = function(index, *number));
        self
    }
}

fn convolve(layer: &Layer, parameters: &[f64], input: &Image) -> Image {
    let (rows, columns) = (layer.output_side(input.rows), layer.output_side(input.columns));
    let (side, margin) = (layer.side, (layer.side / 2) as isize);
    let weight = &parameters[layer.weight.clone()];
    let mut numbers = Vec::new();
    for output in 0..layer.outputs {
        for row in 0..rows {
            for column in 0..columns {
                let mut sum = parameters[layer.bias.start + output];
                for channel in 0..layer.inputs {
                    for tap in 0..side * side {
                        let at = |place: usize, tap: usize| {
                            (place * layer.stride + tap) as isize - margin
                        };
                        sum += weight[(output * layer.inputs + channel) * side * side + tap]
                            * input.at(channel, at(row, tap / side), at(column, tap % side));
                    }
                }
                numbers.push(sum);
            }
        }
    }
    Image { rows, columns, numbers }
}

fn swish(z: f64) -> f64 {
    z / (1.0 + (-z).exp())
}

/// The codes of a state, to which a network is a smooth function: 0 and 1 for two values, indicators
/// of all values in planes for more.
pub(crate) fn codes(architecture: &Architecture, state: &[u8]) -> Vec<f64> {
    if architecture.values() == 2 {
        return state.iter().map(|value| f64::from(*value)).collect();
    }
    (0..architecture.values())
        .flat_map(|plane| state.iter().map(move |value| f64::from(usize::from(*value) == plane)))
        .collect()
}

/// The network's value at codes.
pub(crate) fn value(architecture: &Architecture, parameters: &[f64], codes: &[f64]) -> f64 {
    let layout = architecture.layout();
    let (rows, columns) = (architecture.rows(), architecture.columns());
    let mut image = Image { rows, columns, numbers: codes.to_vec() };
    if let Some(projection) = &layout.projection {
        image = convolve(projection, parameters, &image);
    }
    image = convolve(&layout.first, parameters, &image);
    for block in &layout.blocks {
        let inner = convolve(&block.first, parameters, &image).map(|_, z| swish(z));
        let outer = convolve(&block.second, parameters, &inner);
        let skipped = match &block.skip {
            Some(skip) => convolve(skip, parameters, &image),
            None => image,
        };
        image = outer.map(|index, z| swish(z + skipped.numbers[index]));
    }
    let pixels = image.rows * image.columns;
    let means = image.numbers.chunks_exact(pixels).map(|plane| plane.iter().sum::<f64>());
    let weight = &parameters[layout.last.weight.clone()];
    let products = means.zip(weight).map(|(sum, weight)| weight * sum / pixels as f64);
    parameters[layout.last.bias.start] + products.sum::<f64>()
}
