//! Takes all blocks of chains through the temperatures, looking at the clock and the monitor in
//! between.

use super::block::Block;
use super::checkpoint::{AisCheckpoint, AisRecord};
use super::ladder::{Direction, Ladder};
use super::pilot::Scales;
use super::{AisError, AisProgress, Keeper, Monitor};
use crate::control::{Control, Ended};
use crate::engine::{Checkpoint, Fingerprint};
use crate::model::Model;
use crate::workers::Workers;
use std::time::{Duration, Instant};

/// Time between two looks at the clock and the monitor.
const HEARTBEAT: Duration = Duration::from_millis(100);

pub(super) struct Driver<'d, 'a, M: Model> {
    pub(super) model: &'d M,
    pub(super) ladder: Ladder,
    pub(super) blocks: Vec<Block<'a, M>>,
    pub(super) workers: &'d Workers,
    pub(super) monitor: &'d mut Monitor<'a>,
    pub(super) keeper: Option<(Duration, &'d mut Keeper<'a>)>,
    /// Known if checkpoints are kept.
    pub(super) fingerprint: Option<Fingerprint>,
    pub(super) scales: &'d Scales,
    /// When annealing began, and when it must stop.
    pub(super) began: Instant,
    pub(super) deadline: Option<Instant>,
    /// Visits that every chain has made.
    pub(super) visits: usize,
    pub(super) seconds: f64,
    /// Whether the latest checkpoint was kept.
    pub(super) kept: bool,
    /// Why the last one was not.
    pub(super) not_kept: Option<String>,
}

impl<M: Model> Driver<'_, '_, M> {
    /// Goes on from a checkpoint.
    pub(super) fn restore(&mut self, checkpoint: &AisCheckpoint) -> Result<(), AisError> {
        let Checkpoint { steps, chains, driver, .. } = &checkpoint.0;
        self.visits = (*steps).min(self.total());
        self.seconds = driver.seconds;
        let (mut chains, mut records) = (&chains[..], &driver.chains[..]);
        for block in &mut self.blocks {
            let (own, others) = chains.split_at(block.chains());
            let (own_records, other_records) = records.split_at(block.chains());
            let restored = block.restore(self.visits, own, own_records);
            restored.map_err(AisError::Checkpoint)?;
            (chains, records) = (others, other_records);
        }
        Ok(())
    }

    /// Visits of the chains that make most.
    fn total(&self) -> usize {
        let directions = self.blocks.iter().map(|block| block.direction);
        directions.map(|direction| self.ladder.visits(direction)).max().unwrap_or(0)
    }

    /// Everything that is left to do.
    pub(super) fn run(&mut self) -> Result<Ended, AisError> {
        let (began, before, total) = (self.began, self.seconds, self.total());
        let seconds = || before + began.elapsed().as_secs_f64();
        if self.visits < total {
            self.seconds = seconds();
            // If nothing can be kept, that shall be known before the work.
            self.keep()?;
        }
        let mut kept = Instant::now();
        let mut piece = 1;
        while self.visits < total {
            let piece_began = Instant::now();
            let visits = self.visits..total.min(self.visits + piece);
            self.advance(visits.clone())?;
            self.visits = visits.end;
            self.seconds = seconds();
            let per_visit = piece_began.elapsed().as_secs_f64() / visits.len() as f64;
            let fitting = HEARTBEAT.as_secs_f64() / per_visit.max(1e-9);
            piece = (fitting as usize).clamp(1, 4 * piece);
            let progress = AisProgress { tuning: false, done: (self.visits, total) };
            let control = (self.monitor)(progress);
            if self.visits == total {
                break;
            }
            let ended = if control == Control::Stop {
                Some(Ended::Interrupted)
            } else {
                let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
                late.then_some(Ended::TimeLimit)
            };
            if let Some(ended) = ended {
                self.keep()?;
                return Ok(ended);
            }
            if self.keeper.as_ref().is_some_and(|(every, _)| kept.elapsed() >= *every) {
                kept = Instant::now();
                self.keep()?;
            }
        }
        // What is complete is worth having all the same.
        self.not_kept = self.keep().err().map(|error| error.to_string());
        Ok(Ended::Complete)
    }

    fn advance(&mut self, visits: std::ops::Range<usize>) -> Result<(), AisError> {
        let (model, ladder, scales) = (self.model, self.ladder, self.scales);
        let go = |block: &mut Block<'_, M>| block.advance(model, ladder, scales, visits.clone());
        self.workers.map(&mut self.blocks, |block| go(block)).into_iter().collect()
    }

    fn keep(&mut self) -> Result<(), AisError> {
        let total = self.total();
        let (Some((_, keeper)), Some(fingerprint)) = (&mut self.keeper, &self.fingerprint) else {
            return Ok(());
        };
        let done = (self.visits == total).then_some(total);
        let (mut visits, mut chains, mut records) = (0, Vec::new(), Vec::new());
        for block in &self.blocks {
            let (at, of_block, known) = block.snapshot(done);
            visits = at;
            chains.extend(of_block);
            records.extend(known);
        }
        let checkpoint = AisCheckpoint(Checkpoint {
            fingerprint: fingerprint.clone(),
            steps: visits,
            chains,
            driver: AisRecord {
                seconds: self.seconds,
                scales: self.scales.clone(),
                chains: records,
            },
        });
        let result = keeper(&checkpoint);
        self.kept = result.is_ok();
        result.map_err(AisError::NotKept)
    }

    /// log w of the chains of a direction, in order.
    pub(super) fn log_weights(&self, direction: Direction) -> Vec<f64> {
        let blocks = self.blocks.iter().filter(|block| block.direction == direction);
        blocks.flat_map(|block| block.log_weights.iter().copied()).collect()
    }

    /// Mean acceptance over the moves so far.
    pub(super) fn acceptance(&self) -> f64 {
        let (mut sum, mut moves) = (0.0, 0);
        for block in &self.blocks {
            sum += block.acceptance.iter().sum::<f64>();
            // The last visit of a reverse chain is the only one without a move.
            let most = self.ladder.visits(Direction::Forward);
            moves += self.visits.min(most) * block.acceptance.len();
        }
        if moves == 0 { 0.0 } else { sum / moves as f64 }
    }
}
