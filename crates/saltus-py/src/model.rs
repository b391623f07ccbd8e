//! Models of Python: by name, from arrays, or from a function.

use crate::energy::Energy;
use crate::errors::of_model;
use numpy::ndarray::Array2;
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use saltus::model::erased::Erased;
use saltus::model::fixed_sum::FixedSum;
use saltus::model::polynomial::{Polynomial, Variables};
use saltus::zoo::{Building, Built, Extent, Given, ModelSpec};
use saltus::{
    Clamped, Differences, Edge, Factor, Factors, Model, ModelError, Pairwise, Rbm, Settings, Space,
    States,
};
use serde_json::{Value, json};

/// A model, ready to be sampled.
#[pyclass(frozen, name = "Model", module = "saltus._core")]
pub struct CoreModel {
    pub(crate) model: Erased,
    pub(crate) name: String,
    pub(crate) words: String,
    /// From what a store can build it again.
    pub(crate) config: Value,
    /// Groups and sums that its states keep.
    given: Given,
}

/// Fails if a model could not be in memory: asking for it would end the interpreter.
fn fits(&Extent { sites, parameters, .. }: &Extent) -> Result<(), ModelError> {
    let bytes = parameters.max(sites).saturating_mul(size_of::<f32>());
    match Vec::<u8>::new().try_reserve_exact(bytes) {
        Ok(()) => Ok(()),
        Err(_) => Err(ModelError::invalid(format!(
            "{sites} sites with {parameters} parameters do not fit into memory"
        ))),
    }
}

impl CoreModel {
    fn of(name: &str, words: String, model: impl Model + 'static) -> Self {
        let (model, name) = (Erased::new(model), name.to_owned());
        Self { model, name, words, config: Value::Null, given: Given::default() }
    }

    /// The model given the values of some sites.
    pub(crate) fn clamped(&self, evidence: &[(usize, u8)]) -> Result<Erased, ModelError> {
        Ok(match evidence {
            _ if !self.given.is_empty() => self.settled(evidence)?,
            [] => self.model.clone(),
            evidence => Erased::new(Clamped::new(self.model.clone(), evidence)?),
        })
    }

    /// The same where nothing may be left to sample.
    pub(crate) fn settled(&self, evidence: &[(usize, u8)]) -> Result<Erased, ModelError> {
        self.given(evidence).apply(self.model.clone())
    }

    /// What is known of its states, beside the values of some sites.
    fn given(&self, evidence: &[(usize, u8)]) -> Given {
        Given { evidence: evidence.to_vec(), ..self.given.clone() }
    }

    /// It in words, given the values of some sites.
    pub(crate) fn words_given(&self, evidence: &[(usize, u8)]) -> String {
        let given = self.given(evidence);
        match given.is_empty() {
            true => self.words.clone(),
            false => format!("{}, given {}", self.words, given.words()),
        }
    }

    /// From what a store can build it again, given the values of some sites, and how its sampler was chosen.
    pub(crate) fn config_given(&self, evidence: &[(usize, u8)], choice: Option<&Value>) -> Value {
        let mut config = self.config.clone();
        if let Value::Object(entries) = &mut config {
            if !evidence.is_empty() {
                entries.insert("evidence".to_owned(), json!(evidence));
            }
            if !self.given.one_hot.is_empty() {
                entries.insert("one_hot".to_owned(), json!(self.given.one_hot));
            }
            if !self.given.sums.is_empty() {
                entries.insert("sums".to_owned(), json!(self.given.sums));
            }
            if let Some(choice) = choice {
                entries.insert("choice".to_owned(), choice.clone());
            }
        }
        config
    }

    fn check_states(&self, states: &PyReadonlyArray2<'_, u8>) -> PyResult<Vec<u8>> {
        let space = self.model.shown_space();
        let [_, sites] = *states.shape() else { unreachable!("two dimensions") };
        if sites != space.sites() {
            return Err(PyValueError::new_err(format!(
                "states have {sites} sites, the model has {}",
                space.sites()
            )));
        }
        let states: Vec<u8> = states.as_array().iter().copied().collect();
        for state in states.chunks_exact(sites.max(1)) {
            if let Some(site) = space.misplaced(state) {
                return Err(PyValueError::new_err(format!(
                    "site {site} cannot have value {}: its last value is {}",
                    state[site],
                    space.values_at(site) - 1
                )));
            }
        }
        Ok(states)
    }
}

fn edges(
    from: &PyReadonlyArray1<'_, u32>,
    to: &PyReadonlyArray1<'_, u32>,
    weight: &PyReadonlyArray1<'_, f32>,
) -> Vec<Edge> {
    let (from, to, weight) = (from.as_array(), to.as_array(), weight.as_array());
    let ends = from.iter().zip(to.iter()).zip(weight.iter());
    ends.map(|((from, to), weight)| Edge { from: *from, to: *to, weight: *weight }).collect()
}

fn numbers(array: &PyReadonlyArray1<'_, f32>) -> Vec<f32> {
    array.as_array().iter().copied().collect()
}

#[pymethods]
impl CoreModel {
    /// A model of the registry: `spec` is JSON as stores keep it, `seed` that of random parameters.
    #[staticmethod]
    fn from_spec(py: Python<'_>, spec: &str, seed: u64) -> PyResult<Self> {
        let mut spec: ModelSpec =
            serde_json::from_str(spec).map_err(|error| PyValueError::new_err(error.to_string()))?;
        for path in spec.paths_mut() {
            if let Ok(absolute) = std::path::absolute(&*path) {
                *path = absolute;
            }
        }
        py.detach(|| {
            let check = |extent: Extent| fits(&extent);
            let building = Building { seed, check: Some(&check), ..Building::default() };
            let Built { title, model } = spec.build(&building)?;
            let config = json!({ "model": spec, "model_seed": seed });
            let (name, words) = (title.name.to_owned(), title.words);
            Ok(Self { model, name, words, config, given: Given::default() })
        })
        .map_err(|error| of_model(&error))
    }

    /// Sites and values by the names that the model's file has for them, or by their numbers; none of a model that is
    /// made from arrays or functions.
    fn places(&self, pairs: Vec<(String, String)>) -> PyResult<Option<Vec<(usize, u8)>>> {
        let Some(spec) = self.config.get("model") else { return Ok(None) };
        let wrong = |reason: String| PyValueError::new_err(format!("evidence: {reason}"));
        let spec: ModelSpec =
            serde_json::from_value(spec.clone()).map_err(|error| wrong(error.to_string()))?;
        let names = spec.names().map_err(|error| of_model(&error))?;
        let place = |(site, value): (String, String)| names.place(&site, &value).map_err(wrong);
        pairs.into_iter().map(place).collect::<PyResult<_>>().map(Some)
    }

    /// The model of those states in which groups of bits have exactly one that is set, and sums are what is said.
    fn restricted(
        &self,
        py: Python<'_>,
        one_hot: Vec<Vec<u32>>,
        sums: Vec<(usize, Vec<u32>)>,
    ) -> PyResult<Self> {
        let sums = sums.into_iter().map(|(total, sites)| FixedSum { total, sites }).collect();
        let given = Given { evidence: Vec::new(), one_hot, sums };
        let (model, name) = (self.model.clone(), self.name.clone());
        let (words, config) = (self.words.clone(), self.config.clone());
        let restricted = Self { model, name, words, config, given };
        py.detach(|| restricted.clamped(&[])).map_err(|error| of_model(&error))?;
        Ok(restricted)
    }

    /// Steps of warm-up and per draw that suit a run of those settings, where they are not chosen.
    #[pyo3(signature = (settings, evidence, warmup, thin))]
    fn steps(
        &self,
        settings: &str,
        evidence: Vec<(usize, u8)>,
        warmup: Option<usize>,
        thin: Option<usize>,
    ) -> PyResult<(usize, usize)> {
        let settings: Settings = serde_json::from_str(settings)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let clamped = self.clamped(&evidence).map_err(|error| of_model(&error))?;
        let Settings { warmup, thin, .. } = settings.suited(&clamped, warmup, thin);
        Ok((warmup, thin))
    }

    /// Spins with fields and couplings.
    #[staticmethod]
    fn ising(
        py: Python<'_>,
        field: PyReadonlyArray1<'_, f32>,
        from: PyReadonlyArray1<'_, u32>,
        to: PyReadonlyArray1<'_, u32>,
        weight: PyReadonlyArray1<'_, f32>,
    ) -> PyResult<Self> {
        let (field, edges) = (numbers(&field), edges(&from, &to, &weight));
        py.detach(|| {
            let words = format!("Ising model of {} spins, {} couplings", field.len(), edges.len());
            Ok(Self::of("ising", words, Pairwise::ising(&edges, field)?.seen_as_lattice()?.0))
        })
        .map_err(|error: ModelError| of_model(&error))
    }

    /// Values with fields and couplings of equal values.
    #[staticmethod]
    fn potts(
        py: Python<'_>,
        values: usize,
        field: PyReadonlyArray1<'_, f32>,
        from: PyReadonlyArray1<'_, u32>,
        to: PyReadonlyArray1<'_, u32>,
        weight: PyReadonlyArray1<'_, f32>,
    ) -> PyResult<Self> {
        let (field, edges) = (numbers(&field), edges(&from, &to, &weight));
        py.detach(|| {
            let sites = field.len() / values.max(1);
            let words = format!("Potts model of {sites} sites, {} couplings", edges.len());
            Ok(Self::of(
                "potts",
                words,
                Pairwise::potts(values, &edges, &field)?.seen_as_lattice()?.0,
            ))
        })
        .map_err(|error: ModelError| of_model(&error))
    }

    /// Tables of logarithms over some sites each, the last one fastest.
    #[staticmethod]
    #[allow(clippy::needless_pass_by_value)]
    fn factors(
        py: Python<'_>,
        cards: Vec<usize>,
        tables: Vec<(Vec<u32>, PyReadonlyArray1<'_, f64>)>,
        words: String,
    ) -> PyResult<Self> {
        let tables: Vec<(Vec<u32>, Vec<f64>)> = tables
            .into_iter()
            .map(|(scope, logs)| (scope, logs.as_array().iter().copied().collect()))
            .collect();
        py.detach(|| {
            let tables = tables.into_iter().map(|(scope, logs)| Factor::new(scope, logs));
            let tables: Vec<Factor> = tables.collect::<Result<_, _>>()?;
            let model = Factors::new(Space::mixed(&cards)?, &tables)?;
            Ok(Self::of("factors", words, model))
        })
        .map_err(|error: ModelError| of_model(&error))
    }

    /// Products of spins, or of bits.
    #[staticmethod]
    #[allow(clippy::needless_pass_by_value)]
    fn polynomial(
        py: Python<'_>,
        sites: usize,
        terms: Vec<(Vec<u32>, f64)>,
        spins: bool,
    ) -> PyResult<Self> {
        py.detach(|| {
            let variables = if spins { Variables::Spins } else { Variables::Bits };
            let words = format!("polynomial of {sites} variables, {} terms", terms.len());
            Ok(Self::of("polynomial", words, Polynomial::new(variables, sites, &terms)?))
        })
        .map_err(|error: ModelError| of_model(&error))
    }

    /// A restricted Boltzmann machine.
    #[staticmethod]
    #[pyo3(signature = (values, weight, hidden_bias, visible_bias, data_mean=None))]
    fn rbm(
        py: Python<'_>,
        values: usize,
        weight: PyReadonlyArray1<'_, f32>,
        hidden_bias: PyReadonlyArray1<'_, f32>,
        visible_bias: PyReadonlyArray1<'_, f32>,
        data_mean: Option<PyReadonlyArray1<'_, f32>>,
    ) -> PyResult<Self> {
        let [weight, hidden, visible] = [&weight, &hidden_bias, &visible_bias].map(numbers);
        let data_mean = data_mean.as_ref().map(numbers);
        py.detach(|| {
            let model = Rbm::new(values, &weight, &hidden, &visible, data_mean.as_deref())?;
            let units = model.hidden();
            let words = format!("restricted Boltzmann machine of {units} hidden units");
            Ok(Self::of("rbm", words, model))
        })
        .map_err(|error: ModelError| of_model(&error))
    }

    /// A model of the user's own function, see `saltus._energy`.
    #[staticmethod]
    #[pyo3(signature = (cards, value, dtype, gradient=None, delta=None, name="own"))]
    fn from_functions(
        cards: Vec<usize>,
        value: Py<PyAny>,
        dtype: &str,
        gradient: Option<Py<PyAny>>,
        delta: Option<Py<PyAny>>,
        name: &str,
    ) -> PyResult<Self> {
        let space = Space::mixed(&cards).map_err(|error| of_model(&error))?;
        let words = format!("a function of {} sites", cards.len());
        Ok(Self::of(name, words, Energy::new(space, value, dtype, gradient, delta)?))
    }

    /// Number of sites.
    #[getter]
    fn sites(&self) -> usize {
        self.model.shown_space().sites()
    }

    /// Values of every site.
    #[getter]
    fn cards(&self) -> Vec<usize> {
        let space = self.model.shown_space();
        (0..space.sites()).map(|site| space.values_at(site)).collect()
    }

    /// How sites are arranged, if they are.
    #[getter]
    fn shape(&self) -> Option<Vec<usize>> {
        self.model.shown_space().shape().map(<[usize]>::to_vec)
    }

    /// The sampler that goes through temperatures, unless another is named.
    fn path_sampler(&self, evidence: Vec<(usize, u8)>) -> PyResult<String> {
        let clamped = self.clamped(&evidence).map_err(|error| of_model(&error))?;
        Ok(saltus::choose::for_path(&clamped).name().to_owned())
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// What it is, in words.
    #[getter]
    fn words(&self) -> &str {
        &self.words
    }

    /// log π of every state, up to a constant.
    fn log_prob<'py>(
        &self,
        py: Python<'py>,
        states: PyReadonlyArray2<'py, u8>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let rows = self.check_states(&states)?;
        let model = &self.model;
        let log_prob = py.detach(|| {
            let states = States::new(&rows, model.space().sites());
            let mut log_prob = vec![0.0; states.chains()];
            model.log_prob(states, &mut model.new_cache(states.chains()), &mut log_prob)?;
            Ok(log_prob)
        });
        Ok(log_prob.map_err(|error: ModelError| of_model(&error))?.into_pyarray(py))
    }

    /// The differences of every state, a row each: of flips, or plane after plane.
    fn differences<'py>(
        &self,
        py: Python<'py>,
        states: PyReadonlyArray2<'py, u8>,
        exact: bool,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let rows = self.check_states(&states)?;
        let model = &self.model;
        let kind = if exact { Differences::Exact } else { Differences::Taylor };
        let diff = py.detach(|| {
            let states = States::new(&rows, model.space().sites());
            let chains = states.chains();
            let (mut cache, mut log_prob) = (model.new_cache(chains), vec![0.0; chains]);
            let mut diff = vec![0.0; chains * model.space().diff_len()];
            model.log_prob_and_diff(kind, states, &mut cache, &mut log_prob, &mut diff)?;
            Ok(diff)
        });
        let diff = diff.map_err(|error: ModelError| of_model(&error))?;
        let shape = (diff.len() / model.space().diff_len(), model.space().diff_len());
        let array = Array2::from_shape_vec(shape, diff);
        Ok(array.map_err(|error| PyValueError::new_err(error.to_string()))?.into_pyarray(py))
    }
}
