//! What can be written on the command line.

mod train;

pub use train::{BinariseArgument, TrainArguments, TrainRbmArguments, TrainedModel};

use crate::parse::{self, Size};
use clap::{Args, Parser, Subcommand, ValueEnum};
use saltus::{Differences, Sampler, Settings, Weight};
use std::path::PathBuf;
use std::time::Duration;

/// Fast, exact sampling from discrete distributions.
#[derive(Debug, Parser)]
#[command(name = "saltus", version, max_term_width = 100, arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the models, samplers and weight functions
    List(ListArguments),
    /// Sample from a model and sum up how it went
    Sample(SampleArguments),
    /// Run several samplers on one model and put them side by side
    Compare(CompareArguments),
    /// Learn a model from data and keep it in a file
    Train(TrainArguments),
}

#[derive(Debug, Args)]
pub struct ListArguments {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Sample from a model and sum up how it went
#[derive(Debug, Args)]
#[command(
    subcommand_value_name = "MODEL",
    subcommand_help_heading = "Models",
    disable_help_subcommand = true
)]
pub struct SampleArguments {
    #[command(subcommand)]
    pub model: ModelArguments,
    /// Sampler [default: dlmc]; `saltus list` names them all
    #[arg(long, global = true, value_name = "NAME", help_heading = RUN, value_parser = sampler)]
    pub sampler: Option<Sampler>,
    /// Draw the last state of a lattice even if the output is not a terminal
    #[arg(long, global = true, help_heading = OUTPUT)]
    pub picture: bool,
    #[command(flatten)]
    pub run: RunArguments,
}

/// Run several samplers on one model and put them side by side
#[derive(Debug, Args)]
#[command(
    subcommand_value_name = "MODEL",
    subcommand_help_heading = "Models",
    disable_help_subcommand = true
)]
pub struct CompareArguments {
    #[command(subcommand)]
    pub model: ModelArguments,
    /// Samplers, in the order of the table [default: rwm,gwg,pas,dmala,dlmcf,dlmc]
    #[arg(
        long,
        global = true,
        value_name = "NAME,…",
        value_delimiter = ',',
        help_heading = RUN,
        value_parser = sampler
    )]
    pub samplers: Vec<Sampler>,
    #[command(flatten)]
    pub run: RunArguments,
}

/// Samplers of a comparison unless others are named.
pub const COMPARED: [Sampler; 6] =
    [Sampler::Rwm, Sampler::Gwg, Sampler::Pas, Sampler::Dmala, Sampler::Dlmcf, Sampler::Dlmc];

const RUN: &str = "Run";
const OUTPUT: &str = "Output";

fn sampler(name: &str) -> Result<Sampler, String> {
    name.trim().parse()
}

/// How to run, whatever the model. Global, so that it may stand before or after the model's name.
#[derive(Clone, Debug, Args)]
pub struct RunArguments {
    /// Weight function [default: sqrt]: sqrt, ratio, min, max or sum
    #[arg(long, global = true, value_name = "NAME", help_heading = RUN)]
    pub weight: Option<Weight>,
    /// Number of chains [default: 100]
    #[arg(
        long, global = true, value_name = "N", help_heading = RUN,
        value_parser = parse::positive, allow_negative_numbers = true
    )]
    pub chains: Option<usize>,
    /// Steps of each chain before the first kept draw, for tuning [default: 3000]
    #[arg(
        long, global = true, value_name = "N", help_heading = RUN,
        value_parser = parse::count, allow_negative_numbers = true
    )]
    pub warmup: Option<usize>,
    /// Kept draws of each chain [default: 5000]
    #[arg(
        long, global = true, value_name = "N", help_heading = RUN,
        value_parser = parse::positive, allow_negative_numbers = true
    )]
    pub draws: Option<usize>,
    /// Steps per kept draw [default: 1]
    #[arg(
        long, global = true, value_name = "K", help_heading = RUN,
        value_parser = parse::positive, allow_negative_numbers = true
    )]
    pub thin: Option<usize>,
    /// Seed of the chains [default: 0]
    #[arg(long, global = true, value_name = "S", help_heading = RUN, value_parser = parse::seed, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Seed of a model's random parameters [default: 0]
    #[arg(long, global = true, value_name = "S", help_heading = RUN, value_parser = parse::seed, allow_negative_numbers = true)]
    pub model_seed: Option<u64>,
    /// Threads [default: one per processor]; results do not depend on it
    #[arg(
        long, global = true, value_name = "T", help_heading = RUN,
        value_parser = parse::threads, allow_negative_numbers = true
    )]
    pub threads: Option<usize>,
    /// Acceptance to tune to [default: 0.574, for rwm 0.234]
    #[arg(
        long, global = true, value_name = "A", help_heading = RUN,
        value_parser = parse::finite, allow_negative_numbers = true
    )]
    pub target_acceptance: Option<f64>,
    /// Fixed step size, or number of sites (rwm, pas), instead of tuning
    #[arg(
        long, global = true, value_name = "H", help_heading = RUN, value_parser = parse::finite,
        allow_negative_numbers = true, conflicts_with = "target_acceptance"
    )]
    pub scale: Option<f64>,
    /// Stop a run after this time (30s, 10m, 2h) with what it has
    #[arg(
        long, global = true, value_name = "TIME", help_heading = RUN,
        value_parser = parse::duration, allow_hyphen_values = true
    )]
    pub time_limit: Option<Duration>,
    /// Print one JSON object
    #[arg(long, global = true, help_heading = OUTPUT)]
    pub json: bool,
    /// No progress
    #[arg(long, global = true, help_heading = OUTPUT)]
    pub quiet: bool,
}

impl RunArguments {
    /// The settings of a run of one sampler.
    pub fn settings(&self, sampler: Sampler, differences: Differences) -> Settings {
        let default = Settings::default();
        Settings {
            sampler,
            weight: self.weight.unwrap_or_default(),
            differences,
            chains: self.chains.unwrap_or(default.chains),
            warmup: self.warmup.unwrap_or(default.warmup),
            draws: self.draws.unwrap_or(default.draws),
            thin: self.thin.unwrap_or(default.thin),
            seed: self.seed.unwrap_or(default.seed),
            threads: self.threads,
            target_acceptance: self.target_acceptance,
            scale: self.scale,
            time_limit: self.time_limit,
        }
    }
}

/// A model and its own options.
#[derive(Clone, Debug, Subcommand)]
pub enum ModelArguments {
    /// Independent bits with random weights
    Bernoulli(BernoulliArguments),
    /// Independent sites of several values with random weights
    Categorical(CategoricalArguments),
    /// Ising model on a lattice: spins that like to agree with their neighbours
    Ising(IsingArguments),
    /// Potts model on a lattice: values that like to agree with their neighbours
    Potts(PottsArguments),
    /// Factorial hidden Markov model: hidden chains behind a simulated series
    Fhmm(FhmmArguments),
    /// Restricted Boltzmann machine: visible units joined through hidden ones
    Rbm(RbmArguments),
    /// Couplings and fields on any graph, read from text files
    Pairwise(PairwiseArguments),
}

const MODEL: &str = "Model";

/// Sharpness of a target with two values per site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BinaryPreset {
    /// The sharp version
    Low,
    /// The flat version
    High,
}

/// Number of values of a target with more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ValuesPreset {
    /// Four values per site
    C4,
    /// Eight values per site
    C8,
}

/// Shape of a factorial hidden Markov model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FhmmPreset {
    /// 100 time steps, 20 chains of two values
    Low,
    /// 200 time steps, 10 chains of two values
    High,
    /// 200 time steps, 10 chains of four values
    C4,
    /// 200 time steps, 10 chains of eight values
    C8,
}

#[derive(Clone, Debug, Args)]
pub struct BernoulliArguments {
    /// The paper's recipe of that temperature, 10000 sites [default: high]
    #[arg(long, value_name = "low|high", hide_possible_values = true, help_heading = MODEL)]
    pub preset: Option<BinaryPreset>,
    /// Number of sites
    #[arg(long, value_name = "N", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true)]
    pub sites: Option<usize>,
}

#[derive(Clone, Debug, Args)]
pub struct CategoricalArguments {
    /// The paper's recipe of that many values, 2000 sites [default: c4]
    #[arg(long, value_name = "c4|c8", hide_possible_values = true, help_heading = MODEL)]
    pub preset: Option<ValuesPreset>,
    /// Number of sites
    #[arg(long, value_name = "N", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true)]
    pub sites: Option<usize>,
    /// Values per site
    #[arg(long, value_name = "C", help_heading = MODEL, value_parser = parse::values, allow_negative_numbers = true)]
    pub values: Option<usize>,
}

#[derive(Clone, Debug, Args)]
pub struct IsingArguments {
    /// The paper's recipe of that temperature, with a random field [default: high]
    #[arg(long, value_name = "low|high", hide_possible_values = true, help_heading = MODEL)]
    pub preset: Option<BinaryPreset>,
    /// Rows and columns, or one number for a square [default: 50x50]
    #[arg(long, value_name = "RxC", help_heading = MODEL, allow_hyphen_values = true)]
    pub size: Option<Size>,
    /// Coupling J between all neighbours: without --preset a plain model, with it the recipe's field
    /// [default: the recipe's, or 0.4 with --field alone]
    #[arg(long, value_name = "J", help_heading = MODEL, value_parser = parse::finite_single, allow_negative_numbers = true)]
    pub coupling: Option<f32>,
    /// The same field B at all sites [default: the recipe's, or 0 with --coupling alone]
    #[arg(long, value_name = "B", help_heading = MODEL, value_parser = parse::finite_single, allow_negative_numbers = true)]
    pub field: Option<f32>,
    /// Join opposite rims
    #[arg(long, help_heading = MODEL)]
    pub periodic: bool,
}

#[derive(Clone, Debug, Args)]
pub struct PottsArguments {
    /// The paper's recipe of that many values, with a random field [default: c4]
    #[arg(long, value_name = "c4|c8", hide_possible_values = true, help_heading = MODEL)]
    pub preset: Option<ValuesPreset>,
    /// Rows and columns, or one number for a square [default: 30x30]
    #[arg(long, value_name = "RxC", help_heading = MODEL, allow_hyphen_values = true)]
    pub size: Option<Size>,
    /// Values per site
    #[arg(long, value_name = "C", help_heading = MODEL, value_parser = parse::values, allow_negative_numbers = true)]
    pub values: Option<usize>,
    /// Coupling J between all neighbours; without --preset, and with no field [default: 1]
    #[arg(long, value_name = "J", help_heading = MODEL, value_parser = parse::finite_single, allow_negative_numbers = true)]
    pub coupling: Option<f32>,
    /// Join opposite rims
    #[arg(long, help_heading = MODEL)]
    pub periodic: bool,
}

#[derive(Clone, Debug, Args)]
pub struct FhmmArguments {
    /// The paper's recipe of that shape [default: high]: 100 steps of 20 chains (low) or 200 of 10,
    /// of 2 (low, high), 4 (c4) or 8 (c8) values
    #[arg(long, value_name = "low|high|c4|c8", hide_possible_values = true, help_heading = MODEL)]
    pub preset: Option<FhmmPreset>,
    /// Number of time steps
    #[arg(long, value_name = "L", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true)]
    pub length: Option<usize>,
    /// Number of hidden chains
    #[arg(long, value_name = "K", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true)]
    pub factors: Option<usize>,
    /// Values of each hidden chain
    #[arg(long, value_name = "C", help_heading = MODEL, value_parser = parse::values, allow_negative_numbers = true)]
    pub values: Option<usize>,
    #[command(flatten)]
    pub differences: DifferencesArgument,
}

#[derive(Clone, Debug, Args)]
pub struct RbmArguments {
    /// Machine in a safetensors file: weight, hidden_bias, visible_bias and perhaps data_mean
    #[arg(long, value_name = "FILE", help_heading = MODEL, conflicts_with_all = ["visible", "hidden", "values"])]
    pub weights: Option<PathBuf>,
    /// Visible units of a machine with random weights [default: 784]
    #[arg(long, value_name = "N", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true)]
    pub visible: Option<usize>,
    /// Hidden units of a machine with random weights [default: 25]
    #[arg(long, value_name = "M", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true)]
    pub hidden: Option<usize>,
    /// Values per visible unit of a machine with random weights [default: 2]
    #[arg(long, value_name = "C", help_heading = MODEL, value_parser = parse::values, allow_negative_numbers = true)]
    pub values: Option<usize>,
    #[command(flatten)]
    pub differences: DifferencesArgument,
}

#[derive(Clone, Debug, Args)]
pub struct PairwiseArguments {
    /// Text file of edges 'i j J', one per line, sites numbered from 0
    #[arg(long, value_name = "FILE", help_heading = MODEL)]
    pub edges: PathBuf,
    /// Text file of fields 'i b', or 'i value b' with more than two values
    #[arg(long, value_name = "FILE", help_heading = MODEL)]
    pub fields: Option<PathBuf>,
    /// Values per site [default: 2]: couplings act on ±1 with two, on equal values with more
    #[arg(long, value_name = "C", help_heading = MODEL, value_parser = parse::values, allow_negative_numbers = true)]
    pub values: Option<usize>,
    /// Number of sites [default: as many as the edges name]
    #[arg(long, value_name = "N", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true)]
    pub sites: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, Args)]
pub struct DifferencesArgument {
    /// What proposals know: a first-order estimate of each change, or the true one
    /// [default: taylor]
    #[arg(long, value_name = "taylor|exact", hide_possible_values = true, help_heading = MODEL)]
    pub differences: Option<DifferencesKind>,
}

/// Which differences the proposals see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DifferencesKind {
    /// From the gradient at the current state
    Taylor,
    /// The true change for every site and value
    Exact,
}

impl ModelArguments {
    /// The differences that were asked for; models without the option know only the true ones.
    pub fn differences(&self) -> Differences {
        let argument = match self {
            Self::Fhmm(arguments) => arguments.differences,
            Self::Rbm(arguments) => arguments.differences,
            _ => DifferencesArgument::default(),
        };
        match argument.differences {
            None | Some(DifferencesKind::Taylor) => Differences::Taylor,
            Some(DifferencesKind::Exact) => Differences::Exact,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_help_names_the_defaults_of_the_library() {
        let command = Arguments::command();
        let sample = command.find_subcommand("sample").unwrap();
        let default = Settings::default();
        let defaults = [
            ("sampler", default.sampler.to_string()),
            ("weight", default.weight.to_string()),
            ("chains", default.chains.to_string()),
            ("warmup", default.warmup.to_string()),
            ("draws", default.draws.to_string()),
            ("thin", default.thin.to_string()),
            ("seed", default.seed.to_string()),
        ];
        for (name, value) in defaults {
            let option = sample.get_arguments().find(|option| option.get_id() == name).unwrap();
            let help = option.get_help().unwrap().to_string();
            assert!(help.contains(&format!("[default: {value}]")), "{name}: {help}");
        }
    }

    #[test]
    fn run_options_may_stand_before_or_after_the_model() {
        for line in ["sample --chains 7 ising --seed 3", "sample ising --chains 7 --seed 3"] {
            let words = std::iter::once("saltus").chain(line.split(' '));
            let Command::Sample(arguments) = Arguments::try_parse_from(words).unwrap().command
            else {
                panic!("not a sample command");
            };
            assert_eq!((arguments.run.chains, arguments.run.seed), (Some(7), Some(3)));
        }
    }
}
