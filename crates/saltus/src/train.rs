//! Learning a restricted Boltzmann machine from examples.
//!
//! ```
//! use saltus::data::Examples;
//! use saltus::Control;
//! use saltus::train::{TrainSettings, train_rbm};
//! use saltus::{Model, Space};
//! // Four bits that are always all equal.
//! let states = [[0; 4], [1; 4]].concat().repeat(50);
//! let examples = Examples::new(Space::new(4, 2)?, states)?;
//! let settings = TrainSettings { hidden: 2, steps: 2, epochs: 3, batch: 20, ..Default::default() };
//! let trained = train_rbm(&examples, &settings, |_| Control::Continue)?;
//! assert_eq!((trained.updates, trained.machine()?.space().sites()), (15, 4));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod adam;
mod file;
mod gibbs;
mod gradient;
mod machine;
mod reference;
mod settings;
mod statistics;
#[cfg(test)]
mod tests;
mod trained;

pub use reference::reference;
pub use settings::{Method, TrainError, TrainSettings};
pub use statistics::{MachineStatistics, Statistics};
pub use trained::Trained;

use crate::control::Control;
use crate::data::Examples;
use crate::rng::ChainRng;
use crate::rng::{Learning, Stream};
use crate::workers::Workers;
use adam::Step;
use gibbs::{BLOCK, Workspace};
use gradient::{Gradient, Learner, Phase};
use machine::{Machine, clamped_mean, draw_independent};
use serde::Serialize;
use std::time::Instant;

/// How well the RBM did at an update, before its parameters were moved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The update, counted from 1.
    pub update: usize,
    /// Share of the sites of the data that one block Gibbs step is expected to change.
    pub reconstruction_error: f64,
    /// Mean free energy (−log π, up to the same constant) of the data minus that of the chains:
    /// near zero if the RBM finds both equally likely.
    pub free_energy_gap: f64,
}

/// Where a training is.
#[derive(Clone, Copy, Debug)]
pub struct TrainProgress {
    /// Updates made.
    pub update: usize,
    /// Updates that will have been made at the end.
    pub updates: usize,
    /// The latest report.
    pub latest: Report,
}

/// Reports per epoch.
const REPORTS: usize = 20;

/// Trains an RBM; `monitor` is told of every update and may ask to stop.
///
/// The same seed gives the same RBM, byte for byte, for any number of threads.
pub fn train_rbm(
    examples: &Examples,
    settings: &TrainSettings,
    mut monitor: impl FnMut(TrainProgress) -> Control,
) -> Result<Trained, TrainError> {
    let (per_epoch, updates) = settings.updates(examples)?;
    let started = Instant::now();
    let pool = pool(settings.threads)?;
    let data_mean = pool.install(|| clamped_mean(examples));
    let mut training = Training::new(examples, settings, &data_mean);
    let mut history: Vec<Report> = Vec::new();
    let mut made = 0;
    'epochs: for _ in 0..settings.epochs {
        training.shuffle();
        for batch in 0..per_epoch {
            let update = made + 1;
            let wanted = batch.is_multiple_of(per_epoch.div_ceil(REPORTS)) || update == updates;
            let rate = settings.rate_of(update, updates);
            if let Some(report) = pool.install(|| training.update((update, rate), batch, wanted))? {
                history.push(report);
            }
            made = update;
            let latest = history[history.len() - 1];
            if monitor(TrainProgress { update, updates, latest }) == Control::Stop {
                break 'epochs;
            }
        }
    }
    Ok(Trained {
        settings: settings.clone(),
        updates: made,
        complete: made == updates,
        history,
        seconds: started.elapsed().as_secs_f64(),
        data_mean,
        machine: training.machine,
    })
}

fn pool(threads: Option<usize>) -> Result<Workers, TrainError> {
    Workers::new(threads).map_err(TrainError::Threads)
}

/// Everything a training changes.
struct Training<'a> {
    examples: &'a Examples,
    settings: &'a TrainSettings,
    machine: Machine,
    learner: Learner,
    gradient: Gradient,
    data: Phase,
    chains: Phase,
    /// The order in which examples are looked at.
    order: Vec<u32>,
    order_rng: ChainRng,
    /// One stream per example of a batch and its chain.
    rngs: Vec<ChainRng>,
    work: Vec<Workspace>,
}

impl<'a> Training<'a> {
    fn new(examples: &'a Examples, settings: &'a TrainSettings, mean: &[f32]) -> Self {
        let (space, batch, seed) = (examples.space().clone(), settings.batch, settings.seed);
        let machine = Machine::new(space.clone(), settings.hidden, mean, seed);
        let mut chains = Phase::new(&machine, batch);
        let mut rngs: Vec<_> = (0..batch)
            .map(|row| ChainRng::new(seed, Stream::Learning(Learning::Chain, row as u64)))
            .collect();
        if settings.method == Method::Pcd {
            for (state, rng) in chains.states.chunks_exact_mut(space.sites()).zip(&mut rngs) {
                draw_independent(&space, mean, rng, state);
            }
        }
        Self {
            examples,
            settings,
            learner: Learner::new(&machine),
            gradient: Gradient::new(&machine),
            data: Phase::new(&machine, batch),
            chains,
            order: (0..examples.count() as u32).collect(),
            order_rng: ChainRng::new(seed, Stream::Learning(Learning::Order, 0)),
            rngs,
            work: vec![Workspace::new(&machine); batch.div_ceil(BLOCK)],
            machine,
        }
    }

    /// A new order of the examples.
    fn shuffle(&mut self) {
        for index in (1..self.order.len()).rev() {
            self.order.swap(index, self.order_rng.below(index + 1));
        }
    }

    /// One update, with that learning rate, from that batch of the order, and a report if it is wanted.
    fn update(
        &mut self,
        (update, learning_rate): (usize, f64),
        batch: usize,
        wanted: bool,
    ) -> Result<Option<Report>, TrainError> {
        let Self { machine, data, chains, rngs, work, .. } = self;
        let size = self.settings.batch;
        let end = self.order.len().min((batch + 1) * size);
        let batch = &self.order[batch * size..end];
        data.show(machine, (self.examples, batch), rngs, work);
        if self.settings.method == Method::Cd {
            chains.resize(machine, batch.len());
            chains.states.copy_from_slice(&data.states);
        }
        chains.walk(machine, self.settings.steps, rngs, work);
        data.look(machine, rngs, work);
        chains.look(machine, rngs, work);
        let report = wanted.then(|| Report {
            update,
            reconstruction_error: data.reconstruction_error(machine, &mut work[0]),
            free_energy_gap: chains.mean_log_prob() - data.mean_log_prob(),
        });
        self.gradient.fill(machine, data, chains);
        self.learner.update(machine, &self.gradient, Step::new(learning_rate, update));
        if machine.is_usable() {
            Ok(report)
        } else {
            Err(TrainError::Diverged { update, learning_rate })
        }
    }
}
