//! What can be said of every learner, whatever it learns.

use super::SamplerArguments;
use crate::parse;
use clap::Args;
use saltus_learn::Fall;

const TRAINING: &str = "Training";
const OUTPUT: &str = "Output";

/// How chains move and parameters follow.
#[derive(Debug, Args)]
pub struct LearnerArguments {
    #[command(flatten)]
    pub moves: SamplerArguments,
    /// Steps of every chain per update [default: of an RBM 100, of a Potts model 10, of a deep model as the preset says
    /// for dataset and sampler]
    #[arg(long, value_name = "K", help_heading = TRAINING, value_parser = parse::positive, allow_negative_numbers = true)]
    pub steps: Option<usize>,
    /// Adam's learning rate, after the warm-up if there is one [default: of an RBM 0.001, of a Potts model 0.05, of a deep
    /// model 0.0003, of frey and histopathology 0.0001, paper 0.0001]
    #[arg(long, value_name = "R", help_heading = TRAINING, value_parser = parse::finite, allow_negative_numbers = true)]
    pub learning_rate: Option<f64>,
    /// Learning rate of the last update [default: the same, of a Potts model a fifteenth of the first]
    #[arg(long, value_name = "R", help_heading = TRAINING, value_parser = parse::finite, allow_negative_numbers = true)]
    pub final_learning_rate: Option<f64>,
    /// How the learning rate falls [default: linear, of a Potts model cosine]: linear, cosine or geometric
    #[arg(long, value_name = "NAME", help_heading = TRAINING)]
    pub fall: Option<Fall>,
    /// What is kept of the average of the parameters at every update [default: of an RBM 0, the last ones are taken; of a
    /// Potts model 0.9, of a deep model 0.99, paper 0.999]
    #[arg(long, value_name = "D", help_heading = TRAINING, value_parser = parse::finite, allow_negative_numbers = true)]
    pub decay: Option<f64>,
    /// Seed of everything that is drawn [default: 0]
    #[arg(long, value_name = "S", help_heading = TRAINING, value_parser = parse::seed, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Threads [default: one per processor]; results do not depend on it
    #[arg(long, value_name = "T", help_heading = TRAINING, value_parser = parse::threads, allow_negative_numbers = true)]
    pub threads: Option<usize>,
}

/// What is learnt from at a time, where it is a batch of examples.
#[derive(Debug, Args)]
pub struct BatchArguments {
    /// Examples per update, and chains [default: 100]
    #[arg(long, value_name = "B", help_heading = TRAINING, value_parser = parse::positive, allow_negative_numbers = true)]
    pub batch: Option<usize>,
    /// Persistent chains that are kept, of which every update moves some [default: of an RBM as many as a batch has; of a deep
    /// model 500, paper 10000, small sets 1000]
    #[arg(long, value_name = "N", help_heading = TRAINING, value_parser = parse::positive, allow_negative_numbers = true)]
    pub buffer: Option<usize>,
    /// Steps that there may be at most [default: no more]: a quarter more whenever the mean energy gap over 500 updates is beyond
    /// one nat
    #[arg(long, value_name = "K", help_heading = TRAINING, value_parser = parse::positive, allow_negative_numbers = true)]
    pub max_steps: Option<usize>,
}

/// What is kept and said.
#[derive(Debug, Args)]
pub struct KeepArguments {
    /// Updates between two checkpoints [default: of an RBM none are kept, of a Potts model 100, of a deep model 500, each
    /// with a picture of samples]
    #[arg(long, value_name = "N", help_heading = OUTPUT, value_parser = parse::positive, allow_negative_numbers = true)]
    pub save_every: Option<usize>,
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
