//! Trials: short runs that are cut so that all of a round take equal work.

use super::worth::effective_draws;
use super::{DISAGREEMENT, LATE, PARTS, ROUNDS, SHARE, SHARE_OF_LIMIT, Trial, WORK};
use crate::control::Control;
use crate::draws::observable::Magnetisation;
use crate::model::Model;
use crate::run::{MAGNETISATION, Outcome, REFERENCES, Run, Settings};
use crate::sampler::Sampler;
use crate::stats::diagnose;
use crate::temper::Temper;
use std::sync::OnceLock;
use std::time::Instant;

/// Chains of a trial, if the run has as many.
const CHAINS: usize = 8;
/// Chains of trials are numbered from here, so that no chain of a run has their streams; each round from so many further.
const FIRST_CHAIN: usize = 1 << 30;
const NEXT_ROUND: usize = 1 << 16;
/// The fewest steps that say anything, of a sampler with a scale to find and of any other, and the most that anybody needs.
const LEAST_TUNED: f64 = 60.0;
const LEAST: f64 = 16.0;
const MOST_STEPS: usize = 100_000;
/// A trial of a ladder needs more steps, to find its temperatures, and has fewer chains.
const LEAST_SCANS: f64 = 100.0;
const LADDERS: usize = 4;
/// Chains of the trial that looks for modes which few chains find, and its share of what a ladder may take.
const MANY: usize = 32;
const SHARE_OF_MANY: f64 = 0.25;
/// A trial worth fewer draws than this tells nothing.
const TELLING: f64 = 1.0;
/// Nanoseconds per site that recording a draw is counted as.
const RECORDING: f64 = 0.3;
/// Nanoseconds that looking at every draw of a trial takes, which a run that keeps fewer does not take.
const LOOKING: f64 = 1000.0;

/// What all trials have in common.
pub(super) struct Trials<'a, M> {
    model: &'a M,
    settings: &'a Settings,
    /// Counted nanoseconds of a round, and those that are left for a ladder.
    work: f64,
    for_ladder: f64,
    chains: usize,
    starts: Option<Vec<u8>>,
    monitor: &'a (dyn Fn() -> Control + Sync),
    /// When it is too late for more, where a run has a time limit.
    deadline: Option<Instant>,
    /// Why there are no more trials.
    end: OnceLock<End>,
}

/// Why trials ended before they were done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The monitor asked to stop.
    Stopped,
    /// They took too much of the time that there is for the run.
    Late,
}

/// A trial and what it was of.
#[derive(Clone)]
pub(super) struct Tried {
    pub(super) sampler: Sampler,
    /// Whether a chain stayed where it was.
    pub(super) stuck: bool,
    /// Whether a step goes over all sites. In a scan of a ladder a step of few sites costs as much and does little.
    pub(super) sweeps: bool,
    /// Effective draws of the whole trial.
    effective: f64,
    pub(super) trial: Trial,
    /// Where its chains arrived.
    arrived: Vec<Vec<u8>>,
}

impl Tried {
    /// Whether its chains forgot anything: who moves least slowly is chance if none of them did.
    pub(super) fn tells(&self) -> bool {
        self.effective >= TELLING
    }

    /// Effective draws per counted millisecond.
    pub(super) fn worth(&self) -> f64 {
        self.trial.ess_per_work
    }

    pub(super) fn distance(&self) -> f64 {
        self.trial.rhat.unwrap_or(f64::INFINITY)
    }

    /// Whether its chains agree, as far as can be seen.
    pub(super) fn agrees(&self) -> bool {
        self.distance() <= DISAGREEMENT
    }
}

impl<'a, M: Model> Trials<'a, M> {
    pub(super) fn new(
        model: &'a M,
        settings: &'a Settings,
        likeliest: &Sampler,
        monitor: &'a (dyn Fn() -> Control + Sync),
    ) -> Self {
        let suited = Settings { sampler: likeliest.clone(), ..settings.clone() };
        // No longer than it will be if nobody said how long.
        let suited = suited.suited(model, None, None);
        let warmup = suited.warmup.min(settings.warmup);
        // A draw of samplers of few sites is many steps.
        let thin = suited.thin.max(settings.thin);
        let steps = warmup as f64 + settings.draws as f64 * thin as f64;
        let run = steps * settings.chains as f64 * work_of_step(model, likeliest);
        let chains = settings.chains.clamp(1, CHAINS);
        // Counted as well, so that where a run ends before its limit the choice does not depend on the clock.
        let limit = settings.time_limit.map_or(f64::INFINITY, |limit| limit.as_secs_f64());
        let work = (SHARE * run).clamp(WORK.0, WORK.1).min(SHARE_OF_LIMIT * 1e9 * limit);
        let work = work / PARTS as f64;
        let deadline = settings.time_limit.map(|limit| Instant::now() + limit.mul_f64(LATE));
        let end = OnceLock::new();
        Self {
            model,
            settings,
            work,
            for_ladder: work,
            chains,
            starts: None,
            monitor,
            deadline,
            end,
        }
    }

    /// Why nothing is known, if trials ended before they were done.
    pub(super) fn end(&self) -> Option<End> {
        self.end.get().copied()
    }

    /// Asks the monitor and the clock, which once one has said to stop are asked no more.
    fn control(&self) -> Control {
        if self.end().is_none() {
            let is_late = || self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            let end = match (self.monitor)() {
                Control::Stop => Some(End::Stopped),
                Control::Continue => is_late().then_some(End::Late),
            };
            end.map(|end| self.end.get_or_init(|| end));
        }
        if self.end().is_some() { Control::Stop } else { Control::Continue }
    }

    /// From now on trials start where the chains of this one arrived.
    pub(super) fn start_from(&mut self, tried: &Tried) {
        if self.model.shown_space() == self.model.space() {
            self.starts = Some(tried.arrived.concat());
        }
    }

    /// Those that can all be tried in a round, in equal parts: where it does not reach for all, those that need most are left
    /// out, but never the likeliest, which is the first. It may be the only one.
    pub(super) fn affordable(&self, field: Vec<Sampler>) -> Vec<Sampler> {
        let least = |sampler: Sampler| {
            let steps = self.least_steps(&sampler);
            let of_step = work_of_step(self.model, &sampler) + LOOKING;
            (steps * self.chains as f64 * of_step, sampler)
        };
        let mut field: Vec<(f64, Sampler)> = field.into_iter().map(least).collect();
        while field.iter().any(|(least, _)| *least > self.work / field.len() as f64) {
            let others = field.iter().enumerate().skip(1);
            let costliest = others.max_by(|one, other| one.1.0.total_cmp(&other.1.0));
            let Some((place, _)) = costliest else { break };
            field.remove(place);
        }
        field.into_iter().map(|(_, sampler)| sampler).collect()
    }

    /// The fewest steps that say anything of a sampler.
    fn least_steps(&self, sampler: &Sampler) -> f64 {
        let tunes = sampler.traits(self.model.space()).scale.is_some();
        if tunes { LEAST_TUNED } else { LEAST }
    }

    /// Tries all of these, in equal parts.
    pub(super) fn round(&self, number: usize, field: &[Sampler]) -> Vec<Tried> {
        let each = self.work / field.len() as f64;
        field.iter().filter_map(|sampler| self.of(number, sampler, each)).collect()
    }

    /// Settings of so much work by chains whose steps take some each.
    fn settings(&self, sampler: &Sampler, chains: usize, work: f64, of_step: f64) -> Settings {
        let steps = (work / (chains as f64 * (of_step + LOOKING))) as usize;
        let steps = steps.min(MOST_STEPS);
        Settings {
            sampler: sampler.clone(),
            chains,
            warmup: steps / 2,
            draws: (steps - steps / 2).max(1),
            thin: 1,
            time_limit: None,
            until_ess: None,
            until_rhat: None,
            until_log_z: None,
            ..self.settings.clone()
        }
    }

    fn run(&self, settings: Settings, round: usize, starts: Option<Vec<u8>>) -> Option<Outcome> {
        if self.control() == Control::Stop {
            return None;
        }
        let first = FIRST_CHAIN + round * NEXT_ROUND;
        let mut run = Run::new(self.model, settings).first_chain(first).references(REFERENCES);
        run = run.monitor(|_| self.control());
        if let Some(starts) = starts {
            run = run.start_from(starts);
        }
        let shown = self.model.shown_space();
        if shown.is_binary() {
            // Which tells the two signs of a magnet apart.
            run = run.observe(MAGNETISATION, Magnetisation { sites: shown.sites() });
        }
        run.go().ok()
    }

    /// Tries a sampler.
    fn of(&self, round: usize, sampler: &Sampler, work: f64) -> Option<Tried> {
        let of_step = work_of_step(self.model, sampler);
        let settings = self.settings(sampler, self.chains, work, of_step);
        let outcome = self.run(settings, round, self.starts.clone())?;
        let sweeps = sampler.terms(self.model, 1).steps_per_sweep == 1;
        Some(Tried { sweeps, ..tried(sampler, outcome, of_step) })
    }

    /// Tries the best with more and shorter chains from starts of their own, if the run has more: some of many come to a mode that few chains
    /// miss. It takes a part of what is there for a ladder.
    pub(super) fn of_many(&mut self, best: &Tried) -> Option<Tried> {
        let chains = self.settings.chains.min(MANY);
        let of_step = work_of_step(self.model, &best.sampler);
        let work = SHARE_OF_MANY * self.work;
        let settings = self.settings(&best.sampler, chains, work, of_step);
        let least = self.least_steps(&best.sampler);
        if chains <= self.chains || ((settings.warmup + settings.draws) as f64) < least {
            return None;
        }
        self.for_ladder -= work;
        let outcome = self.run(settings, ROUNDS.len(), None)?;
        Some(Tried { sweeps: best.sweeps, ..tried(&best.sampler, outcome, of_step) })
    }

    /// Tries the best with a ladder.
    pub(super) fn of_ladder(&self, best: &Tried) -> Option<Tried> {
        best.sampler.suits_path(self.model).ok()?;
        let of_step = best.trial.work_per_step;
        let chains = self.chains.min(LADDERS);
        // How many rungs there will be is not known; few as a rule.
        let settings = self.settings(&best.sampler, chains, self.for_ladder / RUNGS, of_step);
        if ((settings.warmup + settings.draws) as f64) < LEAST_SCANS {
            return None;
        }
        let settings = Settings { temper: Some(Temper::default()), ..settings };
        let outcome = self.run(settings, 0, None)?;
        let report = outcome.tempering.clone()?;
        let of_scan = report.scales.len() as f64 * of_step;
        let mut ladder = tried(&best.sampler, outcome, of_scan);
        if !report.is_identified() {
            // The ladder of the run would have more rungs, nobody knows how many.
            ladder.trial.ess_per_work = 0.0;
        }
        ladder.trial.tempered = true;
        Some(ladder)
    }
}

/// Rungs of a ladder, before any is known.
const RUNGS: f64 = 8.0;

fn tried(sampler: &Sampler, outcome: Outcome, work_per_step: f64) -> Tried {
    let trace = &outcome.trace;
    let series: Vec<&[Vec<f64>]> =
        trace.names().iter().filter_map(|name| trace.series(name)).collect();
    let fewest = series.iter().filter_map(|chains| effective_draws(chains)).reduce(f64::min);
    // Infinite where chains stand still in different places.
    let rhat = series.iter().filter_map(|chains| diagnose(chains).rhat).reduce(f64::max);
    let at_most = rhat.map_or(0.0, |rhat| most_effective_draws(trace.chains(), rhat));
    let fewest = fewest.map_or(0.0, |fewest| fewest.min(at_most));
    let draws = trace.draws() * trace.chains();
    let counted = draws as f64 * work_per_step;
    // A failed trial has drawn too little to be worth anything.
    let worth = outcome.ended.is_success() && outcome.stuck.is_empty() && counted > 0.0;
    let trial = Trial {
        sampler: sampler.to_string(),
        balancing: sampler.method.is_balanced().then_some(sampler.balancing),
        tempered: false,
        draws,
        work_per_step,
        ess_per_work: if worth { 1e6 * fewest / counted } else { 0.0 },
        rhat: rhat.filter(|rhat| rhat.is_finite()),
    };
    let (stuck, arrived) = (!outcome.stuck.is_empty(), outcome.last_states);
    Tried { sampler: sampler.clone(), stuck, sweeps: true, effective: fewest, trial, arrived }
}

/// Means of half chains that are worth n draws each differ by chance, and R-hat² is about 1 + 1/n. Where chains disagree, also in how often they
/// are in rare places, their draws are worth no more than that.
fn most_effective_draws(chains: usize, rhat: f64) -> f64 {
    if rhat <= DISAGREEMENT { f64::INFINITY } else { 2.0 * chains as f64 / (rhat * rhat - 1.0) }
}

/// Nanoseconds that a step of a chain is counted as, with its part of what is recorded.
fn work_of_step<M: Model>(model: &M, sampler: &Sampler) -> f64 {
    let terms = sampler.terms(model, 1);
    terms.work + RECORDING * model.space().sites() as f64 / terms.steps_per_sweep as f64
}
