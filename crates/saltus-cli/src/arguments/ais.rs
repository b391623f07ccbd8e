//! What can be written after `saltus ais`.

use super::train::BinariseArgument;
use super::{DifferencesArgument, OUTPUT, RUN};
use crate::parse;
use clap::Args;
use saltus::ais::AisSettings;
use saltus::{Sampler, Solver, Weight};
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
pub struct AisArguments {
    /// Machine, network or deep model (safetensors, of `saltus train`)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Folder of a dataset's IDX files, or of its folder: how likely are its test images?
    #[arg(long, value_name = "DIR", help_heading = DATA, requires = "dataset")]
    pub data: Option<PathBuf>,
    /// Which images: mnist, static-mnist or fashion-mnist; for a deep model those of `saltus train
    /// resnet`
    #[arg(long, value_name = "NAME", help_heading = DATA, requires = "data")]
    pub dataset: Option<String>,
    /// How pixels become two values [default: threshold]: 1 where the gray is above one half, or
    /// drawn once with the gray as probability
    #[arg(
        long, value_name = "threshold|stochastic", hide_possible_values = true,
        help_heading = DATA, requires = "data"
    )]
    pub binarise: Option<BinariseArgument>,
    /// Also sum over all states of the hidden units, of which there may be at most 25
    #[arg(long, help_heading = RUN)]
    pub exact: bool,
    /// Number of chains [default: 500]
    #[arg(long, value_name = "N", help_heading = RUN, value_parser = parse::positive, allow_negative_numbers = true)]
    pub chains: Option<usize>,
    /// Number of temperatures, with a step of the sampler at each [default: 5000]
    #[arg(long, value_name = "T", help_heading = RUN, value_parser = parse::positive, allow_negative_numbers = true)]
    pub temperatures: Option<usize>,
    /// What moves the chains [default: alternating, of deep models dlmc]: all hidden units and all
    /// pixels in turn, or a sampler of `saltus list`, any but dld
    #[arg(long, value_name = "NAME", help_heading = RUN)]
    pub sampler: Option<Transition>,
    /// Weight function of the sampler [default: sqrt]: sqrt, ratio, min, max or sum
    #[arg(long, value_name = "NAME", help_heading = RUN)]
    pub weight: Option<Weight>,
    /// How dlmc makes a step of time [default: interpolate]: interpolate, euler, exact or metropolised
    #[arg(long, value_name = "NAME", help_heading = RUN)]
    pub solver: Option<Solver>,
    #[command(flatten)]
    pub differences: DifferencesArgument,
    /// Acceptance to tune the sampler to [default: 0.574, for rwm 0.234]
    #[arg(long, value_name = "A", help_heading = RUN, value_parser = parse::finite, allow_negative_numbers = true)]
    pub target_acceptance: Option<f64>,
    /// Fixed step size, or number of sites (rwm, pas), instead of tuning
    #[arg(
        long, value_name = "H", help_heading = RUN, value_parser = parse::finite,
        allow_negative_numbers = true, conflicts_with = "target_acceptance"
    )]
    pub scale: Option<f64>,
    /// Seed of the chains [default: 0]
    #[arg(long, value_name = "S", help_heading = RUN, value_parser = parse::seed, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Threads [default: one per processor]; results do not depend on it
    #[arg(long, value_name = "T", help_heading = RUN, value_parser = parse::threads, allow_negative_numbers = true)]
    pub threads: Option<usize>,
    /// Stop after this time (30s, 10m, 2h), tuning included; with --checkpoint the same command goes
    /// on, unless it was still tuning
    #[arg(long, value_name = "TIME", help_heading = RUN, value_parser = parse::duration, allow_hyphen_values = true)]
    pub time_limit: Option<Duration>,
    /// Keep the chains in this file every 30 seconds; if it exists, go on from there
    #[arg(long, value_name = "FILE", help_heading = RUN)]
    pub checkpoint: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    /// No progress
    #[arg(long, help_heading = OUTPUT)]
    pub quiet: bool,
}

/// What moves the chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// All hidden units and all pixels in turn.
    Alternating,
    /// A sampler of the pixels alone.
    Sampler(Sampler),
}

impl FromStr for Transition {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name.trim() {
            "alternating" => Ok(Self::Alternating),
            name => name.parse().map(Self::Sampler).map_err(|error: String| {
                format!("{error}; for machines there is also 'alternating'")
            }),
        }
    }
}

impl std::fmt::Display for Transition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Alternating => f.write_str("alternating"),
            Self::Sampler(sampler) => sampler.fmt(f),
        }
    }
}

/// What to say of a weight function that was asked for, if the sampler has none.
pub(super) fn unused_weight(weight: Option<Weight>, sampler: Sampler) -> Option<String> {
    let weight = weight.filter(|_| !sampler.uses_weight())?;
    Some(format!("{sampler} has no weight function, --weight {weight} is not used"))
}

impl AisArguments {
    /// The first option that is about samplers, if one was given.
    pub fn about_samplers(&self) -> Option<&'static str> {
        let options = [
            ("--weight", self.weight.is_some()),
            ("--solver", self.solver.is_some()),
            ("--differences", self.differences.differences.is_some()),
            ("--target-acceptance", self.target_acceptance.is_some()),
            ("--scale", self.scale.is_some()),
        ];
        options.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// What to say if --weight is of no use.
    pub fn unused_weight(&self, transition: Transition) -> Option<String> {
        match transition {
            Transition::Alternating => None,
            Transition::Sampler(sampler) => unused_weight(self.weight, sampler),
        }
    }

    /// The settings of annealing.
    pub fn settings(&self, transition: Transition) -> AisSettings {
        let default = AisSettings::default();
        let sampler = match transition {
            Transition::Alternating => default.sampler,
            Transition::Sampler(sampler) => sampler,
        };
        AisSettings {
            chains: self.chains.unwrap_or(default.chains),
            temperatures: self.temperatures.unwrap_or(default.temperatures),
            sampler,
            weight: self.weight.unwrap_or_default(),
            solver: self.solver.unwrap_or_default(),
            differences: self.differences.kind(),
            target_acceptance: self.target_acceptance,
            scale: self.scale,
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
            ("weight", default.weight.to_string()),
            ("solver", default.solver.to_string()),
            ("seed", default.seed.to_string()),
        ] {
            let option = ais.get_arguments().find(|option| option.get_id() == name).unwrap();
            let help = option.get_help().unwrap().to_string();
            assert!(help.contains(&format!("[default: {value}]")), "{name}: {help}");
        }
    }
}
