//! Several chains judged together: split R̂, combined effective sample size, Monte Carlo error.
//!
//! The formulas are those of Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), without rank
//! normalisation, and agree with ArviZ's `rhat(method="split")`, `ess(method="mean")` and
//! `mcse(method="mean")` wherever those are meaningful. They differ where all draws are equal:
//! there ArviZ counts every draw as effective, and here the chains are stuck.
//!
//! Every chain is cut into halves (an odd middle draw belongs to neither), so that a chain which
//! drifts disagrees with itself. "All draws" below are those of the halves.

use super::ess::Ess;
use super::halves::{Halves, keep_halves};
use super::lags::Autocovariance;
use super::{MIN_DRAWS, extent, moments};

/// Split R̂: how much wider the pooled draws are than those of half a chain.
///
/// Near 1 if all chains explore the same distribution, above about 1.01 if they do not yet.
/// Infinite if every half is constant but not all at the same value. `None` where nothing can be
/// said: all draws are equal, or the draws are unusable as for [`Ess::Undefined`]. A single chain
/// is allowed and compared with itself, half against half.
///
/// ```
/// use saltus::stats::split_rhat;
/// let here: Vec<f64> = (0..100).map(|t| f64::from(t % 5)).collect();
/// let there: Vec<f64> = here.iter().map(|y| y + 10.0).collect();
/// assert!(split_rhat(&[&here, &here]).unwrap() < 1.01);
/// assert!(split_rhat(&[&here, &there]).unwrap() > 1.5);
/// assert_eq!(split_rhat(&[[1.0; 8], [2.0; 8]]), Some(f64::INFINITY));
/// assert_eq!(split_rhat(&[[1.0; 8], [1.0; 8]]), None);
/// ```
pub fn split_rhat<S: AsRef<[f64]>>(chains: &[S]) -> Option<f64> {
    Draws::new(chains)?.into_halves().rhat()
}

/// The effective sample size of the draws of all chains together, for estimating their mean.
///
/// Autocorrelations are measured against the variance of the pooled draws, so chains that disagree
/// are worth little however well each one moves. Their sum is cut off by Geyer's initial positive,
/// monotone sequence of pairs. Unlike [`ess`](super::ess()) of one chain this may exceed the
/// number of draws S, up to S·log₁₀S, since it credits anticorrelation. [`Ess::Stuck`] if all
/// draws of all chains are equal.
///
/// ```
/// use saltus::stats::{Ess, combined_ess};
/// let alternating: Vec<f64> = (0..50).map(|t| f64::from(t % 2)).collect();
/// assert!(combined_ess(&[&alternating, &alternating]).value() > 100.0);
/// assert_eq!(combined_ess(&[[1.0; 8], [1.0; 8]]), Ess::Stuck);
/// ```
pub fn combined_ess<S: AsRef<[f64]>>(chains: &[S]) -> Ess {
    Draws::new(chains)
        .map_or(Ess::Undefined, |draws| draws.into_halves().ess(&mut Autocovariance::default()))
}

/// The Monte Carlo standard error of the mean of all draws: their standard deviation over the root
/// of [`combined_ess`].
///
/// `None` if that is stuck or undefined: draws that never moved do not tell how wrong they are.
pub fn mcse_mean<S: AsRef<[f64]>>(chains: &[S]) -> Option<f64> {
    summarise(chains)?.mcse_mean
}

/// What the draws of several chains say about the mean of a scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChainSummary {
    /// Mean of all draws.
    pub mean: f64,
    /// Sample standard deviation of all draws (divisor one less than their number).
    pub sd: f64,
    /// See [`split_rhat`].
    pub rhat: Option<f64>,
    /// See [`combined_ess`].
    pub ess: Ess,
    /// See [`mcse_mean`].
    pub mcse_mean: Option<f64>,
}

/// Mean, spread and diagnostics of the draws of several chains of equal length.
///
/// `None` if there are no chains, fewer than [`MIN_DRAWS`] draws, unequal lengths, or values that
/// are not finite or too far apart to subtract.
///
/// ```
/// let chains = [[1.0, 4.0, 2.0, 3.0], [3.0, 1.0, 4.0, 2.0]];
/// let summary = saltus::stats::summarise(&chains).unwrap();
/// assert!((summary.mean - 2.5).abs() < 1e-12);
/// assert!((summary.sd - (10f64 / 7.0).sqrt()).abs() < 1e-12);
/// ```
pub fn summarise<S: AsRef<[f64]>>(chains: &[S]) -> Option<ChainSummary> {
    let draws = Draws::new(chains)?;
    let (mean, sd) = draws.mean_and_sd();
    let halves = draws.into_halves();
    let ess = halves.ess(&mut Autocovariance::default());
    Some(ChainSummary {
        mean,
        sd,
        rhat: halves.rhat(),
        ess,
        mcse_mean: ess.estimated().map(|ess| sd / ess.sqrt()),
    })
}

/// Usable draws of at least one chain, mapped to [0, 1] so that no square overflows or vanishes.
pub(super) struct Draws {
    low: f64,
    /// Zero if all draws are equal; then all mapped draws are zero.
    range: f64,
    pub(super) length: usize,
    unit: Vec<f64>,
}

impl Draws {
    /// `None` unless they can be judged.
    pub(super) fn new<S: AsRef<[f64]>>(chains: &[S]) -> Option<Self> {
        Self::of_any_length(chains).filter(|draws| draws.length >= MIN_DRAWS)
    }

    /// `None` unless they have a mean.
    pub(super) fn of_any_length<S: AsRef<[f64]>>(chains: &[S]) -> Option<Self> {
        let length = chains.first()?.as_ref().len();
        if chains.iter().any(|chain| chain.as_ref().len() != length) {
            return None;
        }
        let (low, range) = extent(chains)?;
        let divisor = if range > 0.0 { range } else { 1.0 };
        let mut unit = Vec::with_capacity(chains.len() * length);
        for chain in chains {
            unit.extend(chain.as_ref().iter().map(|value| (value - low) / divisor));
        }
        Some(Self { low, range, length, unit })
    }

    /// Mean and sample standard deviation of all draws.
    pub(super) fn mean_and_sd(&self) -> (f64, f64) {
        let (mean, variance) = moments(&self.unit);
        (self.low + mean * self.range, variance.sqrt() * self.range)
    }

    pub(super) fn into_halves(mut self) -> Halves {
        keep_halves(&mut self.unit, self.length);
        Halves::new(self.unit, self.length / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{ChainRng, Stream};

    /// A chain x ← coefficient·x + (u − ½) with u from a linear congruential generator, rounded
    /// down to multiples of 1/levels and scaled to whole numbers if `levels` is not zero.
    fn chain(seed: u64, n: usize, coefficient: f64, levels: f64, shift: f64) -> Vec<f64> {
        let (mut state, mut x) = (seed, 0.0);
        let mut step = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let u = (state >> 11) as f64 * (1.0 / (1u64 << 53) as f64);
            x = coefficient * x + (u - 0.5);
            let rounded = if levels > 0.0 { (x * levels).floor() } else { x };
            rounded + shift
        };
        (0..n).map(|_| step()).collect()
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs().max(1e-3)
    }

    #[test]
    fn agrees_with_arviz() {
        // Chain k of each case is chain(k + 1, draws, coefficient, levels, k·shift). Reference:
        // ArviZ 0.23.4's rhat(method="split"), ess(method="mean"), mcse(method="mean"). It gives
        // no R̂ for a single chain: there, its rhat(method="identity") of the two halves.
        #[rustfmt::skip]
        let cases = [
            (4, 500, 0.7, 0.0, 0.0, [1.0024480627426526, 328.56075120542573, 0.02234134495400929]),
            (3, 101, -0.5, 0.0, 0.0, [0.9920105299283752, 743.1363764158988, 0.011546199621236857]),
            (2, 400, 0.95, 0.0, 2.0, [1.8020293367370357, 3.1377893319455694, 0.8253763167668432]),
            (4, 7, 0.3, 0.0, 0.0, [1.2710145907653745, 33.12506980107854, 0.04592914317497809]),
            (1, 250, 0.8, 0.0, 0.0, [0.9986945436785728, 36.23794471860898, 0.07007194046637964]),
            (5, 300, 0.6, 4.0, 0.0, [1.0125747587118832, 371.5791986695068, 0.07687676301154246]),
            (2, 11, 0.2, 0.0, 0.0, [0.9187592157327581, 26.020599913279625, 0.05434649227067876]),
            (2, 300, -0.95, 0.0, 0.0, [0.9966717401773068, 1666.890750230186, 0.023902456740179472]),
            (3, 4, 0.0, 0.0, 0.0, [1.2965638297931215, 12.9501749525715, 0.06475750379079419]),
            (3, 1000, 0.99, 0.0, 0.0, [1.0400277983047688, 36.288994041115686, 0.26784421020196086]),
        ];
        for (count, draws, coefficient, levels, shift, [rhat, ess, mcse]) in cases {
            let chains: Vec<Vec<f64>> = (0..count)
                .map(|k| chain(k + 1, draws, coefficient, levels, k as f64 * shift))
                .collect();
            let name = format!("{count} × {draws}, {coefficient}");
            let found = summarise(&chains).unwrap();
            assert!(close(found.rhat.unwrap(), rhat), "{name}: {found:?}");
            assert!(close(found.ess.value(), ess), "{name}: {found:?}");
            assert!(close(found.mcse_mean.unwrap(), mcse), "{name}: {found:?}");
            assert_eq!(split_rhat(&chains), found.rhat);
            assert_eq!(combined_ess(&chains), found.ess);
            assert_eq!(mcse_mean(&chains), found.mcse_mean);
        }
        // The mean and the standard deviation of one case, by NumPy.
        let chains: Vec<_> = (0..5).map(|k| chain(k + 1, 300, 0.6, 4.0, 0.0)).collect();
        let found = summarise(&chains).unwrap();
        assert!(close(found.mean, -0.578) && close(found.sd, 1.4819064402986217));
    }
    #[test]
    fn chains_in_different_modes_are_noticed() {
        let near: Vec<_> = (0..4).map(|k| chain(k + 1, 400, 0.3, 0.0, 0.0)).collect();
        assert!(split_rhat(&near).unwrap() < 1.02);
        assert!(combined_ess(&near).value() > 500.0);
        let mut apart = near.clone();
        apart[3] = chain(9, 400, 0.3, 0.0, 5.0);
        assert!(split_rhat(&apart).unwrap() > 1.5);
        assert!(combined_ess(&apart).value() < 10.0);
        assert!(mcse_mean(&apart).unwrap() > 10.0 * mcse_mean(&near).unwrap());
    }

    #[test]
    fn a_drifting_chain_disagrees_with_itself() {
        let drift: Vec<f64> = (0..200).map(f64::from).collect();
        assert!(split_rhat(&[&drift]).unwrap() > 1.5);
        assert!(split_rhat(&[&drift, &drift]).unwrap() > 1.5);
        assert!(combined_ess(&[&drift, &drift]).value() < 10.0);
    }

    #[test]
    fn independent_draws_pass_and_have_the_textbook_error() {
        let mut rng = ChainRng::new(12, Stream::Chain(0));
        let chains: Vec<Vec<f64>> =
            (0..4).map(|_| (0..5000).map(|_| rng.uniform()).collect()).collect();
        let summary = summarise(&chains).unwrap();
        assert!((summary.rhat.unwrap() - 1.0).abs() < 0.002);
        let ess = summary.ess.value();
        assert!((ess / 20_000.0 - 1.0).abs() < 0.1, "{ess}");
        // 4 standard errors of the mean of 20,000 uniform draws.
        assert!((summary.mean - 0.5).abs() < 4.0 * 0.00204);
        assert!((summary.mcse_mean.unwrap() / 0.00204 - 1.0).abs() < 0.1);
    }

    #[test]
    fn constant_chains_never_give_nan() {
        let equal = summarise(&[[1e9 + 0.1; 10], [1e9 + 0.1; 10]]).unwrap();
        let stuck =
            ChainSummary { mean: 1e9 + 0.1, sd: 0.0, rhat: None, ess: Ess::Stuck, mcse_mean: None };
        assert_eq!(equal, stuck);

        let different = summarise(&[[0.1; 101], [0.3; 101]]).unwrap();
        assert_eq!(different.rhat, Some(f64::INFINITY));
        assert!(different.ess.value() > 0.0 && different.ess.value() < 4.0);
        assert!(different.mcse_mean.unwrap() > 0.05);

        // Only the middle draw, which no half sees, differs.
        let middle = summarise(&[[1.0, 1.0, 9.0, 1.0, 1.0]]).unwrap();
        assert_eq!((middle.rhat, middle.ess), (None, Ess::Stuck));

        // One stuck chain among moving ones.
        let moving = chain(1, 100, 0.0, 0.0, 0.0);
        let mixed = summarise(&[vec![4.0; 100], moving]).unwrap();
        assert!(mixed.rhat.unwrap() > 1.5 && mixed.rhat.unwrap().is_finite());
    }

    #[test]
    fn odd_input_is_none() {
        let unusable: [&[&[f64]]; 6] = [
            &[],
            &[&[]],
            &[&[1.0, 2.0, 3.0]],
            &[&[1.0, 2.0, 3.0, 4.0], &[1.0, 2.0, 3.0, 4.0, 5.0]],
            &[&[1.0, 2.0, f64::NAN, 4.0]],
            &[&[1.0, 2.0, f64::INFINITY, 4.0]],
        ];
        for chains in unusable {
            assert_eq!(summarise(chains), None);
            assert_eq!(split_rhat(chains), None);
            assert_eq!(mcse_mean(chains), None);
            assert_eq!(combined_ess(chains), Ess::Undefined);
        }
    }

    #[test]
    fn extreme_values_never_give_nan() {
        let values = [0.0, 1.0, 0.1, 1e9 + 0.1, 5e-324, 1e-200, 8e307, -8e307];
        let mut rng = ChainRng::new(13, Stream::Chain(0));
        for round in 0..20_000 {
            let (chains, length) = (1 + round % 3, 4 + round % 9);
            let kinds = 1 + rng.below(values.len());
            let chains: Vec<Vec<f64>> = (0..chains)
                .map(|_| (0..length).map(|_| values[rng.below(kinds)]).collect())
                .collect();
            let summary = summarise(&chains).unwrap();
            assert!(summary.mean.is_finite() && summary.sd.is_finite(), "{chains:?}");
            assert!(summary.rhat.is_none_or(|rhat| rhat > 0.0), "{chains:?}");
            assert!(summary.mcse_mean.is_none_or(f64::is_finite), "{chains:?}");
            let size = (chains.len() * length) as f64;
            match summary.ess {
                Ess::Estimated(ess) => {
                    assert!(ess > 0.0 && ess <= 1.000_001 * size * size.log10(), "{chains:?}");
                }
                Ess::Stuck => assert_eq!((summary.rhat, summary.mcse_mean), (None, None)),
                Ess::Undefined => panic!("{chains:?}"),
            }
            for single in &chains {
                let ess = crate::stats::ess(single);
                assert!(ess.value() >= 0.0 && ess.value() <= length as f64, "{single:?}");
                assert_ne!(ess, Ess::Undefined);
            }
        }
    }
}
