//! Finding the scale of a sampler during warm-up: one scale for all chains, moved after every
//! round towards the target acceptance, and frozen before the first kept draw.

use crate::sampler::{STEP_SIZES, Sampler, Scale};
use crate::space::Space;
use serde::{Deserialize, Serialize};

/// Rounds that a warm-up is cut into, as long as it has that many steps.
const ROUNDS: usize = 100;
/// Share of the rounds at the end whose scales are averaged for the frozen one. Before that,
/// chains may still be on their way from the start and their acceptance misleading.
const AVERAGED: f64 = 0.25;
/// Largest change of log(scale) by one round.
const LARGEST_MOVE: f64 = 1.0;

/// What happened in one round of warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Steps of each chain.
    pub steps: usize,
    /// The scale they were made with, if the sampler has one.
    pub scale: Option<f64>,
    /// Their mean acceptance over all chains.
    pub acceptance: f64,
}

/// Moves log(scale) by stochastic approximation.
///
/// An acceptance near 0 or 1 says only in which direction to go, so such a round moves the scale
/// by a whole factor e however late it comes: a start where nothing is accepted, or a target on
/// which everything is, are both left behind quickly.
#[derive(Clone, Debug)]
pub struct Tuner {
    target: f64,
    log_scale: f64,
    limits: (f64, f64),
    rounds: usize,
    history: Vec<f64>,
}

impl Tuner {
    /// A tuner for a warm-up of that many steps; none if the sampler has nothing to tune.
    pub fn new(
        sampler: Sampler,
        space: &Space,
        target: Option<f64>,
        warmup: usize,
    ) -> Option<Self> {
        let target = target.or(sampler.target_acceptance())?;
        let (initial, limits) = initial_scale(sampler, space)?;
        Some(Self {
            target,
            log_scale: initial.ln(),
            limits: (limits.0.ln(), limits.1.ln()),
            rounds: warmup.min(ROUNDS),
            history: Vec::new(),
        })
    }

    /// The same with scales of at most `largest`: it never goes beyond, so it need not come back.
    pub fn at_most(mut self, largest: f64) -> Self {
        let (low, high) = self.limits;
        self.limits.1 = high.min(largest.ln()).max(low);
        self.log_scale = self.log_scale.min(self.limits.1);
        self
    }

    /// The scale to use now.
    pub fn scale(&self) -> f64 {
        self.log_scale.exp()
    }

    /// Takes in the mean acceptance of a round.
    pub fn round(&mut self, acceptance: f64) {
        let room = if acceptance > self.target { 1.0 - self.target } else { self.target };
        let error = (acceptance - self.target) / room;
        let gain = (2.0 / (1.0 + self.history.len() as f64 / 5.0).sqrt()).min(1.0);
        let change = if error.abs() > 0.9 { error.signum() * LARGEST_MOVE } else { gain * error };
        self.log_scale = (self.log_scale + change).clamp(self.limits.0, self.limits.1);
        self.history.push(self.log_scale);
    }

    /// The scale for all that follows.
    pub fn frozen(&self) -> f64 {
        let averaged = ((self.rounds as f64 * AVERAGED).ceil() as usize).min(self.history.len());
        if averaged == 0 {
            return self.scale();
        }
        let last = &self.history[self.history.len() - averaged..];
        (last.iter().sum::<f64>() / averaged as f64).exp()
    }
}

/// Number of steps of each round of a warm-up; they add up to it.
pub fn round_lengths(warmup: usize) -> impl Iterator<Item = usize> {
    let rounds = warmup.min(ROUNDS);
    (0..rounds).map(move |round| (round + 1) * warmup / rounds - round * warmup / rounds)
}

/// A step size beyond which a step draws from the conditional distributions all the same. Where the target
/// becomes sharper during tuning, scales that went on growing would take long to come back.
pub const SATURATED_STEP: f64 = 2.0;

/// Where tuning starts, and the smallest and largest scale. `None` if there is no scale.
pub fn initial_scale(sampler: Sampler, space: &Space) -> Option<(f64, (f64, f64))> {
    let sites = space.sites() as f64;
    match sampler.scale() {
        Scale::None => None,
        Scale::Radius => Some((1.0, (1.0, sites))),
        // About three changed sites per step: safe anywhere, and a few rounds from anything.
        Scale::StepSize => {
            let changes = sites * (space.values() - 1) as f64;
            Some(((3.0 / changes).min(1.0), (STEP_SIZES.0, 20f64.exp().min(STEP_SIZES.1))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuner(sampler: Sampler) -> Tuner {
        Tuner::new(sampler, &Space::new(2500, 2).unwrap(), None, 3000).unwrap()
    }

    #[test]
    fn a_smooth_acceptance_is_met() {
        // acceptance = 1/(1 + h/h₀): it is 0.574 at h = 0.742·h₀.
        for best in [1e-6, 0.05, 3.0, 1e4] {
            let mut tuner = tuner(Sampler::Dlmc);
            for _ in 0..ROUNDS {
                tuner.round(1.0 / (1.0 + tuner.scale() / best));
            }
            let expected = best * (1.0 / 0.574 - 1.0);
            assert!((tuner.frozen() / expected).ln().abs() < 0.05, "{best}: {}", tuner.frozen());
        }
    }

    #[test]
    fn nothing_accepted_at_first_is_left_behind() {
        let mut tuner = tuner(Sampler::Dlmc);
        for round in 0..ROUNDS {
            let settled = 1.0 / (1.0 + tuner.scale() / 0.05);
            tuner.round(if round < 5 { 0.0 } else { settled });
        }
        assert!((tuner.frozen() / (0.05 * (1.0 / 0.574 - 1.0))).ln().abs() < 0.05);
    }

    #[test]
    fn everything_accepted_grows_to_the_cap() {
        let mut tuner = tuner(Sampler::Dlmc);
        (0..ROUNDS).for_each(|_| tuner.round(1.0));
        assert!((tuner.frozen().ln() - 20.0).abs() < 1e-9);
    }

    #[test]
    fn a_radius_stays_between_one_and_all_sites() {
        let mut tuner = tuner(Sampler::Rwm);
        (0..ROUNDS).for_each(|_| tuner.round(0.0));
        assert_eq!(tuner.frozen(), 1.0);
        (0..ROUNDS).for_each(|_| tuner.round(1.0));
        assert!((tuner.frozen() - 2500.0).abs() < 1e-6);
    }

    #[test]
    fn a_cap_is_left_as_soon_as_too_little_is_accepted() {
        let mut capped = tuner(Sampler::Dlmc).at_most(2.0);
        (0..ROUNDS).for_each(|_| capped.round(1.0));
        assert!((capped.scale() - 2.0).abs() < 1e-9, "{}", capped.scale());
        // A factor e per round at which nothing is accepted.
        capped.round(0.0);
        assert!((capped.scale() - 2.0 / 1f64.exp()).abs() < 1e-9, "{}", capped.scale());
        // The start, 3/2500, is above this cap; and no cap raises the largest scale there is.
        assert!((tuner(Sampler::Dlmc).at_most(1e-4).scale() - 1e-4).abs() < 1e-12);
        let mut wide = tuner(Sampler::Rwm).at_most(1e9);
        (0..ROUNDS).for_each(|_| wide.round(1.0));
        assert!((wide.scale() - 2500.0).abs() < 1e-6, "{}", wide.scale());
    }

    #[test]
    fn rounds_add_up() {
        for warmup in [0, 1, 7, 100, 101, 3000] {
            assert_eq!(round_lengths(warmup).sum::<usize>(), warmup);
            assert!(round_lengths(warmup).all(|length| length > 0));
        }
    }
}
