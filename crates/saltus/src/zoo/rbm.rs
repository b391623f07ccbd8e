//! The restricted Boltzmann machine, from a file or with random weights.

use super::{Building, Built, Extent};
#[cfg(feature = "clap")]
use super::{MODEL, parse};
use crate::error::ModelError;
use crate::model::rbm::Rbm;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The restricted Boltzmann machine, from a file or with random weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default, deny_unknown_fields)]
pub struct RbmSpec {
    /// RBM in a safetensors file: weight, hidden_bias, visible_bias and perhaps data_mean
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE", help_heading = MODEL, conflicts_with_all = ["visible", "hidden", "values"]))]
    pub weights: Option<PathBuf>,
    /// Names of its tensors, if they are others; .T behind a name transposes
    #[cfg_attr(feature = "clap", arg(long, value_name = "weight=W.T,…", value_delimiter = ',', value_parser = parse::pair, help_heading = MODEL, requires = "weights"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub map: Vec<(String, String)>,
    /// Visible units of an RBM with random weights [default: 784]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true))]
    pub visible: Option<usize>,
    /// Hidden units of an RBM with random weights [default: 25]
    #[cfg_attr(feature = "clap", arg(long, value_name = "M", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true))]
    pub hidden: Option<usize>,
    /// Values per visible unit of an RBM with random weights [default: 2]
    #[cfg_attr(feature = "clap", arg(long, value_name = "C", help_heading = MODEL, value_parser = parse::values, allow_negative_numbers = true))]
    pub values: Option<usize>,
}

impl RbmSpec {
    pub(super) const NAME: &str = "rbm";

    pub(super) fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        self.weights.as_mut().into_iter().collect()
    }

    pub(super) fn build(&self, building: &Building<'_>) -> Result<Built, ModelError> {
        let (model, source) = match &self.weights {
            Some(path) => {
                // The name alone: where the file lies means nothing to who reads the picture.
                let name = path.file_name().unwrap_or(path.as_os_str()).display();
                let (model, assumed) = Rbm::load_as(path, &self.map)?;
                let assumed: String = assumed.iter().map(|one| format!("; {one}")).collect();
                (model, format!("from {name}{assumed}"))
            }
            None => {
                let (sites, hidden) = (self.visible.unwrap_or(784), self.hidden.unwrap_or(25));
                let values = self.values.unwrap_or(2);
                // Kept several times over: as weights, as exponentials, ready for the product.
                let parameters = sites.saturating_mul(values).saturating_mul(hidden);
                building.check(Extent { sites, values, parameters })?;
                let model = Rbm::random(sites, hidden, values, building.seed)?;
                (model, format!("with random weights{}", building.drawn()))
            }
        };
        let words =
            format!("restricted Boltzmann machine of {} hidden units {source}", model.hidden());
        Ok(Built::new(Self::NAME, words, model))
    }
}
