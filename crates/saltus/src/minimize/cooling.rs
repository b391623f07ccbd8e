//! A block of chains that cool: the best state of each, and how the energy fluctuates on the way.

use crate::engine::{Failed, SamplerBlock};
use crate::model::Model;

/// So many steps after a fresh evaluation there is another, so that sums of changes do not drift.
const REFRESH: usize = 1000;

/// A block of chains in a cooling.
pub(super) struct Cooling<'a, M: Model> {
    block: SamplerBlock<'a, M>,
    /// The largest log π of each chain, and where it was.
    pub(super) best: Vec<(f64, Vec<u8>)>,
    /// Of all chains together, the largest, and the steps since it was found.
    largest: f64,
    since_best: usize,
    /// Acceptance summed over the last steps of all chains.
    pub(super) acceptance: f64,
    pub(super) heat: Heat,
    /// Steps after which the chains are evaluated afresh.
    since_start: usize,
}

impl<'a, M: Model> Cooling<'a, M> {
    /// Chains that have not moved yet.
    pub(super) fn new(block: SamplerBlock<'a, M>, chains: usize, sites: usize) -> Self {
        Self {
            block,
            best: vec![(f64::NEG_INFINITY, vec![0; sites]); chains],
            largest: f64::NEG_INFINITY,
            since_best: 0,
            acceptance: 0.0,
            heat: Heat::default(),
            since_start: 0,
        }
    }

    /// Whether one of these chains came to that log π in its last steps.
    pub(super) fn has_just_found(&self, log_prob: f64, steps: usize) -> bool {
        self.largest == log_prob && self.since_best < steps
    }

    /// Makes steps at an inverse temperature.
    pub(super) fn advance(
        &mut self,
        model: &M,
        beta: f64,
        scale: f64,
        steps: usize,
    ) -> Result<(), Failed> {
        self.block.set_beta(beta);
        self.block.set_scale(scale);
        if self.since_start == 0 || self.since_start >= REFRESH {
            self.block.start(model)?;
            self.since_start = 0;
        } else {
            self.block.adjust(model)?;
        }
        self.since_start += steps;
        self.acceptance = 0.0;
        self.heat.begin(beta, self.block.log_prob());
        for _ in 0..steps {
            self.block.step(model)?;
            self.since_best = self.since_best.saturating_add(1);
            self.acceptance += self.block.reports().iter().map(|r| r.acceptance).sum::<f64>();
            self.heat.see(self.block.log_prob());
            let states = self.block.states();
            for (chain, best) in self.best.iter_mut().enumerate() {
                let log_prob = self.block.log_prob()[chain];
                // Sums of changes are off by a few digits of rounding.
                if is_larger(log_prob, best.0) {
                    best.0 = log_prob;
                    best.1.copy_from_slice(states.row(chain));
                    if is_larger(log_prob, self.largest) {
                        (self.largest, self.since_best) = (log_prob, 0);
                    }
                }
            }
        }
        Ok(())
    }
}

fn is_larger(log_prob: f64, than: f64) -> bool {
    log_prob > than && log_prob - than > 1e-9 * log_prob.abs().max(1.0)
}

/// How much log π fluctuates at every inverse temperature of a cooling.
#[derive(Clone, Debug, Default)]
pub(super) struct Heat {
    stops: Vec<Stop>,
}

/// At one of them: the number of steps, and of every chain a number in the midst of its log π, the sum of the differences from it, and of their squares.
#[derive(Clone, Debug, Default)]
struct Stop {
    beta: f64,
    steps: f64,
    chains: Vec<[f64; 3]>,
}

impl Stop {
    /// β² Var log π within chains: cold ones that stay in different places are not hot.
    fn specific_heat(&self) -> f64 {
        let deviations =
            self.chains.iter().map(|[_, sum, squares]| squares - sum * sum / self.steps);
        let draws = self.steps * self.chains.len() as f64;
        self.beta * self.beta * deviations.sum::<f64>() / draws
    }
}

impl Heat {
    fn begin(&mut self, beta: f64, log_prob: &[f64]) {
        let midst = |x: &f64| [if x.is_finite() { *x } else { 0.0 }, 0.0, 0.0];
        self.stops.push(Stop { beta, steps: 0.0, chains: log_prob.iter().map(midst).collect() });
    }

    fn see(&mut self, log_prob: &[f64]) {
        if let Some(stop) = self.stops.last_mut() {
            stop.steps += 1.0;
            for ([midst, sum, squares], log_prob) in stop.chains.iter_mut().zip(log_prob) {
                let off = log_prob - *midst;
                *sum += off;
                *squares += off * off;
            }
        }
    }

    /// Adds the chains of another block.
    pub(super) fn add(&mut self, other: &Self) {
        if self.stops.is_empty() {
            self.stops.clone_from(&other.stops);
            return;
        }
        for (stop, other) in self.stops.iter_mut().zip(&other.stops) {
            stop.chains.extend_from_slice(&other.chains);
        }
    }

    /// The inverse temperature before that at which the specific heat was largest, so that the peak is passed once more.
    pub(super) fn peak(&self) -> Option<f64> {
        let heats = self.stops.iter().map(Stop::specific_heat).enumerate();
        let (peak, _) =
            heats.filter(|(_, heat)| heat.is_finite()).max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(self.stops[peak.saturating_sub(1)].beta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specific_heats_are_of_what_chains_do_and_not_of_where_they_are() {
        // By block, stop and step: chains come 1, 3 and 9, 7 far, and stand still in different places when they are cold.
        let blocks = [
            [[[1.0, 5.0], [3.0, 5.0]], [[0.0, 100.0], [0.0, 100.0]]],
            [[[4.0, 9.0], [4.0, 7.0]], [[50.0, 20.0], [50.0, 20.0]]],
        ];
        let mut all = Heat::default();
        for block in blocks {
            let mut heat = Heat::default();
            for (beta, steps) in [0.1, 2.0].into_iter().zip(block) {
                heat.begin(beta, &steps[0]);
                steps.iter().for_each(|log_prob| heat.see(log_prob));
            }
            all.add(&heat);
        }
        let heats: Vec<f64> = all.stops.iter().map(Stop::specific_heat).collect();
        // Two chains of four have a variance of one.
        assert!((heats[0] - 0.01 * 0.5).abs() < 1e-12 && heats[1] == 0.0, "{heats:?}");
        assert_eq!(all.peak(), Some(0.1));
        assert_eq!(Heat::default().peak(), None);
    }
}
