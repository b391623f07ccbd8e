//! The variational bound of a network's likelihood.
//!
//! log p(v) ≥ E[log p(v | h) + log p(h)] + H, where h are hidden units drawn given v by the bottom
//! RBM and H is their entropy. log p(h) is that of the top RBM, whose normaliser is left out.

use super::Dbn;
use rayon::prelude::*;
use saltus::math::{sigmoid, softplus};
use saltus::rng::{Annealing, Stream};
use saltus::{ChainRng, Control, Model, ModelError, States, Workers};

/// Examples between two reports of progress.
const AT_ONCE: usize = 256;

impl Dbn {
    /// The mean over states of the bound of log p, plus log Z of the top RBM. `draws` hidden
    /// states are drawn for each; `monitor` is told how many states are done, of how many; nothing
    /// comes back if it asks to stop.
    pub fn mean_log_bound(
        &self,
        states: &[u8],
        draws: usize,
        seed: u64,
        threads: Option<usize>,
        mut monitor: impl FnMut(usize, usize) -> Control,
    ) -> Result<Option<f64>, ModelError> {
        let pool = Workers::new(threads).map_err(|reason| {
            ModelError::Evaluation(format!("threads could not be started: {reason}"))
        })?;
        let states: Vec<&[u8]> = states.chunks_exact(self.space().sites()).collect();
        let mut bounds = Vec::with_capacity(states.len());
        for block in states.chunks(AT_ONCE) {
            let first = bounds.len();
            let bound = |(number, state): (usize, &&[u8])| {
                let mut rng = ChainRng::new(
                    seed,
                    Stream::Annealing(Annealing::Bound, (first + number) as u64),
                );
                self.log_bound(state, draws, &mut rng)
            };
            let found: Result<Vec<f64>, ModelError> =
                pool.install(|| block.par_iter().enumerate().map(bound).collect());
            bounds.extend(found?);
            if monitor(bounds.len(), states.len()) == Control::Stop && bounds.len() < states.len() {
                return Ok(None);
            }
        }
        Ok(Some(bounds.iter().sum::<f64>() / bounds.len() as f64))
    }

    /// The bound for one state.
    fn log_bound(&self, state: &[u8], draws: usize, rng: &mut ChainRng) -> Result<f64, ModelError> {
        let inputs = self.hidden_inputs(state);
        let entropy: f64 =
            inputs.iter().map(|input| softplus(*input) - input * sigmoid(*input)).sum();
        let (row, units) = (self.bottom.row_length(), inputs.len());
        let mut on = vec![0.0; draws * row];
        let mut hidden = vec![0; draws * units];
        for (on, hidden) in on.chunks_exact_mut(row).zip(hidden.chunks_exact_mut(units)) {
            draw(&inputs, rng, hidden);
            on.iter_mut().zip(hidden).for_each(|(on, value)| *on = f32::from(*value));
        }
        let mut of_top = vec![0.0; draws];
        let hidden = States::new(&hidden, units);
        self.top.log_prob(hidden, &mut self.top.new_cache(draws), &mut of_top)?;
        let given = self.bottom.log_probs_given_units(state, &on);
        let mean = given.iter().chain(&of_top).sum::<f64>() / draws as f64;
        Ok(mean + entropy)
    }

    /// Hidden states that the bottom RBM gives to states, one after the other.
    pub fn draw_hidden(&self, states: &[u8], seed: u64) -> Vec<u8> {
        let units = self.bottom.hidden();
        let mut hidden = vec![0; states.len() / self.space().sites() * units];
        let rows = states.chunks_exact(self.space().sites()).zip(hidden.chunks_exact_mut(units));
        for (number, (state, hidden)) in rows.enumerate() {
            let mut rng =
                ChainRng::new(seed, Stream::Annealing(Annealing::HiddenStart, number as u64));
            draw(&self.hidden_inputs(state), &mut rng, hidden);
        }
        hidden
    }

    fn hidden_inputs(&self, state: &[u8]) -> Vec<f64> {
        let mut inputs = vec![0.0; self.bottom.row_length()];
        self.bottom.hidden_inputs(state, 0, &mut self.bottom.new_cache(1), &mut inputs);
        inputs.truncate(self.bottom.hidden());
        inputs
    }
}

fn draw(inputs: &[f64], rng: &mut ChainRng, hidden: &mut [u8]) {
    for (hidden, input) in hidden.iter_mut().zip(inputs) {
        *hidden = u8::from(rng.flip(sigmoid(*input)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Binarisation, Examples, Images, draw_examples};
    use saltus::Rbm;
    use saltus::math::log_sum_exp;

    fn all_states(sites: usize, values: usize) -> Vec<Vec<u8>> {
        (0..values.pow(sites as u32))
            .map(|number| {
                (0..sites).map(|n| (number / values.pow(n as u32) % values) as u8).collect()
            })
            .collect()
    }

    /// log p(v) of every state of a small network by listing both layers: p(h) from the top RBM's
    /// log π, p(v | h) from the bottom's joint energy.
    fn exact(network: &Dbn) -> Vec<f64> {
        let (bottom, units) = (network.bottom(), network.bottom().hidden());
        let (sites, values) = (network.space().sites(), network.space().values());
        let hidden = all_states(units, 2);
        let mut log_hidden = vec![0.0; hidden.len()];
        for (hidden, log) in hidden.iter().zip(&mut log_hidden) {
            let cache = &mut network.top().new_cache(1);
            let log = std::slice::from_mut(log);
            network.top().log_prob(States::new(hidden, units), cache, log).unwrap();
        }
        let log_z = log_sum_exp(&log_hidden);
        let visible = all_states(sites, values);
        let joint = |state: &Vec<u8>, hidden: &Vec<u8>| -> f64 {
            let input = |unit: usize| -> f64 {
                (0..sites).map(|n| f64::from(bottom.weight(unit, n, state[n]))).sum()
            };
            (0..units).map(|unit| f64::from(hidden[unit]) * input(unit)).sum::<f64>()
                + bottom.visible_log_prob(state)
        };
        let given: Vec<f64> = hidden
            .iter()
            .map(|hidden| {
                log_sum_exp(&visible.iter().map(|v| joint(v, hidden)).collect::<Vec<_>>())
            })
            .collect();
        visible
            .iter()
            .map(|state| {
                let terms: Vec<f64> = (0..hidden.len())
                    .map(|h| log_hidden[h] - log_z + joint(state, &hidden[h]) - given[h])
                    .collect();
                log_sum_exp(&terms)
            })
            .collect()
    }

    fn mean_log_bound(network: &Dbn, state: &[u8], draws: usize) -> f64 {
        let bound = network.mean_log_bound(state, draws, 0, Some(1), |_, _| Control::Continue);
        bound.unwrap().expect("not stopped")
    }

    #[test]
    fn the_bound_is_below_and_close() {
        for values in [2, 3] {
            let network =
                Dbn::new(Rbm::random(3, 4, values, 1).unwrap(), Rbm::random(4, 5, 2, 2).unwrap())
                    .unwrap();
            let exact = exact(&network);
            let total: f64 = exact.iter().map(|log| log.exp()).sum();
            assert!((total - 1.0).abs() < 1e-6, "{total}");
            let listed = network.top().enumerate(None, |_, _| Control::Continue);
            let log_z = listed.unwrap().unwrap().log_z();
            for (state, exact) in all_states(3, values).iter().zip(&exact) {
                let bound = mean_log_bound(&network, state, 4000);
                let gap = exact - (bound - log_z);
                // The gap is a divergence; of 4,000 draws a few hundredths are chance.
                assert!(gap > -0.1 && gap < 1.5, "{state:?}: {gap}");
            }
        }
    }

    #[test]
    fn it_is_exact_where_hidden_units_do_not_depend_on_the_sites() {
        // Without weights, and with a top RBM that gives hidden units the same probabilities as the
        // bottom one, these are the posterior: the bound holds with equality.
        let bottom = Rbm::new(2, &[0.0; 6], &[0.3, -0.8], &[0.1, 0.5, -0.2], None).unwrap();
        let top = Rbm::new(2, &[0.0; 2], &[0.0], &[0.3, -0.8], None).unwrap();
        let network = Dbn::new(bottom, top).unwrap();
        let log_z = (1.0 + 0.3f64.exp()).ln() + (1.0 + (-0.8f64).exp()).ln() + 2f64.ln();
        for (state, exact) in all_states(3, 2).iter().zip(exact(&network)) {
            let bound = mean_log_bound(&network, state, 2000);
            // Draws of log p(h) have a standard deviation below 0.6.
            assert!((bound - log_z - exact).abs() < 0.067, "{bound} {exact}");
        }
    }

    #[test]
    fn hidden_units_are_not_drawn_by_the_numbers_that_drew_the_pixels() {
        // Pixels and hidden units are fair coins, as nearly as grays can be: drawn by the same numbers
        // they would be equal.
        const UNITS: usize = 1000;
        let images = Images { rows: 1, columns: UNITS, pixels: vec![128; UNITS] };
        let examples = Examples::from_images(images, 2, Binarisation::Stochastic).unwrap();
        let state = draw_examples(&examples, 1, 5);
        let rbm = |sites: usize, hidden: usize| {
            Rbm::new(2, &vec![0.0; sites * hidden], &vec![0.0; hidden], &vec![0.0; sites], None)
        };
        let bottom = rbm(UNITS, UNITS).unwrap();
        let network = Dbn::new(bottom, rbm(UNITS, 1).unwrap()).unwrap();
        let hidden = network.draw_hidden(&state, 5);
        let again = network.draw_sites(&hidden, 5);
        for (one, other) in [(&state, &hidden), (&hidden, &again), (&state, &again)] {
            let equal = one.iter().zip(other).filter(|(one, other)| one == other).count();
            // Five standard deviations of a thousand fair coins are 79.
            assert!(equal.abs_diff(500) < 80, "{equal}");
        }
    }

    #[test]
    fn the_units_of_a_bound_are_not_drawn_by_the_numbers_that_drew_the_pixels() {
        // Every hidden unit is a fair coin for the bottom RBM, and the top one gives e² to a unit
        // that is on: log p(h) is twice the number of units that are on, up to a constant.
        const UNITS: usize = 400;
        let images = Images { rows: 1, columns: UNITS, pixels: vec![128; UNITS] };
        let examples = Examples::from_images(images, 2, Binarisation::Stochastic).unwrap();
        let weight = vec![0.0; UNITS * UNITS];
        let bottom = Rbm::new(2, &weight, &[0.0; UNITS], &[0.0; UNITS], None).unwrap();
        let top = Rbm::new(2, &[0.0; UNITS], &[0.0], &[2.0; UNITS], None).unwrap();
        let network = Dbn::new(bottom, top).unwrap();
        let mut pairs = Vec::new();
        for seed in 0..200 {
            let state = draw_examples(&examples, 1, seed);
            let bound = network.mean_log_bound(&state, 1, seed, Some(1), |_, _| Control::Continue);
            let on = f64::from(state.iter().map(|value| u32::from(*value)).sum::<u32>());
            pairs.push((on, bound.unwrap().unwrap()));
        }
        let count = pairs.len() as f64;
        let (x, y) = pairs.iter().fold((0.0, 0.0), |(x, y), pair| (x + pair.0, y + pair.1));
        let sums = pairs.iter().fold([0.0; 3], |[xx, xy, yy], pair| {
            let (x, y) = (pair.0 - x / count, pair.1 - y / count);
            [xx + x * x, xy + x * y, yy + y * y]
        });
        let correlation = sums[1] / (sums[0] * sums[2]).sqrt();
        // Five standard deviations of a correlation of 200 independent pairs.
        assert!(correlation.abs() < 0.36, "{correlation}");
    }

    #[test]
    fn a_monitor_can_stop_the_bound() {
        let network =
            Dbn::new(Rbm::random(3, 4, 2, 1).unwrap(), Rbm::random(4, 5, 2, 2).unwrap()).unwrap();
        let stopped =
            network.mean_log_bound(&[0; 3 * (AT_ONCE + 1)], 1, 0, Some(1), |_, _| Control::Stop);
        assert_eq!(stopped, Ok(None));
        let whole = network.mean_log_bound(&[0; 3], 1, 0, Some(1), |_, _| Control::Stop);
        assert!(whole.unwrap().is_some());
    }
}
