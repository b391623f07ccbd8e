//! Which random stream of a training is for what: keyed by the number of the iteration, so that a
//! resumed training needs no state of any generator.

use saltus::rng::Stream;

/// Purposes, of which each iteration (or epoch) and row has its own stream.
#[derive(Clone, Copy)]
enum Purpose {
    Buffer,
    Slots,
    Chain,
    Example,
    Order,
    Noise,
    Bound,
    Sample,
}

/// 32 bits of iterations, 24 of rows, 4 of purposes.
fn stream(purpose: Purpose, iteration: usize, row: usize) -> Stream {
    Stream::Training(((iteration as u64) << 28) | ((row as u64 & 0xFF_FFFF) << 4) | purpose as u64)
}

/// Most iterations and rows that have streams of their own.
pub const MOST: (usize, usize) = (1 << 32, 1 << 24);

/// The first content of the replay buffer.
pub fn buffer() -> Stream {
    stream(Purpose::Buffer, 0, 0)
}

/// The slots of the buffer that an iteration takes.
pub fn slots(iteration: usize) -> Stream {
    stream(Purpose::Slots, iteration, 0)
}

/// A chain of an iteration.
pub fn chain(iteration: usize, row: usize) -> Stream {
    stream(Purpose::Chain, iteration, row)
}

/// The bits of an example of an iteration, if they have to be drawn.
pub fn example(iteration: usize, row: usize) -> Stream {
    stream(Purpose::Example, iteration, row)
}

/// The order of the examples in an epoch.
pub fn order(epoch: usize) -> Stream {
    stream(Purpose::Order, epoch, 0)
}

/// The latent noise of an update of an autoencoder.
pub fn noise(update: usize) -> Stream {
    stream(Purpose::Noise, update, 0)
}

/// The draws from which an autoencoder's bound at an image is made.
pub fn bound(image: usize) -> Stream {
    stream(Purpose::Bound, image, 0)
}

/// A sample of an autoencoder.
pub fn sample(number: usize) -> Stream {
    stream(Purpose::Sample, number, 0)
}
