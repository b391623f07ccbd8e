//! What draws are worth: effective sample sizes, convergence of several chains, Monte Carlo errors.
//!
//! [`ess()`] judges one chain at a time, with the estimator that published comparisons of discrete
//! samplers use; [`diagnose`] judges several chains together, as Stan and ArviZ do, and [`chains`]
//! holds the older forms of the same without ranks. Nothing here
//! returns NaN: a chain that never moved is [`Ess::Stuck`], and where a quantity is undefined the
//! type says so.
//!
//! The Fourier transforms use whatever instructions the machine has, so the last digits of a
//! result, unlike the draws themselves, may differ between machines.

pub mod chains;
mod diagnosis;
mod drift;
mod ess;
mod halves;
mod lags;
mod overlap;
mod rank;
mod running;
mod weighted;

pub use chains::{ChainSummary, combined_ess, mcse_mean, split_rhat, summarise};
pub use diagnosis::{Diagnosis, Movement, diagnose, diagnose_sites};
pub use drift::drift;
pub use ess::{Ess, EssEstimator, EssSummary, autocorrelation, ess};
pub(crate) use overlap::exceeds_chance;
pub use overlap::{Memory, Overlap};
pub use running::{Running, running_ess, running_rhat};
pub use weighted::{diagnose_weighted, linearised, weighted_ess, weighted_ess_of_chains};

/// Series shorter than this are not estimated: a half of one would have no variance.
pub const MIN_DRAWS: usize = 4;

/// The smallest value and the distance to the largest; `None` if a value or the distance is not
/// finite, or there is no value.
fn extent<'a>(values: impl IntoIterator<Item = &'a f64>) -> Option<(f64, f64)> {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values {
        if !value.is_finite() {
            return None;
        }
        low = low.min(*value);
        high = high.max(*value);
    }
    let range = high - low;
    range.is_finite().then_some((low, range))
}

/// Mean and sample variance (divisor n − 1), exactly (value, 0) where all values are equal;
/// zeros for no values, and variance 0 for a single one.
fn moments(values: &[f64]) -> (f64, f64) {
    let Some(first) = values.first() else {
        return (0.0, 0.0);
    };
    let n = values.len() as f64;
    // Distances from the first value: exactly 0 in a constant series, whatever its value.
    let shift = values.iter().map(|value| value - first).sum::<f64>() / n;
    let (mut sum, mut squares) = (0.0, 0.0);
    for value in values {
        let deviation = (value - first) - shift;
        sum += deviation;
        squares += deviation * deviation;
    }
    // The deviations sum to the rounding error of the first pass, which is taken out again.
    let mean = first + (shift + sum / n);
    let variance = (squares - sum * sum / n).max(0.0) / (n - 1.0).max(1.0);
    (mean, variance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_survive_large_means_and_odd_sizes() {
        assert_eq!(moments(&[]), (0.0, 0.0));
        assert_eq!(moments(&[3.5]), (3.5, 0.0));
        assert_eq!(moments(&[1e9 + 0.1; 1000]), (1e9 + 0.1, 0.0));
        let (mean, variance) = moments(&[1e9, 1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0]);
        assert_eq!(mean, 1e9 + 1.5);
        assert!((variance - 5.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn the_extent_is_finite_or_nothing() {
        assert_eq!(extent(&[2.0, -1.0, 5.0]), Some((-1.0, 6.0)));
        assert_eq!(extent(&[]), None);
        assert_eq!(extent(&[1.0, f64::NAN]), None);
        assert_eq!(extent(&[1.0, f64::NEG_INFINITY]), None);
        assert_eq!(extent(&[-1.7e308, 1.7e308]), None);
    }
}
