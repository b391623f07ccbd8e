//! Ways to propose a step of time h, all made exact by Metropolis–Hastings.

use crate::target::Target;
use saltus::Balancing;
use saltus::kernel::row::RowFormula;
use saltus::rng::ChainRng;
use std::fmt::{Display, Formatter};

#[derive(Clone, Copy, PartialEq)]
pub enum Scheme {
    /// Every site from its own row: what the samplers do.
    Rows(RowFormula),
    /// Interpolated rows for half of the sites, chosen at random; the others stay.
    Half,
    /// Interpolated rows for one colour of the checkerboard; the others stay.
    Colour,
    /// Interpolated rows whose differences come from a state half a step ahead, which is drawn and
    /// kept as part of the proposal.
    Midpoint,
    /// Interpolated rows whose differences are the mean of those here and those at the expected
    /// state after a step.
    Heun,
}

impl Scheme {
    pub const INTERPOLATED: Self = Self::Rows(RowFormula::Interpolated);
    pub const ALL: [Self; 8] = [
        Self::Rows(RowFormula::Normalised),
        Self::Rows(RowFormula::Euler),
        Self::INTERPOLATED,
        Self::Rows(RowFormula::Exact),
        Self::Heun,
        Self::Midpoint,
        Self::Half,
        Self::Colour,
    ];

    /// Evaluations of the model that a step needs, keeping what is known of the current state.
    pub fn evaluations(self) -> f64 {
        match self {
            Self::Midpoint | Self::Heun => 2.0,
            _ => 1.0,
        }
    }

    /// The probability that a proposal is accepted, and the number of sites it changes.
    pub fn propose(
        self,
        target: &dyn Target,
        from: &[u8],
        h: f64,
        weight: Balancing,
        rng: &mut ChainRng,
    ) -> (f64, f64) {
        let step = Step { target, h, weight };
        let (to, log_ratio) = match self {
            Self::Rows(formula) => step.all_sites(formula, from, rng, |_| true),
            Self::Half => {
                let moves: Vec<bool> = from.iter().map(|_| rng.flip(0.5)).collect();
                step.all_sites(RowFormula::Interpolated, from, rng, |site| moves[site])
            }
            Self::Colour => {
                let white = rng.flip(0.5);
                let moves = |site| target.is_white(site) == white;
                step.all_sites(RowFormula::Interpolated, from, rng, moves)
            }
            Self::Midpoint => step.midpoint(from, rng),
            Self::Heun => step.heun(from, rng),
        };
        let log_acceptance = target.log_prob(&to) - target.log_prob(from) + log_ratio;
        let changed = from.iter().zip(&to).filter(|(from, to)| from != to).count();
        (log_acceptance.min(0.0).exp(), changed as f64)
    }
}

/// A proposal in the making.
struct Step<'a> {
    target: &'a dyn Target,
    h: f64,
    weight: Balancing,
}

impl Step<'_> {
    /// What is proposed, and the log-probability of the way back less that of the way there.
    fn all_sites(
        &self,
        formula: RowFormula,
        from: &[u8],
        rng: &mut ChainRng,
        moves: impl Fn(usize) -> bool,
    ) -> (Vec<u8>, f64) {
        let there = self.rows(formula, &self.target.local(from), from, self.h);
        let mut to = self.draw(&there, rng);
        for site in (0..to.len()).filter(|site| !moves(*site)) {
            to[site] = from[site];
        }
        let back = self.rows(formula, &self.target.local(&to), &to, self.h);
        let ratio = self.score(&back, from, &moves) - self.score(&there, &to, &moves);
        (to, ratio)
    }

    fn midpoint(&self, from: &[u8], rng: &mut ChainRng) -> (Vec<u8>, f64) {
        let formula = RowFormula::Interpolated;
        let ahead = self.rows(formula, &self.target.local(from), from, 0.5 * self.h);
        let middle = self.draw(&ahead, rng);
        let local = self.target.local(&middle);
        let there = self.rows(formula, &local, from, self.h);
        let to = self.draw(&there, rng);
        let back = self.rows(formula, &local, &to, self.h);
        let behind = self.rows(formula, &self.target.local(&to), &to, 0.5 * self.h);
        let all = |_| true;
        let ratio = self.score(&behind, &middle, all) - self.score(&ahead, &middle, all)
            + self.score(&back, from, all)
            - self.score(&there, &to, all);
        (to, ratio)
    }

    fn heun(&self, from: &[u8], rng: &mut ChainRng) -> (Vec<u8>, f64) {
        let there = self.corrected_rows(from);
        let to = self.draw(&there, rng);
        let back = self.corrected_rows(&to);
        let ratio = self.score(&back, from, |_| true) - self.score(&there, &to, |_| true);
        (to, ratio)
    }

    fn corrected_rows(&self, from: &[u8]) -> Vec<f64> {
        let formula = RowFormula::Interpolated;
        let mut local = self.target.local(from);
        let predicted = self.rows(formula, &local, from, self.h);
        let probabilities: Vec<f64> = predicted.iter().map(|log| log.exp()).collect();
        for (here, ahead) in local.iter_mut().zip(self.target.expected_local(&probabilities)) {
            *here = 0.5 * (*here + ahead);
        }
        self.rows(formula, &local, from, self.h)
    }

    /// The logarithms of the rows of all sites.
    fn rows(&self, formula: RowFormula, local: &[f64], from: &[u8], h: f64) -> Vec<f64> {
        let row = |(site, local): (usize, &[f64])| {
            let own = usize::from(from[site]);
            let diff: Vec<f64> = local.iter().map(|entry| entry - local[own]).collect();
            formula.log_row(&diff, own, h, self.weight)
        };
        local.chunks(self.target.values()).enumerate().flat_map(row).collect()
    }

    fn draw(&self, rows: &[f64], rng: &mut ChainRng) -> Vec<u8> {
        let draw = |row: &[f64]| {
            let row: Vec<f64> = row.iter().map(|log| log.exp()).collect();
            rng.index(&row, row.iter().sum()) as u8
        };
        rows.chunks(self.target.values()).map(draw).collect()
    }

    /// The log-probability of a state, of the sites that move.
    fn score(&self, rows: &[f64], state: &[u8], moves: impl Fn(usize) -> bool) -> f64 {
        let sites = (0..state.len()).filter(|site| moves(*site));
        sites.map(|site| rows[site * self.target.values() + usize::from(state[site])]).sum()
    }
}

impl Display for Scheme {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Rows(RowFormula::Interpolated) => "interpolate",
            Self::Rows(RowFormula::Euler) => "euler",
            Self::Rows(RowFormula::Normalised) => "dmala",
            Self::Rows(RowFormula::Exact) => "exact",
            Self::Half => "random half of the sites",
            Self::Colour => "one colour of the checkerboard",
            Self::Midpoint => "midpoint",
            Self::Heun => "heun",
        })
    }
}
