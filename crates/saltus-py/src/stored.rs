//! What a store says of its run.

use crate::errors::of_store;
use crate::job::Finished;
use crate::run::told;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use saltus::Summary;
use saltus::store::{self, StoreError, Stored};
use serde_json::json;
use std::path::PathBuf;

/// The description of a stored run as JSON, with its draws and how it ended.
#[pyfunction]
pub fn describe_store(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let described = py.detach(|| {
        let stored = Stored::open(&path)?;
        let mut described = json!(stored.description());
        described["draws"] = json!(stored.draws());
        described["ended"] = json!(stored.ended().map(|ended| ended.rule()));
        Ok(described.to_string())
    });
    described.map_err(|error| of_store(&error))
}

/// Everything that a stored run left, judged anew.
#[pyfunction]
pub fn read_store(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let read = py.detach(|| -> Result<_, StoreError> {
        let stored = [Stored::open(&path)?];
        // Python has all draws, as it has those of a run that was not stored.
        let outcome = store::outcome_of(&stored, usize::MAX)?;
        let description = stored[0].description();
        let words = description.description.clone().unwrap_or_default();
        let summary = Summary::new(&description.model, &outcome);
        let finished = Finished::new(summary, words, outcome);
        Ok((finished, stored[0].space().sites()))
    });
    let (finished, sites) = read.map_err(|error| of_store(&error))?;
    told(py, &finished, Some(&path), sites)
}
