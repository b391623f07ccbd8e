//! What cluster moves share: bonds between sites that have what their pair likes, and what a field says to moving
//! many sites together.
//!
//! Given the state, a bond joins each satisfied pair with probability 1 − e^(−β|w|). Given the bonds, clusters are
//! independent of each other, and every move that keeps bonded pairs satisfied changes only their fields (Edwards
//! and Sokal 1988). On a path from independent sites these count as fields, too.

use super::{Chains, check_start};
use crate::error::{ModelError, StepError, StepFailure};
use crate::model::couplings::Couplings;
use crate::model::{Model, Rung};
use std::sync::Arc;

/// The couplings of a model, or why it has none.
#[derive(Clone, Debug)]
pub struct Clusters(Result<Arc<Couplings>, ModelError>);

impl Clusters {
    /// Those of a model.
    pub fn of<M: Model>(model: &M) -> Self {
        Self(model.couplings())
    }

    /// Fails with the reason why a model has none.
    pub(super) fn suits(&self) -> Result<(), ModelError> {
        self.0.as_ref().map(|_| ()).map_err(Clone::clone)
    }

    /// The number of pairs, none where there are no couplings.
    pub(super) fn pairs(&self) -> usize {
        self.0.as_ref().map_or(0, |couplings| couplings.pairs().len())
    }

    /// Whether a cluster would grow without end on a tree of as many neighbours as sites have on average, which is where single sites
    /// begin to be slow; not where fields hold clusters.
    pub(super) fn grow(&self) -> bool {
        let Ok(couplings) = &self.0 else { return false };
        let (sites, values) = (couplings.space().sites(), couplings.space().values() as f64);
        let around = 2.0 * couplings.pairs().len() as f64 / sites as f64;
        // The correlation of two neighbours.
        let carried = |kind: &u32| {
            let apart = (-couplings.weights()[*kind as usize].abs()).exp();
            (1.0 - apart) / (1.0 + (values - 1.0) * apart)
        };
        let sum: f64 = couplings.kinds().iter().map(carried).sum();
        let carried = sum / couplings.pairs().len().max(1) as f64;
        !couplings.has_field() && (around - 1.0) * carried > 1.0
    }

    /// The couplings.
    pub(super) fn couplings(&self) -> Result<&Couplings, StepError> {
        match &self.0 {
            Ok(couplings) => Ok(couplings),
            Err(error) => Err(StepError { chain: 0, cause: StepFailure::Model(error.clone()) }),
        }
    }

    /// Evaluates chains.
    pub(super) fn start(&self, chains: &mut Chains) -> Result<(), StepError> {
        let couplings = self.couplings()?;
        for chain in 0..chains.len() {
            let log_prob = couplings.log_prob(chains.state(chain));
            chains.log_prob[chain] = check_start(chain, log_prob)?;
        }
        chains.evaluate_base();
        Ok(())
    }
}

/// The probabilities of bonds at one inverse temperature after another.
#[derive(Debug, Default)]
pub(super) struct Bonds {
    factor: Option<f64>,
    /// Of each kind of pair.
    pub(super) probabilities: Vec<f64>,
}

impl Bonds {
    /// Makes them those of a rung.
    pub(super) fn set(&mut self, couplings: &Couplings, rung: Rung<'_>) {
        let factor = rung.factor();
        if self.factor != Some(factor) {
            let bond = |weight: &f64| -(-factor * weight.abs()).exp_m1();
            self.probabilities.clear();
            self.probabilities.extend(couplings.weights().iter().map(bond));
            self.factor = Some(factor);
        }
    }
}

/// Whether a pair of that weight has what it likes.
#[inline]
pub(super) fn is_satisfied(weight: f64, one: u8, other: u8) -> bool {
    (one == other) == (weight > 0.0)
}

/// Whether some value of a site is likelier than another by itself, on a rung.
pub(super) fn has_field(couplings: &Couplings, rung: Rung<'_>) -> bool {
    couplings.has_field() || rung.base.is_some_and(|base| !base.is_uniform())
}

/// By how much fields on a rung change if a site alone takes another value.
#[inline]
pub(super) fn field_change(
    couplings: &Couplings,
    rung: Rung<'_>,
    site: usize,
    (from, to): (u8, u8),
) -> f64 {
    let of_model = couplings.field(site, to) - couplings.field(site, from);
    match rung.base {
        None => of_model,
        Some(base) => rung.mix(of_model, base.change(site, from, to)),
    }
}
