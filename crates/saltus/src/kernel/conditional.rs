//! Samplers that redraw sites from their conditional distribution: every chain on its own, no
//! proposal, no acceptance test.

use super::{Kernel, Position, StepError, StepFailure, StepReport, follow_all};
use crate::model::Model;
use crate::rng::ChainRng;

/// Redraws some sites of one chain from their distribution given all others.
pub trait Redraw: Send + Sync {
    /// What it needs to work with.
    type Scratch: Send;

    /// Scratch space for a model.
    fn new_scratch<M: Model>(&self, model: &M) -> Self::Scratch;

    /// Makes one transition.
    fn redraw<M: Model>(
        &self,
        chain: &mut Followed<'_, M>,
        scratch: &mut Self::Scratch,
        rng: &mut ChainRng,
    ) -> Result<Redrawn, StepError>;
}

/// What a transition did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Redrawn {
    /// States that were evaluated.
    pub evaluations: usize,
    /// Sites that hold another value than before.
    pub changed: usize,
}

/// One chain, followed site by site through its model.
pub struct Followed<'a, M: Model> {
    /// The model.
    pub model: &'a M,
    /// The chain's state.
    pub state: &'a mut [u8],
    /// log π of that state.
    pub log_prob: f64,
    /// The model's memory of the block.
    pub cache: &'a mut M::Cache,
    /// The chain's number within its block.
    pub chain: usize,
}

impl<M: Model> Followed<'_, M> {
    /// log π with each value of one site.
    pub fn log_probs(&mut self, site: usize, log_probs: &mut [f64]) -> Result<(), StepError> {
        let Self { model, state, log_prob, cache, chain } = self;
        let failed = StepError::at(*chain);
        if *log_prob > f64::NEG_INFINITY {
            model.site_diff(state, *chain, cache, site, log_probs).map_err(failed)?;
            log_probs.iter_mut().for_each(|change| *change += *log_prob);
            return Ok(());
        }
        // No difference leads out of a forbidden state: evaluate each value on its own.
        let own = state[site];
        for (value, log_prob) in log_probs.iter_mut().enumerate() {
            state[site] = value as u8;
            *log_prob = model.follow(state, *chain, cache).map_err(&failed)?;
        }
        state[site] = own;
        model.follow(state, *chain, cache).map_err(failed)?;
        Ok(())
    }

    /// Gives a site a value, where log π is known.
    pub fn set(&mut self, site: usize, value: u8, log_prob: f64) {
        if self.state[site] != value {
            self.model.set_site(self.state, self.chain, self.cache, site, value);
        }
        self.log_prob = log_prob;
    }

    /// Draws an index with probability proportional to e^log; `weights` is scratch space.
    pub fn draw(
        &self,
        logs: &[f64],
        weights: &mut Vec<f64>,
        rng: &mut ChainRng,
    ) -> Result<usize, StepError> {
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        weights.clear();
        weights.extend(logs.iter().map(|log| (log - largest).exp()));
        let total: f64 = weights.iter().sum();
        if !total.is_finite() {
            return Err(StepError { chain: self.chain, cause: StepFailure::Difference });
        }
        Ok(rng.index(&*weights, total))
    }
}

/// The kernel that redraws every chain of a block in turn.
#[derive(Clone, Copy, Debug)]
pub struct Conditional<R>(pub R);

/// What [`Conditional`] keeps of a block of chains.
pub struct ConditionalMemory<M: Model, R: Redraw> {
    cache: M::Cache,
    scratch: R::Scratch,
}

impl<M: Model, R: Redraw> Kernel<M> for Conditional<R> {
    type Memory = ConditionalMemory<M, R>;

    fn new_memory(&self, model: &M, chains: usize) -> Self::Memory {
        ConditionalMemory { cache: model.new_cache(chains), scratch: self.0.new_scratch(model) }
    }

    fn start(
        &self,
        _scale: f64,
        model: &M,
        position: &mut Position,
        memory: &mut Self::Memory,
    ) -> Result<(), StepError> {
        follow_all(model, position, &mut memory.cache)
    }

    fn step(
        &self,
        _scale: f64,
        model: &M,
        position: &mut Position,
        memory: &mut Self::Memory,
        rngs: &mut [ChainRng],
        reports: &mut [StepReport],
    ) -> Result<(), StepError> {
        for (chain, (rng, report)) in rngs.iter_mut().zip(reports).enumerate() {
            let log_prob = position.log_prob[chain];
            let state = position.state_mut(chain);
            let cache = &mut memory.cache;
            let mut followed = Followed { model, state, log_prob, cache, chain };
            let redrawn = self.0.redraw(&mut followed, &mut memory.scratch, rng)?;
            let log_prob = followed.log_prob;
            position.log_prob[chain] = log_prob;
            *report = StepReport {
                acceptance: 1.0,
                changed: redrawn.changed as u32,
                evaluations: redrawn.evaluations as u32,
            };
        }
        Ok(())
    }
}
