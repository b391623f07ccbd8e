//! The locally balanced balancing functions g, with g(t) = t·g(1/t), that turn ratios of
//! probabilities into jump rates: one file each, and a line of the table below.

pub(crate) mod exact_row;

use crate::math::{Arithmetic, exp};
use exact_row::{RowWork, squaring};
use serde::{Deserialize, Serialize};

/// One line per balancing function: its name in the library, its file, and what it is.
macro_rules! balancings {
    ($($(#[$default:meta])? $name:ident, $file:ident: $what:literal;)*) => {
        $(mod $file;)*

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
            $(#[doc = $what] $(#[$default])? $name,)*
        }

        impl Balancing {
            /// Every balancing function.
            pub const ALL: [Self; [$(stringify!($name)),*].len()] = [$(Self::$name),*];

            /// The name used on the command line.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($file),)*
                }
            }

            /// Does something with the function as a type, so that loops are compiled for it.
            pub(crate) fn with<W: WithBalance>(self, then: W) -> W::Output {
                match self {
                    $(Self::$name => then.with::<$file::$name>(),)*
                }
            }
        }
    };
}

balancings! {
    #[default]
    Sqrt, sqrt: "√t: that of DMALA and of the paper's best results.";
    Ratio, ratio: "t/(1+t), Barker's: rates never exceed one.";
    Min, min: "min(1, t), Metropolis': rates never exceed one.";
    Max, max: "max(1, t).";
    Sum, sum: "1 + t.";
}

/// A balancing function g in the terms of everything that uses one.
///
/// Loops over differences keep of a difference Δ its *power*: t = e^Δ, or a root of it, so that each
/// function has as few exponentials, roots and divisions as it allows. Because g is locally balanced,
/// g(t)/t is a symmetric function of the two values' weights; rows that are reversible for the site's
/// conditional are made from it.
pub(crate) trait Balance {
    /// One line saying what it is.
    const SUMMARY: &'static str;

    /// L(d) = log g(e^d), stable for every d.
    fn log(d: f64) -> f64;

    /// What is kept of a difference.
    #[inline(always)]
    fn power<A: Arithmetic>(diff: f32) -> f32 {
        exp::<A>(diff)
    }

    /// t.
    #[inline(always)]
    fn weight(power: f32) -> f32 {
        power
    }

    /// g(t).
    fn rate(power: f32) -> f32;

    /// g(t)/t.
    fn symmetric(power: f32) -> f32;

    /// (1/(1 + t), g(t)/t).
    #[inline(always)]
    fn split(power: f32) -> (f32, f32) {
        (1.0 / (1.0 + Self::weight(power)), Self::symmetric(power))
    }

    /// g(e^Δ) where nothing else is asked of Δ: the weights of paths.
    #[inline(always)]
    fn weigh<A: Arithmetic>(diff: f32) -> f32 {
        Self::rate(Self::power::<A>(diff))
    }

    /// Writes a row of exp(hQ), Q_ij = g(νⱼ/νᵢ), of more than two values, up to a factor; by a matrix
    /// unless the function knows better.
    fn exact_row(work: RowWork<'_>, row: &mut [f64]) {
        squaring::row(&work, Self::log, row);
    }
}

/// What can be done with any balancing function.
pub(crate) trait WithBalance {
    /// What comes of it.
    type Output;
    /// Does it.
    fn with<B: Balance>(self) -> Self::Output;
}

struct Summary;
impl WithBalance for Summary {
    type Output = &'static str;
    fn with<B: Balance>(self) -> &'static str {
        B::SUMMARY
    }
}

struct Log(f64);
impl WithBalance for Log {
    type Output = f64;
    fn with<B: Balance>(self) -> f64 {
        B::log(self.0)
    }
}

impl Balancing {
    /// One line saying what it is.
    pub fn describe(self) -> &'static str {
        self.with(Summary)
    }

    /// L(d) = log g(e^d), stable for every d.
    pub fn log(self, d: f64) -> f64 {
        self.with(Log(d))
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
