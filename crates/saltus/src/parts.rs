//! Large states in parts, which threads share: so one chain keeps more than one thread busy. Parts depend on the number of
//! sites alone, and every part of a step draws from a stream of its own, so that results are the same for any number of
//! threads.

use crate::rng::{ChainRng, Stream};
use rayon::prelude::*;

/// Sites of a part: what takes some ten times as long as handing it to another thread.
pub(crate) const PART: usize = 1 << 14;
/// States of fewer sites are not parted.
const LARGE: usize = 1 << 16;

/// Whether a state of so many sites is parted.
pub(crate) fn is_large(sites: usize) -> bool {
    sites >= LARGE
}

/// Into how many parts a state of so many sites falls.
pub(crate) fn count(sites: usize) -> usize {
    if is_large(sites) { sites.div_ceil(PART) } else { 1 }
}

/// Does the same with every part and leaves what came of it in their order: by all threads of the pool that this is called
/// in; outside of one by nobody else.
pub(crate) fn each<T: Send, R: Send>(
    parts: Vec<T>,
    work: impl Fn(usize, T) -> R + Sync + Send,
) -> Vec<R> {
    let numbered = |(number, part)| work(number, part);
    match rayon::current_thread_index() {
        Some(_) => parts.into_par_iter().enumerate().map(numbered).collect(),
        None => parts.into_iter().enumerate().map(numbered).collect(),
    }
}

/// The stream of a part, under a key that a chain drew for all parts of a pass over its sites.
pub(crate) fn stream(key: u64, part: usize) -> ChainRng {
    // The key stands for the seed, so that these are no chains of any run.
    ChainRng::new(key, Stream::Chain(part as u64))
}

/// Tables of several planes in parts of so many sites each.
pub(crate) fn of_planes(planes: &mut [f32], sites: usize, of_part: usize) -> Vec<Vec<&mut [f32]>> {
    let mut parts: Vec<Vec<&mut [f32]>> = Vec::new();
    parts.resize_with(sites.div_ceil(of_part), Vec::new);
    for plane in planes.chunks_exact_mut(sites) {
        for (part, chunk) in parts.iter_mut().zip(plane.chunks_mut(of_part)) {
            part.push(chunk);
        }
    }
    parts
}
