//! Everything from which annealing that was stopped goes on as if it had not been.

use super::block::ChainRecord;
use super::pilot::Scales;
use crate::engine;
use serde::{Deserialize, Serialize};

/// The chains between two temperatures, and by what the annealing they belong to is known.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AisCheckpoint(pub(super) engine::Checkpoint<AisRecord>);

/// What annealing knows of its chains.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AisRecord {
    pub(super) seconds: f64,
    pub(super) scales: Scales,
    /// Forward chains, then reverse ones.
    pub(super) chains: Vec<ChainRecord>,
}

impl AisCheckpoint {
    /// Temperatures that every chain has been at.
    pub fn visits(&self) -> usize {
        self.0.steps
    }

    /// Whether its parts belong together.
    pub(super) fn is_whole(&self) -> bool {
        self.0.chains.len() == self.0.driver.chains.len() && self.0.driver.scales.are_sound()
    }
}
