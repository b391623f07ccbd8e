//! The way back through the first convolution, which ends in one or a few numbers per pixel: there a
//! panel of outputs would be mostly filling, so that channels are added up side by side instead.

use super::packed::PANEL;
use super::plan::{Group, Pixel, Plan};
use pulp::{Arch, Simd, WithSimd};

/// Pixels that are added up together.
const PIXELS: usize = 7;

/// Writes the outputs of a plan of one group, plane after plane: `output[channel · pixels + pixel]`.
/// `weights` holds the windows of all output channels, one after the other.
pub(super) fn convolve_to_planes(
    instructions: Arch,
    plan: &Plan,
    weights: &[f32],
    input: &[f32],
    output: &mut [f32],
) {
    let group = &plan.groups[0];
    let window = group.runs.len() * group.length;
    for (weights, output) in
        weights.chunks_exact(window).zip(output.chunks_exact_mut(group.pixels.len()))
    {
        instructions.dispatch(Narrow { group, weights, input, output });
    }
}

/// Which place of the windows belongs to a tap and an input channel.
pub(super) fn place(plan: &Plan, tap: usize, input: usize) -> usize {
    let taps = &plan.groups[0].taps;
    let position = taps.iter().position(|found| *found == tap).expect("a tap of the window");
    position * plan.inputs + input
}

struct Narrow<'a> {
    group: &'a Group,
    weights: &'a [f32],
    input: &'a [f32],
    output: &'a mut [f32],
}

impl WithSimd for Narrow<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match S::F32_LANES {
            16 => self.pixels::<S, 1>(simd),
            8 => self.pixels::<S, 2>(simd),
            4 => self.pixels::<S, 4>(simd),
            2 => self.pixels::<S, 8>(simd),
            _ => self.pixels::<S, 16>(simd),
        }
    }
}

impl Narrow<'_> {
    #[inline(always)]
    fn pixels<S: Simd, const VECTORS: usize>(self, simd: S) {
        let Self { group, weights, input, output } = self;
        let (tiles, rest) = group.pixels.as_chunks::<PIXELS>();
        let (outputs, output_rest) = output.as_chunks_mut::<PIXELS>();
        for (pixels, output) in tiles.iter().zip(outputs) {
            *output = sums::<S, VECTORS, PIXELS>(simd, group, weights, input, pixels);
        }
        for (pixel, output) in rest.iter().zip(output_rest) {
            [*output] = sums::<S, VECTORS, 1>(simd, group, weights, input, &[*pixel]);
        }
    }
}

#[inline(always)]
fn sums<S: Simd, const VECTORS: usize, const COUNT: usize>(
    simd: S,
    group: &Group,
    weights: &[f32],
    input: &[f32],
    pixels: &[Pixel; COUNT],
) -> [f32; COUNT] {
    let mut sums = [[simd.splat_f32s(0.0); VECTORS]; COUNT];
    for (run, weights) in group.runs.iter().zip(weights.chunks_exact(group.length)) {
        let weights = S::as_simd_f32s(weights).0.as_chunks::<VECTORS>().0;
        let inputs: [&[[S::f32s; VECTORS]]; COUNT] = std::array::from_fn(|pixel| {
            let numbers = &input[pixels[pixel].from + run..][..group.length];
            &S::as_simd_f32s(numbers).0.as_chunks::<VECTORS>().0[..weights.len()]
        });
        for (index, weights) in weights.iter().enumerate() {
            for pixel in 0..COUNT {
                for vector in 0..VECTORS {
                    sums[pixel][vector] = simd.mul_add_e_f32s(
                        inputs[pixel][index][vector],
                        weights[vector],
                        sums[pixel][vector],
                    );
                }
            }
        }
    }
    std::array::from_fn(|pixel| {
        let lanes: &[f32] = pulp::bytemuck::cast_slice(&sums[pixel]);
        // Halves are folded until one number is left, in the same order for every register.
        let mut lanes: [f32; PANEL] = std::array::from_fn(|lane| lanes[lane]);
        for half in [8, 4, 2, 1] {
            for lane in 0..half {
                lanes[lane] += lanes[lane + half];
            }
        }
        lanes[0]
    })
}
