//! Why a model cannot be built or evaluated, in sentences for its user.

use std::fmt;
use std::sync::Arc;

/// Why a model cannot be built or evaluated, in a sentence for its user.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The parameters do not describe a model.
    #[error("{0}")]
    Invalid(String),
    /// A file of parameters cannot be read or does not hold what it should.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The model's own code reported a failure at a state.
    #[error("the model could not be evaluated: {0}")]
    Evaluation(String),
    /// The same, with the error that the model's own code met.
    #[error("the model could not be evaluated: {0}")]
    Source(#[source] Arc<dyn std::error::Error + Send + Sync>),
}

impl ModelError {
    /// Parameters that do not describe a model, with the reason.
    pub fn invalid(reason: impl Into<String>) -> Self {
        Self::Invalid(reason.into())
    }

    /// A failure of the model's own code at a state.
    pub fn evaluation(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Source(Arc::from(error.into()))
    }
}

impl PartialEq for ModelError {
    /// Equal if they say the same.
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

/// Why a chain could not be moved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StepFailure {
    /// log π was NaN or +∞.
    #[error("log π is {0}")]
    LogProb(f64),
    /// A difference was NaN, so the proposal has no probability.
    #[error("a difference of log π is not a number")]
    Difference,
    /// A chain was started where π is zero.
    #[error("the starting state has probability zero")]
    ForbiddenStart,
    /// No change from the state of a chain is possible, and the kernel cannot stay.
    #[error("no single change of this state is possible, so that the jump process never leaves it")]
    Isolated,
    /// The model reported a failure of its own.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The code of a model, a kernel, an observer or a monitor panicked.
    #[error("the code of the model, kernel, observer or monitor panicked: {0}")]
    Panic(String),
}

/// Why a transition could not be made, with the chain's number within its block.
#[derive(Clone, Debug, PartialEq)]
pub struct StepError {
    /// The chain within the block.
    pub chain: usize,
    /// What went wrong there.
    pub cause: StepFailure,
}

impl StepError {
    /// A model's own failure at a chain; one that evaluates a block at once is not asked which of
    /// its chains it was, and the first stands for all.
    pub fn at(chain: usize) -> impl Fn(ModelError) -> Self {
        move |error| Self { chain, cause: StepFailure::Model(error) }
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chain {} of the block: {}", self.chain, self.cause)
    }
}

impl std::error::Error for StepError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}
