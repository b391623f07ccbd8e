//! How likely a model finds examples, up to its normaliser.

use super::streams;
use crate::data::Examples;
use crate::model::{Model, ModelError};
use crate::rng::ChainRng;
use crate::space::States;
use rayon::prelude::*;

/// Examples evaluated together.
const BLOCK: usize = 64;

/// The states of the first `count` examples, one after the other; examples that are drawn whenever
/// they are looked at are drawn once, with that seed.
pub fn draw_examples(examples: &Examples, count: usize, seed: u64) -> Vec<u8> {
    let sites = examples.space().sites();
    let count = count.min(examples.count());
    let mut states = vec![0; count * sites];
    for (index, state) in states.chunks_exact_mut(sites).enumerate() {
        examples.fill(index, &mut ChainRng::new(seed, streams::draw(index)), state);
    }
    states
}

/// The mean of log π over states of a model's space, one after the other. Less log Z, it is the mean
/// log-likelihood.
///
/// ```
/// use saltus::ais::mean_log_prob;
/// use saltus::model::independent::Independent;
/// let coin = Independent::bernoulli(vec![2.0])?;
/// assert!((mean_log_prob(&coin, &[0, 1, 1, 1], None)? - 1.5).abs() < 1e-12);
/// # Ok::<(), saltus::ModelError>(())
/// ```
pub fn mean_log_prob<M: Model>(
    model: &M,
    states: &[u8],
    threads: Option<usize>,
) -> Result<f64, ModelError> {
    let sites = model.space().sites();
    let pool = crate::threads::pool(threads).map_err(|reason| {
        ModelError::Evaluation(format!("threads could not be started: {reason}"))
    })?;
    let blocks: Result<Vec<Vec<f64>>, ModelError> = pool.install(|| {
        let blocks = states.par_chunks(BLOCK * sites);
        blocks
            .map(|block| {
                let mut log_prob = vec![0.0; block.len() / sites];
                let mut cache = model.new_cache(log_prob.len());
                model.log_prob(States::new(block, sites), &mut cache, &mut log_prob)?;
                Ok(log_prob)
            })
            .collect()
    });
    let log_probs = blocks?.concat();
    Ok(log_probs.iter().sum::<f64>() / log_probs.len() as f64)
}
