//! A block of chains on their way through the temperatures.

use super::AisError;
use super::ladder::{Direction, Ladder, Visit};
use super::pilot::Scales;
use crate::StepFailure;
use crate::engine::{ChainSnapshot, Failed, SamplerBlock};
use crate::model::Model;
use crate::rng::ChainRng;
use crate::rng::{Annealing, Stream};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Visits after which the chains are evaluated afresh, counted from the first: there their states,
/// streams and weights are all there is to know, and annealing can go on from there.
const REFRESH: usize = 100;

/// What annealing knows of one chain.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct ChainRecord {
    /// log w.
    pub(super) log_weight: f64,
    /// Sum of acceptance probabilities over its moves.
    pub(super) acceptance: f64,
}

/// Chains, and what they weigh.
pub(super) struct Block<'a, M: Model> {
    pub(super) direction: Direction,
    pub(super) block: SamplerBlock<'a, M>,
    pub(super) log_weights: Vec<f64>,
    pub(super) acceptance: Vec<f64>,
    /// The chains at the visit where they were last evaluated afresh.
    snapshot: Option<(usize, Vec<ChainSnapshot>, Vec<ChainRecord>)>,
    is_started: bool,
}

impl<'a, M: Model> Block<'a, M> {
    pub(super) fn new(direction: Direction, block: SamplerBlock<'a, M>) -> Self {
        let chains = block.states().chains();
        Self {
            direction,
            block,
            log_weights: vec![0.0; chains],
            acceptance: vec![0.0; chains],
            snapshot: None,
            is_started: false,
        }
    }

    pub(super) fn chains(&self) -> usize {
        self.log_weights.len()
    }

    /// The visits of those numbers, as far as the ladder has them.
    pub(super) fn advance(
        &mut self,
        model: &M,
        ladder: Ladder,
        scales: &Scales,
        visits: Range<usize>,
    ) -> Result<(), AisError> {
        let last = ladder.visits(self.direction);
        for number in visits {
            // Also of chains that are done, so that all snapshots are of the same visit.
            if number.is_multiple_of(REFRESH) {
                self.snapshot = Some((number, self.block.snapshots(), self.records()));
                self.is_started = false;
            }
            if number < last {
                let visit = ladder.visit(self.direction, number);
                self.visit(model, &visit, scales.at(visit.beta))?;
            }
        }
        Ok(())
    }

    /// One visit of all its chains.
    pub(super) fn visit(&mut self, model: &M, visit: &Visit, scale: f64) -> Result<(), AisError> {
        let visited = self.try_visit(model, visit, scale);
        let direction = self.direction;
        visited.map_err(|Failed { chain, cause, .. }| match cause {
            StepFailure::ForbiddenStart => AisError::Forbidden { direction, chain },
            cause => AisError::Failed { direction, chain, beta: visit.beta, cause },
        })
    }

    fn try_visit(&mut self, model: &M, visit: &Visit, scale: f64) -> Result<(), Failed> {
        let Self { block, log_weights, acceptance, is_started, .. } = self;
        block.set_beta(visit.beta);
        block.set_scale(scale);
        if *is_started {
            block.adjust(model)?;
        } else {
            block.start(model)?;
            *is_started = true;
        }
        if visit.to > visit.from {
            block.add_log_gains(model, (visit.from, visit.to), log_weights)?;
        }
        if visit.moves {
            block.step(model)?;
            for (sum, report) in acceptance.iter_mut().zip(block.reports()) {
                *sum += report.acceptance;
            }
        }
        Ok(())
    }

    fn records(&self) -> Vec<ChainRecord> {
        let chains = self.log_weights.iter().zip(&self.acceptance);
        let record = |(log_weight, acceptance): (&f64, &f64)| ChainRecord {
            log_weight: *log_weight,
            acceptance: *acceptance,
        };
        chains.map(record).collect()
    }

    /// The visit at which the chains were last evaluated afresh, and the chains there; or the chains
    /// as they are, if nothing is left to be done after so many visits.
    pub(super) fn snapshot(
        &self,
        done: Option<usize>,
    ) -> (usize, Vec<ChainSnapshot>, Vec<ChainRecord>) {
        match (done, &self.snapshot) {
            (None, Some(snapshot)) => snapshot.clone(),
            _ => (done.unwrap_or(0), self.block.snapshots(), self.records()),
        }
    }

    pub(super) fn restore(
        &mut self,
        visits: usize,
        chains: &[ChainSnapshot],
        records: &[ChainRecord],
    ) -> Result<(), String> {
        self.block.restore(visits, chains)?;
        self.log_weights = records.iter().map(|record| record.log_weight).collect();
        self.acceptance = records.iter().map(|record| record.acceptance).collect();
        self.snapshot = Some((visits, chains.to_vec(), records.to_vec()));
        Ok(())
    }
}

/// The random streams of some chains of a direction.
pub(super) fn rngs(seed: u64, direction: Direction, chains: Range<usize>) -> Vec<ChainRng> {
    let purpose = match direction {
        Direction::Forward => Annealing::Forward,
        Direction::Reverse => Annealing::Reverse,
    };
    let stream = |chain| Stream::Annealing(purpose, chain as u64);
    chains.map(|chain| ChainRng::new(seed, stream(chain))).collect()
}
