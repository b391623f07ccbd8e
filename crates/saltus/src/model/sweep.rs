//! What a model needs to redraw the chains of a block together, and what it says it did.

use super::Rung;
use crate::base::Base;
use crate::rng::ChainRng;

/// The chains of a block that a model redraws, field by field.
#[derive(Debug)]
pub struct SweptChains<'a> {
    /// One row of bytes per chain.
    pub states: &'a mut [u8],
    /// The inverse temperature of each; not read where there is no base.
    pub betas: &'a [f64],
    /// The independent sites at β = 0; without them all chains are at the model itself.
    pub base: Option<&'a Base>,
    /// The random stream of each.
    pub rngs: &'a mut [ChainRng],
    /// What the sweep did to each, to be filled in.
    pub done: &'a mut [Sweep],
}

/// What a model's own sweep did to one chain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sweep {
    /// Number of sites that hold another value than before.
    pub changed: u32,
    /// log π of the model afterwards, whatever the rung.
    pub log_prob: f64,
}

impl<'a> SweptChains<'a> {
    /// Whether a rung does nothing but multiply log π: all chains are at the model itself, or on a
    /// path from uniform values.
    pub fn is_multiple_of_model(&self) -> bool {
        self.base.is_none_or(Base::is_uniform)
    }

    /// Redraws one chain after the other: state, rung, stream, and what was done.
    pub fn one_by_one(self, mut sweep: impl FnMut(&mut [u8], Rung<'a>, &mut ChainRng) -> Sweep) {
        let sites = self.states.len() / self.rngs.len().max(1);
        let Self { states, betas, base, rngs, done } = self;
        let rows = states.chunks_exact_mut(sites.max(1)).zip(betas).zip(rngs);
        for (((state, beta), rng), done) in rows.zip(done) {
            *done = sweep(state, Rung { beta: *beta, base }, rng);
        }
    }
}
