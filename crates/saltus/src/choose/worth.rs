//! What the draws of a short trial are worth, also where chains move too slowly for a trial to see them forget.
//!
//! Usual estimates of effective draws stop where autocorrelations are lost in noise, and count every chain as a draw at least. Of trials
//! that are shorter than the memory of their chains this makes slow ones all alike. Here the variance is that of all chains
//! together, which begin where others arrived, so that a chain which hardly moved is seen to remember; and memory beyond the trial is taken to
//! fade as it did towards its end.

/// Correlations below this are noise, and in short trials larger ones.
const NOISE: f64 = 0.03;
/// Every lag to this one, then ever fewer: neighbours are a quarter apart.
const EVERY: usize = 8;
/// Nothing is taken to remember for longer than this many trials.
const LONGEST: f64 = 20.0;
/// Draws of antithetic chains count for more than one, but not for any number.
const SHORTEST: f64 = 0.2;

/// Effective draws of an observable's mean in all draws of some chains; none if nothing ever changed.
pub(super) fn effective_draws(chains: &[Vec<f64>]) -> Option<f64> {
    let draws = chains.iter().map(Vec::len).min()?;
    let count = (chains.len() * draws) as f64;
    let all = || chains.iter().flat_map(|chain| &chain[..draws]);
    let mean = all().sum::<f64>() / count;
    let variance = all().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0);
    (variance > 0.0 && variance.is_finite()).then(|| {
        let correlation = |lag: usize| 1.0 - half_square(chains, draws, lag) / variance;
        count / memory(draws, count, correlation).max(SHORTEST)
    })
}

/// Half the mean square of how far chains come in so many draws.
fn half_square(chains: &[Vec<f64>], draws: usize, lag: usize) -> f64 {
    let of = |chain: &Vec<f64>| -> f64 {
        let later = chain[lag..draws].iter();
        later.zip(&chain[..draws - lag]).map(|(y, x)| (y - x) * (y - x)).sum()
    };
    chains.iter().map(of).sum::<f64>() / (2 * chains.len() * (draws - lag)) as f64
}

/// 1 + 2 Σ ρ over all lags, of which half the length of the trial can be seen, by so many draws of all chains.
fn memory(draws: usize, count: f64, correlation: impl Fn(usize) -> f64) -> f64 {
    let last = (draws / 2).max(1);
    let mut memory = 1.0;
    let (mut lag, mut here) = (0, 1.0);
    let mut seen = vec![(0, 1.0)];
    while lag < last {
        let step = if lag < EVERY { 1 } else { lag.div_ceil(4) };
        let next = (lag + step).min(last);
        let there = correlation(next);
        // The lags from here, which is counted, to there.
        let steps = (next - lag) as f64;
        memory += 2.0 * (steps * 0.5 * (here + there) + 0.5 * (there - here));
        (lag, here) = (next, there);
        seen.push((lag, here));
        let before = seen[seen.len() - 2].1;
        // In pairs, because chains that go to and fro have correlations of both signs (Geyer 1992).
        let whole_pair = lag > EVERY || lag % 2 == 1;
        let noise = (2.0 * memory.max(1.0) / count).sqrt().max(NOISE);
        if whole_pair && here + before < 2.0 * noise {
            return memory;
        }
    }
    // Fades on as it did over the second half of what was seen.
    let middle = seen.iter().rev().find(|(lag, _)| 2 * lag <= last).copied().unwrap_or((0, 1.0));
    let here = here.clamp(NOISE, 1.0);
    let rate = (middle.1.max(here) / here).ln() / (last - middle.0) as f64;
    memory + 2.0 * here / rate.max(1.0 / (LONGEST * draws as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{ChainRng, Stream};

    /// Chains of the autoregression x′ = a x + √(1 − a²) z from its own distribution; each draw is worth (1 − a)/(1 + a).
    fn chains(a: f64, draws: usize, seed: u64) -> Vec<Vec<f64>> {
        let normal = |rng: &mut ChainRng| (0..12).map(|_| rng.uniform()).sum::<f64>() - 6.0;
        let chain = |number| {
            let mut rng = ChainRng::new(seed, Stream::Chain(number));
            let mut x = normal(&mut rng);
            let next = |_| {
                x = a * x + (1.0 - a * a).sqrt() * normal(&mut rng);
                x
            };
            (0..draws).map(next).collect()
        };
        (0..8).map(chain).collect()
    }

    /// The mean over seeds of the logarithm of what is found over what is right, and its spread.
    fn error(a: f64, draws: usize) -> (f64, f64) {
        let right = 8.0 * draws as f64 * (1.0 - a) / (1.0 + a);
        let off = |seed| (effective_draws(&chains(a, draws, seed)).unwrap() / right).ln();
        let all: Vec<f64> = (0..40).map(off).collect();
        let mean = all.iter().sum::<f64>() / 40.0;
        (mean, (all.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / 40.0).sqrt())
    }

    #[test]
    fn known_memories_are_found() {
        for (a, draws, bias, spread) in [
            (0.0, 200, 0.1, 0.2),
            (-0.5, 200, 0.2, 0.4),
            (0.8, 400, 0.2, 0.3),
            (0.98, 1000, 0.3, 0.4),
            // A memory of 400 draws, seen for 100: right by a factor of e, most of the time.
            (0.995, 100, 0.5, 1.1),
        ] {
            let (mean, deviation) = error(a, draws);
            assert!(mean.abs() < bias && deviation < spread, "{a}: {mean} ± {deviation}");
        }
    }

    #[test]
    fn slow_chains_are_told_from_very_slow_ones() {
        let worth = |a| {
            let of = |seed| effective_draws(&chains(a, 60, seed)).unwrap().ln();
            ((0..20).map(of).sum::<f64>() / 20.0).exp()
        };
        // Both remember for longer than they were watched, and one ten times longer than the other.
        assert!(worth(0.98) > 4.0 * worth(0.998), "{} {}", worth(0.98), worth(0.998));
    }

    #[test]
    fn what_stays_in_its_places_is_worth_next_to_nothing() {
        let apart: Vec<Vec<f64>> = (0..8).map(|n| vec![f64::from(n); 50]).collect();
        assert!(effective_draws(&apart).unwrap() < 0.5);
        assert_eq!(effective_draws(&[vec![1.0; 50], vec![1.0; 50]]), None);
        assert_eq!(effective_draws(&[]), None);
    }
}
