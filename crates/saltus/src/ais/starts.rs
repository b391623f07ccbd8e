//! Where reverse chains begin when no draws of the model are known: far from the base, and then where a few steps
//! of the sampler lead.

use super::block::Block;
use super::ladder::{Direction, Visit};
use super::{AisError, AisProgress, Monitor};
use crate::control::{Control, Ended};
use crate::model::Model;
use crate::rng::{Annealing, ChainRng, Stream};
use crate::space::States;
use crate::workers::Workers;
use std::time::Instant;

/// Places that chains begin at of any model: the least values, the largest, and uniform draws.
const PLACES: usize = 3;
/// Places of the model's own that they begin at besides.
const OWN_PLACES: usize = 4;
/// Steps between two looks at the clock and the monitor.
const PIECE: usize = 5;

/// So many states of each place, one after the other, and the number of places; where one is forbidden, starts of the
/// model stand in.
pub(super) fn far_from_home<M: Model>(model: &M, seed: u64, chains: usize) -> (Vec<u8>, usize) {
    let space = model.space();
    let sites = space.sites();
    let mut rng = ChainRng::new(seed, Stream::Annealing(Annealing::Draw, 0));
    let mut cache = model.new_cache(1);
    let mut own = model.places(&mut ChainRng::new(seed, Stream::Model));
    own.truncate(OWN_PLACES);
    let places = PLACES + own.len();
    let mut states = Vec::with_capacity(places * chains * sites);
    for place in 0..places {
        for _ in 0..chains {
            let mut state: Vec<u8> = match place {
                0 => vec![0; sites],
                1 => (0..sites).map(|site| (space.values_at(site) - 1) as u8).collect(),
                2 => (0..sites).map(|site| rng.below(space.values_at(site)) as u8).collect(),
                _ => own[place - PLACES].clone(),
            };
            let mut log_prob = [f64::NEG_INFINITY];
            let known = model.log_prob(States::new(&state, sites), &mut cache, &mut log_prob);
            if known.is_err() || !log_prob[0].is_finite() || !model.sums().is_empty() {
                model.initial_state(&mut rng, &mut state);
            }
            states.extend(state);
        }
    }
    (states, places)
}

/// Steps of reverse chains at the model's own temperature, before they go back.
pub(super) struct Settling<'p, M> {
    pub(super) model: &'p M,
    pub(super) workers: &'p Workers,
    pub(super) steps: usize,
    pub(super) scale: f64,
    pub(super) deadline: Option<Instant>,
}

impl<M: Model> Settling<'_, M> {
    /// How it ended, unless all steps were made.
    pub(super) fn go(
        &self,
        blocks: &mut [Block<'_, M>],
        monitor: &mut Monitor<'_>,
    ) -> Result<Option<Ended>, AisError> {
        let visit = Visit { beta: 1.0, from: 1.0, to: 1.0, moves: true };
        let mut done = 0;
        while done < self.steps {
            let piece = PIECE.min(self.steps - done);
            let go = |block: &mut Block<'_, M>| match block.direction {
                Direction::Forward => Ok(()),
                Direction::Reverse => {
                    (0..piece).try_for_each(|_| block.visit(self.model, &visit, self.scale))
                }
            };
            let moved = self.workers.map(blocks, |block| go(block));
            moved.into_iter().collect::<Result<(), AisError>>()?;
            done += piece;
            let progress = AisProgress { tuning: true, done: (done, self.steps) };
            if monitor(progress) == Control::Stop {
                return Ok(Some(Ended::Interrupted));
            }
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(Some(Ended::TimeLimit));
            }
        }
        // What they did on the way is no part of annealing.
        blocks.iter_mut().for_each(|block| block.acceptance.fill(0.0));
        Ok(None)
    }
}
