//! Sums of products of series with themselves at a lag: one after the other as long as somebody asks, and all at once by
//! Fourier transforms if that takes long.

use super::sum;
use crate::math::vectorised;
use realfft::num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use std::sync::Arc;

/// Lags that are summed directly. Estimators stop where correlations have faded, mostly after a few; beyond
/// this many, transforms of all lags cost less.
const DIRECT: usize = 48;
/// Lags that are summed at a time.
const AT_ONCE: usize = 8;
/// Products that are added up side by side.
const LANES: usize = 32;

/// Plan and buffers for series of one length, kept for the next.
pub(super) struct Autocovariance {
    planner: RealFftPlanner<f64>,
    plan: Option<Plan>,
    /// Series after series, each without its mean.
    values: Vec<f64>,
    padded: Vec<f64>,
    spectrum: Vec<Complex<f64>>,
    scratch: Vec<Complex<f64>>,
    sums: Vec<f64>,
}

/// Both directions of the transform of one length.
struct Plan {
    length: usize,
    forward: Arc<dyn RealToComplex<f64>>,
    inverse: Arc<dyn ComplexToReal<f64>>,
}

impl Default for Autocovariance {
    fn default() -> Self {
        Self {
            planner: RealFftPlanner::new(),
            plan: None,
            values: Vec::new(),
            padded: Vec::new(),
            spectrum: Vec::new(),
            scratch: Vec::new(),
            sums: Vec::new(),
        }
    }
}

impl Autocovariance {
    /// The lags of series of one length that stand one after the other.
    pub(super) fn lags(&mut self, series: impl Iterator<Item = f64>, length: usize) -> Lags<'_> {
        self.values.clear();
        self.values.extend(series);
        self.sums.clear();
        self.values.chunks_exact_mut(length.max(1)).for_each(centre);
        Lags { all: self, length }
    }

    /// The next few sums, product by product.
    fn add_directly(&mut self, length: usize) {
        let first = self.sums.len();
        let lags = first..(first + AT_ONCE).min(length);
        self.sums.resize(lags.end, 0.0);
        let Self { values, sums, .. } = self;
        for series in values.chunks_exact(length) {
            for lag in lags.clone() {
                sums[lag] += product(&series[..length - lag], &series[lag..]);
            }
        }
    }

    /// Sums up to half the length of a series, or all if those are known: transforms add up, so that only one has to be
    /// turned back.
    fn add_all(&mut self, n: usize) {
        let reach = if self.sums.len() <= n / 2 { n / 2 } else { n };
        // So long that products at lags within reach do not wrap around.
        let length = transform_length(n + reach);
        let plan = match self.plan.take() {
            Some(plan) if plan.length == length => plan,
            _ => Plan {
                length,
                forward: self.planner.plan_fft_forward(length),
                inverse: self.planner.plan_fft_inverse(length),
            },
        };
        let zero = Complex::new(0.0, 0.0);
        let scratch = plan.forward.get_scratch_len().max(plan.inverse.get_scratch_len());
        self.scratch.resize(scratch, zero);
        self.spectrum.resize(length / 2 + 1, zero);
        let mut power = vec![zero; length / 2 + 1];
        for series in self.values.chunks_exact(n) {
            self.padded.clear();
            self.padded.extend_from_slice(series);
            self.padded.resize(length, 0.0);
            plan.forward
                .process_with_scratch(&mut self.padded, &mut self.spectrum, &mut self.scratch)
                .expect("the buffers have the lengths of the plan");
            for (power, value) in power.iter_mut().zip(&self.spectrum) {
                power.re += value.norm_sqr() / length as f64;
            }
        }
        plan.inverse
            .process_with_scratch(&mut power, &mut self.padded, &mut self.scratch)
            .expect("the buffers have the lengths of the plan");
        self.sums.clear();
        self.sums.extend_from_slice(&self.padded[..n.min(length - n + 1)]);
        self.plan = Some(plan);
    }
}

/// The least even number from here on that transforms like: 2ᵏ or 3·2ᵏ.
fn transform_length(least: usize) -> usize {
    let power = least.next_power_of_two().max(4);
    if power / 4 * 3 >= least { power / 4 * 3 } else { power }
}

/// Takes the mean off a series. The first subtraction makes a constant one exactly zero; the last removes the
/// rounding of the one before.
fn centre(series: &mut [f64]) {
    let n = series.len() as f64;
    let first = series[0];
    vectorised(
        #[inline(always)]
        || {
            series.iter_mut().for_each(|value| *value -= first);
            for _ in 0..2 {
                let mean = sum(series) / n;
                series.iter_mut().for_each(|value| *value -= mean);
            }
        },
    );
}

/// Σ aᵢbᵢ, added in an order that does not depend on the width of a register.
fn product(a: &[f64], b: &[f64]) -> f64 {
    vectorised(
        #[inline(always)]
        || {
            let mut sums = [0.0; LANES];
            let (a, a_rest) = a.as_chunks::<LANES>();
            let (b, b_rest) = b.as_chunks::<LANES>();
            for (a, b) in a.iter().zip(b) {
                for lane in 0..LANES {
                    sums[lane] += a[lane] * b[lane];
                }
            }
            let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
            sums.iter().sum::<f64>() + rest
        },
    )
}

/// Σ_t (y_t − ȳ)(y_{t+k} − ȳ) for lags k below the length of a series, added up over several.
pub(super) struct Lags<'a> {
    all: &'a mut Autocovariance,
    length: usize,
}

impl Lags<'_> {
    /// The sum at a lag.
    pub(super) fn sum(&mut self, lag: usize) -> f64 {
        while self.all.sums.len() <= lag {
            if self.all.sums.len() < DIRECT {
                self.all.add_directly(self.length);
            } else {
                self.all.add_all(self.length);
            }
        }
        self.all.sums[lag]
    }

    /// The size below which a sum is indistinguishable from zero: every output of a transform carries a rounding
    /// error of about ε√(log length) times the largest.
    pub(super) fn tolerance(&mut self) -> f64 {
        let length = (2 * self.length).next_power_of_two() as f64;
        4.0 * f64::EPSILON * length.log2() * self.sum(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{ChainRng, Stream};
    use crate::stats::moments;
    use rand_distr::{Distribution, StandardNormal};

    fn autoregressive(coefficient: f64, n: usize, rng: &mut ChainRng) -> Vec<f64> {
        let mut value = 0.0;
        let mut step = || {
            let noise: f64 = StandardNormal.sample(&mut *rng);
            value = coefficient * value + noise;
            value
        };
        (0..n).map(|_| step()).collect()
    }

    #[test]
    fn both_ways_are_the_definition_to_within_the_tolerance() {
        let mut rng = ChainRng::new(8, Stream::Chain(0));
        let mut autocovariance = Autocovariance::default();
        for n in [50, 500, 5000] {
            for coefficient in [0.0, 0.99, 0.9999] {
                let series = autoregressive(coefficient, n, &mut rng);
                let mean = moments(&series).0;
                let direct: Vec<f64> = (0..n)
                    .map(|k| {
                        let products: Vec<f64> = (0..n - k)
                            .map(|t| (series[t] - mean) * (series[t + k] - mean))
                            .collect();
                        // Summed in blocks, to keep the rounding of the check itself small.
                        products.chunks(64).map(|b| b.iter().sum::<f64>()).sum()
                    })
                    .collect();
                let mut lags = autocovariance.lags(series.iter().copied(), n);
                let tolerance = lags.tolerance();
                let upwards: Vec<f64> = (0..n).map(|lag| lags.sum(lag)).collect();
                let mut lags = autocovariance.lags(series.iter().copied(), n);
                lags.all.add_all(n);
                assert!(lags.all.sums.len() > n / 2 && lags.all.sums.len() <= n);
                let transformed: Vec<f64> = (0..n).map(|lag| lags.sum(lag)).collect();
                for found in [upwards, transformed] {
                    let off = |(a, b): (&f64, &f64)| (a - b).abs();
                    let worst = direct.iter().zip(&found).map(off).fold(0.0, f64::max);
                    assert!(worst < tolerance, "{n} {coefficient}: {}", worst / tolerance);
                }
            }
        }
    }

    #[test]
    fn series_add_up() {
        let mut rng = ChainRng::new(9, Stream::Chain(0));
        let mut autocovariance = Autocovariance::default();
        let (one, other) = (autoregressive(0.5, 700, &mut rng), autoregressive(0.9, 700, &mut rng));
        let mut sums = |series: &[f64]| -> Vec<f64> {
            let mut lags = autocovariance.lags(series.iter().copied(), 700);
            (0..700).map(|lag| lags.sum(lag)).collect()
        };
        let (both, first, second) = (sums(&[&one[..], &other].concat()), sums(&one), sums(&other));
        for lag in 0..700 {
            assert!((both[lag] - first[lag] - second[lag]).abs() < 1e-9, "{lag}");
        }
    }
}
