//! All instruction sets that this machine has compute the same, plain code included.

use super::convolve::{Start, convolve};
use super::narrow::convolve_to_planes;
use super::outer::add_weights;
use super::packed::Packed;
use super::plan::Plan;
use super::plane::Plane;
use crate::layout::Layer;
use pulp::Arch;
use saltus::rng::{ChainRng, Stream};

/// Every set, from plain code to the widest.
fn every_set() -> Vec<Arch> {
    let mut all = vec![Arch::Scalar];
    #[cfg(target_arch = "x86_64")]
    all.extend(pulp::x86::V3::try_new().map(Arch::V3));
    all.push(Arch::new());
    all
}

/// Random numbers inside an image of channels, zeros on its border.
fn image(plane: Plane, seed: u64) -> Vec<f32> {
    let mut rng = ChainRng::new(seed, Stream::Chain(0));
    let mut numbers = plane.zeros();
    for row in plane.row_ranges() {
        numbers[row].iter_mut().for_each(|number| *number = rng.uniform() as f32 - 0.5);
    }
    numbers
}

fn uniform(count: usize) -> Vec<f32> {
    let mut rng = ChainRng::new(9, Stream::Model);
    (0..count).map(|_| rng.uniform() as f32 - 0.5).collect()
}

/// Sets with fused multiply-add agree to the last bit, plain code to its rounding.
fn assert_same(results: &[Vec<f32>]) {
    let (plain, fused) = results.split_first().unwrap();
    for one in fused {
        assert_eq!(one, fused.last().unwrap());
        for (one, plain) in one.iter().zip(plain) {
            assert!((one - plain).abs() < 1e-5, "{one} {plain}");
        }
    }
    assert!(plain.iter().any(|number| number.abs() > 0.1), "nothing to compare");
}

#[test]
fn sums_are_the_same() {
    for (side, stride) in [(3, 1), (3, 2), (1, 2)] {
        let layer = Layer { inputs: 16, outputs: 32, side, stride, weight: 0..0, bias: 0..0 };
        let input = Plane { rows: 9, columns: 8, channels: 16 };
        let output =
            Plane { rows: layer.output_side(9), columns: layer.output_side(8), channels: 32 };
        let (there, back) =
            (Plan::forwards(&layer, input, output), Plan::backwards(&layer, input, output));
        for (plan, from, to) in [(there, input, output), (back, output, input)] {
            let mut weights = Packed::zeros(&plan);
            for group in &mut weights.groups {
                group.copy_from_slice(&uniform(group.len()));
            }
            let (numbers, bias) = (image(from, 1), uniform(to.channels));
            for start in [Start::Zero, Start::Bias(&bias), Start::Sum] {
                let results = every_set().into_iter().map(|set| {
                    let mut result = image(to, 2);
                    convolve(set, &plan, &weights, start, &numbers, &mut result);
                    result
                });
                assert_same(&results.collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn gradients_of_weights_are_the_same() {
    for channels in [3, 16] {
        let layer =
            Layer { inputs: channels, outputs: 16, side: 3, stride: 1, weight: 0..0, bias: 0..0 };
        let input = Plane { rows: 5, columns: 6, channels };
        let output = Plane { channels: 16, ..input };
        let plan = Plan::forwards(&layer, input, output);
        let (numbers, gradient) = (image(input, 3), image(output, 4));
        let results = every_set().into_iter().map(|set| {
            let mut sums = Packed::zeros(&plan);
            add_weights(set, &plan, &numbers, &gradient, &mut sums);
            sums.groups.concat()
        });
        assert_same(&results.collect::<Vec<_>>());
    }
}

#[test]
fn the_way_back_to_the_pixels_is_the_same() {
    let layer = Layer { inputs: 2, outputs: 32, side: 3, stride: 1, weight: 0..0, bias: 0..0 };
    let input = Plane { rows: 5, columns: 6, channels: 2 };
    let output = Plane { channels: 32, ..input };
    let plan = Plan::backwards(&layer, input, output);
    let (windows, gradient) = (uniform(2 * 9 * 32), image(output, 5));
    let results = every_set().into_iter().map(|set| {
        let mut seen = vec![0.0; 2 * 30];
        convolve_to_planes(set, &plan, &windows, &gradient, &mut seen);
        seen
    });
    assert_same(&results.collect::<Vec<_>>());
}
