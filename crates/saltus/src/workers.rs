//! The threads that work on blocks of chains: a pool of our own, so that others' settings do not matter.

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// A pool of threads.
#[derive(Debug)]
pub struct Workers {
    pool: ThreadPool,
}

impl Workers {
    /// That many threads, or as many as the machine has; the error is the reason alone.
    pub fn new(threads: Option<usize>) -> Result<Self, String> {
        let builder = ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0));
        let pool = builder.build().map_err(|error| error.to_string())?;
        Ok(Self { pool })
    }

    /// As many threads as there are blocks to move, at most: one without a block would only wait.
    pub fn for_blocks(threads: Option<usize>, blocks: usize) -> Result<Self, String> {
        let machine = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self::new(Some(threads.unwrap_or_else(machine).min(blocks)))
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Does something with all threads at its disposal.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    /// Does the same with every one, and leaves what came of it in their order.
    pub fn map<B: Send, T: Send>(
        &self,
        all: &mut [B],
        work: impl Fn(&mut B) -> T + Sync + Send,
    ) -> Vec<T> {
        self.install(|| all.par_iter_mut().map(work).collect())
    }
}
