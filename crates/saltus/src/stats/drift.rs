//! Whether all chains still move the same way while they draw: a warm-up that was too short.

use super::overlap::exceeds_chance;
use super::{extent, moments};

/// Probability of a false alarm.
const CHANCE: f64 = 1e-5;
/// Smaller shifts, in standard deviations of a draw, are of no interest.
const NOTICEABLE: f64 = 0.1;
/// Fewer chains do not tell how much their means vary.
const FEWEST_CHAINS: usize = 4;

/// By how many standard deviations of a draw the mean over the last half of the draws exceeds that
/// over the first quarter, if that is more than chance.
///
/// Chains that are only slow drift each its own way, and their shifts differ; chains that come from
/// an untypical start drift together.
///
/// ```
/// use saltus::stats::drift;
/// let chain = |start: f64| (0..100).map(|t| start + f64::from(t).min(60.0)).collect();
/// let falling: Vec<Vec<f64>> = [0.0, 1.0, 0.5, 0.2].map(chain).to_vec();
/// assert!(drift(&falling).unwrap() > 1.0);
/// assert_eq!(drift(&[[0.0, 1.0, 0.0, 1.0]; 4]), None);
/// ```
pub fn drift<S: AsRef<[f64]>>(chains: &[S]) -> Option<f64> {
    let draws = chains.iter().map(|chain| chain.as_ref().len()).min()?;
    if chains.len() < FEWEST_CHAINS || draws < 8 {
        return None;
    }
    let (_, range) = extent(chains)?;
    if range == 0.0 {
        return None;
    }
    let mut shifts = Vec::new();
    let mut variances = Vec::new();
    for chain in chains {
        let chain = &chain.as_ref()[..draws];
        let (early, _) = moments(&chain[..draws / 4]);
        let (late, variance) = moments(&chain[draws / 2..]);
        shifts.push((late - early) / range);
        variances.push(variance / range / range);
    }
    let (shift, spread) = moments(&shifts);
    // The width of the late draws of all chains: within each, and of their means.
    let width = moments(&variances).0.max(spread).sqrt();
    let relative = shift / width;
    let noticeable = relative.abs() > NOTICEABLE || width == 0.0;
    let clear = noticeable && exceeds_chance(shift, spread, shifts.len(), CHANCE);
    (clear && relative.is_finite()).then_some(relative)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{ChainRng, Stream};
    use rand_distr::{Distribution, StandardNormal};

    /// Stationary autoregressive chains, with a start far off that fades.
    fn chains(count: usize, coefficient: f64, offset: f64, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = ChainRng::new(seed, Stream::Chain(0));
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        (0..count)
            .map(|_| {
                let mut value = offset + normal() / (1.0 - coefficient * coefficient).sqrt();
                (0..200)
                    .map(|_| {
                        value = coefficient * value + normal();
                        value
                    })
                    .collect()
            })
            .collect()
    }

    #[test]
    fn stationary_chains_raise_no_alarm_however_slow() {
        for seed in 0..500 {
            let coefficient = [0.0, 0.9, 0.99, 0.999][seed as usize % 4];
            let chains = chains(4 + seed as usize % 20, coefficient, 0.0, seed);
            assert_eq!(drift(&chains), None, "{seed}");
        }
    }

    #[test]
    fn chains_from_afar_are_noticed() {
        let shift = drift(&chains(20, 0.98, 100.0, 1)).unwrap();
        assert!(shift < -1.0, "{shift}");
        assert!(drift(&chains(20, 0.98, -100.0, 2)).unwrap() > 1.0);
    }

    #[test]
    fn what_does_not_move_does_not_drift() {
        assert_eq!(drift(&[[1.0; 50]; 6]), None);
        assert_eq!(drift(&[[f64::NAN; 50]; 6]), None);
        let none: [Vec<f64>; 0] = [];
        assert_eq!(drift(&none), None);
    }
}
