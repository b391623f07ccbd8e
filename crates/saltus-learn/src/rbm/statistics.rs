//! Mean, spread and range of an RBM's parameters, to hold two RBMs against each other.

use serde::Serialize;

/// Some numbers summed up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Statistics {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

impl Statistics {
    /// Sums up numbers, of which there must be one at least.
    ///
    /// ```
    /// let found = saltus_learn::rbm::Statistics::of(&[1.0, 3.0]);
    /// assert_eq!((found.mean, found.sd, found.min, found.max), (2.0, 1.0, 1.0, 3.0));
    /// ```
    pub fn of(numbers: &[f32]) -> Self {
        let numbers = numbers.iter().map(|number| f64::from(*number));
        let count = numbers.len() as f64;
        let mean = numbers.clone().sum::<f64>() / count;
        let variance = numbers.clone().map(|number| (number - mean).powi(2)).sum::<f64>() / count;
        Self {
            mean,
            sd: variance.sqrt(),
            min: numbers.clone().fold(f64::INFINITY, f64::min),
            max: numbers.fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// The parameters of an RBM summed up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RbmStatistics {
    /// All weights.
    pub weight: Statistics,
    /// Biases of the hidden units.
    pub hidden_bias: Statistics,
    /// Biases of the visible sites.
    pub visible_bias: Statistics,
}
