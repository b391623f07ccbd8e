//! One stream of random numbers per chain, keyed by (seed, chain), filled in bulk.

pub(crate) mod lanes;
#[cfg(test)]
pub(crate) mod script;

use crate::math::smaller;
use pulp::{Simd, WithSimd};
use rand::TryRng;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;

/// The random stream of one chain: sixteen xoshiro128++ generators side by side, whose outputs take
/// turns.
///
/// 32-bit generators advance together in vector registers, at a fraction of the cost of a scalar
/// one. The key of the lanes is a hash of the run's seed and the stream's
/// number; its authors report that xoshiro128++ passes BigCrush (Blackman and Vigna 2021).
///
/// The generator is part of the results' contract: the same seed gives the same draws for every
/// number of threads, so replacing it is a breaking change.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ChainRng {
    state: [[u32; LANES]; 4],
    /// Words of the last round that single draws have not taken yet.
    left_over: [u32; LANES],
    left: usize,
    /// In tests, decisions can be dictated instead of drawn, to enumerate all of them.
    #[cfg(test)]
    #[serde(skip)]
    script: Option<script::Script>,
}

/// Generators side by side.
const LANES: usize = 16;

/// What a stream is for, so that chains, models and references never share one.
#[derive(Clone, Copy, Debug)]
pub enum Stream {
    /// The transitions and the start of one chain.
    Chain(u64),
    /// The reference state that distances are measured to.
    Reference,
    /// The random parameters of a model.
    Model,
    /// The states at which a model is recognised when a run is resumed.
    Fingerprint,
    /// How a set of examples is parted, or drawn where it has to be drawn to be looked at.
    Data(u64),
    /// One of the streams of tempering: the ensemble, and the chain among all it ever had.
    Tempering(u64, u64),
    /// One of the streams of annealed importance sampling.
    Annealing(Annealing, u64),
    /// One of the streams of learning an RBM.
    Learning(Learning, u64),
    /// One of the streams of a training by iterations: the iteration (or epoch) and the row.
    Training(Training, u64, u64),
}

/// What a stream of annealing is for; the number is that of the chain, example or state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Annealing {
    /// A chain on its way from the base to the model.
    Forward,
    /// A chain on its way back.
    Reverse,
    /// A chain that scales are found with.
    Pilot,
    /// An example that is drawn before annealing.
    Draw,
    /// The hidden units that bound the likelihood of a state.
    Bound,
    /// The hidden units that a state gives a reverse chain to start from.
    HiddenStart,
    /// The sites that are drawn below hidden units.
    Sites,
}

/// What a stream of learning an RBM is for; the number is that of the row or sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learning {
    /// The initial weights.
    Weights,
    /// The order of the examples.
    Order,
    /// An example of a batch and its chain.
    Chain,
    /// A sample drawn after training.
    Sample,
}

/// What a stream of a training by iterations is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Training {
    /// The first content of the replay buffer.
    Buffer,
    /// The slots of the buffer that an iteration takes.
    Slots,
    /// A chain of an iteration.
    Chain,
    /// The bits of an example of an iteration, if they have to be drawn.
    Example,
    /// The order of the examples in an epoch.
    Order,
    /// The latent noise of an update of an autoencoder.
    Noise,
    /// The draws from which an autoencoder's bound at an image is made.
    Bound,
    /// A sample of an autoencoder.
    Sample,
}

/// Most iterations and rows of a training that have streams of their own.
pub const MOST_OF_TRAINING: (usize, usize) = (1 << 32, 1 << 24);

impl Stream {
    /// The purpose and the number that a generator is keyed by; the table is part of the results'
    /// contract. No two streams of one computation share both. (Data, learning an RBM and
    /// training by iterations do, but nobody does two of them under one seed.)
    fn key(self) -> (u64, u64) {
        /// Behind all chains of annealing; these are fewer, since each takes memory.
        const OF_NETWORKS: u64 = 1 << 60;
        match self {
            Self::Chain(chain) => (1, chain),
            Self::Reference => (2, 0),
            Self::Fingerprint => (2, 1),
            // Behind the two above; an ensemble has fewer than 2²⁰ chains.
            Self::Tempering(ensemble, chain) => (2, 2 + (ensemble << 20) + chain),
            Self::Model => (3, 0),
            Self::Data(number) => (0, number),
            Self::Annealing(purpose, number) => {
                let number = match purpose {
                    Annealing::Forward => 4 * number,
                    Annealing::Reverse => 4 * number + 1,
                    Annealing::Pilot => 4 * number + 2,
                    Annealing::Draw => 4 * number + 3,
                    Annealing::Bound => OF_NETWORKS + 4 * number,
                    Annealing::HiddenStart => OF_NETWORKS + 4 * number + 1,
                    Annealing::Sites => OF_NETWORKS + 4 * number + 2,
                };
                // Behind the one number that models take.
                (3, number.wrapping_add(1))
            }
            Self::Learning(purpose, number) => {
                let number = match purpose {
                    Learning::Weights => 0,
                    Learning::Order => 1,
                    Learning::Chain => 2 + 2 * number,
                    Learning::Sample => 3 + 2 * number,
                };
                (0, number)
            }
            Self::Training(purpose, iteration, row) => {
                (0, (iteration << 28) | ((row & 0xFF_FFFF) << 4) | purpose as u64)
            }
        }
    }
}

impl ChainRng {
    /// The stream of that purpose under that seed.
    pub fn new(seed: u64, stream: Stream) -> Self {
        let (purpose, number) = stream.key();
        // Every word of the key mixes all three inputs, so that distinct inputs give unrelated
        // states.
        let mut key = mix(seed ^ mix(number.wrapping_mul(4).wrapping_add(purpose)));
        let mut state = [[0; LANES]; 4];
        for words in state.iter_mut() {
            for pair in words.as_chunks_mut::<2>().0 {
                key = key.wrapping_add(0x9E37_79B9_7F4A_7C15);
                let word = mix(key);
                *pair = [word as u32, (word >> 32) as u32];
            }
        }
        // A lane of four zeros would stay zero for ever.
        for lane in 0..LANES {
            state[0][lane] |= u32::from(state.iter().all(|words| words[lane] == 0));
        }
        Self {
            state,
            left_over: [0; LANES],
            left: 0,
            #[cfg(test)]
            script: None,
        }
    }

    /// Whether a stream that was read from a file could be one.
    pub(crate) fn is_sound(&self) -> bool {
        let alive = |lane| self.state.iter().any(|words: &[u32; LANES]| words[lane] != 0);
        self.left <= LANES && (0..LANES).all(alive)
    }

    /// Fills `out` with uniform words, whole rounds at a time.
    pub fn fill(&mut self, out: &mut [u32]) {
        pulp::Arch::new().dispatch(Fill { state: &mut self.state, out });
    }

    /// Fills `out` with uniform numbers in (0, 1); `words` is scratch space of the same length.
    #[inline(always)]
    pub(crate) fn fill_uniform(&mut self, words: &mut [u32], out: &mut [f32]) {
        self.fill(words);
        let mut coarse = 0u32;
        for (out, word) in out.iter_mut().zip(words.iter()) {
            *out = unit(*word);
            coarse += u32::from(is_coarse(*word));
        }
        if coarse > 0 {
            self.refine(words, out);
        }
    }

    /// The uniform numbers of words, of which some are coarse: those get the bits they lack.
    #[cold]
    pub(crate) fn refine(&mut self, words: &[u32], out: &mut [f32]) {
        for (out, word) in out.iter_mut().zip(words) {
            *out = if is_coarse(*word) {
                ((f64::from(*word) + self.uniform()) / 4_294_967_296.0) as f32
            } else {
                unit(*word)
            };
        }
    }

    fn next_word(&mut self) -> u32 {
        if self.left == 0 {
            let mut words = [0; LANES];
            self.fill(&mut words);
            self.left_over = words;
            self.left = LANES;
        }
        self.left -= 1;
        self.left_over[self.left]
    }

    fn next_long_word(&mut self) -> u64 {
        u64::from(self.next_word()) | (u64::from(self.next_word()) << 32)
    }

    /// A key for streams of parts of what this stream is for.
    pub(crate) fn key(&mut self) -> u64 {
        self.next_long_word()
    }

    /// A uniform number in (0, 1), never 0 and never 1, with 53 bits.
    pub fn uniform(&mut self) -> f64 {
        ((self.next_long_word() >> 11) as f64 + 0.5) * (1.0 / (1u64 << 53) as f64)
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
            let product = u128::from(self.next_long_word()) * u128::from(n);
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
}

/// Advances all lanes as often as `out` needs words.
struct Fill<'a> {
    state: &'a mut [[u32; LANES]; 4],
    out: &'a mut [u32],
}

impl WithSimd for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // The number of registers across the lanes must be known to the compiler.
        match S::U32_LANES {
            16 => self.rounds::<S, 1>(simd),
            8 => self.rounds::<S, 2>(simd),
            4 => self.rounds::<S, 4>(simd),
            2 => self.rounds::<S, 8>(simd),
            _ => self.rounds::<S, 16>(simd),
        }
    }
}

impl Fill<'_> {
    #[inline(always)]
    fn rounds<S: Simd, const VECTORS: usize>(self, simd: S) {
        let mut state = [[simd.splat_u32s(0); VECTORS]; 4];
        for (registers, words) in state.iter_mut().zip(self.state.iter()) {
            registers.copy_from_slice(S::as_simd_u32s(words).0);
        }
        let (rounds, rest) = self.out.as_chunks_mut::<LANES>();
        for words in rounds {
            S::as_mut_simd_u32s(words).0.copy_from_slice(&round(simd, &mut state));
        }
        if !rest.is_empty() {
            let drawn = round(simd, &mut state);
            let words: &[u32] = pulp::bytemuck::cast_slice(&drawn);
            rest.copy_from_slice(&words[..rest.len()]);
        }
        for (words, registers) in self.state.iter_mut().zip(state) {
            words.copy_from_slice(pulp::bytemuck::cast_slice(&registers));
        }
    }
}

/// One word of every lane.
#[inline(always)]
fn round<S: Simd, const VECTORS: usize>(
    simd: S,
    [s0, s1, s2, s3]: &mut [[S::u32s; VECTORS]; 4],
) -> [S::u32s; VECTORS] {
    let mut words = [simd.splat_u32s(0); VECTORS];
    for v in 0..VECTORS {
        words[v] = simd.add_u32s(rotate_left(simd, simd.add_u32s(s0[v], s3[v]), 7), s0[v]);
        let shifted = simd.wrapping_dyn_shl_u32s(s1[v], simd.splat_u32s(9));
        s2[v] = simd.xor_u32s(s2[v], s0[v]);
        s3[v] = simd.xor_u32s(s3[v], s1[v]);
        s1[v] = simd.xor_u32s(s1[v], s2[v]);
        s0[v] = simd.xor_u32s(s0[v], s3[v]);
        s2[v] = simd.xor_u32s(s2[v], shifted);
        s3[v] = rotate_left(simd, s3[v], 11);
    }
    words
}

#[inline(always)]
fn rotate_left<S: Simd>(simd: S, words: S::u32s, bits: u32) -> S::u32s {
    let high = simd.wrapping_dyn_shl_u32s(words, simd.splat_u32s(bits));
    simd.or_u32s(high, simd.wrapping_dyn_shr_u32s(words, simd.splat_u32s(32 - bits)))
}

/// Lets crates that draw through `rand`'s traits use a stream.
impl TryRng for ChainRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.next_word())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next_long_word())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(4) {
            chunk.copy_from_slice(&self.next_word().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

/// The finaliser of SplitMix64: every input bit reaches every output bit.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A uniform word as a number in (0, 1) with 31 bits.
///
/// (Vector units convert signed integers only; hence 31 bits.) The largest words would round to 1;
/// they are held just below, so that an event of probability one always happens.
#[inline(always)]
pub(crate) fn unit(word: u32) -> f32 {
    const BELOW_ONE: f32 = 1.0 - f32::EPSILON / 2.0;
    smaller(((word >> 1) as i32 as f32 + 0.5) * (1.0 / 2_147_483_648.0), BELOW_ONE)
}

/// Words below this are refined by further bits, so that small uniform numbers are as finely
/// spaced as single precision allows, and an event of probability 1e-12 has that probability.
const COARSE: u32 = 1 << 10;

/// Whether a word is too small to be a uniform number on its own.
#[inline(always)]
pub(crate) fn is_coarse(word: u32) -> bool {
    word < COARSE
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
            draw(1, Stream::Learning(Learning::Weights, 0)),
            draw(1, Stream::Learning(Learning::Chain, 1)),
            draw(1, Stream::Annealing(Annealing::Forward, 0)),
            draw(1, Stream::Annealing(Annealing::Reverse, 0)),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
    }

    #[test]
    fn no_two_purposes_share_a_key() {
        use std::collections::HashSet;
        let annealing = [
            Annealing::Forward,
            Annealing::Reverse,
            Annealing::Pilot,
            Annealing::Draw,
            Annealing::Bound,
            Annealing::HiddenStart,
            Annealing::Sites,
        ];
        let training = [Training::Buffer, Training::Slots, Training::Chain, Training::Sample];
        let mut seen = HashSet::from([Stream::Model.key(), Stream::Reference.key()]);
        seen.insert(Stream::Fingerprint.key());
        for number in (0..100).chain([1 << 20, (1 << 24) - 1]) {
            assert!(seen.insert(Stream::Chain(number).key()));
            for purpose in annealing {
                assert!(seen.insert(Stream::Annealing(purpose, number).key()), "{purpose:?}");
            }
            for purpose in training {
                let key = Stream::Training(purpose, number, number + 1).key();
                assert!(seen.insert(key), "{purpose:?} {number}");
            }
        }
        // Keys are multiplied by four.
        assert!(Stream::Annealing(Annealing::Sites, 1 << 40).key().1 < (1 << 62) - 1);
    }

    #[test]
    fn lanes_are_the_published_generator() {
        use rand::{Rng, SeedableRng};
        let mut rng = ChainRng::new(9, Stream::Chain(3));
        let mut scalar: Vec<_> = (0..LANES)
            .map(|lane| {
                let key = rng.state.map(|words| words[lane].to_le_bytes()).concat();
                rand_xoshiro::Xoshiro128PlusPlus::from_seed(key.try_into().unwrap())
            })
            .collect();
        let mut words = vec![0; 1003];
        rng.fill(&mut words);
        for (position, word) in words.iter().enumerate() {
            assert_eq!(*word, scalar[position % LANES].next_u32(), "word {position}");
        }
    }

    #[test]
    fn the_unit_interval_is_open() {
        assert!(unit(0) > 0.0);
        assert!(unit(u32::MAX) < 1.0);
        assert!((unit(1 << 31) - 0.5).abs() < 1e-7);
    }

    #[test]
    fn small_uniform_numbers_are_finely_spaced() {
        let mut rng = ChainRng::new(2, Stream::Chain(0));
        let (mut words, mut out) = (vec![0; 1 << 16], vec![0.0; 1 << 16]);
        let (mut below, mut far_below, rounds) = (0u32, 0u32, 1 << 11);
        for _ in 0..rounds {
            rng.fill_uniform(&mut words, &mut out);
            below += out.iter().filter(|u| **u < 1e-6).count() as u32;
            far_below += out.iter().filter(|u| **u < 1e-8).count() as u32;
            assert!(out.iter().all(|u| *u > 0.0 && *u < 1.0));
        }
        // 134 million numbers: 134 ± 12 expected below 1e-6 and 1.3 ± 1.2 below 1e-8.
        assert!((80..190).contains(&below) && far_below < 9, "{below} {far_below}");
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
