//! The samplers by name, and everything that can be chosen about one.

use crate::balancing::Balancing;
use crate::closeness::Closeness;
use crate::kernel::options::{Options, WithKernel};
use crate::kernel::solver::Solver;
use crate::kernel::terms::{AskTerms, Terms};
use crate::kernel::{self, KernelTraits, Kind, gibbs::Scan};
use crate::model::{Differences, Model};
use crate::space::Space;
use serde::{Deserialize, Serialize};

/// One line per sampler: its name in the library, what it is, and its file.
macro_rules! methods {
    ($($method:ident, $constructor:ident, $file:ident: $what:literal;)*) => {
        /// A way of sampling that this library has.
        ///
        /// ```
        /// use saltus::Method;
        /// assert_eq!("dlmc".parse(), Ok(Method::Dlmc));
        /// assert!("dlcm".parse::<Method>().unwrap_err().contains("did you mean 'dlmc'?"));
        /// ```
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        #[non_exhaustive]
        pub enum Method {
            $(#[doc = $what] $method,)*
            /// Discrete Langevin Monte Carlo.
            #[default]
            Dlmc,
        }

        impl Method {
            /// Every method, from the simplest to DLMC.
            pub const ALL: &[Self] = &[$(Self::$method,)* Self::Dlmc];

            /// What it says of itself on a space.
            pub fn traits(self, space: &Space) -> KernelTraits {
                match self {
                    $(Self::$method => kernel::$file::traits(space),)*
                    Self::Dlmc => kernel::dlmc::traits(space),
                }
            }
        }

        /// Why a space of one state is not sampled.
pub(crate) const NOTHING_LEFT: &str = "nothing is left to sample: every site is fixed or has a single value; \
     `saltus exact` gives log Z and the one state that is left";

impl Sampler {
            $(#[doc = $what]
            pub fn $constructor() -> Self {
                Self::new(Method::$method)
            })*

            /// What it says of itself on a space.
            pub fn traits(&self, space: &Space) -> KernelTraits {
                match self.method {
                    $(Method::$method => kernel::$file::traits(space),)*
                    Method::Dlmc => kernel::dlmc::traits(space),
                }
            }

            /// Does something with the kernel of this sampler on a model.
            pub(crate) fn with_kernel<'a, M: Model + 'a, W: WithKernel<'a, M>>(
                &self,
                model: &M,
                then: W,
            ) -> W::Output {
                let options = &self.options();
                match self.method {
                    $(Method::$method => kernel::$file::with_kernel(options, model, then),)*
                    Method::Dlmc => kernel::dlmc::with_kernel(options, model, then),
                }
            }
        }
    };
}

methods! {
    Rwm, rwm, random_walk: "Random-walk Metropolis.";
    Hb, hb, hamming_ball: "Hamming ball of radius one in blocks of ten.";
    Bg, bg, block_gibbs: "Block Gibbs with blocks of two.";
    Gibbs, gibbs, gibbs: "Gibbs sweeps.";
    Sw, sw, swendsen_wang: "Swendsen–Wang: all clusters of pairs without frustration.";
    Wolff, wolff, wolff: "Wolff: one cluster of pairs without frustration.";
    Layers, layers, layers: "Gibbs by layers, of RBMs.";
    Lb1, lb1, lb1: "Locally balanced, one site, exact differences.";
    Gwg, gwg, gwg: "Gibbs with gradients, one site.";
    Dld, dld, jump_process: "The jump process itself, whose states are weighted.";
    Pas, pas, pas: "Path-auxiliary sampler, several sites.";
    Dmala, dmala, dmala: "Discrete Metropolis-adjusted Langevin.";
    Dlmcf, dlmcf, dlmcf: "Discrete Langevin Monte Carlo by clipped forward Euler.";
}

/// A sampler and everything that decides how it moves chains.
///
/// ```
/// use saltus::{Balancing, Sampler};
/// let sampler = Sampler { balancing: Balancing::Ratio, ..Sampler::pas() };
/// assert_eq!(sampler.to_string(), "pas");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sampler {
    /// Which one.
    #[serde(rename = "sampler")]
    pub method: Method,
    /// Its balancing function, if it has one.
    #[serde(rename = "weight")]
    pub balancing: Balancing,
    /// How dlmc makes its rows; the others have no choice.
    pub solver: Solver,
    /// The differences that proposals see.
    pub differences: Differences,
    /// How close the values of a site are to each other, for samplers that have a balancing function.
    pub closeness: Closeness,
    /// The sites that a step of gibbs redraws.
    pub scan: Scan,
    /// A fixed scale; nothing is tuned then.
    pub scale: Option<f64>,
    /// Acceptance to tune to, if not the sampler's own.
    pub target_acceptance: Option<f64>,
}

impl Sampler {
    /// Discrete Langevin Monte Carlo.
    pub fn dlmc() -> Self {
        Self::default()
    }

    /// The sampler of a method, as it is by default.
    pub fn new(method: Method) -> Self {
        Self { method, ..Self::default() }
    }

    /// What can be chosen about its kernel.
    pub fn options(&self) -> Options {
        let &Self { balancing, solver, differences, closeness, scan, .. } = self;
        Options { balancing, solver, differences, closeness, scan }
    }

    /// Fails with a sentence if nothing of a space is left to sample.
    pub fn check_space(&self, space: &Space) -> Result<(), SamplerError> {
        match space.free_sites() {
            0 => Err(SamplerError(NOTHING_LEFT.to_owned())),
            _ => Ok(()),
        }
    }

    /// Fails with a sentence if it cannot move chains on a space as it is set.
    pub fn check(&self, space: &Space) -> Result<(), SamplerError> {
        let refused = |reason: String| Err(SamplerError(reason));
        self.check_space(space)?;
        let traits = self.traits(space);
        let name = traits.name;
        if self.solver != Solver::default() && !self.method.has_solver() {
            return refused(format!("{name} has no solver to choose: that is about dlmc"));
        }
        if let Closeness::Ordinal { length } = self.closeness {
            if !(length > 0.0 && length.is_finite()) {
                return refused(format!(
                    "the length of ordinal values must be positive, got {length}"
                ));
            }
            if !traits.is_balanced {
                return refused(format!("{name} proposes blindly: nothing is ordinal to it"));
            }
            if self.solver == Solver::Exact {
                return refused("exact rows know only values that are all alike".to_owned());
            }
        }
        check_tuning(&traits, self.scale, self.target_acceptance)
    }

    /// Fails with a sentence if it cannot move chains of a model as it is set.
    pub fn suits<M: Model>(&self, model: &M) -> Result<(), SamplerError> {
        self.check(model.space())?;
        let suits = self.terms(model, 1).suits;
        suits.map_err(|error| SamplerError(error.to_string()))
    }

    /// Fails with a sentence if it cannot go along the path from independent sites to a model.
    pub(crate) fn suits_path<M: Model>(&self, model: &M) -> Result<(), SamplerError> {
        self.check(model.space())?;
        let suits = self.terms(model, 1).suits_path;
        suits.map_err(|error| SamplerError(error.to_string()))
    }

    /// On what terms its kernel moves so many chains of a model.
    pub fn terms<M: Model>(&self, model: &M, chains: usize) -> Terms {
        self.with_kernel(model, AskTerms(model, chains))
    }
}

/// Fails with a sentence if a kernel of those traits cannot have that scale or target.
pub(crate) fn check_tuning(
    traits: &KernelTraits,
    scale: Option<f64>,
    target_acceptance: Option<f64>,
) -> Result<(), SamplerError> {
    if let Some(target) = target_acceptance
        && !(target > 0.0 && target < 1.0)
    {
        return Err(SamplerError(format!(
            "the target acceptance must lie strictly between 0 and 1, got {target}"
        )));
    }
    let Some(known) = traits.scale else {
        return match scale.or(target_acceptance) {
            None => Ok(()),
            Some(_) => Err(SamplerError(format!(
                "{} has no scale: there is nothing to set or to tune",
                traits.name
            ))),
        };
    };
    match scale {
        Some(scale) if !(known.allowed.0..=known.allowed.1).contains(&scale) => Err(SamplerError(
            format!("the scale of {} must be {}, got {scale}", traits.name, known.allowed_words()),
        )),
        _ => Ok(()),
    }
}

/// Why a sampler cannot be used as it is set, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SamplerError(pub(crate) String);

impl Method {
    /// What it says of itself, as far as that does not depend on the space.
    fn anywhere(self) -> KernelTraits {
        self.traits(&Space::new(1, 2).expect("the smallest space"))
    }

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        self.anywhere().name
    }

    /// One line saying what it is.
    pub fn describe(self) -> &'static str {
        self.anywhere().summary
    }

    /// What it knows of its target, and how much of a state a step may change.
    pub fn kind(self) -> Kind {
        self.anywhere().kind
    }

    /// Whether it has a balancing function to choose.
    pub fn is_balanced(self) -> bool {
        self.anywhere().is_balanced
    }

    /// Whether it moves chains of any model; the others know how theirs is made.
    pub fn is_general(self) -> bool {
        self.kind() != Kind::Structure
    }

    /// Whether it makes its rows by a solver that can be chosen.
    pub fn has_solver(self) -> bool {
        self.anywhere().has_solver
    }

    /// Whether its draws count by weights.
    pub fn is_weighted(self) -> bool {
        self.anywhere().is_weighted
    }
}

impl From<Method> for Sampler {
    fn from(method: Method) -> Self {
        Self::new(method)
    }
}

impl std::fmt::Display for Sampler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.method.fmt(f)
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Method {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|method| method.name() == name).ok_or_else(|| {
            crate::names::unknown("sampler", name, Self::ALL.iter().map(|method| method.name()))
        })
    }
}
