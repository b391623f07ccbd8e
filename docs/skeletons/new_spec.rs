//! NAME in the registry: its options, and how a model is made of them.
//!
//! A skeleton: copy it to `crates/saltus/src/zoo/` and give it a line in the table of `zoo.rs`. What
//! documents a field is also the help of its option.

use super::{Building, Built};
#[cfg(feature = "clap")]
use super::{MODEL, parse};
use crate::error::ModelError;
use crate::model::independent::Independent;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What the model is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default, deny_unknown_fields)]
pub struct SkeletonSpec {
    /// Number of sites [default: 100]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true))]
    pub sites: Option<usize>,
}

impl SkeletonSpec {
    pub(super) const NAME: &str = "skeleton";

    /// The files it is read from, so that a stored run can be resumed from another folder.
    pub(super) fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        Vec::new()
    }

    pub(super) fn build(&self, building: &Building<'_>) -> Result<Built, ModelError> {
        let sites = self.sites.unwrap_or(100);
        // Asked before anything large is made.
        building.check_sparse(sites, 2)?;
        let model = Independent::bernoulli(vec![0.0; sites])?;
        let words = format!("{sites} sites of NAME");
        Ok(Built::new(Self::NAME, words, model))
    }
}
