//! The two ways of computing a network agree, on the paper's sizes too.

use saltus::States;
use saltus::rng::{ChainRng, Stream};
use saltus_nn::{Architecture, Burn, Cpu, Network, Parameters};

fn architectures() -> Vec<Architecture> {
    vec![
        Architecture::new(28, 28, 2, 16).unwrap(),
        Architecture::new(28, 28, 2, 64).unwrap(),
        Architecture::new(28, 20, 256, 16).unwrap().with_blocks(1).unwrap(),
        Architecture::new(7, 9, 3, 5).unwrap().with_blocks(1).unwrap(),
    ]
}

fn states(architecture: &Architecture, count: usize) -> Vec<u8> {
    let mut rng = ChainRng::new(3, Stream::Chain(0));
    let space = architecture.space();
    (0..count * space.sites()).map(|_| rng.below(space.values()) as u8).collect()
}

/// Fails unless all numbers agree to 1e-5 of the largest of them.
fn assert_close(what: &str, one: &[f32], other: &[f32]) {
    let largest = one.iter().fold(0.0f32, |most, number| most.max(number.abs()));
    assert!(largest > 0.0, "{what}: nothing to compare");
    for (index, (one, other)) in one.iter().zip(other).enumerate() {
        assert!((one - other).abs() < 1e-5 * largest, "{what}[{index}]: {one}, {other}");
    }
}

#[test]
fn values_and_gradients_agree() {
    for architecture in architectures() {
        let parameters = Parameters::random(architecture, 11);
        let (cpu, burn) = (Cpu::new(&parameters).unwrap(), Burn::new(&parameters).unwrap());
        let bytes = states(&architecture, 5);
        let block = States::new(&bytes, architecture.space().sites());
        let length = architecture.space().diff_len();
        let (mut one, mut other) = ([0.0; 5], [0.0; 5]);
        let (mut gradient, mut other_gradient) = (vec![0.0; 5 * length], vec![0.0; 5 * length]);
        let work = &mut cpu.new_workspace(5);
        cpu.values_and_gradients(block, work, &mut one, &mut gradient).unwrap();
        burn.values_and_gradients(block, &mut (), &mut other, &mut other_gradient).unwrap();
        for (one, other) in one.iter().zip(&other) {
            assert!((one - other).abs() < 1e-5 * one.abs().max(1.0), "{one} {other}");
        }
        assert_close(&format!("{architecture:?}"), &gradient, &other_gradient);

        let count = parameters.numbers().len();
        let (mut sums, mut other_sums) = (vec![0.0; count], vec![0.0; count]);
        cpu.add_parameter_gradient(block, work, &mut one, &mut sums).unwrap();
        burn.add_parameter_gradient(block, &mut (), &mut other, &mut other_sums).unwrap();
        for (name, layer) in architecture.layout().layers() {
            for range in [&layer.weight, &layer.bias] {
                assert_close(&name, &sums[range.clone()], &other_sums[range.clone()]);
            }
        }
    }
}

#[test]
fn other_parameters_take_the_place_of_the_first() {
    let architecture = Architecture::new(5, 5, 2, 4).unwrap();
    let bytes = states(&architecture, 1);
    let block = States::new(&bytes, 25);
    let value = |network: &Burn| {
        let mut value = [0.0];
        network.values(block, &mut (), &mut value).unwrap();
        value
    };
    let (one, two) = (Parameters::random(architecture, 1), Parameters::random(architecture, 2));
    let mut network = Burn::new(&one).unwrap();
    let before = value(&network);
    network.set_parameters(&two);
    assert_ne!(value(&network), before);
    assert_eq!(value(&network), value(&Burn::new(&two).unwrap()));
}
