//! A model of which nothing is left to sample: all of its sites are known.

use super::Model;
use crate::error::ModelError;
use crate::space::{Space, States};

/// The one state of a model whose sites are all fixed or have a single value. It has a log π, which is its
/// log Z, and cannot be sampled.
#[derive(Clone, Debug)]
pub struct Settled {
    space: Space,
    shown_space: Space,
    shown: Vec<u8>,
    log_prob: f64,
}

impl Settled {
    /// A state, as it is shown, and its log π.
    pub fn new(shown_space: Space, shown: Vec<u8>, log_prob: f64) -> Self {
        Self { space: Space::of_one_state(1), shown_space, shown, log_prob }
    }
}

impl Model for Settled {
    type Cache = ();

    fn space(&self) -> &Space {
        &self.space
    }

    fn new_cache(&self, _chains: usize) {}

    fn log_prob(
        &self,
        _states: States<'_>,
        _cache: &mut (),
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        log_prob.fill(self.log_prob);
        Ok(())
    }

    fn shown_space(&self) -> &Space {
        &self.shown_space
    }

    fn show(&self, _state: &[u8], shown: &mut [u8]) {
        shown.copy_from_slice(&self.shown);
    }
}
