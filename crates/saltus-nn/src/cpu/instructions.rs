//! All instruction sets that this machine has compute the same, plain code included.

use super::convolve::{Start, convolve};
use super::narrow::convolve_to_planes;
use super::outer::add_weights;
use super::packed::Packed;
use super::plan::Plan;
use super::plane::Plane;
use super::tiles::{Coordinates, Tiles};
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
                let numbers = uniform(group.len());
                group.copy_from_slice(&numbers);
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

/// Sides that are and are not whole tiles, and numbers of tiles that leave every rest.
#[test]
fn tiles_make_the_same_and_what_sums_make() {
    for (rows, columns) in [(7, 7), (6, 8), (3, 2), (2, 2), (14, 9), (5, 20)] {
        let layer = Layer { inputs: 32, outputs: 48, side: 3, stride: 1, weight: 0..0, bias: 0..0 };
        let input = Plane { rows, columns, channels: 32 };
        let output = Plane { channels: 48, ..input };
        let numbers = uniform(9 * 32 * 48);
        let weight =
            |tap: usize, input: usize, output: usize| numbers[(tap * 32 + input) * 48 + output];
        let plan = Plan::forwards(&layer, input, output);
        let mut direct = Packed::zeros(&plan);
        direct.for_each(&plan, 32, 48, |tap, input, output, number| {
            *number = weight(tap, input, output);
        });
        let mut tiles = Tiles::new(&layer, input, output).expect("fewer products");
        tiles.set(32, 48, weight);
        let (from, bias) = (image(input, 6), uniform(48));
        // Memory that another layer has left full.
        let mut coordinates = Coordinates::default();
        for start in [Start::Zero, Start::Bias(&bias), Start::Sum] {
            let results = every_set().into_iter().map(|set| {
                let mut result = image(output, 7);
                tiles.apply(set, start, &from, &mut result, &mut coordinates);
                result
            });
            let results: Vec<_> = results.collect();
            assert_same(&results);
            let mut expected = image(output, 7);
            convolve(Arch::new(), &plan, &direct, start, &from, &mut expected);
            for (found, expected) in results[0].iter().zip(&expected) {
                assert!((found - expected).abs() < 2e-5, "{rows}×{columns}: {found} {expected}");
            }
        }
    }
}

#[test]
fn tiles_are_left_alone_where_they_do_not_help() {
    let layer =
        |side, stride| Layer { inputs: 32, outputs: 32, side, stride, weight: 0..0, bias: 0..0 };
    let plane = |rows, columns, channels| Plane { rows, columns, channels };
    let (image, pixel) = (plane(8, 8, 32), plane(1, 1, 32));
    assert!(Tiles::new(&layer(3, 1), image, image).is_some());
    assert!(Tiles::new(&layer(3, 1), pixel, pixel).is_none(), "sixteen products for nine");
    assert!(Tiles::new(&layer(1, 1), image, image).is_none());
    assert!(Tiles::new(&layer(3, 2), image, plane(4, 4, 32)).is_none());
    assert!(Tiles::new(&layer(3, 1), plane(8, 8, 33), image).is_none(), "channels fill no panel");
    let narrow = plane(8, 8, 16);
    assert!(Tiles::new(&layer(3, 1), narrow, narrow).is_none(), "few channels");
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
