//! The models by name: one registry for command line, stores, annealing and other languages.
//!
//! A [`ModelSpec`] is everything that a model is built from: options, files, recipes. It is written and
//! read by serde; [`ModelSpec::build`] makes the model. A model is one file here and one
//! line in the table below. With the feature `clap` a spec is also a subcommand, whose help is the
//! documentation of its fields.
//!
//! ```
//! use saltus::zoo::{Building, ModelSpec};
//! use saltus::{Model, ModelError};
//! let spec: ModelSpec = serde_json::from_str(r#"{"ising": {"size": "3x4", "coupling": 0.2}}"#).unwrap();
//! let built = spec.build(&Building::default())?;
//! assert_eq!((built.title.name, built.model.space().sites()), ("ising", 12));
//! # Ok::<(), ModelError>(())
//! ```

mod bernoulli;
mod categorical;
mod fhmm;
mod file;
mod given;
mod ising;
mod names;
mod pairwise;
#[doc(hidden)]
pub mod parse;
mod potts;
mod presets;
mod rbm;
pub mod read;
// What was read, written in another format.
pub mod write;
// Compiled so that the skeleton of a spec does not fall behind.
#[cfg(test)]
#[allow(dead_code)]
#[path = "../../../docs/skeletons/new_spec.rs"]
mod skeleton;

pub use bernoulli::BernoulliSpec;
pub use categorical::CategoricalSpec;
pub use fhmm::{FhmmPreset, FhmmSpec};
pub use file::FileSpec;
pub use given::Given;
pub use ising::IsingSpec;
pub use names::Names;
pub use pairwise::PairwiseSpec;
pub use parse::{Shape, Size};
pub use potts::PottsSpec;
pub use presets::{BinaryPreset, ValuesPreset};
pub use rbm::RbmSpec;

use crate::error::ModelError;
use crate::model::Model;
use crate::model::erased::Erased;
use crate::model::polynomial::Variables;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What people are told about a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title {
    /// Its name in the registry.
    pub name: &'static str,
    /// What it is, with the parameters that were used.
    pub words: String,
}

/// A model that was built. Its type is forgotten, so that whatever is done with models is compiled once.
#[derive(Clone, Debug)]
pub struct Built {
    /// What people are told about it.
    pub title: Title,
    /// The model.
    pub model: Erased,
}

impl Built {
    /// A model under its name in the registry.
    pub fn new(name: &'static str, words: String, model: impl Model + 'static) -> Self {
        Self { title: Title { name, words }, model: Erased::new(model) }
    }
}

/// About how large a model is going to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Number of sites.
    pub sites: usize,
    /// Values per site.
    pub values: usize,
    /// Numbers among its parameters.
    pub parameters: usize,
}

/// What is needed besides a model's own options.
#[derive(Clone, Copy, Default)]
pub struct Building<'a> {
    /// Seed of random parameters.
    pub seed: u64,
    /// Asked before a model is built that may be too large.
    pub check: Option<&'a dyn Fn(Extent) -> Result<(), ModelError>>,
    /// What is known of the model's states.
    pub given: Option<&'a Given>,
    /// Whether it is for exact answers: couplings of files then keep all their digits, which is slower to sample.
    pub exact: bool,
}

impl Building<'_> {
    /// How random parameters came about.
    fn drawn(&self) -> String {
        format!(" (model seed {})", self.seed)
    }

    /// Fails if a model of independent or sparsely coupled sites would be too large.
    fn check_sparse(&self, sites: usize, values: usize) -> Result<(), ModelError> {
        // A lattice has two edges per site, each kept from both ends.
        let parameters = sites.saturating_mul(values.saturating_add(4));
        self.check(Extent { sites, values, parameters })
    }

    fn check(&self, extent: Extent) -> Result<(), ModelError> {
        self.check.map_or(Ok(()), |check| check(extent))
    }
}

/// One line per model: its name, its file and what it is.
macro_rules! models {
    ($($model:ident($spec:ident), $what:literal;)*) => {
        /// A model and its own options.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "clap", derive(clap::Subcommand))]
        #[serde(rename_all = "lowercase", deny_unknown_fields)]
        #[non_exhaustive]
        pub enum ModelSpec {
            $(#[doc = $what] $model($spec),)*
        }

        impl ModelSpec {
            /// Names of all models, and what each is.
            pub const ALL: &[(&str, &str)] = &[$(($spec::NAME, $what),)*];

            /// Builds the model, given what is known of its sites. Fails if no state of positive probability is found.
            pub fn build(&self, building: &Building<'_>) -> Result<Built, ModelError> {
                let built = match self {
                    $(Self::$model(spec) => spec.build(building)?,)*
                };
                built.given(building.given.unwrap_or(&Given::default()))
            }

            /// What the model calls its sites and their values.
            pub fn names(&self) -> Result<Names, ModelError> {
                let spins = || Names { variables: Some(Variables::Spins), ..Names::default() };
                match self {
                    Self::File(spec) => spec.names(),
                    Self::Ising(_) => Ok(spins()),
                    Self::Pairwise(spec) if spec.values.unwrap_or(2) == 2 => Ok(spins()),
                    _ => Ok(Names::default()),
                }
            }

            /// The files that the model is read from.
            pub fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
                match self {
                    $(Self::$model(spec) => spec.paths_mut(),)*
                }
            }
        }
    };
}

models! {
    Bernoulli(BernoulliSpec), "Independent bits with random weights";
    Categorical(CategoricalSpec), "Independent sites of several values with random weights";
    Ising(IsingSpec), "Ising model on a lattice: spins that like to agree with their neighbours";
    Potts(PottsSpec), "Potts model on a lattice: values that like to agree with their neighbours";
    Fhmm(FhmmSpec), "Factorial hidden Markov model: hidden chains behind a simulated series";
    Rbm(RbmSpec), "Restricted Boltzmann machine: visible units joined through hidden ones";
    File(FileSpec), "A model from a file of any known format: UAI, BIF, DCA parameters, QUBO, Gset, MatrixMarket";
    Pairwise(PairwiseSpec), "Couplings and fields on any graph, read from text files";
}

/// The heading of a model's own options in a help text.
#[cfg(feature = "clap")]
const MODEL: &str = "Model";

/// A parameter as it was given, without a row of zeros.
fn exact(number: f32) -> String {
    let plain = number == 0.0 || (1e-5..1e7).contains(&number.abs());
    if plain { number.to_string() } else { format!("{number:e}") }
}
