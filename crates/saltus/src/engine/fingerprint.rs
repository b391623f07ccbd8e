//! By what a checkpoint knows the model and the settings it belongs to.

use crate::model::Model;
use crate::rng::{ChainRng, Stream};
use crate::space::{Space, States};
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Larger relative differences of log π mean another model; smaller ones another processor.
const SAME_LOG_PROB: f64 = 1e-9;

/// What a computation on a model is known by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fingerprint {
    /// The settings that decide what the chains do, written down.
    settings: String,
    sites: usize,
    values: usize,
    /// Of the numbers of values of all sites.
    space: u64,
    /// log π at a few random states.
    log_probs: Vec<f64>,
    /// Of the states that chains were given to start from.
    starts: u64,
}

impl Fingerprint {
    /// That of a model with settings that can be written down.
    pub(crate) fn of<M: Model>(model: &M, settings: &impl Serialize, seed: u64) -> Self {
        let space = model.space();
        let cardinalities: Vec<u8> =
            (0..space.sites()).map(|site| (space.values_at(site) - 1) as u8).collect();
        Self {
            settings: serde_json::to_string(settings).unwrap_or_default(),
            sites: space.sites(),
            values: space.values(),
            space: if space.is_uniform() { 0 } else { hash(&cardinalities) },
            log_probs: probe(model, seed),
            starts: 0,
        }
    }

    /// The same with another model that takes part, as the base of a path.
    pub(crate) fn with_log_probs(mut self, further: Vec<f64>) -> Self {
        self.log_probs.extend(further);
        self
    }

    /// The same with states that chains were given to start from.
    pub(crate) fn with_starts(mut self, starts: &[u8]) -> Self {
        self.starts = hash(starts);
        self
    }

    /// Says in what another computation differs.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        if (self.sites, self.values) != (other.sites, other.values) {
            return Some(format!(
                "it is of a model of {} sites × {} values, this one has {} × {}",
                self.sites, self.values, other.sites, other.values
            ));
        }
        if self.space != other.space {
            return Some("it is of a model whose sites have other numbers of values".to_owned());
        }
        if self.settings != other.settings {
            return Some("it was made with other settings".to_owned());
        }
        other_model(&self.log_probs, &other.log_probs).or_else(|| {
            let others = self.starts != other.starts;
            others.then(|| "its reverse chains started from other states".to_owned())
        })
    }
}

/// States at which models are recognised.
pub(crate) fn probes(space: &Space, seed: u64) -> Vec<u8> {
    let mut rng = ChainRng::new(seed, Stream::Fingerprint);
    (0..3 * space.sites()).map(|at| rng.below(space.values_at(at % space.sites())) as u8).collect()
}

/// Evaluates a model at a few random states; where it cannot be, log π is not a number.
fn probe<M: Model>(model: &M, seed: u64) -> Vec<f64> {
    let space = model.space();
    let states = probes(space, seed);
    let mut cache = model.new_cache(1);
    let evaluate = |state: &[u8]| {
        let mut log_prob = [f64::NAN];
        let states = States::new(state, space.sites());
        // The code of a user may panic; the run will say so at its first step.
        let evaluate = AssertUnwindSafe(|| model.log_prob(states, &mut cache, &mut log_prob));
        match catch_unwind(evaluate) {
            Ok(Ok(())) => log_prob[0],
            Ok(Err(_)) | Err(_) => f64::NAN,
        }
    };
    states.chunks_exact(space.sites()).map(evaluate).collect()
}

/// Says by which log π of a few states two models differ, if they do.
fn other_model(there: &[f64], here: &[f64]) -> Option<String> {
    let mut others = there.iter().zip(here).filter(|(one, other)| {
        let same = one.to_bits() == other.to_bits();
        // NaN is close to nothing.
        let close = (*one - *other).abs() <= SAME_LOG_PROB * one.abs().max(1.0);
        !same && !close
    });
    let (one, other) = others.next()?;
    Some(format!("it is of another model: log π of a state was {one} there and is {other} here"))
}

/// FNV-1a of 64 bits: it tells states apart, and is the same on every machine and in every version.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_specification() {
        let cases = [
            ("", 0xcbf2_9ce4_8422_2325_u64),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ];
        for (text, expected) in cases {
            assert_eq!(hash(text.as_bytes()), expected, "{text}");
        }
    }
}
