//! The numbers that people watch while a model is trained.

use crate::clock::Spent;

/// How an iteration went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// The iteration, counted from 1.
    pub iteration: usize,
    /// Mean of log π, up to a constant, over the examples of its batch.
    pub data_log_prob: f64,
    /// The same over its chains.
    pub chain_log_prob: f64,
    /// Mean acceptance of the steps of its chains.
    pub acceptance: f64,
    /// Sites that a step changed, on average.
    pub changed: f64,
    /// Scale of the sampler, if it has one.
    pub scale: Option<f64>,
    /// Steps of every chain.
    pub steps: usize,
    /// Learning rate.
    pub learning_rate: f64,
    /// What it cost.
    pub spent: Spent,
}

impl Report {
    /// Mean energy (−log π) of the data minus that of the chains: near zero if the model finds both
    /// equally likely.
    pub fn energy_gap(&self) -> f64 {
        self.chain_log_prob - self.data_log_prob
    }
}
