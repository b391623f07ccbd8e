//! One stream of random numbers per chain, keyed by (seed, chain), filled in bulk.

#[cfg(test)]
pub(crate) mod script;

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The random stream of one chain: xoshiro256++ keyed by the run's seed and a stream number.
///
/// The generator is part of the results' contract: the same seed gives the same draws on every
/// machine and for every number of threads, so replacing it is a breaking change.
#[derive(Clone, Debug)]
pub struct ChainRng {
    generator: Xoshiro256PlusPlus,
    /// In tests, decisions can be dictated instead of drawn, to enumerate all of them.
    #[cfg(test)]
    script: Option<script::Script>,
}

/// What a stream is for, so that chains, models and references never share one.
#[derive(Clone, Copy, Debug)]
pub enum Stream {
    /// The transitions and the start of one chain.
    Chain(u64),
    /// The reference state that distances are measured to.
    Reference,
    /// The random parameters of a model.
    Model,
}

impl ChainRng {
    /// The stream of that purpose under that seed.
    pub fn new(seed: u64, stream: Stream) -> Self {
        let (purpose, number) = match stream {
            Stream::Chain(chain) => (1, chain),
            Stream::Reference => (2, 0),
            Stream::Model => (3, 0),
        };
        // Four words of key, each a mix of all three inputs: distinct inputs give unrelated
        // 256-bit states, and the all-zero state that xoshiro must avoid cannot occur by choice.
        let mut key = [0u8; 32];
        let mut state = mix(seed ^ mix(number.wrapping_mul(4).wrapping_add(purpose)));
        for word in key.chunks_exact_mut(8) {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            word.copy_from_slice(&mix(state).to_le_bytes());
        }
        Self {
            generator: Xoshiro256PlusPlus::from_seed(key),
            #[cfg(test)]
            script: None,
        }
    }

    /// Fills `out` with uniform 32-bit words, two from each 64-bit output.
    pub fn fill(&mut self, out: &mut [u32]) {
        let mut pairs = out.chunks_exact_mut(2);
        for pair in &mut pairs {
            let word = self.generator.next_u64();
            pair[0] = word as u32;
            pair[1] = (word >> 32) as u32;
        }
        if let [last] = pairs.into_remainder() {
            *last = self.generator.next_u64() as u32;
        }
    }

    /// A uniform number in (0, 1), never 0 and never 1, with 53 bits.
    pub fn uniform(&mut self) -> f64 {
        ((self.generator.next_u64() >> 11) as f64 + 0.5) * (1.0 / (1u64 << 53) as f64)
    }

    /// True with that probability.
    pub fn flip(&mut self, probability: f64) -> bool {
        #[cfg(test)]
        if let Some(script) = &mut self.script {
            return script.choose(&[probability, 1.0 - probability]) == 0;
        }
        self.uniform() < probability
    }

    /// A uniform integer below `n`, without bias.
    pub fn below(&mut self, n: usize) -> usize {
        debug_assert!(n > 0);
        #[cfg(test)]
        if let Some(script) = &mut self.script {
            return script.choose(&vec![1.0; n]);
        }
        // Lemire's method: the product's high word is uniform once the few low words that
        // would make some results likelier are drawn again.
        let n = n as u64;
        loop {
            let product = u128::from(self.generator.next_u64()) * u128::from(n);
            if product as u64 >= n.wrapping_neg() % n {
                return (product >> 64) as usize;
            }
        }
    }

    /// The index drawn with probability proportional to `weights`, which sum to `total`.
    pub fn index<'w>(&mut self, weights: impl IntoIterator<Item = &'w f64>, total: f64) -> usize {
        #[cfg(test)]
        if let Some(script) = &mut self.script {
            return script.choose(&weights.into_iter().copied().collect::<Vec<_>>());
        }
        let mut left = self.uniform() * total;
        // If rounding uses up the total, the last index that can be drawn at all.
        let mut last = 0;
        for (index, weight) in weights.into_iter().enumerate() {
            if *weight > 0.0 {
                last = index;
                if left < *weight {
                    break;
                }
                left -= weight;
            }
        }
        last
    }

    /// `picked.len()` distinct numbers below `n`, in random order.
    ///
    /// # Panics
    /// If more numbers are asked for than there are.
    pub fn distinct(&mut self, n: usize, picked: &mut [u32]) {
        assert!(picked.len() <= n, "cannot pick {} distinct of {n}", picked.len());
        if picked.len() * 16 > n {
            let mut all: Vec<u32> = (0..n as u32).collect();
            for index in 0..picked.len() {
                let other = index + self.below(n - index);
                all.swap(index, other);
                picked[index] = all[index];
            }
        } else {
            // Few of many: draw again on a repeat, which is rare, instead of listing all.
            for index in 0..picked.len() {
                picked[index] = loop {
                    let candidate = self.below(n) as u32;
                    if !picked[..index].contains(&candidate) {
                        break candidate;
                    }
                };
            }
        }
    }

    /// The underlying generator, for crates that draw from `rand`'s traits.
    pub fn generator(&mut self) -> &mut impl Rng {
        &mut self.generator
    }
}

/// The finaliser of SplitMix64: every input bit reaches every output bit.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A uniform word as a number in (0, 1) that keeps its 32-bit resolution near zero.
///
/// The largest words would round to 1; they are held just below, so that an event of
/// probability one always happens.
#[inline(always)]
pub(crate) fn unit(word: u32) -> f32 {
    const BELOW_ONE: f32 = 1.0 - f32::EPSILON / 2.0;
    ((word as f32 + 0.5) * (1.0 / 4_294_967_296.0)).min(BELOW_ONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_and_repeat() {
        let draw = |seed, stream| ChainRng::new(seed, stream).uniform();
        assert_eq!(draw(1, Stream::Chain(0)), draw(1, Stream::Chain(0)));
        let all = [
            draw(1, Stream::Chain(0)),
            draw(1, Stream::Chain(1)),
            draw(2, Stream::Chain(0)),
            draw(1, Stream::Reference),
            draw(1, Stream::Model),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
    }

    #[test]
    fn the_unit_interval_is_open() {
        assert!(unit(0) > 0.0);
        assert!(unit(u32::MAX) < 1.0);
        assert!((unit(1 << 31) - 0.5).abs() < 1e-7);
    }

    #[test]
    fn distinct_numbers_are_distinct_and_uniform() {
        let mut rng = ChainRng::new(3, Stream::Chain(0));
        for (n, r) in [(5, 3), (100, 3)] {
            let mut counts = vec![0u32; n];
            let mut picked = vec![0; r];
            for _ in 0..20_000 {
                rng.distinct(n, &mut picked);
                for (i, a) in picked.iter().enumerate() {
                    counts[*a as usize] += 1;
                    assert!(!picked[..i].contains(a));
                }
            }
            let expected = 20_000.0 * r as f64 / n as f64;
            for count in counts {
                assert!((f64::from(count) - expected).abs() < 6.0 * expected.sqrt());
            }
        }
    }

    #[test]
    fn an_index_follows_its_weights() {
        let mut rng = ChainRng::new(4, Stream::Chain(0));
        let weights = [1.0, 0.0, 3.0];
        let mut counts = [0u32; 3];
        for _ in 0..40_000 {
            counts[rng.index(&weights, 4.0)] += 1;
        }
        assert_eq!(counts[1], 0);
        assert!((f64::from(counts[0]) - 10_000.0).abs() < 600.0);
    }
}
