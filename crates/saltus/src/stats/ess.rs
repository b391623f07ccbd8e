//! The effective sample size of a single chain, and its summary over chains.

use super::lags::Autocovariance;
use super::{MIN_DRAWS, extent, moments};
use serde::{Deserialize, Serialize};

/// An effective sample size, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ess {
    /// The draws are worth this many independent ones; finite and positive.
    Estimated(f64),
    /// All draws are equal: the chain never moved and says nothing about its target.
    Stuck,
    /// Too few draws ([`MIN_DRAWS`]), chains of unequal lengths, a value that is not finite, or
    /// values so far apart that their difference is not.
    Undefined,
}

impl Ess {
    /// The number, 0 unless it could be estimated. Never NaN.
    pub fn value(self) -> f64 {
        self.estimated().unwrap_or(0.0)
    }

    /// The number, if there is one.
    pub fn estimated(self) -> Option<f64> {
        match self {
            Self::Estimated(value) => Some(value),
            Self::Stuck | Self::Undefined => None,
        }
    }

    /// Whether all draws were equal.
    pub fn is_stuck(self) -> bool {
        self == Self::Stuck
    }
}

/// The effective sample size of one chain's series of a scalar.
///
/// With mean ȳ, autocovariances c_k = Σ_t (y_t − ȳ)(y_{t+k} − ȳ) / (n − k) and R_k = c_k / c_0,
///
/// ESS = n / (−1 + 2 Σ_{k < K} (1 − k/n) R_k),
///
/// where K is the first lag with R_K < 0. This is TensorFlow Probability's
/// `effective_sample_size` with its defaults. It never exceeds n: an anticorrelated series, whose
/// first lag is negative, gets exactly n. Two conventions differ from code built on it: a constant
/// series is [`Ess::Stuck`] with value 0, where others report NaN or 1, and an autocovariance that
/// is zero up to the rounding of the Fourier transform counts as zero, so not as negative.
///
/// ```
/// use saltus::stats::{Ess, ess};
/// let estimate = ess(&[1.0, 2.0, 0.0, 3.0, 1.0, 1.0, 2.0, 5.0, 3.0, 2.0]);
/// assert!((estimate.value() - 9.0).abs() < 1e-12);
/// assert_eq!(ess(&[7.0; 100]), Ess::Stuck);
/// assert_eq!(ess(&[1.0, f64::NAN, 2.0, 3.0, 4.0]), Ess::Undefined);
/// ```
pub fn ess(series: &[f64]) -> Ess {
    EssEstimator::new().estimate(series)
}

/// Computes [`ess`] of many chains with one plan and one set of buffers.
///
/// ```
/// use saltus::stats::EssEstimator;
/// let mut estimator = EssEstimator::new();
/// let alternating: Vec<f64> = (0..64).map(|t| f64::from(t % 2)).collect();
/// let slow: Vec<f64> = (0..64).map(|t| f64::from(t / 16)).collect();
/// assert_eq!(estimator.estimate(&alternating).value(), 64.0);
/// assert!(estimator.estimate(&slow).value() < 4.0);
/// ```
#[derive(Default)]
pub struct EssEstimator {
    autocovariance: Autocovariance,
}

impl EssEstimator {
    /// An estimator without buffers yet: they grow to the longest series it sees.
    pub fn new() -> Self {
        Self::default()
    }

    /// The effective sample size of one chain; see [`ess`].
    pub fn estimate(&mut self, series: &[f64]) -> Ess {
        if series.len() < MIN_DRAWS {
            return Ess::Undefined;
        }
        let Some((low, range)) = extent(&[series]) else {
            return Ess::Undefined;
        };
        if range == 0.0 {
            return Ess::Stuck;
        }
        // On [0, 1] no square can overflow or vanish.
        let unit = series.iter().map(|value| (value - low) / range);
        let mut lags = self.autocovariance.lags(unit, series.len());
        let (variance, tolerance) = (lags.sum(0), lags.tolerance());
        // (1 − k/n) R_k is the ratio of the sums themselves, without their divisors. The sums over
        // all lags of both signs add up to zero, so a negative one always comes before the end.
        let correlated: f64 = (1..series.len())
            .map(|lag| lags.sum(lag))
            .take_while(|sum| *sum >= -tolerance)
            .map(|sum| sum.max(0.0) / variance)
            .sum();
        Ess::Estimated(series.len() as f64 / (1.0 + 2.0 * correlated))
    }
}

/// The autocorrelation of one chain at lags 0, 1, …, with the overall mean and variance of the
/// series; `None` if that is undefined.
///
/// ```
/// let alternating: Vec<f64> = (0..1000).map(|t| f64::from(t % 2)).collect();
/// let found = saltus::stats::autocorrelation(&alternating, 3).unwrap();
/// assert!((found[0] - 1.0).abs() < 1e-12 && (found[1] + 0.999).abs() < 1e-9);
/// assert_eq!(saltus::stats::autocorrelation(&[1.0; 10], 3), None);
/// ```
pub fn autocorrelation(series: &[f64], lags: usize) -> Option<Vec<f64>> {
    let (low, range) = extent(&[series]).filter(|(_, range)| *range > 0.0)?;
    let mut autocovariance = Autocovariance::default();
    let unit = series.iter().map(|value| (value - low) / range);
    let mut known = autocovariance.lags(unit, series.len());
    let variance = known.sum(0);
    Some((0..lags.min(series.len())).map(|lag| known.sum(lag) / variance).collect())
}

/// The effective sample sizes of the chains of a run, each judged on its own.
///
/// Chains that are stuck or undefined count as 0 in the mean, the minimum and the standard
/// deviation, and are listed, so that they can neither hide nor be mistaken for slow ones.
///
/// ```
/// use saltus::stats::EssSummary;
/// let moving: Vec<f64> = (0..64).map(|t| f64::from(t % 2)).collect();
/// let summary = EssSummary::of_chains(&[moving, vec![3.0; 64]]);
/// assert_eq!((summary.mean, summary.min), (32.0, 0.0));
/// assert_eq!(summary.stuck, [1]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EssSummary {
    /// Mean over chains, 0 if there are none.
    pub mean: f64,
    /// Smallest over chains, 0 if there are none.
    pub min: f64,
    /// Sample standard deviation over chains (divisor one less than their number), 0 for fewer
    /// than two.
    pub sd: f64,
    /// The chains that never moved.
    pub stuck: Vec<usize>,
    /// The chains whose effective sample size is undefined.
    pub undefined: Vec<usize>,
    /// The effective sample size of every chain.
    pub per_chain: Vec<f64>,
}

impl EssSummary {
    /// Summarises one estimate per chain.
    pub fn new(estimates: impl IntoIterator<Item = Ess>) -> Self {
        let mut summary = Self::default();
        for (chain, estimate) in estimates.into_iter().enumerate() {
            match estimate {
                Ess::Estimated(_) => {}
                Ess::Stuck => summary.stuck.push(chain),
                Ess::Undefined => summary.undefined.push(chain),
            }
            summary.per_chain.push(estimate.value());
        }
        let (mean, variance) = moments(&summary.per_chain);
        summary.mean = mean;
        summary.sd = variance.sqrt();
        summary.min = summary.per_chain.iter().copied().reduce(f64::min).unwrap_or(0.0);
        summary
    }

    /// Estimates every chain, one after the other, and summarises.
    pub fn of_chains<S: AsRef<[f64]>>(chains: &[S]) -> Self {
        let mut estimator = EssEstimator::new();
        Self::new(chains.iter().map(|chain| estimator.estimate(chain.as_ref())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{ChainRng, Stream};
    use rand_distr::{Distribution, StandardNormal};

    /// The definition, term by term.
    fn direct(series: &[f64]) -> f64 {
        let n = series.len();
        let mean = series.iter().sum::<f64>() / n as f64;
        let covariance = |k: usize| {
            let products = (0..n - k).map(|t| (series[t] - mean) * (series[t + k] - mean));
            products.sum::<f64>() / (n - k) as f64
        };
        let mut total = 0.0;
        for k in 0..n {
            let correlation = covariance(k) / covariance(0);
            if correlation < 0.0 {
                break;
            }
            total += (n - k) as f64 / n as f64 * correlation;
        }
        n as f64 / (-1.0 + 2.0 * total)
    }

    /// The definition for whole numbers, where signs and zeros are exact.
    fn exact(series: &[i64]) -> f64 {
        let n = series.len();
        let total: i64 = series.iter().sum();
        let scaled: Vec<i64> = series.iter().map(|y| y * n as i64 - total).collect();
        let sum = |k: usize| (0..n - k).map(|t| scaled[t] * scaled[t + k]).sum::<i64>();
        let kept: i64 = (1..n).map(sum).take_while(|sum| *sum >= 0).sum();
        n as f64 / (1.0 + 2.0 * kept as f64 / sum(0) as f64)
    }

    fn autoregressive(coefficient: f64, n: usize, rng: &mut ChainRng) -> Vec<f64> {
        let mut normal = || -> f64 { StandardNormal.sample(rng) };
        // Started in its stationary law.
        let mut value = normal() / (1.0 - coefficient * coefficient).sqrt();
        let mut step = || {
            value = coefficient * value + normal();
            value
        };
        (0..n).map(|_| step()).collect()
    }

    /// Mean and sd over 40 autoregressive series of 50,000.
    fn spread(coefficient: f64) -> EssSummary {
        let mut rng = ChainRng::new(5, Stream::Chain(0));
        let mut estimator = EssEstimator::new();
        EssSummary::new(
            (0..40).map(|_| estimator.estimate(&autoregressive(coefficient, 50_000, &mut rng))),
        )
    }

    #[test]
    fn golden_values() {
        let first = [1.0, 2.0, 0.0, 3.0, 1.0, 1.0, 2.0, 5.0, 3.0, 2.0];
        assert!((ess(&first).value() - 9.0).abs() < 1e-13);
        let second =
            [0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 2.0, 2.0, 1.0, 1.0, 0.0, 0.0, 1.0, 2.0];
        assert!((ess(&second).value() - 5.372302463891249).abs() < 1e-13);
    }

    #[test]
    fn independent_draws_are_nearly_all_effective() {
        let summary = spread(0.0);
        let error = summary.sd / 40f64.sqrt();
        assert!((summary.mean - 0.992 * 50_000.0).abs() < 4.0 * error);
        assert!(error < 0.003 * 50_000.0);
        assert!(summary.per_chain.iter().all(|ess| *ess <= 50_000.0));
    }

    #[test]
    fn autoregressive_series_have_their_known_size() {
        // Reference means, and a standard deviation of 158 over series for 0.9.
        for (coefficient, reference) in [(0.9, 2586.0), (0.5, 16_427.0)] {
            let summary = spread(coefficient);
            let error = summary.sd / 40f64.sqrt();
            assert!((summary.mean - reference).abs() < 4.0 * error);
            assert!(summary.sd < 0.1 * reference);
            if coefficient == 0.9 {
                assert!((summary.sd - 158.0).abs() < 4.0 * 158.0 / 80f64.sqrt());
            }
        }
    }

    #[test]
    fn the_transform_agrees_with_the_definition() {
        let mut rng = ChainRng::new(6, Stream::Chain(0));
        let mut estimator = EssEstimator::new();
        for n in [4, 5, 7, 16, 33, 100, 257, 1000] {
            for coefficient in [-0.6, 0.0, 0.5, 0.95] {
                let series = autoregressive(coefficient, n, &mut rng);
                let (fast, slow) = (estimator.estimate(&series).value(), direct(&series));
                assert!((fast - slow).abs() < 1e-11 * slow, "{n} {coefficient}: {fast} {slow}");
            }
        }
    }

    #[test]
    fn sums_that_are_exactly_zero_are_not_negative() {
        // Short series of few whole numbers have such sums all the time.
        let mut rng = ChainRng::new(7, Stream::Chain(0));
        let mut estimator = EssEstimator::new();
        for round in 0..40_000 {
            let series: Vec<i64> = (0..4 + round % 37).map(|_| rng.below(3) as i64).collect();
            if series.iter().all(|y| *y == series[0]) {
                continue;
            }
            let floats: Vec<f64> = series.iter().map(|y| *y as f64).collect();
            let (fast, slow) = (estimator.estimate(&floats).value(), exact(&series));
            assert!((fast - slow).abs() < 1e-11 * slow, "{series:?}: {fast} {slow}");
        }
    }

    #[test]
    fn constant_chains_are_stuck_whatever_their_value() {
        for value in [0.0, 0.1, -3.0, 1e9 + 0.1, 1e300, 5e-324] {
            assert_eq!(ess(&vec![value; 1000]), Ess::Stuck, "{value}");
        }
        assert_eq!(Ess::Stuck.value(), 0.0);
        assert!(Ess::Stuck.is_stuck() && !Ess::Undefined.is_stuck());
    }

    #[test]
    fn location_and_scale_do_not_matter() {
        let mut rng = ChainRng::new(9, Stream::Chain(0));
        let series: Vec<f64> =
            autoregressive(0.8, 500, &mut rng).iter().map(|y| (y * 64.0).round()).collect();
        let plain = ess(&series).value();
        for (scale, shift) in [(1.0, 1e9), (-3.0, 0.0), (1e300, 0.0), (1e-300, 0.0)] {
            let moved: Vec<f64> = series.iter().map(|y| y * scale + shift).collect();
            let moved = ess(&moved).value();
            assert!((moved - plain).abs() < 1e-9 * plain, "{scale} {shift}");
        }
        // Moving by one unit in the last place is still moving.
        let next = (1e9f64 + 0.1).next_up();
        let jitter: Vec<f64> = (0..100).map(|t| [1e9 + 0.1, next][t % 2]).collect();
        assert_eq!(ess(&jitter), Ess::Estimated(100.0));
    }

    #[test]
    fn anticorrelated_series_count_in_full_and_no_more() {
        let mut rng = ChainRng::new(10, Stream::Chain(0));
        let series = autoregressive(-0.7, 2000, &mut rng);
        assert_eq!(ess(&series), Ess::Estimated(2000.0));
    }

    #[test]
    fn one_jump_is_a_slow_chain_and_not_a_stuck_one() {
        let series: Vec<f64> = (0..1000).map(|t| f64::from(u8::from(t >= 500))).collect();
        let value = ess(&series).value();
        assert!(value > 1.0 && value < 5.0, "{value}");
    }

    #[test]
    fn odd_input_is_undefined() {
        assert_eq!(ess(&[]), Ess::Undefined);
        assert_eq!(ess(&[1.0, 2.0, 3.0]), Ess::Undefined);
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(ess(&[0.0, 1.0, odd, 1.0, 2.0]), Ess::Undefined);
            assert_eq!(ess(&[odd; 8]), Ess::Undefined);
        }
        assert_eq!(ess(&[1.7e308, -1.7e308, 0.0, 1.0]), Ess::Undefined);
        assert_eq!(Ess::Undefined.value(), 0.0);
    }

    #[test]
    fn the_order_of_chains_does_not_matter_to_an_estimator() {
        let mut rng = ChainRng::new(11, Stream::Chain(0));
        let series: Vec<Vec<f64>> =
            [300, 20, 1000].map(|n| autoregressive(0.5, n, &mut rng)).to_vec();
        let forwards = EssSummary::of_chains(&series).per_chain;
        let reversed: Vec<_> = series.iter().rev().collect();
        let mut backwards = EssSummary::of_chains(&reversed).per_chain;
        backwards.reverse();
        assert_eq!(forwards, backwards);
    }

    #[test]
    fn a_summary_counts_stuck_and_undefined_chains_as_nothing() {
        let summary = EssSummary::new([
            Ess::Estimated(10.0),
            Ess::Stuck,
            Ess::Estimated(20.0),
            Ess::Undefined,
        ]);
        assert_eq!((summary.mean, summary.min), (7.5, 0.0));
        assert!((summary.sd - (275f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!((summary.stuck, summary.undefined), (vec![1], vec![3]));
        assert_eq!(summary.per_chain, [10.0, 0.0, 20.0, 0.0]);
        assert_eq!(EssSummary::new([]), EssSummary::default());
        assert_eq!(EssSummary::new([Ess::Estimated(5.0)]).sd, 0.0);
    }
}
