//! The threads that work on blocks of chains: a pool of our own, so that others' settings do not matter.

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// A pool of threads, or the thread that asks.
#[derive(Debug)]
pub struct Workers {
    pool: Option<ThreadPool>,
}

impl Workers {
    /// That many threads, or as many as the machine has; the error is the reason alone.
    pub fn new(threads: Option<usize>) -> Result<Self, String> {
        let builder = ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0));
        let pool = builder.build().map_err(|error| error.to_string())?;
        Ok(Self { pool: Some(pool) })
    }

    /// As many threads as there are blocks to move, at most: one without a block would only wait. Where one is enough, it is the one
    /// that asks: to hand work to another takes longer than a step of a small model.
    pub fn for_blocks(threads: Option<usize>, blocks: usize) -> Result<Self, String> {
        let machine = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        match threads.unwrap_or_else(machine).min(blocks) {
            1 => Ok(Self { pool: None }),
            several => Self::new(Some(several)),
        }
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, ThreadPool::current_num_threads)
    }

    /// Does something with all threads at its disposal.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Does the same with every one, and leaves what came of it in their order.
    pub fn map<B: Send, T: Send>(
        &self,
        all: &mut [B],
        work: impl Fn(&mut B) -> T + Sync + Send,
    ) -> Vec<T> {
        match &self.pool {
            Some(pool) => pool.install(|| all.par_iter_mut().map(work).collect()),
            None => all.iter_mut().map(work).collect(),
        }
    }
}
