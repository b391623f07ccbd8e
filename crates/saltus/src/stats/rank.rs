//! Ranks in the place of values, so that heavy tails and odd scales do not mislead: normal scores
//! and the tail indicators of Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021).

use super::ess::Ess;
use super::halves::{Halves, keep_halves};
use super::lags::Autocovariance;
use statrs::function::erf::erfc_inv;
use std::f64::consts::SQRT_2;

/// R̂, bulk and tail effective sample size of one set of draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RankStatistics {
    pub(super) rhat: Option<f64>,
    pub(super) ess_bulk: Ess,
    pub(super) ess_tail: Ess,
}

/// All three, for finite draws of chains of one length, at least four, one chain after the other.
///
/// They are ranked as they are: mapping them to [0, 1] could make or break ties.
pub(super) fn rank_statistics(
    mut draws: Vec<f64>,
    length: usize,
    autocovariance: &mut Autocovariance,
) -> RankStatistics {
    let half = length / 2;
    let quantiles_of = |order: &[(f64, u32)]| [0.05, 0.95].map(|part| quantile(order, part));
    // The middle draws of an odd length belong to no half, but to the quantiles.
    let of_all = (length % 2 == 1).then(|| quantiles_of(&in_order(&draws)));
    keep_halves(&mut draws, length);
    let order = in_order(&draws);
    let quantiles = of_all.unwrap_or_else(|| quantiles_of(&order));
    let bulk = Halves::new(normal_scores(&order), half);
    let folded = Halves::new(normal_scores(&folded(&order)), half);
    RankStatistics {
        // Different places and different widths are both disagreement.
        rhat: [bulk.rhat(), folded.rhat()].into_iter().flatten().reduce(f64::max),
        ess_bulk: bulk.ess(autocovariance),
        ess_tail: tail_ess(&draws, half, quantiles, autocovariance),
    }
}

/// Values from the smallest to the largest, and where each stood.
fn in_order(values: &[f64]) -> Vec<(f64, u32)> {
    let mut order: Vec<(f64, u32)> =
        values.iter().enumerate().map(|(place, value)| (*value, place as u32)).collect();
    order.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    order
}

/// Distances from the median, in order: those below it come backwards, those above it forwards.
fn folded(order: &[(f64, u32)]) -> Vec<(f64, u32)> {
    let count = order.len();
    let median = mean_of_two(order[(count - 1) / 2].0, order[count / 2].0);
    let (below, above) = order.split_at(order.partition_point(|(value, _)| *value < median));
    let distance = |(value, place): &(f64, u32)| ((value - median).abs(), *place);
    let mut below = below.iter().rev().map(distance).peekable();
    let mut above = above.iter().map(distance).peekable();
    let mut folded = Vec::with_capacity(count);
    while let (Some(left), Some(right)) = (below.peek(), above.peek()) {
        let next = if left.0 <= right.0 { below.next() } else { above.next() };
        folded.extend(next);
    }
    folded.extend(below);
    folded.extend(above);
    folded
}

/// The smaller effective sample size of the indicators of the outer twentieths, of halves of so many draws.
fn tail_ess(
    draws: &[f64],
    half: usize,
    quantiles: [f64; 2],
    autocovariance: &mut Autocovariance,
) -> Ess {
    let estimates = quantiles.map(|quantile| {
        let indicator = draws.iter().map(|value| f64::from(u8::from(*value <= quantile)));
        Halves::new(indicator.collect(), half).ess(autocovariance)
    });
    let all = draws.len() as f64;
    match estimates {
        [Ess::Estimated(low), Ess::Estimated(high)] => Ess::Estimated(low.min(high)),
        // Few distinct values: a quantile may be the largest of them, and its indicator constant.
        [Ess::Estimated(one), _] | [_, Ess::Estimated(one)] => Ess::Estimated(one.min(all)),
        _ => Ess::Stuck,
    }
}

/// Φ⁻¹((r − 3/8) / (S + 1/4)) for the average rank r of each of S values that are given in order.
fn normal_scores(order: &[(f64, u32)]) -> Vec<f64> {
    let count = order.len();
    let mut scores = vec![0.0; count];
    let mut first = 0;
    for tied in order.chunk_by(|one, other| one.0 == other.0) {
        // Ranks count from 1.
        let rank = first as f64 + (tied.len() as f64 + 1.0) / 2.0;
        let score = normal_quantile((rank - 0.375) / (count as f64 + 0.25));
        for (_, place) in tied {
            scores[*place as usize] = score;
        }
        first += tied.len();
    }
    scores
}

fn mean_of_two(one: f64, other: f64) -> f64 {
    let sum = one + other;
    if sum.is_finite() { sum / 2.0 } else { one / 2.0 + other / 2.0 }
}

/// The quantile of the standard normal law.
fn normal_quantile(probability: f64) -> f64 {
    -SQRT_2 * erfc_inv(2.0 * probability)
}

/// The quantile that R calls type 7, of values in order.
fn quantile(order: &[(f64, u32)], probability: f64) -> f64 {
    let count = order.len();
    // In these very operations, as in SciPy's `mquantiles`: with many equal values the rounding of
    // the last line decides whether they lie below the quantile.
    let at = count as f64 * probability + (1.0 - probability);
    let whole = at.clamp(1.0, count as f64 - 1.0).floor();
    let part = (at - whole).clamp(0.0, 1.0);
    let below = order[whole as usize - 1].0;
    let next = order.get(whole as usize).map_or(below, |next| next.0);
    (1.0 - part) * below + part * next
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ContinuousCDF, Normal};

    #[test]
    fn tied_values_share_their_average_rank() {
        let scores_of = |values: &[f64]| normal_scores(&in_order(values));
        let scores = scores_of(&[3.0, 1.0, 3.0, 2.0, 3.0]);
        // Ranks 4, 1, 4, 2, 4.
        let expected = [4.0, 1.0, 4.0, 2.0, 4.0].map(|rank| normal_quantile((rank - 0.375) / 5.25));
        assert_eq!(scores, expected);
        assert_eq!(scores_of(&[0.0, -0.0]), [0.0, 0.0]);
    }

    #[test]
    fn distances_from_the_median_are_in_order() {
        for values in [&[3.0, 1.0, 3.0, 2.0, 7.0, -4.0][..], &[1.0, 4.0], &[2.0; 5], &[5.0]] {
            let count = values.len();
            let order = in_order(values);
            let median = mean_of_two(order[(count - 1) / 2].0, order[count / 2].0);
            let distances: Vec<f64> = values.iter().map(|value| (value - median).abs()).collect();
            let found: Vec<f64> = folded(&order).iter().map(|(distance, _)| *distance).collect();
            let mut expected = distances.clone();
            expected.sort_by(f64::total_cmp);
            assert_eq!(found, expected);
            assert!(folded(&order).iter().all(|(d, place)| distances[*place as usize] == *d));
        }
    }

    #[test]
    fn the_normal_quantile_inverts_the_distribution() {
        let normal = Normal::standard();
        // Known to all digits shown.
        assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-14);
        assert!((normal_quantile(0.841_344_746_068_542_9) - 1.0).abs() < 1e-14);
        assert_eq!(normal_quantile(0.5), 0.0);
        for exponent in -40..0 {
            for probability in [2f64.powi(exponent), 1.0 - 2f64.powi(exponent)] {
                let back = normal.cdf(normal_quantile(probability));
                assert!((back / probability - 1.0).abs() < 1e-9, "{probability} {back}");
            }
        }
    }

    #[test]
    fn quantiles_are_those_of_type_seven() {
        let values = in_order(&[5.0, 1.0, 3.0, 2.0, 4.0]);
        assert_eq!(quantile(&values, 0.5), 3.0);
        assert!((quantile(&values, 0.05) - 1.2).abs() < 1e-14);
        assert!((quantile(&values, 0.95) - 4.8).abs() < 1e-14);
        assert_eq!(quantile(&in_order(&[2.0; 7]), 0.5), 2.0);
    }
}
