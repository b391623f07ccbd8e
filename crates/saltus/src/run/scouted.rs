//! What chains from other starts came to, which the verdict on a run heeds.

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
