//! The scale of a sampler at every temperature, found by a few chains that are thrown away.
//!
//! A model is flat near the independent sites and rough at its own temperature, so one scale does not
//! suit all. And it must not depend on the chains whose weights count, or these would no longer be
//! right on average.

use super::block::{Block, Chains, Walk};
use super::ladder::{Direction, Visit};
use super::{AisError, AisProgress, streams};
use crate::model::independent::Independent;
use crate::rng::ChainRng;
use crate::run::{Ended, Settings, Wish};
use crate::sampler::{Sampler, Scale};
use crate::solver::Solver;
use crate::space::Space;
use crate::tune::{SATURATED_STEP, Tuner};
use rayon::ThreadPool;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Temperatures at which the scale is tuned, from the second to the last.
const ROUNDS: usize = 100;
/// Chains, and their steps at each of these temperatures.
pub(super) const CHAINS: usize = 16;
const STEPS: usize = 10;

/// A scale for every temperature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Scales(Vec<f64>);

impl Scales {
    /// The same at every temperature.
    pub(super) fn constant(scale: f64) -> Self {
        Self(vec![scale])
    }

    /// The scale at an inverse temperature: that of the nearest one that was tuned.
    pub(super) fn at(&self, beta: f64) -> f64 {
        let last = self.0.len() - 1;
        self.0[((beta * self.0.len() as f64).round() as usize).saturating_sub(1).min(last)]
    }

    /// Whether scales that were read from a file could be any.
    pub(super) fn are_sound(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(|scale| *scale > 0.0 && scale.is_finite())
    }

    /// The scale at the model's own temperature.
    pub(super) fn last(&self) -> f64 {
        self.at(1.0)
    }
}

/// The search for the scales of a sampler.
pub(super) struct Pilot<'p, 'a> {
    pub(super) settings: &'p Settings,
    pub(super) space: &'p Space,
    pub(super) base: &'p Independent,
    /// Makes the walk of a number of chains.
    pub(super) walk: &'p dyn Fn(usize, Scales) -> Box<dyn Walk + 'a>,
    /// Chains of a block; the last one has the rest.
    pub(super) block_size: usize,
    pub(super) pool: &'p ThreadPool,
    /// When to stop.
    pub(super) deadline: Option<Instant>,
}

impl<'a> Pilot<'_, 'a> {
    /// The scales, or how the search ended without any.
    pub(super) fn find(
        &self,
        monitor: &mut dyn FnMut(AisProgress) -> Wish,
    ) -> Result<Result<Scales, Ended>, AisError> {
        let Settings { sampler, solver, target_acceptance, scale, .. } = *self.settings;
        if let Some(scale) = scale {
            return Ok(Ok(Scales::constant(scale)));
        }
        let Some(tuner) = Tuner::new(sampler, self.space, target_acceptance, ROUNDS) else {
            return Ok(Ok(Scales::constant(1.0)));
        };
        let mut tuner = tuner.at_most(largest(sampler, solver, self.space));
        let mut blocks = self.blocks(tuner.scale());
        let mut scales = Vec::with_capacity(ROUNDS);
        for round in 1..=ROUNDS {
            let beta = round as f64 / ROUNDS as f64;
            let acceptance = self.round(beta, tuner.scale(), &mut blocks)?;
            tuner.round(acceptance);
            scales.push(tuner.scale());
            if monitor(AisProgress { tuning: true, done: (round, ROUNDS) }) == Wish::Stop {
                return Ok(Err(Ended::Interrupted));
            }
            // What is found in time can be kept.
            let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if late && round < ROUNDS {
                return Ok(Err(Ended::TimeLimit));
            }
        }
        Ok(Ok(Scales(scales)))
    }

    /// The chains, at draws from the independent sites.
    fn blocks(&self, scale: f64) -> Vec<Block<'a>> {
        let block = |first_chain: usize| {
            let numbers = first_chain..CHAINS.min(first_chain + self.block_size);
            let length = numbers.len();
            let seed = self.settings.seed;
            let rngs = numbers.map(|chain| ChainRng::new(seed, streams::pilot(chain))).collect();
            Block {
                direction: Direction::Forward,
                first_chain,
                chains: Chains::at_base(self.base, self.space.sites(), rngs),
                walk: (self.walk)(length, Scales::constant(scale)),
            }
        };
        (0..CHAINS).step_by(self.block_size).map(block).collect()
    }

    /// The mean acceptance of all chains at one temperature.
    fn round(&self, beta: f64, scale: f64, blocks: &mut [Block<'a>]) -> Result<f64, AisError> {
        for block in blocks.iter_mut() {
            block.walk = (self.walk)(block.chains.rngs.len(), Scales::constant(scale));
            block.chains.acceptance.fill(0.0);
        }
        let visit = Visit { beta, from: beta, to: beta, moves: true };
        let go = |block: &mut Block<'_>| (0..STEPS).try_for_each(|_| block.visit(&visit));
        let results: Vec<Result<(), AisError>> =
            self.pool.install(|| blocks.par_iter_mut().map(go).collect());
        results.into_iter().collect::<Result<(), AisError>>()?;
        // Added up in the order of the chains, so that the sum does not depend on threads.
        let sum: f64 = blocks.iter().flat_map(|block| &block.chains.acceptance).sum();
        Ok(sum / (CHAINS * STEPS) as f64)
    }
}

/// The scale with which a step on flat ground is a fresh draw.
///
/// Near independent sites everything is accepted, and tuning to an acceptance would go on to where
/// a step changes every site: to and fro between two states. A radius is half a site less, so that
/// even and odd numbers of sites change.
fn largest(sampler: Sampler, solver: Solver, space: &Space) -> f64 {
    let (sites, values) = (space.sites() as f64, space.values() as f64);
    match sampler {
        Sampler::Dmala => 1.0,
        // (1 − e^(−h(C − 1))) / (C − 1) is 1/C; with two values at h = ln 2.
        Sampler::Dlmc if solver == Solver::Metropolised => values.ln() / (values - 1.0),
        _ if sampler.scale() == Scale::Radius => (sites * (values - 1.0) / values - 0.5).max(1.0),
        _ => SATURATED_STEP,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::StepError;
    use crate::kernel::row::RowFormula;
    use crate::weight::Weight;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_temperature_has_the_scale_of_the_nearest_that_was_tuned() {
        let scales = Scales(vec![1.0, 2.0, 3.0, 4.0]);
        let found = [0.001, 0.25, 0.37, 0.38, 0.5, 0.99, 1.0].map(|beta| scales.at(beta));
        assert_eq!(found, [1.0, 1.0, 1.0, 2.0, 2.0, 4.0, 4.0]);
        assert_eq!(Scales::constant(7.0).at(0.3), 7.0);
    }

    #[test]
    fn flat_ground_does_not_drive_a_chain_to_and_fro() {
        let largest = |sampler, sites, values| {
            largest(sampler, Solver::default(), &Space::new(sites, values).unwrap())
        };
        // Half of fifty sites, two thirds of thirty.
        assert_eq!(largest(Sampler::Rwm, 50, 2), 24.5);
        assert_eq!(largest(Sampler::Pas, 30, 3), 19.5);
        assert_eq!(largest(Sampler::Rwm, 1, 2), 1.0);
        assert_eq!(largest(Sampler::Dmala, 50, 2), 1.0);
        assert_eq!(largest(Sampler::Dlmc, 50, 2), 2.0);
        assert_eq!(largest(Sampler::Dlmcf, 50, 2), 2.0);
    }

    #[test]
    fn a_step_with_the_largest_scale_is_a_fresh_draw_on_flat_ground() {
        for values in [2, 3, 5] {
            let space = Space::new(50, values).unwrap();
            for (sampler, solver, formula) in [
                (Sampler::Dmala, Solver::default(), RowFormula::Normalised),
                (Sampler::Dlmc, Solver::Metropolised, RowFormula::Metropolised),
            ] {
                let scale = largest(sampler, solver, &space);
                let row = formula.log_row(&vec![0.0; values], 0, scale, Weight::Sqrt);
                for log in row {
                    assert!((log.exp() - 1.0 / values as f64).abs() < 1e-12, "{sampler}: {log}");
                }
            }
        }
    }

    #[test]
    fn scales_stay_below_the_largest_and_leave_it_at_once() {
        // Everything is accepted up to a temperature, and nothing from there on.
        struct Cliff(AtomicUsize);

        impl Walk for &Cliff {
            fn visit(&mut self, visit: &Visit, chains: &mut Chains) -> Result<(), StepError> {
                let accepted = if visit.beta <= 0.5 { 1.0 } else { 0.0 };
                chains.acceptance.iter_mut().for_each(|sum| *sum += accepted);
                self.0.fetch_add(chains.rngs.len(), Ordering::Relaxed);
                Ok(())
            }
        }

        let (settings, space) = (Settings::default(), Space::new(30, 2).unwrap());
        let cliff = Cliff(AtomicUsize::new(0));
        let find = |block_size, deadline| {
            let pilot = Pilot {
                settings: &settings,
                space: &space,
                base: &Independent::uniform(&space),
                walk: &|_, _| Box::new(&cliff),
                block_size,
                pool: &crate::threads::pool(Some(2)).unwrap(),
                deadline,
            };
            pilot.find(&mut |_| Wish::Continue).unwrap()
        };
        let found = find(16, None).unwrap();
        assert_eq!(cliff.0.load(Ordering::Relaxed), ROUNDS * CHAINS * STEPS);
        assert!(found.0.iter().all(|scale| *scale < SATURATED_STEP + 1e-9), "{found:?}");
        assert!((found.0[49] - SATURATED_STEP).abs() < 1e-9, "{found:?}");
        assert!((found.0[50] - SATURATED_STEP / 1f64.exp()).abs() < 1e-9, "{found:?}");
        // Blocks do not matter, not even uneven ones.
        assert_eq!(find(5, None), Ok(found));
        assert_eq!(find(16, Some(Instant::now())), Err(Ended::TimeLimit));
    }
}
