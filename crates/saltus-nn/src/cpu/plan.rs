//! Which numbers of one image of channels are added up, with which weights, to a pixel of another.
//!
//! Forwards and backwards are the same kind of sum: a pixel of the output is made of a few runs of
//! neighbouring numbers of the input. Backwards through a stride of two, pixels of odd and even rows
//! and columns see different weights; hence groups.

use super::plane::Plane;
use crate::layout::Layer;

/// All sums of a convolution, or of the way back through it.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) groups: Vec<Group>,
    /// Channels of a pixel of the input.
    pub(super) inputs: usize,
    /// Channels of a pixel of the output.
    pub(super) outputs: usize,
}

/// Pixels of the output that see the same weights.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) pixels: Vec<Pixel>,
    /// Where the runs of a pixel start, counted from where it reads.
    pub(super) runs: Vec<usize>,
    /// Numbers of a run.
    pub(super) length: usize,
    /// The places of the window that the runs go through, row by row: row · side + column.
    pub(super) taps: Vec<usize>,
}

/// A pixel of the output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pixel {
    /// Where it reads.
    pub(super) from: usize,
    /// Where it is written.
    pub(super) to: usize,
}

impl Plan {
    /// From the input of a layer to its output.
    pub(super) fn forwards(layer: &Layer, input: Plane, output: Plane) -> Self {
        let Layer { side, stride, .. } = *layer;
        // A window of one pixel starts at its pixel, one of three a pixel before, on the border.
        let corner = if side == 1 { 1 } else { 0 };
        let mut pixels = Vec::with_capacity(output.pixels());
        for row in 0..output.rows {
            for column in 0..output.columns {
                let from = input.with_border(row * stride + corner, column * stride + corner);
                pixels.push(Pixel { from, to: output.at(row, column) });
            }
        }
        let group = Group {
            pixels,
            runs: (0..side).map(|row| row * input.pitch()).collect(),
            length: side * input.channels,
            taps: (0..side * side).collect(),
        };
        Self { groups: vec![group], inputs: input.channels, outputs: output.channels }
    }

    /// From the gradient at the output of a layer to that at its input, as far as there is any.
    pub(super) fn backwards(layer: &Layer, input: Plane, output: Plane) -> Self {
        let Layer { side, stride, .. } = *layer;
        let mut groups = Vec::new();
        for (first_row, first_column) in
            (0..stride).flat_map(|row| (0..stride).map(move |column| (row, column)))
        {
            let (down, across) = (seen(first_row, side, stride), seen(first_column, side, stride));
            if down.is_empty() || across.is_empty() {
                continue;
            }
            let mut pixels = Vec::new();
            for row in (first_row..input.rows).step_by(stride) {
                for column in (first_column..input.columns).step_by(stride) {
                    // Counted with the border, of which the first output may be part.
                    let from = output.with_border(
                        row / stride + down[0].output,
                        column / stride + across[0].output,
                    );
                    pixels.push(Pixel { from, to: input.at(row, column) });
                }
            }
            groups.push(Group {
                pixels,
                runs: (0..down.len()).map(|row| row * output.pitch()).collect(),
                length: across.len() * output.channels,
                taps: down
                    .iter()
                    .flat_map(|row| across.iter().map(move |column| row.tap * side + column.tap))
                    .collect(),
            });
        }
        Self { groups, inputs: output.channels, outputs: input.channels }
    }
}

/// A row (or column) of the output that a row of the input has gone into.
struct Seen {
    /// That row, counted with the border and from the row of the input over the stride.
    output: usize,
    /// The row of the window.
    tap: usize,
}

/// The rows of the output that see a row of the input, whose number over the stride leaves that rest.
fn seen(rest: usize, side: usize, stride: usize) -> Vec<Seen> {
    // Row i of the input is row (i + margin − o · stride) of the window of output o.
    let margin = side / 2;
    (0..3)
        .filter_map(|output| {
            // Output 1 of the list is the row of the input over the stride itself.
            let tap = (rest + margin + stride).checked_sub(output * stride)?;
            (tap < side).then_some(Seen { output, tap })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(side: usize, stride: usize) -> Layer {
        Layer { inputs: 1, outputs: 1, side, stride, weight: 0..side * side, bias: 0..1 }
    }

    /// Every (input pixel, output pixel, tap) that a plan connects, inside the images.
    fn connections(plan: &Plan, from: Plane, to: Plane) -> Vec<(usize, usize, usize)> {
        let inside = |plane: Plane, at: usize| {
            (0..plane.pixels())
                .find(|pixel| plane.at(pixel / plane.columns, pixel % plane.columns) == at)
        };
        let mut all = Vec::new();
        for group in &plan.groups {
            let per_run = group.length / plan.inputs;
            for pixel in &group.pixels {
                for (place, tap) in group.taps.iter().enumerate() {
                    let (run, step) = (group.runs[place / per_run], place % per_run);
                    let at = pixel.from + run + step * plan.inputs;
                    if let Some(source) = inside(from, at) {
                        all.push((source, inside(to, pixel.to).unwrap(), *tap));
                    }
                }
            }
        }
        all.sort_unstable();
        all
    }

    #[test]
    fn both_ways_connect_what_the_definition_connects() {
        for (side, stride) in [(3, 1), (3, 2), (1, 2), (1, 1)] {
            for (rows, columns) in [(1, 1), (2, 2), (3, 2), (5, 4), (7, 7)] {
                let layer = layer(side, stride);
                let input = Plane { rows, columns, channels: 3 };
                let output = Plane {
                    rows: layer.output_side(rows),
                    columns: layer.output_side(columns),
                    channels: 2,
                };
                // Output (r, c) sees input (r·stride + i − side/2, …) through (i, …).
                let mut expected = Vec::new();
                for target in 0..output.pixels() {
                    for tap in 0..side * side {
                        let place = |out: usize, tap: usize, size: usize| {
                            (out * stride + tap).checked_sub(side / 2).filter(|at| *at < size)
                        };
                        let row = place(target / output.columns, tap / side, rows);
                        let column = place(target % output.columns, tap % side, columns);
                        if let (Some(row), Some(column)) = (row, column) {
                            expected.push((row * columns + column, target, tap));
                        }
                    }
                }
                expected.sort_unstable();
                let there = Plan::forwards(&layer, input, output);
                assert_eq!(connections(&there, input, output), expected, "{side} {stride}");
                let back = Plan::backwards(&layer, input, output);
                let mut found: Vec<_> = connections(&back, output, input)
                    .into_iter()
                    .map(|(output, input, tap)| (input, output, tap))
                    .collect();
                found.sort_unstable();
                assert_eq!(found, expected, "back {side} {stride} {rows}×{columns}");
            }
        }
    }
}
