//! How far it is from the base to the model: rejections, the communication barrier, how many rungs suit
//! it and where they stand (Syed, Bouchard-Côté, Deligiannidis and Doucet 2022, JRSS B 84).

use super::cubic::MonotoneCubic;
use statrs::function::erf::erf_inv;

/// Rejections above this do not tell how far apart two rungs are.
pub const IDENTIFIED: f64 = 0.75;

/// Intervals that make the most round trips per replica, Λ(1 + √(Λ/(1 + Λ))); more where that is no
/// whole number.
pub(super) fn best_intervals(barrier: f64) -> usize {
    let intervals = barrier * (1.0 + (barrier / (1.0 + barrier)).sqrt());
    (intervals.ceil() as usize).max(1)
}

/// Round trips per scan of an ensemble whose chains explore ideally, 1/(2 + 2 Σ r/(1 − r)).
pub fn trips_per_scan(rejections: &[f64]) -> f64 {
    let odds: f64 = rejections.iter().map(|r| r / (1.0 - r)).sum();
    if odds.is_finite() { 0.5 / (1.0 + odds) } else { 0.0 }
}

/// The barrier between two rungs of that rejection: r = erf(√π Λ/2) where V is Gaussian of equal width
/// at both. Unlike r itself it adds up over intervals that are not short.
pub(super) fn between(rejection: f64) -> f64 {
    /// Rarer swaps say nothing more.
    const MOST: f64 = 0.9999;
    2.0 / std::f64::consts::PI.sqrt() * erf_inv(rejection.clamp(0.0, MOST))
}

/// The barrier from 0 to every rung.
pub(super) fn cumulated(parts: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sum = 0.0;
    std::iter::once(0.0)
        .chain(parts.map(|part| {
            sum += part;
            sum
        }))
        .collect()
}

/// Inverse temperatures with equal barriers between them, from the barrier up to each of the old ones.
pub(super) fn spread(betas: &[f64], barrier: &[f64], intervals: usize) -> Vec<f64> {
    let (first, last) = (betas[0], betas[betas.len() - 1]);
    let total = barrier[barrier.len() - 1];
    let even = |i: usize| match i == intervals {
        true => last,
        false => first + (last - first) * i as f64 / intervals as f64,
    };
    let curve = (total > 1e-9).then(|| MonotoneCubic::new(betas.to_vec(), barrier.to_vec()));
    let mut spread: Vec<f64> = (0..=intervals)
        .map(|i| match &curve {
            Some(curve) if i > 0 && i < intervals => {
                curve.inverse(total * i as f64 / intervals as f64)
            }
            _ => even(i),
        })
        .collect();
    // Where everything is accepted the curve is flat; rungs stay apart all the same.
    let apart = 1e-6 * (last - first) / intervals as f64;
    for i in 1..intervals {
        spread[i] = spread[i].max(spread[i - 1] + apart);
    }
    for i in (1..intervals).rev() {
        spread[i] = spread[i].min(spread[i + 1] - apart);
    }
    spread
}

/// The local barrier λ(b) at every rung: how fast the barrier rises there.
pub(super) fn local(betas: &[f64], barrier: &[f64]) -> Vec<f64> {
    let curve = MonotoneCubic::new(betas.to_vec(), barrier.to_vec());
    (0..betas.len()).map(|rung| curve.slope(rung)).collect()
}

/// ½ E|V − V′| of independent V from draws of several chains at one rung (Gini's mean difference); none
/// of fewer than two.
pub(super) fn half_mean_difference(mut values: Vec<f64>) -> Option<f64> {
    let count = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let sum: f64 = values
        .iter()
        .enumerate()
        .map(|(k, value)| (2.0 * (k + 1) as f64 - count - 1.0) * value)
        .sum();
    Some(sum / (count * (count - 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Λ, rungs, r and τ of L×L tori at several temperatures, from the exact density of states.
    const EXACT: [(f64, usize, f64, f64); 5] = [
        (1.60933, 4, 0.49941, 0.12522),
        (1.79843, 5, 0.42787, 0.12527),
        (3.07247, 7, 0.47876, 0.07679),
        (3.54954, 8, 0.47511, 0.06816),
        (4.62114, 10, 0.48029, 0.05366),
    ];

    #[test]
    fn numbers_of_rungs_and_trips_are_those_of_exact_tori() {
        for (barrier, rungs, rejection, trips) in EXACT {
            assert_eq!(best_intervals(barrier) + 1, rungs);
            let found = trips_per_scan(&vec![rejection; rungs - 1]);
            assert!((found - trips).abs() < 2e-5, "{found} {trips}");
            // What the rejections of these ladders say of the barrier.
            let estimate = (rungs - 1) as f64 * between(rejection);
            assert!((estimate / barrier - 1.0).abs() < 0.01, "{estimate} {barrier}");
        }
        assert_eq!(trips_per_scan(&[0.5, 1.0]), 0.0);
    }

    #[test]
    fn mean_differences_are_those_of_all_pairs() {
        let values = [3.0, -1.0, 4.0, 1.5, -9.0];
        let mut pairs = 0.0;
        for one in values {
            for other in values {
                pairs += f64::abs(one - other);
            }
        }
        let exact = 0.5 * pairs / (5.0 * 4.0);
        assert!((half_mean_difference(values.to_vec()).unwrap() - exact).abs() < 1e-12);
        assert_eq!(half_mean_difference(vec![1.0]), None);
    }

    #[test]
    fn rungs_part_the_barrier_evenly() {
        // Λ(b) = b²: equal barriers at √(i/4).
        let betas: Vec<f64> = (0..=20).map(|i| f64::from(i) / 20.0).collect();
        let barrier: Vec<f64> = betas.iter().map(|b| b * b).collect();
        let found = spread(&betas, &barrier, 4);
        for (i, beta) in found.iter().enumerate() {
            assert!((beta - (i as f64 / 4.0).sqrt()).abs() < 0.003, "{found:?}");
        }
        // Without a barrier rungs are even, and they never fall on each other.
        assert_eq!(spread(&[0.0, 1.0], &[0.0, 0.0], 4), [0.0, 0.25, 0.5, 0.75, 1.0]);
        let cliff = spread(&[0.0, 0.5, 0.5 + 1e-12, 1.0], &[0.0, 0.0, 5.0, 5.0], 5);
        assert!(cliff.windows(2).all(|pair| pair[0] < pair[1]), "{cliff:?}");
    }
}
