//! The locally balanced balancing functions g, with g(t) = t·g(1/t), that turn ratios of
//! probabilities into jump rates.

use crate::math::softplus;
use serde::{Deserialize, Serialize};

/// A locally balanced balancing function.
///
/// ```
/// use saltus::Balancing;
/// // g(t) = t·g(1/t): in logarithms L(d) = d + L(−d).
/// for balancing in Balancing::ALL {
///     assert!((balancing.log(1.3) - (1.3 + balancing.log(-1.3))).abs() < 1e-12);
/// }
/// assert_eq!("ratio".parse(), Ok(Balancing::Ratio));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Balancing {
    /// √t: that of DMALA and of the paper's best results.
    #[default]
    Sqrt,
    /// t/(1+t), Barker's: rates never exceed one.
    Ratio,
    /// min(1, t), Metropolis': rates never exceed one.
    Min,
    /// max(1, t).
    Max,
    /// 1 + t.
    Sum,
}

impl Balancing {
    /// Every balancing function.
    pub const ALL: [Self; 5] = [Self::Sqrt, Self::Ratio, Self::Min, Self::Max, Self::Sum];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqrt => "sqrt",
            Self::Ratio => "ratio",
            Self::Min => "min",
            Self::Max => "max",
            Self::Sum => "sum",
        }
    }

    /// One line saying what it is.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Sqrt => "g(t) = √t, the default: fast escape from unlikely values",
            Self::Ratio => "g(t) = t/(1+t), Barker: bounded rates, gentle on sharp targets",
            Self::Min => "g(t) = min(1, t), Metropolis: bounded rates",
            Self::Max => "g(t) = max(1, t): never slower than rate 1",
            Self::Sum => "g(t) = 1 + t: never slower than rate 1, smooth",
        }
    }

    /// L(d) = log g(e^d), stable for every d.
    pub fn log(self, d: f64) -> f64 {
        match self {
            Self::Sqrt => 0.5 * d,
            Self::Ratio => -softplus(-d),
            Self::Min => d.min(0.0),
            Self::Max => d.max(0.0),
            Self::Sum => softplus(d),
        }
    }
}

impl std::fmt::Display for Balancing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Balancing {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|one| one.name() == name).ok_or_else(|| {
            crate::names::unknown("balancing function", name, Self::ALL.map(Self::name))
        })
    }
}
