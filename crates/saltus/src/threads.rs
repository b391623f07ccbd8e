//! Pools of threads of our own, so that others' settings do not matter.

use rayon::{ThreadPool, ThreadPoolBuilder};

/// A pool of that many threads, or of as many as the machine has; the error is the reason alone.
pub(crate) fn pool(threads: Option<usize>) -> Result<ThreadPool, String> {
    let builder = ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0));
    builder.build().map_err(|error| error.to_string())
}
