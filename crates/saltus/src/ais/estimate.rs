//! From the weights of chains to log Z, its standard error, and what the chains were worth.

use crate::math::log_sum_exp;
use serde::{Deserialize, Serialize};

/// An estimate of log Z.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// log Z.
    pub log_z: f64,
    /// Its standard error by the delta method: that of the mean weight over the mean weight. None
    /// with a single chain.
    pub standard_error: Option<f64>,
    /// (Σ w)² / Σ w²: how many chains of equal weight the chains are worth.
    pub effective_chains: f64,
}

impl Estimate {
    /// From the weights of chains that went from independent sites, whose own log Z is `log_base`, to
    /// the model. Z is right on average, so log Z is low on average.
    ///
    /// ```
    /// use saltus::ais::Estimate;
    /// // Weights 1 and 3.
    /// let found = Estimate::forward(5.0, &[0.0, 3f64.ln()]);
    /// assert!((found.log_z - (5.0 + 2f64.ln())).abs() < 1e-12);
    /// // Their standard deviation √2 over √2, over their mean 2; (1 + 3)² / (1 + 9).
    /// assert!((found.standard_error.unwrap() - 0.5).abs() < 1e-12);
    /// assert!((found.effective_chains - 1.6).abs() < 1e-12);
    /// ```
    pub fn forward(log_base: f64, log_weights: &[f64]) -> Self {
        let count = log_weights.len() as f64;
        let log_mean = log_sum_exp(log_weights) - count.ln();
        let relative: Vec<f64> = log_weights.iter().map(|log| (log - log_mean).exp()).collect();
        let variance: f64 = relative.iter().map(|weight| (weight - 1.0).powi(2)).sum();
        let squares: f64 = relative.iter().map(|weight| weight * weight).sum();
        let several = log_weights.len() > 1 && variance.is_finite();
        Self {
            log_z: log_base + log_mean,
            standard_error: several.then(|| (variance / (count - 1.0) / count).sqrt()),
            effective_chains: if squares.is_finite() { count * count / squares } else { 0.0 },
        }
    }

    /// From the weights of chains that went back from draws of the model. 1/Z is right on average,
    /// so log Z is high on average.
    pub fn reverse(log_base: f64, log_weights: &[f64]) -> Self {
        let inverse: Vec<f64> = log_weights.iter().map(|log| -log).collect();
        let found = Self::forward(-log_base, &inverse);
        Self { log_z: -found.log_z, ..found }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_weights_have_no_error() {
        for estimate in [Estimate::forward, Estimate::reverse] {
            let found = estimate(2.0, &[700.0; 8]);
            assert!((found.log_z - 702.0).abs() < 1e-12);
            assert!(found.standard_error.unwrap() < 1e-12);
            assert!((found.effective_chains - 8.0).abs() < 1e-9);
        }
    }

    #[test]
    fn the_two_directions_have_two_means() {
        // Weights 1 and 3: arithmetic mean 2, harmonic mean 3/2.
        let logs = [0.0, 3f64.ln()];
        assert!((Estimate::forward(0.0, &logs).log_z - 2f64.ln()).abs() < 1e-12);
        assert!((Estimate::reverse(0.0, &logs).log_z - 1.5f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn nothing_is_nan() {
        let one = Estimate::forward(0.0, &[1.0]);
        assert_eq!((one.standard_error, one.effective_chains), (None, 1.0));
        let none = Estimate::forward(0.0, &[f64::NEG_INFINITY; 3]);
        assert_eq!((none.log_z, none.standard_error), (f64::NEG_INFINITY, None));
        assert_eq!(none.effective_chains, 0.0);
        let some = Estimate::forward(0.0, &[f64::NEG_INFINITY, 0.0]);
        assert!((some.log_z + 2f64.ln()).abs() < 1e-12);
        assert!((some.effective_chains - 1.0).abs() < 1e-12);
    }
}
