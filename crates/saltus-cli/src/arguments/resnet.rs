//! What can be written after `saltus train resnet`.

use super::{BatchArguments, KeepArguments, LearnerArguments, dataset};
use crate::parse;
use clap::Args;
use saltus::Method;
use saltus::names::unknown;
use saltus_learn::TrainSettings;
use saltus_learn::data::Dataset;
use saltus_nn::train::Preset;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::str::FromStr;

const DATA: &str = "Data";
const NETWORK: &str = "Network";
const TRAINING: &str = "Training";
const VALIDATION: &str = "Validation";
const OUTPUT: &str = "Output";

#[derive(Debug, Args)]
pub struct TrainResnetArguments {
    /// Folder that has the dataset's folder [default: the current one]
    #[arg(long, value_name = "DIR", help_heading = DATA)]
    pub data: Option<PathBuf>,
    /// Which images: static-mnist, dynamic-mnist, omniglot, caltech, frey, histopathology, or any
    /// folder with train-images-idx3-ubyte (or .gz)
    #[arg(
        long, value_name = "NAME|FOLDER", help_heading = DATA, value_parser = dataset,
        required_unless_present = "resume"
    )]
    pub dataset: Option<Dataset>,
    /// Values per pixel of a folder of grays [default: 2, drawn with the gray as probability]
    #[arg(long, value_name = "C", help_heading = DATA, value_parser = parse::values, allow_negative_numbers = true)]
    pub values: Option<usize>,
    /// Channels of every layer [default: 16, paper 64]
    #[arg(long, value_name = "W", help_heading = NETWORK, value_parser = parse::positive, allow_negative_numbers = true)]
    pub width: Option<usize>,
    /// Residual blocks after the two that halve the image [default: 6]
    #[arg(long, value_name = "B", help_heading = NETWORK, value_parser = parse::count, allow_negative_numbers = true)]
    pub blocks: Option<usize>,
    /// Numbers that the network sees of a value where there are more than two [default: 4]
    #[arg(long, value_name = "P", help_heading = NETWORK, value_parser = parse::positive, allow_negative_numbers = true)]
    pub projection: Option<usize>,
    /// Recipe [default: laptop]: laptop, or the paper's; other options override it
    #[arg(long, value_name = "laptop|paper", help_heading = TRAINING)]
    pub preset: Option<Preset>,
    /// Sampler of the chains [default: dlmc]: dlmc, dmala, pas, gwg, gibbs, or any other but dld
    #[arg(long, value_name = "NAME", help_heading = TRAINING)]
    pub sampler: Option<Method>,
    #[command(flatten)]
    pub learner: LearnerArguments,
    #[command(flatten)]
    pub batches: BatchArguments,
    /// Updates of the parameters [default: 2000, paper 50000]
    #[arg(long, value_name = "N", help_heading = TRAINING, value_parser = parse::positive, allow_negative_numbers = true)]
    pub iterations: Option<usize>,
    /// Iterations during which the learning rate rises [default: 300, paper 10000]
    #[arg(long, value_name = "N", help_heading = TRAINING, value_parser = parse::count, allow_negative_numbers = true)]
    pub warmup: Option<usize>,
    /// What computes the network [default: cpu, on --resume what did before]: cpu, loops of our own;
    /// or burn, which can be built for a GPU
    #[arg(long, value_name = "cpu|burn", help_heading = TRAINING)]
    pub backend: Option<Backend>,
    /// Iterations between two looks at the validation images by annealing [default: none]; the model that did best is kept as
    /// best.safetensors
    #[arg(long, value_name = "N", help_heading = VALIDATION, value_parser = parse::positive, allow_negative_numbers = true)]
    pub validate_every: Option<usize>,
    /// Chains of such a look, in both directions [default: 50]
    #[arg(long, value_name = "N", help_heading = VALIDATION, value_parser = parse::positive, allow_negative_numbers = true)]
    pub validation_chains: Option<usize>,
    /// Its temperatures [default: 1000]
    #[arg(long, value_name = "T", help_heading = VALIDATION, value_parser = parse::positive, allow_negative_numbers = true)]
    pub validation_temperatures: Option<usize>,
    /// Folder of the training: model, checkpoint, history and pictures of samples
    #[arg(long, value_name = "DIR", help_heading = OUTPUT, required_unless_present = "resume")]
    pub out: Option<PathBuf>,
    /// Go on with the training in this folder; only --iterations, --threads, --backend,
    /// --validate-every and --data may be others
    #[arg(
        long, value_name = "DIR", help_heading = OUTPUT,
        conflicts_with_all = [
            "dataset", "values", "width", "blocks", "projection", "preset", "sampler", "weight",
            "solver", "differences", "ordinal", "scale", "steps", "target_acceptance", "batch", "buffer", "learning_rate",
            "final_learning_rate", "fall", "max_steps", "validation_chains", "validation_temperatures", "warmup", "decay",
            "seed", "out", "force",
        ]
    )]
    pub resume: Option<PathBuf>,
    #[command(flatten)]
    pub keep: KeepArguments,
}

/// What computes the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// Loops of our own.
    #[default]
    Cpu,
    /// The tensors of burn.
    Burn,
}

impl FromStr for Backend {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "cpu" => Ok(Self::Cpu),
            "burn" => Ok(Self::Burn),
            _ => Err(unknown("backend", name, ["cpu", "burn"])),
        }
    }
}

impl TrainResnetArguments {
    /// What to say if --weight is of no use.
    pub fn unused_weight(&self) -> Option<String> {
        self.learner.moves.unused_weight(self.sampler.unwrap_or_default())
    }

    /// The settings of a training on a dataset.
    pub fn settings(&self, dataset: &Dataset) -> TrainSettings {
        let sampler = self.learner.moves.sampler(self.sampler.unwrap_or_default());
        let preset = self.preset.unwrap_or_default().settings(dataset, sampler);
        TrainSettings {
            steps: self.learner.steps.unwrap_or(preset.steps),
            iterations: self.iterations.unwrap_or(preset.iterations),
            batch: self.batches.batch.unwrap_or(preset.batch),
            buffer: self.batches.buffer.unwrap_or(preset.buffer),
            learning_rate: self.learner.learning_rate.unwrap_or(preset.learning_rate),
            warmup: self.warmup.unwrap_or(preset.warmup),
            decay: self.learner.decay.unwrap_or(preset.decay),
            final_learning_rate: self.learner.final_learning_rate,
            fall: self.learner.fall.unwrap_or_default(),
            most_steps: self.batches.max_steps,
            seed: self.learner.seed.unwrap_or(preset.seed),
            threads: self.learner.threads,
            ..preset
        }
    }
}
