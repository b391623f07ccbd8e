//! Transitions: what takes a block of chains from one state to the next.
//!
//! Every sampler has a file of its own that opens with its formula and its references, declares its
//! [`KernelTraits`] and builds its kernel. What several samplers share stands beside: [`metropolis`]
//! (propose, evaluate, accept), [`conditional`] (redraw sites given all others), [`local_change`]
//! (follow the neighbourhood of one change), [`rows`] and [`path`] (proposals).

pub mod block_gibbs;
mod chains;
pub mod cluster;
pub mod conditional;
pub mod dlmc;
pub mod dlmcf;
pub mod dmala;
#[cfg(test)]
mod exactness;
pub mod gibbs;
pub mod gwg;
pub mod hamming_ball;
mod journal;
pub mod jump_process;
pub mod layers;
pub mod lb1;
pub mod local_change;
pub mod metropolis;
pub mod options;
pub mod pas;
pub mod path;
pub mod path_table;
mod race;
pub mod random_walk;
pub mod row;
pub mod rows;
pub mod solver;
mod sum_tree;
pub mod swendsen_wang;
pub mod terms;
pub mod traits;
pub mod wolff;

pub use chains::{ChainMut, Chains, StepReport};
pub use journal::{Journal, SiteChange};
pub use traits::{KernelTraits, Kind, ScaleTraits, ScaleUnit};

use crate::error::{ModelError, StepError, StepFailure};
use crate::model::Model;
use crate::rng::ChainRng;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// One transition of every chain of a block, leaving the density of each as it is.
///
/// A kernel holds its parameters and no state. What it knows of the current states and can compute
/// again lives in its scratch, so that nothing is computed twice; what it cannot compute again it
/// carries on in the chains ([`Own`](Kernel::Own)), from where checkpoints keep it.
///
/// Chains may stand at different inverse temperatures and have different scales. A kernel reads both
/// from the chain, and may find them changed after [`adjust`](Kernel::adjust).
pub trait Kernel<M: Model>: Send + Sync {
    /// What can be computed anew from the chains.
    type Scratch: Send;
    /// What cannot.
    type Own: Clone + Default + Send + Serialize + DeserializeOwned;

    /// What it says of itself.
    fn traits(&self, model: &M) -> KernelTraits;

    /// Fails with a sentence if it is not for that model. Where sums are fixed no site can change alone,
    /// so that a kernel has to know of them.
    fn suits(&self, model: &M) -> Result<(), ModelError> {
        match model.sums() {
            [] => Ok(()),
            _ => Err(ModelError::invalid(format!(
                "{} changes sites that cannot change alone, because their sum is fixed: gibbs, bg and hb change \
                 two at once",
                self.traits(model).name
            ))),
        }
    }

    /// Fails with a sentence if it cannot go along the path of temperatures from independent sites to
    /// that model, which it suits.
    fn suits_path(&self, model: &M) -> Result<(), ModelError> {
        match model.sums() {
            [] => Ok(()),
            _ => Err(ModelError::invalid(
                "temperatures begin at independent sites, of which next to none have the fixed sums: sample \
                 without a ladder, or minimize",
            )),
        }
    }

    /// Nanoseconds that a step of a chain is counted as where samplers are compared without a clock: an
    /// evaluation and one for every difference, unless it knows better.
    fn work(&self, model: &M) -> f64 {
        model.work().evaluation + model.space().diff_len() as f64
    }

    /// Whether it is likely to be the best for that model, of those that suit it: what a run too short to try any goes by.
    fn is_likely(&self, model: &M) -> bool {
        let _ = model;
        false
    }

    /// How many of `chains` chains should stand in a block: what the model likes, unless the kernel
    /// knows better.
    fn block_size(&self, model: &M, chains: usize) -> usize {
        model.block_size(chains)
    }

    /// Steps that try about as many sites as there are; one, unless a step costs no more than a few sites
    /// do. So often is a draw kept if nobody says otherwise, and in proportion chains are evaluated afresh.
    fn steps_per_sweep(&self, model: &M) -> usize {
        let _ = model;
        1
    }

    /// Scratch for a block of that many chains.
    fn new_scratch(&self, model: &M, chains: usize) -> Self::Scratch;

    /// Evaluates the current states afresh.
    fn start(
        &self,
        model: &M,
        chains: &mut Chains<Self::Own>,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError>;

    /// Gets ready for other temperatures or scales of chains whose states are the same. Costs an
    /// evaluation unless the kernel knows better.
    fn adjust(
        &self,
        model: &M,
        chains: &mut Chains<Self::Own>,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        self.start(model, chains, scratch)
    }

    /// Makes one transition of every chain and reports what it did.
    fn step(
        &self,
        model: &M,
        chains: &mut Chains<Self::Own>,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError>;

    /// By what the current state of a chain counts as a draw; none if all count the same.
    fn holding_time(&self, scratch: &Self::Scratch, chain: usize) -> Option<f64> {
        let _ = (scratch, chain);
        None
    }

    /// log f(to) − log f(from) at the current state of a chain, where f(β) is the density that the
    /// kernel samples at β; on the path of geometric means unless it has a path of its own.
    fn log_gain(
        &self,
        model: &M,
        chains: &Chains<Self::Own>,
        scratch: &mut Self::Scratch,
        chain: usize,
        (from, to): (f64, f64),
    ) -> f64 {
        let _ = (model, scratch);
        (to - from) * (chains.log_prob[chain] - chains.log_base[chain])
    }
}

/// The Metropolis–Hastings test: accepts with probability min(1, e^log_ratio); returns that
/// probability and the decision. A ratio that is not a number is an error, never a move.
pub fn accept(chain: usize, log_ratio: f64, rng: &mut ChainRng) -> Result<(f64, bool), StepError> {
    if log_ratio.is_nan() {
        return Err(StepError { chain, cause: StepFailure::Difference });
    }
    let probability = log_ratio.exp().min(1.0);
    Ok((probability, rng.flip(probability)))
}

/// Checks log π at a state a chain would stand on: −∞ is a forbidden state, NaN and +∞ an error.
pub fn check_log_prob(chain: usize, log_prob: f64) -> Result<f64, StepError> {
    if log_prob.is_nan() || log_prob == f64::INFINITY {
        return Err(StepError { chain, cause: StepFailure::LogProb(log_prob) });
    }
    Ok(log_prob)
}

/// Checks log π where a chain stands already.
pub fn check_start(chain: usize, log_prob: f64) -> Result<f64, StepError> {
    if log_prob == f64::NEG_INFINITY {
        return Err(StepError { chain, cause: StepFailure::ForbiddenStart });
    }
    check_log_prob(chain, log_prob)
}

/// Steps that try all sites of a model once, for a kernel that tries so many per step; one where following a
/// single site is no cheap thing.
pub(crate) fn local_steps_per_sweep<M: Model>(model: &M, tried: usize) -> usize {
    let is_local = model.is_incremental() && model.adjacency().is_some();
    if is_local { model.space().free_sites().div_ceil(tried).max(1) } else { 1 }
}

/// Starts following every chain of a block site by site.
pub(crate) fn follow_all<M: Model, Own>(
    model: &M,
    chains: &mut Chains<Own>,
    cache: &mut M::Cache,
) -> Result<(), StepError> {
    for chain in 0..chains.len() {
        let followed = model.follow(chains.state(chain), chain, cache);
        let log_prob = followed.map_err(StepError::at(chain))?;
        chains.log_prob[chain] = check_start(chain, log_prob)?;
    }
    chains.evaluate_base();
    Ok(())
}
