//! Drives the blocks of a run through warm-up and draws, looking at the clock, the monitor and the
//! stop rules in between.

use super::block::{ChainBlock, ChainResult};
use super::outcome::{Ended, Seconds};
use super::running_ess::RunningEss;
use super::stop::StopRules;
use super::{Progress, Settings, Sites, Wish};
use crate::checkpoint::{Checkpoint, Fingerprint};
use crate::kernel::{StepError, StepFailure};
use crate::sink::{ChainDraws, Saved, Sink, SinkError};
use crate::space::Space;
use crate::tune::{Round, Tuner, initial_scale, round_lengths};
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Time between two looks at the clock and the monitor.
const HEARTBEAT: Duration = Duration::from_millis(100);
/// Bytes of draws that may gather before they are handed on.
const GATHERED: usize = 1 << 26;

pub(super) struct Driver<'d, 'a> {
    pub(super) settings: &'d Settings,
    pub(super) space: Space,
    pub(super) blocks: Vec<Box<dyn ChainBlock + 'a>>,
    pub(super) pool: &'d rayon::ThreadPool,
    pub(super) monitor: &'d mut dyn FnMut(Progress) -> Wish,
    pub(super) running_ess: RunningEss,
    /// Which observable holds the weights of the draws, if they have any.
    pub(super) weights: Option<usize>,
    pub(super) sink: &'d mut dyn Sink,
    pub(super) checkpoint_every: Duration,
    /// Known if checkpoints are wanted.
    pub(super) fingerprint: Option<Fingerprint>,
    pub(super) pace: Pace,
    pub(super) steps: usize,
    pub(super) rounds: Vec<Round>,
    pub(super) scale: Option<f64>,
    pub(super) seconds: Seconds,
}

/// What the clock says.
pub(super) struct Pace {
    limit: Option<Instant>,
    last_look: Instant,
    last_saved: Instant,
    /// When the part of the run in progress was last added to the seconds.
    counted: Instant,
    /// Steps that take about a heartbeat.
    steps: usize,
}

impl Pace {
    pub(super) fn new(limit: Option<Duration>) -> Self {
        let now = Instant::now();
        // A limit too far away to be written as a time is no limit.
        let limit = limit.and_then(|limit| now.checked_add(limit));
        Self { limit, last_look: now, last_saved: now, counted: now, steps: 1 }
    }
}

impl Driver<'_, '_> {
    /// Goes on from a checkpoint.
    pub(super) fn restore(&mut self, checkpoint: &Checkpoint) {
        self.steps = checkpoint.steps;
        self.rounds.clone_from(&checkpoint.rounds);
        self.seconds = checkpoint.seconds;
        let mut chains = &checkpoint.chains[..];
        for block in &mut self.blocks {
            let (own, others) = chains.split_at(block.chains());
            block.restore(checkpoint.steps, own);
            chains = others;
        }
    }

    /// Everything that is left to do.
    pub(super) fn run(&mut self) -> Result<Ended, SinkError> {
        let ended = match self.warm_up().and_then(|()| self.draw()) {
            Ok(()) => Ended::Complete,
            Err(Stop::Ended(ended)) => ended,
            Err(Stop::NotKept(error)) => return Err(error),
        };
        self.save(Some(&ended))?;
        Ok(ended)
    }

    fn total_steps(&self) -> usize {
        self.settings.warmup + self.settings.draws * self.settings.thin
    }

    /// Draws of each chain that were kept so far.
    fn draws(&self) -> usize {
        self.steps.saturating_sub(self.settings.warmup) / self.settings.thin
    }

    /// The rounds of warm-up that are left, after each of which the tuner moves the scale.
    fn warm_up(&mut self) -> Result<(), Stop> {
        let Settings { sampler, target_acceptance, warmup, .. } = *self.settings;
        let mut tuner = match self.settings.scale {
            Some(_) => None,
            None => Tuner::new(sampler, &self.space, target_acceptance, warmup),
        };
        self.scale = self.settings.scale.or(initial_scale(sampler, &self.space).map(|s| s.0));
        let mut begins = 0;
        for (number, steps) in round_lengths(warmup).enumerate() {
            if number == self.rounds.len() {
                self.round(begins, steps)?;
            }
            begins += steps;
            if let Some(tuner) = &mut tuner {
                tuner.round(self.rounds[number].acceptance);
                self.scale = Some(tuner.scale());
            }
        }
        self.scale = tuner.map_or(self.scale, |tuner| Some(tuner.frozen()));
        Ok(())
    }

    /// What is left of a round that begins at that step.
    fn round(&mut self, begins: usize, steps: usize) -> Result<(), Stop> {
        self.start(begins)?;
        self.advance(begins + steps, true)?;
        // Added up in the order of the chains, so that the sum does not depend on threads.
        let sums = self.blocks.iter_mut().flat_map(|block| block.take_acceptance());
        let (sum, count) = sums.fold((0.0, 0usize), |(s, n), sum| (s + sum, n + steps));
        self.rounds.push(Round { steps, scale: self.scale, acceptance: sum / count as f64 });
        Ok(())
    }

    /// The draws that are left, up to the next look of the stop rules each time.
    fn draw(&mut self) -> Result<(), Stop> {
        let Settings { warmup, draws, thin, .. } = *self.settings;
        self.start(warmup)?;
        // The warm-up shall not be lost, whatever happens to the draws.
        if self.steps == warmup {
            self.save(None)?;
        }
        let rules = StopRules::new(self.settings, self.weights);
        while self.steps < self.total_steps() {
            let look = rules.map_or(draws, |_| draws.min(StopRules::next_look(self.draws())));
            self.advance(warmup + look * thin, false)?;
            // After the last draw there is nothing to stop any more.
            if let Some(rules) = rules
                && look < draws
                && let Some(reached) = rules.met(look, self.sink)?
            {
                return Err(Stop::Ended(Ended::Reached(reached)));
            }
        }
        Ok(())
    }

    /// Evaluates all chains for the part of the run that begins at that step, or began there.
    fn start(&mut self, begins: usize) -> Result<(), Stop> {
        let scale = self.scale.unwrap_or(1.0);
        let begun = self.steps > begins;
        self.every_block(|block| if begun { block.go_on(scale) } else { block.start(scale) })
    }

    fn every_block(
        &mut self,
        go: impl Fn(&mut (dyn ChainBlock + '_)) -> Result<(), Failed> + Sync,
    ) -> Result<(), Stop> {
        let blocks = &mut self.blocks;
        let results: Vec<_> =
            self.pool.install(|| blocks.par_iter_mut().map(|block| go(block.as_mut())).collect());
        let failures = results.into_iter().filter_map(Result::err);
        match failures.min_by_key(|failed| (failed.step, failed.chain)) {
            Some(Failed { chain, step, cause }) => {
                Err(Stop::Ended(Ended::Failed { chain, step, cause }))
            }
            None => Ok(()),
        }
    }

    /// Steps of every block up to that number, in pieces of about a heartbeat.
    fn advance(&mut self, until: usize, warming_up: bool) -> Result<(), Stop> {
        let most = self.most_steps_at_once();
        while self.steps < until {
            let piece = (until - self.steps).min(self.pace.steps).min(most);
            let began = Instant::now();
            let moved =
                self.every_block(
                    |block| {
                        if warming_up { block.warm_up(piece) } else { block.draw(piece) }
                    },
                );
            self.count_seconds(warming_up);
            self.hand_on()?;
            moved?;
            self.steps += piece;
            let per_step = began.elapsed().as_secs_f64() / piece as f64;
            let fitting = HEARTBEAT.as_secs_f64() / per_step.max(1e-9);
            self.pace.steps = (fitting as usize).clamp(1, 4 * piece.max(self.pace.steps));
            self.look(warming_up)?;
        }
        Ok(())
    }

    /// Steps after which the draws, gathered in all blocks, take as much memory as they should.
    fn most_steps_at_once(&self) -> usize {
        let state = if self.sink.wants_states() { self.space.sites() } else { 0 };
        let draw = (state + 64) * self.settings.chains;
        (GATHERED / draw).max(1).saturating_mul(self.settings.thin)
    }

    /// Gives the sink what was drawn.
    fn hand_on(&mut self) -> Result<(), SinkError> {
        let mut draws: Vec<ChainDraws> =
            self.blocks.iter_mut().flat_map(|block| block.take_draws()).collect();
        // After an error chains may have come to different lengths; keep what all have.
        let all = draws.iter().map(|chain| chain.draws).min().unwrap_or(0);
        draws.iter_mut().for_each(|chain| chain.truncate(all));
        if all == 0 { Ok(()) } else { self.sink.take(draws) }
    }

    fn count_seconds(&mut self, warming_up: bool) {
        let now = Instant::now();
        let passed = (now - self.pace.counted).as_secs_f64();
        self.pace.counted = now;
        *(if warming_up { &mut self.seconds.warmup } else { &mut self.seconds.draws }) += passed;
    }

    /// Looks at the clock and asks the monitor.
    fn look(&mut self, warming_up: bool) -> Result<(), Stop> {
        let total_steps = self.total_steps();
        let now = Instant::now();
        if self.pace.limit.is_some_and(|limit| now >= limit) && self.steps < total_steps {
            return Err(Stop::Ended(Ended::TimeLimit));
        }
        if now - self.pace.last_saved >= self.checkpoint_every {
            self.save(None)?;
        }
        if now - self.pace.last_look >= HEARTBEAT || self.steps == total_steps {
            self.pace.last_look = now;
            let sum: f64 = self.blocks.iter().map(|block| block.recent_acceptance()).sum();
            let ess = self.running_ess.look(self.draws(), self.sink)?;
            let progress = Progress {
                warming_up,
                steps: self.steps,
                total_steps,
                acceptance: sum / self.settings.chains as f64,
                scale: self.scale,
                ess,
            };
            if (self.monitor)(progress) == Wish::Stop && self.steps < total_steps {
                return Err(Stop::Ended(Ended::Interrupted));
            }
        }
        Ok(())
    }

    /// Has the sink save what it has, with a checkpoint unless chains stopped at different steps.
    fn save(&mut self, ended: Option<&Ended>) -> Result<(), SinkError> {
        self.pace.last_saved = Instant::now();
        let failed = matches!(ended, Some(Ended::Failed { .. }));
        let wanted = !failed && self.sink.wants_checkpoints();
        let fingerprint = self.fingerprint.as_ref().filter(|_| wanted);
        let checkpoint = fingerprint.map(|fingerprint| self.checkpoint(fingerprint.clone()));
        let sites = ended.and_then(|_| self.sites());
        let warm = self.rounds.len() == round_lengths(self.settings.warmup).count();
        self.sink.save(&Saved {
            rounds: &self.rounds,
            scale: self.scale.filter(|_| warm),
            checkpoint: checkpoint.as_ref(),
            seconds: self.seconds,
            threads: self.pool.current_num_threads(),
            sites: sites.as_ref(),
            ended,
        })
    }

    fn checkpoint(&self, fingerprint: Fingerprint) -> Checkpoint {
        let mut steps = self.steps;
        let mut chains = Vec::new();
        for block in &self.blocks {
            let (evaluated_at, snapshot) = block.snapshot();
            steps = evaluated_at;
            chains.extend_from_slice(snapshot);
        }
        Checkpoint {
            fingerprint,
            seconds: self.seconds,
            rounds: self.rounds.clone(),
            steps,
            chains,
        }
    }

    /// What the sites did, if they were watched.
    pub(super) fn sites(&self) -> Option<Sites> {
        let records: Vec<_> = self.blocks.iter().flat_map(|block| block.sites()).collect();
        Sites::new(&records)
    }

    /// What each chain did, in order.
    pub(super) fn results(&self) -> Vec<ChainResult> {
        self.blocks.iter().flat_map(|block| block.results()).collect()
    }
}

/// Why a run does not go on.
enum Stop {
    Ended(Ended),
    NotKept(SinkError),
}

impl From<SinkError> for Stop {
    fn from(error: SinkError) -> Self {
        Self::NotKept(error)
    }
}

/// A failed step, with the chain's number in the run.
pub(super) struct Failed {
    chain: usize,
    step: usize,
    cause: StepFailure,
}

impl Failed {
    pub(super) fn new(error: StepError, first_chain: usize, step: usize) -> Self {
        Self { chain: first_chain + error.chain, step, cause: error.cause }
    }
}
