//! Everything from which stopped chains go on as if they had never stopped.

use super::fingerprint::Fingerprint;
use crate::rng::ChainRng;
use crate::space::Space;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// One chain where it was last evaluated afresh, so that its state, its random stream and what its
/// kernel carries on are all there is to know.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ChainSnapshot {
    pub(crate) state: Vec<u8>,
    pub(crate) rng: ChainRng,
    /// What the kernel carries on, written down; the type is the kernel's.
    own: Vec<u8>,
}

impl ChainSnapshot {
    pub(crate) fn new<Own: Serialize>(state: &[u8], rng: &ChainRng, own: &Own) -> Self {
        let own = postcard::to_stdvec(own).unwrap_or_default();
        Self { state: state.to_vec(), rng: rng.clone(), own }
    }

    pub(crate) fn own<Own: DeserializeOwned>(&self) -> Result<Own, String> {
        let failed = |error| format!("what a kernel carried on cannot be read: {error}");
        postcard::from_bytes(&self.own).map_err(failed)
    }
}

/// Chains at a step, and what their driver knows of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Checkpoint<Driver> {
    pub(crate) fingerprint: Fingerprint,
    /// Steps that every chain has made.
    pub(crate) steps: usize,
    pub(crate) chains: Vec<ChainSnapshot>,
    pub(crate) driver: Driver,
}

impl<Driver> Checkpoint<Driver> {
    /// Fails with the reason if so many chains of that space cannot go on from here.
    pub(crate) fn check(
        &self,
        here: &Fingerprint,
        space: &Space,
        chains: usize,
    ) -> Result<(), String> {
        if let Some(difference) = self.fingerprint.difference(here) {
            return Err(difference);
        }
        if self.chains.len() != chains
            || self.chains.iter().any(|chain| damaged_chain(chain, space))
        {
            return Err("its chains are not whole".to_owned());
        }
        Ok(())
    }
}

/// Whether a chain that was read from a file cannot be one of that space.
fn damaged_chain(chain: &ChainSnapshot, space: &Space) -> bool {
    !chain.rng.is_sound()
        || chain.state.len() != space.sites()
        || space.misplaced(&chain.state).is_some()
}
