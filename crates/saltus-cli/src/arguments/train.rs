//! What can be written after `saltus train`.

use super::{BatchArguments, KeepArguments, LearnerArguments, TrainPottsArguments};
use crate::failure::Failure;
use crate::moved::MovedArguments;
use crate::parse;
use clap::{Args, Subcommand, ValueEnum};
use saltus::Method as Moves;
use saltus_learn::data::{Binarisation, Dataset};
use saltus_learn::rbm::{Method, RbmSettings};
use std::path::PathBuf;

/// Learn a model from data and keep it in a file
#[derive(Debug, Args)]
#[command(
    subcommand_value_name = "MODEL",
    subcommand_help_heading = "Models",
    disable_help_subcommand = true
)]
pub struct TrainArguments {
    #[command(subcommand)]
    pub model: TrainedModel,
}

/// A model that can be trained, and its own options.
#[derive(Debug, Subcommand)]
pub enum TrainedModel {
    /// Restricted Boltzmann machine, from images
    Rbm(TrainRbmArguments),
    /// Deep belief network: a second RBM on the hidden units of a first
    Dbn(TrainDbnArguments),
    /// Potts model of aligned sequences (direct coupling analysis)
    Potts(TrainPottsArguments),
    /// Deep energy-based model, a residual network, from images
    #[cfg(feature = "deep")]
    Resnet(super::TrainResnetArguments),
    /// Deep energy-based model, a residual network, from images (not part of this build)
    #[cfg(not(feature = "deep"))]
    Resnet(AbsentArguments),
    /// Variational autoencoder, from images of bits (in saltus-lab)
    #[command(hide = true)]
    Vae(MovedArguments),
}

/// Whatever is asked of a model that was left out of this build.
#[cfg(not(feature = "deep"))]
#[derive(Debug, Args)]
pub struct AbsentArguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _all: Vec<std::ffi::OsString>,
}

const DATA: &str = "Data";
const TRAINING: &str = "Training";
const OUTPUT: &str = "Output";

#[derive(Debug, Args)]
pub struct TrainRbmArguments {
    /// Values per pixel [default: 2]: more are levels of gray
    #[arg(long, value_name = "C", help_heading = DATA, value_parser = parse::values, allow_negative_numbers = true)]
    pub values: Option<usize>,
    #[command(flatten)]
    pub training: TrainingArguments,
}

#[derive(Debug, Args)]
pub struct TrainDbnArguments {
    /// Trained RBM whose hidden units are learnt from (safetensors, of `saltus train rbm`)
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    pub bottom: PathBuf,
    #[command(flatten)]
    pub training: TrainingArguments,
}

/// How an RBM learns from images, wherever it is put.
#[derive(Debug, Args)]
pub struct TrainingArguments {
    /// Folder of the dataset's IDX files (train-images-idx3-ubyte, or .gz), or of its folder; or one file of examples
    /// (IDX, NPY, NPZ, CSV)
    #[arg(long, value_name = "DIR|FILE", help_heading = DATA)]
    pub data: PathBuf,
    /// Which images: mnist, static-mnist, fashion-mnist, another set of `saltus train resnet`, or any folder of IDX files;
    /// not needed where --data is a file
    #[arg(long, value_name = "NAME", help_heading = DATA, value_parser = dataset)]
    pub dataset: Option<Dataset>,
    /// How pixels become two values [default: threshold]: 1 where the gray is above one half, or
    /// drawn with the gray as probability, anew in every epoch
    #[arg(long, value_name = "threshold|stochastic", hide_possible_values = true, help_heading = DATA)]
    pub binarise: Option<BinariseArgument>,
    /// Hidden units [default: 25]
    #[arg(long, value_name = "M", help_heading = TRAINING, value_parser = parse::positive, allow_negative_numbers = true)]
    pub hidden: Option<usize>,
    /// Where chains start at every update [default: cd]: from the data (cd), or where they ended (pcd)
    #[arg(long, value_name = "cd|pcd", help_heading = TRAINING)]
    pub method: Option<Method>,
    /// What moves the chains [default: layers]: all hidden units and all pixels in turn, or a sampler of `saltus list`,
    /// any but dld
    #[arg(long, value_name = "NAME", help_heading = TRAINING, value_parser = moves)]
    pub sampler: Option<RbmMoves>,
    #[command(flatten)]
    pub learner: LearnerArguments,
    #[command(flatten)]
    pub batches: BatchArguments,
    /// Times that every image is looked at [default: 1]
    #[arg(long, value_name = "E", help_heading = TRAINING, value_parser = parse::positive, allow_negative_numbers = true)]
    pub epochs: Option<usize>,
    /// File of what was learnt (safetensors); pictures are put beside it
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub out: PathBuf,
    /// Go on with what --out has begun by --save-every, with the same settings; only --epochs and --threads may be others
    #[arg(long, help_heading = OUTPUT, conflicts_with = "force")]
    pub resume: bool,
    #[command(flatten)]
    pub keep: KeepArguments,
}

/// What moves the chains of an RBM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RbmMoves {
    /// All hidden units and all sites in turn.
    Layers,
    /// A sampler by name.
    By(Moves),
}

/// A way to move the chains of an RBM.
fn moves(name: &str) -> Result<RbmMoves, String> {
    match name {
        "layers" => Ok(RbmMoves::Layers),
        name => name.parse().map(RbmMoves::By),
    }
}

/// Images by the name of their dataset or folder.
pub fn dataset(name: &str) -> Result<Dataset, String> {
    Ok(Dataset::named(name))
}

/// How grays become two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BinariseArgument {
    /// 1 where the gray is above one half
    Threshold,
    /// Drawn with the gray as probability
    Stochastic,
}

impl From<BinariseArgument> for Binarisation {
    fn from(argument: BinariseArgument) -> Self {
        match argument {
            BinariseArgument::Threshold => Self::Threshold,
            BinariseArgument::Stochastic => Self::Stochastic,
        }
    }
}

impl TrainingArguments {
    /// Fails if something is said about a sampler, but none is named.
    pub fn check_moves(&self) -> Result<(), Failure> {
        match (self.sampler, self.learner.moves.given()) {
            (None | Some(RbmMoves::Layers), Some(option)) => Err(Failure::Usage(format!(
                "{option} is about a sampler: name one by --sampler, such as dlmc"
            ))),
            _ => Ok(()),
        }
    }

    /// Whether files that exist are replaced: those of a training that goes on are its own.
    pub fn replaces(&self) -> bool {
        self.keep.force || self.resume
    }

    /// The settings of the training.
    pub fn settings(&self) -> RbmSettings {
        let default = RbmSettings::default();
        let LearnerArguments { moves, .. } = &self.learner;
        RbmSettings {
            hidden: self.hidden.unwrap_or(default.hidden),
            method: self.method.unwrap_or(default.method),
            steps: self.learner.steps.unwrap_or(default.steps),
            epochs: self.epochs.unwrap_or(default.epochs),
            batch: self.batches.batch.unwrap_or(default.batch),
            learning_rate: self.learner.learning_rate.unwrap_or(default.learning_rate),
            final_learning_rate: self.learner.final_learning_rate,
            fall: self.learner.fall.unwrap_or_default(),
            decay: self.learner.decay.unwrap_or(default.decay),
            sampler: match self.sampler {
                Some(RbmMoves::By(method)) => Some(moves.sampler(method)),
                None | Some(RbmMoves::Layers) => None,
            },
            most_steps: self.batches.max_steps,
            buffer: self.batches.buffer,
            seed: self.learner.seed.unwrap_or(default.seed),
            threads: self.learner.threads,
        }
    }
}
