//! The scale of the sampler while the model changes under it: moved after every iteration, never
//! frozen.

use saltus::Space;
use saltus::sampler::{Sampler, Scale};
use saltus::tune::{SATURATED_STEP, initial_scale};

/// Change of log(scale) by an iteration at which nothing, or everything, was accepted, in the long
/// run; a single iteration of hundreds of chains says where to go rather precisely.
const GAIN: f64 = 0.5;
/// Change by an iteration so far off that it only says in which direction to go.
const LARGEST_MOVE: f64 = 2.0;
/// How far off that is, as a share of what is possible.
const FAR_OFF: f64 = 0.9;

/// Follows a target acceptance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ScaleTuner {
    target: f64,
    log_scale: f64,
    limits: (f64, f64),
}

impl ScaleTuner {
    /// For a sampler; none if it has nothing to tune.
    pub(super) fn new(sampler: Sampler, space: &Space, target: Option<f64>) -> Option<Self> {
        if sampler.scale() == Scale::None {
            return None;
        }
        let target = target.or(sampler.target_acceptance())?;
        let (initial, (low, mut high)) = initial_scale(sampler, space)?;
        if sampler.scale() == Scale::StepSize {
            high = high.min(SATURATED_STEP);
        }
        Some(Self { target, log_scale: initial.ln(), limits: (low.ln(), high.ln()) })
    }

    /// The scale to use now.
    pub(super) fn scale(&self) -> f64 {
        self.log_scale.exp()
    }

    /// Its logarithm, as a checkpoint keeps it.
    pub(super) fn log_scale(&self) -> f64 {
        self.log_scale
    }

    /// Goes on from where a checkpoint was.
    pub(super) fn set_log_scale(&mut self, log_scale: f64) {
        self.log_scale = log_scale.clamp(self.limits.0, self.limits.1);
    }

    /// Takes in the mean acceptance of an iteration.
    pub(super) fn take(&mut self, acceptance: f64) {
        let room = if acceptance > self.target { 1.0 - self.target } else { self.target };
        let error = (acceptance - self.target) / room;
        let change =
            if error.abs() > FAR_OFF { error.signum() * LARGEST_MOVE } else { GAIN * error };
        self.set_log_scale(self.log_scale + change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_those_computed_by_hand() {
        let space = Space::new(300, 2).unwrap();
        let mut tuner = ScaleTuner::new(Sampler::Dlmc, &space, Some(0.6)).unwrap();
        // Three changed sites of 300.
        assert!((tuner.scale() - 0.01).abs() < 1e-12);
        // Half of the room above, a third of that below, all of it.
        for (acceptance, expected) in [(0.8, 0.25), (0.4, -0.5 / 3.0), (0.0, -2.0), (1.0, 2.0)] {
            let before = tuner.log_scale();
            tuner.take(acceptance);
            assert!((tuner.log_scale() - before - expected).abs() < 1e-12, "{acceptance}");
        }
        (0..100).for_each(|_| tuner.take(1.0));
        assert!((tuner.scale() - 2.0).abs() < 1e-9, "the cap of step sizes");
    }

    #[test]
    fn it_follows_a_target_that_moves() {
        let space = Space::new(300, 2).unwrap();
        let mut tuner = ScaleTuner::new(Sampler::Dlmc, &space, None).unwrap();
        for best in [0.5, 0.001, 1.0] {
            for _ in 0..100 {
                // 0.574 at 0.742 of `best`.
                tuner.take(1.0 / (1.0 + tuner.scale() / best));
            }
            let expected = best * (1.0 / 0.574 - 1.0);
            assert!((tuner.scale() / expected).ln().abs() < 0.01, "{best}: {}", tuner.scale());
        }
    }

    #[test]
    fn samplers_without_a_scale_are_not_tuned() {
        let space = Space::new(300, 2).unwrap();
        assert_eq!(ScaleTuner::new(Sampler::Gwg, &space, None), None);
        assert_eq!(ScaleTuner::new(Sampler::Gibbs, &space, Some(0.5)), None);
        let path = ScaleTuner::new(Sampler::Pas, &space, None).unwrap();
        assert!((path.scale() - 1.0).abs() < 1e-12);
    }
}
