//! How chains move, wherever they do.

use super::RUN;
use crate::parse;
use clap::{Args, ValueEnum};
use saltus::{Balancing, Closeness, Differences, Method, Sampler, Solver};
use std::str::FromStr;

/// Everything about a sampler but its name. Global, so that it may stand before or after a model's name.
#[derive(Clone, Debug, Default, Args)]
pub struct SamplerArguments {
    #[arg(long, global = true, value_name = "NAME", help_heading = RUN, help = weight_help())]
    pub weight: Option<Balancing>,
    /// How dlmc makes a step of time [default: interpolate]: interpolate, euler or exact
    #[arg(long, global = true, value_name = "NAME", help_heading = RUN)]
    pub solver: Option<Solver>,
    /// What proposals know: a first-order estimate of each change, or the true one [default: taylor]
    #[arg(
        long, global = true, value_name = "taylor|exact", hide_possible_values = true,
        help_heading = RUN
    )]
    pub differences: Option<DifferencesKind>,
    /// Values are levels: changes over d of them are proposed e^(−(d − 1)/LENGTH) times as readily
    #[arg(
        long, global = true, value_name = "LENGTH", help_heading = RUN,
        value_parser = parse::finite, allow_negative_numbers = true
    )]
    pub ordinal: Option<f64>,
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
}

/// The balancing functions by name.
fn weight_help() -> String {
    let names = Balancing::ALL.map(Balancing::name);
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    format!(
        "Balancing function [default: {}]: {} or {last}",
        Balancing::default(),
        others.join(", ")
    )
}

/// A sampler that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The one that suits the model best.
    Auto,
    /// This one.
    Method(Method),
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name.trim() {
            "auto" => Ok(Self::Auto),
            name => name.parse().map(Self::Method),
        }
    }
}

/// Which differences the proposals see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DifferencesKind {
    /// From the gradient at the current state
    Taylor,
    /// The true change for every site and value
    Exact,
}

impl SamplerArguments {
    /// The sampler of that method.
    pub fn sampler(&self, method: Method) -> Sampler {
        Sampler {
            method,
            balancing: self.weight.unwrap_or_default(),
            solver: self.solver.unwrap_or_default(),
            differences: match self.differences {
                None | Some(DifferencesKind::Taylor) => Differences::Taylor,
                Some(DifferencesKind::Exact) => Differences::Exact,
            },
            closeness: match self.ordinal {
                None => Closeness::Equal,
                Some(length) => Closeness::Ordinal { length },
            },
            scale: self.scale,
            target_acceptance: self.target_acceptance,
            ..Sampler::default()
        }
    }

    /// The first option that was given.
    pub fn given(&self) -> Option<&'static str> {
        let options = [
            ("--weight", self.weight.is_some()),
            ("--solver", self.solver.is_some()),
            ("--differences", self.differences.is_some()),
            ("--ordinal", self.ordinal.is_some()),
            ("--target-acceptance", self.target_acceptance.is_some()),
            ("--scale", self.scale.is_some()),
        ];
        options.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// What to say of a balancing function that was asked for, if the sampler has none.
    pub fn unused_weight(&self, method: Method) -> Option<String> {
        let weight = self.weight.filter(|_| !method.is_balanced())?;
        Some(format!("{method} has no balancing function, --weight {weight} is not used"))
    }
}
