//! Transitions: what takes a block of chains from one state to the next.

pub mod block_gibbs;
pub mod closeness;
pub mod conditional;
pub mod exact_row;
#[cfg(test)]
mod exactness;
pub mod gibbs;
pub mod hamming_ball;
pub mod jump_process;
pub mod local_change;
pub mod metropolis;
pub mod path;
pub mod path_table;
mod race;
pub mod random_walk;
pub mod row;
pub mod row_table;
mod sum_tree;
pub mod transition;
pub mod walk;

use crate::model::{Model, ModelError};
use crate::rng::ChainRng;
use crate::space::States;

/// Where a block of chains is: their states and log π of each.
#[derive(Clone, Debug)]
pub struct Position {
    sites: usize,
    /// One row of `sites` bytes per chain.
    pub states: Vec<u8>,
    /// log π of each chain's state.
    pub log_prob: Vec<f64>,
}

impl Position {
    /// Chains at these states; their log π is filled in when a kernel starts.
    pub fn new(states: Vec<u8>, sites: usize) -> Self {
        let chains = states.len() / sites;
        Self { sites, states, log_prob: vec![f64::NAN; chains] }
    }

    /// Number of chains.
    pub fn chains(&self) -> usize {
        self.log_prob.len()
    }

    /// The state of one chain.
    pub fn state(&self, chain: usize) -> &[u8] {
        &self.states[chain * self.sites..(chain + 1) * self.sites]
    }

    /// The state of one chain, to change.
    pub fn state_mut(&mut self, chain: usize) -> &mut [u8] {
        &mut self.states[chain * self.sites..(chain + 1) * self.sites]
    }

    /// All states.
    pub fn states(&self) -> States<'_> {
        States::new(&self.states, self.sites)
    }
}

/// What one transition of one chain did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Probability with which the proposal was accepted; one for samplers that never reject.
    pub acceptance: f64,
    /// Number of sites that hold another value than before.
    pub changed: u32,
    /// Evaluations made: of value and differences together, or of the value at one state.
    pub evaluations: u32,
}

/// Why a transition could not be made, with the chain's number within its block.
#[derive(Clone, Debug, PartialEq)]
pub struct StepError {
    /// The chain within the block.
    pub chain: usize,
    /// What went wrong there.
    pub cause: StepFailure,
}

/// What can go wrong in a transition.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepFailure {
    /// log π was NaN or +∞.
    #[error("log π is {0}")]
    LogProb(f64),
    /// A difference was NaN, so the proposal has no probability.
    #[error("a difference of log π is not a number")]
    Difference,
    /// A chain was started where π is zero.
    #[error("the starting state has probability zero")]
    ForbiddenStart,
    /// The model reported a failure of its own.
    #[error(transparent)]
    Model(ModelError),
}

impl StepError {
    /// A model's own failure at a chain; one that evaluates a block at once is not asked which of
    /// its chains it was, and the first stands for all.
    pub(crate) fn at(chain: usize) -> impl Fn(ModelError) -> Self {
        move |error| Self { chain, cause: StepFailure::Model(error) }
    }
}

/// The Metropolis–Hastings test: accepts with probability min(1, e^log_ratio); returns that
/// probability and the decision. A ratio that is not a number is an error, never a move.
pub(crate) fn accept(
    chain: usize,
    log_ratio: f64,
    rng: &mut ChainRng,
) -> Result<(f64, bool), StepError> {
    if log_ratio.is_nan() {
        return Err(StepError { chain, cause: StepFailure::Difference });
    }
    let probability = log_ratio.exp().min(1.0);
    Ok((probability, rng.flip(probability)))
}

/// One transition of every chain of a block, leaving π as it is.
///
/// A kernel holds its parameters and no state; what it knows of the current states lives in its
/// memory, so that nothing is computed twice.
pub trait Kernel<M: Model>: Send + Sync {
    /// What is kept of the current states, and scratch space.
    type Memory: Send;

    /// Memory for a block of that many chains.
    fn new_memory(&self, model: &M, chains: usize) -> Self::Memory;

    /// Evaluates the current states afresh, for transitions of the given scale.
    fn start(
        &self,
        scale: f64,
        model: &M,
        position: &mut Position,
        memory: &mut Self::Memory,
    ) -> Result<(), StepError>;

    /// Makes one transition of every chain. The scale is that of the last `start`.
    fn step(
        &self,
        scale: f64,
        model: &M,
        position: &mut Position,
        memory: &mut Self::Memory,
        rngs: &mut [ChainRng],
        reports: &mut [StepReport],
    ) -> Result<(), StepError>;

    /// By what the current state of a chain counts as a draw; none if all count the same.
    fn holding_time(&self, memory: &Self::Memory, chain: usize) -> Option<f64> {
        let _ = (memory, chain);
        None
    }
}

/// Checks log π at a state a chain would stand on: −∞ is a forbidden state, NaN and +∞ an error.
pub(crate) fn check_log_prob(chain: usize, log_prob: f64) -> Result<f64, StepError> {
    if log_prob.is_nan() || log_prob == f64::INFINITY {
        return Err(StepError { chain, cause: StepFailure::LogProb(log_prob) });
    }
    Ok(log_prob)
}

/// Checks log π where a chain stands already.
pub(crate) fn check_start(chain: usize, log_prob: f64) -> Result<f64, StepError> {
    if log_prob == f64::NEG_INFINITY {
        return Err(StepError { chain, cause: StepFailure::ForbiddenStart });
    }
    check_log_prob(chain, log_prob)
}

/// Starts following every chain of a block site by site.
pub(crate) fn follow_all<M: Model>(
    model: &M,
    position: &mut Position,
    cache: &mut M::Cache,
) -> Result<(), StepError> {
    for chain in 0..position.chains() {
        let followed = model.follow(position.state(chain), chain, cache);
        let log_prob = followed.map_err(StepError::at(chain))?;
        position.log_prob[chain] = check_start(chain, log_prob)?;
    }
    Ok(())
}
