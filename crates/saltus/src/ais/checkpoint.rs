//! Everything from which annealing that was stopped goes on as if it had not been.

use super::block::ChainSnapshot;
use super::pilot::Scales;
use super::{AisError, AisSettings};
use crate::checkpoint::other_model;
use serde::{Deserialize, Serialize};

/// The chains between two temperatures, and by what the annealing they belong to is known.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AisCheckpoint {
    pub(super) fingerprint: Fingerprint,
    pub(super) seconds: f64,
    pub(super) scales: Scales,
    /// Visits that every chain has made.
    pub(super) visits: usize,
    /// Forward chains, then reverse ones.
    pub(super) chains: Vec<ChainSnapshot>,
}

/// By what a checkpoint knows model, settings and starts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Fingerprint {
    pub(super) settings: AisSettings,
    /// Whether the two layers of a machine are redrawn in turn.
    pub(super) alternating: bool,
    pub(super) sites: usize,
    pub(super) values: usize,
    pub(super) reverse_chains: usize,
    /// log π of a few states, and log p of the same.
    pub(super) log_probs: Vec<f64>,
    /// Hash of the states that reverse chains started from.
    pub(super) starts: u64,
}

/// FNV-1a of 64 bits: it tells states apart, and is the same on every machine and in every version.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

impl Fingerprint {
    /// Says in what another annealing differs.
    fn difference(&self, other: &Self) -> Option<String> {
        if (self.sites, self.values) != (other.sites, other.values) {
            return Some(format!(
                "it is of a model of {} sites × {} values, this one has {} × {}",
                self.sites, self.values, other.sites, other.values
            ));
        }
        if self.settings != other.settings || self.alternating != other.alternating {
            return Some("it is of annealing with other settings".to_owned());
        }
        if self.reverse_chains != other.reverse_chains {
            return Some(format!(
                "it has {} reverse chains, this annealing has {}",
                self.reverse_chains, other.reverse_chains
            ));
        }
        other_model(&self.log_probs, &other.log_probs).or_else(|| {
            let others = self.starts != other.starts;
            others.then(|| "its reverse chains started from other states".to_owned())
        })
    }
}

impl AisCheckpoint {
    /// Temperatures that every chain has been at.
    pub fn visits(&self) -> usize {
        self.visits
    }

    /// Fails with the reason if annealing like this cannot go on from here.
    pub(super) fn check(&self, here: &Fingerprint) -> Result<(), AisError> {
        if let Some(difference) = self.fingerprint.difference(here) {
            return Err(AisError::Checkpoint(difference));
        }
        let Fingerprint { settings, sites, values, reverse_chains, .. } = &self.fingerprint;
        let sound = |chain: &ChainSnapshot| {
            chain.rng.is_sound()
                && chain.state.len() == *sites
                && chain.state.iter().all(|value| usize::from(*value) < *values)
        };
        let whole = self.chains.len() == settings.chains + reverse_chains;
        if !whole || !self.chains.iter().all(sound) || !self.scales.are_sound() {
            return Err(AisError::Checkpoint("its chains are not whole".to_owned()));
        }
        Ok(())
    }
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
