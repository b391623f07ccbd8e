//! How DLMC turns the rates of a site into a row of probabilities for a step of time h.

use super::row::RowFormula;
use serde::{Deserialize, Serialize};

/// A way through one step of time.
///
/// ```
/// use saltus::Solver;
/// assert_eq!("exact".parse(), Ok(Solver::Exact));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Solver {
    /// The paper's: between Euler's step and the conditional distribution.
    #[default]
    Interpolate,
    /// Forward Euler, clipped at the conditional distribution: the sampler dlmcf.
    Euler,
    /// The matrix exponential itself.
    Exact,
}

impl Solver {
    /// Every solver.
    pub const ALL: [Self; 3] = [Self::Interpolate, Self::Euler, Self::Exact];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Interpolate => "interpolate",
            Self::Euler => "euler",
            Self::Exact => "exact",
        }
    }

    /// One line saying what it is.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Interpolate => "the default of dlmc: exact for two values, close for more",
            Self::Euler => "clipped forward Euler, which is the sampler dlmcf",
            Self::Exact => "the matrix exponential of every site's rates",
        }
    }

    /// The rows it makes.
    pub fn formula(self) -> RowFormula {
        match self {
            Self::Interpolate => RowFormula::Interpolated,
            Self::Euler => RowFormula::Euler,
            Self::Exact => RowFormula::Exact,
        }
    }
}

impl std::fmt::Display for Solver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Solver {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|solver| solver.name() == name)
            .ok_or_else(|| crate::names::unknown("solver", name, Self::ALL.map(Self::name)))
    }
}
