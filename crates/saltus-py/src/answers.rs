//! Answers that are no draws: exact ones, and the best states.

use crate::errors::{of_model, of_run};
use crate::model::CoreModel;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use saltus::exact::{Exact, ExactError};
use saltus::minimize::{Minimize, MinimizeSettings, Search};
use saltus::rng::{ChainRng, Stream};
use saltus::{Control, Sampler};
use serde_json::json;
use std::time::Duration;

/// log Z, marginals, the likeliest state and independent draws, as JSON.
#[pyfunction]
pub fn exact(
    py: Python<'_>,
    model: &CoreModel,
    evidence: Vec<(usize, u8)>,
    draws: usize,
    seed: u64,
) -> PyResult<String> {
    let clamped = model.settled(&evidence).map_err(|error| of_model(&error))?;
    let solved = py.detach(|| {
        let exact = Exact::new(&clamped)?;
        let mut rng = ChainRng::new(seed, Stream::Reference);
        let drawn: Vec<Vec<u8>> = (0..draws).map(|_| exact.draw(&mut rng)).collect();
        Ok::<_, ExactError>(json!({
            "log_z": exact.log_z(),
            "marginals": exact.marginals(),
            "map": { "state": exact.map(), "log_prob": exact.map_log_prob() },
            "method": exact.way().name(),
            "draws": drawn,
        }))
    });
    solved.map(|found| found.to_string()).map_err(|error| match error {
        ExactError::Model(error) => of_model(&error),
        error => PyValueError::new_err(error.to_string()),
    })
}

/// The best states by annealing, as JSON. Ctrl-C stops it with what was found.
#[pyfunction]
#[pyo3(signature = (model, sampler, *, evidence=Vec::new(), chains=32, sweeps=1000, seconds=None, seed=0, threads=None,
                    betas=None, states=10, method="anneal"))]
#[allow(clippy::too_many_arguments)]
pub fn minimize(
    py: Python<'_>,
    model: &CoreModel,
    sampler: &str,
    evidence: Vec<(usize, u8)>,
    chains: usize,
    sweeps: usize,
    seconds: Option<f64>,
    seed: u64,
    threads: Option<usize>,
    betas: Option<(f64, f64)>,
    states: usize,
    method: &str,
) -> PyResult<String> {
    let sampler: Sampler =
        serde_json::from_str(sampler).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let time_limit = seconds.map(Duration::try_from_secs_f64).transpose();
    let time_limit = time_limit.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let clamped = model.clamped(&evidence).map_err(|error| of_model(&error))?;
    let search: Search = method.parse().map_err(PyValueError::new_err)?;
    let settings = MinimizeSettings {
        sampler,
        search,
        chains,
        sweeps,
        time_limit,
        seed,
        threads,
        betas,
        states,
    };
    let found = py.detach(|| {
        let look = Minimize::new(&clamped, settings).monitor(|_| {
            let interrupted = Python::attach(|py| py.check_signals().is_err());
            if interrupted { Control::Stop } else { Control::Continue }
        });
        look.go()
    });
    let found = found.map_err(|error| of_run(&error))?;
    if found.states.is_empty() {
        return Err(PyRuntimeError::new_err(format!("no state was found: {}", found.ended)));
    }
    Ok(json!({
        "states": found.states,
        "coolings": found.coolings,
        "sweeps": found.sweeps,
        "betas": found.betas,
        "reheated_to": found.reheated_to,
        "seconds": found.seconds,
        "seconds_to_best": found.seconds_to_best,
        "ended": found.ended.to_string(),
    })
    .to_string())
}
