//! A sampler in a comparison, with its solver if it is DLMC: `dlmc`, `dlmc:exact`.

use saltus::{Sampler, Settings, Solver, Summary};
use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contender {
    pub sampler: Sampler,
    /// If one was named.
    pub solver: Option<Solver>,
}

impl Contender {
    /// The settings of its run, from those that all have in common.
    pub fn settings(self, common: Settings) -> Settings {
        let solver = match self.sampler {
            Sampler::Dlmc => self.solver.unwrap_or(common.solver),
            _ => Solver::default(),
        };
        let settings = Settings { sampler: self.sampler, solver, ..common };
        // A scale or a target is meant for the samplers that have one.
        match self.sampler.scale() {
            saltus::sampler::Scale::None => {
                Settings { scale: None, target_acceptance: None, ..settings }
            }
            _ => settings,
        }
    }
}

impl From<&Settings> for Contender {
    fn from(settings: &Settings) -> Self {
        Self { sampler: settings.sampler, solver: Some(settings.solver) }
    }
}

impl From<&Summary> for Contender {
    fn from(summary: &Summary) -> Self {
        Self { sampler: summary.sampler, solver: summary.solver }
    }
}

impl FromStr for Contender {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (sampler, solver) = match text.trim().split_once(':') {
            None => (text.trim(), None),
            Some((sampler, solver)) => (sampler, Some(solver.parse()?)),
        };
        let sampler: Sampler = sampler.parse()?;
        if solver.is_some() && sampler != Sampler::Dlmc {
            return Err(format!("{sampler} has no solver to choose: that is about dlmc"));
        }
        Ok(Self { sampler, solver })
    }
}

impl Display for Contender {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self.solver {
            Some(solver) if solver != Solver::default() => write!(f, "{}:{solver}", self.sampler),
            _ => write!(f, "{}", self.sampler),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in ["gwg", "dlmc", "dlmc:exact", "dlmc:euler"] {
            assert_eq!(name.parse::<Contender>().unwrap().to_string(), name);
        }
        assert_eq!("dlmc:interpolate".parse::<Contender>().unwrap().to_string(), "dlmc");
        assert!("gwg:exact".parse::<Contender>().unwrap_err().contains("about dlmc"));
        assert!("dlmc:exat".parse::<Contender>().unwrap_err().contains("exact"));
    }
}
