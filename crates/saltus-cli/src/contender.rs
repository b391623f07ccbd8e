//! A sampler in a comparison, with its solver if it is DLMC: `dlmc`, `dlmc:exact`.

use saltus::{Method, Sampler, Settings, Solver, Summary};
use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contender {
    pub method: Method,
    /// If one was named.
    pub solver: Option<Solver>,
}

impl Contender {
    /// The settings of its run, from those that all have in common.
    pub fn settings(self, common: Settings) -> Settings {
        let solver = if self.method.has_solver() {
            self.solver.unwrap_or(common.sampler.solver)
        } else {
            Solver::default()
        };
        let mut sampler = Sampler { method: self.method, solver, ..common.sampler };
        // A scale or a target is meant for the samplers that have one.
        if !has_scale(self.method) {
            (sampler.scale, sampler.target_acceptance) = (None, None);
        }
        Settings { sampler, ..common }
    }
}

/// Whether a sampler has a scale to set or to tune.
pub fn has_scale(method: Method) -> bool {
    let space = saltus::Space::new(1, 2);
    space.is_ok_and(|space| method.traits(&space).scale.is_some())
}

impl From<&Settings> for Contender {
    fn from(settings: &Settings) -> Self {
        Self { method: settings.sampler.method, solver: Some(settings.sampler.solver) }
    }
}

impl FromStr for Contender {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (sampler, solver) = match text.trim().split_once(':') {
            None => (text.trim(), None),
            Some((sampler, solver)) => (sampler, Some(solver.parse()?)),
        };
        let method: Method = sampler.parse()?;
        if solver.is_some() && !method.has_solver() {
            return Err(format!("{method} has no solver to choose: that is about dlmc"));
        }
        Ok(Self { method, solver })
    }
}

impl Display for Contender {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self.solver {
            Some(solver) if solver != Solver::default() => write!(f, "{}:{solver}", self.method),
            _ => write!(f, "{}", self.method),
        }
    }
}

/// What a run is called among others: its sampler, with the solver if that is not the default.
pub fn name(summary: &Summary) -> String {
    match summary.solver {
        Some(solver) if solver != Solver::default() => format!("{}:{solver}", summary.sampler),
        _ => summary.sampler.clone(),
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
