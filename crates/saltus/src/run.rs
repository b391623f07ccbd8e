//! A run: blocks of chains over a pool of threads, warm-up in rounds, then kept draws; the same
//! bytes for any number of threads.

mod block;
mod driver;
mod outcome;
mod running_ess;
mod settings;
mod sites;
mod stop;

pub use outcome::{Ended, Outcome, Reached, Seconds};
pub use settings::{RunError, Settings};
pub(crate) use sites::SiteRecord;
pub use sites::{SiteCounts, Sites};

use crate::checkpoint::{Checkpoint, Fingerprint};
use crate::model::Model;
use crate::rng::{ChainRng, Stream};
use crate::sink::{Plan, STATISTICS, Sink};
use crate::trace::{HAMMING, LOG_PROB, Trace, WEIGHT};
use block::{ChainResult, Observables};
use driver::{Driver, Pace};
use running_ess::RunningEss;
use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Duration;

/// Draws from a model.
///
/// ```
/// use saltus::model::independent::Independent;
/// use saltus::{Sampler, Settings, run};
/// let model = Independent::bernoulli(vec![0.0, 1.0, -2.0])?;
/// let settings = Settings { chains: 4, warmup: 100, draws: 200, ..Settings::default() };
/// let outcome = run::sample(&model, &settings)?;
/// assert_eq!(outcome.trace.draws(), 200);
/// assert!(outcome.acceptance > 0.99); // DLMC is exact on independent sites
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sample<M: Model>(model: &M, settings: &Settings) -> Result<Outcome, RunError> {
    Run::new(model, settings).go()
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
    /// What the draws of all chains were worth when it was last estimated, from the Hamming
    /// distance of a few chains; none during warm-up.
    pub ess: Option<f64>,
}

/// What a monitor wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Go on.
    Continue,
    /// Stop after the steps in progress; what was drawn is kept.
    Stop,
}

/// Takes a number from a state.
type Look<'a> = dyn Fn(&[u8]) -> f64 + Send + Sync + 'a;

/// A named number that is taken from every kept state.
pub struct Observable<'a> {
    name: String,
    value: Box<Look<'a>>,
}

/// A run being set up: what to observe besides log π and the Hamming distance, and who watches.
///
/// ```
/// use saltus::model::lattice::Lattice;
/// use saltus::model::pairwise::Pairwise;
/// use saltus::{Run, Settings};
/// let model = Pairwise::ising_lattice(Lattice::periodic(4, 4)?, 0.2, vec![0.0; 16])?;
/// let settings = Settings { chains: 2, warmup: 50, draws: 50, ..Settings::default() };
/// let outcome = Run::new(&model, &settings)
///     .observe("up", |state| state.iter().map(|x| f64::from(*x)).sum())
///     .keep_states()
///     .go()?;
/// assert_eq!(outcome.trace.series("up").unwrap()[1].len(), 50);
/// assert_eq!(outcome.trace.states(0).len(), 50 * 16);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Run<'a, M: Model> {
    model: &'a M,
    settings: &'a Settings,
    observables: Vec<Observable<'a>>,
    references: usize,
    reference_seed: u64,
    watch_sites: bool,
    keep_states: bool,
    monitor: Box<dyn FnMut(Progress) -> Wish + 'a>,
    monitored: bool,
    checkpoint_every: Duration,
    resumed: Option<Checkpoint>,
}

/// Time between two checkpoints, unless another is set.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(30);

impl<'a, M: Model> Run<'a, M> {
    /// A run of a model with these settings.
    pub fn new(model: &'a M, settings: &'a Settings) -> Self {
        Self {
            model,
            settings,
            observables: Vec::new(),
            references: 1,
            reference_seed: settings.seed,
            watch_sites: false,
            keep_states: false,
            monitor: Box::new(|_| Wish::Continue),
            monitored: false,
            checkpoint_every: CHECKPOINT_EVERY,
            resumed: None,
        }
    }

    /// Also keeps this number of every draw.
    pub fn observe(
        mut self,
        name: impl Into<String>,
        value: impl Fn(&[u8]) -> f64 + Send + Sync + 'a,
    ) -> Self {
        self.observables.push(Observable { name: name.into(), value: Box::new(value) });
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
    /// forgot their start. Takes some sixteen bytes per site and chain.
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
    pub fn monitor(mut self, monitor: impl FnMut(Progress) -> Wish + 'a) -> Self {
        self.monitor = Box::new(monitor);
        self.monitored = true;
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

    /// Runs the chains and keeps their draws in memory.
    pub fn go(self) -> Result<Outcome, RunError> {
        let mut trace = Trace::new(self.keep_states);
        self.go_into(&mut trace)
    }

    /// Runs the chains and hands their draws to a sink, which also decides whether whole states are
    /// kept.
    pub fn go_into(mut self, sink: &mut dyn Sink) -> Result<Outcome, RunError> {
        let settings = self.settings;
        let space = *self.model.space();
        settings.check(&space)?;
        // Evaluations that a run without checkpoints has no use for.
        let keep_snapshots = sink.wants_checkpoints();
        let recognised = keep_snapshots || self.resumed.is_some();
        let fingerprint = recognised.then(|| Fingerprint::of(self.model, settings));
        if let (Some(checkpoint), Some(fingerprint)) = (&self.resumed, &fingerprint) {
            checkpoint.check(fingerprint)?;
        }
        let mut references = vec![vec![0; space.sites()]; self.references];
        let mut rng = ChainRng::new(self.reference_seed, Stream::Reference);
        for reference in &mut references {
            block::draw_initial_state(self.model, &mut rng, reference)?;
        }
        let own = std::mem::take(&mut self.observables);
        let weighted = settings.sampler.is_weighted();
        let names = names(references.len(), &own, weighted)?;
        let observables = Observables {
            references,
            own,
            weighted,
            watch_sites: self.watch_sites,
            keep_snapshots,
            keep_states: sink.wants_states(),
        };

        let block_size = self.model.block_size(settings.chains).clamp(1, settings.chains);
        let blocks: Vec<_> = (0..settings.chains)
            .step_by(block_size)
            .map(|first| {
                let chains = first..(first + block_size).min(settings.chains);
                block::new_block(self.model, settings, chains, &observables)
            })
            .collect::<Result<_, RunError>>()?;
        // A thread without a block would only wait.
        let threads =
            settings.threads.unwrap_or_else(|| available_parallelism().map_or(1, NonZero::get));
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.min(blocks.len()))
            .build()
            .map_err(|error| RunError::Threads(error.to_string()))?;
        let resumed = self.resumed.as_ref();
        sink.begin(&Plan { space, chains: settings.chains, names: &names, resumed })?;
        let mut driver = Driver {
            settings,
            space,
            blocks,
            pool: &pool,
            monitor: &mut self.monitor,
            // Weighted draws would need their weights for every look.
            running_ess: RunningEss::new(self.monitored && !weighted),
            weights: weighted.then(|| names.len() - 1),
            sink,
            checkpoint_every: self.checkpoint_every,
            fingerprint,
            pace: Pace::new(settings.time_limit),
            steps: 0,
            rounds: Vec::new(),
            scale: None,
            seconds: Seconds::default(),
        };
        if let Some(checkpoint) = resumed {
            driver.restore(checkpoint);
        }
        let ended = driver.run()?;
        let results = driver.results();
        let sites = driver.sites();
        let steps = results.iter().map(|chain| chain.sums.steps as f64).sum::<f64>().max(1.0);
        let per_step =
            |total: fn(&ChainResult) -> f64| results.iter().map(total).sum::<f64>() / steps;
        Ok(Outcome {
            settings: settings.clone(),
            space,
            threads: pool.current_num_threads(),
            scale: driver.scale,
            acceptance: per_step(|chain| chain.sums.acceptance),
            warmup: driver.rounds,
            stuck: (0..results.len()).filter(|chain| results[*chain].sums.changed == 0.0).collect(),
            sites_changed_per_step: per_step(|chain| chain.sums.changed),
            evaluations_performed_per_step: per_step(|chain| chain.sums.evaluations),
            seconds: driver.seconds,
            sites,
            last_states: results.into_iter().map(|chain| chain.state).collect(),
            trace: driver.sink.trace()?,
            ended,
        })
    }
}

/// Names of all observables, each once.
fn names(
    references: usize,
    own: &[Observable<'_>],
    weighted: bool,
) -> Result<Vec<String>, RunError> {
    let mut names = vec![LOG_PROB.to_owned(), HAMMING.to_owned()];
    names.extend((2..=references).map(|number| format!("{HAMMING}_{number}")));
    for Observable { name, .. } in own {
        if names.contains(name) || STATISTICS.contains(&name.as_str()) || name == WEIGHT {
            return Err(RunError::ObservableName(name.clone()));
        }
        names.push(name.clone());
    }
    if weighted {
        names.push(WEIGHT.to_owned());
    }
    Ok(names)
}
