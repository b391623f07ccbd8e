//! How a command can end, and the exit code of each ending.

use saltus::ais::AisError;
use saltus::store::StoreError;
use saltus::{Ended, ModelError, RunError};
use saltus_learn::TrainError;
use saltus_learn::data::DataError;
use std::process::ExitCode;

/// A command that did something worth printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// Everything that was asked.
    Complete,
    /// Stopped by the user or a time limit; what was drawn is reported.
    Early,
    /// A chain failed; what was drawn before is reported.
    Failed,
    /// Everything that was asked, and findings that warn, which are not to be passed over.
    Found,
}

impl Finish {
    /// 0, 3, 1 or 4.
    pub fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Complete => 0,
            Self::Early => 3,
            Self::Failed => 1,
            Self::Found => 4,
        })
    }

    /// The same, unless findings are not to be passed over and there are some.
    pub fn strictly(self, strict: bool, converged: bool) -> Self {
        if strict && !converged && self == Self::Complete { Self::Found } else { self }
    }
}

impl From<&Ended> for Finish {
    fn from(ended: &Ended) -> Self {
        match ended {
            Ended::Complete | Ended::Reached(_) => Self::Complete,
            Ended::Interrupted | Ended::TimeLimit => Self::Early,
            Ended::Failed { .. } => Self::Failed,
        }
    }
}

/// A command that could not do what was asked, in a sentence for its user.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// What was asked makes no sense.
    Usage(String),
    /// It makes sense but did not work: a file, a device.
    Failed(String),
    /// Nobody reads the output any more (`saltus list | head -1`), and there is no other: nothing to
    /// complain about, but nothing was done either.
    NobodyReads,
}

impl Failure {
    /// What was asked needs a part that this program was built without.
    #[cfg(not(feature = "deep"))]
    pub fn without_deep_models() -> Self {
        Self::Failed(
            "this saltus was built without deep models: `cargo install --path crates/saltus-cli \
             --features deep` (or `cargo run --release --features deep -- …`) builds one that has \
             them"
                .to_owned(),
        )
    }

    /// What to tell the user, if anything.
    pub fn sentence(&self) -> Option<&str> {
        match self {
            Self::Usage(sentence) | Self::Failed(sentence) => Some(sentence),
            Self::NobodyReads => None,
        }
    }

    /// 2, 1, or what shells report for a program that a closed pipe ended.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Usage(_) => 2,
            Self::Failed(_) => 1,
            Self::NobodyReads => 141,
        })
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        match error {
            // A model that is impossible without a file came from impossible options.
            ModelError::Invalid(sentence) => Self::Usage(sentence),
            error => Self::Failed(error.to_string()),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Threads(_) | RunError::Checkpoint(_) | RunError::Sink(_) => {
                Self::Failed(error.to_string())
            }
            _ => Self::Usage(error.to_string()),
        }
    }
}

impl From<AisError> for Failure {
    fn from(error: AisError) -> Self {
        match error {
            AisError::Sampler(_)
            | AisError::Zero(_)
            | AisError::Temperatures(_)
            | AisError::Weighted(_) => Self::Usage(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Failed(match &error {
            StoreError::Exists(_) => {
                format!("{error}: --resume goes on with it, --force replaces it")
            }
            _ => error.to_string(),
        })
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        match error {
            DataError::Invalid(sentence) => Self::Usage(sentence),
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<TrainError> for Failure {
    fn from(error: TrainError) -> Self {
        match error {
            TrainError::Setting(sentence) => Self::Usage(sentence),
            TrainError::Model(error) => error.into(),
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::NobodyReads,
            _ => Self::Failed(format!("cannot write the output: {error}")),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        match error.io_error_kind() {
            Some(std::io::ErrorKind::BrokenPipe) => Self::NobodyReads,
            _ => Self::Failed(format!("cannot write the output: {error}")),
        }
    }
}
