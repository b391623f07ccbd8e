//! A block of chains on their way through the temperatures.

use super::ladder::{Direction, Ladder, Visit};
use super::{AisError, streams};
use crate::kernel::{Position, StepError};
use crate::model::independent::Independent;
use crate::rng::ChainRng;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Weighs chains where they stand and moves them, at one temperature after the other.
///
/// What it knows of the chains it learns anew at every visit, so that states, random streams and
/// weights are all that a chain needs to go on.
pub(super) trait Walk: Send {
    fn visit(&mut self, visit: &Visit, chains: &mut Chains) -> Result<(), StepError>;
}

/// The chains of a block.
pub(super) struct Chains {
    pub(super) position: Position,
    pub(super) rngs: Vec<ChainRng>,
    /// log w of each.
    pub(super) log_weights: Vec<f64>,
    /// Sum of acceptance probabilities over the moves of each.
    pub(super) acceptance: Vec<f64>,
}

/// One chain between two visits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ChainSnapshot {
    pub(super) state: Vec<u8>,
    pub(super) rng: ChainRng,
    pub(super) log_weight: f64,
    pub(super) acceptance: f64,
}

impl Chains {
    /// Chains at these states.
    pub(super) fn new(states: Vec<u8>, sites: usize, rngs: Vec<ChainRng>) -> Self {
        let count = rngs.len();
        Self {
            position: Position::new(states, sites),
            rngs,
            log_weights: vec![0.0; count],
            acceptance: vec![0.0; count],
        }
    }

    /// Chains at draws from independent sites.
    pub(super) fn at_base(base: &Independent, sites: usize, mut rngs: Vec<ChainRng>) -> Self {
        let mut states = vec![0; rngs.len() * sites];
        for (state, rng) in states.chunks_exact_mut(sites).zip(&mut rngs) {
            base.draw(rng, state);
        }
        Self::new(states, sites, rngs)
    }
}

/// Chains, and how they walk.
pub(super) struct Block<'a> {
    pub(super) direction: Direction,
    pub(super) first_chain: usize,
    pub(super) chains: Chains,
    pub(super) walk: Box<dyn Walk + 'a>,
}

impl Block<'_> {
    /// The visits of those numbers, as far as the ladder has them.
    pub(super) fn advance(&mut self, ladder: Ladder, visits: Range<usize>) -> Result<(), AisError> {
        let last = ladder.visits(self.direction);
        for number in visits.start..visits.end.min(last) {
            self.visit(&ladder.visit(self.direction, number))?;
        }
        Ok(())
    }

    /// One visit of all its chains.
    pub(super) fn visit(&mut self, visit: &Visit) -> Result<(), AisError> {
        self.walk.visit(visit, &mut self.chains).map_err(|error| AisError::Failed {
            direction: self.direction,
            chain: self.first_chain + error.chain,
            beta: visit.beta,
            cause: error.cause,
        })
    }

    pub(super) fn snapshot(&self) -> impl Iterator<Item = ChainSnapshot> {
        let Chains { position, rngs, log_weights, acceptance } = &self.chains;
        (0..rngs.len()).map(move |chain| ChainSnapshot {
            state: position.state(chain).to_vec(),
            rng: rngs[chain].clone(),
            log_weight: log_weights[chain],
            acceptance: acceptance[chain],
        })
    }

    pub(super) fn restore(&mut self, chains: &[ChainSnapshot]) {
        for (number, chain) in chains.iter().enumerate() {
            self.chains.position.state_mut(number).copy_from_slice(&chain.state);
            self.chains.rngs[number] = chain.rng.clone();
            self.chains.log_weights[number] = chain.log_weight;
            self.chains.acceptance[number] = chain.acceptance;
        }
    }
}

/// The random streams of some chains of a direction.
pub(super) fn rngs(seed: u64, direction: Direction, chains: Range<usize>) -> Vec<ChainRng> {
    chains.map(|chain| ChainRng::new(seed, streams::chain(direction, chain))).collect()
}
