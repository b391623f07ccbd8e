//! The recipes of the paper that several models share.

use crate::model::paper::Temperature;
use serde::{Deserialize, Serialize};

/// Sharpness of a target with two values per site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum BinaryPreset {
    /// The sharp version
    Low,
    /// The flat version
    High,
}

/// Number of values of a target with more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum ValuesPreset {
    /// Four values per site
    C4,
    /// Eight values per site
    C8,
}

impl BinaryPreset {
    /// The temperature of a recipe, high unless another is named, and its word.
    pub(super) fn temperature(preset: Option<Self>) -> (Temperature, &'static str) {
        match preset {
            Some(Self::Low) => (Temperature::Low, "low"),
            None | Some(Self::High) => (Temperature::High, "high"),
        }
    }
}

impl ValuesPreset {
    /// The number of values of a recipe, four unless another is named.
    pub(super) fn values(preset: Option<Self>) -> usize {
        match preset {
            None | Some(Self::C4) => 4,
            Some(Self::C8) => 8,
        }
    }
}
