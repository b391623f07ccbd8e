//! Everything from which a stopped training goes on as if it had never stopped, in one file.

use super::schedule::Patience;
use super::{Buffer, TrainError, TrainSettings, Training};
use crate::clock::Spent;
use crate::learnable::Learnable;
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
    data: Vec<f32>,
    buffer: Vec<u8>,
    latest: Vec<u8>,
}

/// What is not in tensors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    sites: usize,
    parameters: usize,
    settings: TrainSettings,
    iteration: usize,
    seconds: f64,
    /// Not in checkpoints of before it was counted.
    #[serde(default)]
    processor_seconds: f64,
    log_scale: Option<f64>,
    patience: Patience,
    about: String,
}

impl<'a, M: Learnable + 'a> Training<'a, M> {
    /// Writes a checkpoint, with words of the caller's own. The file appears whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>, about: &str) -> Result<(), TrainError> {
        let path = path.as_ref();
        let sites = self.model.space().sites();
        let state = State {
            sites,
            parameters: self.parameters.len(),
            settings: self.settings.clone(),
            iteration: self.iteration,
            seconds: self.spent.seconds,
            processor_seconds: self.spent.processor_seconds,
            log_scale: self.tuner.as_ref().map(|tuner| tuner.log_scale()),
            patience: self.patience,
            about: about.to_owned(),
        };
        let numbers = |numbers: &[f32]| Tensor::floats(numbers, vec![numbers.len()]);
        let states =
            |states: &[u8]| Tensor::bytes(states.to_vec(), vec![states.len() / sites, sites]);
        let tensors = [
            ("parameters", numbers(&self.parameters)),
            ("average", numbers(&self.average)),
            ("first_moments", numbers(&self.moments.first)),
            ("second_moments", numbers(&self.moments.second)),
            ("data_means", numbers(&self.data_means())),
            ("buffer", states(self.buffer.states())),
            ("chains", states(&self.latest)),
        ];
        serde_json::to_string(&state)
            .map_err(|error| format!("cannot be written: {error}"))
            .and_then(|state| tensor_file::write(path, tensors, (STATE, &state)))
            .map_err(|reason| TrainError::File { path: path.display().to_string(), reason })
    }

    /// Goes on from a checkpoint: `self` is the same training before its first iteration, but that
    /// iterations and threads may be others.
    pub fn resumed(mut self, checkpoint: Checkpoint) -> Result<Self, TrainError> {
        let Checkpoint { path, state, .. } = &checkpoint;
        let failed = |reason: &str| TrainError::File { path: path.clone(), reason: reason.into() };
        let State { iteration, seconds, processor_seconds, log_scale, patience, .. } = *state;
        let (threads, iterations) = (self.settings.threads, self.settings.iterations);
        if self.settings != (TrainSettings { threads, iterations, ..state.settings.clone() }) {
            return Err(failed("is of a training with other settings"));
        }
        let space = self.model.space();
        if (state.sites, state.parameters) != (space.sites(), self.parameters.len()) {
            return Err(failed("is of a training of another model"));
        }
        if self.data_means() != checkpoint.data {
            return Err(failed("is of a training on other examples"));
        }
        let values = space.values();
        let states = || checkpoint.buffer.iter().chain(&checkpoint.latest);
        if states().any(|value| usize::from(*value) >= values) {
            return Err(failed("has chains that are no states"));
        }
        let tensors =
            [&checkpoint.parameters, &checkpoint.average, &checkpoint.first, &checkpoint.second];
        if tensors.into_iter().flatten().any(|number| !number.is_finite()) {
            return Err(failed("has a number that is not finite"));
        }
        let sites = space.sites();
        (self.iteration, self.patience) = (iteration, patience);
        self.spent = Spent { seconds, processor_seconds };
        if let (Some(tuner), Some(log_scale)) = (&mut self.tuner, log_scale) {
            tuner.set_log_scale(log_scale);
        }
        self.model.set_parameters(&checkpoint.parameters)?;
        self.parameters = checkpoint.parameters;
        self.average = checkpoint.average;
        self.moments.first = checkpoint.first;
        self.moments.second = checkpoint.second;
        self.buffer = Buffer::of_states(checkpoint.buffer, sites);
        self.latest = checkpoint.latest;
        Ok(self)
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
    let numbers = |name: &str| file.floats_of_shape(name, &[state.parameters]);
    let states = |name: &str, count: usize| file.bytes_of_shape(name, &[count, state.sites]);
    Ok(Checkpoint {
        path: path.display().to_string(),
        parameters: numbers("parameters")?,
        average: numbers("average")?,
        first: numbers("first_moments")?,
        second: numbers("second_moments")?,
        data: file.floats("data_means")?.0,
        buffer: states("buffer", state.settings.buffer())?,
        latest: states("chains", state.settings.batch)?,
        state,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Examples;
    use saltus::{Rbm, Space};

    fn training(examples: &Examples, threads: usize, iterations: usize) -> Training<'_, Rbm> {
        let settings = TrainSettings {
            batch: 5,
            buffer: 10,
            steps: 2,
            iterations,
            threads: Some(threads),
            ..TrainSettings::default()
        };
        Training::new(examples, Rbm::random(4, 3, 2, 1).unwrap(), settings).unwrap()
    }

    #[test]
    fn chains_and_numbers_that_cannot_be_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.safetensors");
        let examples = Examples::new(Space::new(4, 2).unwrap(), vec![1; 40]).unwrap();
        training(&examples, 1, 7).save(&path, "").unwrap();
        let refused = |spoil: fn(&mut Checkpoint)| {
            let mut checkpoint = Checkpoint::read(&path).unwrap();
            spoil(&mut checkpoint);
            training(&examples, 1, 7).resumed(checkpoint).err().unwrap().to_string()
        };
        let chains = refused(|checkpoint| checkpoint.buffer[3] = 2);
        assert!(chains.ends_with("has chains that are no states"), "{chains}");
        for number in [
            refused(|checkpoint| checkpoint.average[0] = f32::NAN),
            refused(|checkpoint| checkpoint.second[1] = f32::INFINITY),
        ] {
            assert!(number.ends_with("has a number that is not finite"), "{number}");
        }
        let other = refused(|checkpoint| checkpoint.state.settings.steps = 9);
        assert!(other.ends_with("is of a training with other settings"), "{other}");
        // Tensors of another model.
        let numbers = Tensor::floats(&[0.0; 3], vec![3]);
        let words = Tensors::new(&std::fs::read(&path).unwrap()).unwrap().metadata(STATE).unwrap();
        tensor_file::write(&path, [("parameters", numbers)], (STATE, &words)).unwrap();
        let shape = Checkpoint::read(&path).unwrap_err().to_string();
        assert!(shape.contains("parameters") && shape.contains("[3]"), "{shape}");
    }

    #[test]
    fn a_resumed_training_of_an_rbm_is_one_that_never_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.safetensors");
        let states = (0..80).map(|at| u8::from(at * at % 7 < 3)).collect();
        let examples = Examples::new(Space::new(4, 2).unwrap(), states).unwrap();
        let run = |mut training: Training<'_, Rbm>, until: usize, path: &Path| {
            while training.iteration() < until {
                training.iterate().unwrap();
            }
            training.save(path, "a test").unwrap();
            (training.parameters().to_vec(), training.average().to_vec(), training.buffer().clone())
        };
        let whole = run(training(&examples, 1, 9), 9, &folder.path().join("whole"));
        run(training(&examples, 1, 9), 4, &path);
        let checkpoint = Checkpoint::read(&path).unwrap();
        assert_eq!((checkpoint.about(), checkpoint.iteration()), ("a test", 4));
        let resumed = training(&examples, 3, 9).resumed(checkpoint).unwrap();
        assert_eq!(run(resumed, 9, &path), whole);
    }
}
