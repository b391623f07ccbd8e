//! The Potts model on a lattice.

use super::presets::ValuesPreset;
use super::{Building, Built, Size, exact};
#[cfg(feature = "clap")]
use super::{MODEL, parse};
use crate::error::ModelError;
use crate::model::pairwise::Pairwise;
use crate::model::paper;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The Potts model on a lattice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default, deny_unknown_fields)]
pub struct PottsSpec {
    /// The paper's recipe of that many values, with a random field [default: c4]
    #[cfg_attr(feature = "clap", arg(long, value_name = "c4|c8", hide_possible_values = true, help_heading = MODEL))]
    pub preset: Option<ValuesPreset>,
    /// Rows and columns, or one number for a square [default: 30x30]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RxC", help_heading = MODEL, allow_hyphen_values = true))]
    pub size: Option<Size>,
    /// Values per site
    #[cfg_attr(feature = "clap", arg(long, value_name = "C", help_heading = MODEL, value_parser = parse::values, allow_negative_numbers = true))]
    pub values: Option<usize>,
    /// Coupling J between all neighbours; without --preset, and with no field [default: 1]
    #[cfg_attr(feature = "clap", arg(long, value_name = "J", help_heading = MODEL, value_parser = parse::finite_single, allow_negative_numbers = true))]
    pub coupling: Option<f32>,
    /// Join opposite rims
    #[cfg_attr(feature = "clap", arg(long, help_heading = MODEL))]
    pub periodic: bool,
}

impl PottsSpec {
    pub(super) const NAME: &str = "potts";

    pub(super) fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        Vec::new()
    }

    pub(super) fn build(&self, building: &Building<'_>) -> Result<Built, ModelError> {
        let size = self.size.unwrap_or(Size { rows: 30, columns: 30 });
        let values = self.values.unwrap_or(ValuesPreset::values(self.preset));
        let lattice = size.lattice(self.periodic)?;
        building.check_sparse(lattice.sites(), values)?;
        let coupling = self.coupling.unwrap_or(1.0);
        let (field, words) = if self.preset.is_some() || self.coupling.is_none() {
            let field = paper::potts_field(lattice, values, building.seed);
            (field, format!("a random field{}", building.drawn()))
        } else {
            (vec![0.0; lattice.sites() * values], "no field".to_owned())
        };
        let parameters = format!("coupling {} and {words}", exact(coupling));
        let model = Pairwise::potts_lattice(lattice, values, coupling, &field)?;
        let words = format!("Potts model on {}, {parameters}", size.words(self.periodic));
        Ok(Built::new(Self::NAME, words, model))
    }
}
