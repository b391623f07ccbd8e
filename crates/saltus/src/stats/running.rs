//! Estimates of effective draws and R-hat while draws come in, in memory that does not grow with them.
//!
//! A series is cut into batches of equal length; when there are too many, neighbours are joined. The
//! means of batches that are longer than the chain remembers are as good as independent, and their
//! spread tells what a draw is worth (Glynn and Whitt 1991). Draws may count by weights; what is
//! estimated then is the ratio of the weighted sum to the sum of the weights.

use serde::{Deserialize, Serialize};

/// Batches before neighbours are joined; half as many after that.
const MOST_BATCHES: usize = 64;

/// Sums over the draws of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Batch {
    weight: f64,
    sum: f64,
    squares: f64,
}

impl Batch {
    fn add(&mut self, other: &Self) {
        self.weight += other.weight;
        self.sum += other.sum;
        self.squares += other.squares;
    }

    fn mean(&self) -> f64 {
        self.sum / self.weight
    }

    fn variance(&self) -> f64 {
        (self.squares / self.weight - self.mean() * self.mean()).max(0.0)
    }
}

/// The draws of one observable of one chain so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Running {
    /// Taken from every draw, so that squares of large numbers do not swallow their differences.
    origin: Option<f64>,
    batches: Vec<Batch>,
    /// Draws of a batch.
    length: u64,
    current: Batch,
    /// Draws of the current batch.
    filled: u64,
}

impl Default for Running {
    fn default() -> Self {
        Self { origin: None, batches: Vec::new(), length: 1, current: Batch::default(), filled: 0 }
    }
}

impl Running {
    /// Takes in the next draw, which counts by a weight.
    #[inline]
    pub fn push(&mut self, value: f64, weight: f64) {
        let value = value - *self.origin.get_or_insert(value);
        let weighted = weight * value;
        self.current.weight += weight;
        self.current.sum += weighted;
        self.current.squares += weighted * value;
        self.filled += 1;
        if self.filled == self.length {
            self.close();
        }
    }

    #[cold]
    fn close(&mut self) {
        self.batches.push(std::mem::take(&mut self.current));
        self.filled = 0;
        if self.batches.len() == MOST_BATCHES {
            let (pairs, _) = self.batches.as_chunks_mut::<2>();
            let joined = pairs.iter().map(|[one, other]| {
                let mut both = *one;
                both.add(other);
                both
            });
            self.batches = joined.collect();
            self.length *= 2;
        }
    }

    fn total(batches: &[Batch]) -> Batch {
        let mut total = Batch::default();
        batches.iter().for_each(|batch| total.add(batch));
        total
    }

    /// All whole batches, with values counted from somewhere else.
    fn total_from(&self, origin: f64) -> Batch {
        let Batch { weight, sum, squares } = Self::total(&self.batches);
        let shift = self.origin.unwrap_or(0.0) - origin;
        Batch {
            weight,
            sum: sum + shift * weight,
            squares: squares + 2.0 * shift * sum + shift * shift * weight,
        }
    }

    /// Means and variances of the two halves, and draws of each.
    fn halves(&self) -> Option<[(f64, f64); 2]> {
        let middle = self.batches.len() / 2;
        if middle < 2 {
            return None;
        }
        let origin = self.origin.unwrap_or(0.0);
        let half = |batches: &[Batch]| {
            let total = Self::total(batches);
            (origin + total.mean(), total.variance())
        };
        Some([half(&self.batches[..middle]), half(&self.batches[middle..2 * middle])])
    }
}

/// Batches of a chain below which their spread says too little.
const FEWEST_BATCHES: usize = 4;

/// Effective draws of all chains together; 0 if nothing ever changed or there are too few draws.
///
/// Batches that are shorter than the chains remember make draws look worth more than they are, so
/// their spread is looked at in batches of every length, up to whole chains, and the worst counts.
pub fn running_ess<'a>(chains: impl IntoIterator<Item = &'a Running>) -> f64 {
    let chains: Vec<&Running> = chains.into_iter().collect();
    let origin = chains.first().and_then(|chain| chain.origin).unwrap_or(0.0);
    let totals: Vec<Batch> = chains.iter().map(|chain| chain.total_from(origin)).collect();
    let all = Running::total(&totals);
    if chains.iter().any(|chain| chain.batches.len() < MOST_BATCHES / 4) || all.weight <= 0.0 {
        return 0.0;
    }
    let variance = all.variance();
    // Chains that stand still are worth nothing, also at different places.
    if totals.iter().all(|chain| chain.variance() <= 0.0) {
        return 0.0;
    }
    // Squared deviation of Σ w(x − mean), from the deviations of so many independent parts of it.
    let spread = |parts: &mut dyn Iterator<Item = f64>| {
        let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for part in parts {
            count += 1.0;
            sum += part;
            squares += part * part;
        }
        (squares - sum * sum / count) * count / (count - 1.0)
    };
    let mut worst: f64 = 0.0;
    let mut joined = 1;
    while chains.iter().all(|chain| chain.batches.len() / joined >= FEWEST_BATCHES) {
        let of_chain = |chain: &&Running| {
            let own = Running::total(&chain.batches).mean();
            let parts = chain.batches.chunks_exact(joined).map(|batches| {
                let batch = Running::total(batches);
                batch.sum - own * batch.weight
            });
            spread(&mut { parts })
        };
        worst = worst.max(chains.iter().map(of_chain).sum());
        joined *= 2;
    }
    if chains.len() >= FEWEST_BATCHES {
        let mean = all.mean();
        let mut parts = totals.iter().map(|chain| chain.sum - mean * chain.weight);
        worst = worst.max(spread(&mut parts));
    }
    let draws: f64 =
        chains.iter().map(|chain| chain.length as f64 * chain.batches.len() as f64).sum();
    if worst <= 0.0 { 0.0 } else { (variance * all.weight * all.weight / worst).min(draws) }
}

/// Split R-hat of all chains; none if there are too few draws, infinite if they stand still at
/// different places.
pub fn running_rhat<'a>(chains: impl IntoIterator<Item = &'a Running>) -> Option<f64> {
    let mut halves = Vec::new();
    let mut draws = 0.0;
    for chain in chains {
        halves.extend(chain.halves()?);
        draws = (chain.batches.len() / 2) as f64 * chain.length as f64;
    }
    let count = halves.len() as f64;
    if count < 2.0 {
        return None;
    }
    let within = halves.iter().map(|(_, variance)| variance).sum::<f64>() / count;
    let mean = halves.iter().map(|(mean, _)| mean).sum::<f64>() / count;
    let between = halves.iter().map(|(own, _)| (own - mean).powi(2)).sum::<f64>() / (count - 1.0);
    if within <= 0.0 {
        return (between > 0.0).then_some(f64::INFINITY);
    }
    Some(((draws - 1.0) / draws + between / within).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{ChainRng, Stream};

    /// A first-order autoregressive series, whose draws are worth (1 − φ)/(1 + φ) each.
    fn series(phi: f64, draws: usize, seed: u64, shift: f64) -> Running {
        let mut rng = ChainRng::new(seed, Stream::Reference);
        let mut running = Running::default();
        let mut value = 0.0;
        for _ in 0..draws {
            // A sum of twelve uniforms is normal enough.
            let noise: f64 = (0..12).map(|_| rng.uniform()).sum::<f64>() - 6.0;
            value = phi * value + (1.0 - phi * phi).sqrt() * noise;
            running.push(value + shift, 1.0);
        }
        running
    }

    #[test]
    fn effective_draws_are_those_of_the_series() {
        for (phi, share) in [(0.0, 1.0), (0.5, 1.0 / 3.0), (0.9, 0.1 / 1.9)] {
            let chains: Vec<Running> = (0..40).map(|seed| series(phi, 20_000, seed, 1e6)).collect();
            let exact = 40.0 * 20_000.0 * share;
            // The worst of several estimates, the coarsest from 40 chains: a little low, and never
            // much too high.
            let found = running_ess(&chains);
            assert!((0.6..1.1).contains(&(found / exact)), "{phi}: {found} {exact}");
            let rhat = running_rhat(&chains).unwrap();
            assert!(rhat < 1.02, "{rhat}");
        }
        let apart = [series(0.5, 5000, 1, 0.0), series(0.5, 5000, 2, 3.0)];
        assert!(running_rhat(&apart).unwrap() > 1.5);
    }

    #[test]
    fn what_stands_still_is_worth_nothing() {
        let mut chains = [Running::default(), Running::default()];
        assert_eq!((running_ess(&chains), running_rhat(&chains)), (0.0, None));
        for (chain, value) in chains.iter_mut().zip([1.0, 2.0]) {
            (0..1000).for_each(|_| chain.push(value, 1.0));
        }
        assert_eq!(running_ess(&chains), 0.0);
        assert_eq!(running_rhat(&chains), Some(f64::INFINITY));
    }

    #[test]
    fn weights_of_a_jump_process_count() {
        // Two states, of which the second is stayed in three times as long: an independent draw of
        // either state by turns is no information beyond the first two.
        let mut rng = ChainRng::new(3, Stream::Reference);
        let mut running = Running::default();
        for _ in 0..4000 {
            let up = rng.flip(0.5);
            running.push(f64::from(u8::from(up)), if up { 3.0 } else { 1.0 });
        }
        // var(ratio)·n: mean weight 2; residual w(x − ¾) is ¾ or −¾; 9/16 / 4 against 3/16.
        let exact: f64 = 4000.0 * (3.0 / 16.0) / (9.0 / 64.0);
        let found = running_ess(&[running]);
        assert!((found / exact.min(4000.0) - 1.0).abs() < 0.6, "{found} {exact}");
    }
}
