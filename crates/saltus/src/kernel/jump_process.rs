//! The jump process itself, without rejection: every step is a jump, and a state counts by the time
//! the process would stay in it.
//!
//! From x the process jumps to a neighbour y (one site changed) at rate g(π(y)/π(x)), and so stays for
//! an expected time 1/Z(x), Z the sum of all rates. The states it jumps through have probabilities
//! in proportion to π·Z; weighted by 1/Z they are draws from π.

use super::closeness::Closeness;
use super::local_change::{LocalChange, LocalChangeMemory};
use super::path_table::{Change, PathTable};
use super::{Kernel, Position, StepError, StepFailure, StepReport, check_log_prob, check_start};
use crate::model::{Differences, Model};
use crate::rng::ChainRng;
use crate::space::States;
use crate::weight::Weight;

/// On models whose sites see few others: after a jump only the rates around it are computed anew.
#[derive(Clone, Copy, Debug)]
pub struct LocalJumps {
    /// The weight function g.
    pub weight: Weight,
    /// How close values are to each other.
    pub closeness: Closeness,
}

impl LocalJumps {
    fn local(self) -> LocalChange {
        LocalChange { weight: self.weight, closeness: self.closeness }
    }
}

impl<M: Model> Kernel<M> for LocalJumps {
    type Memory = LocalChangeMemory<M>;

    fn new_memory(&self, model: &M, chains: usize) -> Self::Memory {
        self.local().new_memory(model, chains)
    }

    fn start(
        &self,
        scale: f64,
        model: &M,
        position: &mut Position,
        memory: &mut Self::Memory,
    ) -> Result<(), StepError> {
        self.local().start(scale, model, position, memory)
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
            let state = position.state_mut(chain);
            let drawn = memory.draw(model, state, chain, rng);
            let change = memory.change(model, self.weight, state, chain, drawn);
            let change = check_log_prob(chain, change.map_err(StepError::at(chain))?)?;
            position.log_prob[chain] += change;
            *report = StepReport { acceptance: 1.0, changed: 1, evaluations: 1 };
        }
        Ok(())
    }

    fn holding_time(&self, memory: &Self::Memory, chain: usize) -> Option<f64> {
        Some(1.0 / memory.total(chain))
    }
}

/// On any model: all rates are computed anew after every jump.
#[derive(Clone, Copy, Debug)]
pub struct Jumps {
    /// The weight function g.
    pub weight: Weight,
    /// How close values are to each other.
    pub closeness: Closeness,
}

/// What [`Jumps`] keeps of a block of chains.
pub struct JumpsMemory<M: Model> {
    cache: M::Cache,
    tables: Vec<PathTable>,
    diff: Vec<f32>,
    path: Vec<Change>,
}

impl Jumps {
    /// Evaluates where the chains stand, and all rates from there.
    fn evaluate<M: Model>(
        self,
        model: &M,
        position: &mut Position,
        memory: &mut JumpsMemory<M>,
    ) -> Result<(), StepError> {
        let JumpsMemory { cache, tables, diff, .. } = memory;
        let states = States::new(&position.states, position.sites);
        model
            // The rates must be the true ones: there is no test that would repair others.
            .log_prob_and_diff(Differences::Exact, states, cache, &mut position.log_prob, diff)
            .map_err(StepError::at(0))?;
        let diffs = diff.chunks_exact(model.space().diff_len());
        for (chain, (diff, table)) in diffs.zip(tables).enumerate() {
            if diff.iter().any(|diff| diff.is_nan()) {
                return Err(StepError { chain, cause: StepFailure::Difference });
            }
            table.fill(self.weight, states.row(chain), diff);
            table.close_forbidden(diff);
        }
        Ok(())
    }
}

impl<M: Model> Kernel<M> for Jumps {
    type Memory = JumpsMemory<M>;

    fn new_memory(&self, model: &M, chains: usize) -> Self::Memory {
        let space = model.space();
        JumpsMemory {
            cache: model.new_cache(chains),
            tables: (0..chains).map(|_| PathTable::new(space, self.closeness)).collect(),
            diff: vec![0.0; chains * space.diff_len()],
            path: Vec::new(),
        }
    }

    fn start(
        &self,
        _scale: f64,
        model: &M,
        position: &mut Position,
        memory: &mut Self::Memory,
    ) -> Result<(), StepError> {
        self.evaluate(model, position, memory)?;
        for (chain, log_prob) in position.log_prob.iter().enumerate() {
            check_start(chain, *log_prob)?;
        }
        Ok(())
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
        for (chain, rng) in rngs.iter_mut().enumerate() {
            let JumpsMemory { tables, path, .. } = &mut *memory;
            let state = position.state_mut(chain);
            tables[chain].draw(1, state, rng, path);
            for (site, value) in path.iter() {
                state[*site as usize] = *value;
            }
        }
        self.evaluate(model, position, memory)?;
        for (chain, report) in reports.iter_mut().enumerate() {
            check_log_prob(chain, position.log_prob[chain])?;
            *report = StepReport { acceptance: 1.0, changed: 1, evaluations: 1 };
        }
        Ok(())
    }

    fn holding_time(&self, memory: &Self::Memory, chain: usize) -> Option<f64> {
        Some(1.0 / memory.tables[chain].total())
    }
}
