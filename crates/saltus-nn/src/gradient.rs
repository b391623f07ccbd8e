//! The gradient of the training loss, shared out among threads in parts that do not depend on their
//! number.
//!
//! The loss is the mean of log π over the chains minus its mean over the data. That does not hold the
//! constant in log π, which means nothing, but would wander by thousands and drag the weights along;
//! so half of [`HOLD`] times the square of the network's mean over chains and data is added.

use crate::model::DeepModel;
use crate::network::Network;
use rayon::prelude::*;
use saltus::math::vectorised;
use saltus::{Model, ModelError, States};
use saltus_learn::descent::CHUNK;
use saltus_learn::{Learnable, Means};

/// Parts that each of data and chains are cut into: each holds a gradient of its own.
const PARTS: usize = 8;
/// How strongly the network's mean is held at zero.
const HOLD: f64 = 0.1;

/// Memory for gradients of a batch.
pub struct DeepWork<N: Network> {
    /// States per part.
    size: usize,
    /// Parts of the data, then of the chains.
    parts: Vec<Part<N>>,
}

struct Part<N: Network> {
    work: N::Workspace,
    /// Sum of the network's gradients.
    gradient: Vec<f32>,
    /// Sum of the network's values.
    value: f64,
    log_prob: Vec<f64>,
}

impl<N: Network> DeepWork<N> {
    fn new(model: &DeepModel<N>, batch: usize) -> Self {
        let network = model.network();
        let size = batch.div_ceil(PARTS).max(network.block_size(batch)).min(batch);
        let parameters = model.parameters().numbers().len();
        let part = || Part {
            work: network.new_workspace(size),
            gradient: vec![0.0; parameters],
            value: 0.0,
            log_prob: Vec::new(),
        };
        Self { size, parts: (0..2 * batch.div_ceil(size)).map(|_| part()).collect() }
    }

    /// Computes the gradient. Parts are added up in their order.
    fn fill(
        &mut self,
        model: &DeepModel<N>,
        data: &[u8],
        chains: &[u8],
        gradient: &mut [f32],
    ) -> Result<Means, ModelError> {
        let sites = model.space().sites();
        let (size, half) = (self.size, self.parts.len() / 2);
        let pieces = data.par_chunks(size * sites).chain(chains.par_chunks(size * sites));
        let done: Result<Vec<()>, _> = self
            .parts
            .par_iter_mut()
            .zip_eq(pieces)
            .map(|(part, states)| {
                let states = States::new(states, sites);
                part.gradient.fill(0.0);
                part.log_prob.clear();
                part.log_prob.resize(states.chains(), 0.0);
                let Part { work, gradient, value, log_prob } = part;
                model.network().add_parameter_gradient(states, work, log_prob, gradient)?;
                *value = log_prob.iter().sum();
                model.add_base(states, log_prob);
                Ok::<(), ModelError>(())
            })
            .collect();
        done?;
        let parts = &self.parts;
        let batch = (data.len() / sites) as f64;
        let mean_value = parts.iter().map(|part| part.value).sum::<f64>() / (2.0 * batch);
        let held = HOLD * mean_value / 2.0;
        let (data_share, chain_share) = ((held - 1.0) / batch, (held + 1.0) / batch);
        let share = |part| if part < half { data_share as f32 } else { chain_share as f32 };
        let terms: Vec<(f32, &[f32])> =
            parts.iter().enumerate().map(|(at, part)| (share(at), &part.gradient[..])).collect();
        gradient.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, sums)| {
            vectorised(
                #[inline(always)]
                || {
                    sums.fill(0.0);
                    for (share, terms) in &terms {
                        let terms = &terms[chunk * CHUNK..][..sums.len()];
                        sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += share * term);
                    }
                },
            );
        });
        let (data, chains) = self.parts.split_at(half);
        Ok(Means { data: mean(data), chains: mean(chains) })
    }
}

impl<N: Network + 'static> Learnable for DeepModel<N> {
    type Work = DeepWork<N>;

    fn new_work(&self, batch: usize) -> DeepWork<N> {
        DeepWork::new(self, batch)
    }

    fn parameters(&self) -> Vec<f32> {
        DeepModel::parameters(self).numbers().to_vec()
    }

    fn set_parameters(&mut self, parameters: &[f32]) -> Result<(), ModelError> {
        self.change_parameters(|numbers| numbers.copy_from_slice(parameters));
        Ok(())
    }

    fn add_gradient(
        &self,
        state: &[u8],
        share: f32,
        gradient: &mut [f32],
    ) -> Result<(), ModelError> {
        let (network, mut own) = (self.network(), vec![0.0; gradient.len()]);
        let states = States::new(state, state.len());
        let work = &mut network.new_workspace(1);
        network.add_parameter_gradient(states, work, &mut [0.0], &mut own)?;
        gradient.iter_mut().zip(own).for_each(|(sum, term)| *sum += share * term);
        Ok(())
    }

    fn loss_gradient(
        &self,
        data: States<'_>,
        chains: States<'_>,
        work: &mut DeepWork<N>,
        gradient: &mut [f32],
    ) -> Result<Means, ModelError> {
        work.fill(self, data.bytes(), chains.bytes(), gradient)
    }
}

fn mean<N: Network>(parts: &[Part<N>]) -> f64 {
    let all = parts.iter().flat_map(|part| &part.log_prob);
    all.clone().sum::<f64>() / all.count() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::architecture::Architecture;
    use crate::cpu::Cpu;
    use crate::derivative::derivative;
    use crate::frequencies::Frequencies;
    use crate::parameters::Parameters;
    use crate::reference::{codes, value};

    #[test]
    fn the_gradient_is_that_of_the_loss_with_the_mean_held() {
        let architecture = Architecture::new(2, 3, 2, 3).unwrap().with_blocks(0).unwrap();
        let parameters = Parameters::random(architecture, 2);
        let base = Frequencies::new(architecture.space(), vec![0.3; 6]).unwrap();
        let data = [[0u8, 1, 1, 0, 0, 1], [1, 1, 1, 0, 1, 1], [0, 0, 1, 0, 1, 0]];
        let chains = [[1u8, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1], [1, 0, 1, 0, 1, 1]];
        let mut numbers: Vec<f64> =
            parameters.numbers().iter().map(|number| f64::from(*number)).collect();
        // A constant, so that there is something to hold.
        let bias = architecture.layout().last.bias.start;
        numbers[bias] = 4.0;
        let mut model: DeepModel<Cpu> = DeepModel::new(parameters, base).unwrap();
        model.change_parameters(|numbers| numbers[bias] = 4.0);
        let mut found = vec![0.0; numbers.len()];
        let (data_states, chain_states) = (data.concat(), chains.concat());
        let states = |bytes| States::new(bytes, 6);
        let mut work = model.new_work(3);
        model
            .loss_gradient(states(&data_states), states(&chain_states), &mut work, &mut found)
            .unwrap();
        let loss = |numbers: &[f64]| {
            let mean = |states: &[[u8; 6]]| {
                let values = states
                    .iter()
                    .map(|state| value(&architecture, numbers, &codes(&architecture, state)));
                values.sum::<f64>() / 3.0
            };
            let (data, chains) = (mean(&data), mean(&chains));
            chains - data + 0.05 * ((chains + data) / 2.0).powi(2)
        };
        let expected: Vec<f64> =
            (0..numbers.len()).map(|index| derivative(&mut numbers, index, loss)).collect();
        let largest = expected.iter().fold(0.0f64, |most, number| most.max(number.abs()));
        for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let error = (f64::from(*found) - expected).abs();
            assert!(error < 1e-5 * largest, "{index}: {found}, expected {expected}");
        }
        // The constant alone is held back; all that the rest of the loss says of it is nothing.
        assert!(expected[bias] > 0.1, "{}", expected[bias]);
    }
}
