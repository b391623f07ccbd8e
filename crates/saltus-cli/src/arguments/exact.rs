//! What can be written after `saltus exact`.

use super::{GivenArguments, ModelArguments, OUTPUT, RUN};
use crate::parse;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The exact answer of a small or sparse model: log Z, marginals, the likeliest state, independent draws
///
/// All states are listed if there are at most 2^22 of them; otherwise sites are eliminated one after the
/// other, which works where the model is a sum of tables and its graph is close to a tree.
#[derive(Debug, Args)]
#[command(
    subcommand_value_name = "MODEL|FILE",
    subcommand_help_heading = "Models",
    disable_help_subcommand = true
)]
pub struct ExactArguments {
    #[command(subcommand)]
    pub model: ModelArguments,
    #[command(flatten)]
    pub given: GivenArguments,
    /// Of π^B instead of π [default: 1]
    #[arg(
        long, global = true, value_name = "B", help_heading = RUN,
        value_parser = parse::finite, allow_negative_numbers = true
    )]
    pub beta: Option<f64>,
    /// Independent draws to make [default: 0]
    #[arg(long, global = true, value_name = "N", help_heading = RUN, value_parser = parse::count, allow_negative_numbers = true)]
    pub draws: Option<usize>,
    /// Where the draws go: .npz, .csv, .fasta or .txt; - is stdout
    #[arg(long, global = true, value_name = "FILE", help_heading = OUTPUT, requires = "draws")]
    pub states: Option<PathBuf>,
    /// Write values of two as −1 and +1
    #[arg(long, global = true, help_heading = OUTPUT, requires = "states")]
    pub spins: bool,
    /// Replace the file if it exists already
    #[arg(long, global = true, help_heading = OUTPUT)]
    pub force: bool,
    /// Print a result as UAI competitions have it, and nothing else: MAR, PR (log10 Z) or MPE
    #[arg(long, global = true, value_name = "TASK", help_heading = OUTPUT, hide_possible_values = true, ignore_case = true)]
    pub uai: Option<UaiTask>,
    /// Seed of the draws [default: 0]
    #[arg(long, global = true, value_name = "S", help_heading = RUN, value_parser = parse::seed, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Seed of a model's random parameters [default: 0]
    #[arg(long, global = true, value_name = "S", help_heading = RUN, value_parser = parse::seed, allow_negative_numbers = true)]
    pub model_seed: Option<u64>,
    /// Print one JSON object
    #[arg(long, global = true, help_heading = OUTPUT, conflicts_with = "uai")]
    pub json: bool,
}

/// A result of the UAI competitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum UaiTask {
    /// Marginals
    Mar,
    /// The logarithm of Z to base 10
    Pr,
    /// The likeliest state
    Mpe,
}
