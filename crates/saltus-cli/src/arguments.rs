//! What can be written on the command line.

mod ais;
mod convert;
mod exact;
mod files;
mod given;
mod groups;
mod learner;
mod model;
mod path;
mod potts;
#[cfg(feature = "deep")]
mod resnet;
mod sampler;
mod store;
mod temper;
mod train;

pub use ais::{AisArguments, Transition};
pub use convert::ConvertArguments;
pub use exact::{ExactArguments, UaiTask};
pub use files::parse as parse_arguments;
pub use given::GivenArguments;
pub use learner::{BatchArguments, KeepArguments, LearnerArguments};
pub use model::*;
pub use path::*;
pub use potts::TrainPottsArguments;
#[cfg(feature = "deep")]
pub use resnet::{Backend, TrainResnetArguments};
pub use sampler::{DifferencesKind, SamplerArguments, Wanted};
pub use store::{ExportArguments, MergeArguments, StoreArguments, existing};
pub use temper::{ENSEMBLES, RungsArgument, TemperArguments};
pub use train::{
    BinariseArgument, TrainArguments, TrainDbnArguments, TrainRbmArguments, TrainedModel,
    TrainingArguments, dataset,
};

use crate::contender::Contender;
use crate::moved::MovedArguments;
use crate::observe::Observe;
use crate::parse;
use clap::{Args, Parser, Subcommand};
use saltus::{Method, Settings};
use std::path::PathBuf;
use std::time::Duration;

/// Fast, exact sampling from discrete distributions.
#[derive(Debug, Parser)]
#[command(name = "saltus", version, max_term_width = 100, arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

// Made once per program, so that its size does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the models, samplers and balancing functions
    List(ListArguments),
    /// Sample from a model and sum up how it went
    Sample(SampleArguments),
    /// Run several samplers on one model and put them side by side
    Compare(CompareArguments),
    /// Write one page about a stored run: verdict, charts, pictures
    Report(ReportArguments),
    /// The exact answer of a small or sparse model: log Z, marginals, the likeliest state, draws
    Exact(ExactArguments),
    /// Write the numbers or the states of a stored run into files
    Export(ExportArguments),
    /// Write a model's file in another format
    Convert(ConvertArguments),
    /// Join the stores of all shards of a run into one
    Merge(MergeArguments),
    /// Learn a model from data and keep it in a file
    Train(TrainArguments),
    /// Estimate the normaliser of a learnt RBM, and how likely it finds test images
    Ais(AisArguments),
    /// Estimate log Z of a model
    LogZ(LogZArguments),
    /// Energy, specific heat and magnetisation at many temperatures
    Scan(ScanArguments),
    /// Look for the states of largest log π, by annealing
    Minimize(MinimizeArguments),
    /// The paper's sampling study (in saltus-lab)
    #[command(hide = true)]
    Paper(MovedArguments),
    /// The gradient flow on a few states (in saltus-lab)
    #[command(hide = true)]
    Flow(MovedArguments),
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
    /// Left out only with --resume
    #[command(subcommand)]
    pub model: Option<ModelArguments>,
    /// Sampler [default: auto, chosen by the model and a short trial]; `saltus list` names them all
    #[arg(long, global = true, value_name = "NAME", help_heading = RUN)]
    pub sampler: Option<Wanted>,
    /// Also keep a weighted sum of the sites: FILE has lines 'site weight' or 'site value weight'; or of spins abs_m, m2, m4,
    /// or structure:K,K, the structure factor of K waves along each axis
    #[arg(long, global = true, value_name = "NAME=FILE", help_heading = OUTPUT)]
    pub observe: Vec<Observe>,
    /// Judge every single site: how it mixes, which one does so worst
    #[arg(long, global = true, help_heading = OUTPUT)]
    pub per_site: bool,
    /// Tell how likely every value of every site is, with errors
    #[arg(long, global = true, help_heading = OUTPUT)]
    pub marginals: bool,
    /// Write the marginals into this file as UAI competitions have them (MAR)
    #[arg(long, global = true, value_name = "FILE", help_heading = OUTPUT)]
    pub mar: Option<PathBuf>,
    /// Keep this many of the best states, with their log π and how often they were drawn [default: 1]
    #[arg(long, global = true, value_name = "N", help_heading = OUTPUT, value_parser = parse::positive, allow_negative_numbers = true)]
    pub best: Option<usize>,
    /// Send no short chains from far starts after the run, to look for places that no chain came to
    #[arg(long, global = true, help_heading = RUN)]
    pub no_scouts: bool,
    /// Draw the last state of a lattice even if the output is not a terminal
    #[arg(long, global = true, help_heading = OUTPUT)]
    pub picture: bool,
    /// Draw the last states of all chains of a lattice or a deep model side by side into a .png file
    #[arg(long, global = true, value_name = "FILE", help_heading = OUTPUT)]
    pub mosaic: Option<PathBuf>,
    #[command(flatten)]
    pub temper: TemperArguments,
    #[command(flatten)]
    pub store: StoreArguments,
    #[command(flatten)]
    pub run: RunArguments,
}

impl SampleArguments {
    /// Whether something is written into files besides a store.
    pub fn writes_files(&self) -> bool {
        self.mosaic.is_some() || self.mar.is_some() || self.temper.keep_rungs.is_some()
    }
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
    /// Samplers, in the order of the table [default: rwm,gwg,pas,dmala,dlmcf,dlmc]; dlmc:exact is
    /// dlmc with another solver
    #[arg(long, global = true, value_name = "NAME,…", value_delimiter = ',', help_heading = RUN)]
    pub samplers: Vec<Contender>,
    /// Tune each sampler to the acceptance at which it changes the most sites per step, found by
    /// short runs, instead of to its own target
    #[arg(long, global = true, help_heading = RUN, conflicts_with_all = ["target_acceptance", "scale"])]
    pub best_acceptance: bool,
    /// Draw effective draws per evaluation and per second into a .svg or .png file; may be given
    /// twice
    #[arg(long, global = true, value_name = "FILE", help_heading = OUTPUT)]
    pub plot: Vec<PathBuf>,
    /// Replace files of --plot that exist already
    #[arg(long, global = true, help_heading = OUTPUT)]
    pub force: bool,
    #[command(flatten)]
    pub run: RunArguments,
}

/// Write one page about a stored run: verdict, charts, pictures
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Folder of the run
    #[arg(value_name = "DIR")]
    pub run: PathBuf,
    /// File of the page [default: DIR.html]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace the file if it exists already
    #[arg(long)]
    pub force: bool,
}

/// Samplers of a comparison unless others are named.
pub const COMPARED: [Method; 6] =
    [Method::Rwm, Method::Gwg, Method::Pas, Method::Dmala, Method::Dlmcf, Method::Dlmc];

const RUN: &str = "Run";
const OUTPUT: &str = "Output";

fn sampler(name: &str) -> Result<Method, String> {
    name.trim().parse()
}

/// How to run, whatever the model. Global, so that it may stand before or after the model's name.
#[derive(Clone, Debug, Args)]
pub struct RunArguments {
    #[command(flatten)]
    pub given: GivenArguments,
    #[command(flatten)]
    pub moves: SamplerArguments,
    /// Number of chains [default: 100]
    #[arg(
        long, global = true, value_name = "N", help_heading = RUN,
        value_parser = parse::positive, allow_negative_numbers = true
    )]
    pub chains: Option<usize>,
    /// Steps of each chain before the first kept draw [default: 3000 where a scale is tuned, else a tenth of the draws, 100000 at most]
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
    /// Steps per kept draw [default: 1, or as many as try every site once, 100 at most]
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
    /// Exit with code 4 if there is a finding that warns
    #[arg(long, global = true, help_heading = OUTPUT)]
    pub strict: bool,
}

impl RunArguments {
    /// The settings of a run of one sampler.
    pub fn settings(&self, method: Method) -> Settings {
        let default = Settings::default();
        Settings {
            sampler: self.moves.sampler(method),
            chains: self.chains.unwrap_or(default.chains),
            warmup: self.warmup.unwrap_or(default.warmup),
            draws: self.draws.unwrap_or(default.draws),
            thin: self.thin.unwrap_or(default.thin),
            seed: self.seed.unwrap_or(default.seed),
            threads: self.threads,
            time_limit: self.time_limit,
            ..default
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
            ("weight", default.sampler.balancing.to_string()),
            ("solver", default.sampler.solver.to_string()),
            ("chains", default.chains.to_string()),
            ("draws", default.draws.to_string()),
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
