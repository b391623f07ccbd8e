//! The Ising model on a lattice.

use super::presets::BinaryPreset;
use super::{Building, Built, Shape, Size, exact};
#[cfg(feature = "clap")]
use super::{MODEL, parse};
use crate::error::ModelError;
use crate::model::grid::{self, Disorder};
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
    /// Rows and columns, or any number of dimensions such as 8x8x8, or one number for a square [default: 50x50]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RxC", help_heading = MODEL, allow_hyphen_values = true))]
    pub size: Option<Shape>,
    /// Coupling J between all neighbours: without --preset a plain model, with it the recipe's field
    /// [default: the recipe's, or 0.4 with --field alone]
    #[cfg_attr(feature = "clap", arg(long, value_name = "J", help_heading = MODEL, value_parser = parse::finite_single, allow_negative_numbers = true))]
    pub coupling: Option<f32>,
    /// The same field B at all sites [default: the recipe's, or 0 with --coupling alone]
    #[cfg_attr(feature = "clap", arg(long, value_name = "B", help_heading = MODEL, value_parser = parse::finite_single, allow_negative_numbers = true))]
    pub field: Option<f32>,
    /// The recipe by the letter of the paper's text: couplings of equal values 0 and 1, and fields of value 1, which are half
    /// of those of the authors' code
    #[cfg_attr(feature = "clap", arg(long, help_heading = MODEL, conflicts_with = "disorder"))]
    pub text: bool,
    /// Join opposite rims
    #[cfg_attr(feature = "clap", arg(long, help_heading = MODEL))]
    pub periodic: bool,
    /// Random couplings of scale J [default of J: 1], drawn by --model-seed: +J or −J, or normal
    #[cfg_attr(feature = "clap", arg(long, value_name = "pm|gaussian", hide_possible_values = true, help_heading = MODEL, conflicts_with = "preset"))]
    pub disorder: Option<Disorder>,
}

impl IsingSpec {
    pub(super) const NAME: &str = "ising";

    pub(super) fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        Vec::new()
    }

    pub(super) fn build(&self, building: &Building<'_>) -> Result<Built, ModelError> {
        let size = match self.size.as_ref().map(|shape| &shape.0[..]) {
            None => Size { rows: 50, columns: 50 },
            Some(&[rows, columns]) if self.disorder.is_none() => Size { rows, columns },
            Some(shape) => return self.build_grid(shape, building),
        };
        if self.disorder.is_some() {
            return self.build_grid(&[size.rows, size.columns], building);
        }
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
        if self.text && recipe.is_none() {
            return Err(ModelError::invalid("the text is one of a recipe: name a preset"));
        }
        if self.text {
            // λ·δ(x, y) is λ·ss′/2 and b·x is b·s/2, up to constants.
            coupling *= 0.5;
            field.iter_mut().for_each(|field| *field *= 0.5);
        }
        coupling = self.coupling.unwrap_or(coupling);
        if let Some(uniform) = self.field {
            field.fill(uniform);
        }
        let field_words = match (self.field, recipe) {
            (Some(uniform), _) => format!("field {} everywhere", exact(uniform)),
            (None, Some(_)) => format!("a random field{}", building.drawn()),
            (None, None) => "no field".to_owned(),
        };
        let recipe_words = recipe.map_or(String::new(), |(_, word)| match self.text {
            true => format!("recipe '{word}' by the text with "),
            false => format!("recipe '{word}' with "),
        });
        let parameters = format!("{recipe_words}coupling {} and {field_words}", exact(coupling));
        let model = Pairwise::ising_lattice(lattice, coupling, field)?;
        let words = format!("Ising model on {}, {parameters}", size.words(self.periodic));
        Ok(Built::new(Self::NAME, words, model))
    }

    /// Grids of any dimension, and random couplings: no recipe of the paper is of them.
    fn build_grid(&self, shape: &[usize], building: &Building<'_>) -> Result<Built, ModelError> {
        if self.preset.is_some() || self.text {
            return Err(ModelError::invalid(
                "the recipes are for lattices of two dimensions: leave out the preset",
            ));
        }
        let sites = shape.iter().fold(1usize, |sites, length| sites.saturating_mul(*length));
        building.check_sparse(sites.saturating_mul(shape.len()), 2)?;
        let usual = if self.disorder.is_some() { 1.0 } else { 0.2 };
        let (coupling, field) = (self.coupling.unwrap_or(usual), self.field.unwrap_or(0.0));
        let disorder = self.disorder.map(|disorder| (disorder, building.seed));
        let edges = grid::edges(shape, self.periodic, coupling, disorder)?;
        let model = Pairwise::ising(&edges, vec![field; sites])?.with_shape(shape)?;
        let couplings = match self.disorder {
            None => format!("coupling {}", exact(coupling)),
            Some(Disorder::Pm) => format!("couplings ±{}{}", exact(coupling), building.drawn()),
            Some(Disorder::Gaussian) => {
                format!("normal couplings of scale {}{}", exact(coupling), building.drawn())
            }
        };
        let grid = Shape(shape.to_vec());
        let kind = if self.periodic { "periodic grid" } else { "grid" };
        let field =
            if field == 0.0 { "no field".to_owned() } else { format!("field {}", exact(field)) };
        let words = format!("Ising model on a {grid} {kind}, {couplings} and {field}");
        Ok(Built::new(Self::NAME, words, model))
    }
}
