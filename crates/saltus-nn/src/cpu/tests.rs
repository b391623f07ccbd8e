//! The fast network against its definition in double precision.

use super::*;
use crate::architecture::Architecture;
use crate::derivative::derivative;
use crate::reference::{codes, value};
use saltus::rng::{ChainRng, Stream};

/// Networks that use everything: two and more values, sizes that leave rests of tiles, channels that
/// do and do not fill a panel, images that halve unevenly or down to one pixel.
fn networks() -> Vec<Parameters> {
    let sizes = [
        (6, 6, 2, 5, 1, 4),
        (5, 7, 2, 17, 1, 4),
        (2, 2, 2, 3, 0, 4),
        (1, 1, 2, 16, 1, 4),
        (4, 5, 3, 6, 2, 2),
        (3, 3, 5, 20, 0, 4),
    ];
    sizes
        .map(|(rows, columns, values, width, blocks, projection)| {
            let architecture = Architecture::new(rows, columns, values, width)
                .and_then(|architecture| architecture.with_blocks(blocks))
                .and_then(|architecture| architecture.with_projection(projection))
                .unwrap();
            let mut parameters = Parameters::random(architecture, 7);
            // Large enough that no layer is close to linear.
            parameters.numbers_mut().iter_mut().for_each(|number| *number *= 2.0);
            parameters
        })
        .to_vec()
}

fn state(architecture: &Architecture, seed: u64) -> Vec<u8> {
    let mut rng = ChainRng::new(seed, Stream::Chain(0));
    let space = architecture.space();
    (0..space.sites()).map(|_| rng.below(space.values()) as u8).collect()
}

fn double(parameters: &Parameters) -> Vec<f64> {
    parameters.numbers().iter().map(|number| f64::from(*number)).collect()
}

/// Fails unless all numbers agree to 1e-5 of the largest of them.
fn assert_close(what: &str, found: &[f32], expected: &[f64]) {
    let largest = expected.iter().fold(0.0f64, |most, number| most.max(number.abs()));
    assert!(largest > 0.0, "{what}: nothing to compare");
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (f64::from(*found) - expected).abs();
        assert!(error < 1e-5 * largest, "{what}[{index}]: {found}, expected {expected}");
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn values_and_gradients_are_those_of_the_definition() {
    for parameters in networks() {
        let architecture = *parameters.architecture();
        let network = Cpu::new(&parameters).unwrap();
        let numbers = double(&parameters);
        let mut work = network.new_workspace(1);
        for seed in 0..2 {
            let state = state(&architecture, seed);
            let states = States::new(&state, state.len());
            let mut codes = codes(&architecture, &state);
            let (mut found, mut gradient) = ([0.0], vec![0.0; architecture.space().diff_len()]);
            network.values_and_gradients(states, &mut work, &mut found, &mut gradient).unwrap();
            let at = |codes: &[f64]| value(&architecture, &numbers, codes);
            let expected = at(&codes);
            assert!((found[0] - expected).abs() < 1e-5 * expected.abs().max(1.0), "{found:?}");
            let expected: Vec<f64> =
                (0..codes.len()).map(|index| derivative(&mut codes, index, at)).collect();
            assert_close(&format!("{architecture:?}"), &gradient, &expected);
            let mut alone = [0.0];
            network.values(states, &mut work, &mut alone).unwrap();
            assert_eq!(alone, found, "the value alone is the same to the last bit");
        }
    }
}

#[test]
fn gradients_of_parameters_are_those_of_the_definition() {
    for parameters in networks() {
        let architecture = *parameters.architecture();
        let network = Cpu::new(&parameters).unwrap();
        let mut numbers = double(&parameters);
        let states = [state(&architecture, 1), state(&architecture, 2)];
        let mut work = network.new_workspace(2);
        let (mut values, mut found) = ([0.0; 2], vec![0.0; numbers.len()]);
        let both = states.concat();
        let block = States::new(&both, states[0].len());
        network.add_parameter_gradient(block, &mut work, &mut values, &mut found).unwrap();
        let at = |numbers: &[f64]| {
            let value =
                |state: &Vec<u8>| value(&architecture, numbers, &codes(&architecture, state));
            states.iter().map(value).sum::<f64>()
        };
        let sum = at(&numbers);
        assert!((sum - values[0] - values[1]).abs() < 1e-5 * sum.abs().max(1.0));
        for (name, layer) in architecture.layout().layers() {
            for range in [layer.weight.clone(), layer.bias.clone()] {
                // All of them would take a minute.
                let every = range.len().div_ceil(23);
                let indices: Vec<usize> = range.step_by(every).collect();
                let some: Vec<f32> = indices.iter().map(|index| found[*index]).collect();
                let expected: Vec<f64> =
                    indices.iter().map(|index| derivative(&mut numbers, *index, at)).collect();
                assert_close(&format!("{architecture:?} {name}"), &some, &expected);
            }
        }
        // A second call adds to the first.
        let once = found.clone();
        network.add_parameter_gradient(block, &mut work, &mut values, &mut found).unwrap();
        assert!(found.iter().zip(&once).all(|(twice, once)| (twice - 2.0 * once).abs() < 1e-4));
    }
}

#[test]
fn other_parameters_take_the_place_of_the_first() {
    let parameters = networks().swap_remove(4);
    let architecture = *parameters.architecture();
    let state = state(&architecture, 5);
    let evaluate = |network: &Cpu| {
        let (mut value, mut gradient) = ([0.0], vec![0.0; architecture.space().diff_len()]);
        let states = States::new(&state, state.len());
        let work = &mut network.new_workspace(1);
        network.values_and_gradients(states, work, &mut value, &mut gradient).unwrap();
        (value, gradient)
    };
    let mut network = Cpu::new(&Parameters::random(architecture, 99)).unwrap();
    let fresh = Cpu::new(&parameters).unwrap();
    assert_ne!(evaluate(&network), evaluate(&fresh));
    network.set_parameters(&parameters);
    assert_eq!(evaluate(&network), evaluate(&fresh));
}
