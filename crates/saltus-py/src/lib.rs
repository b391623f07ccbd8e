//! The extension module behind `import saltus`: models, runs and chains of the library for Python.
//!
//! Everything here is thin: numbers go in and out as numpy arrays, settings as JSON, and the Python layer in
//! `python/saltus` makes it pleasant. Rust never works while it holds the interpreter.

mod answers;
mod arrays;
mod chains;
mod energy;
mod errors;
mod job;
mod model;
mod parts;
mod run;
mod stored;

use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use saltus::Control;

/// The compiled part of saltus; use the package `saltus` instead.
#[pymodule(gil_used = false)]
#[pyo3(name = "_core")]
mod core {
    #[pymodule_export]
    use super::answers::{exact, minimize};
    #[pymodule_export]
    use super::chains::Chains;
    #[pymodule_export]
    use super::model::CoreModel;
    #[pymodule_export]
    use super::parts::{Parts, needs_pilot, part, pilot};
    #[pymodule_export]
    use super::run::{CoreRun, stop_all};
    #[pymodule_export]
    use super::stored::{describe_store, read_store};
    #[pymodule_export]
    use super::{choose, models, samplers};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// Names of the registry's models, and what each is.
#[pyfunction]
fn models() -> Vec<(&'static str, &'static str)> {
    saltus::zoo::ModelSpec::ALL.to_vec()
}

/// Settings, as JSON, with the sampler and perhaps a ladder that suit a model in place of theirs; and how they were chosen.
#[pyfunction]
fn choose(
    py: Python<'_>,
    model: &model::CoreModel,
    settings: &str,
    evidence: Vec<(usize, u8)>,
) -> PyResult<(String, String)> {
    let settings: saltus::Settings = serde_json::from_str(settings).map_err(invalid)?;
    let model = model.clamped(&evidence).map_err(|error| errors::of_model(&error))?;
    let choice = py.detach(|| {
        saltus::choose::choose(&model, &settings, || {
            let interrupted = Python::attach(|py| py.check_signals().is_err());
            if interrupted { Control::Stop } else { Control::Continue }
        })
    });
    let choice = choice.ok_or_else(|| PyKeyboardInterrupt::new_err(()))?;
    let chosen = serde_json::to_string(&choice.applied(settings)).map_err(invalid)?;
    Ok((chosen, serde_json::to_string(&choice).map_err(invalid)?))
}

fn invalid(error: serde_json::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Names of the samplers, and what each is.
#[pyfunction]
fn samplers() -> Vec<(&'static str, &'static str)> {
    saltus::Method::ALL.iter().map(|method| (method.name(), method.describe())).collect()
}
