//! Chains that outlive their model's parameters: for training loops.

use crate::arrays;
use crate::errors::{of_model, own_exception};
use crate::job::lock;
use crate::model::CoreModel;
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use saltus::engine::{self, Failed, SamplerBlock, block_ranges, sampler_block};
use saltus::model::erased::Erased;
use saltus::tune::Tuner;
use saltus::{ChainRng, Model, Sampler, Stream, Workers};
use std::sync::Mutex;

/// Chains that go on from where they are, whatever the model has become.
#[pyclass(frozen, module = "saltus._core")]
pub struct Chains {
    moving: Mutex<Moving>,
    workers: Workers,
    evidence: Vec<(usize, u8)>,
    has_scale: bool,
}

struct Moving {
    blocks: Vec<SamplerBlock<'static, Erased>>,
    /// Follows the model, which changes under the chains.
    tuner: Option<Tuner>,
    scale: f64,
    acceptance: f64,
}

#[pymethods]
impl Chains {
    /// Chains of a model; the sampler is JSON as stores keep it.
    #[new]
    #[pyo3(signature = (model, sampler, chains, seed, *, evidence=Vec::new(), init=None, threads=None))]
    fn new(
        model: &CoreModel,
        sampler: &str,
        chains: usize,
        seed: u64,
        evidence: Vec<(usize, u8)>,
        init: Option<PyReadonlyArray2<'_, u8>>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let sampler: Sampler = serde_json::from_str(sampler)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let model = model.clamped(&evidence).map_err(|error| of_model(&error))?;
        let space = model.space().clone();
        sampler.suits(&model).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let fixed = |site: usize| evidence.iter().any(|(one, _)| *one == site);
        let init = init.as_ref().map(PyReadonlyArray2::as_array);
        let new_block = |range: std::ops::Range<usize>| {
            let first = range.start;
            let mut states = vec![0; range.len() * space.sites()];
            let rngs = range.zip(states.chunks_exact_mut(space.sites())).map(|(chain, state)| {
                let mut rng = ChainRng::new(seed, Stream::Chain(chain as u64));
                match &init {
                    None => model.initial_state(&mut rng, state),
                    Some(init) => {
                        let row = init.row(chain);
                        let free = row.iter().enumerate().filter(|(at, _)| !fixed(*at));
                        state.iter_mut().zip(free).for_each(|(to, (_, from))| *to = *from);
                    }
                }
                rng
            });
            let rngs = rngs.collect();
            sampler_block(&model, &sampler, first, states, rngs, None)
        };
        let size = sampler.terms(&model, chains).block_size;
        let blocks: Vec<_> = block_ranges(size, chains).map(new_block).collect();
        let workers = Workers::for_blocks(threads, blocks.len().max(1));
        let workers = workers.map_err(PyRuntimeError::new_err)?;
        let scale = sampler.traits(&space).scale;
        let has_scale = scale.is_some();
        let tuner = scale.filter(|_| sampler.scale.is_none());
        let tuner = tuner.map(|scale| Tuner::following(&scale, sampler.target_acceptance));
        let scale = sampler.scale.or(tuner.as_ref().map(Tuner::scale)).unwrap_or(1.0);
        let moving = Mutex::new(Moving { blocks, tuner, scale, acceptance: f64::NAN });
        Ok(Self { moving, workers, evidence, has_scale })
    }

    /// Makes steps of every chain under a model as it is now; leaves the states.
    fn step<'py>(
        &self,
        py: Python<'py>,
        model: &CoreModel,
        steps: usize,
    ) -> PyResult<Bound<'py, PyArray2<u8>>> {
        let model = model.clamped(&self.evidence).map_err(|error| of_model(&error))?;
        let (chains, states) = py.detach(|| self.move_all(&model, steps)).map_err(of_failed)?;
        arrays::of_states(py, chains, model.shown_space().sites(), states)
    }

    /// Mean acceptance of the latest steps.
    #[getter]
    fn acceptance(&self) -> f64 {
        lock(&self.moving).acceptance
    }

    /// The scale that the next steps are made with, if the sampler has one.
    #[getter]
    fn scale(&self) -> Option<f64> {
        Some(lock(&self.moving).scale).filter(|_| self.has_scale)
    }
}

impl Chains {
    fn move_all(&self, model: &Erased, steps: usize) -> Result<(usize, Vec<u8>), Failed> {
        let moving = &mut *lock(&self.moving);
        let scale = moving.scale;
        let moved = engine::each(&self.workers, &mut moving.blocks, |block| {
            block.set_scale(scale);
            // The model may be another than before.
            block.start(model)?;
            let mut acceptance = 0.0;
            for _ in 0..steps {
                block.step(model)?;
                acceptance += block.reports().iter().map(|report| report.acceptance).sum::<f64>();
            }
            Ok(acceptance)
        })?;
        let chains: usize = moving.blocks.iter().map(|block| block.states().chains()).sum();
        if steps > 0 {
            moving.acceptance = moved.iter().sum::<f64>() / (steps * chains) as f64;
            if let Some(tuner) = &mut moving.tuner {
                tuner.round(moving.acceptance);
                moving.scale = tuner.scale();
            }
        }
        let sites = model.shown_space().sites();
        let mut states = vec![0; chains * sites];
        let rows = moving.blocks.iter().flat_map(|block| block.states().rows());
        rows.zip(states.chunks_exact_mut(sites)).for_each(|(from, to)| model.show(from, to));
        Ok((chains, states))
    }
}

fn of_failed(failed: Failed) -> PyErr {
    own_exception(&failed.cause).unwrap_or_else(|| {
        let Failed { chain, step, cause } = failed;
        PyRuntimeError::new_err(format!("chain {chain} failed at step {step}: {cause}"))
    })
}
