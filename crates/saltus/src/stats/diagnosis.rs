//! Everything that is said of one scalar of a run, as Stan and ArviZ say it, and never NaN.

use super::MIN_DRAWS;
use super::chains::Draws;
use super::lags::Autocovariance;
use super::rank::rank_statistics;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Whether a scalar changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Movement {
    /// It changed within at least one chain.
    Moving,
    /// It never changed within a chain, but is not the same in all of them.
    Frozen,
    /// It was the same in every draw of every chain.
    Constant,
}

impl Movement {
    /// Of chains of draws; no draws are constant.
    pub fn of<S: AsRef<[f64]>>(chains: &[S]) -> Self {
        let mut firsts = Vec::new();
        for chain in chains {
            let Some((first, rest)) = chain.as_ref().split_first() else {
                continue;
            };
            if rest.iter().any(|value| value != first) {
                return Self::Moving;
            }
            firsts.push(*first);
        }
        if firsts.windows(2).all(|pair| pair[0] == pair[1]) { Self::Constant } else { Self::Frozen }
    }
}

/// What the draws of several chains say about a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// Whether it changed at all.
    pub movement: Movement,
    /// Mean of all draws; none without draws, or if one of them is not finite.
    pub mean: Option<f64>,
    /// Sample standard deviation of all draws.
    pub sd: Option<f64>,
    /// Monte Carlo standard error of the mean; none if the draws do not tell.
    pub mcse: Option<f64>,
    /// Effective sample size of the bulk: of the normal scores of all draws.
    pub ess_bulk: Option<f64>,
    /// Effective sample size of the tails: the smaller of those of the two indicators of lying
    /// beyond the 5 % and the 95 % quantile. None if both are constant.
    pub ess_tail: Option<f64>,
    /// Rank-normalised split R̂, the larger of place and width; infinite if no half of a chain
    /// moved but they differ, none if nothing did. JSON has no infinity and holds null for both.
    pub rhat: Option<f64>,
}

impl Diagnosis {
    /// Effective draws of the bulk or of the tails, whichever are fewer.
    pub fn ess(&self) -> Option<f64> {
        [self.ess_bulk, self.ess_tail].into_iter().flatten().reduce(f64::min)
    }
}

/// Judges a scalar by the draws of several chains of equal length.
///
/// The formulas are those of Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), and agree
/// with ArviZ's `rhat`, `ess(method="bulk")`, `ess(method="tail")` and `mcse(method="mean")` on
/// whatever moves. What is undefined is `None`: everything but mean and sd with fewer than
/// [`MIN_DRAWS`] draws, and errors and effective sample sizes of what never moved, where ArviZ
/// counts every draw of a constant as effective.
///
/// ```
/// use saltus::stats::{Movement, diagnose};
/// let chain = |shift: u32| (0..200).map(|t| f64::from((t * 7919 + shift) % 101)).collect();
/// let chains: [Vec<f64>; 2] = [chain(0), chain(50)];
/// let diagnosis = diagnose(&chains);
/// assert!(diagnosis.rhat.unwrap() < 1.02 && diagnosis.ess_bulk.unwrap() > 100.0);
///
/// let frozen = diagnose(&[[1.0; 10], [2.0; 10]]);
/// assert_eq!((frozen.movement, frozen.rhat), (Movement::Frozen, Some(f64::INFINITY)));
/// let constant = diagnose(&[[1.0; 10], [1.0; 10]]);
/// assert_eq!((constant.movement, constant.ess_bulk), (Movement::Constant, None));
/// ```
pub fn diagnose<S: AsRef<[f64]>>(chains: &[S]) -> Diagnosis {
    let movement = Movement::of(chains);
    let mut diagnosis = Diagnosis {
        movement,
        mean: None,
        sd: None,
        mcse: None,
        ess_bulk: None,
        ess_tail: None,
        rhat: None,
    };
    let Some(draws) = Draws::of_any_length(chains) else {
        return diagnosis;
    };
    let (mean, sd) = draws.mean_and_sd();
    diagnosis.mean = Some(mean);
    diagnosis.sd = Some(sd);
    if draws.length < MIN_DRAWS {
        return diagnosis;
    }
    if movement != Movement::Moving {
        diagnosis.rhat = (movement == Movement::Frozen).then_some(f64::INFINITY);
        return diagnosis;
    }
    let mut autocovariance = Autocovariance::default();
    let mut raw = Vec::with_capacity(chains.len() * draws.length);
    chains.iter().for_each(|chain| raw.extend_from_slice(chain.as_ref()));
    let ranks = rank_statistics(raw, draws.length, &mut autocovariance);
    diagnosis.rhat = ranks.rhat;
    diagnosis.ess_bulk = ranks.ess_bulk.estimated();
    diagnosis.ess_tail = ranks.ess_tail.estimated();
    let ess = draws.into_halves().ess(&mut autocovariance).estimated();
    diagnosis.mcse = ess.map(|ess| sd / ess.sqrt());
    diagnosis
}

/// Judges every site by the states of several chains: one row of bytes per draw, chain by chain.
///
/// ```
/// use saltus::stats::{Movement, diagnose_sites};
/// let chains = [[0, 1, 0, 0, 0, 1, 0, 0], [0, 0, 0, 1, 0, 1, 0, 1]];
/// let sites = diagnose_sites(&chains, 2);
/// assert_eq!(sites[0].movement, Movement::Constant);
/// assert_eq!((sites[1].movement, sites[1].mean), (Movement::Moving, Some(0.625)));
/// ```
pub fn diagnose_sites<S: AsRef<[u8]> + Sync>(chains: &[S], sites: usize) -> Vec<Diagnosis> {
    (0..sites)
        .into_par_iter()
        .map(|site| {
            let series: Vec<Vec<f64>> = chains
                .iter()
                .map(|chain| chain.as_ref().iter().skip(site).step_by(sites))
                .map(|values| values.map(|value| f64::from(*value)).collect())
                .collect();
            diagnose(&series)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{ChainRng, Stream};
    use crate::stats::split_rhat;
    use rand_distr::{Distribution, StandardNormal};

    fn normal_chains(chains: usize, draws: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = ChainRng::new(seed, Stream::Chain(0));
        (0..chains).map(|_| (0..draws).map(|_| StandardNormal.sample(&mut rng)).collect()).collect()
    }

    #[test]
    fn ranks_are_all_that_counts() {
        let chains = normal_chains(3, 301, 1);
        let stretched: Vec<Vec<f64>> =
            chains.iter().map(|chain| chain.iter().map(|y| (3.0 * y).exp()).collect()).collect();
        let (plain, other) = (diagnose(&chains), diagnose(&stretched));
        assert_eq!(plain.ess_bulk, other.ess_bulk);
        assert!((plain.ess_bulk.unwrap() / 900.0 - 1.0).abs() < 0.25);
        assert!(plain.mcse.unwrap() < other.mcse.unwrap());
    }

    #[test]
    fn chains_of_different_width_disagree() {
        let mut chains = normal_chains(4, 500, 2);
        for value in &mut chains[3] {
            *value *= 4.0;
        }
        // The plain form cannot see it.
        assert!(split_rhat(&chains).unwrap() < 1.05);
        assert!(diagnose(&chains).rhat.unwrap() > 1.1);
    }

    #[test]
    fn what_does_not_move_has_a_name_and_no_nan() {
        let constant = diagnose(&[[4.0; 9], [4.0; 9]]);
        let empty = Diagnosis { mean: Some(4.0), sd: Some(0.0), ..constant };
        assert_eq!(constant, empty);
        assert_eq!(constant.movement, Movement::Constant);
        assert_eq!((constant.rhat, constant.ess_bulk, constant.mcse), (None, None, None));

        let frozen = diagnose(&[[4.0; 9], [5.0; 9]]);
        assert_eq!((frozen.movement, frozen.mean), (Movement::Frozen, Some(4.5)));
        assert_eq!(frozen.rhat, Some(f64::INFINITY));
        assert_eq!((frozen.ess_bulk, frozen.ess_tail, frozen.mcse), (None, None, None));
    }

    #[test]
    fn tails_that_never_change_are_not_told() {
        // Both quantiles are the larger value.
        let chain: Vec<f64> = (0..200).map(|t| f64::from(u8::from(t % 50 != 0))).collect();
        let diagnosis = diagnose(&[chain]);
        assert_eq!((diagnosis.movement, diagnosis.ess_tail), (Movement::Moving, None));
        assert!(diagnosis.ess_bulk.is_some());
    }

    #[test]
    fn few_or_odd_draws_are_none() {
        let few = diagnose(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        assert_eq!((few.mean, few.rhat, few.ess_bulk), (Some(3.5), None, None));
        let none: [Vec<f64>; 0] = [];
        assert_eq!(diagnose(&none).mean, None);
        assert_eq!(diagnose(&[Vec::new(), Vec::new()]).mean, None);
        assert_eq!(diagnose(&[vec![1.0; 4], vec![1.0; 5]]).mean, None);
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let diagnosis = diagnose(&[[0.0, 1.0, odd, 2.0, 3.0]]);
            assert_eq!((diagnosis.mean, diagnosis.rhat, diagnosis.mcse), (None, None, None));
        }
    }

    #[test]
    fn extreme_values_never_give_nan() {
        let values = [0.0, 1.0, 0.1, 1e9 + 0.1, 5e-324, 1e-200, 8e307, -8e307];
        let mut rng = ChainRng::new(3, Stream::Chain(0));
        for round in 0..5000 {
            let (chains, length) = (1 + round % 3, 1 + round % 12);
            let kinds = 1 + rng.below(values.len());
            let chains: Vec<Vec<f64>> = (0..chains)
                .map(|_| (0..length).map(|_| values[rng.below(kinds)]).collect())
                .collect();
            let found = diagnose(&chains);
            for number in [found.mean, found.sd, found.mcse, found.ess_bulk, found.ess_tail] {
                assert!(number.is_none_or(f64::is_finite), "{chains:?}: {found:?}");
            }
            assert!(found.rhat.is_none_or(|rhat| rhat > 0.0), "{chains:?}: {found:?}");
        }
    }
}
