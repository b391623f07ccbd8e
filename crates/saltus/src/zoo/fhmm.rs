//! The factorial hidden Markov model behind a simulated series.

use super::{Building, Built};
#[cfg(feature = "clap")]
use super::{MODEL, parse};
use crate::error::ModelError;
use crate::model::fhmm::Fhmm;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The factorial hidden Markov model behind a simulated series.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default, deny_unknown_fields)]
pub struct FhmmSpec {
    /// The paper's recipe of that shape [default: high]: 100 steps of 20 chains (low) or 200 of 10,
    /// of 2 (low, high), 4 (c4) or 8 (c8) values
    #[cfg_attr(feature = "clap", arg(long, value_name = "low|high|c4|c8", hide_possible_values = true, help_heading = MODEL))]
    pub preset: Option<FhmmPreset>,
    /// Number of time steps
    #[cfg_attr(feature = "clap", arg(long, value_name = "L", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true))]
    pub length: Option<usize>,
    /// Number of hidden chains
    #[cfg_attr(feature = "clap", arg(long, value_name = "K", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true))]
    pub factors: Option<usize>,
    /// Values of each hidden chain
    #[cfg_attr(feature = "clap", arg(long, value_name = "C", help_heading = MODEL, value_parser = parse::values, allow_negative_numbers = true))]
    pub values: Option<usize>,
}

impl FhmmSpec {
    pub(super) const NAME: &str = "fhmm";

    pub(super) fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        Vec::new()
    }

    pub(super) fn build(&self, building: &Building<'_>) -> Result<Built, ModelError> {
        let (length, factors, values) = match self.preset {
            Some(FhmmPreset::Low) => (100, 20, 2),
            None | Some(FhmmPreset::High) => (200, 10, 2),
            Some(FhmmPreset::C4) => (200, 10, 4),
            Some(FhmmPreset::C8) => (200, 10, 8),
        };
        let length = self.length.unwrap_or(length);
        let factors = self.factors.unwrap_or(factors);
        let values = self.values.unwrap_or(values);
        building.check_sparse(length.saturating_mul(factors), values)?;
        let model = Fhmm::simulate(length, factors, values, building.seed)?;
        let words = format!(
            "factorial hidden Markov model of {length} time steps and {factors} hidden chains{}",
            building.drawn()
        );
        Ok(Built::new(Self::NAME, words, model))
    }
}

/// Shape of a factorial hidden Markov model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum FhmmPreset {
    /// 100 time steps, 20 chains of two values
    Low,
    /// 200 time steps, 10 chains of two values
    High,
    /// 200 time steps, 10 chains of four values
    C4,
    /// 200 time steps, 10 chains of eight values
    C8,
}
