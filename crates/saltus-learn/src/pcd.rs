//! One learner for every model with parameters: (persistent) contrastive divergence.
//!
//! An iteration takes chains from a replay buffer (Tieleman 2008; Du and Mordatch 2019), or lets them start at
//! the data (Hinton 2002), moves them by a few steps of a sampler, and moves the parameters by Adam so that log π
//! grows at examples and shrinks where the chains are.
//!
//! ```
//! use saltus::{Rbm, Sampler, Space};
//! use saltus_learn::data::Examples;
//! use saltus_learn::{TrainSettings, Training};
//! // Four bits that are always all equal.
//! let states = [[0; 4], [1; 4]].concat().repeat(50);
//! let examples = Examples::new(Space::new(4, 2)?, states)?;
//! let settings = TrainSettings { iterations: 30, batch: 20, buffer: 20, ..Sampler::dlmc().into() };
//! let mut training = Training::new(&examples, Rbm::random(4, 2, 2, 0)?, settings)?;
//! while !training.is_complete() {
//!     assert!(training.iterate()?.energy_gap().is_finite());
//! }
//! assert_eq!(training.averaged()?.hidden(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod buffer;
mod checkpoint;
mod order;
mod report;
mod schedule;
mod settings;

pub use buffer::Buffer;
pub use checkpoint::Checkpoint;
pub use order::Order;
pub use report::Report;
pub use schedule::{Fall, Patience, Rate};
pub use settings::{Start, TrainError, TrainSettings};

use crate::adam::{Moments, Step};
use crate::clock::{Clock, Spent};
use crate::data::Examples;
use crate::descent::{CHUNK, descend};
use crate::learnable::{Learnable, Means};
use rayon::prelude::*;
use saltus::engine::{Failed, SamplerBlock, block_ranges, sampler_block};
use saltus::math::vectorised;
use saltus::rng::{Stream, Training as Purpose};
use saltus::tune::Tuner;
use saltus::{ChainRng, States, StepFailure, Workers};
use std::ops::Range;

/// A log π that is so many times that of all states being equally likely has nothing to do with data.
const LARGEST_RATIO: f64 = 100.0;

/// What the steps of some chains did, added up.
#[derive(Clone, Copy, Default)]
struct Walked {
    steps: usize,
    acceptance: f64,
    changed: f64,
}

/// What is learnt from.
enum Source<'a> {
    /// A batch of examples at a time.
    Examples(&'a Examples, Order),
    /// The mean gradient of log π over all data, which is the same whatever the parameters where log π
    /// is linear in them.
    Statistics(Vec<f32>),
}

/// A training in progress.
///
/// The same seed gives the same parameters, byte for byte, for any number of threads, and also if it
/// is stopped and resumed. After an error it cannot go on; what was saved before is as it was.
pub struct Training<'a, M: Learnable> {
    source: Source<'a>,
    settings: TrainSettings,
    workers: Workers,
    model: M,
    /// The learner's own: a model may round them.
    parameters: Vec<f32>,
    average: Vec<f32>,
    moments: Moments,
    gradient: Vec<f32>,
    work: M::Work,
    buffer: Buffer,
    latest: Vec<u8>,
    data: Vec<u8>,
    /// The scale of the sampler while the model changes under it: never frozen.
    tuner: Option<Tuner>,
    patience: Patience,
    iteration: usize,
    spent: Spent,
    blocks: Vec<SamplerBlock<'a, M>>,
}

impl<'a, M: Learnable + 'a> Training<'a, M> {
    /// A training of a model on examples, before its first iteration. Chains in the buffer begin as the
    /// model says.
    pub fn new(
        examples: &'a Examples,
        model: M,
        settings: TrainSettings,
    ) -> Result<Self, TrainError> {
        let (space, found) = (model.space(), examples.space());
        if (space.sites(), space.values()) != (found.sites(), found.values()) {
            return Err(TrainError::Setting(format!(
                "a model of {} sites of {} values cannot learn from examples of {} sites of {}",
                space.sites(),
                space.values(),
                found.sites(),
                found.values()
            )));
        }
        settings.check(model.space(), Some(examples.count()))?;
        Self::begin(Source::Examples(examples, Order::default()), model, settings)
    }

    /// A training of a model whose log π is linear in its parameters, log π(x) = θ·f(x), on the mean of f over
    /// all data. Chains start from a buffer.
    pub fn on_statistics(
        statistics: Vec<f32>,
        model: M,
        settings: TrainSettings,
    ) -> Result<Self, TrainError> {
        if settings.start == Start::Data {
            return Err(TrainError::Setting(
                "chains cannot start at data of which only means are known".to_owned(),
            ));
        }
        settings.check(model.space(), None)?;
        let expected = model.parameters().len();
        if statistics.len() != expected {
            return Err(TrainError::Setting(format!(
                "{} means of data are not those of {expected} parameters",
                statistics.len()
            )));
        }
        Self::begin(Source::Statistics(statistics), model, settings)
    }

    fn begin(
        source: Source<'a>,
        mut model: M,
        settings: TrainSettings,
    ) -> Result<Self, TrainError> {
        let workers = Workers::new(settings.threads).map_err(TrainError::Threads)?;
        let buffer = Buffer::new(&model, settings.buffer(), settings.seed);
        let parameters = model.parameters();
        model.set_parameters(&parameters)?;
        let TrainSettings { batch, seed, .. } = settings;
        let sites = model.space().sites();
        let mut latest = vec![0; batch * sites];
        let begun = buffer.states().len().min(latest.len());
        latest[..begun].copy_from_slice(&buffer.states()[..begun]);
        let block = |chains: Range<usize>| {
            let states = latest[chains.start * sites..chains.end * sites].to_vec();
            let rng = |row| ChainRng::new(seed, Stream::Training(Purpose::Chain, 0, row as u64));
            let (first, rngs) = (chains.start, chains.map(rng).collect());
            match settings.own_kernel {
                true => model.own_block(first, states, rngs),
                false => Some(sampler_block(&model, &settings.sampler, first, states, rngs, None)),
            }
        };
        let size = match settings.own_kernel {
            true => model.block_size(batch),
            false => settings.sampler.terms(&model, batch).block_size,
        };
        let blocks: Option<Vec<_>> = block_ranges(size, batch).map(block).collect();
        let Some(blocks) = blocks else {
            return Err(TrainError::Setting("the model has no kernel of its own".to_owned()));
        };
        let scale = settings.sampler.traits(model.space()).scale;
        let tuned = settings.sampler.scale.is_none() && !settings.own_kernel;
        let target = settings.sampler.target_acceptance;
        let tuner = scale.filter(|_| tuned).map(|scale| Tuner::following(&scale, target));
        Ok(Self {
            source,
            workers,
            moments: Moments::new(parameters.len()),
            gradient: vec![0.0; parameters.len()],
            average: parameters.clone(),
            parameters,
            work: model.new_work(batch),
            latest,
            data: Vec::new(),
            buffer,
            tuner,
            patience: Patience::new(settings.steps),
            iteration: 0,
            spent: Spent::default(),
            blocks,
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

    /// What all iterations cost, before and after it was resumed.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// The model with its parameters as they are.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// Its parameters, which the model may have rounded.
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// The average of its parameters over iterations, which is what one keeps.
    pub fn average(&self) -> &[f32] {
        &self.average
    }

    /// The model with that average.
    pub fn averaged(&self) -> Result<M, TrainError>
    where
        M: Clone,
    {
        let mut model = self.model.clone();
        model.set_parameters(&self.average)?;
        Ok(model)
    }

    /// The replay buffer; it is empty where chains start at the data.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The states of the chains of the latest iteration, one after the other.
    pub fn chains(&self) -> &[u8] {
        &self.latest
    }

    /// The examples of the latest iteration, one after the other.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Makes one iteration.
    pub fn iterate(&mut self) -> Result<Report, TrainError> {
        let clock = Clock::start();
        let TrainSettings { batch, seed, .. } = self.settings;
        let iteration = self.iteration + 1;
        let data = match &mut self.source {
            Source::Examples(examples, order) => order.batch(examples, batch, iteration, seed),
            Source::Statistics(_) => Vec::new(),
        };
        let mut slots = vec![0; batch];
        let mut chains = match self.settings.start {
            Start::Data => data.clone(),
            Start::Buffer => {
                let stream = Stream::Training(Purpose::Slots, iteration as u64, 0);
                self.buffer.pick(&mut ChainRng::new(seed, stream), &mut slots);
                self.buffer.take(&slots)
            }
        };
        let scale = self.tuner.as_ref().map(Tuner::scale).or(self.settings.sampler.scale);
        let walked = self.walk(iteration, scale, &mut chains)?;
        let means = self.differentiate(&data, &chains)?;
        let rate = self.settings.rate().of(iteration, self.settings.iterations);
        let step = Step::new(rate, iteration).with_epsilon(self.settings.epsilon);
        let usable = self.update(step)?;
        self.check(iteration, usable, means)?;

        if self.settings.start == Start::Buffer {
            self.buffer.put(&slots, &chains);
        }
        (self.latest, self.data) = (chains, data);
        self.iteration = iteration;
        let steps = walked.steps as f64;
        let acceptance = walked.acceptance / steps;
        if let Some(tuner) = &mut self.tuner {
            tuner.round(acceptance);
        }
        let spent = clock.spent();
        self.spent += spent;
        let report = Report {
            iteration,
            data_log_prob: means.data,
            chain_log_prob: means.chains,
            acceptance,
            changed: walked.changed / steps,
            scale,
            steps: self.patience.steps(),
            learning_rate: rate,
            spent,
        };
        self.patience.look(report.energy_gap(), self.settings.most_steps);
        Ok(report)
    }

    /// Moves the chains, block by block on all threads.
    fn walk(
        &mut self,
        iteration: usize,
        scale: Option<f64>,
        chains: &mut [u8],
    ) -> Result<Walked, TrainError> {
        let Self { model, blocks, settings, workers, patience, .. } = self;
        let TrainSettings { seed, learning_rate, .. } = *settings;
        let (sites, steps) = (model.space().sites(), patience.steps());
        let model = &*model;
        // The model has changed since the last iteration, and the chains are others.
        let walk = |block: &mut SamplerBlock<'_, M>, states: &[u8]| {
            let first = block.first_chain();
            block.states_mut().copy_from_slice(states);
            for (row, rng) in block.rngs_mut().iter_mut().enumerate() {
                let row = (first + row) as u64;
                *rng = ChainRng::new(seed, Stream::Training(Purpose::Chain, iteration as u64, row));
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
            states.copy_from_slice(block.states().bytes());
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

    /// The gradient of the loss.
    fn differentiate(&mut self, data: &[u8], chains: &[u8]) -> Result<Means, TrainError> {
        let Self { model, work, gradient, workers, source, parameters, .. } = self;
        let sites = model.space().sites();
        let (data, chains) = (States::new(data, sites), States::new(chains, sites));
        let Source::Statistics(statistics) = source else {
            return Ok(workers.install(|| model.loss_gradient(data, chains, work, gradient))?);
        };
        gradient.iter_mut().zip(&*statistics).for_each(|(gradient, mean)| *gradient = -mean);
        let chains = workers.install(|| model.add_mean_gradient(chains, 1.0, work, gradient))?;
        let product = |(mean, parameter): (&f32, &f32)| f64::from(*mean) * f64::from(*parameter);
        Ok(Means { data: statistics.iter().zip(&*parameters).map(product).sum(), chains })
    }

    /// Moves the parameters along their gradient, and the average after them; whether they are numbers
    /// to go on with.
    fn update(&mut self, step: Step) -> Result<bool, TrainError> {
        let decay = self.settings.decay;
        let Self { model, moments, average, gradient, workers, parameters, .. } = self;
        workers.install(|| {
            let usable = descend(step, gradient, moments, parameters);
            average.par_chunks_mut(CHUNK).zip(parameters.par_chunks(CHUNK)).for_each(
                |(average, parameters)| {
                    vectorised(
                        #[inline(always)]
                        || schedule::move_average(average, parameters, decay),
                    );
                },
            );
            if usable {
                model.set_parameters(parameters)?;
            }
            Ok(usable)
        })
    }

    /// Fails if there are no numbers to go on with.
    fn check(&self, iteration: usize, usable: bool, means: Means) -> Result<(), TrainError> {
        let learning_rate = self.settings.learning_rate;
        let diverged =
            |reason: String| Err(TrainError::Diverged { iteration, reason, learning_rate });
        let space = self.model.space();
        let largest = LARGEST_RATIO * space.sites() as f64 * (space.values() as f64).ln();
        let mut means = [means.data, means.chains].into_iter();
        if let Some(mean) = means.find(|mean| mean.is_nan() || mean.abs() > largest) {
            return diverged(format!("the mean of log π is {mean}"));
        }
        if !usable {
            return diverged("a parameter has grown beyond all bounds".to_owned());
        }
        Ok(())
    }

    /// What a training is recognised by: the means of what it learns from.
    fn data_means(&self) -> Vec<f32> {
        match &self.source {
            Source::Examples(examples, _) => {
                self.workers.install(|| examples.mean().iter().map(|mean| *mean as f32).collect())
            }
            Source::Statistics(statistics) => statistics.clone(),
        }
    }
}
