//! Sweeps and differences of sixteen chains at once: states are turned round, so that a site of all chains
//! stands in one register, and so do its neighbours on any graph.

pub(crate) mod differences;
pub(crate) mod fhmm;
pub(crate) mod ising;
pub(crate) mod potts;
pub(crate) mod transposed;
pub(crate) mod values;

use super::{Sweep, SweptChains};
use crate::adjacency::Adjacency;
use crate::rng::ChainRng;
pub(crate) use crate::rng::lanes::CHAINS;
use crate::rng::lanes::LaneRngs;

/// Sites whose random numbers are drawn together.
pub(crate) const TILE: usize = 64;

/// One number of each of sixteen chains.
pub(crate) type Lane<T> = [T; CHAINS];

/// Logits are held within this of zero, where exponentials are normal numbers.
pub(crate) const SHARPEST: f32 = 80.0;

/// Random numbers of sixteen chains, a tile of sites at a time.
pub(crate) struct LaneUniforms<'a> {
    lanes: LaneRngs,
    rngs: &'a mut [ChainRng],
    words: [Lane<u32>; TILE],
    uniforms: [Lane<f32>; TILE],
}

impl<'a> LaneUniforms<'a> {
    /// Numbers from the streams of at most sixteen chains.
    pub(crate) fn new(rngs: &'a mut [ChainRng]) -> Self {
        let lanes = LaneRngs::new(rngs);
        Self { lanes, rngs, words: [[0; CHAINS]; TILE], uniforms: [[0.0; CHAINS]; TILE] }
    }

    /// A number in (0, 1) of each chain for each of the next sites, at most a tile of them.
    #[inline(never)]
    pub(crate) fn draw(&mut self, sites: usize) -> &[Lane<f32>] {
        let Self { lanes, rngs, words, uniforms } = self;
        lanes.fill_uniform(rngs, &mut words[..sites], &mut uniforms[..sites]);
        &uniforms[..sites]
    }

    /// The streams go on from here.
    pub(crate) fn end(self) {
        self.lanes.give_back(self.rngs);
    }
}

/// What is counted of each of sixteen chains during a sweep.
pub(crate) struct Tally {
    pub(crate) log_prob: Lane<f64>,
    pub(crate) changed: Lane<u32>,
}

impl Tally {
    pub(crate) const ZERO: Self = Self { log_prob: [0.0; CHAINS], changed: [0; CHAINS] };
}

/// Sixteen chains or what is left of them: their states, what multiplies log π on the rung of each, their
/// streams, and what the sweep did.
pub(crate) struct Group<'a> {
    pub(crate) states: &'a mut [u8],
    pub(crate) factors: Lane<f32>,
    pub(crate) rngs: &'a mut [ChainRng],
    pub(crate) done: &'a mut [Sweep],
}

impl Tally {
    /// Says what a sweep did to each chain.
    pub(crate) fn write(&self, constant: f64, done: &mut [Sweep]) {
        for (chain, done) in done.iter_mut().enumerate() {
            let log_prob = constant + self.log_prob[chain];
            *done = Sweep { changed: self.changed[chain], log_prob };
        }
    }
}

/// Sweeps all chains of a block, sixteen at a time.
pub(crate) fn by_groups(chains: SweptChains<'_>, sites: usize, mut sweep: impl FnMut(Group<'_>)) {
    let SweptChains { states, betas, base, rngs, done } = chains;
    let rows = states.chunks_mut(CHAINS * sites).zip(betas.chunks(CHAINS));
    let rest = rngs.chunks_mut(CHAINS).zip(done.chunks_mut(CHAINS));
    for ((states, betas), (rngs, done)) in rows.zip(rest) {
        let mut factors = [1.0; CHAINS];
        if base.is_some() {
            factors.iter_mut().zip(betas).for_each(|(factor, beta)| *factor = *beta as f32);
        }
        sweep(Group { states, factors, rngs, done });
    }
}

/// Sites colour by colour, so that none waits for the one before it; within a colour by their numbers
/// of neighbours visited before and after, so that the processor can foresee how long loops are.
pub(crate) fn order(adjacency: &Adjacency) -> impl Iterator<Item = usize> {
    let colours = adjacency.colours();
    let mut colour_of = vec![0; adjacency.sites()];
    for (colour, sites) in colours.iter().enumerate() {
        sites.iter().for_each(|site| colour_of[*site as usize] = colour);
    }
    let lengths = move |site: u32| {
        let others = adjacency.neighbours(site as usize);
        let own = colour_of[site as usize];
        let before = others.iter().filter(|other| colour_of[**other as usize] < own).count();
        (before, others.len())
    };
    colours.into_iter().flat_map(move |mut sites| {
        sites.sort_by_cached_key(|site| lengths(*site));
        sites.into_iter().map(|site| site as usize)
    })
}

/// Bytes as numbers of the width that logits have.
#[inline(always)]
pub(crate) fn widened(bytes: &Lane<u8>) -> Lane<u32> {
    let mut wide = [0; CHAINS];
    for lane in 0..CHAINS {
        wide[lane] = u32::from(bytes[lane]);
    }
    wide
}

/// The same as bytes.
#[inline(always)]
pub(crate) fn narrowed(wide: &Lane<u32>) -> Lane<u8> {
    let mut bytes = [0; CHAINS];
    for lane in 0..CHAINS {
        bytes[lane] = wide[lane] as u8;
    }
    bytes
}
