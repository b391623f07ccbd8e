//! Annealed importance sampling (Neal 2001): the normaliser Z = Σ π of a model.
//!
//! Chains start at exact draws of independent sites p and go to the model π through distributions
//! f ∝ p^(1−β) π^β in between, a step of a sampler at each. The mean of their weights is Z on average, so
//! log Z is low on average; chains that go back from draws of the model give a number that is high
//! on average, and the truth lies between.
//!
//! ```
//! use saltus::ais::{Ais, AisSettings};
//! use saltus::model::lattice::Lattice;
//! use saltus::model::pairwise::Pairwise;
//! // Two spins with coupling 1: 2e + 2/e.
//! let model = Pairwise::ising_lattice(Lattice::free(1, 2)?, 1.0, vec![0.0; 2])?;
//! let settings = AisSettings { chains: 200, temperatures: 50, ..AisSettings::default() };
//! let found = Ais::new(&model, &settings).go()?.forward.expect("not stopped");
//! let exact = (2.0 * 1f64.exp() + 2.0 * (-1f64).exp()).ln();
//! assert!((found.log_z - exact).abs() < 5.0 * found.standard_error.unwrap());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alternating;
mod block;
mod checkpoint;
mod driver;
mod estimate;
#[cfg(feature = "zarr")]
mod file;
mod ladder;
mod likelihood;
mod outcome;
mod pilot;
mod remembered;
mod sampled;
mod settings;
pub(crate) mod streams;
mod tempered;
#[cfg(test)]
mod tests;

pub use checkpoint::AisCheckpoint;
pub use estimate::Estimate;
pub use ladder::Direction;
pub use likelihood::{draw_examples, mean_log_prob};
pub use outcome::{AisOutcome, AisProgress};
pub use settings::{AisError, AisSettings};

use crate::checkpoint::probe;
use crate::model::Model;
use crate::model::independent::Independent;
use crate::model::rbm::Rbm;
use crate::run::{Ended, Wish};
use crate::sampler::Scale;
use crate::space::Space;
use alternating::Alternating;
use block::{Block, Chains, Walk, rngs};
use checkpoint::Fingerprint;
use driver::Driver;
use ladder::Ladder;
use pilot::{Pilot, Scales};
use rayon::ThreadPool;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Makes the walk of a number of chains.
type NewWalk<'a> = dyn Fn(&Arc<Independent>, usize, Scales) -> Box<dyn Walk + 'a> + 'a;
/// Keeps a checkpoint; the error is the reason.
type Keeper<'a> = dyn FnMut(&AisCheckpoint) -> Result<(), String> + 'a;

/// Annealing being set up.
pub struct Ais<'a> {
    settings: &'a AisSettings,
    space: Space,
    block_size: Box<dyn Fn(usize) -> usize + 'a>,
    base: Arc<Independent>,
    /// log Z at β = 0.
    log_base: f64,
    alternating: bool,
    probe: Box<dyn Fn() -> [f64; 3] + 'a>,
    walk: Box<NewWalk<'a>>,
    /// States that reverse chains start from.
    starts: Vec<u8>,
    monitor: Box<dyn FnMut(AisProgress) -> Wish + 'a>,
    keeper: Option<(Duration, Box<Keeper<'a>>)>,
    resumed: Option<AisCheckpoint>,
}

impl<'a> Ais<'a> {
    /// Annealing of a model by the sampler of the settings, from the model's own
    /// [`base`](Model::base).
    pub fn new<M: Model>(model: &'a M, settings: &'a AisSettings) -> Self {
        let of_the_sampler = settings.of_the_sampler();
        let walk = move |base: &Arc<Independent>, chains, scales| {
            sampled::walk(model, base, &of_the_sampler, chains, scales)
        };
        Self::with_walk(model, settings, Box::new(walk))
    }

    /// Annealing of a machine by redrawing all hidden units and all sites in turn.
    ///
    /// For machines this is the method of choice: both layers are annealed, every step is accepted,
    /// and none costs less.
    pub fn alternating(machine: &'a Rbm, settings: &'a AisSettings) -> Self {
        let walk = move |base: &Arc<Independent>, chains, _| -> Box<dyn Walk + 'a> {
            Box::new(Alternating::new(machine, base.clone(), chains))
        };
        let log_base = alternating::log_base(machine);
        Self { log_base, alternating: true, ..Self::with_walk(machine, settings, Box::new(walk)) }
    }

    fn with_walk<M: Model>(
        model: &'a M,
        settings: &'a AisSettings,
        walk: Box<NewWalk<'a>>,
    ) -> Self {
        Self {
            settings,
            space: *model.space(),
            block_size: Box::new(|chains| model.block_size(chains)),
            base: Arc::new(model.base()),
            log_base: 0.0,
            alternating: false,
            probe: Box::new(|| probe(model, settings.seed)),
            walk,
            starts: Vec::new(),
            monitor: Box::new(|_| Wish::Continue),
            keeper: None,
            resumed: None,
        }
    }

    /// Starts from these independent sites instead of the model's own.
    pub fn base(mut self, base: Independent) -> Self {
        self.base = Arc::new(base);
        self
    }

    /// Also goes back from these states, one after the other, a chain from each. If they are
    /// independent draws of the model, log Z is high on average.
    pub fn reverse_from(mut self, states: Vec<u8>) -> Self {
        self.starts = states;
        self
    }

    /// Calls `monitor` several times a second; it may ask to stop.
    pub fn monitor(mut self, monitor: impl FnMut(AisProgress) -> Wish + 'a) -> Self {
        self.monitor = Box::new(monitor);
        self
    }

    /// Hands a checkpoint to `keeper` at the beginning, about this often, and at the end.
    pub fn keep(
        mut self,
        every: Duration,
        keeper: impl FnMut(&AisCheckpoint) -> Result<(), String> + 'a,
    ) -> Self {
        self.keeper = Some((every, Box::new(keeper)));
        self
    }

    /// Goes on from a checkpoint of the same annealing instead of from its beginning; the result is
    /// the same, byte for byte.
    pub fn resume(mut self, checkpoint: AisCheckpoint) -> Self {
        self.resumed = Some(checkpoint);
        self
    }

    /// Anneals.
    pub fn go(mut self) -> Result<AisOutcome, AisError> {
        let began = Instant::now();
        // A limit too far away to be written as a time is no limit.
        let deadline = self.settings.time_limit.and_then(|limit| began.checked_add(limit));
        self.check()?;
        let known = (self.keeper.is_some() || self.resumed.is_some()).then(|| self.fingerprint());
        if let (Some(checkpoint), Some(fingerprint)) = (&self.resumed, &known) {
            checkpoint.check(fingerprint)?;
        }
        let pool = crate::threads::pool(self.settings.threads).map_err(AisError::Threads)?;
        let resumed = self.resumed.take();
        let found = match &resumed {
            Some(checkpoint) => Ok(checkpoint.scales.clone()),
            None => self.find_scales(&pool, deadline)?,
        };
        let (scales, stopped) = match found {
            Ok(scales) => (scales, None),
            Err(ended) => (Scales::constant(1.0), Some(ended)),
        };
        let tuned = stopped.is_none();
        let mut driver = Driver {
            ladder: Ladder::new(self.settings.temperatures),
            blocks: self.blocks(&scales),
            pool: &pool,
            monitor: &mut self.monitor,
            keeper: self.keeper.as_mut().map(|(every, keeper)| (*every, keeper.as_mut())),
            fingerprint: known,
            scales: &scales,
            began,
            deadline,
            visits: 0,
            seconds: 0.0,
            kept: false,
            not_kept: None,
        };
        if let Some(checkpoint) = resumed {
            driver.restore(&checkpoint);
        }
        let ended = match stopped {
            None => driver.run()?,
            Some(ended) => {
                driver.seconds = began.elapsed().as_secs_f64();
                ended
            }
        };
        let complete = ended == Ended::Complete;
        let log_weights = driver.log_weights(Direction::Forward);
        let back = driver.log_weights(Direction::Reverse);
        let (forward, reverse) = (complete, complete && !back.is_empty());
        Ok(AisOutcome {
            forward: forward.then(|| Estimate::forward(self.log_base, &log_weights)),
            reverse: reverse.then(|| Estimate::reverse(self.log_base, &back)),
            acceptance: driver.acceptance(),
            seconds: driver.seconds,
            log_weights,
            scale: (!self.alternating && self.settings.sampler.scale() != Scale::None && tuned)
                .then(|| scales.last()),
            threads: pool.current_num_threads(),
            ended,
            kept: driver.kept,
            not_kept: driver.not_kept,
        })
    }

    fn check(&self) -> Result<(), AisError> {
        self.settings.check(&self.space)?;
        let (space, base) = (self.space, self.base.space());
        if space != *base {
            return Err(AisError::Base {
                sites: base.sites(),
                values: base.values(),
                model_sites: space.sites(),
                model_values: space.values(),
            });
        }
        if !self.starts.len().is_multiple_of(space.sites()) {
            return Err(AisError::Starts(format!(
                "{} values are not a number of states of {} sites",
                self.starts.len(),
                space.sites()
            )));
        }
        let last = space.values() - 1;
        match self.starts.iter().find(|value| usize::from(**value) > last) {
            None => Ok(()),
            Some(value) => Err(AisError::Starts(format!(
                "a site has value {value}, but values go from 0 to {last}"
            ))),
        }
    }

    fn fingerprint(&self) -> Fingerprint {
        let mut log_probs = (self.probe)().to_vec();
        log_probs.extend(probe(&*self.base, self.settings.seed));
        Fingerprint {
            settings: self.settings.of_the_chains(),
            alternating: self.alternating,
            sites: self.space.sites(),
            values: self.space.values(),
            reverse_chains: self.starts.len() / self.space.sites(),
            log_probs,
            starts: checkpoint::hash(&self.starts),
        }
    }

    /// The scales of the sampler, or how the search for them ended without any.
    fn find_scales(
        &mut self,
        pool: &ThreadPool,
        deadline: Option<Instant>,
    ) -> Result<Result<Scales, Ended>, AisError> {
        if self.alternating {
            return Ok(Ok(Scales::constant(1.0)));
        }
        let pilot = Pilot {
            settings: &self.settings.of_the_sampler(),
            space: &self.space,
            base: &self.base,
            walk: &|chains, scales| (self.walk)(&self.base, chains, scales),
            block_size: (self.block_size)(pilot::CHAINS).clamp(1, pilot::CHAINS),
            pool,
            deadline,
        };
        pilot.find(&mut self.monitor)
    }

    /// All chains, forward ones first, at their starts.
    fn blocks(&self, scales: &Scales) -> Vec<Block<'a>> {
        let sites = self.space.sites();
        let seed = self.settings.seed;
        let counts = [
            (Direction::Forward, self.settings.chains),
            (Direction::Reverse, self.starts.len() / sites),
        ];
        let mut blocks = Vec::new();
        for (direction, count) in counts {
            let size = (self.block_size)(count).clamp(1, count.max(1));
            for first_chain in (0..count).step_by(size) {
                let numbers = first_chain..(first_chain + size).min(count);
                let length = numbers.len();
                let states = numbers.start * sites..numbers.end * sites;
                let rngs = rngs(seed, direction, numbers);
                let chains = match direction {
                    Direction::Forward => Chains::at_base(&self.base, sites, rngs),
                    Direction::Reverse => Chains::new(self.starts[states].to_vec(), sites, rngs),
                };
                let walk = (self.walk)(&self.base, length, scales.clone());
                blocks.push(Block { direction, first_chain, chains, walk });
            }
        }
        blocks
    }
}
