//! Drives the blocks of a run through warm-up and draws, looking at the clock, the monitor and the
//! stop rules in between.

use super::block::{ChainResult, RunBlock};
use super::checkpoint::{Checkpoint, RunRecord};
use super::stop::StopRules;
use super::{Progress, RunError, Settings};
use crate::control::{Control, Ended, Seconds};
use crate::draws::observer::{AnyObserver, Observed};
use crate::draws::sink::{ChainDraws, Saved, Sink, SinkError};
use crate::draws::sites::{SiteRecord, Sites};
use crate::engine::{self, Failed, Fingerprint, panic_words};
use crate::error::StepFailure;
use crate::kernel::ScaleTraits;
use crate::model::Model;
use crate::stats::{Running, running_ess, running_rhat};
use crate::temper::{Adapter, LadderVerdict, Measured, RungDraw, Rungs, Tally, TemperReport};
use crate::tune::{Round, Tuner, round_lengths};
use crate::workers::Workers;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between two looks at the clock and the monitor.
const HEARTBEAT: Duration = Duration::from_millis(100);
/// Blocks that are moved between two looks where a single step may take longer than a heartbeat.
const GROUP: usize = 16;
/// Steps at once, at most, where a part of the run begins.
const AFRESH: usize = 16;
/// Bytes of draws that may gather before they are handed on: few enough to stay near the processor.
const GATHERED: usize = 1 << 23;

pub(super) struct Driver<'d, 'a, M: Model> {
    pub(super) settings: &'d Settings,
    pub(super) scale_traits: Option<ScaleTraits>,
    pub(super) sites: usize,
    pub(super) blocks: Vec<RunBlock<'a, M>>,
    pub(super) workers: &'d Workers,
    pub(super) monitor: &'d mut (dyn FnMut(Progress) -> Control + Send),
    /// Observables that are followed by running accumulators, and whether each must move.
    pub(super) tracked: &'d [usize],
    pub(super) references: usize,
    pub(super) observers: &'d [Box<dyn AnyObserver + 'a>],
    /// Which of the observers watches the sites.
    pub(super) watches_sites: Option<usize>,
    pub(super) sink: &'d mut dyn Sink,
    pub(super) checkpoint_every: Duration,
    /// Known if checkpoints are wanted.
    pub(super) fingerprint: Option<Fingerprint>,
    pub(super) pace: Pace,
    pub(super) steps: usize,
    pub(super) rounds: Vec<Round>,
    pub(super) scale: Option<f64>,
    pub(super) seconds: Seconds,
    /// How the ladder of a tempered run is found, what was measured for it, and where it stands.
    pub(super) adapter: Option<Adapter>,
    pub(super) measured: Vec<Measured>,
    pub(super) rungs: Option<Arc<Rungs>>,
    /// Added to log Z of the highest rung to get that of the model.
    pub(super) log_z_offset: f64,
    /// Whether the model says that it is the same with its values exchanged.
    pub(super) symmetric: bool,
    /// What the sites did, once the run has ended.
    pub(super) summed_sites: Option<Sites>,
}

/// What the clock says.
pub(super) struct Pace {
    pub(super) limit: Option<Instant>,
    last_look: Instant,
    last_saved: Instant,
    /// When the part of the run in progress was last added to the seconds.
    counted: Instant,
    /// Steps that take about a heartbeat.
    steps: usize,
    /// Steps and acceptance of all chains at the last look.
    seen: (usize, f64),
    /// Acceptance of the latest steps.
    acceptance: f64,
}

impl Pace {
    /// With a limit that counts from when the run began, if that was earlier.
    pub(super) fn new(limit: Option<Duration>, began: Option<Instant>) -> Self {
        let now = Instant::now();
        // A limit too far away to be written as a time is no limit.
        let limit = limit.and_then(|limit| began.unwrap_or(now).checked_add(limit));
        Self {
            limit,
            last_look: now,
            last_saved: now,
            counted: now,
            steps: 1,
            seen: (0, 0.0),
            acceptance: 0.0,
        }
    }
}

impl<'a, M: Model + 'a> Driver<'_, 'a, M> {
    /// Goes on from a checkpoint.
    pub(super) fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), RunError> {
        let engine::Checkpoint { steps, chains, driver, .. } = &checkpoint.0;
        self.steps = *steps;
        self.rounds.clone_from(&driver.rounds);
        self.measured.clone_from(&driver.measured);
        let mut chains = &chains[..];
        for (block, record) in self.blocks.iter_mut().zip(&driver.blocks) {
            let (own, others) = chains.split_at(block.chains());
            block.restore(*steps, own, record)?;
            chains = others;
        }
        Ok(())
    }

    /// Everything that is left to do.
    pub(super) fn run(&mut self) -> Result<Ended, SinkError> {
        let ended = match self.warm_up().and_then(|()| self.draw()) {
            Ok(()) => Ended::Complete,
            Err(Stop::Ended(ended)) => ended,
            Err(Stop::NotKept(error)) => return Err(error),
        };
        self.summed_sites = self.sites();
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
        if let Some(adapter) = self.adapter.take() {
            return self.warm_up_ladder(adapter);
        }
        let Settings { sampler, warmup, .. } = self.settings;
        let rounds = round_lengths(*warmup).count();
        let mut tuner = match (sampler.scale, &self.scale_traits) {
            (None, Some(scale)) => Some(Tuner::new(scale, sampler.target_acceptance, rounds)),
            _ => None,
        };
        self.scale = sampler.scale.or(self.scale_traits.map(|scale| scale.initial));
        let mut begins = 0;
        for (number, steps) in round_lengths(*warmup).enumerate() {
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

    /// The parts of a tempered warm-up that are left, after each of which the ladder may change.
    fn warm_up_ladder(&mut self, mut adapter: Adapter) -> Result<(), Stop> {
        let mut begins = 0;
        let mut number = 0;
        while let Some(steps) = adapter.part() {
            if number == self.measured.len() {
                self.climb(&adapter);
                self.round(begins, steps)?;
                self.measured.push(self.measure());
            }
            adapter.take(&self.measured[number]);
            begins += steps;
            number += 1;
        }
        self.climb(&adapter);
        Ok(())
    }

    /// From now on uses the rungs that were found.
    fn climb(&mut self, adapter: &Adapter) {
        let rungs = adapter.rungs();
        self.scale = self.scale_traits.map(|_| rungs.last_scale());
        self.rungs = Some(rungs.clone());
    }

    /// What all ensembles showed since they last began to count.
    fn measure(&self) -> Measured {
        let ladders = || self.blocks.iter().filter_map(RunBlock::ladder);
        let sums = ladders().flat_map(|ladder| ladder.ensembles()).map(|ensemble| &ensemble.sums);
        Measured::new(sums, ladders().flat_map(|ladder| ladder.highest_v()).collect())
    }

    /// What the ladder showed while draws were kept; none if there is no ladder or no draw.
    pub(super) fn tempering(&self) -> Option<TemperReport> {
        let ladders = || self.blocks.iter().filter_map(RunBlock::ladder);
        let ensembles = ladders().flat_map(|ladder| ladder.ensembles());
        let sums = ensembles.map(|ensemble| ensemble.sums.clone()).collect();
        let (rungs, offset) = (ladders().next()?.rungs().clone(), self.log_z_offset);
        let drawn = self.steps > self.settings.warmup;
        drawn.then(|| TemperReport::new(Tally { rungs, offset, sums }))
    }

    /// The chains on all rungs, by ensemble, if they were kept.
    pub(super) fn rung_draws(&mut self) -> Option<Vec<Vec<RungDraw>>> {
        let mut all = Vec::new();
        for ladder in self.blocks.iter_mut().filter_map(RunBlock::ladder_mut) {
            let (history, rungs) = (ladder.take_history()?, ladder.rungs().betas.len());
            let ensembles = ladder.ensembles().len();
            let of = |ensemble: usize| {
                let rows = history.chunks_exact(rungs).skip(ensemble).step_by(ensembles);
                rows.flatten().cloned().collect::<Vec<_>>()
            };
            all.extend((0..ensembles).map(of));
        }
        (!all.is_empty()).then_some(all)
    }

    /// What is left of a round that begins at that step.
    fn round(&mut self, begins: usize, steps: usize) -> Result<(), Stop> {
        self.start(begins, true)?;
        self.advance(begins + steps, true)?;
        let tunes = self.settings.sampler.scale.is_none() && self.scale_traits.is_some();
        let chains: Vec<(f64, bool)> =
            self.blocks.iter_mut().flat_map(|block| block.end_round(tunes)).collect();
        // What is accepted of smaller steps says nothing about the common scale.
        let any_is_free = chains.iter().any(|(_, is_free)| *is_free);
        let counted = chains.iter().filter(|(_, is_free)| *is_free || !any_is_free);
        // Added up in the order of the chains, so that the sum does not depend on threads.
        let (sum, count) = counted.fold((0.0, 0usize), |(s, n), (sum, _)| (s + sum, n + steps));
        self.rounds.push(Round { steps, scale: self.scale, acceptance: sum / count as f64 });
        Ok(())
    }

    /// The draws that are left, up to the next look of the stop rules each time.
    fn draw(&mut self) -> Result<(), Stop> {
        let Settings { warmup, draws, thin, .. } = *self.settings;
        self.blocks.iter_mut().for_each(RunBlock::free_all);
        self.start(warmup, false)?;
        self.blocks.iter_mut().for_each(RunBlock::prepare_to_draw);
        // The warm-up shall not be lost, whatever happens to the draws.
        if self.steps == warmup {
            self.save(None)?;
        }
        let rules = StopRules::new(self.settings);
        while self.steps < self.total_steps() {
            let look = rules.map_or(draws, |_| draws.min(StopRules::next_look(self.draws())));
            self.advance(warmup + look * thin, false)?;
            // After the last draw there is nothing to stop any more.
            if let Some(rules) = rules
                && look < draws
                && let Some(reached) = rules.met(look, self.estimates(), self.log_z_error())
            {
                return Err(Stop::Ended(Ended::Reached(reached)));
            }
        }
        Ok(())
    }

    /// Running estimates of the effective draws and R-hat of every followed observable, without those
    /// of the user that never change anywhere: they say nothing of the chains.
    fn estimates(&self) -> impl Iterator<Item = (f64, Option<f64>)> + '_ {
        let estimates = self.tracked.iter().enumerate().map(|(tracked, column)| {
            let chains = || self.running(tracked);
            (*column, running_ess(chains()), running_rhat(chains()))
        });
        let of_the_run = 1 + self.references;
        estimates
            .filter(move |(column, ess, rhat)| *column < of_the_run || *ess > 0.0 || rhat.is_some())
            .map(|(_, ess, rhat)| (ess, rhat))
    }

    /// The standard error of log Z so far, if that is to stop the run and there are round trips to judge it by.
    fn log_z_error(&self) -> Option<f64> {
        self.settings.until_log_z?;
        let report = self.tempering()?;
        let is_judged = !matches!(report.verdict(), LadderVerdict::NotMeasured { .. });
        report.log_z_se.filter(|_| is_judged)
    }

    /// The running accumulators of a followed observable, chain by chain.
    fn running(&self, tracked: usize) -> impl Iterator<Item = &Running> + '_ {
        self.blocks.iter().flat_map(move |block| block.running(tracked))
    }

    /// Gets all chains ready for the part of the run that begins at that step, or began there.
    fn start(&mut self, begins: usize, warming_up: bool) -> Result<(), Stop> {
        let scale = self.scale.unwrap_or(1.0);
        let begun = self.steps > begins;
        self.pace.seen = (0, 0.0);
        // What a step takes is found out anew: one that is a draw may take much longer than one of warm-up.
        self.pace.steps = self.pace.steps.min(AFRESH);
        let rungs = self.rungs.clone();
        self.every_block(true, |block| match (begun, warming_up) {
            (true, _) => block.go_on(scale),
            (false, true) => block.start_round(scale, rungs.as_ref()),
            (false, false) => block.start(scale, rungs.as_ref()),
        })
    }

    /// Does something with every block; with looks in between if it may take longer than anybody waits.
    fn every_block(
        &mut self,
        looks: bool,
        go: impl Fn(&mut RunBlock<'a, M>) -> Result<(), Failed> + Sync,
    ) -> Result<(), Stop> {
        let size = if looks { GROUP } else { self.blocks.len().max(1) };
        let mut first = 0;
        while first < self.blocks.len() {
            let end = (first + size).min(self.blocks.len());
            let done = engine::each(self.workers, &mut self.blocks[first..end], |block| go(block));
            done.map_err(|Failed { chain, step, cause }| {
                Stop::Ended(Ended::Failed { chain, step, cause })
            })?;
            first = end;
            if first < self.blocks.len() {
                self.hear()?;
            }
        }
        Ok(())
    }

    /// Looks at the clock and asks the monitor while a step is being made; what stops there leaves chains at different steps.
    fn hear(&mut self) -> Result<(), Stop> {
        let now = Instant::now();
        if self.pace.limit.is_some_and(|limit| now >= limit) {
            return Err(Stop::Ended(Ended::TimeLimit));
        }
        if now - self.pace.last_look >= HEARTBEAT {
            self.pace.last_look = now;
            let progress = self.progress(None);
            if self.ask(progress)? == Control::Stop {
                return Err(Stop::Ended(Ended::Interrupted));
            }
        }
        Ok(())
    }

    /// Asks the monitor. If it panics the run fails, because what was drawn is worth more than the code that looked on.
    fn ask(&mut self, progress: Progress) -> Result<Control, Stop> {
        catch_unwind(AssertUnwindSafe(|| (self.monitor)(progress))).map_err(|panic| {
            let cause = StepFailure::Panic(format!("monitor: {}", panic_words(&*panic)));
            Stop::Ended(Ended::Failed { chain: 0, step: self.steps, cause })
        })
    }

    /// Whether something may take longer after the draws: asked as often as one likes, it asks the monitor now and then.
    pub(super) fn may_go_on(&mut self) -> bool {
        let now = Instant::now();
        let is_late = self.pace.limit.is_some_and(|limit| now >= limit);
        if is_late || now - self.pace.last_look < HEARTBEAT {
            return !is_late;
        }
        self.pace.last_look = now;
        let progress = self.progress(None);
        self.ask(progress).is_ok_and(|control| control == Control::Continue)
    }

    /// Does something that belongs to summing up, and counts its time.
    pub(super) fn timed_summary<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let began = Instant::now();
        let done = work(self);
        self.seconds.summary += began.elapsed().as_secs_f64();
        done
    }

    /// Where the run is.
    fn progress(&self, ess: Option<f64>) -> Progress {
        Progress {
            warming_up: self.steps < self.settings.warmup,
            steps: self.steps,
            total_steps: self.total_steps(),
            acceptance: self.pace.acceptance,
            scale: self.scale,
            ess,
        }
    }

    /// Steps of every block up to that number, in pieces of about a heartbeat.
    fn advance(&mut self, until: usize, warming_up: bool) -> Result<(), Stop> {
        let most = self.most_steps_at_once();
        while self.steps < until {
            let piece = (until - self.steps).min(self.pace.steps).min(most);
            let began = Instant::now();
            let moved = self.every_block(piece == 1, |block| match warming_up {
                true => block.warm_up(piece),
                false => block.draw(piece),
            });
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
        let state = if self.sink.wants_states() { self.sites } else { 0 };
        let draw = (state + 64) * self.settings.chains;
        (GATHERED / draw).max(1).saturating_mul(self.settings.thin)
    }

    /// Gives the sink what was drawn.
    fn hand_on(&mut self) -> Result<(), SinkError> {
        let mut draws: Vec<ChainDraws> =
            self.blocks.iter_mut().flat_map(|block| block.take_draws()).collect();
        // After an error chains may have come to different lengths; keep what all have.
        let all = draws.iter().map(ChainDraws::draws).min().unwrap_or(0);
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
            self.look_at_acceptance();
            // The Hamming distance, unless nothing is followed.
            let hamming = self.tracked.iter().position(|column| *column == 1);
            let ess = hamming.filter(|_| !warming_up).map(|at| running_ess(self.running(at)));
            let ess = ess.filter(|ess| *ess > 0.0);
            let progress = Progress { warming_up, ..self.progress(ess) };
            if self.ask(progress)? == Control::Stop && self.steps < total_steps {
                return Err(Stop::Ended(Ended::Interrupted));
            }
        }
        Ok(())
    }

    /// The mean acceptance of the steps since the last look.
    fn look_at_acceptance(&mut self) {
        let all = self.blocks.iter().map(RunBlock::progress);
        let (steps, sum) = all.fold((0, 0.0), |(n, s), (steps, sum)| (n + steps, s + sum));
        let (seen_steps, seen_sum) = self.pace.seen;
        if steps > seen_steps {
            self.pace.acceptance = (sum - seen_sum) / (steps - seen_steps) as f64;
        }
        self.pace.seen = (steps, sum);
    }

    /// Has the sink save what it has, with a checkpoint unless chains stopped at different steps.
    fn save(&mut self, ended: Option<&Ended>) -> Result<(), SinkError> {
        self.pace.last_saved = Instant::now();
        let failed = matches!(ended, Some(Ended::Failed { .. }));
        let wanted = !failed && self.sink.wants_checkpoints();
        let fingerprint = self.fingerprint.clone().filter(|_| wanted);
        let checkpoint = fingerprint.and_then(|fingerprint| self.checkpoint(fingerprint));
        let bytes = checkpoint.map(|checkpoint| checkpoint.to_bytes()).transpose();
        let bytes = bytes.map_err(|error| SinkError(error.to_string()))?;
        let warm =
            self.rounds.iter().map(|round| round.steps).sum::<usize>() == self.settings.warmup;
        let tempering = ended.and_then(|_| self.tempering());
        self.sink.save(&Saved {
            rounds: &self.rounds,
            scale: self.scale.filter(|_| warm),
            checkpoint: bytes.as_deref(),
            seconds: self.seconds,
            threads: self.workers.threads(),
            sites: self.summed_sites.as_ref(),
            tempering: tempering.as_ref(),
            symmetric: self.symmetric,
            ended,
        })
    }

    fn checkpoint(&self, fingerprint: Fingerprint) -> Option<Checkpoint> {
        // Where a stop was heard within a step, some blocks may have been evaluated afresh later than others.
        let first = self.blocks.first()?.evaluated_at();
        if self.blocks.iter().any(|block| block.evaluated_at() != first) {
            return None;
        }
        let mut steps = self.steps;
        let (mut chains, mut blocks) = (Vec::new(), Vec::new());
        for block in &self.blocks {
            let (evaluated_at, snapshot, record) = block.snapshot()?;
            steps = evaluated_at;
            chains.extend(snapshot);
            blocks.push(record);
        }
        let Settings { warmup, thin, .. } = *self.settings;
        // Rounds that ended later are made again.
        let mut ends = 0;
        let is_over = |round: &&Round| {
            ends += round.steps;
            ends <= steps
        };
        let rounds: Vec<Round> = self.rounds.iter().take_while(is_over).copied().collect();
        let measured = self.measured.iter().take(rounds.len()).cloned().collect();
        let driver = RunRecord { warmup, thin, rounds, blocks, measured };
        Some(Checkpoint(engine::Checkpoint { fingerprint, steps, chains, driver }))
    }

    /// What one of the observers came to.
    pub(super) fn observed(&self, number: usize) -> Option<Observed> {
        let blocks = self.blocks.iter().map(|block| block.observer(number)).collect();
        self.observers[number].finish(blocks)
    }

    /// What the sites did, if they were watched.
    fn sites(&self) -> Option<Sites> {
        let observed = self.observed(self.watches_sites?)?;
        observed.downcast_ref::<Option<Sites>>().cloned().flatten()
    }

    /// What is remembered of the sites of every chain, in order.
    pub(super) fn site_records(&self) -> Vec<SiteRecord> {
        let Some(number) = self.watches_sites else {
            return Vec::new();
        };
        let records = self
            .blocks
            .iter()
            .filter_map(|block| block.observer(number).copied().downcast::<Vec<SiteRecord>>().ok());
        records.flat_map(|records| *records).collect()
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
