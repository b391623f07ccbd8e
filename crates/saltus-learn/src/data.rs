//! Examples to learn from: read from the files they are published in, and turned into states.

mod dataset;
mod examples;
mod idx;
mod parts;
mod table;
#[cfg(test)]
mod tests;

pub use dataset::{Coding, Dataset, Split};
pub use examples::{Binarisation, Examples, draw_examples, quantise};
pub use idx::{Images, read_images};
pub use table::read_examples;

/// Why there is nothing to learn from, in a sentence for the user.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// A file cannot be read or does not hold what it should.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A folder does not hold the dataset.
    #[error("{0}")]
    Missing(String),
    /// The examples do not make states.
    #[error("{0}")]
    Invalid(String),
}
