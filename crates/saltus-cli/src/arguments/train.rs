//! What can be written after `saltus train`.

use crate::moved::MovedArguments;
use crate::parse;
use clap::{Args, Subcommand, ValueEnum};
use saltus::data::{Binarisation, Dataset};
use saltus::train::{Method, TrainSettings};
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
    /// Folder of the dataset's IDX files (train-images-idx3-ubyte, or .gz), or of its folder
    #[arg(long, value_name = "DIR", help_heading = DATA)]
    pub data: PathBuf,
    /// Which images: mnist, static-mnist or fashion-mnist
    #[arg(long, value_name = "NAME", help_heading = DATA)]
    pub dataset: Dataset,
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
    /// Block Gibbs steps per update [default: 100]
    #[arg(long, value_name = "K", help_heading = TRAINING, value_parser = parse::positive, allow_negative_numbers = true)]
    pub steps: Option<usize>,
    /// Times that every image is looked at [default: 1]
    #[arg(long, value_name = "E", help_heading = TRAINING, value_parser = parse::positive, allow_negative_numbers = true)]
    pub epochs: Option<usize>,
    /// Images per update, and chains [default: 100]
    #[arg(long, value_name = "B", help_heading = TRAINING, value_parser = parse::positive, allow_negative_numbers = true)]
    pub batch: Option<usize>,
    /// Adam's learning rate [default: 0.001]
    #[arg(long, value_name = "R", help_heading = TRAINING, value_parser = parse::finite, allow_negative_numbers = true)]
    pub learning_rate: Option<f64>,
    /// Learning rate of the last update [default: the same]; in between it falls in equal steps
    #[arg(long, value_name = "R", help_heading = TRAINING, value_parser = parse::finite, allow_negative_numbers = true)]
    pub final_learning_rate: Option<f64>,
    /// Seed of the initial weights, the order of the images and the chains [default: 0]
    #[arg(long, value_name = "S", help_heading = TRAINING, value_parser = parse::seed, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Threads [default: one per processor]; results do not depend on it
    #[arg(long, value_name = "T", help_heading = TRAINING, value_parser = parse::threads, allow_negative_numbers = true)]
    pub threads: Option<usize>,
    /// File of what was learnt (safetensors); pictures are put beside it
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub out: PathBuf,
    /// Replace files that exist
    #[arg(long, help_heading = OUTPUT)]
    pub force: bool,
    /// Print one JSON object
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    /// No progress
    #[arg(long, help_heading = OUTPUT)]
    pub quiet: bool,
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
    /// The settings of the training.
    pub fn settings(&self) -> TrainSettings {
        let default = TrainSettings::default();
        TrainSettings {
            hidden: self.hidden.unwrap_or(default.hidden),
            method: self.method.unwrap_or(default.method),
            steps: self.steps.unwrap_or(default.steps),
            epochs: self.epochs.unwrap_or(default.epochs),
            batch: self.batch.unwrap_or(default.batch),
            learning_rate: self.learning_rate.unwrap_or(default.learning_rate),
            final_learning_rate: self.final_learning_rate,
            seed: self.seed.unwrap_or(default.seed),
            threads: self.threads,
        }
    }
}
