//! The gradient of the training loss, shared out among threads in parts that do not depend on their
//! number.
//!
//! The loss is the mean of log π over the chains minus its mean over the data.

use super::settings::TrainError;
use crate::descent::CHUNK;
use crate::model::DeepModel;
use crate::network::Network;
use rayon::prelude::*;
use saltus::math::vectorised;
use saltus::{Model, States};

/// Parts that each of data and chains are cut into: each holds a gradient of its own.
const PARTS: usize = 8;

/// Memory for gradients of a batch.
pub(super) struct Learner<N: Network> {
    /// States per part.
    size: usize,
    /// Parts of the data, then of the chains.
    parts: Vec<Part<N>>,
    pub(super) gradient: Vec<f32>,
}

struct Part<N: Network> {
    work: N::Workspace,
    gradient: Vec<f32>,
    log_prob: Vec<f64>,
}

/// Mean of log π over the states of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Means {
    pub(super) data: f64,
    pub(super) chains: f64,
}

impl<N: Network> Learner<N> {
    pub(super) fn new(model: &DeepModel<N>, batch: usize) -> Self {
        let network = model.network();
        let size = batch.div_ceil(PARTS).max(network.block_size(batch)).min(batch);
        let parameters = model.parameters().numbers().len();
        let part = || Part {
            work: network.new_workspace(size),
            gradient: vec![0.0; parameters],
            log_prob: Vec::new(),
        };
        Self {
            size,
            parts: (0..2 * batch.div_ceil(size)).map(|_| part()).collect(),
            gradient: vec![0.0; parameters],
        }
    }

    /// Computes the gradient. Parts are added up in their order.
    pub(super) fn fill(
        &mut self,
        model: &DeepModel<N>,
        data: &[u8],
        chains: &[u8],
    ) -> Result<Means, TrainError> {
        let sites = model.space().sites();
        let (size, parts) = (self.size, self.parts.len() / 2);
        let share = |states: &[u8]| 1.0 / (states.len() / sites) as f32;
        let (data_share, chain_share) = (-share(data), share(chains));
        let pieces = data.par_chunks(size * sites).chain(chains.par_chunks(size * sites));
        let done: Result<Vec<()>, _> = self
            .parts
            .par_iter_mut()
            .zip_eq(pieces)
            .enumerate()
            .map(|(number, (part, states))| {
                let states = States::new(states, sites);
                let factor = if number < parts { data_share } else { chain_share };
                part.gradient.fill(0.0);
                part.log_prob.clear();
                part.log_prob.resize(states.chains(), 0.0);
                let Part { work, gradient, log_prob } = part;
                model.network().add_parameter_gradient(states, factor, work, log_prob, gradient)?;
                model.base().add_log_prob(states, log_prob);
                Ok::<(), saltus::ModelError>(())
            })
            .collect();
        done?;
        let Self { parts, gradient, .. } = self;
        let terms: Vec<&[f32]> = parts.iter().map(|part| &part.gradient[..]).collect();
        gradient.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, sums)| {
            vectorised(
                #[inline(always)]
                || {
                    sums.fill(0.0);
                    for terms in &terms {
                        let terms = &terms[chunk * CHUNK..][..sums.len()];
                        sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
                    }
                },
            );
        });
        let (data, chains) = self.parts.split_at(self.parts.len() / 2);
        Ok(Means { data: mean(data), chains: mean(chains) })
    }
}

fn mean<N: Network>(parts: &[Part<N>]) -> f64 {
    let all = parts.iter().flat_map(|part| &part.log_prob);
    all.clone().sum::<f64>() / all.count() as f64
}
