//! Runs on disk: one Zarr store in ArviZ's layout, written while a run draws, read by
//! `xarray.open_datatree`, by ArviZ and by [`Stored`].
//!
//! | path | dimensions | what |
//! |---|---|---|
//! | `posterior/NAME` | chain, draw | every observable but log π |
//! | `posterior/state` | chain, draw, site | whole states, if they are kept as bytes |
//! | `packed/state_bits` | chain, draw, byte | whole states of two values, if they are kept as bits |
//! | `sample_stats/lp` | chain, draw | log π |
//! | `sample_stats/NAME` | chain, draw | each of [`STATISTICS`](crate::draws::sink::STATISTICS) |
//! | `warmup/steps`, `scale`, `acceptance` | round | the rounds of warm-up |
//! | `sites/mean` | site | mean values, once a run has ended in which sites were watched |
//!
//! Root attributes describe the run. Beside the arrays stand `checkpoint`, from which the run goes
//! on, and `timing.json`, which holds what differs between two runs of the same draws.
//!
//! ```
//! use saltus::model::lattice::Lattice;
//! use saltus::model::pairwise::Pairwise;
//! use saltus::store::{Description, Keep, StoreWriter, Stored};
//! use saltus::{Model, Run, Settings};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("run");
//! let model = Pairwise::ising_lattice(Lattice::periodic(4, 4)?, 0.2, vec![0.0; 16])?;
//! let settings = Settings { chains: 2, warmup: 50, draws: 70, ..Settings::default() };
//! let description =
//!     Description { keep: Keep::Bits, ..Description::new("ising", model.space(), &settings) };
//! let mut writer = StoreWriter::create(&path, description, false)?;
//! Run::new(&model, settings).go_into(&mut writer)?;
//!
//! let stored = Stored::open(&path)?;
//! assert_eq!(stored.draws(), 70);
//! assert_eq!(stored.series("hamming")?, stored.trace()?.hamming());
//! assert_eq!(stored.states(1, 20..22)?.unwrap().len(), 2 * 16);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrays;
mod bits;
mod checkpoint_file;
mod description;
mod digest;
pub(crate) mod folder;
pub(crate) mod framed;
mod layout;
mod merge;
mod outcome;
mod reader;
mod shard;
mod strip;
mod tally_file;
mod writer;

#[cfg(test)]
mod tests;

pub use description::{Description, Keep, Timing};
pub use merge::{merge, write};
pub use outcome::outcome_of;
pub use reader::Stored;
pub use writer::StoreWriter;

use crate::draws::sink::SinkError;

/// Why a store cannot be written or read, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is a run already.
    #[error("{0} holds a run already")]
    Exists(String),
    /// There is something else already, which is never replaced.
    #[error("{0} is neither empty nor a run of saltus, and is left as it is")]
    Foreign(String),
    /// Another process writes there.
    #[error("another process is writing to {0}")]
    Busy(String),
    /// The folder is not where it was.
    #[error(
        "{0} was moved, deleted or replaced while a run wrote to it, so the run ended; where it is now it can be \
         resumed from its last checkpoint"
    )]
    Gone(String),
    /// There is no run.
    #[error("{0} is not a run of saltus")]
    NotAStore(String),
    /// The file system refused.
    #[error("cannot {what} {path}: {reason}")]
    Files {
        /// What was tried.
        what: &'static str,
        /// Where.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// A file does not hold what it should.
    #[error("{path} is damaged: {reason}")]
    Damaged {
        /// The file or array.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Something was asked that is not there.
    #[error("{0}")]
    Missing(String),
}

impl From<StoreError> for SinkError {
    fn from(error: StoreError) -> Self {
        Self(error.to_string())
    }
}
