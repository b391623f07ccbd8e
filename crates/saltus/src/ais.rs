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
//! let found = Ais::new(&model, settings).go()?.forward.expect("not stopped");
//! let exact = (2.0 * 1f64.exp() + 2.0 * (-1f64).exp()).ln();
//! assert!((found.log_z - exact).abs() < 5.0 * found.standard_error.unwrap());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
mod settings;
mod starts;
#[cfg(test)]
mod tests;

pub use checkpoint::AisCheckpoint;
pub use estimate::Estimate;
pub use ladder::Direction;
pub use likelihood::mean_log_prob;
pub use outcome::{AisOutcome, AisProgress};
pub use settings::{AisError, AisSettings};

use crate::base::Base;
use crate::control::{Control, Ended};
use crate::engine::{Fingerprint, SamplerBlock, block_ranges, kernel_block, probes, sampler_block};
use crate::kernel::layers::{self, LayerGibbs};
use crate::kernel::terms::Terms;
use crate::kernel::{Kernel, KernelTraits};
use crate::model::Model;
use crate::model::rbm::Rbm;
use crate::rng::ChainRng;
use crate::sampler::SamplerError;
use crate::workers::Workers;
use block::{Block, rngs};
use driver::Driver;
use ladder::Ladder;
use pilot::{Pilot, Scales, draw_all};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Makes a block of chains on a path from a base, from the number of the first, their states and
/// their streams.
type NewBlock<'a, M> =
    dyn Fn(&M, usize, Vec<u8>, Vec<ChainRng>, &Arc<Base>) -> SamplerBlock<'a, M> + 'a;
/// Keeps a checkpoint; the error is the reason.
type Keeper<'a> = dyn FnMut(&AisCheckpoint) -> Result<(), String> + 'a;
type Monitor<'a> = dyn FnMut(AisProgress) -> Control + 'a;

/// Annealing being set up.
pub struct Ais<'a, M: Model> {
    model: &'a M,
    settings: AisSettings,
    traits: KernelTraits,
    /// Why the sampler cannot be used as it is set.
    refused: Option<SamplerError>,
    new_block: Box<NewBlock<'a, M>>,
    /// Chains per block.
    block_size: usize,
    base: Arc<Base>,
    /// log Z at β = 0.
    log_base: f64,
    /// States that reverse chains start from, in so many groups, each from another place.
    starts: Vec<u8>,
    groups: usize,
    /// Steps at the model's own temperature before they go back.
    settling: usize,
    monitor: Box<Monitor<'a>>,
    keeper: Option<(Duration, Box<Keeper<'a>>)>,
    resumed: Option<AisCheckpoint>,
}

impl<'a> Ais<'a, Rbm> {
    /// Annealing of an RBM by redrawing all hidden units and all sites in turn.
    ///
    /// For these models this is the method of choice: both layers are annealed, every step is
    /// accepted, and none costs less.
    pub fn alternating(rbm: &'a Rbm, settings: AisSettings) -> Self {
        let log_base = layers::log_base(rbm);
        Self { log_base, ..Self::with_kernel(rbm, LayerGibbs, settings) }
    }
}

impl<'a, M: Model> Ais<'a, M> {
    /// Annealing of a model by the sampler of the settings, from the model's own
    /// [`base`](Model::base).
    pub fn new(model: &'a M, settings: AisSettings) -> Self {
        let sampler = settings.sampler.clone();
        let traits = sampler.traits(model.space());
        let terms = sampler.terms(model, settings.chains);
        let unsuited = sampler.check(model.space()).err();
        let new_block = move |model: &M, first, states, rngs, base: &Arc<Base>| {
            sampler_block(model, &sampler, first, states, rngs, Some(base.clone()))
        };
        let ais = Self::with_blocks(model, settings, traits, terms, Box::new(new_block));
        Self { refused: unsuited.or(ais.refused), ..ais }
    }

    /// Annealing of a model by anyone's kernel. Its densities at β = 0 must be those of the base, times
    /// a constant if it has a path of its own.
    pub fn with_kernel<K>(model: &'a M, kernel: K, settings: AisSettings) -> Self
    where
        K: Kernel<M> + 'a,
        K::Scratch: 'a,
        K::Own: 'a,
    {
        let kernel = Arc::new(kernel);
        let traits = kernel.traits(model);
        let terms = Terms::of(&*kernel, model, settings.chains);
        let new_block = move |model: &M, first, states, rngs, base: &Arc<Base>| {
            kernel_block(model, kernel.clone(), first, states, rngs, Some(base.clone()))
        };
        Self::with_blocks(model, settings, traits, terms, Box::new(new_block))
    }

    fn with_blocks(
        model: &'a M,
        settings: AisSettings,
        traits: KernelTraits,
        terms: Terms,
        new_block: Box<NewBlock<'a, M>>,
    ) -> Self {
        Self {
            block_size: terms.block_size,
            refused: terms.suits_path.err().map(|error| SamplerError(error.to_string())),
            model,
            settings,
            traits,
            new_block,
            base: Arc::new(model.base()),
            log_base: 0.0,
            starts: Vec::new(),
            groups: 1,
            settling: 0,
            monitor: Box::new(|_| Control::Continue),
            keeper: None,
            resumed: None,
        }
    }

    /// Starts from these independent sites instead of the model's own.
    pub fn base(mut self, base: Base) -> Self {
        self.base = Arc::new(base);
        self
    }

    /// Also goes back from these states, one after the other, a chain from each. If they are
    /// independent draws of the model, log Z is high on average.
    pub fn reverse_from(mut self, states: Vec<u8>) -> Self {
        self.starts = states;
        self
    }

    /// Also goes back from states that so many chains find from each of some places far from the base: the least
    /// values, the largest, uniform draws, and [places](Model::places) that the model knows. They are no draws of the model, so log Z in reverse, the largest of
    /// them, is no bound; but where it is larger than log Z forward, that misses a part of the mass, or the
    /// temperatures are too few.
    ///
    /// ```
    /// use saltus::ais::{Ais, AisSettings};
    /// use saltus::{Base, Pairwise, Space, of_annealing};
    /// // Ten spins that hold each other up, annealed from sites that are all down.
    /// let edge = |one: u32, other: u32| saltus::Edge { from: one, to: other, weight: 0.4 };
    /// let pairs = (0..10).flat_map(|one| (one + 1..10).map(move |other| edge(one, other)));
    /// let model = Pairwise::ising(&pairs.collect::<Vec<_>>(), vec![0.4; 10])?;
    /// let down = Base::new(Space::new(10, 2)?, vec![-18.0; 10])?;
    /// let settings = AisSettings { chains: 50, temperatures: 100, ..AisSettings::default() };
    /// let outcome = Ais::new(&model, settings).base(down).look_back(10).go()?;
    /// assert_eq!(of_annealing(&outcome)[0].code(), "directions-apart");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn look_back(mut self, chains: usize) -> Self {
        (self.starts, self.groups) = starts::far_from_home(self.model, self.settings.seed, chains);
        self.settling = (self.settings.temperatures / 10).clamp(20, 500);
        self
    }

    /// Calls `monitor` several times a second; it may ask to stop.
    pub fn monitor(mut self, monitor: impl FnMut(AisProgress) -> Control + 'a) -> Self {
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
            let chains = self.settings.chains + self.reverse_chains();
            let checked = checkpoint.0.check(fingerprint, self.model.space(), chains);
            checked.map_err(AisError::Checkpoint)?;
            if !checkpoint.is_whole() {
                return Err(AisError::Checkpoint("its chains are not whole".to_owned()));
            }
        }
        let workers = Workers::new(self.settings.threads).map_err(AisError::Threads)?;
        let resumed = self.resumed.take();
        let found = match &resumed {
            Some(checkpoint) => Ok(checkpoint.0.driver.scales.clone()),
            None => {
                let pilot = Pilot {
                    model: self.model,
                    settings: &self.settings,
                    scale: self.traits.scale,
                    base: &self.base,
                    new_block: &*self.new_block,
                    block_size: self.block_size,
                    workers: &workers,
                    deadline,
                };
                pilot.find(&mut *self.monitor)?
            }
        };
        let (scales, stopped) = match found {
            Ok(scales) => (scales, None),
            Err(ended) => (Scales::constant(1.0), Some(ended)),
        };
        let tuned = stopped.is_none();
        let mut blocks = self.blocks();
        let stopped = match stopped {
            None if resumed.is_none() => {
                let settling = starts::Settling {
                    model: self.model,
                    workers: &workers,
                    steps: self.settling,
                    scale: scales.last(),
                    deadline,
                };
                settling.go(&mut blocks, &mut *self.monitor)?
            }
            stopped => stopped,
        };
        let mut driver = Driver {
            model: self.model,
            ladder: Ladder::new(self.settings.temperatures),
            blocks,
            workers: &workers,
            monitor: &mut *self.monitor,
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
            driver.restore(&checkpoint)?;
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
        // The place from which most mass is seen.
        let reverse_chains = back.len() / self.groups;
        let of_places = back.chunks_exact(reverse_chains.max(1));
        let reverse = of_places
            .map(|back| Estimate::reverse(self.log_base, back))
            .max_by(|one, other| one.log_z.total_cmp(&other.log_z));
        Ok(AisOutcome {
            forward: complete.then(|| Estimate::forward(self.log_base, &log_weights)),
            reverse: reverse.filter(|_| complete),
            reverse_chains,
            acceptance: driver.acceptance(),
            seconds: driver.seconds,
            log_weights,
            scale: (self.traits.scale.is_some() && tuned).then(|| scales.last()),
            threads: workers.threads(),
            ended,
            kept: driver.kept,
            not_kept: driver.not_kept,
        })
    }

    fn reverse_chains(&self) -> usize {
        self.starts.len() / self.model.space().sites()
    }

    fn check(&self) -> Result<(), AisError> {
        self.settings.check(&self.traits)?;
        if let Some(refused) = &self.refused {
            return Err(refused.clone().into());
        }
        let space = self.model.space();
        if space != self.base.space() {
            let (base, model) = (self.base.space().words(), space.words());
            return Err(AisError::Base { base, model });
        }
        if !self.starts.len().is_multiple_of(space.sites()) {
            return Err(AisError::Starts(format!(
                "{} values are not a number of states of {} sites",
                self.starts.len(),
                space.sites()
            )));
        }
        for state in self.starts.chunks_exact(space.sites()) {
            if let Some(site) = space.misplaced(state) {
                return Err(AisError::Starts(format!(
                    "site {site} has value {}, but its values go from 0 to {}",
                    state[site],
                    space.values_at(site) - 1
                )));
            }
        }
        Ok(())
    }

    fn fingerprint(&self) -> Fingerprint {
        let settings = self.settings.of_the_chains();
        let space = self.model.space();
        let states = probes(space, settings.seed);
        let of_base = states.chunks_exact(space.sites()).map(|state| self.base.log_prob(state));
        Fingerprint::of(self.model, &(&settings, self.traits.name), settings.seed)
            .with_log_probs(of_base.collect())
            .with_starts(&self.starts)
    }

    /// All chains, forward ones first, at their starts.
    fn blocks(&self) -> Vec<Block<'a, M>> {
        let sites = self.model.space().sites();
        let counts = [
            (Direction::Forward, self.settings.chains),
            (Direction::Reverse, self.reverse_chains()),
        ];
        let mut blocks = Vec::new();
        for (direction, count) in counts {
            for numbers in block_ranges(self.block_size, count) {
                let first_chain = numbers.start;
                let given = numbers.start * sites..numbers.end * sites;
                let mut rngs = rngs(self.settings.seed, direction, numbers);
                let states = match direction {
                    Direction::Forward => draw_all(&self.base, sites, &mut rngs),
                    Direction::Reverse => self.starts[given].to_vec(),
                };
                let block = (self.new_block)(self.model, first_chain, states, rngs, &self.base);
                blocks.push(Block::new(direction, block));
            }
        }
        blocks
    }
}
