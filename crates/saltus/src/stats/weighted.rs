//! Draws that count by weights, as those of a jump process do by the time it stays.
//!
//! A mean is then a ratio, Σwf/Σw. To first order its error is that of the plain mean of
//! v = μ + w(f − μ)/w̄, which has the same value; so the error, R̂ and the effective sample size of v
//! are those of the weighted mean. In draws of f itself, independent ones that would do as well are
//! Var(f)/Var(v) times as many.

use super::{Diagnosis, Ess, EssEstimator, EssSummary, Movement, diagnose};

/// Mean, variance and the plain series of the same mean and error.
struct Linearised {
    mean: f64,
    variance: f64,
    chains: Vec<Vec<f64>>,
}

/// None if the weights have no positive sum.
fn linearise(chains: &[&[f64]], weights: &[&[f64]]) -> Option<Linearised> {
    let pairs = || {
        let chains = chains.iter().zip(weights);
        chains.flat_map(|(values, weights)| values.iter().copied().zip(weights.iter().copied()))
    };
    let total: f64 = pairs().map(|(_, weight)| weight).sum();
    let count = pairs().count() as f64;
    if !(total > 0.0 && total.is_finite()) {
        return None;
    }
    let mean = pairs().map(|(value, weight)| weight * value).sum::<f64>() / total;
    let variance =
        pairs().map(|(value, weight)| weight * (value - mean).powi(2)).sum::<f64>() / total;
    let average = total / count;
    let one = |(value, weight): (&f64, &f64)| mean + weight * (value - mean) / average;
    let chains = chains
        .iter()
        .zip(weights)
        .map(|(values, weights)| values.iter().zip(weights.iter()).map(one).collect())
        .collect();
    Some(Linearised { mean, variance, chains })
}

fn slices(series: &[Vec<f64>]) -> Vec<&[f64]> {
    series.iter().map(Vec::as_slice).collect()
}

/// The variance of plain draws.
fn variance(series: &[f64]) -> f64 {
    let mean = series.iter().sum::<f64>() / series.len() as f64;
    series.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / series.len() as f64
}

/// Plain draws v = μ + w(f − μ)/w̄ whose mean is the weighted mean of f and whose error is its error;
/// none if the weights have no positive sum.
pub fn linearised(chains: &[Vec<f64>], weights: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    Some(linearise(&slices(chains), &slices(weights))?.chains)
}

/// The effective sample size of one chain of weighted draws; see [`ess`](super::ess()) for plain
/// ones.
///
/// ```
/// use saltus::stats::{ess, weighted_ess};
/// let series = [1.0, 2.0, 0.0, 3.0, 1.0, 1.0, 2.0, 5.0, 3.0, 2.0];
/// // Equal weights are none.
/// let difference = weighted_ess(&series, &[0.5; 10]).value() - ess(&series).value();
/// assert!(difference.abs() < 1e-9);
/// ```
pub fn weighted_ess(series: &[f64], weights: &[f64]) -> Ess {
    if Movement::of(&[series]) != Movement::Moving {
        return super::ess(series);
    }
    let Some(linearised) = linearise(&[series], &[weights]) else {
        return Ess::Undefined;
    };
    match EssEstimator::new().estimate(&linearised.chains[0]) {
        Ess::Estimated(ess) => {
            Ess::Estimated(ess * linearised.variance / variance(&linearised.chains[0]))
        }
        other => other,
    }
}

/// The effective sample sizes of all chains, each by itself.
pub fn weighted_ess_of_chains(chains: &[Vec<f64>], weights: &[Vec<f64>]) -> EssSummary {
    EssSummary::new(
        chains.iter().zip(weights).map(|(series, weights)| weighted_ess(series, weights)),
    )
}

/// Judges a scalar by weighted draws: as [`diagnose`] for the mean, its error and R̂; the effective
/// sample size of the bulk is that of the mean, and there is none of the tails.
pub fn diagnose_weighted(chains: &[Vec<f64>], weights: &[Vec<f64>]) -> Diagnosis {
    let plain = diagnose(chains);
    let Some(linearised) = linearise(&slices(chains), &slices(weights)) else {
        return plain;
    };
    if plain.movement != Movement::Moving {
        return plain;
    }
    let of_mean = diagnose(&linearised.chains);
    let sd = linearised.variance.sqrt();
    // No more than plain draws are said to be worth, where a few of them have all the weight.
    let draws = chains.iter().map(Vec::len).sum::<usize>() as f64;
    let most = draws * draws.log10().max(1.0);
    Diagnosis {
        mean: Some(linearised.mean),
        sd: Some(sd),
        mcse: of_mean.mcse,
        ess_bulk: of_mean.mcse.map(|mcse| (sd / mcse).powi(2).min(most)),
        ess_tail: None,
        ..of_mean
    }
}
