//! Independent sites of several values with random weights.

use super::presets::ValuesPreset;
use super::{Building, Built};
#[cfg(feature = "clap")]
use super::{MODEL, parse};
use crate::error::ModelError;
use crate::model::paper;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Independent sites of several values with random weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default, deny_unknown_fields)]
pub struct CategoricalSpec {
    /// The paper's recipe of that many values, 2000 sites [default: c4]
    #[cfg_attr(feature = "clap", arg(long, value_name = "c4|c8", hide_possible_values = true, help_heading = MODEL))]
    pub preset: Option<ValuesPreset>,
    /// Number of sites
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true))]
    pub sites: Option<usize>,
    /// Values per site
    #[cfg_attr(feature = "clap", arg(long, value_name = "C", help_heading = MODEL, value_parser = parse::values, allow_negative_numbers = true))]
    pub values: Option<usize>,
}

impl CategoricalSpec {
    pub(super) const NAME: &str = "categorical";

    pub(super) fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        Vec::new()
    }

    pub(super) fn build(&self, building: &Building<'_>) -> Result<Built, ModelError> {
        let sites = self.sites.unwrap_or(2000);
        let values = self.values.unwrap_or(ValuesPreset::values(self.preset));
        building.check_sparse(sites, values)?;
        let model = paper::categorical(sites, values, building.seed)?;
        let words =
            format!("independent sites of {values} values with random weights{}", building.drawn());
        Ok(Built::new(Self::NAME, words, model))
    }
}
