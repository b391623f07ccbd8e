//! Learning a Potts model from an alignment.

use super::{Alignment, Frequencies, Potts};
use crate::clock::Spent;
use crate::pcd::{Checkpoint, Fall, Report, TrainError, TrainSettings, Training};
use saltus::{Control, Model, Sampler, States};
use serde::{Deserialize, Serialize};

/// How to learn a Potts model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PottsSettings {
    /// What moves the chains.
    pub sampler: Sampler,
    /// Its steps per iteration; a step of gibbs is a sweep.
    pub steps: usize,
    /// Chains, all of which move at every iteration.
    pub chains: usize,
    /// Updates of the parameters at most.
    pub iterations: usize,
    /// Learning ends once the connected correlations of the chains have this correlation with those of the data.
    pub target: Option<f64>,
    /// Sequences that agree at such a share of their sites, or more, share a weight.
    pub identity: f64,
    /// Share of letters that are all equally likely [one over the sum of weights].
    pub pseudocount: Option<f64>,
    /// Adam's learning rate.
    pub learning_rate: f64,
    /// What Adam adds to the usual size of a gradient. Most pairs of letters are rare, and their gradients small and noisy: with
    /// an epsilon well above all of them they are followed in proportion, as by plain descent, and not blown up.
    pub epsilon: f64,
    /// The learning rate of the last iteration [a fifteenth of the first].
    pub final_learning_rate: Option<f64>,
    /// How it falls.
    pub fall: Fall,
    /// What is kept of the average of the parameters at every iteration.
    pub decay: f64,
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Threads, or as many as the machine has. Results do not depend on it.
    pub threads: Option<usize>,
}

impl Default for PottsSettings {
    fn default() -> Self {
        Self {
            sampler: Sampler::gibbs(),
            steps: 10,
            chains: 2000,
            iterations: 1000,
            target: None,
            identity: 0.8,
            pseudocount: None,
            learning_rate: 0.05,
            epsilon: 1.0,
            final_learning_rate: None,
            fall: Fall::Cosine,
            decay: 0.9,
            seed: 0,
            threads: None,
        }
    }
}

/// By how much the learning rate falls unless told otherwise: what chains scatter by goes into the parameters, and less of
/// it at a lower rate.
const FALL: f64 = 15.0;

/// Iterations between two looks at the correlations.
const EVERY: usize = 10;

/// How learning goes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PottsReport {
    /// The iteration, counted from 1.
    pub iteration: usize,
    /// Correlation of the connected two-site correlations of the chains with those of the data.
    pub pearson: f64,
    /// Mean energy (−log π, up to a constant) of the data minus that of the chains.
    pub energy_gap: f64,
    /// Learning rate.
    pub learning_rate: f64,
    /// Wall time so far.
    pub seconds: f64,
    /// Seconds that processors computed so far; not in histories of before they were counted.
    #[serde(default)]
    pub processor_seconds: f64,
}

/// Where learning is.
#[derive(Clone, Copy, Debug)]
pub struct PottsProgress {
    /// Iterations made.
    pub iteration: usize,
    /// Iterations at most.
    pub iterations: usize,
    /// The latest look at the correlations.
    pub latest: PottsReport,
}

/// A Potts model that was learnt, and how it came about.
#[derive(Clone, Debug)]
pub struct TrainedPotts {
    /// The model, with the average of its parameters.
    pub model: Potts,
    /// How it went.
    pub history: Vec<PottsReport>,
    /// Iterations made.
    pub iterations: usize,
    /// Whether nobody stopped it.
    pub complete: bool,
    /// The sum of the weights of the sequences.
    pub effective: f64,
    /// What it cost.
    pub spent: Spent,
    /// The chains as they were at the end.
    pub chains: Vec<u8>,
}

/// Learning in progress.
pub struct PottsTraining {
    settings: PottsSettings,
    data: Frequencies,
    effective: f64,
    training: Training<'static, Potts>,
    history: Vec<PottsReport>,
}

impl PottsTraining {
    /// Before the first iteration: no couplings, and fields that give every letter its frequency.
    pub fn new(alignment: &Alignment, settings: &PottsSettings) -> Result<Self, TrainError> {
        settings.check()?;
        let workers = saltus::Workers::new(settings.threads).map_err(TrainError::Threads)?;
        let weights = workers.install(|| alignment.weights(settings.identity));
        let effective: f64 = weights.iter().sum();
        let share = settings.pseudocount.unwrap_or(1.0 / effective);
        let space = alignment.space();
        let data = workers
            .install(|| Frequencies::weighted(space, alignment.states(), &weights))
            .with_pseudocount(share);
        let letters = space.sites() * space.values();
        let mut numbers = vec![0.0f32; data.numbers().len()];
        for (number, frequency) in numbers[..letters].iter_mut().zip(data.numbers()) {
            *number = frequency.ln() as f32;
        }
        if numbers.iter().any(|number| !number.is_finite()) {
            return Err(TrainError::Setting(
                "without a pseudocount, letters that never occur have no finite field".to_owned(),
            ));
        }
        let start = data.numbers()[..letters].to_vec();
        let model = Potts::new(space.clone(), &numbers, start.clone())?.centred(&start)?;
        let means = model.centred_means(data.numbers().to_vec());
        let statistics = means.into_iter().map(|number| number as f32).collect();
        let training = Training::on_statistics(statistics, model, settings.of_learner())?;
        Ok(Self { settings: settings.clone(), data, effective, training, history: Vec::new() })
    }

    /// Goes on from a checkpoint of the same learning, with the history up to there.
    pub fn resumed(
        mut self,
        checkpoint: Checkpoint,
        history: Vec<PottsReport>,
    ) -> Result<Self, TrainError> {
        let until = checkpoint.iteration();
        self.training = self.training.resumed(checkpoint)?;
        self.history = history;
        self.history.retain(|report| report.iteration <= until);
        Ok(self)
    }

    /// The learner.
    pub fn learner(&self) -> &Training<'static, Potts> {
        &self.training
    }

    /// The sum of the weights of the sequences.
    pub fn effective(&self) -> f64 {
        self.effective
    }

    /// How it went so far.
    pub fn history(&self) -> &[PottsReport] {
        &self.history
    }

    /// The frequencies that are learnt.
    pub fn data(&self) -> &Frequencies {
        &self.data
    }

    /// Whether it has come to its end.
    pub fn is_complete(&self) -> bool {
        let reached = |target: f64| self.history.last().is_some_and(|last| last.pearson >= target);
        self.training.is_complete() || self.settings.target.is_some_and(reached)
    }

    /// Makes one iteration, and every tenth looks at the correlations.
    pub fn iterate(&mut self) -> Result<PottsProgress, TrainError> {
        let report = self.training.iterate()?;
        let (iteration, iterations) = (report.iteration, self.training.settings().iterations);
        if iteration.is_multiple_of(EVERY) || iteration == iterations || self.history.is_empty() {
            let found = self.look(&report);
            self.history.push(found);
        }
        let latest = self.history[self.history.len() - 1];
        Ok(PottsProgress { iteration, iterations, latest })
    }

    fn look(&self, report: &Report) -> PottsReport {
        let chains = Frequencies::of(self.training.model().space(), self.training.chains());
        PottsReport {
            iteration: report.iteration,
            pearson: chains.pearson(&self.data),
            energy_gap: report.energy_gap(),
            learning_rate: report.learning_rate,
            seconds: self.training.spent().seconds,
            processor_seconds: self.training.spent().processor_seconds,
        }
    }

    /// What has been learnt.
    pub fn finish(self, complete: bool) -> Result<TrainedPotts, TrainError> {
        Ok(TrainedPotts {
            model: self.training.averaged()?,
            iterations: self.training.iteration(),
            complete,
            effective: self.effective,
            spent: self.training.spent(),
            chains: self.training.chains().to_vec(),
            history: self.history,
        })
    }
}

impl PottsSettings {
    fn check(&self) -> Result<(), TrainError> {
        let wrong = |sentence: String| Err(TrainError::Setting(sentence));
        if !(self.identity > 0.0 && self.identity <= 1.0) {
            return wrong(format!(
                "the identity of sequences that share a weight lies between 0 and 1, got {}",
                self.identity
            ));
        }
        match self.pseudocount {
            Some(share) if !(0.0..1.0).contains(&share) => {
                wrong(format!("the pseudocount is a share below 1, got {share}"))
            }
            _ => Ok(()),
        }
    }

    /// What the learner is told.
    fn of_learner(&self) -> TrainSettings {
        TrainSettings {
            steps: self.steps,
            iterations: self.iterations,
            batch: self.chains,
            buffer: self.chains,
            learning_rate: self.learning_rate,
            epsilon: self.epsilon,
            final_learning_rate: Some(
                self.final_learning_rate.unwrap_or(self.learning_rate / FALL),
            ),
            fall: self.fall,
            decay: self.decay,
            seed: self.seed,
            threads: self.threads,
            ..self.sampler.clone().into()
        }
    }
}

impl TrainedPotts {
    /// log π of the chains at the end, up to a constant.
    pub fn log_probs(&self) -> Result<Vec<f64>, TrainError> {
        let states = States::new(&self.chains, self.model.space().sites());
        let mut log_probs = vec![0.0; states.chains()];
        self.model.log_prob(states, &mut self.model.new_cache(1), &mut log_probs)?;
        Ok(log_probs)
    }
}

/// Learns a Potts model; `monitor` is told of every iteration and may ask to stop.
///
/// The same seed gives the same model, byte for byte, for any number of threads.
pub fn train_potts(
    alignment: &Alignment,
    settings: &PottsSettings,
    mut monitor: impl FnMut(PottsProgress) -> Control,
) -> Result<TrainedPotts, TrainError> {
    let mut training = PottsTraining::new(alignment, settings)?;
    while !training.is_complete() {
        let progress = training.iterate()?;
        if monitor(progress) == Control::Stop {
            let complete = training.is_complete();
            return training.finish(complete);
        }
    }
    training.finish(true)
}
