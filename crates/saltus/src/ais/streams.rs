//! Which random stream of annealing is for what, so that no two purposes share one.

use super::Direction;
use crate::rng::Stream;

/// A chain.
pub(super) fn chain(direction: Direction, number: usize) -> Stream {
    let offset = match direction {
        Direction::Forward => 0,
        Direction::Reverse => 1,
    };
    Stream::Annealing(4 * number as u64 + offset)
}

/// A chain of the pilot.
pub(super) fn pilot(number: usize) -> Stream {
    Stream::Annealing(4 * number as u64 + 2)
}

/// A state that is drawn before annealing: an example, or the start of a reverse chain.
pub(crate) fn draw(number: usize) -> Stream {
    Stream::Annealing(4 * number as u64 + 3)
}
