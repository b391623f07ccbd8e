//! The Ising model on a lattice.

use super::presets::BinaryPreset;
use super::{Building, Size, Title, UseModel, exact};
#[cfg(feature = "clap")]
use super::{MODEL, parse};
use crate::error::ModelError;
use crate::model::pairwise::Pairwise;
use crate::model::paper;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The Ising model on a lattice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default, deny_unknown_fields)]
pub struct IsingSpec {
    /// The paper's recipe of that temperature, with a random field [default: high]
    #[cfg_attr(feature = "clap", arg(long, value_name = "low|high", hide_possible_values = true, help_heading = MODEL))]
    pub preset: Option<BinaryPreset>,
    /// Rows and columns, or one number for a square [default: 50x50]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RxC", help_heading = MODEL, allow_hyphen_values = true))]
    pub size: Option<Size>,
    /// Coupling J between all neighbours: without --preset a plain model, with it the recipe's field
    /// [default: the recipe's, or 0.4 with --field alone]
    #[cfg_attr(feature = "clap", arg(long, value_name = "J", help_heading = MODEL, value_parser = parse::finite_single, allow_negative_numbers = true))]
    pub coupling: Option<f32>,
    /// The same field B at all sites [default: the recipe's, or 0 with --coupling alone]
    #[cfg_attr(feature = "clap", arg(long, value_name = "B", help_heading = MODEL, value_parser = parse::finite_single, allow_negative_numbers = true))]
    pub field: Option<f32>,
    /// Join opposite rims
    #[cfg_attr(feature = "clap", arg(long, help_heading = MODEL))]
    pub periodic: bool,
}

impl IsingSpec {
    pub(super) const NAME: &str = "ising";

    pub(super) fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        Vec::new()
    }

    pub(super) fn build<U: UseModel>(
        &self,
        building: &Building<'_>,
        user: U,
    ) -> Result<U::Output, ModelError> {
        let size = self.size.unwrap_or(Size { rows: 50, columns: 50 });
        let lattice = size.lattice(self.periodic)?;
        building.check_sparse(lattice.sites(), 2)?;
        // Without a preset of their own, a coupling or a field stand for a plain model.
        let plain = self.coupling.is_some() || self.field.is_some();
        let recipe =
            (self.preset.is_some() || !plain).then(|| BinaryPreset::temperature(self.preset));
        let (mut coupling, mut field) = match recipe {
            Some((temperature, _)) => paper::ising_parameters(temperature, lattice, building.seed),
            None => (0.4, vec![0.0; lattice.sites()]),
        };
        coupling = self.coupling.unwrap_or(coupling);
        if let Some(uniform) = self.field {
            field.fill(uniform);
        }
        let field_words = match (self.field, recipe) {
            (Some(uniform), _) => format!("field {} everywhere", exact(uniform)),
            (None, Some(_)) => format!("a random field{}", building.drawn()),
            (None, None) => "no field".to_owned(),
        };
        let recipe_words =
            recipe.map_or(String::new(), |(_, word)| format!("recipe '{word}' with "));
        let parameters = format!("{recipe_words}coupling {} and {field_words}", exact(coupling));
        let model = Pairwise::ising_lattice(lattice, coupling, field)?;
        let words = format!("Ising model on {}, {parameters}", size.words(self.periodic));
        Ok(user.call(Title { name: Self::NAME, words }, model))
    }
}
