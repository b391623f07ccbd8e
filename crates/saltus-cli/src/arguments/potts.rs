//! What can be written after `saltus train potts`.

use super::{KeepArguments, LearnerArguments};
use crate::parse;
use clap::Args;
use saltus::{Method, Sampler};
use saltus_learn::potts::PottsSettings;
use std::path::PathBuf;

const DATA: &str = "Data";
const TRAINING: &str = "Training";
const OUTPUT: &str = "Output";

#[derive(Debug, Args)]
pub struct TrainPottsArguments {
    /// Aligned sequences (FASTA), or a table of whole numbers with a row per sequence (CSV, NPY, NPZ); perhaps
    /// compressed by gzip
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    pub data: PathBuf,
    /// Letters of the sequences [default: the first of -ACGU, -ACGT, -ACDEFGHIKLMNPQRSTVWY that most are written in]
    #[arg(long, value_name = "LETTERS", help_heading = DATA, allow_hyphen_values = true)]
    pub alphabet: Option<String>,
    /// Sequences that agree at such a share of their sites share a weight [default: 0.8]
    #[arg(long, value_name = "SHARE", help_heading = DATA, value_parser = parse::finite, allow_negative_numbers = true)]
    pub identity: Option<f64>,
    /// Share of letters that are all equally likely [default: one over the sum of the weights]
    #[arg(long, value_name = "SHARE", help_heading = DATA, value_parser = parse::finite, allow_negative_numbers = true)]
    pub pseudocount: Option<f64>,
    /// Sampler of the chains [default: gibbs, whose steps are sweeps]
    #[arg(long, value_name = "NAME", help_heading = TRAINING)]
    pub sampler: Option<Method>,
    #[command(flatten)]
    pub learner: LearnerArguments,
    /// Chains, which go on from iteration to iteration [default: 2000]
    #[arg(long, value_name = "N", help_heading = TRAINING, value_parser = parse::positive, allow_negative_numbers = true)]
    pub chains: Option<usize>,
    /// Updates of the parameters [default: 1000]
    #[arg(long, value_name = "N", help_heading = TRAINING, value_parser = parse::positive, allow_negative_numbers = true)]
    pub iterations: Option<usize>,
    /// End when the connected correlations of the chains have this correlation with those of the data
    #[arg(long, value_name = "R", help_heading = TRAINING, value_parser = parse::finite, allow_negative_numbers = true)]
    pub target: Option<f64>,
    /// What Adam adds to the usual size of a gradient [default: 1]: smaller ones are followed in proportion
    #[arg(long, value_name = "E", help_heading = TRAINING, value_parser = parse::finite, allow_negative_numbers = true)]
    pub epsilon: Option<f64>,
    /// File of the parameters, as adabmDCA writes them, which `saltus sample FILE` reads; samples, history and
    /// checkpoint are put beside it
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub out: PathBuf,
    /// Go on with what --out has begun, with the same settings; only --iterations, --target and --threads may be others
    #[arg(long, help_heading = OUTPUT, conflicts_with = "force")]
    pub resume: bool,
    #[command(flatten)]
    pub keep: KeepArguments,
}

impl TrainPottsArguments {
    /// The settings of the training.
    pub fn settings(&self) -> PottsSettings {
        let default = PottsSettings::default();
        let sampler: Sampler = self.learner.moves.sampler(self.sampler.unwrap_or(Method::Gibbs));
        PottsSettings {
            sampler,
            steps: self.learner.steps.unwrap_or(default.steps),
            chains: self.chains.unwrap_or(default.chains),
            iterations: self.iterations.unwrap_or(default.iterations),
            target: self.target,
            identity: self.identity.unwrap_or(default.identity),
            pseudocount: self.pseudocount,
            learning_rate: self.learner.learning_rate.unwrap_or(default.learning_rate),
            epsilon: self.epsilon.unwrap_or(default.epsilon),
            final_learning_rate: self.learner.final_learning_rate,
            fall: self.learner.fall.unwrap_or(default.fall),
            decay: self.learner.decay.unwrap_or(default.decay),
            seed: self.learner.seed.unwrap_or(default.seed),
            threads: self.learner.threads,
        }
    }
}
