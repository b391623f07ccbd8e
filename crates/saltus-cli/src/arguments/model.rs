//! The models and their options, as they are written on the command line and in a store.

use crate::parse::{self, Size};
use clap::{Args, Subcommand, ValueEnum};
use saltus::Differences;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A model and its own options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Subcommand)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum ModelArguments {
    /// Independent bits with random weights
    Bernoulli(BernoulliArguments),
    /// Independent sites of several values with random weights
    Categorical(CategoricalArguments),
    /// Ising model on a lattice: spins that like to agree with their neighbours
    Ising(IsingArguments),
    /// Potts model on a lattice: values that like to agree with their neighbours
    Potts(PottsArguments),
    /// Factorial hidden Markov model: hidden chains behind a simulated series
    Fhmm(FhmmArguments),
    /// Restricted Boltzmann machine: visible units joined through hidden ones
    Rbm(RbmArguments),
    /// Deep energy-based model that `saltus train resnet` learnt
    #[cfg(feature = "deep")]
    Resnet(ResnetArguments),
    /// Couplings and fields on any graph, read from text files
    Pairwise(PairwiseArguments),
}

const MODEL: &str = "Model";

/// Sharpness of a target with two values per site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum BinaryPreset {
    /// The sharp version
    Low,
    /// The flat version
    High,
}

/// Number of values of a target with more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ValuesPreset {
    /// Four values per site
    C4,
    /// Eight values per site
    C8,
}

/// Shape of a factorial hidden Markov model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Args)]
#[serde(deny_unknown_fields)]
pub struct BernoulliArguments {
    /// The paper's recipe of that temperature, 10000 sites [default: high]
    #[arg(long, value_name = "low|high", hide_possible_values = true, help_heading = MODEL)]
    pub preset: Option<BinaryPreset>,
    /// Number of sites
    #[arg(long, value_name = "N", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true)]
    pub sites: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Args)]
#[serde(deny_unknown_fields)]
pub struct CategoricalArguments {
    /// The paper's recipe of that many values, 2000 sites [default: c4]
    #[arg(long, value_name = "c4|c8", hide_possible_values = true, help_heading = MODEL)]
    pub preset: Option<ValuesPreset>,
    /// Number of sites
    #[arg(long, value_name = "N", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true)]
    pub sites: Option<usize>,
    /// Values per site
    #[arg(long, value_name = "C", help_heading = MODEL, value_parser = parse::values, allow_negative_numbers = true)]
    pub values: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Args)]
#[serde(deny_unknown_fields)]
pub struct IsingArguments {
    /// The paper's recipe of that temperature, with a random field [default: high]
    #[arg(long, value_name = "low|high", hide_possible_values = true, help_heading = MODEL)]
    pub preset: Option<BinaryPreset>,
    /// Rows and columns, or one number for a square [default: 50x50]
    #[arg(long, value_name = "RxC", help_heading = MODEL, allow_hyphen_values = true)]
    pub size: Option<Size>,
    /// Coupling J between all neighbours: without --preset a plain model, with it the recipe's field
    /// [default: the recipe's, or 0.4 with --field alone]
    #[arg(long, value_name = "J", help_heading = MODEL, value_parser = parse::finite_single, allow_negative_numbers = true)]
    pub coupling: Option<f32>,
    /// The same field B at all sites [default: the recipe's, or 0 with --coupling alone]
    #[arg(long, value_name = "B", help_heading = MODEL, value_parser = parse::finite_single, allow_negative_numbers = true)]
    pub field: Option<f32>,
    /// Join opposite rims
    #[arg(long, help_heading = MODEL)]
    pub periodic: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Args)]
#[serde(deny_unknown_fields)]
pub struct PottsArguments {
    /// The paper's recipe of that many values, with a random field [default: c4]
    #[arg(long, value_name = "c4|c8", hide_possible_values = true, help_heading = MODEL)]
    pub preset: Option<ValuesPreset>,
    /// Rows and columns, or one number for a square [default: 30x30]
    #[arg(long, value_name = "RxC", help_heading = MODEL, allow_hyphen_values = true)]
    pub size: Option<Size>,
    /// Values per site
    #[arg(long, value_name = "C", help_heading = MODEL, value_parser = parse::values, allow_negative_numbers = true)]
    pub values: Option<usize>,
    /// Coupling J between all neighbours; without --preset, and with no field [default: 1]
    #[arg(long, value_name = "J", help_heading = MODEL, value_parser = parse::finite_single, allow_negative_numbers = true)]
    pub coupling: Option<f32>,
    /// Join opposite rims
    #[arg(long, help_heading = MODEL)]
    pub periodic: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Args)]
#[serde(deny_unknown_fields)]
pub struct FhmmArguments {
    /// The paper's recipe of that shape [default: high]: 100 steps of 20 chains (low) or 200 of 10,
    /// of 2 (low, high), 4 (c4) or 8 (c8) values
    #[arg(long, value_name = "low|high|c4|c8", hide_possible_values = true, help_heading = MODEL)]
    pub preset: Option<FhmmPreset>,
    /// Number of time steps
    #[arg(long, value_name = "L", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true)]
    pub length: Option<usize>,
    /// Number of hidden chains
    #[arg(long, value_name = "K", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true)]
    pub factors: Option<usize>,
    /// Values of each hidden chain
    #[arg(long, value_name = "C", help_heading = MODEL, value_parser = parse::values, allow_negative_numbers = true)]
    pub values: Option<usize>,
    #[command(flatten)]
    pub differences: DifferencesArgument,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Args)]
#[serde(deny_unknown_fields)]
pub struct RbmArguments {
    /// Machine in a safetensors file: weight, hidden_bias, visible_bias and perhaps data_mean
    #[arg(long, value_name = "FILE", help_heading = MODEL, conflicts_with_all = ["visible", "hidden", "values"])]
    pub weights: Option<PathBuf>,
    /// Visible units of a machine with random weights [default: 784]
    #[arg(long, value_name = "N", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true)]
    pub visible: Option<usize>,
    /// Hidden units of a machine with random weights [default: 25]
    #[arg(long, value_name = "M", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true)]
    pub hidden: Option<usize>,
    /// Values per visible unit of a machine with random weights [default: 2]
    #[arg(long, value_name = "C", help_heading = MODEL, value_parser = parse::values, allow_negative_numbers = true)]
    pub values: Option<usize>,
    #[command(flatten)]
    pub differences: DifferencesArgument,
}

#[cfg(feature = "deep")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Args)]
#[serde(deny_unknown_fields)]
pub struct ResnetArguments {
    /// Model in a safetensors file, as `saltus train resnet` leaves it: model.safetensors
    #[arg(long, value_name = "FILE", help_heading = MODEL)]
    pub weights: PathBuf,
    #[command(flatten)]
    pub differences: DifferencesArgument,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Args)]
#[serde(deny_unknown_fields)]
pub struct PairwiseArguments {
    /// Text file of edges 'i j J', one per line, sites numbered from 0
    #[arg(long, value_name = "FILE", help_heading = MODEL)]
    pub edges: PathBuf,
    /// Text file of fields 'i b', or 'i value b' with more than two values
    #[arg(long, value_name = "FILE", help_heading = MODEL)]
    pub fields: Option<PathBuf>,
    /// Values per site [default: 2]: couplings act on ±1 with two, on equal values with more
    #[arg(long, value_name = "C", help_heading = MODEL, value_parser = parse::values, allow_negative_numbers = true)]
    pub values: Option<usize>,
    /// Number of sites [default: as many as the edges name]
    #[arg(long, value_name = "N", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true)]
    pub sites: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, Args)]
pub struct DifferencesArgument {
    /// What proposals know: a first-order estimate of each change, or the true one
    /// [default: taylor]
    #[arg(long, value_name = "taylor|exact", hide_possible_values = true, help_heading = MODEL)]
    pub differences: Option<DifferencesKind>,
}

/// Which differences the proposals see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum DifferencesKind {
    /// From the gradient at the current state
    Taylor,
    /// The true change for every site and value
    Exact,
}

impl ModelArguments {
    /// The files that the model is read from.
    pub fn paths_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let paths = match self {
            Self::Rbm(arguments) => [arguments.weights.as_mut(), None],
            #[cfg(feature = "deep")]
            Self::Resnet(arguments) => [Some(&mut arguments.weights), None],
            Self::Pairwise(arguments) => [Some(&mut arguments.edges), arguments.fields.as_mut()],
            _ => [None, None],
        };
        paths.into_iter().flatten()
    }

    /// The differences that were asked for; models without the option know only the true ones.
    pub fn differences(&self) -> Differences {
        let argument = match self {
            Self::Fhmm(arguments) => arguments.differences,
            Self::Rbm(arguments) => arguments.differences,
            #[cfg(feature = "deep")]
            Self::Resnet(arguments) => arguments.differences,
            _ => DifferencesArgument::default(),
        };
        match argument.differences {
            None | Some(DifferencesKind::Taylor) => Differences::Taylor,
            Some(DifferencesKind::Exact) => Differences::Exact,
        }
    }
}
