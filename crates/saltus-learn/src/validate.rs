//! How likely a model finds examples that it did not learn from, by annealing in both directions.

use crate::clock::Spent;
use crate::pcd::TrainError;
use saltus::Control;
use saltus::Model;
use saltus::ais::{Ais, AisError, AisSettings, Estimate, mean_log_prob};
use serde::{Deserialize, Serialize};

/// A look at a model in the course of its training.
///
/// log Z is low on average by chains that come from independent sites, so that the likelihood is high; in reverse, from
/// examples, it is the other way round if the model has learnt them. Where both agree, and several chains count, the
/// numbers can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// Iterations made.
    pub iteration: usize,
    /// Minutes of training until then.
    pub minutes: f64,
    /// Minutes that processors computed for it; not in files of before they were counted.
    #[serde(default)]
    pub processor_minutes: f64,
    /// Mean log-likelihood of the examples, in nats.
    pub log_likelihood: f64,
    /// Standard error of log Z.
    pub log_z_se: Option<f64>,
    /// How many forward chains of equal weight the chains are worth.
    pub effective_chains: f64,
    /// The same with log Z of chains that went back from the examples.
    pub log_likelihood_reverse: Option<f64>,
    /// How many of those the chains are worth.
    pub effective_chains_reverse: Option<f64>,
}

impl Validation {
    /// What models are compared by: the lower of the two, which no direction alone can make high.
    pub fn score(&self) -> f64 {
        self.log_likelihood_reverse
            .map_or(self.log_likelihood, |reverse| self.log_likelihood.min(reverse))
    }

    /// The best of several, the first if there are equals.
    pub fn best(all: &[Self]) -> Option<&Self> {
        all.iter().reduce(|best, other| if other.score() > best.score() { other } else { best })
    }
}

/// Judges a model by states, one after the other, of which the first are where chains go back from; nothing comes back if the
/// monitor asks to stop.
pub fn validate<M: Model>(
    model: &M,
    states: &[u8],
    settings: &AisSettings,
    (iteration, spent): (usize, Spent),
    mut monitor: impl FnMut() -> Control,
) -> Result<Option<Validation>, TrainError> {
    let sites = model.space().sites();
    let starts = &states[..states.len().min(settings.chains * sites)];
    let failed = |error: AisError| TrainError::Annealing(error.to_string());
    let outcome = Ais::new(model, settings.clone())
        .reverse_from(starts.to_vec())
        .monitor(|_| monitor())
        .go()
        .map_err(failed)?;
    let Some(forward) = outcome.forward else { return Ok(None) };
    let mean = mean_log_prob(model, states, settings.threads, |_, _| Control::Continue)?;
    let Some(mean) = mean else { return Ok(None) };
    let likelihood = |estimate: Estimate| mean - estimate.log_z;
    Ok(Some(Validation {
        iteration,
        minutes: spent.seconds / 60.0,
        processor_minutes: spent.processor_seconds / 60.0,
        log_likelihood: likelihood(forward),
        log_z_se: forward.standard_error,
        effective_chains: forward.effective_chains,
        log_likelihood_reverse: outcome.reverse.map(likelihood),
        effective_chains_reverse: outcome.reverse.map(|reverse| reverse.effective_chains),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus::Rbm;

    #[test]
    fn the_likelihood_is_that_of_all_states_listed() {
        let rbm = Rbm::random(8, 4, 2, 3).unwrap();
        let listed = rbm.enumerate(None, |_, _| Control::Continue).unwrap().unwrap();
        let states: Vec<u8> = (0..40 * 8).map(|at| u8::from(at * 37 % 11 < 5)).collect();
        let settings = AisSettings { chains: 200, temperatures: 300, ..AisSettings::default() };
        let spent = Spent { seconds: 90.0, processor_seconds: 150.0 };
        let found =
            validate(&rbm, &states, &settings, (7, spent), || Control::Continue).unwrap().unwrap();
        let mean = mean_log_prob(&rbm, &states, None, |_, _| Control::Continue).unwrap().unwrap();
        let exact = mean - listed.log_z();
        let allowed = 5.0 * found.log_z_se.unwrap();
        assert!((found.log_likelihood - exact).abs() < allowed, "{found:?}, exactly {exact}");
        assert_eq!((found.iteration, found.minutes, found.processor_minutes), (7, 1.5, 2.5));
        assert!(found.effective_chains > 50.0 && found.effective_chains_reverse.is_some());
        assert!(found.score() <= found.log_likelihood);
        let stopped = validate(&rbm, &states, &settings, (7, spent), || Control::Stop).unwrap();
        assert_eq!(stopped, None);
    }

    #[test]
    fn the_best_is_the_first_of_the_highest_that_both_directions_allow() {
        let of = |iteration, log_likelihood, reverse| Validation {
            iteration,
            minutes: 0.0,
            processor_minutes: 0.0,
            log_likelihood,
            log_z_se: None,
            effective_chains: 1.0,
            log_likelihood_reverse: reverse,
            effective_chains_reverse: None,
        };
        // The second is high in one direction alone.
        let all = [of(1, -90.0, Some(-91.0)), of(2, -80.0, Some(-99.0)), of(3, -91.0, None)];
        assert_eq!(Validation::best(&all).unwrap().iteration, 1);
        assert_eq!(Validation::best(&[]), None);
    }
}
