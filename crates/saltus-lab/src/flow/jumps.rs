//! The particles of the flow: the jump process whose law is ρ(t), simulated exactly.

use super::Flow;
use saltus::rng::ChainRng;

impl Flow {
    /// The state of one particle at rising times, from a state at time 0: it waits an exponential
    /// time of rate −Qᵢᵢ in state i and then jumps to j with probability Q_ij/(−Qᵢᵢ).
    pub fn particle(&self, start: usize, times: &[f64], rng: &mut ChainRng) -> Vec<usize> {
        let mut state = start;
        let mut leaves = self.holding_time(state, rng);
        let mut path = Vec::with_capacity(times.len());
        for time in times {
            while leaves <= *time {
                state = self.jump(state, rng);
                leaves += self.holding_time(state, rng);
            }
            path.push(state);
        }
        path
    }

    /// The time until a particle leaves a state.
    pub fn holding_time(&self, state: usize, rng: &mut ChainRng) -> f64 {
        // 1 − u is never 0.
        -(-rng.uniform()).ln_1p() / -self.rates()[(state, state)]
    }

    /// Where it then goes.
    pub fn jump(&self, state: usize, rng: &mut ChainRng) -> usize {
        let rates: Vec<f64> = (0..self.states())
            .map(|other| if other == state { 0.0 } else { self.rates()[(state, other)] })
            .collect();
        rng.index(&rates, rates.iter().sum())
    }

    /// Where particles are at these times: for each the share in every state. They start in the
    /// proportions of ρ.
    pub fn simulate(
        &self,
        rho: &[f64],
        times: &[f64],
        particles: usize,
        rng: &mut ChainRng,
    ) -> Vec<Vec<f64>> {
        let mut counts = vec![vec![0.0; self.states()]; times.len()];
        for _ in 0..particles {
            let start = rng.index(rho, rho.iter().sum());
            for (counts, state) in counts.iter_mut().zip(self.particle(start, times, rng)) {
                counts[state] += 1.0 / particles as f64;
            }
        }
        counts
    }
}
