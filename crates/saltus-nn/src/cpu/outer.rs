//! The gradient of a convolution's weights: products of what went in with the gradient at what came
//! out, added up over pixels.

use super::convolve::vectors;
use super::packed::{PANEL, Packed};
use super::plan::{Group, Plan};
use pulp::{Arch, Simd, WithSimd};

/// Adds an image's part to the gradient of the weights of a forward plan. `output` is the gradient at
/// the output.
pub(super) fn add_weights(
    instructions: Arch,
    plan: &Plan,
    input: &[f32],
    output: &[f32],
    sums: &mut Packed,
) {
    for (group, sums) in plan.groups.iter().zip(&mut sums.groups) {
        instructions.dispatch(Outer { group, input, output, sums });
    }
}

/// Adds an image's part to the gradient of the biases of a forward plan.
pub(super) fn add_biases(plan: &Plan, output: &[f32], sums: &mut [f32]) {
    saltus::math::vectorised(
        #[inline(always)]
        || {
            for pixel in plan.groups.iter().flat_map(|group| &group.pixels) {
                let numbers = &output[pixel.to..][..sums.len()];
                sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
            }
        },
    );
}

struct Outer<'a> {
    group: &'a Group,
    input: &'a [f32],
    output: &'a [f32],
    sums: &'a mut [f32],
}

impl WithSimd for Outer<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // Rows of weights whose sums fill the registers, and registers across a panel.
        match S::F32_LANES {
            16 => self.panels::<S, 1, 16>(simd),
            8 => self.panels::<S, 2, 4>(simd),
            4 => self.panels::<S, 4, 4>(simd),
            2 => self.panels::<S, 8, 1>(simd),
            _ => self.panels::<S, 16, 1>(simd),
        }
    }
}

impl Outer<'_> {
    #[inline(always)]
    fn panels<S: Simd, const VECTORS: usize, const ROWS: usize>(self, simd: S) {
        let Self { group, input, output, sums } = self;
        let per_run = group.length * PANEL;
        for (number, panel) in sums.chunks_exact_mut(group.runs.len() * per_run).enumerate() {
            let output = &output[number * PANEL..];
            for (run, sums) in group.runs.iter().zip(panel.chunks_exact_mut(per_run)) {
                let input = &input[*run..];
                let whole = group.length / ROWS * ROWS;
                let (tiles, rest) = sums.split_at_mut(whole * PANEL);
                for (tile, sums) in tiles.chunks_exact_mut(ROWS * PANEL).enumerate() {
                    let products = Products { simd, group, input: &input[tile * ROWS..], output };
                    products.add::<VECTORS, ROWS>(sums);
                }
                for (row, sums) in rest.chunks_exact_mut(PANEL).enumerate() {
                    let products = Products { simd, group, input: &input[whole + row..], output };
                    products.add::<VECTORS, 1>(sums);
                }
            }
        }
    }
}

/// A few rows of weights of one panel.
struct Products<'a, S> {
    simd: S,
    group: &'a Group,
    /// From where the first pixel reads its first row.
    input: &'a [f32],
    /// From the first channel of the panel.
    output: &'a [f32],
}

impl<S: Simd> Products<'_, S> {
    #[inline(always)]
    fn add<const VECTORS: usize, const ROWS: usize>(&self, totals: &mut [f32]) {
        let simd = self.simd;
        let mut sums = [[simd.splat_f32s(0.0); VECTORS]; ROWS];
        for (row, total) in totals.chunks_exact(PANEL).enumerate() {
            sums[row] = vectors::<S, VECTORS>(total);
        }
        for pixel in &self.group.pixels {
            let inputs: &[f32] = &self.input[pixel.from..][..ROWS];
            let output = vectors::<S, VECTORS>(&self.output[pixel.to..][..PANEL]);
            for row in 0..ROWS {
                let factor = simd.splat_f32s(inputs[row]);
                for vector in 0..VECTORS {
                    sums[row][vector] =
                        simd.mul_add_e_f32s(factor, output[vector], sums[row][vector]);
                }
            }
        }
        for (sums, total) in sums.iter().zip(totals.chunks_exact_mut(PANEL)) {
            total.copy_from_slice(pulp::bytemuck::cast_slice(sums));
        }
    }
}
