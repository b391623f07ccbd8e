//! What can be written after `saltus-lab train vae`.

use crate::vae::{BoundSettings, VaeSettings};
use clap::Args;
use saltus_cli::arguments::dataset;
use saltus_cli::parse;
use saltus_learn::data::Dataset;
use std::path::PathBuf;

const DATA: &str = "Data";
const TRAINING: &str = "Training";
const OUTPUT: &str = "Output";

#[derive(Debug, Args)]
pub struct TrainVaeArguments {
    /// Folder that has the folder of the dataset's IDX files, or those files themselves
    #[arg(long, value_name = "DIR", help_heading = DATA)]
    pub data: PathBuf,
    /// Which images: static-mnist, dynamic-mnist, omniglot, caltech, frey, or any folder of IDX files
    #[arg(long, value_name = "NAME|DIR", help_heading = DATA, value_parser = dataset)]
    pub dataset: Dataset,
    /// Gated units of each hidden layer [default: 300]
    #[arg(long, value_name = "H", help_heading = TRAINING, value_parser = parse::positive, allow_negative_numbers = true)]
    pub hidden: Option<usize>,
    /// Latent numbers of a level [default: 40]
    #[arg(long, value_name = "L", help_heading = TRAINING, value_parser = parse::positive, allow_negative_numbers = true)]
    pub latent: Option<usize>,
    /// Levels of latent numbers [default: 1]: 1 or 2
    #[arg(long, value_name = "1|2", help_heading = TRAINING, value_parser = parse::positive, allow_negative_numbers = true)]
    pub levels: Option<usize>,
    /// Channels of the first convolutions, of those further in twice as many [default: no convolutions]; needs --levels 2
    #[arg(long, value_name = "C", help_heading = TRAINING, value_parser = parse::positive, allow_negative_numbers = true)]
    pub channels: Option<usize>,
    /// Times that every image is looked at, at most [default: 200]
    #[arg(long, value_name = "E", help_heading = TRAINING, value_parser = parse::positive, allow_negative_numbers = true)]
    pub epochs: Option<usize>,
    /// Images per update [default: 100]
    #[arg(long, value_name = "B", help_heading = TRAINING, value_parser = parse::positive, allow_negative_numbers = true)]
    pub batch: Option<usize>,
    /// Adam's learning rate [default: 0.0005]
    #[arg(long, value_name = "R", help_heading = TRAINING, value_parser = parse::finite, allow_negative_numbers = true)]
    pub learning_rate: Option<f64>,
    /// Epochs during which the weight of the divergence from the prior rises to one [default: 0]
    #[arg(long, value_name = "W", help_heading = TRAINING, value_parser = parse::count, allow_negative_numbers = true)]
    pub warmup: Option<usize>,
    /// Epochs without a better bound on the validation images that end it [default: 50]
    #[arg(long, value_name = "P", help_heading = TRAINING, value_parser = parse::positive, allow_negative_numbers = true)]
    pub patience: Option<usize>,
    /// Draws per test image of the importance-weighted bound [default: 500]
    #[arg(long, value_name = "K", help_heading = TRAINING, value_parser = parse::positive, allow_negative_numbers = true)]
    pub samples: Option<usize>,
    /// Seed of the initial weights, the order of the images and all noise [default: 0]
    #[arg(long, value_name = "S", help_heading = TRAINING, value_parser = parse::seed, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Threads [default: one per processor]; results do not depend on it
    #[arg(long, value_name = "T", help_heading = TRAINING, value_parser = parse::threads, allow_negative_numbers = true)]
    pub threads: Option<usize>,
    /// File of the autoencoder (safetensors); a picture of samples is put beside it
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

impl TrainVaeArguments {
    /// The settings of the training.
    pub fn settings(&self) -> VaeSettings {
        let default = VaeSettings::default();
        VaeSettings {
            hidden: self.hidden.unwrap_or(default.hidden),
            latent: self.latent.unwrap_or(default.latent),
            levels: self.levels.unwrap_or(default.levels),
            channels: self.channels,
            epochs: self.epochs.unwrap_or(default.epochs),
            batch: self.batch.unwrap_or(default.batch),
            learning_rate: self.learning_rate.unwrap_or(default.learning_rate),
            warmup: self.warmup.unwrap_or(default.warmup),
            patience: self.patience.unwrap_or(default.patience),
            seed: self.seed.unwrap_or(default.seed),
            threads: self.threads,
        }
    }

    /// The settings of the bound on the test images.
    pub fn bound_settings(&self) -> BoundSettings {
        let default = BoundSettings::default();
        BoundSettings {
            samples: self.samples.unwrap_or(default.samples),
            seed: self.seed.unwrap_or(default.seed),
            threads: self.threads,
        }
    }
}
