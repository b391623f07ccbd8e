//! Independent bits with random weights.

use super::presets::BinaryPreset;
use super::{Building, Built};
#[cfg(feature = "clap")]
use super::{MODEL, parse};
use crate::error::ModelError;
use crate::model::paper;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Independent bits with random weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default, deny_unknown_fields)]
pub struct BernoulliSpec {
    /// The paper's recipe of that temperature, 10000 sites [default: high]
    #[cfg_attr(feature = "clap", arg(long, value_name = "low|high", hide_possible_values = true, help_heading = MODEL))]
    pub preset: Option<BinaryPreset>,
    /// Number of sites
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true))]
    pub sites: Option<usize>,
}

impl BernoulliSpec {
    pub(super) const NAME: &str = "bernoulli";

    pub(super) fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        Vec::new()
    }

    pub(super) fn build(&self, building: &Building<'_>) -> Result<Built, ModelError> {
        let sites = self.sites.unwrap_or(10_000);
        building.check_sparse(sites, 2)?;
        let (temperature, word) = BinaryPreset::temperature(self.preset);
        let model = paper::bernoulli(temperature, sites, building.seed)?;
        let words = format!("independent bits, recipe '{word}'{}", building.drawn());
        Ok(Built::new(Self::NAME, words, model))
    }
}
