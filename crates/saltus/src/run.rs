//! A run: blocks of chains over a pool of threads, warm-up in rounds, then kept draws; the same
//! bytes for any number of threads.

mod block;
mod checkpoint;
mod driver;
mod outcome;
mod settings;
mod stop;

pub use checkpoint::Checkpoint;
pub use outcome::Outcome;
pub use settings::{RunError, Settings};

use crate::control::{Control, Seconds};
use crate::draws::observable::{Hamming, Observable};
use crate::draws::observer::{AnyObserver, Observer, Shared};
use crate::draws::sink::{Plan, STATISTICS, Sink};
use crate::draws::sites::WatchSites;
use crate::draws::trace::{HAMMING, LOG_PROB, Trace, WEIGHT};
use crate::engine::{
    Fingerprint, SamplerBlock, block_ranges, kernel_block, panic_words, sampler_block,
};
use crate::kernel::{Kernel, KernelTraits};
use crate::model::Model;
use crate::rng::{ChainRng, Stream};
use crate::sampler::SamplerError;
use crate::workers::Workers;
use block::{ChainResult, RunBlock, Taken};
use driver::{Driver, Pace};
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// Draws from a model.
///
/// ```
/// use saltus::model::independent::Independent;
/// use saltus::{Sampler, Settings, run};
/// let model = Independent::bernoulli(vec![0.0, 1.0, -2.0])?;
/// let settings = Settings { chains: 4, warmup: 100, draws: 200, ..Settings::default() };
/// let outcome = run::sample(&model, settings)?;
/// assert_eq!(outcome.trace.draws(), 200);
/// assert!(outcome.acceptance > 0.99); // DLMC is exact on independent sites
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sample<M: Model>(model: &M, settings: impl Into<Settings>) -> Result<Outcome, RunError> {
    Run::new(model, settings).go()
}

/// A model that a run borrows, or shares with others.
#[derive(Debug)]
pub enum ModelRef<'a, M> {
    /// Borrowed.
    Borrowed(&'a M),
    /// Shared, so that a run can go to another thread.
    Shared(Arc<M>),
}

impl<M> Clone for ModelRef<'_, M> {
    fn clone(&self) -> Self {
        match self {
            Self::Borrowed(model) => Self::Borrowed(model),
            Self::Shared(model) => Self::Shared(model.clone()),
        }
    }
}

impl<M> Deref for ModelRef<'_, M> {
    type Target = M;

    fn deref(&self) -> &M {
        match self {
            Self::Borrowed(model) => model,
            Self::Shared(model) => model,
        }
    }
}

impl<'a, M> From<&'a M> for ModelRef<'a, M> {
    fn from(model: &'a M) -> Self {
        Self::Borrowed(model)
    }
}

impl<M> From<Arc<M>> for ModelRef<'_, M> {
    fn from(model: Arc<M>) -> Self {
        Self::Shared(model)
    }
}

/// Where a run is, told to its monitor several times a second.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Whether the chains are still warming up.
    pub warming_up: bool,
    /// Steps made by each chain, warm-up included.
    pub steps: usize,
    /// Steps that each chain will have made at the end.
    pub total_steps: usize,
    /// Mean acceptance of the latest steps.
    pub acceptance: f64,
    /// Scale in use.
    pub scale: Option<f64>,
    /// What the draws of all chains are worth so far, by the Hamming distance; none during warm-up.
    pub ess: Option<f64>,
}

/// Makes a block of chains from the number of the first, their states and their streams.
type NewBlock<'a, M> =
    dyn Fn(&M, usize, Vec<u8>, Vec<ChainRng>) -> SamplerBlock<'a, M> + Send + Sync + 'a;
type Monitor<'a> = dyn FnMut(Progress) -> Control + Send + 'a;

/// A run being set up: what to observe besides log π and the Hamming distance, and who watches.
///
/// ```
/// use saltus::model::lattice::Lattice;
/// use saltus::model::pairwise::Pairwise;
/// use saltus::{Run, Settings};
/// let model = Pairwise::ising_lattice(Lattice::periodic(4, 4)?, 0.2, vec![0.0; 16])?;
/// let settings = Settings { chains: 2, warmup: 50, draws: 50, ..Settings::default() };
/// let outcome = Run::new(&model, settings)
///     .observe("up", |state: &[u8]| state.iter().map(|x| f64::from(*x)).sum())
///     .keep_states()
///     .go()?;
/// assert_eq!(outcome.trace.series("up").unwrap()[1].len(), 50);
/// assert_eq!(outcome.trace.states(0).len(), 50 * 16);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A run that shares its model can go to another thread:
///
/// ```
/// # use saltus::model::independent::Independent;
/// # use saltus::{Run, Sampler};
/// # use std::sync::Arc;
/// let model = Arc::new(Independent::bernoulli(vec![0.0; 20])?);
/// let run = Run::new(model, Sampler::gibbs());
/// let outcome = std::thread::spawn(move || run.go()).join().unwrap()?;
/// assert_eq!(outcome.trace.chains(), 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Run<'a, M: Model> {
    model: ModelRef<'a, M>,
    settings: Settings,
    traits: KernelTraits,
    /// Why the sampler cannot be used as it is set.
    refused: Option<SamplerError>,
    new_block: Box<NewBlock<'a, M>>,
    observables: Vec<(String, Box<dyn Observable + 'a>)>,
    observers: Vec<(String, Box<dyn AnyObserver + 'a>)>,
    references: usize,
    reference_seed: u64,
    watch_sites: bool,
    keep_states: bool,
    monitor: Option<Box<Monitor<'a>>>,
    checkpoint_every: Duration,
    resumed: Option<Checkpoint>,
    seconds: Seconds,
}

/// Time between two checkpoints, unless another is set.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(30);

impl<'a, M: Model + 'a> Run<'a, M> {
    /// A run of a model with these settings, or with a sampler and settings as they are by default.
    pub fn new(model: impl Into<ModelRef<'a, M>>, settings: impl Into<Settings>) -> Self {
        let (model, settings) = (model.into(), settings.into());
        let traits = settings.sampler.traits(model.space());
        let refused = settings.sampler.check(model.space()).err();
        let sampler = settings.sampler.clone();
        let new_block = move |model: &M, first_chain, states, rngs| {
            sampler_block(model, &sampler, first_chain, states, rngs, None)
        };
        Self { refused, ..Self::with_blocks(model, settings, traits, Box::new(new_block)) }
    }

    /// A run of a model by anyone's kernel, with tuning, stores, resume and verdict as for our own.
    /// Of the sampler in the settings only its scale and target acceptance are read.
    ///
    /// ```
    /// # use saltus::kernel::{Chains, Kernel, KernelTraits, Kind, StepReport, random_walk};
    /// # use saltus::{Model, Run, Settings, StepError};
    /// # use saltus::model::independent::Independent;
    /// // The random walk of this library under a name of our own.
    /// struct Mine;
    /// impl<M: Model> Kernel<M> for Mine {
    ///     type Scratch = random_walk::RandomWalkScratch<M>;
    ///     type Own = ();
    ///     fn traits(&self, model: &M) -> KernelTraits {
    ///         KernelTraits { name: "mine", ..random_walk::traits(model.space()) }
    ///     }
    ///     fn new_scratch(&self, model: &M, chains: usize) -> Self::Scratch {
    ///         random_walk::RandomWalk.new_scratch(model, chains)
    ///     }
    ///     fn start(&self, m: &M, c: &mut Chains, s: &mut Self::Scratch) -> Result<(), StepError> {
    ///         random_walk::RandomWalk.start(m, c, s)
    ///     }
    ///     fn step(&self, m: &M, c: &mut Chains, s: &mut Self::Scratch) -> Result<(), StepError> {
    ///         random_walk::RandomWalk.step(m, c, s)
    ///     }
    /// }
    /// let model = Independent::bernoulli(vec![0.0; 20])?;
    /// let settings = Settings { chains: 2, warmup: 100, draws: 100, ..Settings::default() };
    /// let outcome = Run::with_kernel(&model, Mine, settings).go()?;
    /// assert_eq!(outcome.traits.name, "mine");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_kernel<K>(
        model: impl Into<ModelRef<'a, M>>,
        kernel: K,
        settings: impl Into<Settings>,
    ) -> Self
    where
        K: Kernel<M> + 'a,
        K::Scratch: 'a,
        K::Own: 'a,
    {
        let (model, kernel) = (model.into(), Arc::new(kernel));
        let traits = kernel.traits(&model);
        let new_block = move |model: &M, first_chain, states, rngs| {
            kernel_block(model, kernel.clone(), first_chain, states, rngs, None)
        };
        Self::with_blocks(model, settings.into(), traits, Box::new(new_block))
    }

    fn with_blocks(
        model: ModelRef<'a, M>,
        settings: Settings,
        traits: KernelTraits,
        new_block: Box<NewBlock<'a, M>>,
    ) -> Self {
        Self {
            model,
            reference_seed: settings.seed,
            settings,
            traits,
            refused: None,
            new_block,
            observables: Vec::new(),
            observers: Vec::new(),
            references: 1,
            watch_sites: false,
            keep_states: false,
            monitor: None,
            checkpoint_every: CHECKPOINT_EVERY,
            resumed: None,
            seconds: Seconds::default(),
        }
    }

    /// Also keeps this number of every draw.
    pub fn observe(mut self, name: impl Into<String>, observable: impl Observable + 'a) -> Self {
        self.observables.push((name.into(), Box::new(observable)));
        self
    }

    /// Also shows every draw to this observer; what it came to is in the outcome under its name.
    pub fn observer(mut self, name: impl Into<String>, observer: impl Observer + 'static) -> Self {
        self.observers.push((name.into(), Box::new(Shared(Arc::new(observer)))));
        self
    }

    /// Measures the Hamming distance to that many random states instead of one: `hamming`,
    /// `hamming_2` and so on.
    pub fn references(mut self, number: usize) -> Self {
        self.references = number.max(1);
        self
    }

    /// Draws those states from another seed than the run's, so that runs of different seeds measure
    /// distances to the same states.
    pub fn reference_seed(mut self, seed: u64) -> Self {
        self.reference_seed = seed;
        self
    }

    /// Also tells of every site whether it changed and what its mean was, and whether the chains
    /// forgot their start. Takes some twenty bytes per site and chain.
    pub fn watch_sites(mut self) -> Self {
        self.watch_sites = true;
        self
    }

    /// Also keeps the whole state of every draw.
    pub fn keep_states(mut self) -> Self {
        self.keep_states = true;
        self
    }

    /// Calls `monitor` several times a second; it may ask the run to stop.
    pub fn monitor(mut self, monitor: impl FnMut(Progress) -> Control + Send + 'a) -> Self {
        self.monitor = Some(Box::new(monitor));
        self
    }

    /// Hands a checkpoint to the sink about this often, instead of every 30 seconds.
    pub fn checkpoint_every(mut self, time: Duration) -> Self {
        self.checkpoint_every = time;
        self
    }

    /// Goes on from a checkpoint of the same run instead of from its beginning. The draws will be
    /// those of a run that was never stopped, provided that what the model keeps in its cache is a
    /// function of the states it evaluated or followed last.
    pub fn resume(mut self, checkpoint: Checkpoint) -> Self {
        self.resumed = Some(checkpoint);
        self
    }

    /// Counts the wall time that earlier parts of a resumed run took.
    pub fn after(mut self, seconds: Seconds) -> Self {
        self.seconds = seconds;
        self
    }

    /// Runs the chains and keeps their draws in memory.
    pub fn go(self) -> Result<Outcome, RunError> {
        let mut trace = Trace::new(self.keep_states);
        let mut outcome = self.go_into(&mut trace)?;
        outcome.trace = trace;
        Ok(outcome)
    }

    /// Runs the chains and hands their draws to a sink, which also decides whether whole states are
    /// kept. The outcome's own trace is empty.
    pub fn go_into(mut self, sink: &mut dyn Sink) -> Result<Outcome, RunError> {
        let Self { model, settings, traits, .. } = &self;
        settings.check(traits)?;
        if let Some(refused) = self.refused {
            return Err(refused.into());
        }
        let shown = model.shown_space().clone();
        // Evaluations that a run without checkpoints has no use for.
        let keep_snapshots = sink.wants_checkpoints();
        let recognised = keep_snapshots || self.resumed.is_some();
        let fingerprint = recognised.then(|| {
            let settings = (&settings.of_the_chains(), traits.name);
            Fingerprint::of(&**model, &settings, self.settings.seed)
        });
        let references = self.draw_references()?;
        let weighted = traits.is_weighted;
        let names = self.names()?;
        let (own_names, own): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.observables).into_iter().unzip();
        let rules = self.settings.until_ess.is_some() || self.settings.until_rhat.is_some();
        let tracked: Vec<usize> = match (rules, self.monitor.is_some()) {
            (true, _) => (0..1 + references.len() + own_names.len()).collect(),
            (false, true) => vec![1],
            (false, false) => Vec::new(),
        };
        let taken = Arc::new(Taken {
            references,
            own,
            weighted,
            tracked: tracked.clone(),
            keep_snapshots,
            keep_states: sink.wants_states(),
            thin: self.settings.thin,
        });
        let (mut observer_names, mut observers): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.observers).into_iter().unzip();
        let watches_sites = self.watch_sites.then_some(observers.len());
        if self.watch_sites {
            let largest = shown.values() - 1;
            observers.push(Box::new(Shared(Arc::new(WatchSites { largest }))));
            observer_names.push(String::new());
        }
        let blocks = self.blocks(&taken, &observers)?;
        let sizes: Vec<usize> = blocks.iter().map(RunBlock::chains).collect();
        if let (Some(checkpoint), Some(fingerprint)) = (&self.resumed, &fingerprint) {
            let checked = checkpoint.0.check(fingerprint, self.model.space(), self.settings.chains);
            checked.map_err(RunError::Checkpoint)?;
            if !checkpoint.fits(&sizes, &self.settings) {
                let reason = "it does not know what this run observes".to_owned();
                return Err(RunError::Checkpoint(reason));
            }
        }
        let workers =
            Workers::for_blocks(self.settings.threads, blocks.len()).map_err(RunError::Threads)?;
        let resumed = self.resumed.as_ref().map(Checkpoint::draws);
        let chains = self.settings.chains;
        sink.begin(&Plan { space: &shown, chains, names: &names, resumed })?;
        let mut nobody = |_: Progress| Control::Continue;
        let monitor: &mut Monitor<'_> = match &mut self.monitor {
            Some(monitor) => monitor.as_mut(),
            None => &mut nobody,
        };
        let mut driver = Driver {
            settings: &self.settings,
            scale_traits: self.traits.scale,
            sites: shown.sites(),
            blocks,
            workers: &workers,
            monitor,
            tracked: &tracked,
            references: self.references,
            observers: &observers,
            watches_sites,
            sink,
            checkpoint_every: self.checkpoint_every,
            fingerprint,
            pace: Pace::new(self.settings.time_limit),
            steps: 0,
            rounds: Vec::new(),
            scale: None,
            seconds: self.seconds,
        };
        if let Some(checkpoint) = &self.resumed {
            driver.restore(checkpoint)?;
        }
        let ended = driver.run()?;
        let results = driver.results();
        let observed = observer_names.into_iter().enumerate().filter_map(|(number, name)| {
            let kept = Some(number) != watches_sites;
            Some((name, driver.observed(number).filter(|_| kept)?))
        });
        let observed = observed.collect();
        let steps = results.iter().map(|chain| chain.sums.steps as f64).sum::<f64>().max(1.0);
        let per_step =
            |total: fn(&ChainResult) -> f64| results.iter().map(total).sum::<f64>() / steps;
        Ok(Outcome {
            settings: self.settings.clone(),
            space: shown,
            traits: self.traits,
            threads: workers.threads(),
            scale: driver.scale,
            acceptance: per_step(|chain| chain.sums.acceptance),
            warmup: std::mem::take(&mut driver.rounds),
            stuck: (0..results.len()).filter(|chain| results[*chain].sums.changed == 0.0).collect(),
            sites_changed_per_step: per_step(|chain| chain.sums.changed),
            evaluations_performed_per_step: per_step(|chain| chain.sums.evaluations),
            seconds: driver.seconds,
            sites: driver.sites(),
            last_states: results.into_iter().map(|chain| chain.state).collect(),
            trace: Trace::default(),
            ended,
            observed,
        })
    }

    /// The states that distances are measured to, as they are shown.
    fn draw_references(&self) -> Result<Vec<Hamming>, RunError> {
        let mut rng = ChainRng::new(self.reference_seed, Stream::Reference);
        let mut state = vec![0; self.model.space().sites()];
        let references = (0..self.references).map(|_| {
            block::draw_initial_state(&*self.model, &mut rng, &mut state)?;
            let mut shown = vec![0; self.model.shown_space().sites()];
            self.model.show(&state, &mut shown);
            Ok(Hamming(shown))
        });
        references.collect()
    }

    /// All chains at their initial states, in blocks.
    fn blocks(
        &self,
        taken: &Arc<Taken<'a>>,
        observers: &[Box<dyn AnyObserver + 'a>],
    ) -> Result<Vec<RunBlock<'a, M>>, RunError> {
        let Self { model, settings, .. } = self;
        let sites = model.space().sites();
        let new_block = |chains: std::ops::Range<usize>| {
            let first_chain = chains.start;
            let stream = |chain| ChainRng::new(settings.seed, Stream::Chain(chain as u64));
            let mut rngs: Vec<_> = chains.map(stream).collect();
            let mut states = vec![0; rngs.len() * sites];
            for (state, rng) in states.chunks_exact_mut(sites).zip(&mut rngs) {
                block::draw_initial_state(&**model, rng, state)?;
            }
            let count = rngs.len();
            let made = catch_unwind(AssertUnwindSafe(|| {
                (self.new_block)(model, first_chain, states, rngs)
            }));
            let block = made.map_err(|panic| RunError::Panic(panic_words(&*panic)))?;
            let shown = model.shown_space();
            let observers = observers.iter().map(|one| one.new_block(shown, count)).collect();
            Ok(RunBlock::new(model.clone(), block, taken.clone(), observers))
        };
        block_ranges(&**model, settings.chains).map(new_block).collect()
    }

    /// Names of all observables, each once.
    fn names(&self) -> Result<Vec<String>, RunError> {
        let mut names = vec![LOG_PROB.to_owned(), HAMMING.to_owned()];
        names.extend((2..=self.references).map(|number| format!("{HAMMING}_{number}")));
        for (name, _) in &self.observables {
            if names.contains(name) || STATISTICS.contains(&name.as_str()) || name == WEIGHT {
                return Err(RunError::ObservableName(name.clone()));
            }
            names.push(name.clone());
        }
        for (number, (name, _)) in self.observers.iter().enumerate() {
            if self.observers[..number].iter().any(|(other, _)| other == name) {
                return Err(RunError::ObservableName(name.clone()));
            }
        }
        if self.traits.is_weighted {
            names.push(WEIGHT.to_owned());
        }
        Ok(names)
    }
}
