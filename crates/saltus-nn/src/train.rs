//! Learning a deep model from images: the recipes, for the learner of [`saltus_learn`].
//!
//! ```
//! use saltus::Sampler;
//! use saltus_learn::data::{Dataset, Examples};
//! use saltus_learn::{TrainSettings, Training};
//! use saltus_nn::train::Preset;
//! use saltus_nn::{Architecture, DeepModel};
//! // Images of 2×2 pixels that are all black or all white.
//! let architecture = Architecture::new(2, 2, 2, 4)?.with_blocks(0)?;
//! let examples = Examples::new(architecture.space(), [[0; 4], [1; 4]].concat().repeat(10))?;
//! let recipe = Preset::Laptop.settings(&Dataset::StaticMnist, Sampler::dlmc());
//! let settings = TrainSettings { steps: 2, batch: 10, buffer: 20, iterations: 3, ..recipe };
//! let model: DeepModel = DeepModel::untrained(architecture, &examples, settings.seed)?;
//! let mut training = Training::new(&examples, model, settings)?;
//! while !training.is_complete() {
//!     assert!(training.iterate()?.energy_gap().is_finite());
//! }
//! assert_eq!(training.iteration(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
mod tests;

use crate::architecture::Architecture;
use crate::frequencies::Frequencies;
use crate::model::DeepModel;
use crate::network::Network;
use crate::parameters::Parameters;
use saltus::kernel::gibbs::Scan;
use saltus::names::unknown;
use saltus::{Kind, Method, ModelError, Sampler};
use saltus_learn::TrainSettings;
use saltus_learn::data::{Dataset, Examples};
use std::fmt;
use std::str::FromStr;

impl<N: Network> DeepModel<N> {
    /// A network with random parameters on independent pixels with the frequencies of examples: where a
    /// training begins.
    pub fn untrained(
        architecture: Architecture,
        examples: &Examples,
        seed: u64,
    ) -> Result<Self, ModelError> {
        Self::new(Parameters::random(architecture, seed), Frequencies::of_examples(examples))
    }
}

/// A recipe by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// Small enough to see digits on two cores within minutes.
    #[default]
    Laptop,
    /// The paper's protocol, as far as it is known, but that no model is chosen by validation.
    Paper,
}

impl Preset {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Laptop, Self::Paper];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Laptop => "laptop",
            Self::Paper => "paper",
        }
    }

    /// Channels of the network.
    pub fn width(self) -> usize {
        match self {
            Self::Laptop => 16,
            Self::Paper => 64,
        }
    }

    /// How to train on a set of images with a sampler.
    pub fn settings(self, dataset: &Dataset, sampler: impl Into<Sampler>) -> TrainSettings {
        let sampler = Sampler { scan: Scan::One, ..sampler.into() };
        let paper = TrainSettings {
            steps: paper_steps(dataset, sampler.method),
            sampler,
            iterations: 50_000,
            batch: 100,
            buffer: if dataset.is_small() { 1000 } else { 10_000 },
            learning_rate: 1e-4,
            warmup: 10_000,
            decay: 0.999,
            ..TrainSettings::default()
        };
        match self {
            Self::Paper => paper,
            // Few chains in the buffer, each with its turn every fifth iteration, follow a model that
            // changes as quickly as it must to be learnt in some thousand iterations.
            Self::Laptop => TrainSettings {
                steps: paper.steps.min(10),
                iterations: 2000,
                buffer: 500,
                // With more, chains of grays, which move a few pixels per step, fall behind.
                learning_rate: if dataset.has_grays() { 1e-4 } else { 3e-4 },
                warmup: 300,
                decay: 0.99,
                ..paper
            },
        }
    }
}

/// Steps per iteration in the scripts of the paper's predecessors (Sun et al. 2022 for gwg and pas,
/// Zhang et al. 2022 for dmala). Those of DLMC are not known: it gets DMALA's, as does whoever else
/// changes all sites at once. Those of Gibbs are not either: it redraws as many sites as GWG tries to
/// change, as does whoever else changes few. (On dynamic MNIST and Omniglot the scripts let GWG flip
/// five sites per step; here a step is one.)
fn paper_steps(dataset: &Dataset, method: Method) -> usize {
    use Dataset::*;
    if method == Method::Pas {
        return match dataset {
            Caltech => 100,
            Frey => 50,
            Histopathology => 40,
            _ => 30,
        };
    }
    match (method.kind(), dataset) {
        (Kind::AllSites, _) => 40,
        (
            Kind::FewSites | Kind::WithoutDifferences | Kind::Structure,
            StaticMnist | DynamicMnist | Mnist | FashionMnist,
        ) => 50,
        (Kind::FewSites | Kind::WithoutDifferences | Kind::Structure, Omniglot) => 40,
        (Kind::FewSites | Kind::WithoutDifferences | Kind::Structure, _) => 100,
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Preset {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|preset| preset.name() == name)
            .ok_or_else(|| unknown("preset", name, Self::ALL.map(Self::name)))
    }
}
