//! A run: blocks of chains over a pool of threads, warm-up in rounds, then kept draws; the same
//! bytes for any number of threads.

mod block;
mod checkpoint;
mod driver;
mod exactly;
mod outcome;
mod part;
mod pilot;
mod restraint;
mod scouted;
mod settings;
mod stop;

pub use checkpoint::Checkpoint;
pub use outcome::Outcome;
pub use part::Parts;
pub use pilot::{needs_pilot, pilot};
pub use scouted::{Elsewhere, Scouts, Unsent};
pub use settings::{RunError, Settings};

use crate::base::Base;
use crate::control::{Control, Ended, Seconds};
use crate::draws::observable::{Hamming, Magnetisation, Observable};
use crate::draws::observer::{AnyObserver, Observer, Shared};
use crate::draws::observers::Best;
use crate::draws::sink::{Plan, STATISTICS, Sink};
use crate::draws::sites::WatchSites;
use crate::draws::trace::{HAMMING, LOG_PROB, Trace, WEIGHT};
use crate::engine::{Fingerprint, block_ranges, kernel_block, panic_words, sampler_block};
use crate::error::StepFailure;
use crate::kernel::terms::Terms;
use crate::kernel::{Kernel, KernelTraits};
use crate::model::Model;
use crate::parts;
use crate::rng::{ChainRng, Stream};
use crate::sampler::SamplerError;
use crate::temper::{self, Adapter, Ladder, LadderParts, NewBlock, RungNumbers, Temper};
use crate::workers::Workers;
use block::{ChainResult, Moved, RunBlock, Taken};
use driver::{Driver, Pace};
use exactly::Watched;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use stop::StopRules;

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
    new_block: Arc<NewBlock<'a, M>>,
    /// Chains per block.
    block_size: usize,
    /// Steps that try about as many sites as there are.
    steps_per_sweep: usize,
    keep_rungs: Option<Arc<RungNumbers<'a>>>,
    observables: Vec<(String, Box<dyn Observable + 'a>)>,
    observers: Vec<(String, Box<dyn AnyObserver + 'a>)>,
    references: usize,
    reference_seed: u64,
    watch_sites: bool,
    exact_means: bool,
    keep_states: bool,
    starts: Option<Vec<u8>>,
    first_chain: usize,
    /// Chains of the run that this is a part of, if it is one.
    part_of: Option<usize>,
    monitor: Option<Box<Monitor<'a>>>,
    checkpoint_every: Duration,
    resumed: Option<Checkpoint>,
    seconds: Seconds,
    /// When its time began, if before it did.
    began: Option<Instant>,
}

/// Name of the mean spin among the observables.
pub const MAGNETISATION: &str = "magnetisation";
/// Name of the observer that keeps the best state.
pub const BEST: &str = "best";
/// Name of the observer that sums up marginals.
pub const MARGINALS: &str = "marginals";
/// Random states that distances are measured to, as usual.
pub(crate) const REFERENCES: usize = 3;
/// Sites of all chains together that are watched one by one; with more, remembering them would take
/// more memory than sampling does.
const MOST_WATCHED: usize = 10_000_000;
/// The same of a run in parts: what is remembered goes from one process to another.
const MOST_SENT: usize = 1_000_000;

/// Time between two checkpoints, unless another is set.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(30);

impl<'a, M: Model + 'a> Run<'a, M> {
    /// A run of a model with these settings, or with a sampler and settings as they are by default.
    pub fn new(model: impl Into<ModelRef<'a, M>>, settings: impl Into<Settings>) -> Self {
        let (model, settings) = (model.into(), settings.into());
        let traits = settings.sampler.traits(model.space());
        let sampler = settings.sampler.clone();
        let terms = sampler.terms(&*model, settings.chains);
        let unsuited = sampler.check(model.space()).err();
        let new_block = move |model: &M, first_chain, states, rngs, base| {
            sampler_block(model, &sampler, first_chain, states, rngs, base)
        };
        let run = Self::with_blocks(model, settings, traits, terms, Arc::new(new_block));
        Self { refused: unsuited.or(run.refused), ..run }
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
        let (model, settings, kernel) = (model.into(), settings.into(), Arc::new(kernel));
        let traits = kernel.traits(&model);
        let terms = Terms::of(&*kernel, &*model, settings.chains);
        let new_block = move |model: &M, first_chain, states, rngs, base| {
            kernel_block(model, kernel.clone(), first_chain, states, rngs, base)
        };
        Self::with_blocks(model, settings, traits, terms, Arc::new(new_block))
    }

    fn with_blocks(
        model: ModelRef<'a, M>,
        settings: Settings,
        traits: KernelTraits,
        terms: Terms,
        new_block: Arc<NewBlock<'a, M>>,
    ) -> Self {
        Self {
            refused: settings.on_terms(&*model, &terms).err(),
            block_size: terms.block_size,
            steps_per_sweep: terms.steps_per_sweep,
            model,
            reference_seed: settings.seed,
            settings,
            traits,
            new_block,
            keep_rungs: None,
            observables: Vec::new(),
            observers: Vec::new(),
            references: 1,
            watch_sites: false,
            exact_means: false,
            keep_states: false,
            starts: None,
            first_chain: 0,
            part_of: None,
            monitor: None,
            checkpoint_every: CHECKPOINT_EVERY,
            resumed: None,
            seconds: Seconds::default(),
            began: None,
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

    /// Also finds the exact means of what is observed, after the draws, where they can be had for next to nothing: of models of few
    /// states, or whose sites can be summed out one by one. Draws that contradict them are a finding.
    pub fn exact_means(mut self) -> Self {
        self.exact_means = true;
        self
    }

    /// Finds none, where somebody else has.
    pub(crate) fn without_exact_means(mut self) -> Self {
        self.exact_means = false;
        self
    }

    /// Also keeps the whole state of every draw.
    pub fn keep_states(mut self) -> Self {
        self.keep_states = true;
        self
    }

    /// Starts the chains from these states, one row after another, instead of from those that the model
    /// draws. If some sites are fixed, rows have the others alone.
    ///
    /// ```
    /// # use saltus::{Independent, Run, Settings};
    /// let model = Independent::bernoulli(vec![0.0; 3])?;
    /// let settings = Settings { chains: 2, warmup: 0, draws: 1, ..Settings::default() };
    /// let outcome = Run::new(&model, settings).start_from(vec![0, 0, 0, 1, 1, 1]).go()?;
    /// assert_eq!(outcome.trace.draws(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start_from(mut self, states: Vec<u8>) -> Self {
        self.starts = Some(states);
        self
    }

    /// Numbers the chains from there on: a part of the chains of a larger run. With a fixed scale, which depends on no other
    /// chain, they are the chains of the larger run to the last byte.
    ///
    /// ```
    /// # use saltus::{Independent, Run, Sampler, Settings};
    /// let model = Independent::bernoulli(vec![0.3; 5])?;
    /// let sampler = Sampler { scale: Some(0.5), ..Sampler::dlmc() };
    /// let whole = Settings { chains: 5, warmup: 10, draws: 10, ..sampler.into() };
    /// let part = Settings { chains: 2, ..whole.clone() };
    /// let part = Run::new(&model, part).first_chain(3).go()?;
    /// let whole = Run::new(&model, whole).go()?;
    /// assert_eq!(part.trace.log_prob(), &whole.trace.log_prob()[3..]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn first_chain(mut self, number: usize) -> Self {
        self.first_chain = number;
        self
    }

    /// Makes this the part of a run of so many chains that begins at the chain of that number, to be joined with the other
    /// [`Parts`]. What is observed as usual is then what that run can observe.
    pub fn part(self, first_chain: usize, of: usize) -> Self {
        Self { part_of: Some(of), ..self.first_chain(first_chain) }
    }

    /// Observes what people and scripts are told of a run by default: the distance to three random
    /// states, the best state as `best`, what every site did unless there are too many, and of bits their
    /// mean spin as `magnetisation`; with [exact means](Run::exact_means) where these are easy to have.
    pub fn observe_as_usual(mut self) -> Self {
        let space = self.model.shown_space().clone();
        let (chains, most) = match self.part_of {
            None => (self.settings.chains, MOST_WATCHED),
            Some(all) => (all, MOST_SENT),
        };
        let few = chains.saturating_mul(space.sites()) <= most;
        // Sites are counted draw by draw, which weighted draws do not allow.
        self.watch_sites |= few && !self.traits.is_weighted;
        if space.is_binary() {
            self = self.observe(MAGNETISATION, Magnetisation { sites: space.sites() });
        }
        // Of parts of a run, the first finds them for all.
        self.exact_means = self.part_of.is_none() || self.first_chain == 0;
        self.references(REFERENCES).observer(BEST, Best { states: 1 })
    }

    /// Also keeps, in memory, log π of the chain on every rung of a tempered run.
    pub fn keep_rungs(mut self) -> Self {
        self.keep_rungs = Some(Arc::new(|_: &[u8]| Box::default()));
        self
    }

    /// The same with some numbers of every such state.
    pub fn observe_rungs(
        mut self,
        observe: impl Fn(&[u8]) -> Box<[f64]> + Send + Sync + 'a,
    ) -> Self {
        self.keep_rungs = Some(Arc::new(observe));
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

    /// Counts the time limit from then, where something was done for the run before it.
    pub fn since(mut self, began: Instant) -> Self {
        self.began = Some(began);
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
            let fingerprint = Fingerprint::of(&**model, &settings, self.settings.seed);
            match &self.starts {
                None => fingerprint,
                Some(starts) => fingerprint.with_starts(starts),
            }
        });
        self.check_starts()?;
        let references = self.draw_references()?;
        let weighted = traits.is_weighted;
        let names = self.names()?;
        let (own_names, own): (Vec<String>, Vec<_>) =
            std::mem::take(&mut self.observables).into_iter().unzip();
        let follows = StopRules::follow(&self.settings);
        let tracked: Vec<usize> = match (follows, self.monitor.is_some()) {
            (true, _) => (0..1 + references.len() + own_names.len()).collect(),
            (false, true) => vec![1],
            (false, false) => Vec::new(),
        };
        let tunes = self.traits.scale.is_some() && self.settings.sampler.scale.is_none();
        let taken = Arc::new(Taken {
            references,
            own,
            weighted,
            tracked: tracked.clone(),
            keep_snapshots,
            keep_states: sink.wants_states(),
            thin: self.settings.thin,
            refresh: block::refresh(self.steps_per_sweep),
            fresh_rounds: tunes && self.steps_per_sweep == 1,
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
        // Threads share blocks, and the parts of large states.
        let shares = blocks.len() * parts::count(self.model.space().sites());
        let workers =
            Workers::for_blocks(self.settings.threads, shares).map_err(RunError::Threads)?;
        let resumed = self.resumed.as_ref().map(Checkpoint::draws);
        let chains = self.settings.chains;
        sink.begin(&Plan { space: &shown, chains, names: &names, resumed })?;
        let adapter = self.settings.temper.as_ref().map(|_| Adapter::new(self.ladder_plan()));
        let log_z_offset = self.log_z_offset();
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
            pace: Pace::new(self.settings.time_limit, self.began),
            steps: 0,
            rounds: Vec::new(),
            scale: None,
            seconds: self.seconds,
            adapter,
            measured: Vec::new(),
            rungs: None,
            log_z_offset,
            symmetric: self.model.is_symmetric(),
            summed_sites: None,
        };
        if let Some(checkpoint) = &self.resumed {
            driver.restore(checkpoint)?;
        }
        let mut ended = driver.run()?;
        let results = driver.results();
        let mut observed = BTreeMap::new();
        let named = observer_names.into_iter().enumerate();
        for (number, name) in named.filter(|(number, _)| Some(*number) != watches_sites) {
            match catch_unwind(AssertUnwindSafe(|| driver.observed(number))) {
                Ok(result) => observed.extend(result.map(|result| (name, result))),
                // The draws are whole, so only this observer has nothing to say.
                Err(panic) if !matches!(ended, Ended::Failed { .. }) => {
                    let words = format!("observer '{name}': {}", panic_words(&*panic));
                    let (step, cause) = (driver.steps, StepFailure::Panic(words));
                    ended = Ended::Failed { chain: 0, step, cause };
                }
                Err(_) => {}
            }
        }
        let exact = match self.exact_means && ended.is_success() {
            true => {
                let named = own_names.iter().zip(&taken.own);
                let named = named.map(|(name, one)| (name.as_str(), &**one as &dyn Observable));
                let watched = Watched { references: &taken.references, named: named.collect() };
                let beta = self.settings.beta.unwrap_or(1.0);
                let until = Instant::now() + exactly::patience(driver.seconds);
                driver.timed_summary(|driver| {
                    let go_on = || Instant::now() < until && driver.may_go_on();
                    let means = || watched.exact_means(&*self.model, beta, go_on);
                    catch_unwind(AssertUnwindSafe(means)).unwrap_or_default()
                })
            }
            false => BTreeMap::new(),
        };
        let (tempering, rung_draws) = (driver.tempering(), driver.rung_draws());
        let mut traits = self.traits;
        if let Some(tempering) = &tempering {
            traits.evaluations_charged *= tempering.scales.len() as f64;
        }
        let steps = results.iter().map(|chain| chain.sums.steps as f64).sum::<f64>().max(1.0);
        let per_step =
            |total: fn(&ChainResult) -> f64| results.iter().map(total).sum::<f64>() / steps;
        let [acceptance, changed, evaluations] = [
            per_step(|chain| chain.sums.acceptance),
            per_step(|chain| chain.sums.changed),
            per_step(|chain| chain.sums.evaluations),
        ];
        let stuck = (0..results.len()).filter(|chain| results[*chain].sums.changed == 0.0);
        let stuck = stuck.collect();
        let (last_states, own_states): (Vec<_>, Vec<_>) =
            results.into_iter().map(|chain| (chain.state, chain.own)).unzip();
        Ok(Outcome {
            settings: self.settings.clone(),
            space: shown,
            traits,
            tempering,
            rung_draws,
            symmetric: self.model.is_symmetric(),
            scouts: None,
            exact,
            threads: workers.threads(),
            scale: driver.scale,
            acceptance,
            warmup: std::mem::take(&mut driver.rounds),
            stuck,
            sites_changed_per_step: changed,
            evaluations_performed_per_step: evaluations,
            seconds: driver.seconds,
            sites: driver.summed_sites.take(),
            site_records: if self.part_of.is_some() { driver.site_records() } else { Vec::new() },
            last_states,
            own_states,
            deadline: driver.pace.limit,
            trace: Trace::default(),
            ended,
            observed,
        })
    }

    /// Fails if chains cannot start from the states that were given.
    fn check_starts(&self) -> Result<(), RunError> {
        let Some(starts) = &self.starts else {
            return Ok(());
        };
        let (space, chains) = (self.model.space(), self.settings.chains);
        if starts.len() != chains.saturating_mul(space.sites()) {
            return Err(RunError::Starts { bytes: starts.len(), chains, sites: space.sites() });
        }
        starts.chunks_exact(space.sites()).try_for_each(|state| block::check_state(space, state))
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
        let base = self.base().map(Arc::new);
        let new_block = |chains: std::ops::Range<usize>| {
            let first_chain = chains.start;
            let before = self.first_chain;
            let stream =
                |chain| ChainRng::new(settings.seed, Stream::Chain((before + chain) as u64));
            let mut rngs: Vec<_> = chains.map(stream).collect();
            let mut states = vec![0; rngs.len() * sites];
            match &self.starts {
                Some(starts) => {
                    let rows = first_chain * sites..(first_chain + rngs.len()) * sites;
                    states.copy_from_slice(&starts[rows]);
                }
                None => {
                    for (state, rng) in states.chunks_exact_mut(sites).zip(&mut rngs) {
                        block::draw_initial_state(&**model, rng, state)?;
                    }
                }
            }
            let count = rngs.len();
            let base = base.clone();
            let shown = model.shown_space();
            let made = catch_unwind(AssertUnwindSafe(|| {
                let observers = observers.iter().map(|one| one.new_block(shown, count)).collect();
                let block = match (base, &settings.temper) {
                    (Some(base), Some(_)) => Moved::Ladder(Box::new(self.ladder(
                        base,
                        before + first_chain,
                        states,
                        rngs,
                    ))),
                    (base, _) => {
                        let mut block =
                            (self.new_block)(model, before + first_chain, states, rngs, base);
                        block.set_beta(settings.beta.unwrap_or(1.0));
                        Moved::Chains(block)
                    }
                };
                (block, observers)
            }));
            let (block, observers) = made.map_err(|panic| RunError::Panic(panic_words(&*panic)))?;
            Ok(RunBlock::new(model.clone(), block, taken.clone(), observers))
        };
        // A ladder has some eight chains of every ensemble.
        let size = match &settings.temper {
            None => self.block_size,
            // Ensembles of a part of a run must not depend on who is beside them: a block that is evaluated afresh for one
            // is for all.
            Some(Temper { ladder: Some(_), .. }) => 1,
            Some(_) => self.block_size.div_ceil(8),
        };
        block_ranges(size, settings.chains).map(new_block).collect()
    }

    /// Where the path to an inverse temperature begins, if the run is on one. That of π^β begins at
    /// uniform sites, which add nothing to it.
    fn base(&self) -> Option<Base> {
        match (self.settings.beta, &self.settings.temper) {
            (Some(_), _) => Some(Base::uniform(self.model.space())),
            (None, Some(_)) => Some(self.model.base()),
            (None, None) => None,
        }
    }

    fn ladder_plan(&self) -> temper::Plan {
        let Settings { sampler, warmup, temper, beta, .. } = &self.settings;
        temper::Plan {
            warmup: *warmup,
            rungs: temper.as_ref().and_then(|temper| temper.rungs),
            ladder: temper.as_ref().and_then(|temper| temper.ladder.clone()),
            top: beta.unwrap_or(1.0),
            scale: self.traits.scale,
            fixed_scale: sampler.scale,
            target_acceptance: sampler.target_acceptance,
        }
    }

    /// log Σ π^β less log Σ p^(1−β) π^β, where p is uniform.
    fn log_z_offset(&self) -> f64 {
        let space = self.model.space();
        let states = |site| (space.values_at(site) as f64).ln();
        let beta = self.settings.beta.unwrap_or(1.0);
        if beta == 1.0 { 0.0 } else { (1.0 - beta) * (0..space.sites()).map(states).sum::<f64>() }
    }

    /// Some ensembles of replicas, at first on the rungs that the warm-up starts from.
    fn ladder(
        &self,
        base: Arc<Base>,
        first_ensemble: usize,
        states: Vec<u8>,
        rngs: Vec<ChainRng>,
    ) -> Ladder<'a, M> {
        let rungs = Adapter::new(self.ladder_plan()).rungs().clone();
        let (new_block, seed) = (self.new_block.clone(), self.settings.seed);
        let block_size = self.block_size;
        let parts = LadderParts { new_block, block_size, base, seed, first_ensemble, states, rngs };
        let mut ladder = Ladder::new(&*self.model, rungs, parts);
        if let Some(observe) = &self.keep_rungs {
            ladder.keep_rungs(observe.clone());
        }
        ladder
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
