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

use crate::math::vectorised;

/// Series shorter than this are not estimated: a half of one would have no variance.
pub const MIN_DRAWS: usize = 4;

/// Numbers that loops over draws take side by side, so that results do not depend on the width of a register.
const LANES: usize = 16;

/// The smallest value and the distance to the largest; `None` if a value or the distance is not
/// finite, or there is no value.
fn extent<S: AsRef<[f64]>>(series: &[S]) -> Option<(f64, f64)> {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for values in series {
        let (least, most) = least_and_most(values.as_ref())?;
        low = low.min(least);
        high = high.max(most);
    }
    let range = high - low;
    range.is_finite().then_some((low, range))
}

/// The smallest and the largest value, both infinite if there is none; `None` if one is not a number.
fn least_and_most(values: &[f64]) -> Option<(f64, f64)> {
    vectorised(
        #[inline(always)]
        || {
            let mut low = [f64::INFINITY; LANES];
            let mut high = [f64::NEG_INFINITY; LANES];
            let mut is_odd = [false; LANES];
            let (whole, rest) = values.as_chunks::<LANES>();
            for values in whole.iter().map(<[f64; LANES]>::as_slice).chain([rest]) {
                for (lane, value) in values.iter().enumerate() {
                    low[lane] = if *value < low[lane] { *value } else { low[lane] };
                    high[lane] = if *value > high[lane] { *value } else { high[lane] };
                    is_odd[lane] |= value.is_nan();
                }
            }
            let low = low.into_iter().fold(f64::INFINITY, f64::min);
            let high = high.into_iter().fold(f64::NEG_INFINITY, f64::max);
            (!is_odd.contains(&true)).then_some((low, high))
        },
    )
}

/// The sum of numbers; for loops that are [`vectorised`].
#[inline(always)]
fn sum(values: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (whole, rest) = values.as_chunks::<LANES>();
    for values in whole {
        for lane in 0..LANES {
            lanes[lane] += values[lane];
        }
    }
    lanes.iter().sum::<f64>() + rest.iter().sum::<f64>()
}

/// Mean and sample variance (divisor n − 1), exactly (value, 0) where all values are equal;
/// zeros for no values, and variance 0 for a single one.
fn moments(values: &[f64]) -> (f64, f64) {
    let Some(first) = values.first() else {
        return (0.0, 0.0);
    };
    let n = values.len() as f64;
    let (shift, sum, squares) = vectorised(
        #[inline(always)]
        || {
            let (whole, rest) = values.as_chunks::<LANES>();
            // Distances from the first value: exactly 0 in a constant series, whatever its value.
            let mut lanes = [0.0; LANES];
            for values in whole {
                for lane in 0..LANES {
                    lanes[lane] += values[lane] - first;
                }
            }
            let rest_of = rest.iter().map(|value| value - first).sum::<f64>();
            let shift = (lanes.iter().sum::<f64>() + rest_of) / n;
            let (mut sums, mut squares) = ([0.0; LANES], [0.0; LANES]);
            let mut add = |lane: usize, value: f64| {
                let deviation = (value - first) - shift;
                sums[lane] += deviation;
                squares[lane] += deviation * deviation;
            };
            for values in whole {
                for lane in 0..LANES {
                    add(lane, values[lane]);
                }
            }
            rest.iter().enumerate().for_each(|(lane, value)| add(lane, *value));
            (shift, sums.iter().sum::<f64>(), squares.iter().sum::<f64>())
        },
    );
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
        for n in 1..100u32 {
            // 1, 2, …, n has mean (n + 1)/2 and variance n(n + 1)/12.
            let values: Vec<f64> = (1..=n).map(f64::from).collect();
            let (mean, variance) = moments(&values);
            let n = f64::from(n);
            assert!((mean - (n + 1.0) / 2.0).abs() < 1e-13, "{n}");
            let exact = if n > 1.0 { n * (n + 1.0) / 12.0 } else { 0.0 };
            assert!((variance - exact).abs() < 1e-12 * exact.max(1.0), "{n}");
            assert_eq!(sum(&values), n * (n + 1.0) / 2.0);
        }
    }

    #[test]
    fn the_extent_is_finite_or_nothing() {
        assert_eq!(extent(&[[2.0, -1.0, 5.0]]), Some((-1.0, 6.0)));
        assert_eq!(extent(&[vec![2.0], vec![], vec![5.0, -1.0]]), Some((-1.0, 6.0)));
        assert_eq!(extent::<[f64; 0]>(&[]), None);
        assert_eq!(extent(&[[0.0; 0]]), None);
        assert_eq!(extent(&[[-1.7e308, 1.7e308]]), None);
        // Wherever in a long series it stands.
        for at in 0..100 {
            let mut values: Vec<f64> = (0..100).map(f64::from).collect();
            values[at] = -7.0;
            assert_eq!(extent(&[&values]), Some((-7.0, if at == 99 { 105.0 } else { 106.0 })));
            for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                values[at] = odd;
                assert_eq!(extent(&[&values]), None, "{odd} at {at}");
            }
        }
    }
}
