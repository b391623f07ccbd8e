//! Runs in parts: what a worker makes of a task, and what the driver makes of all parts.

use crate::arrays;
use crate::errors::{of_model, of_run, of_store};
use crate::job::{Finished, lock};
use crate::model::CoreModel;
use crate::run::{kept, raised, told};
use numpy::PyReadonlyArray2;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};
use saltus::store::{self, Description, StoreError, StoreWriter};
use saltus::{Control, Ended, Model, Run, RunError, Settings, Summary, Trace, run};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

/// Whether somebody pressed Ctrl-C.
fn control() -> Control {
    let interrupted = Python::attach(|py| py.check_signals().is_err());
    if interrupted { Control::Stop } else { Control::Continue }
}

fn read<T: serde::de::DeserializeOwned>(json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Whether parts of a run need a pilot to agree.
#[pyfunction]
pub fn needs_pilot(
    model: &CoreModel,
    settings: &str,
    evidence: Vec<(usize, u8)>,
) -> PyResult<bool> {
    let clamped = model.clamped(&evidence).map_err(|error| of_model(&error))?;
    Ok(run::needs_pilot(&clamped, &read(settings)?))
}

/// Settings, as JSON, with the scale or the ladder that the first chains of a run come to: what all its parts have in common.
#[pyfunction]
#[pyo3(signature = (model, settings, evidence, init=None))]
pub fn pilot(
    py: Python<'_>,
    model: &CoreModel,
    settings: &str,
    evidence: Vec<(usize, u8)>,
    init: Option<PyReadonlyArray2<'_, u8>>,
) -> PyResult<String> {
    let settings: Settings = read(settings)?;
    let clamped = model.clamped(&evidence).map_err(|error| of_model(&error))?;
    let starts = init.map(|init| arrays::free_sites(&init, &evidence));
    let settled = py.detach(|| run::pilot(&clamped, &settings, starts.as_deref(), |_| control()));
    let settled = settled.map_err(|error| of_run(&error))?;
    serde_json::to_string(&settled).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Makes the part of a run of so many chains that begins at that chain; everything that it left, as bytes.
#[pyfunction]
#[pyo3(signature = (model, settings, evidence, init, keeps_states, first, of))]
#[allow(clippy::too_many_arguments)]
pub fn part<'py>(
    py: Python<'py>,
    model: &CoreModel,
    settings: &str,
    evidence: Vec<(usize, u8)>,
    init: Option<PyReadonlyArray2<'_, u8>>,
    keeps_states: bool,
    first: usize,
    of: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let settings: Settings = read(settings)?;
    let clamped = model.clamped(&evidence).map_err(|error| of_model(&error))?;
    let starts = init.map(|init| arrays::free_sites(&init, &evidence));
    let made = py.detach(|| {
        let mut run =
            Run::new(&clamped, settings).part(first, of).observe_as_usual().monitor(|_| control());
        if let Some(starts) = starts {
            run = run.start_from(starts);
        }
        let mut trace = Trace::new(keeps_states);
        let mut outcome = run.go_into(&mut trace)?;
        outcome.trace = trace;
        let bytes = match &outcome.ended {
            Ended::Complete => outcome.to_part()?,
            _ => Vec::new(),
        };
        Ok::<_, RunError>((bytes, outcome))
    });
    let (bytes, outcome) = made.map_err(|error| of_run(&error))?;
    match &outcome.ended {
        Ended::Complete => Ok(PyBytes::new(py, &bytes)),
        Ended::Interrupted => Err(PyKeyboardInterrupt::new_err(())),
        ended => Err(raised(py, ended, outcome.trace.draws())?
            .unwrap_or_else(|| PyRuntimeError::new_err(ended.to_string()))),
    }
}

/// The parts of a run, which are added in the order of their chains.
#[pyclass(frozen, module = "saltus._core")]
pub struct Parts(Mutex<run::Parts>);

#[pymethods]
impl Parts {
    #[new]
    fn new() -> Self {
        Self(Mutex::default())
    }

    /// Adds what `part` gave.
    fn add(&self, py: Python<'_>, part: PyBackedBytes) -> PyResult<()> {
        py.detach(|| lock(&self.0).add(&part)).map_err(|error| of_run(&error))
    }

    /// The run whose parts were added, judged; stored, if a folder is named. It took so many seconds.
    #[pyo3(signature = (model, settings, evidence, seconds, keep, store=None, replace=false, choice=None, scouts=true))]
    #[allow(clippy::too_many_arguments)]
    fn join<'py>(
        &self,
        py: Python<'py>,
        model: &CoreModel,
        settings: &str,
        evidence: Vec<(usize, u8)>,
        seconds: f64,
        keep: &str,
        store: Option<PathBuf>,
        replace: bool,
        choice: Option<&str>,
        scouts: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let settings: Settings = read(settings)?;
        let choice: Option<Value> = choice.map(read).transpose()?;
        let keep = kept(keep, model)?;
        let took = Duration::try_from_secs_f64(seconds);
        let took = took.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let clamped = model.clamped(&evidence).map_err(|error| of_model(&error))?;
        let parts = std::mem::take(&mut *lock(&self.0));
        let outcome = py.detach(|| parts.join(&clamped, &settings, took));
        let outcome = outcome.map_err(|error| of_run(&error))?;
        let config = model.config_given(&evidence, choice.as_ref());
        let words = model.words_given(&evidence);
        let finished = py.detach(|| {
            let mut summary = Summary::new(&model.name, &outcome);
            if scouts {
                summary.scout(&clamped, &outcome, control);
            }
            if let Some(path) = &store {
                let description = Description {
                    description: Some(words.clone()),
                    keep,
                    config,
                    ..Description::new(&model.name, clamped.shown_space(), &settings)
                };
                store::write(&outcome, description, path, replace)?;
                if let Some(scouts) = &summary.scouts {
                    StoreWriter::put_scouts(path, scouts)?;
                }
            }
            Ok::<_, StoreError>(Finished::new(summary, words, outcome).chosen(choice))
        });
        let finished = finished.map_err(|error| of_store(&error))?;
        told(py, &finished, None, clamped.shown_space().sites())
    }
}
