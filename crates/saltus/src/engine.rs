//! One engine under runs, annealing and training: blocks of chains with their kernels, moved on all
//! threads, stopped at the same step whatever their number.

mod block;
mod checkpoint;
mod fingerprint;

pub(crate) use block::panic_words;
pub use block::{
    ChainBlock, Failed, SamplerBlock, block_ranges, each, kernel_block, sampler_block,
};
pub use checkpoint::ChainSnapshot;
pub(crate) use checkpoint::Checkpoint;
pub(crate) use fingerprint::{Fingerprint, probes};
