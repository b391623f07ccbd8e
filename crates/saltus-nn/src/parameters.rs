//! The parameters of a network: one list of numbers, drawn at random or given.

use crate::architecture::Architecture;
use crate::layout::Layer;
use saltus::ModelError;
use saltus::model::{check_finite, check_length};
use saltus::rng::{ChainRng, Stream};
use std::f64::consts::{PI, SQRT_2};

/// How much larger than others the weights of the last layer begin: images differ by tens of nats,
/// means over pixels by less than one.
const LAST: f64 = 10.0;

/// The largest parameter that a layer begins with.
fn reach(name: &str, layer: &Layer) -> f64 {
    let scale = if name == "last" { LAST } else { 1.0 };
    scale * (3.0 / layer.fan_in() as f64).sqrt()
}

/// A value as one of so many half waves over all values, which have mean 0 and mean square 1.
fn cosine(half_waves: usize, value: usize, values: usize) -> f32 {
    let phase = (value as f64 + 0.5) / values as f64;
    (SQRT_2 * (PI * half_waves as f64 * phase).cos()) as f32
}

/// All weights and biases of a network, in the order of its [layout](Architecture::layout).
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    architecture: Architecture,
    numbers: Vec<f32>,
}

impl Parameters {
    /// Those numbers.
    pub fn new(architecture: Architecture, numbers: Vec<f32>) -> Result<Self, ModelError> {
        check_length("the list of parameters", numbers.len(), architecture.parameters())?;
        check_finite("parameters", &numbers)?;
        Ok(Self { architecture, numbers })
    }

    /// Before the first update: weights and biases uniform in ±√(3/n), n the number of inputs that
    /// are added up to an output, so that a sum varies as much as what is added up; those of the
    /// last layer ten times that. Where pixels have more than two values, the numbers that stand for
    /// a value begin as cosines of it, so that neighbouring grays look alike.
    pub fn random(architecture: Architecture, seed: u64) -> Self {
        let mut rng = ChainRng::new(seed, Stream::Model);
        let layout = architecture.layout();
        let mut numbers = vec![0.0; layout.parameters()];
        for (name, layer) in layout.layers() {
            let reach = reach(&name, layer);
            for number in &mut numbers[layer.weight.start..layer.bias.end] {
                *number = (reach * (2.0 * rng.uniform() - 1.0)) as f32;
            }
        }
        if let Some(projection) = &layout.projection {
            let values = projection.inputs;
            for (index, number) in numbers[projection.weight.clone()].iter_mut().enumerate() {
                *number = cosine(index / values + 1, index % values, values);
            }
        }
        Self { architecture, numbers }
    }

    /// The network they belong to.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// The numbers.
    pub fn numbers(&self) -> &[f32] {
        &self.numbers
    }

    /// The numbers, to change.
    pub fn numbers_mut(&mut self) -> &mut [f32] {
        &mut self.numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_parameters_reach_as_far_as_their_inputs_allow() {
        let architecture = Architecture::new(8, 8, 2, 16).unwrap();
        let parameters = Parameters::random(architecture, 3);
        for (name, layer) in architecture.layout().layers() {
            let numbers = &parameters.numbers()[layer.weight.clone()];
            let bound = (3.0 / layer.fan_in() as f64).sqrt();
            let reach = (if name == "last" { 10.0 * bound } else { bound }) as f32;
            let most = numbers.iter().fold(0.0f32, |most, w| most.max(w.abs()));
            assert!(most <= reach, "{name}");
            // Of sixteen or more uniform numbers the largest is hardly ever below 0.6.
            assert!(most > 0.6 * reach, "{name}: {most} of {reach}");
        }
        assert_eq!(parameters, Parameters::random(architecture, 3));
        assert_ne!(parameters, Parameters::random(architecture, 4));
    }

    #[test]
    fn neighbouring_grays_begin_alike() {
        let architecture =
            Architecture::new(4, 4, 4, 3).and_then(|a| a.with_projection(2)).unwrap();
        let parameters = Parameters::random(architecture, 3);
        let projection = architecture.layout().projection.unwrap();
        // √2 cos of π/8, 3π/8, 5π/8, 7π/8; and of twice that.
        let expected = [1.306563, 0.5411961, -0.5411961, -1.306563, 1.0, -1.0, -1.0, 1.0];
        for (found, expected) in parameters.numbers()[projection.weight].iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found}, expected {expected}");
        }
    }

    #[test]
    fn numbers_that_are_none_are_refused() {
        let architecture = Architecture::new(2, 2, 2, 1).unwrap().with_blocks(0).unwrap();
        let count = architecture.parameters();
        let refused = |numbers| Parameters::new(architecture, numbers).unwrap_err().to_string();
        let short = format!("the list of parameters has 3 entries, expected {count}");
        assert_eq!(refused(vec![0.0; 3]), short);
        let mut numbers = vec![0.0; count];
        numbers[5] = f32::NAN;
        assert!(refused(numbers).starts_with("parameters[5] is NaN"));
    }
}
