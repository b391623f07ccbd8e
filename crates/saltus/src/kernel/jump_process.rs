//! The jump process itself (DLD; Power and Goldman 2019; Sun et al. 2023, eq. 10), without rejection: every
//! step is a jump, and a state counts by the time the process would stay in it.
//!
//! From x the process jumps to a neighbour y (one site changed) at rate g(π(y)/π(x)), and so stays for
//! an expected time 1/Z(x), Z the sum of all rates. The states it jumps through have probabilities
//! in proportion to π·Z; weighted by 1/Z they are draws from π.
//!
//! Jumps of spins alone would come by every other state only at odd steps, and draws of every second step would
//! never see them. So a step now and then is no jump (`rest_share`), whatever the state: the probabilities that
//! states are jumped through with stay as they are.

use super::local_change::{self, LocalChange, LocalChangeScratch};
use super::options::{Options, WithKernel};
use super::path::spare_share;
use super::path_table::{Change, PathTable};
use super::{
    Chains, Kernel, KernelTraits, Kind, StepReport, check_log_prob, check_start,
    local_steps_per_sweep,
};
use crate::balancing::Balancing;
use crate::closeness::Closeness;
use crate::error::{StepError, StepFailure};
use crate::model::{Differences, Model};
use crate::space::{Space, States};

/// What the jump process says of itself. It is charged as lb1 is, without the way back.
pub fn traits(space: &Space) -> KernelTraits {
    KernelTraits {
        name: "dld",
        summary: "the jump process itself: one change per step, never rejected, draws are weighted",
        reference: "Power and Goldman 2019, Accelerated sampling on discrete spaces with \
                    non-reversible Markov processes; Sun et al. 2023, AISTATS",
        kind: Kind::FewSites,
        is_balanced: true,
        has_solver: false,
        scale: None,
        evaluations_charged: space.changes() as f64 + 1.0,
        is_weighted: true,
        is_tried: false,
    }
}

pub(crate) fn with_kernel<'a, M: Model + 'a, W: WithKernel<'a, M>>(
    options: &Options,
    model: &M,
    then: W,
) -> W::Output {
    let Options { balancing, closeness, .. } = *options;
    if LocalChange::suits(model, Differences::Exact) {
        then.with(LocalJumps { balancing, closeness })
    } else {
        then.with(Jumps { balancing, closeness })
    }
}

/// The probability that a step is no jump: as if one more site had nothing to change, and never so small that a
/// chain which jumps to and fro between a state and its neighbours would for long be seen on one side only.
fn rest_share(space: &Space) -> f64 {
    spare_share(1, space.free_sites()).max(1.0 / 64.0)
}

/// What a step that is no jump did.
const REST: StepReport = StepReport { acceptance: 1.0, changed: 0, evaluations: 1 };
/// What a jump did.
const JUMP: StepReport = StepReport { acceptance: 1.0, changed: 1, evaluations: 1 };

/// On models whose sites see few others: after a jump only the rates around it are computed anew.
#[derive(Clone, Copy, Debug)]
pub struct LocalJumps {
    /// The balancing function g.
    pub balancing: Balancing,
    /// How close values are to each other.
    pub closeness: Closeness,
}

impl<M: Model> Kernel<M> for LocalJumps {
    type Scratch = LocalChangeScratch<M>;
    type Own = ();

    fn traits(&self, model: &M) -> KernelTraits {
        traits(model.space())
    }

    /// Chains are followed one by one, and their weights take much of the processor's cache.
    fn block_size(&self, _model: &M, _chains: usize) -> usize {
        1
    }

    fn steps_per_sweep(&self, model: &M) -> usize {
        local_steps_per_sweep(model, 1)
    }

    fn new_scratch(&self, model: &M, chains: usize) -> Self::Scratch {
        local_change::new_scratch(model, self.closeness, chains)
    }

    fn start(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        local_change::start(model, self.balancing, chains, scratch)
    }

    fn adjust(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        local_change::adjust(model, self.balancing, chains, scratch);
        Ok(())
    }

    fn step(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        let rest = rest_share(model.space());
        for number in 0..chains.len() {
            if scratch.total(number) <= 0.0 {
                return Err(StepError { chain: number, cause: StepFailure::Isolated });
            }
            let mut chain = chains.chain(number);
            if chain.rng.flip(rest) {
                *chain.report = REST;
                continue;
            }
            let (site, value) = scratch.draw(model, chain.state, number, chain.rng);
            let before = chain.state[site];
            let change = scratch.change(model, self.balancing, &mut chain, (site, value));
            let change = check_log_prob(number, change.map_err(StepError::at(number))?)?;
            *chain.log_prob += change;
            *chain.log_base += chain.rung.base.map_or(0.0, |base| base.change(site, before, value));
            *chain.report = JUMP;
            chain.journal.record(site, before, value);
        }
        Ok(())
    }

    fn holding_time(&self, scratch: &Self::Scratch, chain: usize) -> Option<f64> {
        Some(1.0 / scratch.total(chain))
    }
}

/// On any model: all rates are computed anew after every jump.
#[derive(Clone, Copy, Debug)]
pub struct Jumps {
    /// The balancing function g.
    pub balancing: Balancing,
    /// How close values are to each other.
    pub closeness: Closeness,
}

/// What [`Jumps`] keeps of a block of chains.
pub struct JumpsScratch<M: Model> {
    cache: M::Cache,
    tables: Vec<PathTable>,
    diff: Vec<f32>,
    of_base: Vec<f32>,
    path: Vec<Change>,
}

impl Jumps {
    /// Evaluates where the chains stand, checks log π there, and weighs all rates from there.
    fn evaluate<M: Model>(
        self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut JumpsScratch<M>,
        check: fn(usize, f64) -> Result<f64, StepError>,
    ) -> Result<(), StepError> {
        let JumpsScratch { cache, tables, diff, of_base, .. } = scratch;
        let states = States::new(&chains.states, chains.space().sites());
        model
            // The rates must be the true ones: there is no test that would repair others.
            .log_prob_and_diff(Differences::Exact, states, cache, &mut chains.log_prob, diff)
            .map_err(StepError::at(0))?;
        // First of all: differences of a forbidden state are not numbers.
        for (chain, log_prob) in chains.log_prob.iter().enumerate() {
            check(chain, *log_prob)?;
        }
        chains.evaluate_base();
        let diffs = diff.chunks_exact_mut(model.space().diff_len());
        for (chain, (diff, table)) in diffs.zip(tables).enumerate() {
            model.space().mask(diff);
            if diff.iter().any(|diff| diff.is_nan()) {
                return Err(StepError { chain, cause: StepFailure::Difference });
            }
            let (rung, state) = (chains.rung(chain), chains.state(chain));
            if let Some(base) = rung.base {
                of_base.resize(diff.len(), 0.0);
                base.diff(state, &mut Vec::new(), of_base);
                let (share, beta) = ((1.0 - rung.beta) as f32, rung.beta as f32);
                for (diff, of_base) in diff.iter_mut().zip(&*of_base) {
                    if *diff != f32::NEG_INFINITY {
                        *diff = share * of_base + beta * *diff;
                    }
                }
            }
            table.fill(self.balancing, state, diff);
            table.close_forbidden(diff);
        }
        Ok(())
    }
}

impl<M: Model> Kernel<M> for Jumps {
    type Scratch = JumpsScratch<M>;
    type Own = ();

    fn traits(&self, model: &M) -> KernelTraits {
        traits(model.space())
    }

    fn new_scratch(&self, model: &M, chains: usize) -> Self::Scratch {
        let space = model.space();
        JumpsScratch {
            cache: model.new_cache(chains),
            tables: (0..chains).map(|_| PathTable::new(space, self.closeness)).collect(),
            diff: vec![0.0; chains * space.diff_len()],
            of_base: Vec::new(),
            path: Vec::new(),
        }
    }

    fn start(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        self.evaluate(model, chains, scratch, check_start)
    }

    fn step(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        let rest = rest_share(model.space());
        for number in 0..chains.len() {
            let JumpsScratch { tables, path, .. } = &mut *scratch;
            if tables[number].total() <= 0.0 {
                return Err(StepError { chain: number, cause: StepFailure::Isolated });
            }
            let chain = chains.chain(number);
            if chain.rng.flip(rest) {
                *chain.report = REST;
                continue;
            }
            *chain.report = JUMP;
            tables[number].draw(1, chain.state, chain.rng, path);
            for (site, value) in path.iter() {
                chain.journal.record(*site as usize, chain.state[*site as usize], *value);
                chain.state[*site as usize] = *value;
            }
        }
        self.evaluate(model, chains, scratch, check_log_prob)
    }

    fn holding_time(&self, scratch: &Self::Scratch, chain: usize) -> Option<f64> {
        Some(1.0 / scratch.tables[chain].total())
    }
}
