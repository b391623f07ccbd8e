//! What can be written after `saltus ais`.

use super::train::BinariseArgument;
use super::{GivenArguments, ModelArguments, OUTPUT, RUN, SamplerArguments};
use crate::parse;
use clap::Args;
use saltus::Method;
use saltus::ais::AisSettings;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

const DATA: &str = "Data";

/// Estimate the normaliser of a learnt model, and how likely it finds test images
///
/// Annealed importance sampling: chains go from independent pixels to the model through many
/// temperatures, and their weights estimate log Z, too low on average. With --exact other chains go
/// back from exact draws, which gives a number that is too high on average; with --data alone they go
/// back from images, and the number is only an indication.
#[derive(Debug, Args)]
#[command(
    subcommand_value_name = "MODEL",
    subcommand_help_heading = "Models",
    disable_help_subcommand = true
)]
pub struct AisArguments {
    /// RBM, DBN or deep model (safetensors, of `saltus train`); or the name of a model
    #[arg(value_name = "FILE|MODEL")]
    pub file: Option<PathBuf>,
    #[command(subcommand)]
    pub model: Option<ModelArguments>,
    /// Folder of a dataset's IDX files, or of its folder: how likely are its test images?
    #[arg(long, global = true, value_name = "DIR", help_heading = DATA)]
    pub data: Option<PathBuf>,
    /// Which images: mnist, static-mnist or fashion-mnist; for a deep model those of `saltus train
    /// resnet`
    #[arg(long, global = true, value_name = "NAME", help_heading = DATA)]
    pub dataset: Option<String>,
    /// How pixels become two values [default: threshold]: 1 where the gray is above one half, or
    /// drawn once with the gray as probability
    #[arg(
        long, global = true, value_name = "threshold|stochastic", hide_possible_values = true,
        help_heading = DATA
    )]
    pub binarise: Option<BinariseArgument>,
    /// Also sum over all states of the hidden units, of which there may be at most 25
    #[arg(long, global = true, help_heading = RUN)]
    pub exact: bool,
    /// Number of chains [default: 500]
    #[arg(long, global = true, value_name = "N", help_heading = RUN, value_parser = parse::positive, allow_negative_numbers = true)]
    pub chains: Option<usize>,
    /// Number of temperatures, with a step of the sampler at each [default: 5000]
    #[arg(long, global = true, value_name = "T", help_heading = RUN, value_parser = parse::positive, allow_negative_numbers = true)]
    pub temperatures: Option<usize>,
    /// What moves the chains [default: of RBMs and DBNs alternating, else dlmc]: all hidden units and all
    /// pixels in turn, or a sampler of `saltus list`, any but dld
    #[arg(long, global = true, value_name = "NAME", help_heading = RUN)]
    pub sampler: Option<Transition>,
    #[command(flatten)]
    pub given: GivenArguments,
    #[command(flatten)]
    pub moves: SamplerArguments,
    /// Seed of the chains [default: 0]
    #[arg(long, global = true, value_name = "S", help_heading = RUN, value_parser = parse::seed, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Seed of a model's random parameters [default: 0]
    #[arg(long, global = true, value_name = "S", help_heading = RUN, value_parser = parse::seed, allow_negative_numbers = true)]
    pub model_seed: Option<u64>,
    /// Threads [default: one per processor]; results do not depend on it
    #[arg(long, global = true, value_name = "T", help_heading = RUN, value_parser = parse::threads, allow_negative_numbers = true)]
    pub threads: Option<usize>,
    /// Stop after this time (30s, 10m, 2h), tuning included; with --checkpoint the same command goes
    /// on, unless it was still tuning
    #[arg(long, global = true, value_name = "TIME", help_heading = RUN, value_parser = parse::duration, allow_hyphen_values = true)]
    pub time_limit: Option<Duration>,
    /// Keep the chains in this file every 30 seconds; if it exists, go on from there
    #[arg(long, global = true, value_name = "FILE", help_heading = RUN)]
    pub checkpoint: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long, global = true, help_heading = OUTPUT)]
    pub json: bool,
    /// No progress
    #[arg(long, global = true, help_heading = OUTPUT)]
    pub quiet: bool,
}

/// What moves the chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// All hidden units and all pixels in turn.
    Alternating,
    /// A sampler of the pixels alone.
    Sampler(Method),
}

impl FromStr for Transition {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name.trim() {
            "alternating" | "layers" => Ok(Self::Alternating),
            name => name
                .parse()
                .map(Self::Sampler)
                .map_err(|error: String| format!("{error}; for RBMs there is also 'alternating'")),
        }
    }
}

impl std::fmt::Display for Transition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Alternating => f.write_str("alternating"),
            Self::Sampler(method) => method.fmt(f),
        }
    }
}

impl AisArguments {
    /// What to say if --weight is of no use.
    pub fn unused_weight(&self, transition: Transition) -> Option<String> {
        match transition {
            Transition::Alternating => None,
            Transition::Sampler(method) => self.moves.unused_weight(method),
        }
    }

    /// The settings of annealing.
    pub fn settings(&self, transition: Transition) -> AisSettings {
        let default = AisSettings::default();
        let method = match transition {
            Transition::Alternating => Method::default(),
            Transition::Sampler(method) => method,
        };
        AisSettings {
            chains: self.chains.unwrap_or(default.chains),
            temperatures: self.temperatures.unwrap_or(default.temperatures),
            sampler: self.moves.sampler(method),
            seed: self.seed.unwrap_or(default.seed),
            threads: self.threads,
            time_limit: self.time_limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::arguments::Arguments;
    use clap::CommandFactory;
    use saltus::ais::AisSettings;

    #[test]
    fn the_help_names_the_defaults_of_the_library() {
        let command = Arguments::command();
        let ais = command.find_subcommand("ais").unwrap();
        let default = AisSettings::default();
        for (name, value) in [
            ("chains", default.chains.to_string()),
            ("temperatures", default.temperatures.to_string()),
            ("weight", default.sampler.balancing.to_string()),
            ("solver", default.sampler.solver.to_string()),
            ("seed", default.seed.to_string()),
        ] {
            let option = ais.get_arguments().find(|option| option.get_id() == name).unwrap();
            let help = option.get_help().unwrap().to_string();
            assert!(help.contains(&format!("[default: {value}]")), "{name}: {help}");
        }
    }
}
