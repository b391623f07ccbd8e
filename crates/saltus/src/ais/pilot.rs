//! The scale of a sampler at every temperature, found by a few chains that are thrown away.
//!
//! A model is flat near the independent sites and rough at its own temperature, so one scale does not
//! suit all. And it must not depend on the chains whose weights count, or these would no longer be
//! right on average.

use super::block::{Chains, Walk};
use super::ladder::{Direction, Visit};
use super::{AisError, AisProgress, streams};
use crate::model::independent::Independent;
use crate::rng::ChainRng;
use crate::run::{Settings, Wish};
use crate::sampler::{Sampler, Scale};
use crate::space::Space;
use crate::tune::Tuner;
use serde::{Deserialize, Serialize};

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

/// Finds the scales; `walk` makes the walk of chains with given ones. None if the monitor asked to
/// stop.
pub(super) fn find<'a>(
    settings: &Settings,
    space: &Space,
    base: &Independent,
    walk: impl Fn(usize, Scales) -> Box<dyn Walk + 'a>,
    monitor: &mut dyn FnMut(AisProgress) -> Wish,
) -> Result<Option<Scales>, AisError> {
    let tuner = match settings.scale {
        Some(scale) => return Ok(Some(Scales::constant(scale))),
        None => Tuner::new(settings.sampler, space, settings.target_acceptance, ROUNDS),
    };
    let Some(mut tuner) = tuner else {
        return Ok(Some(Scales::constant(1.0)));
    };
    let rngs = (0..CHAINS).map(|chain| ChainRng::new(settings.seed, streams::pilot(chain)));
    let mut chains = Chains::at_base(base, space.sites(), rngs.collect());
    let largest = largest(settings.sampler, space);
    let mut scales = Vec::with_capacity(ROUNDS);
    for round in 1..=ROUNDS {
        let beta = round as f64 / ROUNDS as f64;
        let mut walk = walk(CHAINS, Scales::constant(tuner.scale().min(largest)));
        chains.acceptance.fill(0.0);
        for _ in 0..STEPS {
            let visit = Visit { beta, from: beta, to: beta, moves: true };
            walk.visit(&visit, &mut chains).map_err(|error| AisError::Failed {
                direction: Direction::Forward,
                chain: error.chain,
                beta,
                cause: error.cause,
            })?;
        }
        let sum: f64 = chains.acceptance.iter().sum();
        tuner.round(sum / (CHAINS * STEPS) as f64);
        scales.push(tuner.scale().min(largest));
        if monitor(AisProgress { tuning: true, done: (round, ROUNDS) }) == Wish::Stop {
            return Ok(None);
        }
    }
    Ok(Some(Scales(scales)))
}

/// The scale with which a step on flat ground is a fresh draw.
///
/// Near independent sites everything is accepted, and tuning to an acceptance would go on to where a
/// step changes every site: to and fro between two states. Samplers that end at fresh draws by
/// themselves have no such limit. A radius is half a site less, so that even and odd numbers of sites
/// change.
fn largest(sampler: Sampler, space: &Space) -> f64 {
    let (sites, values) = (space.sites() as f64, space.values() as f64);
    match sampler {
        Sampler::Dmala => 1.0,
        _ if sampler.scale() == Scale::Radius => (sites * (values - 1.0) / values - 0.5).max(1.0),
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temperature_has_the_scale_of_the_nearest_that_was_tuned() {
        let scales = Scales(vec![1.0, 2.0, 3.0, 4.0]);
        let found = [0.001, 0.25, 0.37, 0.38, 0.5, 0.99, 1.0].map(|beta| scales.at(beta));
        assert_eq!(found, [1.0, 1.0, 1.0, 2.0, 2.0, 4.0, 4.0]);
        assert_eq!(Scales::constant(7.0).at(0.3), 7.0);
    }

    #[test]
    fn flat_ground_does_not_drive_a_chain_to_and_fro() {
        // Half of fifty sites, two thirds of thirty.
        assert_eq!(largest(Sampler::Rwm, &Space::new(50, 2).unwrap()), 24.5);
        assert_eq!(largest(Sampler::Pas, &Space::new(30, 3).unwrap()), 19.5);
        assert_eq!(largest(Sampler::Rwm, &Space::new(1, 2).unwrap()), 1.0);
        assert_eq!(largest(Sampler::Dlmc, &Space::new(50, 2).unwrap()), f64::INFINITY);
    }
}
