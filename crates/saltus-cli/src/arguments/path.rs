//! Options of commands that go through temperatures: log-z, scan and minimize.

use super::{ModelArguments, OUTPUT, RUN, RunArguments, sampler};
use crate::observe::Observe;
use crate::parse;
use clap::{Args, ValueEnum};
use saltus::minimize::Search;
use saltus::temper::Temper;
use saltus::{Method, Settings};
use std::path::PathBuf;

/// log Z of a model: exactly where it can be, else estimated
#[derive(Debug, Args)]
#[command(
    subcommand_value_name = "MODEL",
    subcommand_help_heading = "Models",
    disable_help_subcommand = true
)]
pub struct LogZArguments {
    #[command(subcommand)]
    pub model: ModelArguments,
    /// How [default: exact where it can be and no --sampler, --chains, --warmup, --draws, --error or --time-limit is given, else temper]: exact (enumeration or
    /// elimination), temper (a ladder of temperatures, with an error and a bracket) or ais (annealed importance sampling, low on average)
    #[arg(long, global = true, value_name = "exact|temper|ais", help_heading = RUN, hide_possible_values = true)]
    pub method: Option<LogZMethod>,
    /// Sampler [default: the cheapest of those that are likely for the model: gibbs, layers, sw or dlmc]; `saltus list` names them all
    #[arg(long, global = true, value_name = "NAME", help_heading = RUN, value_parser = sampler)]
    pub sampler: Option<Method>,
    /// Of π^B instead of π [default: 1]
    #[arg(
        long, global = true, value_name = "B", help_heading = RUN,
        value_parser = parse::finite, allow_negative_numbers = true
    )]
    pub beta: Option<f64>,
    /// Of a ladder: stop once the standard error is at most E [default: 0.0125, or two counted minutes; none with --draws]
    #[arg(
        long, global = true, value_name = "E", help_heading = RUN,
        value_parser = parse::finite, allow_negative_numbers = true
    )]
    pub error: Option<f64>,
    /// Also write log₁₀ Z as the answer of a UAI competition's PR task
    #[arg(long, global = true, value_name = "FILE", help_heading = OUTPUT)]
    pub uai: Option<PathBuf>,
    /// Replace a file that exists already
    #[arg(long, global = true, help_heading = OUTPUT)]
    pub force: bool,
    #[command(flatten)]
    pub run: RunArguments,
}

impl LogZArguments {
    /// Whether something was said of how chains are drawn.
    pub fn is_about_chains(&self) -> bool {
        let run = &self.run;
        let counts = [run.chains, run.warmup, run.draws];
        let is_limited = run.time_limit.is_some() || self.error.is_some();
        self.sampler.is_some() || is_limited || counts.iter().any(Option::is_some)
    }
}

/// How log Z is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogZMethod {
    /// By enumeration or elimination
    Exact,
    /// By a ladder of temperatures
    Temper,
    /// By annealed importance sampling
    Ais,
}

/// Energy, specific heat and magnetisation at many temperatures
#[derive(Debug, Args)]
#[command(
    subcommand_value_name = "MODEL",
    subcommand_help_heading = "Models",
    disable_help_subcommand = true
)]
pub struct ScanArguments {
    #[command(subcommand)]
    pub model: ModelArguments,
    /// Inverse temperatures from A to B, N of them
    #[arg(long, global = true, value_name = "A:B:N", help_heading = RUN, allow_hyphen_values = true)]
    pub beta: Option<BetaRange>,
    /// Sampler [default: the likeliest for the model: sw, layers, gibbs or dlmc]; `saltus list` names them all
    #[arg(long, global = true, value_name = "NAME", help_heading = RUN, value_parser = sampler)]
    pub sampler: Option<Method>,
    /// Also observe NAME: abs_m, m2, m4, structure:K,K (waves along each axis), or NAME=FILE with a weight for every site
    #[arg(long, global = true, value_name = "NAME[=FILE]", help_heading = RUN)]
    pub observe: Vec<Observe>,
    /// Also write the rows as a CSV file
    #[arg(long, global = true, value_name = "FILE", help_heading = OUTPUT)]
    pub csv: Option<PathBuf>,
    /// Also draw all columns over β, as SVG or PNG
    #[arg(long, global = true, value_name = "FILE", help_heading = OUTPUT)]
    pub plot: Vec<PathBuf>,
    /// Replace a file that exists already
    #[arg(long, global = true, help_heading = OUTPUT)]
    pub force: bool,
    #[command(flatten)]
    pub run: RunArguments,
}

/// Inverse temperatures at equal distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BetaRange {
    pub from: f64,
    pub to: f64,
    pub number: usize,
}

impl BetaRange {
    pub fn betas(&self) -> Vec<f64> {
        let steps = (self.number - 1).max(1) as f64;
        let at = |i| self.from + (self.to - self.from) * i as f64 / steps;
        (0..self.number).map(at).collect()
    }
}

impl std::str::FromStr for BetaRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not a range A:B:N such as 0.2:0.6:41");
        let [from, to, number] = text.split(':').collect::<Vec<_>>()[..] else {
            return Err(wrong());
        };
        let end = |text: &str| text.trim().parse::<f64>().map_err(|_| wrong());
        let (from, to) = (end(from)?, end(to)?);
        let number = number.trim().parse().map_err(|_| wrong())?;
        let sound = from >= 0.0 && to > 0.0 && to >= from && to.is_finite() && number > 0;
        if sound { Ok(Self { from, to, number }) } else { Err(wrong()) }
    }
}

/// Look for the states of largest log π, by annealing or by a ladder of temperatures
#[derive(Debug, Args)]
#[command(
    subcommand_value_name = "MODEL",
    subcommand_help_heading = "Models",
    disable_help_subcommand = true
)]
pub struct MinimizeArguments {
    #[command(subcommand)]
    pub model: ModelArguments,
    /// How [default: anneal]: anneal (cool, and begin anew), reheat (go on from the best states, as hot as where the specific heat peaks) or
    /// temper (ladders of temperatures, 4 unless --chains)
    #[arg(long, global = true, value_name = "anneal|reheat|temper", help_heading = RUN)]
    pub method: Option<Search>,
    /// Steps of the first cooling [default: 1000]; with a --time-limit others follow, each twice as long
    #[arg(
        long, global = true, value_name = "N", help_heading = RUN,
        value_parser = parse::positive, allow_negative_numbers = true
    )]
    pub sweeps: Option<usize>,
    /// First and last inverse temperature [default: from the model's own changes]
    #[arg(long, global = true, value_name = "A:B", help_heading = RUN, allow_hyphen_values = true)]
    pub betas: Option<BetaEnds>,
    /// Sampler [default: the likeliest for the model: sw, layers, gibbs or dlmc]; `saltus list` names them all
    #[arg(long, global = true, value_name = "NAME", help_heading = RUN, value_parser = sampler)]
    pub sampler: Option<Method>,
    #[command(flatten)]
    pub run: RunArguments,
}

/// A first and a last inverse temperature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BetaEnds(pub f64, pub f64);

impl std::str::FromStr for BetaEnds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not a range A:B such as 0.1:3");
        let (from, to) = text.split_once(':').ok_or_else(wrong)?;
        let end = |text: &str| text.trim().parse::<f64>().map_err(|_| wrong());
        Ok(Self(end(from)?, end(to)?))
    }
}

/// Settings of a ladder that is not looked at draw by draw.
pub fn ladder_settings(run: &RunArguments, method: Method, beta: Option<f64>) -> Settings {
    Settings {
        chains: run.chains.unwrap_or(16),
        warmup: run.warmup.unwrap_or(1000),
        draws: run.draws.unwrap_or(2000),
        temper: Some(Temper::default()),
        beta,
        ..run.settings(method)
    }
}
