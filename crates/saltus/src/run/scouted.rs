//! What chains from other starts came to, which the verdict on a run heeds.

#[cfg(feature = "zarr")]
use super::Settings;
use serde::{Deserialize, Serialize};

/// What scouts came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scouts {
    /// How many were sent.
    pub sent: usize,
    /// How many of them ended in another place.
    pub elsewhere: usize,
    /// What shows it best.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Elsewhere>,
    /// Why none were sent, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsent: Option<Unsent>,
}

impl Scouts {
    /// None, for that reason.
    pub fn unsent(reason: Unsent) -> Self {
        Self { sent: 0, elsewhere: 0, by: None, unsent: Some(reason) }
    }
}

/// Why no scouts were sent, or why they did not come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unsent {
    /// A ladder of temperatures looks for other modes itself.
    Tempered,
    /// The run did not make all draws that were asked for.
    Incomplete,
    /// Somebody else's kernel moved the chains.
    OtherKernel,
    /// It is not known what draws are worth, and so not how long scouts would have to travel.
    Pace,
    /// It is not known where the chains ended: of a stored run without whole states.
    Ends,
    /// The parts of the run were made and stored by themselves.
    Parts,
    /// They would cost much more than the run did.
    Costly,
    /// Their states would not fit into the memory that they may take.
    Large,
    /// The time limit came first.
    TimeLimit,
    /// They were told to stop.
    Interrupted,
    /// A step of theirs could not be made.
    Failed,
}

impl Unsent {
    /// Why none of the parts of a run sent any.
    #[cfg(feature = "zarr")]
    pub(crate) fn of_parts(settings: &Settings) -> Self {
        if settings.temper.is_some() { Self::Tempered } else { Self::Parts }
    }

    /// Whether nobody has looked for other modes.
    pub(crate) fn leaves_open(self) -> bool {
        !matches!(self, Self::Tempered | Self::Incomplete)
    }
}

/// As it follows "because".
impl std::fmt::Display for Unsent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Tempered => "a ladder of temperatures looks for them",
            Self::Incomplete => "the run was not completed",
            Self::OtherKernel => "the run has a kernel of its own",
            Self::Pace => "what its draws are worth is not known",
            Self::Ends => "where its chains ended was not stored",
            Self::Parts => "the parts of the run were made by themselves",
            Self::Costly => "that would take much longer than so short a run",
            Self::Large => "the states are too large",
            Self::TimeLimit => "the time limit was reached",
            Self::Interrupted => "it was stopped",
            Self::Failed => "a step from another start failed",
        })
    }
}

/// An observable that is not the same elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Elsewhere {
    /// Its name.
    pub observable: String,
    /// Its mean where the chains of the run are.
    pub here: f64,
    /// Its mean where a scout is.
    pub there: f64,
}
