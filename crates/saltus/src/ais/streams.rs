//! Which random stream of annealing is for what, so that no two purposes share one.

use super::Direction;
use crate::rng::Stream;

/// From here on are the streams of networks of two layers. Chains are fewer: each takes memory.
const OF_NETWORKS: u64 = 1 << 60;

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

/// An example that is drawn before annealing.
pub(crate) fn draw(number: usize) -> Stream {
    Stream::Annealing(4 * number as u64 + 3)
}

/// The hidden units that bound the likelihood of a state.
pub(crate) fn bound(number: usize) -> Stream {
    Stream::Annealing(OF_NETWORKS + 4 * number as u64)
}

/// The hidden units that a state gives a reverse chain to start from.
pub(crate) fn hidden_start(number: usize) -> Stream {
    Stream::Annealing(OF_NETWORKS + 4 * number as u64 + 1)
}

/// The sites that are drawn below hidden units.
pub(crate) fn sites(number: usize) -> Stream {
    Stream::Annealing(OF_NETWORKS + 4 * number as u64 + 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_purposes_share_a_stream() {
        let purposes: [fn(usize) -> Stream; 7] = [
            |number| chain(Direction::Forward, number),
            |number| chain(Direction::Reverse, number),
            pilot,
            draw,
            bound,
            hidden_start,
            sites,
        ];
        let numbers = (0..100).chain([1 << 20, (1 << 40) - 1, 1 << 40]);
        let mut seen = HashSet::new();
        for number in numbers {
            for purpose in purposes {
                let Stream::Annealing(stream) = purpose(number) else {
                    panic!("not a stream of annealing");
                };
                // A generator is keyed by four times this and a little more.
                assert!(stream < (1 << 62) - 1, "{number}: {stream}");
                assert!(seen.insert(stream), "{number}: {stream}");
            }
        }
    }
}
