//! Options of inverse temperatures and ladders of them.

use super::RUN;
use crate::parse;
use clap::Args;
use saltus::Settings;
use saltus::temper::Temper;
use std::path::PathBuf;

/// At which temperatures chains stand. Global, as all options of a run.
#[derive(Clone, Debug, Default, Args)]
pub struct TemperArguments {
    /// Sample π^B instead of π [default: 1]
    #[arg(
        long, global = true, value_name = "B", help_heading = RUN,
        value_parser = parse::finite, allow_negative_numbers = true
    )]
    pub beta: Option<f64>,
    /// Parallel tempering, to cross between modes: a ladder of that many rungs, or of as many as suit;
    /// every chain is then the last of a ladder, and there are 16 unless --chains says otherwise
    #[arg(
        long, global = true, value_name = "auto|RUNGS", help_heading = RUN,
        num_args = 0..=1, default_missing_value = "auto"
    )]
    pub temper: Option<RungsArgument>,
    /// With --temper: write log π on every rung as a CSV file
    #[arg(long, global = true, value_name = "FILE", help_heading = RUN)]
    pub keep_rungs: Option<PathBuf>,
}

/// How many rungs a ladder has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RungsArgument(pub Option<usize>);

impl std::str::FromStr for RungsArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self(None));
        }
        let number = text.parse().map_err(|_| {
            format!(
                "'{text}' is neither auto nor a number of rungs; write --temper=auto before a model"
            )
        });
        Ok(Self(Some(number?)))
    }
}

/// Ensembles of replicas unless another number is asked for.
pub const ENSEMBLES: usize = 16;

impl TemperArguments {
    /// The settings with these temperatures; `chains` is what was asked for.
    pub fn apply(&self, settings: Settings, chains: Option<usize>) -> Settings {
        let temper = self.temper.map(|RungsArgument(rungs)| Temper { rungs, ladder: None });
        let chains = match temper {
            Some(_) => chains.unwrap_or(ENSEMBLES),
            None => settings.chains,
        };
        Settings { temper, beta: self.beta, chains, ..settings }
    }

    /// The first option that was given.
    pub fn given(&self) -> Option<&'static str> {
        let options = [
            ("--beta", self.beta.is_some()),
            ("--temper", self.temper.is_some()),
            ("--keep-rungs", self.keep_rungs.is_some()),
        ];
        options.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }
}
