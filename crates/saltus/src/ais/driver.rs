//! Takes all blocks of chains through the temperatures, looking at the clock and the monitor in
//! between.

use super::block::Block;
use super::checkpoint::{AisCheckpoint, Fingerprint};
use super::ladder::{Direction, Ladder};
use super::pilot::Scales;
use super::{AisError, AisProgress, Keeper};
use crate::run::{Ended, Wish};
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Time between two looks at the clock and the monitor.
const HEARTBEAT: Duration = Duration::from_millis(100);

pub(super) struct Driver<'d, 'a> {
    pub(super) ladder: Ladder,
    pub(super) blocks: Vec<Block<'a>>,
    pub(super) pool: &'d rayon::ThreadPool,
    pub(super) monitor: &'d mut (dyn FnMut(AisProgress) -> Wish + 'a),
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

impl Driver<'_, '_> {
    /// Goes on from a checkpoint.
    pub(super) fn restore(&mut self, checkpoint: &AisCheckpoint) {
        self.visits = checkpoint.visits.min(self.total());
        self.seconds = checkpoint.seconds;
        let mut chains = &checkpoint.chains[..];
        for block in &mut self.blocks {
            let (own, others) = chains.split_at(block.chains.rngs.len());
            block.restore(own);
            chains = others;
        }
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
            let wish = (self.monitor)(progress);
            if self.visits == total {
                break;
            }
            let ended = if wish == Wish::Stop {
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
        let (ladder, blocks) = (self.ladder, &mut self.blocks);
        let go = |block: &mut Block<'_>| block.advance(ladder, visits.clone());
        let results: Vec<_> = self.pool.install(|| blocks.par_iter_mut().map(go).collect());
        results.into_iter().collect()
    }

    fn keep(&mut self) -> Result<(), AisError> {
        let (Some((_, keeper)), Some(fingerprint)) = (&mut self.keeper, &self.fingerprint) else {
            return Ok(());
        };
        let checkpoint = AisCheckpoint {
            fingerprint: fingerprint.clone(),
            seconds: self.seconds,
            scales: self.scales.clone(),
            visits: self.visits,
            chains: self.blocks.iter().flat_map(Block::snapshot).collect(),
        };
        let result = keeper(&checkpoint);
        self.kept = result.is_ok();
        result.map_err(AisError::NotKept)
    }

    /// log w of the chains of a direction, in order.
    pub(super) fn log_weights(&self, direction: Direction) -> Vec<f64> {
        let blocks = self.blocks.iter().filter(|block| block.direction == direction);
        blocks.flat_map(|block| block.chains.log_weights.iter().copied()).collect()
    }

    /// Mean acceptance over the moves so far.
    pub(super) fn acceptance(&self) -> f64 {
        let (mut sum, mut moves) = (0.0, 0);
        for block in &self.blocks {
            sum += block.chains.acceptance.iter().sum::<f64>();
            // The last visit of a reverse chain is the only one without a move.
            let most = self.ladder.visits(Direction::Forward);
            moves += self.visits.min(most) * block.chains.acceptance.len();
        }
        if moves == 0 { 0.0 } else { sum / moves as f64 }
    }
}
