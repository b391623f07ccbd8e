//! Everything from which a stopped training goes on as if it had never stopped, in one file.

use super::{Buffer, TrainError, TrainSettings, Training};
use crate::architecture::Architecture;
use crate::base::Base;
use crate::network::Network;
use saltus::data::Examples;
use saltus::tensor_file::{self, Tensor, Tensors};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The key of the metadata.
const STATE: &str = "training";

/// A training as it was when it was saved.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    path: String,
    state: State,
    parameters: Vec<f32>,
    average: Vec<f32>,
    first: Vec<f32>,
    second: Vec<f32>,
    base_mean: Vec<f32>,
    buffer: Vec<u8>,
    latest: Vec<u8>,
}

/// What is not in tensors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    architecture: Architecture,
    settings: TrainSettings,
    iteration: usize,
    seconds: f64,
    log_scale: Option<f64>,
    about: String,
}

impl<'a, N: Network + 'static> Training<'a, N> {
    /// Writes a checkpoint, with words of the caller's own. The file appears whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>, about: &str) -> Result<(), TrainError> {
        let path = path.as_ref();
        let sites = self.examples.space().sites();
        let state = State {
            architecture: *self.model.parameters().architecture(),
            settings: self.settings.clone(),
            iteration: self.iteration,
            seconds: self.seconds,
            log_scale: self.tuner.as_ref().map(|tuner| tuner.log_scale()),
            about: about.to_owned(),
        };
        let numbers = |numbers: &[f32]| Tensor::floats(numbers, vec![numbers.len()]);
        let states =
            |states: &[u8]| Tensor::bytes(states.to_vec(), vec![states.len() / sites, sites]);
        let tensors = [
            ("parameters", numbers(self.model.parameters().numbers())),
            ("average", numbers(&self.average)),
            ("first_moments", numbers(&self.moments.first)),
            ("second_moments", numbers(&self.moments.second)),
            ("base_mean", numbers(self.model.base().mean())),
            ("buffer", states(self.buffer.states())),
            ("chains", states(&self.latest)),
        ];
        serde_json::to_string(&state)
            .map_err(|error| format!("cannot be written: {error}"))
            .and_then(|state| tensor_file::write(path, tensors, (STATE, &state)))
            .map_err(|reason| TrainError::File { path: path.display().to_string(), reason })
    }

    /// Goes on from a checkpoint, with the same examples. `iterations` and `threads` may be others.
    pub fn resume(
        examples: &'a Examples,
        checkpoint: Checkpoint,
        iterations: Option<usize>,
        threads: Option<usize>,
    ) -> Result<Self, TrainError> {
        let Checkpoint { path, state, .. } = &checkpoint;
        let failed = |reason: &str| TrainError::File { path: path.clone(), reason: reason.into() };
        let mut settings = TrainSettings { threads, ..state.settings.clone() };
        settings.iterations = iterations.unwrap_or(settings.iterations);
        let mut training = Self::new(examples, state.architecture, settings)?;
        if Base::of_examples(examples).mean() != checkpoint.base_mean {
            return Err(failed("is of a training on other examples"));
        }
        let values = examples.space().values();
        let states = || checkpoint.buffer.iter().chain(&checkpoint.latest);
        if states().any(|value| usize::from(*value) >= values) {
            return Err(failed("has chains that are no states"));
        }
        let tensors =
            [&checkpoint.parameters, &checkpoint.average, &checkpoint.first, &checkpoint.second];
        if tensors.into_iter().flatten().any(|number| !number.is_finite()) {
            return Err(failed("has a number that is not finite"));
        }
        training.iteration = state.iteration;
        training.seconds = state.seconds;
        if let (Some(tuner), Some(log_scale)) = (&mut training.tuner, state.log_scale) {
            tuner.set_log_scale(log_scale);
        }
        training.model.change_parameters(|numbers| {
            numbers.copy_from_slice(&checkpoint.parameters);
        });
        training.average = checkpoint.average;
        training.moments.first = checkpoint.first;
        training.moments.second = checkpoint.second;
        training.buffer = Buffer::of_states(checkpoint.buffer, examples.space().sites());
        training.latest = checkpoint.latest;
        Ok(training)
    }
}

impl Checkpoint {
    /// Reads a checkpoint.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TrainError> {
        let path = path.as_ref();
        read(path).map_err(|reason| TrainError::File { path: path.display().to_string(), reason })
    }

    /// The words it was saved with.
    pub fn about(&self) -> &str {
        &self.state.about
    }

    /// The network.
    pub fn architecture(&self) -> &Architecture {
        &self.state.architecture
    }

    /// How it was trained.
    pub fn settings(&self) -> &TrainSettings {
        &self.state.settings
    }

    /// Iterations made.
    pub fn iteration(&self) -> usize {
        self.state.iteration
    }
}

fn read(path: &Path) -> Result<Checkpoint, String> {
    let bytes = tensor_file::read(path)?;
    let file = Tensors::new(&bytes)?;
    let words = file.metadata(STATE).ok_or("is not the checkpoint of a training")?;
    let state: State = serde_json::from_str(&words)
        .map_err(|error| format!("is not the checkpoint of a training: {error}"))?;
    let space = state.architecture.space();
    let parameters = state.architecture.parameters();
    let numbers = |name: &str| file.floats_of_shape(name, &[parameters]);
    let states = |name: &str, count: usize| file.bytes_of_shape(name, &[count, space.sites()]);
    Ok(Checkpoint {
        path: path.display().to_string(),
        parameters: numbers("parameters")?,
        average: numbers("average")?,
        first: numbers("first_moments")?,
        second: numbers("second_moments")?,
        base_mean: file.floats_of_shape("base_mean", &[space.diff_len()])?,
        buffer: states("buffer", state.settings.buffer)?,
        latest: states("chains", state.settings.batch)?,
        state,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::Cpu;
    use crate::data::Dataset;
    use crate::train::Preset;
    use saltus::Sampler;

    #[test]
    fn chains_and_numbers_that_cannot_be_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.safetensors");
        let architecture = Architecture::new(2, 2, 2, 3).unwrap().with_blocks(0).unwrap();
        let examples = Examples::new(architecture.space(), vec![1; 40]).unwrap();
        let recipe = Preset::Laptop.settings(&Dataset::StaticMnist, Sampler::dlmc());
        let settings = TrainSettings { batch: 5, buffer: 10, ..recipe };
        let training: Training<Cpu> = Training::new(&examples, architecture, settings).unwrap();
        training.save(&path, "").unwrap();
        let refused = |spoil: fn(&mut Checkpoint)| {
            let mut checkpoint = Checkpoint::read(&path).unwrap();
            spoil(&mut checkpoint);
            let resumed = Training::<Cpu>::resume(&examples, checkpoint, None, Some(1));
            resumed.err().unwrap().to_string()
        };
        let chains = refused(|checkpoint| checkpoint.buffer[3] = 2);
        assert!(chains.ends_with("has chains that are no states"), "{chains}");
        for number in [
            refused(|checkpoint| checkpoint.average[0] = f32::NAN),
            refused(|checkpoint| checkpoint.second[1] = f32::INFINITY),
        ] {
            assert!(number.ends_with("has a number that is not finite"), "{number}");
        }
        // Tensors of another network.
        let numbers = Tensor::floats(&[0.0; 3], vec![3]);
        let words = Tensors::new(&std::fs::read(&path).unwrap()).unwrap().metadata(STATE).unwrap();
        tensor_file::write(&path, [("parameters", numbers)], (STATE, &words)).unwrap();
        let shape = Checkpoint::read(&path).unwrap_err().to_string();
        assert!(shape.contains("parameters") && shape.contains("[3]"), "{shape}");
    }
}
