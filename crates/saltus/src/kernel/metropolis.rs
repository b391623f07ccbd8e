//! Metropolis–Hastings for informed proposals: draw a move, evaluate where it leads, score the way
//! back.
//!
//! Metropolis et al. 1953; Hastings 1970.

use super::{
    Chains, Journal, Kernel, KernelTraits, Kind, StepReport, accept, check_log_prob, check_start,
};
use crate::error::{StepError, StepFailure};
use crate::math::bytes::count_differences;
use crate::math::{larger, vectorised};
use crate::model::{Differences, Model, Rung};
use crate::rng::ChainRng;
use crate::space::{Space, States};
use std::ops::Range;

/// Draws moves from differences and scores them both ways; says nothing of acceptance.
pub trait Proposal: Send + Sync {
    /// What a proposal keeps of one state: its rows or weights, made from the differences there.
    type Table: Send;
    /// How a move went, beyond where it led; what the way back has to retrace.
    type Path: Send + Default;

    /// What the sampler that it makes says of itself.
    fn traits(&self, space: &Space) -> KernelTraits;

    /// Nanoseconds per difference that making, drawing from and scoring a table is counted as.
    fn work(&self, space: &Space) -> f64 {
        let _ = space;
        1.0
    }

    /// An empty table.
    fn new_table(&self, space: &Space) -> Self::Table;

    /// Which differences it wants.
    fn differences(&self) -> Differences;

    /// Makes the table of `from` from the differences there, and returns the logarithm of the
    /// probability of moving `from` → `to` along a path in reverse; NaN if a difference is not a
    /// number. Differences of values which a site does not have are −∞.
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

    /// Records the changes of a path from a state, if it knows them; then their number.
    fn record(&self, path: &Self::Path, state: &[u8], journal: &mut Journal) -> Option<u32> {
        let _ = (path, state, journal);
        None
    }
}

/// The Metropolis–Hastings kernel of a proposal.
///
/// The table of the current state is kept, so a step costs one evaluation of the model: at the
/// proposed state. On a path of temperatures the model's differences are kept as well, so that
/// another temperature costs none.
#[derive(Clone, Debug)]
pub struct Metropolis<P>(pub P);

/// What [`Metropolis`] keeps of a block of chains: of every chain the table at its state, and what the model remembers; for
/// a group of chains that are evaluated together, one group after the other, where they might move to.
pub struct MetropolisScratch<M: Model, P: Proposal> {
    /// How many chains are evaluated together.
    group: usize,
    /// One per group.
    caches: Vec<M::Cache>,
    tables: Vec<P::Table>,
    proposed_tables: Vec<P::Table>,
    proposed: Vec<u8>,
    log_prob: Vec<f64>,
    diff: Vec<f32>,
    log_forward: Vec<f64>,
    paths: Vec<P::Path>,
    mixture: Mixture,
}

/// Blocks are made of several groups only where there are more groups than this: enough for any number of threads.
const MOST_BLOCKS: usize = 128;
/// Entries of the tables of a block, which every step goes through, that stay in the processor's cache.
const MOST_ENTRIES: usize = 1 << 16;

/// What is kept where chains stand on a path of temperatures.
#[derive(Default)]
struct Mixture {
    /// The model's differences at the current states.
    here: Vec<f32>,
    /// Those of the base at one state, then those of the rung.
    diff: Vec<f32>,
    scratch: Vec<f32>,
}

/// Smaller differences are as good as −∞.
const LEAST: f32 = -1e30;

impl Mixture {
    /// The differences on a rung, from the model's.
    fn mix(&mut self, rung: Rung<'_>, state: &[u8], of_model: &[f32]) -> &mut [f32] {
        self.diff.resize(of_model.len(), 0.0);
        if let Some(base) = rung.base {
            base.diff(state, &mut self.scratch, &mut self.diff);
        }
        let (share, beta) = ((1.0 - rung.beta) as f32, rung.beta as f32);
        let mixed = &mut self.diff[..];
        vectorised(
            #[inline(always)]
            || {
                for (mixed, of_model) in mixed.iter_mut().zip(of_model) {
                    // Where the model forbids a change, a rung at β = 0 would have 0 · ∞.
                    *mixed = share * *mixed + beta * larger(LEAST, *of_model);
                }
            },
        );
        &mut self.diff
    }
}

impl<P: Proposal> Metropolis<P> {
    /// Makes the tables of the current states of some chains from their differences.
    fn prepare_all<M: Model>(
        &self,
        chains: &Chains,
        scratch: &mut MetropolisScratch<M, P>,
        group: Range<usize>,
    ) -> Result<(), StepError> {
        let space = chains.space();
        let table = space.diff_len();
        for (number, chain) in group.enumerate() {
            let MetropolisScratch { diff, mixture, tables, .. } = &mut *scratch;
            let (rung, state) = (chains.rung(chain), chains.state(chain));
            let diff = if rung.base.is_some() {
                let here = std::mem::take(&mut mixture.here);
                mixture.mix(rung, state, &here[chain * table..(chain + 1) * table]);
                mixture.here = here;
                &mut mixture.diff[..]
            } else {
                &mut diff[number * table..(number + 1) * table]
            };
            space.mask(diff);
            let scale = chains.scales[chain];
            let nowhere = P::Path::default();
            if self.0.prepare(scale, state, diff, &mut tables[chain], state, &nowhere).is_nan() {
                return Err(StepError { chain, cause: StepFailure::Difference });
            }
        }
        Ok(())
    }
}

impl<M: Model, P: Proposal> Kernel<M> for Metropolis<P> {
    type Scratch = MetropolisScratch<M, P>;
    type Own = ();

    fn traits(&self, model: &M) -> KernelTraits {
        self.0.traits(model.space())
    }

    fn work(&self, model: &M) -> f64 {
        let (work, space) = (model.work(), model.space());
        let far = match self.0.traits(space).kind {
            Kind::AllSites => work.far,
            Kind::WithoutDifferences | Kind::FewSites | Kind::Structure => 0.0,
        };
        work.evaluation + far + self.0.work(space) * space.diff_len() as f64
    }

    /// Whole groups of the model's choice, so many that memory for proposals grows no more once there are enough blocks.
    fn block_size(&self, model: &M, chains: usize) -> usize {
        let group = model.block_size(chains);
        let of_group = group * model.space().diff_len();
        group * (chains / (MOST_BLOCKS * group)).min(MOST_ENTRIES / of_group).max(1)
    }

    fn new_scratch(&self, model: &M, chains: usize) -> Self::Scratch {
        let space = model.space();
        let group = model.block_size(chains).clamp(1, chains);
        let tables = |count: usize| (0..count).map(|_| self.0.new_table(space)).collect();
        let of_group = |first: usize| model.new_cache(group.min(chains - first));
        MetropolisScratch {
            group,
            caches: (0..chains).step_by(group).map(of_group).collect(),
            tables: tables(chains),
            proposed_tables: tables(group),
            proposed: vec![0; group * space.sites()],
            log_prob: vec![0.0; group],
            diff: vec![0.0; group * space.diff_len()],
            log_forward: vec![0.0; group],
            paths: (0..group).map(|_| P::Path::default()).collect(),
            mixture: Mixture::default(),
        }
    }

    fn start(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        let (sites, table) = (chains.space().sites(), chains.space().diff_len());
        chains.evaluate_base();
        if chains.base().is_some() {
            scratch.mixture.here.resize(chains.len() * table, 0.0);
        }
        for (number, group) in groups(chains.len(), scratch.group).enumerate() {
            let MetropolisScratch { caches, diff, mixture, .. } = &mut *scratch;
            let states = States::new(&chains.states[group.start * sites..group.end * sites], sites);
            let log_prob = &mut chains.log_prob[group.clone()];
            let diff = &mut diff[..group.len() * table];
            model
                .log_prob_and_diff(
                    self.0.differences(),
                    states,
                    &mut caches[number],
                    log_prob,
                    diff,
                )
                .map_err(StepError::at(group.start))?;
            for (chain, log_prob) in group.clone().zip(log_prob) {
                check_start(chain, *log_prob)?;
            }
            if chains.base().is_some() {
                mixture.here[group.start * table..group.end * table].copy_from_slice(diff);
            }
            self.prepare_all(chains, scratch, group)?;
        }
        Ok(())
    }

    fn adjust(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        if chains.base().is_none() {
            // Only the scale can have changed, and the differences are not kept.
            return self.start(model, chains, scratch);
        }
        let all = groups(chains.len(), scratch.group);
        all.into_iter().try_for_each(|group| self.prepare_all(chains, scratch, group))
    }

    fn step(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        let mut all = groups(chains.len(), scratch.group).enumerate();
        all.try_for_each(|(number, group)| self.step_group(model, chains, scratch, (number, group)))
    }
}

/// The chains of each group of a block.
fn groups(chains: usize, group: usize) -> impl Iterator<Item = Range<usize>> {
    (0..chains).step_by(group).map(move |first| first..(first + group).min(chains))
}

impl<P: Proposal> Metropolis<P> {
    /// Makes a step of the chains of a group, which has a number.
    fn step_group<M: Model>(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut MetropolisScratch<M, P>,
        (cache, group): (usize, Range<usize>),
    ) -> Result<(), StepError> {
        let sites = chains.space().sites();
        let (first, count) = (group.start, group.len());
        for (number, proposed) in scratch.proposed.chunks_exact_mut(sites).take(count).enumerate() {
            let chain = chains.chain(first + number);
            scratch.log_forward[number] = self.0.draw(
                chain.scale,
                chain.state,
                &mut scratch.tables[first + number],
                chain.rng,
                proposed,
                &mut scratch.paths[number],
            );
        }
        model
            .log_prob_and_diff(
                self.0.differences(),
                States::new(&scratch.proposed[..count * sites], sites),
                &mut scratch.caches[cache],
                &mut scratch.log_prob[..count],
                &mut scratch.diff[..count * model.space().diff_len()],
            )
            .map_err(StepError::at(first))?;
        let space = model.space();
        let table = space.diff_len();
        for (number, of_block) in group.enumerate() {
            let log_prob = check_log_prob(of_block, scratch.log_prob[number])?;
            let log_density = chains.log_density(of_block);
            let chain = chains.chain(of_block);
            *chain.report = StepReport { acceptance: 0.0, changed: 0, evaluations: 1 };
            if log_prob == f64::NEG_INFINITY {
                continue;
            }
            let proposed = &scratch.proposed[number * sites..(number + 1) * sites];
            let of_model = &mut scratch.diff[number * table..(number + 1) * table];
            let (diff, there, log_base) = match chain.rung.base {
                None => (&mut *of_model, log_prob, 0.0),
                Some(base) => {
                    let log_base = base.log_prob(proposed);
                    let diff = scratch.mixture.mix(chain.rung, proposed, of_model);
                    (diff, chain.rung.mix(log_prob, log_base), log_base)
                }
            };
            space.mask(diff);
            let proposed_table = &mut scratch.proposed_tables[number];
            let path = &scratch.paths[number];
            let log_reverse =
                self.0.prepare(chain.scale, proposed, diff, proposed_table, chain.state, path);
            let log_ratio = there - log_density + (log_reverse - scratch.log_forward[number]);
            let (acceptance, accepted) = accept(of_block, log_ratio, chain.rng)?;
            chain.report.acceptance = acceptance;
            if accepted {
                let recorded = self.0.record(path, chain.state, chain.journal);
                chain.report.changed =
                    recorded.unwrap_or_else(|| count_differences(chain.state, proposed));
                chain.state.copy_from_slice(proposed);
                *chain.log_prob = log_prob;
                std::mem::swap(&mut scratch.tables[of_block], proposed_table);
                if chain.rung.base.is_some() {
                    *chain.log_base = log_base;
                    let here = of_block * table..(of_block + 1) * table;
                    let there = &scratch.diff[number * table..(number + 1) * table];
                    scratch.mixture.here[here].copy_from_slice(there);
                }
            }
        }
        Ok(())
    }
}
