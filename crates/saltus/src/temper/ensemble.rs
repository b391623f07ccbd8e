//! One ensemble of replicas on a ladder: who stands where, swaps of neighbours, round trips, and the
//! sums that everything else is computed from.

use super::rungs::Rungs;
use crate::math::sigmoid;
use crate::rng::ChainRng;
use serde::{Deserialize, Serialize};

/// Who stands on which rung. The lowest rung is the base itself, which needs no chain: it is drawn afresh
/// at every scan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ensemble {
    /// The chain on each rung from the second.
    pub(crate) chain_at: Vec<u32>,
    /// The replica on each rung, and how far each has come on a round trip.
    replica_at: Vec<u32>,
    legs: Vec<Leg>,
    /// Chains that there ever were.
    pub(super) born: u64,
    pub(crate) sums: Sums,
}

/// How far a replica has come on its way from the base to the model and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Leg {
    /// It was at neither end.
    Nowhere,
    /// It was at the base last.
    Up,
    /// It was at the model last, and at the base before.
    Down,
}

/// Sums over the scans of a part of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sums {
    pub(crate) scans: u64,
    pub(crate) trips: u64,
    /// Between every rung and the next.
    pub(crate) pairs: Vec<PairSums>,
    /// On every rung.
    pub(crate) rungs: Vec<RungSums>,
}

/// Sums over draws x on a rung and y on the next, with w = (b′ − b)V and the constant c of the rungs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PairSums {
    /// Probability of a swap.
    pub(crate) swap: f64,
    /// 1/(1 + e^(c − w(x))) and 1/(1 + e^(w(y) − c)).
    pub(crate) up: f64,
    pub(crate) down: f64,
    /// e^(w(x) − c) and e^(c − w(y)).
    pub(crate) stone_up: f64,
    pub(crate) stone_down: f64,
}

/// Sums over explorations of the chain on a rung.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RungSums {
    pub(crate) acceptance: f64,
    /// V afterwards and before, their squares and their product.
    pub(crate) after: f64,
    pub(crate) after_squared: f64,
    pub(crate) before: f64,
    pub(crate) before_squared: f64,
    pub(crate) product: f64,
}

/// What a swap with the base means for the chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Swapped {
    /// The base kept its draw.
    Rejected,
    /// The chain on the second rung takes the state that was drawn from the base.
    Refreshed,
}

impl Ensemble {
    /// One that has not moved yet.
    pub(crate) fn new(rungs: usize) -> Self {
        let mut ensemble = Self {
            chain_at: Vec::new(),
            replica_at: Vec::new(),
            legs: Vec::new(),
            born: rungs as u64 - 1,
            sums: Sums::default(),
        };
        ensemble.chain_at = (0..rungs as u32 - 1).collect();
        ensemble.begin(rungs);
        ensemble
    }

    /// Counts from here on, with replicas numbered by their rungs.
    pub(super) fn begin(&mut self, rungs: usize) {
        if self.chain_at.len() + 1 != rungs {
            self.chain_at = (0..rungs as u32 - 1).collect();
        }
        self.replica_at = (0..rungs as u32).collect();
        self.legs = vec![Leg::Nowhere; rungs];
        self.legs[0] = Leg::Up;
        self.sums = Sums {
            pairs: vec![PairSums::default(); rungs - 1],
            rungs: vec![RungSums::default(); rungs],
            ..Sums::default()
        };
    }

    /// Whether one that was read from a file could be one of so many rungs.
    pub(super) fn is_sound(&self, rungs: usize) -> bool {
        let permutation = |numbers: &[u32], count: usize| {
            let mut sorted = numbers.to_vec();
            sorted.sort_unstable();
            sorted.iter().copied().eq(0..count as u32)
        };
        permutation(&self.chain_at, rungs - 1)
            && permutation(&self.replica_at, rungs)
            && self.legs.len() == rungs
            && self.sums.pairs.len() == rungs - 1
            && self.sums.rungs.len() == rungs
    }

    /// The rung of every chain.
    pub(super) fn rung_of(&self) -> Vec<usize> {
        let mut rungs = vec![0; self.chain_at.len()];
        for (below, chain) in self.chain_at.iter().enumerate() {
            rungs[*chain as usize] = below + 1;
        }
        rungs
    }

    /// Takes in what the chain on a rung did.
    pub(super) fn explored(&mut self, rung: usize, acceptance: f64, before: f64, after: f64) {
        let sums = &mut self.sums.rungs[rung];
        sums.acceptance += acceptance;
        sums.after += after;
        sums.after_squared += after * after;
        sums.before += before;
        sums.before_squared += before * before;
        sums.product += before * after;
    }

    /// Ends a scan: every pair is measured, and those whose turn it is are swapped. `v` is V = log π − log p
    /// on every rung; `streams` has the stream of the base's draws, and of every chain.
    pub(crate) fn swap(
        &mut self,
        rungs: &Rungs,
        v: &mut [f64],
        mut streams: impl FnMut(Option<usize>, f64) -> bool,
    ) -> Swapped {
        self.measure(rungs, v);
        let mut swapped = Swapped::Rejected;
        let turn = (self.sums.scans % 2) as usize;
        for lower in (turn..rungs.intervals()).step_by(2) {
            let probability = swap_probability(rungs, lower, v);
            let chain = lower.checked_sub(1).map(|below| self.chain_at[below] as usize);
            if !streams(chain, probability) {
                continue;
            }
            self.replica_at.swap(lower, lower + 1);
            match lower {
                0 => swapped = Swapped::Refreshed,
                _ => self.chain_at.swap(lower - 1, lower),
            }
            v.swap(lower, lower + 1);
        }
        self.sums.scans += 1;
        self.count_trips();
        swapped
    }

    fn measure(&mut self, rungs: &Rungs, v: &[f64]) {
        for (lower, sums) in self.sums.pairs.iter_mut().enumerate() {
            let step = rungs.betas[lower + 1] - rungs.betas[lower];
            let up = step * v[lower] - rungs.shifts[lower];
            let down = step * v[lower + 1] - rungs.shifts[lower];
            sums.swap += swap_probability(rungs, lower, v);
            sums.up += sigmoid(up);
            sums.down += sigmoid(-down);
            sums.stone_up += up.min(MOST).exp();
            sums.stone_down += (-down).min(MOST).exp();
        }
    }

    /// A replica that was at the base, then at the model, and is back has made a round trip.
    fn count_trips(&mut self) {
        let (bottom, top) =
            (self.replica_at[0] as usize, self.replica_at.last().map(|r| *r as usize));
        if self.legs[bottom] == Leg::Down {
            self.sums.trips += 1;
        }
        self.legs[bottom] = Leg::Up;
        if let Some(top) = top
            && self.legs[top] == Leg::Up
        {
            self.legs[top] = Leg::Down;
        }
    }
}

/// Weights beyond e to this power are not told apart.
const MOST: f64 = 700.0;

/// The probability that two neighbours swap, min(1, e^((b′ − b)(V − V′))). A draw of the base that the
/// model forbids never goes up.
fn swap_probability(rungs: &Rungs, lower: usize, v: &[f64]) -> f64 {
    let step = rungs.betas[lower + 1] - rungs.betas[lower];
    (step * (v[lower] - v[lower + 1])).exp().min(1.0)
}

/// Decides by a stream.
pub(super) fn decide(rng: &mut ChainRng, probability: f64) -> bool {
    rng.flip(probability)
}

impl Sums {
    /// Adds those of another ensemble or part.
    pub(crate) fn add(&mut self, other: &Self) {
        self.scans = self.scans.saturating_add(other.scans);
        self.trips = self.trips.saturating_add(other.trips);
        self.pairs.resize(other.pairs.len(), PairSums::default());
        self.rungs.resize(other.rungs.len(), RungSums::default());
        for (sum, other) in self.pairs.iter_mut().zip(&other.pairs) {
            sum.swap += other.swap;
            sum.up += other.up;
            sum.down += other.down;
            sum.stone_up += other.stone_up;
            sum.stone_down += other.stone_down;
        }
        for (sum, other) in self.rungs.iter_mut().zip(&other.rungs) {
            sum.acceptance += other.acceptance;
            sum.after += other.after;
            sum.after_squared += other.after_squared;
            sum.before += other.before;
            sum.before_squared += other.before_squared;
            sum.product += other.product;
        }
    }

    /// How often neighbours do not swap, on average over scans.
    pub(crate) fn rejections(&self) -> Vec<f64> {
        let scans = self.scans.max(1) as f64;
        self.pairs.iter().map(|pair| (1.0 - pair.swap / scans).clamp(0.0, 1.0)).collect()
    }
}

impl RungSums {
    /// The correlation of V before and after an exploration; none if V never changes.
    pub(crate) fn autocorrelation(&self, scans: u64) -> Option<f64> {
        let n = scans as f64;
        let covariance = self.product / n - (self.before / n) * (self.after / n);
        let variance = |sum: f64, squared: f64| squared / n - (sum / n) * (sum / n);
        let both =
            variance(self.before, self.before_squared) * variance(self.after, self.after_squared);
        let correlation = covariance / both.sqrt();
        correlation.is_finite().then_some(correlation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rungs(number: usize) -> Rungs {
        let betas = (0..number).map(|i| i as f64 / (number - 1) as f64).collect();
        Rungs { betas, scales: vec![1.0; number], shifts: vec![0.0; number - 1] }
    }

    #[test]
    fn four_rungs_make_thirteen_round_trips_in_32_scans_if_all_swaps_are_accepted() {
        let (rungs, mut ensemble) = (rungs(4), Ensemble::new(4));
        for _ in 0..32 {
            ensemble.swap(&rungs, &mut [0.0; 4], |_, probability| {
                assert_eq!(probability, 1.0);
                true
            });
        }
        assert_eq!((ensemble.sums.trips, ensemble.sums.scans), (13, 32));
        assert_eq!(ensemble.sums.rejections(), [0.0; 3]);
    }

    #[test]
    fn no_trips_without_swaps() {
        let (rungs, mut ensemble) = (rungs(4), Ensemble::new(4));
        for _ in 0..100 {
            ensemble.swap(&rungs, &mut [0.0; 4], |_, _| false);
        }
        assert_eq!(ensemble.sums.trips, 0);
        assert_eq!(ensemble.rung_of(), [1, 2, 3]);
    }

    #[test]
    fn rejections_are_means_of_probabilities_and_what_is_forbidden_stays_below() {
        let (rungs, mut ensemble) = (rungs(3), Ensemble::new(3));
        let mut v = [f64::NEG_INFINITY, 2.0, 1.0];
        let swapped = ensemble.swap(&rungs, &mut v, |_, probability| probability > 0.5);
        assert_eq!(swapped, Swapped::Rejected);
        assert_eq!(ensemble.sums.rejections(), [1.0, 0.0]);
        assert_eq!((ensemble.sums.pairs[0].up, ensemble.sums.pairs[0].stone_up), (0.0, 0.0));
        // The other way, a half of the distance down: e^(½(1 − 2)).
        let mut v = [0.0, 1.0, 2.0];
        ensemble.swap(&rungs, &mut v, |_, _| true);
        let expected = 1.0 - 0.5 * (1.0 + (-0.5f64).exp());
        assert!((ensemble.sums.rejections()[1] - expected).abs() < 1e-12);
        assert_eq!(v, [0.0, 2.0, 1.0]);
    }
}
