//! The sums of a plan: a few pixels by one panel of channels at a time, all in registers.
//!
//! Every number is added up in the order of its weights, fused wherever the processor fuses, whatever
//! the width of its registers.

use super::packed::{PANEL, Packed};
use super::plan::{Group, Pixel, Plan};
use pulp::{Arch, Simd, WithSimd};

/// What a sum starts from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start<'a> {
    /// From zero.
    Zero,
    /// From a bias per channel.
    Bias(&'a [f32]),
    /// From what is there already.
    Sum,
}

/// Makes every pixel of the output of a plan.
pub(super) fn convolve(
    instructions: Arch,
    plan: &Plan,
    weights: &Packed,
    start: Start<'_>,
    input: &[f32],
    output: &mut [f32],
) {
    for (group, weights) in plan.groups.iter().zip(&weights.groups) {
        instructions.dispatch(Convolve { group, weights, start, input, output });
    }
}

/// The sums of a group.
pub(super) struct Convolve<'a> {
    pub(super) group: &'a Group,
    /// Its packed weights.
    pub(super) weights: &'a [f32],
    pub(super) start: Start<'a>,
    pub(super) input: &'a [f32],
    pub(super) output: &'a mut [f32],
}

impl WithSimd for Convolve<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // The number of registers across a panel must be known to the compiler, and the pixels that
        // are added up together, so that a loaded weight is used that often: as many as leave
        // registers for the weights. Images of 28, 14 and 7 pixels a side are whole sevens, but the last
        // have sixteen tiles.
        match S::F32_LANES {
            16 if self.group.pixels.len().is_multiple_of(4) => self.panels::<S, 1, 8>(simd),
            16 => self.panels::<S, 1, 7>(simd),
            8 => self.panels::<S, 2, 4>(simd),
            4 => self.panels::<S, 4, 4>(simd),
            2 => self.panels::<S, 8, 1>(simd),
            _ => self.panels::<S, 16, 1>(simd),
        }
    }
}

impl Convolve<'_> {
    #[inline(always)]
    fn panels<S: Simd, const VECTORS: usize, const PIXELS: usize>(self, simd: S) {
        let Group { pixels, runs, length, .. } = self.group;
        let panels = self.weights.chunks_exact(runs.len() * length * PANEL);
        for (number, weights) in panels.enumerate() {
            let first = number * PANEL;
            let weights = S::as_simd_f32s(weights).0.as_chunks::<VECTORS>().0;
            let sum = Sum { simd, runs, length: *length, input: self.input, weights, first };
            let (tiles, rest) = pixels.as_chunks::<PIXELS>();
            for tile in tiles {
                sum.tile(self.start, tile, self.output);
            }
            let (fours, rest) = rest.as_chunks::<4>();
            for four in fours {
                sum.tile(self.start, four, self.output);
            }
            for pixel in rest {
                sum.tile(self.start, &[*pixel], self.output);
            }
        }
    }
}

/// One panel of channels.
struct Sum<'a, S: Simd, const VECTORS: usize> {
    simd: S,
    runs: &'a [usize],
    length: usize,
    input: &'a [f32],
    weights: &'a [[S::f32s; VECTORS]],
    /// The first channel of the panel.
    first: usize,
}

impl<S: Simd, const VECTORS: usize> Sum<'_, S, VECTORS> {
    /// A few pixels.
    #[inline(always)]
    fn tile<const COUNT: usize>(
        &self,
        start: Start<'_>,
        pixels: &[Pixel; COUNT],
        output: &mut [f32],
    ) {
        let simd = self.simd;
        let bias = match start {
            Start::Bias(bias) => vectors::<S, VECTORS>(&bias[self.first..][..PANEL]),
            Start::Zero | Start::Sum => [simd.splat_f32s(0.0); VECTORS],
        };
        let mut sums = [bias; COUNT];
        if matches!(start, Start::Sum) {
            for (sums, pixel) in sums.iter_mut().zip(pixels) {
                *sums = vectors::<S, VECTORS>(&output[pixel.to + self.first..][..PANEL]);
            }
        }
        for (run, weights) in self.runs.iter().zip(self.weights.chunks_exact(self.length)) {
            let inputs: [&[f32]; COUNT] = std::array::from_fn(|pixel| {
                &self.input[pixels[pixel].from + run..][..weights.len()]
            });
            for (index, entries) in weights.iter().enumerate() {
                for pixel in 0..COUNT {
                    let factor = simd.splat_f32s(inputs[pixel][index]);
                    for vector in 0..VECTORS {
                        sums[pixel][vector] =
                            simd.mul_add_e_f32s(factor, entries[vector], sums[pixel][vector]);
                    }
                }
            }
        }
        for (pixel, sums) in pixels.iter().zip(&sums) {
            let target = &mut output[pixel.to + self.first..][..PANEL];
            target.copy_from_slice(pulp::bytemuck::cast_slice(sums));
        }
    }
}

/// A panel's numbers from memory.
#[inline(always)]
pub(super) fn vectors<S: Simd, const VECTORS: usize>(numbers: &[f32]) -> [S::f32s; VECTORS] {
    let numbers = S::as_simd_f32s(numbers).0;
    std::array::from_fn(|vector| numbers[vector])
}
