//! The models that commands know: those of the library's registry, and deep ones.

use clap::Subcommand;
use saltus::zoo::ModelSpec;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;

/// A model and its own options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Subcommand)]
#[serde(untagged)]
pub enum ModelArguments {
    /// Of the registry.
    #[command(flatten)]
    Zoo(ModelSpec),
    /// Deep ones.
    #[cfg(feature = "deep")]
    #[command(flatten)]
    Deep(DeepSpec),
    /// Whatever is not the name of a model: a file, which is looked at before anything is done.
    #[serde(skip)]
    #[command(external_subcommand)]
    Unnamed(Vec<OsString>),
}

/// A model that was learnt by a network.
#[cfg(feature = "deep")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Subcommand)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum DeepSpec {
    /// Deep energy-based model that `saltus train resnet` learnt
    Resnet(ResnetArguments),
}

#[cfg(feature = "deep")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct ResnetArguments {
    /// Model in a safetensors file, as `saltus train resnet` leaves it: model.safetensors
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub weights: PathBuf,
}

impl ModelArguments {
    /// The files that the model is read from.
    pub fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        match self {
            Self::Zoo(spec) => spec.paths_mut(),
            #[cfg(feature = "deep")]
            Self::Deep(DeepSpec::Resnet(arguments)) => vec![&mut arguments.weights],
            Self::Unnamed(_) => Vec::new(),
        }
    }
}
