//! Finding the scale of a kernel: moved after every round towards the target acceptance, and frozen
//! where draws are kept.

use crate::kernel::ScaleTraits;
use serde::{Deserialize, Serialize};

/// Rounds that a warm-up is cut into, as long as it has that many steps.
pub(crate) const ROUNDS: usize = 100;
/// Share of the rounds at the end whose scales are averaged for the frozen one. Before that,
/// chains may still be on their way from the start and their acceptance misleading.
const AVERAGED: f64 = 0.25;
/// An acceptance so far from the target, as a share of what is possible, says only in which
/// direction to go.
const FAR_OFF: f64 = 0.9;

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
/// by a whole factor however late it comes: a start where nothing is accepted, or a target on
/// which everything is, are both left behind quickly.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuner {
    target: f64,
    log_scale: f64,
    limits: (f64, f64),
    gain: Gain,
    history: Vec<f64>,
}

/// How far a round moves log(scale).
#[derive(Clone, Copy, Debug, PartialEq)]
enum Gain {
    /// Less and less, towards one scale that is frozen after so many rounds.
    Falling { rounds: usize },
    /// Always as far: the target changes under the chains and is followed for ever.
    Constant,
}

impl Gain {
    /// Share of the error by which a round moves log(scale), after so many.
    fn of_round(self, number: usize) -> f64 {
        match self {
            Self::Falling { .. } => (2.0 / (1.0 + number as f64 / 5.0).sqrt()).min(1.0),
            Self::Constant => 0.5,
        }
    }

    /// The largest change of log(scale) by one round.
    fn largest_move(self) -> f64 {
        match self {
            Self::Falling { .. } => 1.0,
            Self::Constant => 2.0,
        }
    }
}

impl Tuner {
    /// A tuner that comes to rest within so many rounds.
    pub fn new(scale: &ScaleTraits, target: Option<f64>, rounds: usize) -> Self {
        Self::with_gain(scale, target, Gain::Falling { rounds })
    }

    /// A tuner that follows a target which changes under the chains.
    pub fn following(scale: &ScaleTraits, target: Option<f64>) -> Self {
        Self::with_gain(scale, target, Gain::Constant)
    }

    fn with_gain(scale: &ScaleTraits, target: Option<f64>, gain: Gain) -> Self {
        Self {
            target: target.unwrap_or(scale.target_acceptance),
            log_scale: scale.initial.ln(),
            limits: (scale.tuned.0.ln(), scale.tuned.1.ln()),
            gain,
            history: Vec::new(),
        }
    }

    /// The scale to use now.
    pub fn scale(&self) -> f64 {
        self.log_scale.exp()
    }

    /// Its logarithm, as a checkpoint keeps it.
    pub fn log_scale(&self) -> f64 {
        self.log_scale
    }

    /// Goes on from where a checkpoint was.
    pub fn set_log_scale(&mut self, log_scale: f64) {
        self.log_scale = log_scale.clamp(self.limits.0, self.limits.1);
    }

    /// Takes in the mean acceptance of a round.
    pub fn round(&mut self, acceptance: f64) {
        let room = if acceptance > self.target { 1.0 - self.target } else { self.target };
        let error = (acceptance - self.target) / room;
        let change = if error.abs() > FAR_OFF {
            error.signum() * self.gain.largest_move()
        } else {
            self.gain.of_round(self.history.len()) * error
        };
        self.set_log_scale(self.log_scale + change);
        if let Gain::Falling { .. } = self.gain {
            self.history.push(self.log_scale);
        }
    }

    /// The scale for all that follows.
    pub fn frozen(&self) -> f64 {
        let rounds = match self.gain {
            Gain::Falling { rounds } => rounds,
            Gain::Constant => 0,
        };
        let averaged = ((rounds as f64 * AVERAGED).ceil() as usize).min(self.history.len());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balancing::Balancing;
    use crate::kernel::row::RowFormula;
    use crate::sampler::Method;
    use crate::space::Space;

    fn scale(method: Method) -> ScaleTraits {
        method.traits(&Space::new(2500, 2).unwrap()).scale.unwrap()
    }

    fn tuner(method: Method) -> Tuner {
        Tuner::new(&scale(method), None, ROUNDS)
    }

    #[test]
    fn a_smooth_acceptance_is_met() {
        // acceptance = 1/(1 + h/h₀): it is 0.574 at h = 0.742·h₀.
        for best in [1e-6, 0.05, 3.0, 10.0] {
            let mut tuner = tuner(Method::Dlmc);
            for _ in 0..ROUNDS {
                tuner.round(1.0 / (1.0 + tuner.scale() / best));
            }
            let expected = best * (1.0 / 0.574 - 1.0);
            assert!((tuner.frozen() / expected).ln().abs() < 0.05, "{best}: {}", tuner.frozen());
        }
    }

    #[test]
    fn nothing_accepted_at_first_is_left_behind() {
        let mut tuner = tuner(Method::Dlmc);
        for round in 0..ROUNDS {
            let settled = 1.0 / (1.0 + tuner.scale() / 0.05);
            tuner.round(if round < 5 { 0.0 } else { settled });
        }
        assert!((tuner.frozen() / (0.05 * (1.0 / 0.574 - 1.0))).ln().abs() < 0.05);
    }

    #[test]
    fn everything_accepted_grows_to_the_cap() {
        let mut tuner = tuner(Method::Dlmc);
        (0..ROUNDS).for_each(|_| tuner.round(1.0));
        assert!((tuner.frozen() - 16.0).abs() < 1e-9);
    }

    #[test]
    fn a_radius_stays_between_one_and_half_of_the_sites() {
        let mut tuner = tuner(Method::Rwm);
        (0..ROUNDS).for_each(|_| tuner.round(0.0));
        assert_eq!(tuner.frozen(), 1.0);
        (0..ROUNDS).for_each(|_| tuner.round(1.0));
        assert!((tuner.frozen() - 1250.0).abs() < 1e-6);
    }

    #[test]
    fn a_cap_is_left_as_soon_as_too_little_is_accepted() {
        let mut capped = tuner(Method::Dmala);
        (0..ROUNDS).for_each(|_| capped.round(1.0));
        assert!((capped.scale() - 1.0).abs() < 1e-9, "{}", capped.scale());
        // A factor e per round at which nothing is accepted.
        capped.round(0.0);
        assert!((capped.scale() - 1.0 / 1f64.exp()).abs() < 1e-9, "{}", capped.scale());
    }

    #[test]
    fn flat_ground_does_not_drive_a_chain_to_and_fro() {
        let largest = |method: Method, sites, values| {
            method.traits(&Space::new(sites, values).unwrap()).scale.unwrap().tuned.1
        };
        // Half of fifty sites, two thirds of thirty.
        assert_eq!(largest(Method::Rwm, 50, 2), 25.0);
        assert_eq!(largest(Method::Pas, 30, 3), 20.0);
        assert_eq!(largest(Method::Rwm, 1, 2), 1.0);
        for values in [2, 3, 5] {
            for (method, formula) in [
                (Method::Dmala, RowFormula::Normalised),
                (Method::Dlmc, RowFormula::Interpolated),
                (Method::Dlmcf, RowFormula::Euler),
            ] {
                let scale = largest(method, 50, values);
                let row = formula.log_row(&vec![0.0; values], 0, scale, Balancing::Sqrt);
                for log in row {
                    assert!((log.exp() - 1.0 / values as f64).abs() < 1e-7, "{method}: {log}");
                }
            }
        }
    }

    #[test]
    fn rounds_add_up() {
        for warmup in [0, 1, 7, 100, 101, 3000] {
            assert_eq!(round_lengths(warmup).sum::<usize>(), warmup);
            assert!(round_lengths(warmup).all(|length| length > 0));
        }
    }

    #[test]
    fn a_target_that_changes_is_followed() {
        let mut tuner = Tuner::following(&scale(Method::Dlmc), Some(0.6));
        for best in [1e-4, 0.3, 1e-3] {
            // From above an error shrinks by a factor of 0.8 per round.
            for _ in 0..100 {
                tuner.round(1.0 / (1.0 + tuner.scale() / best));
            }
            // acceptance = 1/(1 + h/h₀) is 0.6 at h = ⅔·h₀.
            assert!((tuner.scale() / (best * 2.0 / 3.0)).ln().abs() < 1e-6, "{}", tuner.scale());
        }
        tuner.round(0.0);
        assert!((tuner.scale() / (1e-3 * 2.0 / 3.0)).ln() + 2.0 < 1e-5);
        (0..30).for_each(|_| tuner.round(1.0));
        assert!((tuner.frozen() - 16.0).abs() < 1e-9);
    }
}
