//! Learning a deep model from examples: persistent contrastive divergence with a replay buffer.
//!
//! An iteration takes chains from the buffer, moves them by a few steps of a sampler, puts them back,
//! and moves the parameters so that log π grows at examples and shrinks where the chains are.
//!
//! ```
//! use saltus::data::Examples;
//! use saltus::Sampler;
//! use saltus_nn::data::Dataset;
//! use saltus_nn::train::{Preset, TrainSettings, Training};
//! use saltus_nn::{Architecture, Cpu};
//! // Images of 2×2 pixels that are all black or all white.
//! let architecture = Architecture::new(2, 2, 2, 4)?.with_blocks(0)?;
//! let examples = Examples::new(architecture.space(), [[0; 4], [1; 4]].concat().repeat(10))?;
//! let recipe = Preset::Laptop.settings(&Dataset::StaticMnist, Sampler::dlmc());
//! let settings = TrainSettings { steps: 2, batch: 10, buffer: 20, iterations: 3, ..recipe };
//! let mut training: Training<Cpu> = Training::new(&examples, architecture, settings)?;
//! while !training.is_complete() {
//!     assert!(training.iterate()?.energy_gap().is_finite());
//! }
//! assert_eq!(training.iteration(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod buffer;
mod checkpoint;
mod gradient;
#[doc(hidden)]
pub mod order;
mod report;
mod schedule;
mod settings;
#[doc(hidden)]
#[cfg(test)]
mod tests;

pub use buffer::Buffer;
pub use checkpoint::Checkpoint;
pub use report::Report;
pub use settings::{Preset, TrainError, TrainSettings};

use crate::architecture::Architecture;
use crate::base::Base;
use crate::cpu::Cpu;
use crate::descent::{CHUNK, descend};
use crate::model::DeepModel;
use crate::network::Network;
use crate::parameters::Parameters;
use gradient::Learner;
use order::Order;
use rayon::prelude::*;
use saltus::data::Examples;
use saltus::engine::{Failed, SamplerBlock, block_ranges, block_size, sampler_block};
use saltus::math::vectorised;
use saltus::rng::{Stream, Training as Purpose};
use saltus::train::adam::{Moments, Step};
use saltus::tune::Tuner;
use saltus::{ChainRng, Model, StepFailure, Workers};
use std::time::Instant;

/// A log π that is so many times that of all states being equally likely has nothing to do with data.
const LARGEST_RATIO: f64 = 100.0;

/// What the steps of some chains did, added up.
#[derive(Clone, Copy, Default)]
struct Walked {
    steps: usize,
    acceptance: f64,
    changed: f64,
}

/// A training in progress.
///
/// The same seed gives the same parameters, byte for byte, for any number of threads, and also if it
/// is stopped and resumed. After an error it cannot go on; what was saved before is as it was.
pub struct Training<'a, N: Network + 'static = Cpu> {
    examples: &'a Examples,
    settings: TrainSettings,
    workers: Workers,
    model: DeepModel<N>,
    average: Vec<f32>,
    moments: Moments,
    buffer: Buffer,
    latest: Vec<u8>,
    /// The scale of the sampler while the model changes under it: never frozen.
    tuner: Option<Tuner>,
    iteration: usize,
    seconds: f64,
    order: Order,
    blocks: Vec<SamplerBlock<'a, DeepModel<N>>>,
    learner: Learner<N>,
}

impl<'a, N: Network + 'static> Training<'a, N> {
    /// A training before its first iteration.
    pub fn new(
        examples: &'a Examples,
        architecture: Architecture,
        settings: TrainSettings,
    ) -> Result<Self, TrainError> {
        settings.check(examples)?;
        let space = architecture.space();
        if space != *examples.space() {
            return Err(TrainError::Setting(format!(
                "a network for {} pixels of {} values cannot learn from examples of {} sites of {}",
                space.sites(),
                space.values(),
                examples.space().sites(),
                examples.space().values()
            )));
        }
        let workers = Workers::new(settings.threads).map_err(TrainError::Threads)?;
        let base = Base::of_examples(examples);
        let buffer = Buffer::new(&base, settings.buffer, settings.seed);
        let parameters = Parameters::random(architecture, settings.seed);
        let average = parameters.numbers().to_vec();
        let model: DeepModel<N> = DeepModel::new(parameters, base)?;
        let batch = settings.batch;
        let sites = space.sites();
        let size = block_size(&model, &settings.sampler, batch);
        let block = |chains: std::ops::Range<usize>| {
            let states = buffer.states()[chains.start * sites..chains.end * sites].to_vec();
            let rngs = chains.clone().map(|row| {
                ChainRng::new(settings.seed, Stream::Training(Purpose::Chain, 0, row as u64))
            });
            sampler_block(&model, &settings.sampler, chains.start, states, rngs.collect(), None)
        };
        let blocks = block_ranges(size, batch).map(block).collect();
        let scale =
            settings.sampler.traits(&space).scale.filter(|_| settings.sampler.scale.is_none());
        let tuner = scale.map(|scale| Tuner::following(&scale, settings.sampler.target_acceptance));
        Ok(Self {
            examples,
            workers,
            moments: Moments::new(average.len()),
            average,
            latest: buffer.states()[..batch * space.sites()].to_vec(),
            buffer,
            tuner,
            iteration: 0,
            seconds: 0.0,
            order: Order::default(),
            blocks,
            learner: Learner::new(&model, batch),
            model,
            settings,
        })
    }

    /// How it trains.
    pub fn settings(&self) -> &TrainSettings {
        &self.settings
    }

    /// Iterations made.
    pub fn iteration(&self) -> usize {
        self.iteration
    }

    /// Whether these are all that were asked for.
    pub fn is_complete(&self) -> bool {
        self.iteration >= self.settings.iterations
    }

    /// Wall time of all iterations, before and after it was resumed.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// The model with its parameters as they are.
    pub fn model(&self) -> &DeepModel<N> {
        &self.model
    }

    /// The model with the average of its parameters over iterations, which is what one keeps.
    pub fn averaged(&self) -> Result<DeepModel<N>, TrainError> {
        let architecture = *self.model.parameters().architecture();
        let parameters = Parameters::new(architecture, self.average.clone())?;
        Ok(DeepModel::new(parameters, self.model.base().clone())?)
    }

    /// The replay buffer.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The states of the chains of the latest iteration, one after the other.
    pub fn chains(&self) -> &[u8] {
        &self.latest
    }

    /// Makes one iteration.
    pub fn iterate(&mut self) -> Result<Report, TrainError> {
        let started = Instant::now();
        let TrainSettings { batch, seed, learning_rate, warmup, decay, .. } = self.settings;
        let iteration = self.iteration + 1;
        let mut slots = vec![0; batch];
        let mut rng = ChainRng::new(seed, Stream::Training(Purpose::Slots, iteration as u64, 0));
        self.buffer.pick(&mut rng, &mut slots);
        let mut chains = self.buffer.take(&slots);
        let scale = self.tuner.as_ref().map(Tuner::scale).or(self.settings.sampler.scale);
        let walked = self.walk(iteration, scale, &mut chains)?;
        let data = self.order.batch(self.examples, batch, iteration, seed);
        let Self { workers, learner, model, .. } = self;
        let means = workers.install(|| learner.fill(model, &data, &chains))?;
        let rate = schedule::learning_rate(learning_rate, warmup, iteration);
        let usable = self.update(Step::new(rate, iteration), decay);
        self.check(iteration, usable, [means.data, means.chains])?;

        self.buffer.put(&slots, &chains);
        self.latest = chains;
        self.iteration = iteration;
        let steps = walked.steps as f64;
        let acceptance = walked.acceptance / steps;
        if let Some(tuner) = &mut self.tuner {
            tuner.round(acceptance);
        }
        let seconds = started.elapsed().as_secs_f64();
        self.seconds += seconds;
        Ok(Report {
            iteration,
            data_log_prob: means.data,
            chain_log_prob: means.chains,
            acceptance,
            changed: walked.changed / steps,
            scale,
            learning_rate: rate,
            seconds,
        })
    }

    /// Moves the chains, block by block on all threads.
    fn walk(
        &mut self,
        iteration: usize,
        scale: Option<f64>,
        chains: &mut [u8],
    ) -> Result<Walked, TrainError> {
        let Self { model, blocks, settings, workers, .. } = self;
        let TrainSettings { steps, seed, learning_rate, .. } = *settings;
        let sites = model.space().sites();
        let model = &*model;
        // The model has changed since the last iteration, and the chains are others.
        let walk = |block: &mut SamplerBlock<'_, DeepModel<N>>, states: &[u8]| {
            let first = block.first_chain();
            block.states_mut().copy_from_slice(states);
            for (row, rng) in block.rngs_mut().iter_mut().enumerate() {
                *rng = ChainRng::new(
                    seed,
                    Stream::Training(Purpose::Chain, iteration as u64, (first + row) as u64),
                );
            }
            block.set_scale(scale.unwrap_or(1.0));
            block.start(model)?;
            let mut walked = Walked::default();
            for _ in 0..steps {
                block.step(model)?;
                for report in block.reports() {
                    walked.steps += 1;
                    walked.acceptance += report.acceptance;
                    walked.changed += f64::from(report.changed);
                }
            }
            Ok::<Walked, Failed>(walked)
        };
        let mut pieces: Vec<_> = Vec::with_capacity(blocks.len());
        let mut rest = &mut *chains;
        for block in blocks.iter_mut() {
            let (own, others) = rest.split_at_mut(block.states().chains() * sites);
            pieces.push((block, own));
            rest = others;
        }
        let walks = workers.map(&mut pieces, |(block, states)| {
            let walked = walk(block, states)?;
            block.states().rows().zip(states.chunks_exact_mut(sites)).for_each(|(from, to)| {
                to.copy_from_slice(from);
            });
            Ok::<Walked, Failed>(walked)
        });
        // Added up in the order of the chains, so that the sums do not depend on threads.
        let mut all = Walked::default();
        for walked in walks {
            let walked = walked.map_err(|failed| match failed.cause {
                StepFailure::Model(error) => TrainError::Model(error),
                cause => TrainError::Diverged {
                    iteration,
                    reason: format!("a chain could not be moved, {cause}"),
                    learning_rate,
                },
            })?;
            all.steps += walked.steps;
            all.acceptance += walked.acceptance;
            all.changed += walked.changed;
        }
        Ok(all)
    }

    /// Moves the parameters along their gradient, and the average after them; whether they are numbers
    /// to go on with.
    fn update(&mut self, step: Step, decay: f64) -> bool {
        let Self { model, moments, average, learner, workers, .. } = self;
        let mut usable = true;
        workers.install(|| {
            model.change_parameters(|parameters| {
                usable = descend(step, &learner.gradient, moments, parameters);
                average.par_chunks_mut(CHUNK).zip(parameters.par_chunks(CHUNK)).for_each(
                    |(average, parameters)| {
                        vectorised(
                            #[inline(always)]
                            || schedule::move_average(average, parameters, decay),
                        );
                    },
                );
            });
        });
        usable
    }

    /// Fails if there are no numbers to go on with.
    fn check(&self, iteration: usize, usable: bool, means: [f64; 2]) -> Result<(), TrainError> {
        let learning_rate = self.settings.learning_rate;
        let diverged =
            |reason: String| Err(TrainError::Diverged { iteration, reason, learning_rate });
        let space = self.model.space();
        let largest = LARGEST_RATIO * space.sites() as f64 * (space.values() as f64).ln();
        if let Some(mean) = means.iter().find(|mean| mean.is_nan() || mean.abs() > largest) {
            return diverged(format!("the mean of log π is {mean}"));
        }
        if !usable {
            return diverged("a parameter has grown beyond all bounds".to_owned());
        }
        Ok(())
    }
}
