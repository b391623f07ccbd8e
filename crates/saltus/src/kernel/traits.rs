//! What a kernel says of itself: its name, where it comes from, what its scale is and what a step of it
//! is charged.

/// The traits of a kernel on a space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelTraits {
    /// Its name, on the command line and in stores.
    pub name: &'static str,
    /// One line saying what it is.
    pub summary: &'static str,
    /// Where it was published.
    pub reference: &'static str,
    /// What it knows of its target.
    pub kind: Kind,
    /// Whether it has a balancing function to choose.
    pub is_balanced: bool,
    /// Whether it makes its rows by a solver that can be chosen.
    pub has_solver: bool,
    /// Its scale, if it has one.
    pub scale: Option<ScaleTraits>,
    /// Evaluations that are charged for one step, where nothing is kept from step to step and a
    /// gradient counts as one.
    pub evaluations_charged: f64,
    /// Whether its draws count by weights.
    pub is_weighted: bool,
    /// Whether [`choose`](crate::choose) tries it on the models that it suits.
    pub is_tried: bool,
}

/// What a kernel knows of its target, and how much of a state a step may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It proposes without differences, or redraws sites from their conditional distributions.
    WithoutDifferences,
    /// It changes few sites, chosen by differences.
    FewSites,
    /// It changes all sites at once, by differences.
    AllSites,
    /// It knows how the model is made, and is for such models alone.
    Structure,
}

/// The scale of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaleTraits {
    /// What it measures.
    pub unit: ScaleUnit,
    /// Where tuning starts.
    pub initial: f64,
    /// The smallest and the largest scale that can be set.
    pub allowed: (f64, f64),
    /// The smallest and the largest scale that tuning may come to. With the largest a step on flat
    /// ground is a fresh draw: more would be no bolder, or flip every site to and fro.
    pub tuned: (f64, f64),
    /// The acceptance it is tuned to.
    pub target_acceptance: f64,
}

/// What a scale measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleUnit {
    /// Simulated time h of a step.
    StepSize,
    /// Number of sites changed by a proposal.
    Radius,
}

/// Acceptance of samplers that know differences at their best (Sun et al. 2022, 2023).
pub const INFORMED_ACCEPTANCE: f64 = 0.574;
/// Smallest and largest step size that rows can be made for.
const STEP_SIZES: (f64, f64) = (1e-9, 1e9);
/// Beyond this a step of DLMC draws from the conditional distributions all the same: h·Gⱼ/νⱼ ≥ h for every
/// balancing function, and 1 − e⁻¹⁶ is one to the last digit of a row.
pub const SATURATED_STEP: f64 = 16.0;

impl ScaleTraits {
    /// A step size, for a space of that many single changes, tuned to at most `largest`.
    pub fn step_size(changes: usize, largest: f64) -> Self {
        Self {
            unit: ScaleUnit::StepSize,
            // About three changed sites per step: safe anywhere, and a few rounds from anything.
            initial: (3.0 / changes as f64).min(1.0),
            allowed: STEP_SIZES,
            tuned: (STEP_SIZES.0, largest),
            target_acceptance: INFORMED_ACCEPTANCE,
        }
    }

    /// A number of sites, of that many that can change; `share` of them change in a fresh draw.
    pub fn radius(sites: usize, share: f64, target_acceptance: f64) -> Self {
        let sites = sites as f64;
        Self {
            unit: ScaleUnit::Radius,
            initial: 1.0,
            allowed: (1.0, sites),
            tuned: (1.0, (sites * share).max(1.0)),
            target_acceptance,
        }
    }

    /// What can be set, in words.
    pub fn allowed_words(&self) -> String {
        let (low, high) = self.allowed;
        match self.unit {
            ScaleUnit::Radius => format!("a number of sites from {low} to {high}"),
            ScaleUnit::StepSize if high < 1e4 => format!("a step size from {low:e} to {high}"),
            ScaleUnit::StepSize => format!("a step size from {low:e} to {high:e}"),
        }
    }
}
