//! The samplers by name: what each is, what it is tuned to, and what the paper charges for a step.

use crate::kernel::hamming_ball;
use crate::space::Space;
use serde::{Deserialize, Serialize};

/// A sampler of the paper, or Gibbs sampling.
///
/// ```
/// use saltus::Sampler;
/// assert_eq!("dlmc".parse(), Ok(Sampler::Dlmc));
/// assert!("dlcm".parse::<Sampler>().unwrap_err().contains("did you mean 'dlmc'?"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sampler {
    /// Random-walk Metropolis.
    Rwm,
    /// Hamming ball of radius one in blocks of ten.
    Hb,
    /// Block Gibbs with blocks of two.
    Bg,
    /// Gibbs sweeps.
    Gibbs,
    /// Locally balanced, one site, exact differences.
    Lb1,
    /// Gibbs with gradients, one site.
    Gwg,
    /// The jump process itself, whose states are weighted.
    Dld,
    /// Path-auxiliary sampler, several sites.
    Pas,
    /// Discrete Metropolis-adjusted Langevin.
    Dmala,
    /// Discrete Langevin Monte Carlo by clipped forward Euler.
    Dlmcf,
    /// Discrete Langevin Monte Carlo by interpolation.
    #[default]
    Dlmc,
}

/// What the scale of a sampler means, and how far it may be tuned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Nothing to tune.
    None,
    /// Simulated time h of a step.
    StepSize,
    /// Number of sites changed by a proposal.
    Radius,
}

/// Smallest and largest step size that samplers accept.
pub const STEP_SIZES: (f64, f64) = (1e-9, 1e9);

impl Sampler {
    /// Every sampler, from the simplest to DLMC.
    pub const ALL: [Self; 11] = [
        Self::Rwm,
        Self::Hb,
        Self::Bg,
        Self::Gibbs,
        Self::Lb1,
        Self::Gwg,
        Self::Dld,
        Self::Pas,
        Self::Dmala,
        Self::Dlmcf,
        Self::Dlmc,
    ];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rwm => "rwm",
            Self::Hb => "hb",
            Self::Bg => "bg",
            Self::Gibbs => "gibbs",
            Self::Lb1 => "lb1",
            Self::Gwg => "gwg",
            Self::Dld => "dld",
            Self::Pas => "pas",
            Self::Dmala => "dmala",
            Self::Dlmcf => "dlmcf",
            Self::Dlmc => "dlmc",
        }
    }

    /// One line saying what it is.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Rwm => "random-walk Metropolis: changes a tuned number of sites blindly",
            Self::Hb => {
                "Hamming ball: a blind step, then a draw from π within radius 1 of 10 sites"
            }
            Self::Bg => "block Gibbs: redraws two sites jointly",
            Self::Gibbs => "Gibbs: a step is one sweep over all sites, by colours on sparse graphs",
            Self::Lb1 => "locally balanced: one informed change per step, exact differences",
            Self::Gwg => "Gibbs with gradients: one informed change per step",
            Self::Dld => {
                "the jump process itself: one change per step, never rejected, draws are weighted"
            }
            Self::Pas => "path-auxiliary: a tuned number of informed changes per step",
            Self::Dmala => "discrete MALA: all sites at once, normalised rates",
            Self::Dlmcf => "DLMC by clipped forward Euler: all sites at once",
            Self::Dlmc => "discrete Langevin Monte Carlo: all sites at once, interpolated in time",
        }
    }

    /// Whether the weight function g matters to it.
    pub fn uses_weight(self) -> bool {
        !matches!(self, Self::Rwm | Self::Hb | Self::Bg | Self::Gibbs)
    }

    /// Whether its draws count by weights.
    pub fn is_weighted(self) -> bool {
        self == Self::Dld
    }

    /// What its scale is.
    pub fn scale(self) -> Scale {
        match self {
            Self::Rwm | Self::Pas => Scale::Radius,
            Self::Dmala | Self::Dlmcf | Self::Dlmc => Scale::StepSize,
            Self::Hb | Self::Bg | Self::Gibbs | Self::Lb1 | Self::Gwg | Self::Dld => Scale::None,
        }
    }

    /// The acceptance it is tuned to, if it is tuned.
    pub fn target_acceptance(self) -> Option<f64> {
        match self {
            Self::Rwm => Some(0.234),
            _ if self.scale() == Scale::None => None,
            _ => Some(0.574),
        }
    }

    /// Energy evaluations that the paper charges for one step: a gradient counts as one, and
    /// nothing is kept from step to step. (For a Gibbs sweep, by the same rule as block Gibbs:
    /// every value of every site.)
    pub fn evaluations_charged(self, space: &Space) -> f64 {
        let (sites, values) = (space.sites() as f64, space.values() as f64);
        match self {
            Self::Rwm => 2.0,
            Self::Hb => 1.0 + hamming_ball::BLOCK as f64 * (values - 1.0),
            Self::Bg => values * values,
            Self::Gibbs => sites * values,
            Self::Lb1 => 2.0 * (sites * (values - 1.0) + 1.0),
            // As for lb1, without the way back.
            Self::Dld => sites * (values - 1.0) + 1.0,
            Self::Gwg | Self::Pas | Self::Dmala | Self::Dlmcf | Self::Dlmc => 4.0,
        }
    }
}

impl std::fmt::Display for Sampler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Sampler {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|sampler| sampler.name() == name)
            .ok_or_else(|| crate::names::unknown("sampler", name, Self::ALL.map(Self::name)))
    }
}
