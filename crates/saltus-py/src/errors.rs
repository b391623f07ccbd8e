//! The library's errors as Python's exceptions.

use pyo3::PyErr;
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyOSError, PyRuntimeError, PyValueError,
};
use saltus::store::StoreError;
use saltus::{Ended, ModelError, RunError, StepFailure};

/// What went wrong in a thread that has no interpreter at hand.
#[derive(Clone, Debug)]
pub enum Problem {
    Run(RunError),
    Store(StoreError),
    Panic(String),
}

impl From<RunError> for Problem {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<&Problem> for PyErr {
    fn from(problem: &Problem) -> Self {
        match problem {
            Problem::Run(error) => of_run(error),
            Problem::Store(error) => of_store(error),
            Problem::Panic(words) => {
                PyRuntimeError::new_err(format!("saltus itself failed, please report it: {words}"))
            }
        }
    }
}

/// A model that cannot be built or evaluated; an exception of the user's own comes back as itself.
pub fn of_model(error: &ModelError) -> PyErr {
    match error {
        ModelError::Source(source) => match source.downcast_ref::<PyErr>() {
            Some(own) => pyo3::Python::attach(|py| own.clone_ref(py)),
            None => PyRuntimeError::new_err(error.to_string()),
        },
        ModelError::Evaluation(_) => PyRuntimeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

pub fn of_run(error: &RunError) -> PyErr {
    match error {
        RunError::Model(error) => of_model(error),
        RunError::Pilot(Ended::Failed { cause, .. }) => {
            own_exception(cause).unwrap_or_else(|| PyRuntimeError::new_err(error.to_string()))
        }
        RunError::Sink(_) => PyOSError::new_err(error.to_string()),
        RunError::Threads(_) | RunError::Panic(_) => PyRuntimeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

pub fn of_store(error: &StoreError) -> PyErr {
    match error {
        StoreError::Exists(_) => PyFileExistsError::new_err(format!(
            "{error}: resume=True goes on with it, replace=True replaces it"
        )),
        StoreError::NotAStore(_) => PyFileNotFoundError::new_err(error.to_string()),
        _ => PyOSError::new_err(error.to_string()),
    }
}

/// The user's own exception, if a step failed by one.
pub fn own_exception(cause: &StepFailure) -> Option<PyErr> {
    match cause {
        StepFailure::Model(ModelError::Source(source)) => {
            let own = source.downcast_ref::<PyErr>()?;
            Some(pyo3::Python::attach(|py| own.clone_ref(py)))
        }
        _ => None,
    }
}
