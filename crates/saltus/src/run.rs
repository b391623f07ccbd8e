//! A run: blocks of chains over a pool of threads, warm-up in rounds, then kept draws; the same
//! bytes for any number of threads.

mod block;
mod outcome;
mod settings;
mod sites;

pub use outcome::{Ended, Outcome, Seconds};
pub use settings::{RunError, Settings};
pub use sites::{SiteCounts, SiteRecord, Sites};

use crate::kernel::{StepError, StepFailure};
use crate::model::Model;
use crate::rng::{ChainRng, Stream};
use crate::trace::{HAMMING, LOG_PROB};
use crate::tune::{Tuner, initial_scale, round_lengths};
use block::{ChainBlock, Observables};
use rayon::prelude::*;
use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

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
    keep_states: bool,
    monitor: Box<dyn FnMut(Progress) -> Wish + 'a>,
}

/// Time between two looks at the clock and the monitor.
const HEARTBEAT: Duration = Duration::from_millis(100);

impl<'a, M: Model> Run<'a, M> {
    /// A run of a model with these settings.
    pub fn new(model: &'a M, settings: &'a Settings) -> Self {
        Self {
            model,
            settings,
            observables: Vec::new(),
            keep_states: false,
            monitor: Box::new(|_| Wish::Continue),
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

    /// Also keeps the whole state of every draw.
    pub fn keep_states(mut self) -> Self {
        self.keep_states = true;
        self
    }

    /// Calls `monitor` several times a second; it may ask the run to stop.
    pub fn monitor(mut self, monitor: impl FnMut(Progress) -> Wish + 'a) -> Self {
        self.monitor = Box::new(monitor);
        self
    }

    /// Runs the chains.
    pub fn go(mut self) -> Result<Outcome, RunError> {
        let settings = self.settings;
        let space = *self.model.space();
        settings.check(&space)?;
        let mut reference = vec![0; space.sites()];
        let mut rng = ChainRng::new(settings.seed, Stream::Reference);
        block::draw_initial_state(self.model, &mut rng, &mut reference)?;
        let own = std::mem::take(&mut self.observables);
        let mut names = vec![LOG_PROB.to_owned(), HAMMING.to_owned()];
        for Observable { name, .. } in &own {
            if names.contains(name) {
                return Err(RunError::ObservableName(name.clone()));
            }
            names.push(name.clone());
        }
        let observables = Observables { reference, own, keep_states: self.keep_states };

        let block_size = self.model.block_size(settings.chains).clamp(1, settings.chains);
        let mut blocks: Vec<_> = (0..settings.chains)
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
        let mut driver = Driver {
            blocks: &mut blocks,
            pool: &pool,
            monitor: &mut self.monitor,
            // A limit too far away to be written as a time is no limit.
            limit: settings.time_limit.and_then(|limit| Instant::now().checked_add(limit)),
            steps: 0,
            total_steps: settings.warmup + settings.draws * settings.thin,
            last: Instant::now(),
            pace: 1,
        };

        let mut tuner = match settings.scale {
            Some(_) => None,
            None => {
                Tuner::new(settings.sampler, &space, settings.target_acceptance, settings.warmup)
            }
        };
        let started = Instant::now();
        let mut ended = Ended::Complete;
        let mut scale = settings.scale.or(initial_scale(settings.sampler, &space).map(|s| s.0));
        for length in round_lengths(settings.warmup) {
            ended = driver.warm_up(length, scale, tuner.as_mut());
            if let Some(tuner) = &tuner {
                scale = Some(tuner.scale());
            }
            if ended != Ended::Complete {
                break;
            }
        }
        if let Some(tuner) = &tuner {
            scale = Some(tuner.frozen());
        }
        let warmup_seconds = started.elapsed().as_secs_f64();
        let started = Instant::now();
        if ended == Ended::Complete {
            ended = driver.draw(settings.draws * settings.thin, scale);
        }
        let seconds = Seconds { warmup: warmup_seconds, draws: started.elapsed().as_secs_f64() };
        let threads = pool.current_num_threads();
        Ok(outcome::collect(settings, space, threads, names, blocks, scale, seconds, ended))
    }
}

/// Drives the blocks through their steps, looking at the clock and the monitor in between.
struct Driver<'d, 'a> {
    blocks: &'d mut Vec<Box<dyn ChainBlock + 'a>>,
    pool: &'d rayon::ThreadPool,
    monitor: &'d mut dyn FnMut(Progress) -> Wish,
    limit: Option<Instant>,
    steps: usize,
    total_steps: usize,
    last: Instant,
    /// Steps that take about a heartbeat.
    pace: usize,
}

impl Driver<'_, '_> {
    /// One round of warm-up, after which the tuner moves the scale.
    fn warm_up(&mut self, steps: usize, scale: Option<f64>, tuner: Option<&mut Tuner>) -> Ended {
        let started = self.start(scale);
        let ended = if started == Ended::Complete {
            self.advance(steps, true, scale, |block, steps| block.warm_up(steps))
        } else {
            started
        };
        if let (Some(tuner), Ended::Complete) = (tuner, &ended) {
            // Added up in the order of the chains, so that the sum does not depend on threads.
            let sums = self.blocks.iter_mut().flat_map(|block| block.take_acceptance());
            let (sum, count) = sums.fold((0.0, 0usize), |(s, n), sum| (s + sum, n + steps));
            tuner.round(sum / count as f64);
        }
        ended
    }

    /// All kept draws.
    fn draw(&mut self, steps: usize, scale: Option<f64>) -> Ended {
        match self.start(scale) {
            Ended::Complete => self.advance(steps, false, scale, |block, steps| block.draw(steps)),
            ended => ended,
        }
    }

    fn start(&mut self, scale: Option<f64>) -> Ended {
        let blocks = &mut *self.blocks;
        let results: Vec<_> = self.pool.install(|| {
            blocks.par_iter_mut().map(|block| block.start(scale.unwrap_or(1.0))).collect()
        });
        self.first_failure(results)
    }

    /// Steps of every block, in pieces of about a heartbeat.
    fn advance(
        &mut self,
        steps: usize,
        warming_up: bool,
        scale: Option<f64>,
        go: impl Fn(&mut (dyn ChainBlock + '_), usize) -> Result<(), Failed> + Sync,
    ) -> Ended {
        let mut left = steps;
        while left > 0 {
            let piece = left.min(self.pace);
            let began = Instant::now();
            let blocks = &mut *self.blocks;
            let results: Vec<_> = self
                .pool
                .install(|| blocks.par_iter_mut().map(|block| go(block.as_mut(), piece)).collect());
            let ended = self.first_failure(results);
            if ended != Ended::Complete {
                return ended;
            }
            left -= piece;
            self.steps += piece;
            let per_step = began.elapsed().as_secs_f64() / piece as f64;
            let fitting = HEARTBEAT.as_secs_f64() / per_step.max(1e-9);
            self.pace = (fitting as usize).clamp(1, 4 * piece.max(self.pace));
            if self.limit.is_some_and(|limit| Instant::now() >= limit)
                && self.steps < self.total_steps
            {
                return Ended::TimeLimit;
            }
            if self.last.elapsed() >= HEARTBEAT || self.steps == self.total_steps {
                self.last = Instant::now();
                let count = self.blocks.iter().map(|block| block.chains()).sum::<usize>();
                let sum: f64 = self.blocks.iter().map(|block| block.recent_acceptance()).sum();
                let progress = Progress {
                    warming_up,
                    steps: self.steps,
                    total_steps: self.total_steps,
                    acceptance: sum / count as f64,
                    scale,
                };
                if (self.monitor)(progress) == Wish::Stop && self.steps < self.total_steps {
                    return Ended::Interrupted;
                }
            }
        }
        Ended::Complete
    }

    fn first_failure(&self, results: Vec<Result<(), Failed>>) -> Ended {
        let failures = results.into_iter().filter_map(Result::err);
        match failures.min_by_key(|failed| (failed.step, failed.chain)) {
            Some(failed) => {
                Ended::Failed { chain: failed.chain, step: failed.step, cause: failed.cause }
            }
            None => Ended::Complete,
        }
    }
}

/// A failed step, with the chain's number in the run.
pub(crate) struct Failed {
    chain: usize,
    step: usize,
    cause: StepFailure,
}

impl Failed {
    fn new(error: StepError, first_chain: usize, step: usize) -> Self {
        Self { chain: first_chain + error.chain, step, cause: error.cause }
    }
}
