//! Everything from which a stopped run goes on as if it had never stopped.

use super::restraint::Restraint;
use super::{RunError, Settings};
use crate::engine;
use crate::kernel::StepReport;
use crate::stats::Running;
use crate::temper::Measured;
use crate::tune::Round;
use serde::{Deserialize, Serialize};

/// The state of a run at a step where all its chains were evaluated afresh, so that states, random
/// streams, what kernels carry on and counts are all there is to know.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checkpoint(pub(super) engine::Checkpoint<RunRecord>);

/// What a run knows of its chains.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RunRecord {
    /// How many steps come before the draws, and how many make one.
    pub(super) warmup: usize,
    pub(super) thin: usize,
    pub(super) rounds: Vec<Round>,
    pub(super) blocks: Vec<BlockRecord>,
    /// What was measured in the rounds of a tempered run.
    pub(super) measured: Vec<Measured>,
}

/// What a run knows of the chains of a block.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct BlockRecord {
    pub(super) sums: Vec<Sums>,
    /// Of the steps since the last kept draw.
    pub(super) since_kept: Vec<Sums>,
    /// How chains are held back during warm-up.
    pub(super) restraints: Vec<Restraint>,
    /// By observable that is followed, then chain.
    pub(super) running: Vec<Vec<Running>>,
    /// What the observers know, written down.
    pub(super) observers: Vec<Vec<u8>>,
}

/// Sums of step reports of one chain.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Sums {
    pub(super) steps: usize,
    pub(super) acceptance: f64,
    pub(super) changed: f64,
    pub(super) evaluations: f64,
}

impl Sums {
    #[inline]
    pub(super) fn add(&mut self, report: &StepReport) {
        self.steps += 1;
        self.acceptance += report.acceptance;
        self.changed += f64::from(report.changed);
        self.evaluations += f64::from(report.evaluations);
    }

    #[inline]
    pub(super) fn add_all(&mut self, other: &Self) {
        self.steps += other.steps;
        self.acceptance += other.acceptance;
        self.changed += other.changed;
        self.evaluations += other.evaluations;
    }
}

impl Checkpoint {
    /// Steps made by each chain, warm-up included.
    pub fn steps(&self) -> usize {
        self.0.steps
    }

    /// Draws of each chain that were kept before; later ones are made again.
    pub fn draws(&self) -> usize {
        self.0.steps.saturating_sub(self.0.driver.warmup) / self.0.driver.thin.max(1)
    }

    /// The rounds of warm-up so far.
    pub fn rounds(&self) -> &[Round] {
        &self.0.driver.rounds
    }

    /// Writes it down.
    pub fn to_bytes(&self) -> Result<Vec<u8>, RunError> {
        postcard::to_stdvec(self).map_err(|error| RunError::Checkpoint(error.to_string()))
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RunError> {
        postcard::from_bytes(bytes).map_err(|error| RunError::Checkpoint(error.to_string()))
    }

    /// Whether a run like this one has as many chains in every block, and as many numbers of each.
    pub(super) fn fits(&self, blocks: &[usize], settings: &Settings) -> bool {
        let RunRecord { warmup, thin, blocks: records, .. } = &self.0.driver;
        let whole = |(record, chains): (&BlockRecord, &usize)| {
            record.sums.len() == *chains
                && record.since_kept.len() == *chains
                && record.restraints.len() == *chains
                && record.running.iter().all(|running| running.len() == *chains)
        };
        (*warmup, *thin) == (settings.warmup, settings.thin)
            && records.len() == blocks.len()
            && records.iter().zip(blocks).all(whole)
    }
}
