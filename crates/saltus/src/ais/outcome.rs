//! What annealing tells on its way, and what it leaves.

use super::Estimate;
use crate::control::Ended;

/// Where annealing is, told to its monitor several times a second.
#[derive(Clone, Copy, Debug)]
pub struct AisProgress {
    /// Whether the scale of the sampler is still being found.
    pub tuning: bool,
    /// Temperatures that are done, and that there are.
    pub done: (usize, usize),
}

/// What annealing leaves.
#[derive(Clone, Debug)]
pub struct AisOutcome {
    /// log Z from chains that went from independent sites to the model: low on average. None if it
    /// was stopped.
    pub forward: Option<Estimate>,
    /// log Z from chains that went back: high on average, if they started at draws of the model.
    pub reverse: Option<Estimate>,
    /// Chains that went back for it.
    pub reverse_chains: usize,
    /// log w of the forward chains so far.
    pub log_weights: Vec<f64>,
    /// Mean acceptance over all moves.
    pub acceptance: f64,
    /// The scale at the model's own temperature, if the sampler has one.
    pub scale: Option<f64>,
    /// Threads that were used.
    pub threads: usize,
    /// Wall time, that of finding the scale included.
    pub seconds: f64,
    /// How it ended: complete, interrupted or at the time limit.
    pub ended: Ended,
    /// Whether the chains are kept as they are, in a checkpoint. They are not if it was stopped while
    /// the scale was still being found.
    pub kept: bool,
    /// Why they could not be kept at last, if everything is complete nevertheless.
    pub not_kept: Option<String>,
}
