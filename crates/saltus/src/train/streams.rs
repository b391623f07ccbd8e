//! Which random stream of a training is for what, so that no two purposes share one.

use crate::rng::Stream;

/// The initial weights.
pub(super) fn weights() -> Stream {
    Stream::Training(0)
}

/// The order of the examples.
pub(super) fn order() -> Stream {
    Stream::Training(1)
}

/// An example of a batch and its chain.
pub(super) fn chain(row: usize) -> Stream {
    Stream::Training(2 + 2 * row as u64)
}

/// A sample drawn after training.
pub(super) fn sample(number: usize) -> Stream {
    Stream::Training(3 + 2 * number as u64)
}
