//! The streams of sixteen chains side by side, so that a register holds the same word of each.

use super::{ChainRng, LANES, is_coarse, round, unit};
use pulp::{Simd, WithSimd};

/// Chains whose streams advance together.
pub(crate) const CHAINS: usize = 16;

/// The generators of sixteen chains: words of their states, by generator, number of the word and
/// chain. Every chain gets the words that its own stream would give it.
#[derive(Clone, Debug)]
pub(crate) struct LaneRngs {
    states: [[[u32; CHAINS]; 4]; LANES],
}

impl LaneRngs {
    /// The generators of at most sixteen streams; lanes without a chain repeat the first.
    pub(crate) fn new(rngs: &[ChainRng]) -> Self {
        let mut lanes = Self { states: [[[0; CHAINS]; 4]; LANES] };
        for chain in 0..CHAINS {
            lanes.take(chain, rngs.get(chain).unwrap_or(&rngs[0]));
        }
        lanes
    }

    /// Takes over the generators of a chain.
    fn take(&mut self, chain: usize, rng: &ChainRng) {
        for (number, words) in rng.state.iter().enumerate() {
            for (generator, word) in words.iter().enumerate() {
                self.states[generator][number][chain] = *word;
            }
        }
    }

    /// Gives the generators of a chain back to its stream.
    fn give(&self, chain: usize, rng: &mut ChainRng) {
        for (number, words) in rng.state.iter_mut().enumerate() {
            for (generator, word) in words.iter_mut().enumerate() {
                *word = self.states[generator][number][chain];
            }
        }
    }

    /// Gives all generators back to their streams.
    pub(crate) fn give_back(&self, rngs: &mut [ChainRng]) {
        for (chain, rng) in rngs.iter_mut().enumerate() {
            self.give(chain, rng);
        }
    }

    /// Fills `out` with the words that [`ChainRng::fill`] would give each chain.
    fn fill(&mut self, out: &mut [[u32; CHAINS]]) {
        pulp::Arch::new().dispatch(FillLanes { states: &mut self.states, out });
    }

    /// Fills `out` with the uniform numbers that `fill_uniform` would give each chain. Numbers that
    /// lack bits get them from the chain's own stream.
    pub(crate) fn fill_uniform(
        &mut self,
        rngs: &mut [ChainRng],
        words: &mut [[u32; CHAINS]],
        out: &mut [[f32; CHAINS]],
    ) {
        self.fill(words);
        if crate::math::vectorised(
            #[inline(always)]
            || units(words, out),
        ) {
            self.refine(rngs, words, out);
        }
    }

    #[cold]
    fn refine(
        &mut self,
        rngs: &mut [ChainRng],
        words: &[[u32; CHAINS]],
        out: &mut [[f32; CHAINS]],
    ) {
        for (chain, rng) in rngs.iter_mut().enumerate() {
            let own: Vec<u32> = words.iter().map(|words| words[chain]).collect();
            if !own.iter().any(|word| is_coarse(*word)) {
                continue;
            }
            let mut uniforms = vec![0.0; own.len()];
            self.give(chain, rng);
            rng.refine(&own, &mut uniforms);
            self.take(chain, rng);
            for (out, uniform) in out.iter_mut().zip(uniforms) {
                out[chain] = uniform;
            }
        }
    }
}

/// Words as numbers in (0, 1); whether some of them lack bits.
#[inline(always)]
fn units(words: &[[u32; CHAINS]], out: &mut [[f32; CHAINS]]) -> bool {
    let (words, out) = (words.as_flattened(), out.as_flattened_mut());
    let mut coarse = 0u32;
    for (out, word) in out.iter_mut().zip(words) {
        *out = unit(*word);
        coarse += u32::from(is_coarse(*word));
    }
    coarse > 0
}

struct FillLanes<'a> {
    states: &'a mut [[[u32; CHAINS]; 4]; LANES],
    out: &'a mut [[u32; CHAINS]],
}

impl WithSimd for FillLanes<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match S::U32_LANES {
            16 => self.rounds::<S, 1>(simd),
            8 => self.rounds::<S, 2>(simd),
            4 => self.rounds::<S, 4>(simd),
            2 => self.rounds::<S, 8>(simd),
            _ => self.rounds::<S, 16>(simd),
        }
    }
}

impl FillLanes<'_> {
    #[inline(always)]
    fn rounds<S: Simd, const VECTORS: usize>(self, simd: S) {
        for (generator, words) in self.states.iter_mut().enumerate() {
            let mut state = [[simd.splat_u32s(0); VECTORS]; 4];
            for (registers, words) in state.iter_mut().zip(words.iter()) {
                registers.copy_from_slice(S::as_simd_u32s(words).0);
            }
            for out in self.out.chunks_mut(LANES) {
                let drawn = round(simd, &mut state);
                // The last round is a whole one, too, whatever is left of it.
                if let Some(out) = out.get_mut(generator) {
                    S::as_mut_simd_u32s(out).0.copy_from_slice(&drawn);
                }
            }
            for (words, registers) in words.iter_mut().zip(state) {
                words.copy_from_slice(pulp::bytemuck::cast_slice(&registers));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{COARSE, Stream};

    #[test]
    fn every_chain_gets_the_numbers_of_its_own_stream() {
        for chains in [1, 5, 16] {
            let streams = |chain| ChainRng::new(3, Stream::Chain(chain as u64));
            let mut rngs: Vec<ChainRng> = (0..chains).map(streams).collect();
            let mut alone = rngs.clone();
            let mut lanes = LaneRngs::new(&rngs);
            for length in [64, 16, 7, 1, 33, 64] {
                let mut words = vec![[0; CHAINS]; length];
                let mut uniforms = vec![[0.0; CHAINS]; length];
                lanes.fill_uniform(&mut rngs, &mut words, &mut uniforms);
                for (chain, rng) in alone.iter_mut().enumerate() {
                    let (mut own_words, mut own) = (vec![0; length], vec![0.0; length]);
                    rng.fill_uniform(&mut own_words, &mut own);
                    for place in 0..length {
                        assert_eq!(words[place][chain], own_words[place]);
                        assert_eq!(uniforms[place][chain], own[place]);
                    }
                }
            }
            lanes.give_back(&mut rngs);
            for (rng, alone) in rngs.iter_mut().zip(&mut alone) {
                assert_eq!(rng.uniform(), alone.uniform());
            }
        }
    }

    #[test]
    fn numbers_that_lack_bits_get_those_of_the_chain_itself() {
        let stream = |chain| ChainRng::new(5, Stream::Chain(chain));
        let mut rngs: Vec<ChainRng> = (0..3).map(stream).collect();
        let mut alone = rngs.clone();
        let mut lanes = LaneRngs::new(&rngs);
        let words = [[7, COARSE, 9].map(|word| word + 1), [1 << 20, 3, 1 << 30]].map(|row| {
            let mut words = [1 << 31; CHAINS];
            words[..3].copy_from_slice(&row);
            words
        });
        let mut uniforms = [[0.0; CHAINS]; 2];
        assert!(units(&words, &mut uniforms));
        lanes.refine(&mut rngs, &words, &mut uniforms);
        for (chain, rng) in alone.iter_mut().enumerate() {
            let own = words.map(|words| words[chain]);
            let mut expected = [0.0; 2];
            rng.refine(&own, &mut expected);
            assert_eq!(uniforms.map(|row| row[chain]), expected);
        }
        lanes.give_back(&mut rngs);
        for (rng, alone) in rngs.iter_mut().zip(&mut alone) {
            assert_eq!(rng.uniform(), alone.uniform());
        }
    }
}
