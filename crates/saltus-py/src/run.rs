//! A run that goes on beside Python: to be waited for, looked at, paused and stopped.

use crate::arrays;
use crate::errors::{Problem, of_model, of_store, own_exception};
use crate::job::{Finished, Job, Place, SharedTrace, lock};
use crate::model::CoreModel;
use numpy::{IntoPyArray, PyReadonlyArray2};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use saltus::draws::sink::STATISTICS;
use saltus::store::{Keep, Stored};
use saltus::{Control, Ended, Model, Outcome, Progress, Settings, Trace};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// What the user wants of a run.
#[derive(Clone, Copy, PartialEq)]
enum Wish {
    Go,
    Pause,
    Stop,
}

/// What the run's thread and Python have in common.
struct Shared {
    wish: Mutex<Wish>,
    wished: Condvar,
    progress: Mutex<Option<Progress>>,
    ended: Mutex<Option<Result<Finished, Problem>>>,
    done: Condvar,
    trace: SharedTrace,
}

/// Runs that may be going on.
static LIVE: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

/// Stops all runs and waits for them, for that many seconds at most: an interpreter that ends while a run calls its functions
/// takes the process down.
#[pyfunction]
pub fn stop_all(py: Python<'_>, seconds: f64) {
    let live: Vec<Arc<Shared>> = lock(&LIVE).iter().filter_map(Weak::upgrade).collect();
    live.iter().for_each(|shared| shared.wish(Wish::Stop));
    let until =
        Duration::try_from_secs_f64(seconds).ok().and_then(|time| Instant::now().checked_add(time));
    py.detach(|| {
        for shared in live {
            shared.wait(until.map(|until| until.saturating_duration_since(Instant::now())));
        }
    });
}

impl Shared {
    fn wish(&self, wish: Wish) {
        let mut current = lock(&self.wish);
        // Nothing takes back a stop.
        if *current != Wish::Stop {
            *current = wish;
        }
        self.wished.notify_all();
    }

    /// Called by the run several times a second.
    fn monitor(&self, progress: Progress) -> Control {
        *lock(&self.progress) = Some(progress);
        let mut wish = lock(&self.wish);
        while *wish == Wish::Pause {
            wish = self.wished.wait(wish).unwrap_or_else(PoisonError::into_inner);
        }
        if *wish == Wish::Stop { Control::Stop } else { Control::Continue }
    }

    fn end(&self, result: Result<Finished, Problem>) {
        *lock(&self.ended) = Some(result);
        self.done.notify_all();
    }

    /// Waits for the end, for that long at most; whether it has come.
    fn wait(&self, time: Option<Duration>) -> bool {
        let until = time.and_then(|time| Instant::now().checked_add(time));
        let mut ended = lock(&self.ended);
        while ended.is_none() {
            ended = match until {
                None => self.done.wait(ended).unwrap_or_else(PoisonError::into_inner),
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return false;
                    }
                    let waited = self.done.wait_timeout(ended, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        true
    }
}

/// A run in a thread of its own.
#[pyclass(frozen, name = "Run", module = "saltus._core")]
pub struct CoreRun {
    shared: Arc<Shared>,
    store: Option<PathBuf>,
    sites: usize,
    /// What is said of an exception of the user's own.
    failed: Mutex<bool>,
}

#[pymethods]
impl CoreRun {
    /// Starts a run: settings are JSON as stores keep them.
    #[new]
    #[pyo3(signature = (model, settings, *, evidence=Vec::new(), init=None, keep="states", store=None,
                        replace=false, resume=false, checkpoint_every=None, choice=None, scouts=true))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        model: &CoreModel,
        settings: &str,
        evidence: Vec<(usize, u8)>,
        init: Option<PyReadonlyArray2<'_, u8>>,
        keep: &str,
        store: Option<PathBuf>,
        replace: bool,
        resume: bool,
        checkpoint_every: Option<f64>,
        choice: Option<&str>,
        scouts: bool,
    ) -> PyResult<Self> {
        let settings: Settings = serde_json::from_str(settings)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let keep = kept(keep, model)?;
        let clamped = model.clamped(&evidence).map_err(|error| of_model(&error))?;
        let starts = init.map(|init| arrays::free_sites(&init, &evidence));
        let choice = choice.map(serde_json::from_str).transpose();
        let choice = choice.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let trace = SharedTrace(Arc::new(Mutex::new(Trace::new(keep != Keep::None))));
        let shared = Arc::new(Shared {
            wish: Mutex::new(Wish::Go),
            wished: Condvar::new(),
            progress: Mutex::new(None),
            ended: Mutex::new(None),
            done: Condvar::new(),
            trace,
        });
        let mut live = lock(&LIVE);
        live.retain(|one| one.strong_count() > 0);
        live.push(Arc::downgrade(&shared));
        drop(live);
        let every = checkpoint_every.map(Duration::try_from_secs_f64).transpose();
        let checkpoint_every = every.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let place = |path| Place { path, replace, resume, checkpoint_every };
        let sites = model.model.shown_space().sites();
        let job = Job {
            model: clamped,
            name: model.name.clone(),
            words: model.words_given(&evidence),
            config: model.config_given(&evidence, choice.as_ref()),
            choice,
            settings,
            starts,
            keep,
            scouts,
            store: store.clone().map(place),
        };
        let worker = shared.clone();
        let work = move || {
            let watcher = worker.clone();
            let monitor = move |progress| watcher.monitor(progress);
            let ran = catch_unwind(AssertUnwindSafe(|| job.go(&worker.trace, monitor)));
            worker.end(ran.unwrap_or_else(|_| Err(Problem::Panic("a panic".to_owned()))));
        };
        let thread = std::thread::Builder::new().name("saltus run".to_owned()).spawn(work);
        thread.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Self { shared, store, sites, failed: Mutex::new(false) })
    }

    /// Waits for the end, for that many seconds at most; whether it has come.
    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        let time = timeout.map(Duration::try_from_secs_f64).transpose();
        let time = time.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(py.detach(|| self.shared.wait(time)))
    }

    /// Whether it has ended.
    #[getter]
    fn is_finished(&self) -> bool {
        lock(&self.shared.ended).is_some()
    }

    /// Whether it is paused.
    #[getter]
    fn is_paused(&self) -> bool {
        *lock(&self.shared.wish) == Wish::Pause
    }

    /// Holds it after the steps in progress.
    fn pause(&self) {
        self.shared.wish(Wish::Pause);
    }

    /// Goes on.
    fn resume(&self) {
        self.shared.wish(Wish::Go);
    }

    /// Stops it after the steps in progress.
    fn stop(&self) {
        self.shared.wish(Wish::Stop);
    }

    /// Where it is: phase, steps, all steps, acceptance, scale, ESS; none before the first look.
    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(progress) = *lock(&self.shared.progress) else {
            return Ok(None);
        };
        let told = PyDict::new(py);
        told.set_item("phase", if progress.warming_up { "warmup" } else { "draws" })?;
        told.set_item("steps", progress.steps)?;
        told.set_item("total_steps", progress.total_steps)?;
        told.set_item("acceptance", progress.acceptance)?;
        told.set_item("scale", progress.scale)?;
        told.set_item("ess", progress.ess)?;
        Ok(Some(told))
    }

    /// A copy of what was drawn so far; none of a run that goes into a store.
    fn inspect<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        if self.store.is_some() {
            return Ok(None);
        }
        let trace = py.detach(|| lock(&self.shared.trace.0).clone());
        draws(py, &trace, None, self.sites).map(Some)
    }

    /// Everything that it left. An exception of the user's own function is raised as itself, once; asked again,
    /// what was drawn before it is told.
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let ended = lock(&self.shared.ended);
        told(py, self.finished(py, &ended)?, self.store.as_deref(), self.sites)
    }
}

impl CoreRun {
    /// What was finished, unless it was an exception of the user's that was not raised yet.
    fn finished<'a>(
        &self,
        py: Python<'_>,
        ended: &'a Option<Result<Finished, Problem>>,
    ) -> PyResult<&'a Finished> {
        let finished = match ended {
            None => return Err(PyRuntimeError::new_err("the run has not ended yet")),
            Some(Err(problem)) => return Err(problem.into()),
            Some(Ok(finished)) => finished,
        };
        let Outcome { ended, trace, .. } = &finished.outcome;
        if let Some(own) = raised(py, ended, trace.draws())?
            && !std::mem::replace(&mut *lock(&self.failed), true)
        {
            return Err(own);
        }
        Ok(finished)
    }
}

/// What is kept of states, by name.
pub fn kept(keep: &str, model: &CoreModel) -> PyResult<Keep> {
    let keep = match keep {
        "none" => Keep::None,
        "states" => Keep::States,
        "bits" => Keep::Bits,
        other => {
            let known = ["none", "states", "bits"];
            return Err(PyValueError::new_err(saltus::names::unknown("keep", other, known)));
        }
    };
    if keep == Keep::Bits && !model.model.shown_space().is_binary() {
        return Err(PyValueError::new_err(format!(
            "sites of {} values do not fit into bits: use keep=\"states\"",
            model.model.shown_space().values()
        )));
    }
    Ok(keep)
}

/// The user's own exception that ended a run, if one did, with a note where it was raised.
pub fn raised(py: Python<'_>, ended: &Ended, draws: usize) -> PyResult<Option<PyErr>> {
    let Ended::Failed { chain, step, cause } = ended else { return Ok(None) };
    let Some(own) = own_exception(cause) else { return Ok(None) };
    let value = own.value(py);
    // Before Python 3.11 exceptions have no notes.
    if value.hasattr("add_note")? {
        let place = format!("at step {step} (chains {chain} and following), after {draws} draws");
        value.call_method1("add_note", (format!("raised by the model's function {place}"),))?;
    }
    Ok(Some(own))
}

/// Everything that a run left, as a dict.
pub fn told<'py>(
    py: Python<'py>,
    finished: &Finished,
    store: Option<&Path>,
    sites: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let outcome = &finished.outcome;
    let result = draws(py, &outcome.trace, store, sites)?;
    let rounds = PyDict::new(py);
    let column = |number: fn(&saltus::Round) -> f64| -> Vec<f64> {
        outcome.warmup.iter().map(number).collect()
    };
    let steps: Vec<i64> = outcome.warmup.iter().map(|round| round.steps as i64).collect();
    rounds.set_item("steps", steps.into_pyarray(py))?;
    let scale = column(|round| round.scale.unwrap_or(f64::NAN));
    rounds.set_item("scale", scale.into_pyarray(py))?;
    rounds.set_item("acceptance", column(|round| round.acceptance).into_pyarray(py))?;
    result.set_item("warmup", rounds)?;
    if let (false, chains) = (outcome.last_states.is_empty(), outcome.last_states.len()) {
        let states = outcome.last_states.concat();
        result.set_item("last_states", arrays::of_states(py, chains, sites, states)?)?;
    }
    if let Some(sites) = &outcome.sites {
        result.set_item("site_means", sites.means.clone().into_pyarray(py))?;
    }
    result.set_item("summary", finished.summary.to_string())?;
    result.set_item("fine", &finished.fine)?;
    result.set_item("findings", &finished.findings)?;
    result.set_item("ended", outcome.ended.to_string())?;
    result.set_item("failed", matches!(outcome.ended, Ended::Failed { .. }))?;
    result.set_item("seed", outcome.settings.seed)?;
    Ok(result)
}

/// Observables, statistics and states as arrays.
fn draws<'py>(
    py: Python<'py>,
    trace: &Trace,
    store: Option<&Path>,
    sites: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let drawn = PyDict::new(py);
    let (observables, statistics) = (PyDict::new(py), PyDict::new(py));
    for name in trace.names() {
        let series = trace.series(name).unwrap_or_default();
        observables.set_item(name, arrays::of_rows(py, series)?)?;
    }
    for name in STATISTICS {
        let series = trace.series(name).unwrap_or_default();
        statistics.set_item(name, arrays::of_rows(py, series)?)?;
    }
    drawn.set_item("observables", observables)?;
    drawn.set_item("statistics", statistics)?;
    drawn.set_item("states", states(py, trace, store, sites)?)?;
    Ok(drawn)
}

fn states<'py>(
    py: Python<'py>,
    trace: &Trace,
    store: Option<&Path>,
    sites: usize,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let (chains, draws) = (trace.chains(), trace.draws());
    if let Some(store) = store {
        let read = py.detach(|| Stored::open(store)?.states_of_all(0..draws));
        let Some(read) = read.map_err(|error| of_store(&error))? else { return Ok(None) };
        let rows: Vec<&[u8]> = read.iter().map(Vec::as_slice).collect();
        return Ok(Some(arrays::of_draws(py, &rows, draws, sites)?.into_any()));
    }
    let rows: Vec<&[u8]> = (0..chains).map(|chain| trace.states(chain)).collect();
    if rows.iter().any(|row| row.len() < draws * sites) {
        return Ok(None);
    }
    Ok(Some(arrays::of_draws(py, &rows, draws, sites)?.into_any()))
}

impl Drop for CoreRun {
    /// A run that nobody can ask any more stops.
    fn drop(&mut self) {
        self.shared.wish(Wish::Stop);
    }
}
