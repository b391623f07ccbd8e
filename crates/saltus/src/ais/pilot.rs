//! The scale of a sampler at every temperature, found by a few chains that are thrown away.
//!
//! A model is flat near the independent sites and rough at its own temperature, so one scale does not
//! suit all. And it must not depend on the chains whose weights count, or these would no longer be
//! right on average.

use super::block::Block;
use super::ladder::{Direction, Visit};
use super::{AisError, AisProgress, AisSettings, Monitor, NewBlock};
use crate::base::Base;
use crate::control::{Control, Ended};
use crate::engine::block_ranges;
use crate::kernel::ScaleTraits;
use crate::model::Model;
use crate::rng::ChainRng;
use crate::rng::{Annealing, Stream};
use crate::tune::Tuner;
use crate::workers::Workers;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
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
pub(super) struct Pilot<'p, 'a, M: Model> {
    pub(super) model: &'p M,
    pub(super) settings: &'p AisSettings,
    pub(super) scale: Option<ScaleTraits>,
    pub(super) base: &'p Arc<Base>,
    pub(super) new_block: &'p NewBlock<'a, M>,
    pub(super) block_size: usize,
    pub(super) workers: &'p Workers,
    /// When to stop.
    pub(super) deadline: Option<Instant>,
}

impl<'a, M: Model> Pilot<'_, 'a, M> {
    /// The scales, or how the search ended without any.
    pub(super) fn find(
        &self,
        monitor: &mut Monitor<'_>,
    ) -> Result<Result<Scales, Ended>, AisError> {
        let sampler = &self.settings.sampler;
        if let Some(scale) = sampler.scale {
            return Ok(Ok(Scales::constant(scale)));
        }
        let Some(traits) = &self.scale else {
            return Ok(Ok(Scales::constant(1.0)));
        };
        let mut tuner = Tuner::new(traits, sampler.target_acceptance, ROUNDS);
        let mut blocks = self.blocks();
        let mut scales = Vec::with_capacity(ROUNDS);
        for round in 1..=ROUNDS {
            let beta = round as f64 / ROUNDS as f64;
            let acceptance = self.round(beta, tuner.scale(), &mut blocks)?;
            tuner.round(acceptance);
            scales.push(tuner.scale());
            if monitor(AisProgress { tuning: true, done: (round, ROUNDS) }) == Control::Stop {
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
    fn blocks(&self) -> Vec<Block<'a, M>> {
        let sites = self.model.space().sites();
        let block = |numbers: std::ops::Range<usize>| {
            let first_chain = numbers.start;
            let stream = |chain| {
                ChainRng::new(self.settings.seed, Stream::Annealing(Annealing::Pilot, chain as u64))
            };
            let mut rngs: Vec<ChainRng> = numbers.map(stream).collect();
            let states = draw_all(self.base, sites, &mut rngs);
            let block = (self.new_block)(self.model, first_chain, states, rngs, self.base);
            Block::new(Direction::Forward, block)
        };
        block_ranges(self.block_size, CHAINS).map(block).collect()
    }

    /// The mean acceptance of all chains at one temperature.
    fn round(&self, beta: f64, scale: f64, blocks: &mut [Block<'a, M>]) -> Result<f64, AisError> {
        let visit = Visit { beta, from: beta, to: beta, moves: true };
        let go = |block: &mut Block<'_, M>| {
            block.acceptance.fill(0.0);
            (0..STEPS).try_for_each(|_| block.visit(self.model, &visit, scale))
        };
        let results = self.workers.map(blocks, |block| go(block));
        results.into_iter().collect::<Result<(), AisError>>()?;
        // Added up in the order of the chains, so that the sum does not depend on threads.
        let sum: f64 = blocks.iter().flat_map(|block| &block.acceptance).sum();
        Ok(sum / (CHAINS * STEPS) as f64)
    }
}

/// A draw from independent sites for every stream.
pub(super) fn draw_all(base: &Base, sites: usize, rngs: &mut [ChainRng]) -> Vec<u8> {
    let mut states = vec![0; rngs.len() * sites];
    for (state, rng) in states.chunks_exact_mut(sites).zip(rngs) {
        base.draw(rng, state);
    }
    states
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StepError;
    use crate::kernel::traits::SATURATED_STEP;
    use crate::kernel::{Chains, Kernel, KernelTraits, StepReport, dlmc};
    use crate::model::independent::Independent;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_temperature_has_the_scale_of_the_nearest_that_was_tuned() {
        let scales = Scales(vec![1.0, 2.0, 3.0, 4.0]);
        let found = [0.001, 0.25, 0.37, 0.38, 0.5, 0.99, 1.0].map(|beta| scales.at(beta));
        assert_eq!(found, [1.0, 1.0, 1.0, 2.0, 2.0, 4.0, 4.0]);
        assert_eq!(Scales::constant(7.0).at(0.3), 7.0);
    }

    /// Accepts everything up to a temperature, and nothing from there on.
    struct Cliff(Arc<AtomicUsize>);

    impl<M: Model> Kernel<M> for Cliff {
        type Scratch = ();
        type Own = ();

        fn traits(&self, model: &M) -> KernelTraits {
            dlmc::traits(model.space())
        }

        fn new_scratch(&self, _model: &M, _chains: usize) {}

        fn start(&self, _: &M, _: &mut Chains, (): &mut ()) -> Result<(), StepError> {
            Ok(())
        }

        fn step(&self, _: &M, chains: &mut Chains, (): &mut ()) -> Result<(), StepError> {
            for chain in 0..chains.len() {
                let acceptance = if chains.betas[chain] <= 0.5 { 1.0 } else { 0.0 };
                chains.reports[chain] = StepReport { acceptance, ..StepReport::default() };
            }
            self.0.fetch_add(chains.len(), Ordering::Relaxed);
            Ok(())
        }
    }

    #[test]
    fn scales_stay_below_the_largest_and_leave_it_at_once() {
        let model = Independent::bernoulli(vec![0.0; 30]).unwrap();
        let (settings, base) = (AisSettings::default(), Arc::new(model.base()));
        let steps = Arc::new(AtomicUsize::new(0));
        let counted = steps.clone();
        let find = |deadline| {
            let cliff = Arc::new(Cliff(counted.clone()));
            let pilot = Pilot {
                model: &model,
                settings: &settings,
                scale: dlmc::traits(model.space()).scale,
                base: &base,
                new_block: &move |model: &Independent, first, states, rngs, base: &Arc<Base>| {
                    let base = Some(base.clone());
                    crate::engine::kernel_block(model, cliff.clone(), first, states, rngs, base)
                },
                block_size: 1,
                workers: &Workers::new(Some(2)).unwrap(),
                deadline,
            };
            pilot.find(&mut |_| Control::Continue).unwrap()
        };
        let found = find(None).unwrap();
        assert_eq!(steps.load(Ordering::Relaxed), ROUNDS * CHAINS * STEPS);
        assert!(found.0.iter().all(|scale| *scale < SATURATED_STEP + 1e-9), "{found:?}");
        assert!((found.0[49] - SATURATED_STEP).abs() < 1e-9, "{found:?}");
        assert!((found.0[50] - SATURATED_STEP / 1f64.exp()).abs() < 1e-9, "{found:?}");
        assert_eq!(find(Some(Instant::now())), Err(Ended::TimeLimit));
    }
}
