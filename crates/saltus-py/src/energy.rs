//! A model that is a function in Python: called once per block of all chains.

use numpy::ndarray::{ArrayView1, ArrayView2, ArrayView3, Axis};
use numpy::{
    Element, PyArray1, PyArray2, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use saltus::{Differences, Model, ModelError, Space, States};

/// Bytes of changed states that are shown to the function at once.
const TRIAL_BYTES: usize = 1 << 21;

/// A function of states, and perhaps of what is known about their changes.
///
/// `value(X)` gives log π of the rows of X. `gradient(X)` and `delta(X)` give log π and a table: the derivatives
/// by the values or their indicators, or the changes themselves. Without either, changed states are
/// evaluated in batches.
pub struct Energy {
    space: Space,
    value: Py<PyAny>,
    gradient: Option<Py<PyAny>>,
    delta: Option<Py<PyAny>>,
    /// Put answers that are not arrays of doubles into shape, or say what is wrong with them.
    as_log_prob: Py<PyAny>,
    as_table: Py<PyAny>,
    dtype: Dtype,
}

/// What the function is shown.
#[derive(Clone, Copy)]
enum Dtype {
    Bytes,
    Integers,
    Singles,
    Doubles,
}

/// Arrays that are filled again where nobody kept them, and changed states.
#[derive(Default)]
pub struct EnergyCache {
    shown: Option<Py<PyAny>>,
    states: Vec<u8>,
    log_prob: Vec<f64>,
    /// Where in the table of differences each changed state belongs.
    targets: Vec<usize>,
}

impl Energy {
    pub fn new(
        space: Space,
        value: Py<PyAny>,
        dtype: &str,
        gradient: Option<Py<PyAny>>,
        delta: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let dtype = match dtype {
            "uint8" => Dtype::Bytes,
            "int64" => Dtype::Integers,
            "float32" => Dtype::Singles,
            "float64" => Dtype::Doubles,
            other => {
                return Err(PyValueError::new_err(saltus::names::unknown(
                    "dtype",
                    other,
                    ["uint8", "int64", "float32", "float64"],
                )));
            }
        };
        Python::attach(|py| {
            let helpers = py.import("saltus._energy")?;
            let as_log_prob = helpers.getattr("as_log_prob")?.unbind();
            let as_table = helpers.getattr("as_table")?.unbind();
            Ok(Self { space, value, gradient, delta, as_log_prob, as_table, dtype })
        })
    }

    fn shown<'py>(
        &self,
        py: Python<'py>,
        states: States<'_>,
        kept: &mut Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.dtype {
            Dtype::Bytes => show::<u8>(py, states, kept),
            Dtype::Integers => show::<i64>(py, states, kept),
            Dtype::Singles => show::<f32>(py, states, kept),
            Dtype::Doubles => show::<f64>(py, states, kept),
        }
    }

    fn evaluate(
        &self,
        states: States<'_>,
        kept: &mut Option<Py<PyAny>>,
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        let called = Python::attach(|py| {
            let shown = self.shown(py, states, kept)?;
            let answer = self.value.bind(py).call1((shown,))?;
            self.read_log_prob(py, answer, log_prob)
        });
        called.map_err(ModelError::evaluation)
    }

    fn read_log_prob(
        &self,
        py: Python<'_>,
        answer: Bound<'_, PyAny>,
        log_prob: &mut [f64],
    ) -> PyResult<()> {
        let ready = answer.cast::<PyArray1<f64>>().is_ok_and(|array| array.len() == log_prob.len());
        let answer = match ready {
            true => answer,
            false => self.as_log_prob.bind(py).call1((answer, log_prob.len()))?,
        };
        let array = answer.cast::<PyArray1<f64>>()?.try_readonly()?;
        for (to, from) in log_prob.iter_mut().zip(array.as_array()) {
            *to = *from;
        }
        Ok(())
    }

    /// Evaluates log π and a table by one of the functions, and makes differences of it.
    fn with_table(
        &self,
        function: &Py<PyAny>,
        is_gradient: bool,
        states: States<'_>,
        cache: &mut EnergyCache,
        (log_prob, diff): (&mut [f64], &mut [f32]),
    ) -> Result<(), ModelError> {
        let called = Python::attach(|py| -> PyResult<()> {
            let shown = self.shown(py, states, &mut cache.shown)?;
            let answer = function.bind(py).call1((shown,))?;
            let pair = answer.cast::<PyTuple>()?;
            self.read_log_prob(py, pair.get_item(0)?, log_prob)?;
            let (chains, sites, values) =
                (states.chains(), self.space.sites(), self.space.values());
            let table = self.as_table.bind(py);
            let table = table.call1((pair.get_item(1)?, chains, sites, values, is_gradient))?;
            match table.cast::<PyArrayDyn<f32>>() {
                Ok(table) => self.file(states, table.try_readonly()?, is_gradient, diff),
                Err(_) => {
                    let table = table.cast::<PyArrayDyn<f64>>()?.try_readonly()?;
                    self.file(states, table, is_gradient, diff)
                }
            }
            Ok(())
        });
        called.map_err(ModelError::evaluation)
    }

    /// Differences of all chains from a table over chains and sites, and values unless there are two.
    fn file<T: Element + Copy + Into<f64>>(
        &self,
        states: States<'_>,
        table: PyReadonlyArrayDyn<'_, T>,
        is_gradient: bool,
        diff: &mut [f32],
    ) {
        let table = table.as_array();
        let rows = states.rows().zip(diff.chunks_exact_mut(self.space.diff_len()));
        let flat: Option<ArrayView2<'_, T>> = table.view().into_dimensionality().ok();
        let deep: Option<ArrayView3<'_, T>> = table.view().into_dimensionality().ok();
        for (chain, (state, diff)) in rows.enumerate() {
            if let Some(flat) = &flat {
                flips(state, flat.index_axis(Axis(0), chain), is_gradient, diff);
            } else if let Some(deep) = &deep {
                let of_chain = deep.index_axis(Axis(0), chain);
                self.values(state, of_chain, is_gradient, diff);
            }
            self.space.mask(diff);
        }
    }

    fn values<T: Copy + Into<f64>>(
        &self,
        state: &[u8],
        table: ArrayView2<'_, T>,
        is_gradient: bool,
        diff: &mut [f32],
    ) {
        let (sites, binary) = (self.space.sites(), self.space.is_binary());
        for (site, value) in state.iter().enumerate() {
            let own = usize::from(*value);
            let here = if is_gradient { table[[site, own]].into() } else { 0.0 };
            if binary {
                diff[site] = (table[[site, 1 - own]].into() - here) as f32;
                continue;
            }
            for other in 0..self.space.values_at(site) {
                let change = if other == own { 0.0 } else { table[[site, other]].into() - here };
                diff[other * sites + site] = change as f32;
            }
        }
    }

    /// Differences by showing the function every state with one site changed, many at once.
    fn try_all(
        &self,
        states: States<'_>,
        cache: &mut EnergyCache,
        log_prob: &[f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        let (sites, table) = (self.space.sites(), self.space.diff_len());
        let most = (TRIAL_BYTES / sites).max(states.chains());
        diff.fill(0.0);
        cache.clear();
        for (chain, state) in states.rows().enumerate() {
            for site in 0..sites {
                for value in (0..self.space.values_at(site)).map(|value| value as u8) {
                    if value == state[site] {
                        continue;
                    }
                    let plane = if self.space.is_binary() { 0 } else { usize::from(value) };
                    let target = chain * table + plane * sites + site;
                    cache.push(state, site, value, target);
                    if cache.targets.len() == most {
                        self.run_trials(cache, log_prob, diff)?;
                    }
                }
            }
        }
        self.run_trials(cache, log_prob, diff)?;
        diff.chunks_exact_mut(table).for_each(|diff| self.space.mask(diff));
        Ok(())
    }

    fn run_trials(
        &self,
        cache: &mut EnergyCache,
        here: &[f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        if cache.targets.is_empty() {
            return Ok(());
        }
        let EnergyCache { states, log_prob, targets, .. } = cache;
        log_prob.resize(targets.len(), 0.0);
        // Another array than that of the chains, which has another shape.
        self.evaluate(States::new(states, self.space.sites()), &mut None, log_prob)?;
        let table = self.space.diff_len();
        for (target, there) in targets.iter().zip(log_prob) {
            diff[*target] = (*there - here[target / table]) as f32;
        }
        cache.clear();
        Ok(())
    }
}

/// States as an array of that type: the one shown before, if nobody kept it.
fn show<'py, T: Element + From<u8> + Copy>(
    py: Python<'py>,
    states: States<'_>,
    kept: &mut Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let shape = [states.chains(), states.sites()];
    // What takes its place is unsafe code, and here it only saves an allocation.
    #[allow(deprecated)]
    let again = kept.take().filter(|array| array.get_refcnt(py) == 1);
    let again = again.map(|array| array.into_bound(py));
    let again =
        again.filter(|array| array.cast::<PyArray2<T>>().is_ok_and(|array| array.shape() == shape));
    let array = match again {
        Some(array) => array,
        None => PyArray2::<T>::zeros(py, shape, false).into_any(),
    };
    let mut rows = array.cast::<PyArray2<T>>()?.try_readwrite()?;
    for (mut row, state) in rows.as_array_mut().rows_mut().into_iter().zip(states.rows()) {
        for (to, from) in row.iter_mut().zip(state) {
            *to = T::from(*from);
        }
    }
    drop(rows);
    *kept = Some(array.clone().unbind());
    Ok(array)
}

/// Changes by flips from a table over sites: the changes themselves, or derivatives by the value.
fn flips<T: Copy + Into<f64>>(
    state: &[u8],
    table: ArrayView1<'_, T>,
    is_gradient: bool,
    diff: &mut [f32],
) {
    for ((diff, entry), value) in diff.iter_mut().zip(table).zip(state) {
        let entry = (*entry).into() as f32;
        *diff = if is_gradient { entry * (1.0 - 2.0 * f32::from(*value)) } else { entry };
    }
}

impl EnergyCache {
    fn clear(&mut self) {
        self.states.clear();
        self.targets.clear();
    }

    /// Collects a state with one site changed.
    fn push(&mut self, state: &[u8], site: usize, value: u8, target: usize) {
        let start = self.states.len();
        self.states.extend_from_slice(state);
        self.states[start + site] = value;
        self.targets.push(target);
    }
}

impl Model for Energy {
    type Cache = EnergyCache;

    fn space(&self) -> &Space {
        &self.space
    }

    fn new_cache(&self, _chains: usize) -> EnergyCache {
        EnergyCache::default()
    }

    fn log_prob(
        &self,
        states: States<'_>,
        cache: &mut EnergyCache,
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        self.evaluate(states, &mut cache.shown, log_prob)
    }

    fn log_prob_and_diff(
        &self,
        kind: Differences,
        states: States<'_>,
        cache: &mut EnergyCache,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        match (kind, &self.gradient, &self.delta) {
            (Differences::Taylor, Some(gradient), _) => {
                self.with_table(gradient, true, states, cache, (log_prob, diff))
            }
            (_, _, Some(delta)) => self.with_table(delta, false, states, cache, (log_prob, diff)),
            _ => {
                self.evaluate(states, &mut cache.shown, log_prob)?;
                self.try_all(states, cache, log_prob, diff)
            }
        }
    }

    fn site_diff(
        &self,
        state: &[u8],
        _chain: usize,
        cache: &mut EnergyCache,
        site: usize,
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        cache.clear();
        (0..diff.len()).for_each(|value| cache.push(state, site, value as u8, value));
        let EnergyCache { states, shown, .. } = cache;
        self.evaluate(States::new(states, state.len()), shown, diff)?;
        let own = usize::from(state[site]);
        let here = diff[own];
        diff.iter_mut().for_each(|diff| *diff -= here);
        // Not the difference of both: they may be infinite.
        diff[own] = 0.0;
        Ok(())
    }

    fn block_size(&self, chains: usize) -> usize {
        chains
    }
}
