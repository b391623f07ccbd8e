//! Metropolis–Hastings for informed proposals: draw a move, evaluate where it leads, score the way
//! back.

use super::{
    Kernel, Position, StepError, StepFailure, StepReport, accept, check_log_prob, check_start,
};
use crate::math::vectorised;
use crate::model::{Differences, Model};
use crate::rng::ChainRng;
use crate::space::{Space, States};

/// Draws moves from differences and scores them both ways; says nothing of acceptance.
pub trait Proposal: Send + Sync {
    /// What a proposal keeps of one state: its rows or weights, made from the differences there.
    type Table: Send;
    /// How a move went, beyond where it led; what the way back has to retrace.
    type Path: Send + Default;

    /// An empty table.
    fn new_table(&self, space: &Space) -> Self::Table;

    /// Which differences it wants.
    fn differences(&self) -> Differences;

    /// Makes the table of `from` from the differences there, and returns the logarithm of the
    /// probability of moving `from` → `to` along a path in reverse; NaN if a difference is not a
    /// number.
    ///
    /// One method, because what makes a table has just read what the score needs.
    fn prepare(
        &self,
        scale: f64,
        from: &[u8],
        diff: &[f32],
        table: &mut Self::Table,
        to: &[u8],
        path: &Self::Path,
    ) -> f64;

    /// Draws a move from a state; returns the logarithm of its probability.
    fn draw(
        &self,
        scale: f64,
        state: &[u8],
        table: &mut Self::Table,
        rng: &mut ChainRng,
        proposed: &mut [u8],
        path: &mut Self::Path,
    ) -> f64;
}

/// The Metropolis–Hastings kernel of a proposal.
///
/// The table of the current state is kept, so a step costs one evaluation of the model: at the
/// proposed state.
#[derive(Clone, Debug)]
pub struct Metropolis<P>(pub P);

/// What [`Metropolis`] keeps of a block of chains.
pub struct MetropolisMemory<M: Model, P: Proposal> {
    cache: M::Cache,
    tables: Vec<P::Table>,
    proposed_tables: Vec<P::Table>,
    proposed: Vec<u8>,
    log_prob: Vec<f64>,
    diff: Vec<f32>,
    log_forward: Vec<f64>,
    paths: Vec<P::Path>,
}

impl<M: Model, P: Proposal> Kernel<M> for Metropolis<P> {
    type Memory = MetropolisMemory<M, P>;

    fn new_memory(&self, model: &M, chains: usize) -> Self::Memory {
        let space = model.space();
        let tables = || (0..chains).map(|_| self.0.new_table(space)).collect();
        MetropolisMemory {
            cache: model.new_cache(chains),
            tables: tables(),
            proposed_tables: tables(),
            proposed: vec![0; chains * space.sites()],
            log_prob: vec![0.0; chains],
            diff: vec![0.0; chains * space.diff_len()],
            log_forward: vec![0.0; chains],
            paths: (0..chains).map(|_| P::Path::default()).collect(),
        }
    }

    fn start(
        &self,
        scale: f64,
        model: &M,
        position: &mut Position,
        memory: &mut Self::Memory,
    ) -> Result<(), StepError> {
        let states = States::new(&position.states, position.sites);
        model
            .log_prob_and_diff(
                self.0.differences(),
                states,
                &mut memory.cache,
                &mut position.log_prob,
                &mut memory.diff,
            )
            .map_err(StepError::at(0))?;
        let diffs = memory.diff.chunks_exact(model.space().diff_len());
        for (chain, (diff, table)) in diffs.zip(&mut memory.tables).enumerate() {
            check_start(chain, position.log_prob[chain])?;
            let state = states.row(chain);
            if self.0.prepare(scale, state, diff, table, state, &P::Path::default()).is_nan() {
                return Err(StepError { chain, cause: StepFailure::Difference });
            }
        }
        Ok(())
    }

    fn step(
        &self,
        scale: f64,
        model: &M,
        position: &mut Position,
        memory: &mut Self::Memory,
        rngs: &mut [ChainRng],
        reports: &mut [StepReport],
    ) -> Result<(), StepError> {
        let sites = position.sites;
        for (chain, proposed) in memory.proposed.chunks_exact_mut(sites).enumerate() {
            memory.log_forward[chain] = self.0.draw(
                scale,
                position.state(chain),
                &mut memory.tables[chain],
                &mut rngs[chain],
                proposed,
                &mut memory.paths[chain],
            );
        }
        model
            .log_prob_and_diff(
                self.0.differences(),
                States::new(&memory.proposed, sites),
                &mut memory.cache,
                &mut memory.log_prob,
                &mut memory.diff,
            )
            .map_err(StepError::at(0))?;
        let diffs = memory.diff.chunks_exact(model.space().diff_len());
        let rows = memory.proposed.chunks_exact(sites).zip(diffs);
        for (chain, ((proposed, diff), report)) in rows.zip(reports).enumerate() {
            let log_prob = check_log_prob(chain, memory.log_prob[chain])?;
            *report = StepReport { acceptance: 0.0, changed: 0, evaluations: 1 };
            if log_prob == f64::NEG_INFINITY {
                continue;
            }
            let table = &mut memory.proposed_tables[chain];
            let state = &mut position.states[chain * sites..(chain + 1) * sites];
            let log_reverse =
                self.0.prepare(scale, proposed, diff, table, state, &memory.paths[chain]);
            let log_ratio =
                log_prob - position.log_prob[chain] + (log_reverse - memory.log_forward[chain]);
            let (acceptance, accepted) = accept(chain, log_ratio, &mut rngs[chain])?;
            report.acceptance = acceptance;
            if accepted {
                report.changed = count_changed(state, proposed);
                state.copy_from_slice(proposed);
                position.log_prob[chain] = log_prob;
                std::mem::swap(&mut memory.tables[chain], table);
            }
        }
        Ok(())
    }
}

/// Number of sites at which two states differ.
pub(crate) fn count_changed(a: &[u8], b: &[u8]) -> u32 {
    vectorised(
        #[inline(always)]
        || a.iter().zip(b).map(|(a, b)| u32::from(a != b)).sum(),
    )
}
