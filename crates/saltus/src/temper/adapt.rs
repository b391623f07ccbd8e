//! The warm-up of a ladder: chains anneal once to see how far it is, then rounds that double in length
//! find the number of rungs, their places and their scales. All is frozen before the first kept draw.
//!
//! What happens in a part follows from the parts before alone, so a resumed run replays them.

use super::barrier::{IDENTIFIED, best_intervals, between, cumulated, half_mean_difference};
use super::ensemble::Sums;
use super::evidence::log_ratios;
use super::rungs::Rungs;
use crate::kernel::ScaleTraits;
use crate::tune::Tuner;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Share of the warm-up that chains anneal for, and inverse temperatures they stop at.
const ANNEALING: f64 = 0.1;
const STOPS: usize = 50;
/// The shortest round, and the most rounds.
const SHORTEST: usize = 16;
const ROUNDS: usize = 8;
/// Parts that a round is cut into to tune scales, and their least length.
const PARTS: usize = 25;
const PART: usize = 4;
/// Intervals if nobody knows better, and the most there may be.
const INTERVALS: usize = 7;
const MOST_INTERVALS: usize = 1000;

/// How a ladder is found.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) warmup: usize,
    /// Rungs, if that is not left to the warm-up.
    pub(crate) rungs: Option<usize>,
    /// The ladder itself, if it was found before.
    pub(crate) ladder: Option<Rungs>,
    /// The highest inverse temperature.
    pub(crate) top: f64,
    pub(crate) scale: Option<ScaleTraits>,
    pub(crate) fixed_scale: Option<f64>,
    pub(crate) target_acceptance: Option<f64>,
}

/// What was measured in a part, over all ensembles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measured {
    pub(crate) sums: Sums,
    /// ½ E|V − V′| on the highest rung at the end of the part.
    pub(crate) local: Option<f64>,
}

impl Measured {
    /// From the sums of all ensembles, and V of each on its highest rung.
    pub(crate) fn new<'s>(sums: impl Iterator<Item = &'s Sums>, highest: Vec<f64>) -> Self {
        let mut total = Sums::default();
        sums.for_each(|sums| total.add(sums));
        Self { sums: total, local: half_mean_difference(highest) }
    }
}

/// The search for a ladder.
#[derive(Clone, Debug)]
pub(crate) struct Adapter {
    plan: Plan,
    rungs: Arc<Rungs>,
    stage: Stage,
    tuners: Vec<Tuner>,
    /// Annealing: inverse temperatures so far with the local barrier and the mean of V there.
    passed: Vec<(f64, f64, f64)>,
    /// Of the round in progress.
    round: Sums,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// This stop of the annealing.
    Annealing(usize),
    /// A part of a round.
    Round(usize, usize),
    Done,
}

impl Adapter {
    pub(crate) fn new(plan: Plan) -> Self {
        let scale = plan.fixed_scale.or(plan.scale.map(|scale| scale.initial)).unwrap_or(1.0);
        let intervals = plan.rungs.map_or(INTERVALS, |rungs| rungs - 1);
        let even = || Rungs::even(intervals, plan.top, scale);
        let mut adapter = Self {
            rungs: Arc::new(plan.ladder.clone().unwrap_or_else(even)),
            stage: Stage::Round(0, 0),
            tuners: Vec::new(),
            passed: Vec::new(),
            round: Sums::default(),
            plan,
        };
        if adapter.annealing_steps() > 0 {
            adapter.stage = Stage::Annealing(0);
            adapter.anneal_to(0, scale);
        } else if adapter.round_length(0).is_none() {
            adapter.stage = Stage::Done;
        }
        adapter.new_tuners();
        adapter
    }

    /// The rungs to move on now.
    pub(crate) fn rungs(&self) -> &Arc<Rungs> {
        &self.rungs
    }

    /// Scans of the part to come; none if the ladder is found.
    pub(crate) fn part(&self) -> Option<usize> {
        match self.stage {
            Stage::Annealing(_) => Some(self.annealing_steps()),
            Stage::Round(round, part) => {
                let (length, parts) = (self.round_length(round)?, self.parts(round));
                Some((part + 1) * length / parts - part * length / parts)
            }
            Stage::Done => None,
        }
    }

    /// Steps at each stop of the annealing; none if the warm-up is too short for it.
    fn annealing_steps(&self) -> usize {
        if self.plan.ladder.is_some() {
            return 0;
        }
        (self.plan.warmup as f64 * ANNEALING) as usize / STOPS
    }

    /// Scans of a round: each about twice as long as the one before, and all as long as what is left of
    /// the warm-up.
    fn round_length(&self, round: usize) -> Option<usize> {
        let left = self.plan.warmup - self.annealing_steps() * STOPS;
        let rounds = (1..=ROUNDS).rev().find(|rounds| left >> rounds >= SHORTEST).unwrap_or(1);
        let until = |round: usize| left * ((1 << round) - 1) / ((1 << rounds) - 1);
        (round < rounds && left > 0).then(|| until(round + 1) - until(round))
    }

    fn parts(&self, round: usize) -> usize {
        match (self.tunes(), self.round_length(round)) {
            (true, Some(length)) => (length / PART).clamp(1, PARTS),
            _ => 1,
        }
    }

    fn tunes(&self) -> bool {
        self.plan.ladder.is_none() && self.plan.fixed_scale.is_none() && self.plan.scale.is_some()
    }

    fn tuner(&self, scale: f64, rounds: usize) -> Option<Tuner> {
        let traits = self.plan.scale.filter(|_| self.tunes())?;
        let mut tuner = Tuner::new(&traits, self.plan.target_acceptance, rounds);
        tuner.set_log_scale(scale.ln());
        Some(tuner)
    }

    /// Tuners that start from the scales of the rungs.
    fn new_tuners(&mut self) {
        let rounds = match self.stage {
            Stage::Annealing(_) => STOPS,
            Stage::Round(round, _) => self.parts(round),
            Stage::Done => return,
        };
        self.tuners =
            self.rungs.scales[1..].iter().filter_map(|scale| self.tuner(*scale, rounds)).collect();
    }

    /// Two rungs: the base, and a stop of the annealing.
    fn anneal_to(&mut self, stop: usize, scale: f64) {
        let beta = self.plan.top * (stop + 1) as f64 / STOPS as f64;
        self.rungs = Arc::new(Rungs::even(1, beta, scale));
    }

    /// Takes in what was measured in the part that is done.
    pub(crate) fn take(&mut self, measured: &Measured) {
        let scans = measured.sums.scans.max(1) as f64;
        let acceptances = measured.sums.rungs.iter().skip(1).map(|rung| rung.acceptance / scans);
        for (tuner, acceptance) in self.tuners.iter_mut().zip(acceptances) {
            tuner.round(acceptance);
        }
        match self.stage {
            Stage::Annealing(stop) => self.pass(stop, measured),
            Stage::Round(round, part) => {
                self.round.add(&measured.sums);
                if part + 1 < self.parts(round) {
                    self.stage = Stage::Round(round, part + 1);
                    let scales = self.tuners.iter().map(Tuner::scale).collect();
                    self.set_scales(scales);
                } else {
                    self.end_round(round);
                }
            }
            Stage::Done => {}
        }
    }

    fn set_scales(&mut self, scales: Vec<f64>) {
        if !scales.is_empty() {
            let first = self.rungs.scales[0];
            let scales = std::iter::once(first).chain(scales).collect();
            self.rungs = Arc::new(Rungs { scales, ..(*self.rungs).clone() });
        }
    }

    /// A stop of the annealing is done; after the last, the first ladder is made of what was seen.
    fn pass(&mut self, stop: usize, measured: &Measured) {
        let scale = self.tuners.first().map_or(self.rungs.scales[1], Tuner::scale);
        let scans = measured.sums.scans.max(1) as f64;
        let mean = measured.sums.rungs[1].after / scans;
        let beta = self.rungs.betas[1];
        if stop == 0 {
            let at_base = measured.sums.rungs[0].after / scans;
            self.passed.push((0.0, measured.local.unwrap_or(0.0), at_base));
        }
        self.passed.push((beta, measured.local.unwrap_or(0.0), mean));
        if stop + 1 < STOPS {
            self.stage = Stage::Annealing(stop + 1);
            self.anneal_to(stop + 1, scale);
            return;
        }
        let steps = |column: fn(&(f64, f64, f64)) -> f64| {
            let area = self.passed.windows(2).map(move |pair| {
                let (from, to) = (column(&pair[0]), column(&pair[1]));
                (pair[1].0 - pair[0].0) * if from.is_finite() { 0.5 * (from + to) } else { to }
            });
            cumulated(area)
        };
        let (barrier, log_z) = (steps(|passed| passed.1), steps(|passed| passed.2));
        let passed = Rungs {
            betas: self.passed.iter().map(|passed| passed.0).collect(),
            scales: vec![scale; self.passed.len()],
            shifts: vec![0.0; self.passed.len() - 1],
        };
        let means: Vec<f64> = self.passed.iter().map(|passed| passed.2).collect();
        let total = barrier[barrier.len() - 1];
        let intervals = self
            .plan
            .rungs
            .map_or_else(|| best_intervals(total).min(MOST_INTERVALS), |rungs| rungs - 1);
        self.rungs = Arc::new(passed.respread(&barrier, &log_z, &means, intervals));
        self.start_round(0);
    }

    fn start_round(&mut self, round: usize) {
        self.stage = match self.round_length(round) {
            Some(_) => Stage::Round(round, 0),
            None => Stage::Done,
        };
        self.round = Sums::default();
        self.new_tuners();
    }

    /// A round is done: the rungs are spread anew. Their number stays for the last round, so that all are
    /// seen before they are frozen.
    fn end_round(&mut self, round: usize) {
        if self.plan.ladder.is_some() {
            self.start_round(round + 1);
            return;
        }
        let scales = self.tuners.iter().map(Tuner::frozen).collect();
        self.set_scales(scales);
        let rejections = self.round.rejections();
        let barrier = cumulated(rejections.iter().map(|r| between(*r)));
        let log_z = cumulated(log_ratios(&self.round, &self.rungs.shifts).into_iter());
        let scans = self.round.scans.max(1) as f64;
        let means: Vec<f64> = self.round.rungs.iter().map(|rung| rung.after / scans).collect();
        let intervals = match (self.plan.rungs, self.round_length(round + 1)) {
            (None, Some(_)) => self.best_number(&rejections, &barrier),
            _ => self.rungs.intervals(),
        };
        let finite = log_z.iter().all(|log_z| log_z.is_finite());
        let log_z = if finite { log_z } else { cumulated(self.rungs.shifts.iter().copied()) };
        self.rungs = Arc::new(self.rungs.respread(&barrier, &log_z, &means, intervals));
        self.start_round(round + 1);
    }

    /// The number of intervals that suits what was measured. Where swaps are rare the barrier is not known
    /// but to be larger, so the ladder grows.
    fn best_number(&self, rejections: &[f64], barrier: &[f64]) -> usize {
        let best = best_intervals(barrier[barrier.len() - 1]);
        let now = self.rungs.intervals();
        let unknown = rejections.iter().any(|r| *r >= IDENTIFIED);
        let wanted = if unknown { best.max(now + now.div_ceil(2)) } else { best };
        wanted.min(MOST_INTERVALS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(warmup: usize) -> Plan {
        Plan {
            warmup,
            rungs: None,
            ladder: None,
            top: 1.0,
            scale: None,
            fixed_scale: None,
            target_acceptance: None,
        }
    }

    /// A world where the barrier is Λ(b) = total · b², V is −1 and everything is known exactly.
    fn measure(rungs: &Rungs, total: f64, scans: u64) -> Measured {
        let mut sums = Sums { scans, ..Sums::default() };
        for pair in rungs.betas.windows(2) {
            let barrier = total * (pair[1] * pair[1] - pair[0] * pair[0]);
            let rejection = statrs::function::erf::erf(std::f64::consts::PI.sqrt() * barrier / 2.0);
            let swap = (1.0 - rejection) * scans as f64;
            sums.pairs.push(super::super::ensemble::PairSums {
                swap,
                up: 1.0,
                down: 1.0,
                ..Default::default()
            });
        }
        sums.rungs = vec![Default::default(); rungs.betas.len()];
        let top = rungs.betas[rungs.betas.len() - 1];
        Measured { sums, local: Some(2.0 * total * top) }
    }

    #[test]
    fn a_known_barrier_is_found_whatever_the_length() {
        for warmup in [1000, 3000, 100_000] {
            let mut adapter = Adapter::new(plan(warmup));
            let mut scans = 0;
            while let Some(part) = adapter.part() {
                assert!(part > 0);
                scans += part;
                adapter.take(&measure(&adapter.rungs().clone(), 3.5, part as u64));
            }
            assert_eq!(scans, warmup);
            let betas = &adapter.rungs().betas;
            // 3.5(1 + √(3.5/4.5)) is 6.6.
            assert_eq!(betas.len(), 8, "{warmup}: {betas:?}");
            for (i, beta) in betas.iter().enumerate() {
                assert!((beta - (i as f64 / 7.0).sqrt()).abs() < 0.01, "{warmup}: {betas:?}");
            }
        }
    }

    #[test]
    fn a_ladder_grows_until_swaps_are_seen() {
        let mut adapter = Adapter::new(plan(400));
        while let Some(part) = adapter.part() {
            adapter.take(&measure(&adapter.rungs().clone(), 12.0, part as u64));
        }
        // 12(1 + √(12/13)) is 23.5.
        assert_eq!(adapter.rungs().betas.len(), 25);
    }

    #[test]
    fn an_asked_number_of_rungs_stays() {
        for warmup in [0, 30, 2000] {
            let mut adapter = Adapter::new(Plan { rungs: Some(5), ..plan(warmup) });
            while let Some(part) = adapter.part() {
                adapter.take(&measure(&adapter.rungs().clone(), 12.0, part as u64));
            }
            assert_eq!(adapter.rungs().betas.len(), 5);
        }
    }
    #[test]
    fn a_ladder_that_is_given_stays_to_the_last_bit() {
        let even = Rungs::even(3, 1.0, 0.3);
        let given = Rungs { shifts: vec![0.1, -0.2, 0.4], ..even };
        for warmup in [0, 30, 2000] {
            let mut adapter = Adapter::new(Plan { ladder: Some(given.clone()), ..plan(warmup) });
            let mut scans = 0;
            while let Some(part) = adapter.part() {
                scans += part;
                adapter.take(&measure(&adapter.rungs().clone(), 12.0, part as u64));
            }
            assert_eq!((scans, &**adapter.rungs()), (warmup, &given));
        }
    }
}
