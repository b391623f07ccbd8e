//! How readily a site changes between two of its values, w_ij: all alike, or less the further
//! apart two levels are.
//!
//! Rates w_ij·g with any symmetric w leave the same distribution. For values that are ordered, such
//! as gray levels, a w that falls with |i − j| proposes small changes rather than large ones.

use serde::{Deserialize, Serialize};

/// The factor of the rate between two values.
///
/// ```
/// use saltus::Closeness;
/// let levels = Closeness::Ordinal { length: 2.0 };
/// assert_eq!(levels.of_distance(1), 1.0);
/// assert!((levels.of_distance(5) - (-2f64).exp()).abs() < 1e-15);
/// assert_eq!(Closeness::Equal.of_distance(5), 1.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Closeness {
    /// One between any two values.
    #[default]
    Equal,
    /// e^(−(d − 1)/length) between levels at distance d.
    Ordinal {
        /// Levels over which rates fall by a factor e.
        length: f64,
    },
}

impl Closeness {
    /// The factor between values at that distance.
    pub fn of_distance(self, distance: usize) -> f64 {
        match self {
            Self::Equal => 1.0,
            Self::Ordinal { length } => (-(distance as f64 - 1.0) / length).exp(),
        }
    }

    /// The factors of all distances between so many values; empty if they are all one.
    pub(crate) fn table(self, values: usize) -> Vec<f64> {
        match self {
            Self::Equal => Vec::new(),
            Self::Ordinal { .. } => (0..values).map(|d| self.of_distance(d.max(1))).collect(),
        }
    }
}
