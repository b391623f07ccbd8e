//! What can be written after `saltus-lab paper`.

use crate::study::{STEPS, Target};
use clap::{Args, ValueEnum};
use saltus_cli::parse;
use std::path::PathBuf;

const STUDY: &str = "Study";
const MACHINES: &str = "Machines of the rbm targets";
const OUTPUT: &str = "Output";

/// Repeat the paper's sampling study: tables, figures, and a verdict on each of its claims
#[derive(Debug, Args)]
pub struct PaperArguments {
    /// Targets [default: all]; --list names them
    #[arg(value_name = "TARGET")]
    pub targets: Vec<Target>,
    /// Name the targets and what each runs, and end
    #[arg(long, help_heading = STUDY)]
    pub list: bool,
    /// Steps of every cell: 100,000 as in the paper (full), or 6,000 (quick); half are discarded
    #[arg(long, value_enum, default_value_t, value_name = "quick|full", hide_possible_values = true, help_heading = STUDY)]
    pub budget: Budget,
    /// Another number of steps than the budget's
    #[arg(long, value_name = "N", help_heading = STUDY, value_parser = parse::positive, allow_negative_numbers = true)]
    pub steps: Option<usize>,
    /// Number of chains [default: 100]
    #[arg(long, value_name = "N", help_heading = STUDY, value_parser = parse::positive, allow_negative_numbers = true)]
    pub chains: Option<usize>,
    /// Draws of a target's random parameters that results are averaged over [default: 1]
    #[arg(
        long, value_name = "N", help_heading = STUDY,
        value_parser = clap::value_parser!(u64).range(1..=1000), allow_negative_numbers = true
    )]
    pub model_seeds: Option<u64>,
    /// Seed from which every cell has its own [default: 0]
    #[arg(long, value_name = "S", help_heading = STUDY, value_parser = parse::seed, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Threads [default: one per processor]; effective draws do not depend on it
    #[arg(long, value_name = "T", help_heading = STUDY, value_parser = parse::threads, allow_negative_numbers = true)]
    pub threads: Option<usize>,
    /// Folder of the authors' machines, mnist-binary-25.safetensors and its like
    #[arg(long, value_name = "DIR", help_heading = MACHINES)]
    pub machines: Option<PathBuf>,
    /// Without these: folder of mnist/ and fashion-mnist/, from which machines are trained
    #[arg(long, value_name = "DIR", help_heading = MACHINES)]
    pub data: Option<PathBuf>,
    /// Judge the table of an earlier study, and run nothing
    #[arg(
        long, value_name = "FILE.csv", help_heading = STUDY,
        conflicts_with_all = ["targets", "list", "budget", "steps", "chains", "model_seeds", "seed", "threads", "machines", "data", "out"]
    )]
    pub results: Option<PathBuf>,
    /// Folder of the study; what it holds already is not run again [default: saltus-paper]
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    /// No progress
    #[arg(long, help_heading = OUTPUT)]
    pub quiet: bool,
}

/// How long every cell runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Budget {
    /// Meant for a quarter of an hour on two cores
    #[default]
    Quick,
    /// The paper's protocol
    Full,
}

impl Budget {
    /// Steps of a chain, discarded ones included.
    pub fn steps(self) -> usize {
        match self {
            Self::Quick => 6_000,
            Self::Full => STEPS,
        }
    }
}
