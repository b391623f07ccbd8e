//! Gibbs sampling of an RBM layer by layer, which has a path of densities of its own.

use super::tools::{
    At, DOUBLE, Matrix, SINGLE, all_states, balance_error, check_bookkeeping, index_of,
    invariance_error, log_prob_of,
};
use crate::base::Base;
use crate::kernel::layers::{LayerGibbs, Layers, log_base};
use crate::kernel::{Chains, Kernel};
use crate::math::{log_sum_exp, sigmoid, softplus};
use crate::model::Model;
use crate::model::rbm::Rbm;
use crate::rng::{ChainRng, Stream};
use std::sync::Arc;

/// An RBM by its definition: everything in double precision from the same tables.
struct Unsummed {
    rbm: Rbm,
    values: usize,
    weight: Vec<f32>,
    hidden_bias: Vec<f32>,
    visible_bias: Vec<f32>,
    base: Arc<Base>,
}

impl Unsummed {
    fn new(sites: usize, hidden: usize, values: usize) -> Self {
        let planes = if values == 2 { 1 } else { values };
        let numbers = |count: usize, from: f32| -> Vec<f32> {
            (0..count).map(|entry| 1.3 * (entry as f32 * 1.9 + from).sin()).collect()
        };
        let weight = numbers(hidden * sites * planes, 0.3);
        let (hidden_bias, visible_bias) = (numbers(hidden, 1.1), numbers(sites * planes, 2.2));
        let rbm = Rbm::new(values, &weight, &hidden_bias, &visible_bias, None).unwrap();
        let of_base = numbers(rbm.space().diff_len(), 4.0);
        let base = Arc::new(Base::new(rbm.space().clone(), of_base).unwrap());
        Self { rbm, values, weight, hidden_bias, visible_bias, base }
    }

    /// An entry of a table by unit or row, for a value of a site.
    fn entry(&self, table: &[f32], row: usize, site: usize, value: u8) -> f64 {
        let sites = self.rbm.space().sites();
        match self.values {
            2 => f64::from(table[row * sites + site]) * f64::from(value),
            values => f64::from(table[(row * sites + site) * values + usize::from(value)]),
        }
    }

    fn sum(&self, table: &[f32], row: usize, state: &[u8]) -> f64 {
        let sites = state.iter().enumerate();
        sites.map(|(site, value)| self.entry(table, row, site, *value)).sum()
    }

    /// The inputs of the hidden units.
    fn inputs(&self, state: &[u8]) -> Vec<f64> {
        let units = self.hidden_bias.iter().enumerate();
        units.map(|(unit, bias)| f64::from(*bias) + self.sum(&self.weight, unit, state)).collect()
    }

    /// (1 − β) log p + β b·v + Σ softplus(β a).
    fn log_density(&self, state: &[u8], beta: f64) -> f64 {
        let of_units: f64 = self.inputs(state).iter().map(|input| softplus(beta * input)).sum();
        (1.0 - beta) * self.base.log_prob(state)
            + beta * self.sum(&self.visible_bias, 0, state)
            + of_units
    }

    fn density(&self, beta: f64) -> Vec<f64> {
        let states = all_states(self.rbm.space());
        let logs: Vec<f64> = states.iter().map(|state| self.log_density(state, beta)).collect();
        let total = log_sum_exp(&logs);
        logs.iter().map(|log| (log - total).exp()).collect()
    }

    /// The law of hidden units given a state, and of a state given hidden units.
    fn law(&self, beta: f64) -> Matrix {
        let space = self.rbm.space();
        let states = all_states(space);
        let hidden = self.hidden_bias.len();
        let given_units = |units: usize| -> Vec<f64> {
            let on = (0..hidden).filter(|unit| units >> unit & 1 == 1);
            let log = |state: &Vec<u8>| {
                let of_units: f64 =
                    on.clone().map(|unit| self.sum(&self.weight, unit, state)).sum();
                (1.0 - beta) * self.base.log_prob(state)
                    + beta * (self.sum(&self.visible_bias, 0, state) + of_units)
            };
            let logs: Vec<f64> = states.iter().map(log).collect();
            let total = log_sum_exp(&logs);
            logs.iter().map(|log| (log - total).exp()).collect()
        };
        let given_units: Matrix = (0..1 << hidden).map(given_units).collect();
        let row = |state: &Vec<u8>| {
            let inputs = self.inputs(state);
            let mut row = vec![0.0; states.len()];
            for (units, law) in given_units.iter().enumerate() {
                let probability: f64 = inputs
                    .iter()
                    .enumerate()
                    .map(|(unit, input)| match units >> unit & 1 {
                        1 => sigmoid(beta * input),
                        _ => sigmoid(-beta * input),
                    })
                    .product();
                row.iter_mut().zip(law).for_each(|(row, law)| *row += probability * law);
            }
            row
        };
        states.iter().map(row).collect()
    }

    /// A chain at each inverse temperature, all in one block.
    fn chains(&self, state: &[u8], betas: &[f64]) -> Chains {
        let rngs = (0..betas.len()).map(|chain| ChainRng::new(9, Stream::Chain(chain as u64)));
        let states = state.repeat(betas.len());
        let mut chains = Chains::new(self.rbm.space(), states, rngs.collect());
        chains.betas = betas.to_vec();
        chains.on_path_from(self.base.clone())
    }
}

const BETAS: [f64; 4] = [0.0, 0.37, 0.8, 1.0];

fn both() -> [Unsummed; 2] {
    [Unsummed::new(3, 2, 2), Unsummed::new(2, 3, 3)]
}

#[test]
fn layers_are_drawn_by_their_law_and_keep_their_own_density() {
    for case in both() {
        let laws = BETAS.map(|beta| case.law(beta));
        for (law, beta) in laws.iter().zip(BETAS) {
            let density = case.density(beta);
            assert!(invariance_error(&density, law) < DOUBLE);
            assert!(balance_error(&density, law) < DOUBLE);
            // Not the path of geometric means, but at its ends.
            let geometric = At::rung(1.0, beta, &case.base).density(&case.rbm);
            let apart = density.iter().zip(&geometric).map(|(a, b)| (a - b).abs());
            let apart = apart.fold(0.0, f64::max);
            assert_eq!(apart > 1e-3, beta > 0.0 && beta < 1.0, "{beta}: {apart}");
        }
        check_frequencies(&case, &LayerGibbs, &laws);
    }
}

/// Steps of a kernel from a few states lead as often to each as these laws say, one for every inverse temperature.
fn check_frequencies<K: Kernel<Rbm, Own = ()>>(case: &Unsummed, kernel: &K, laws: &[Matrix]) {
    const STEPS: usize = 100_000;
    let states = all_states(case.rbm.space());
    for start in [0, states.len() / 2, states.len() - 1] {
        let state = &states[start];
        let mut chains = case.chains(state, &BETAS);
        let mut scratch = kernel.new_scratch(&case.rbm, BETAS.len());
        let mut counts = vec![vec![0.0; states.len()]; BETAS.len()];
        for _ in 0..STEPS {
            chains.states.copy_from_slice(&state.repeat(BETAS.len()));
            kernel.start(&case.rbm, &mut chains, &mut scratch).unwrap();
            kernel.step(&case.rbm, &mut chains, &mut scratch).unwrap();
            check_bookkeeping(&case.rbm, state, &chains);
            for (chain, counts) in counts.iter_mut().enumerate() {
                counts[index_of(case.rbm.space(), chains.state(chain))] += 1.0;
            }
        }
        for ((counts, law), beta) in counts.iter().zip(laws).zip(BETAS) {
            for (count, probability) in counts.iter().zip(&law[start]) {
                let expected = STEPS as f64 * probability;
                // Some 200 counts in all: six deviations are beyond chance.
                let error = (count - expected).abs();
                assert!(error < 6.0 * expected.sqrt().max(1.0), "β {beta}: {count} {expected}");
            }
        }
    }
}

/// The same steps, accepted by how much π^β exceeds the density that they keep.
fn corrected(law: &Matrix, kept: &[f64], wanted: &[f64]) -> Matrix {
    let row = |from: usize| {
        let ratio = |to: usize| wanted[to] * kept[from] / (wanted[from] * kept[to]);
        let mut row: Vec<f64> =
            (0..kept.len()).map(|to| law[from][to] * ratio(to).min(1.0)).collect();
        row[from] += 1.0 - row.iter().sum::<f64>();
        row
    };
    (0..kept.len()).map(row).collect()
}

#[test]
fn on_a_ladder_layers_keep_powers_of_the_model() {
    for case in both() {
        let laws = BETAS.map(|beta| {
            let (law, kept) = (case.law(beta), case.density(beta));
            let wanted = At::rung(1.0, beta, &case.base).density(&case.rbm);
            let corrected = corrected(&law, &kept, &wanted);
            assert!(invariance_error(&wanted, &corrected) < SINGLE, "β {beta}");
            assert!(balance_error(&wanted, &corrected) < SINGLE, "β {beta}");
            // Without the test of acceptance another density is kept, but at the ends.
            let error = invariance_error(&wanted, &law);
            assert_eq!(error > 1e-4, beta > 0.0 && beta < 1.0, "β {beta}: {error:e}");
            corrected
        });
        check_frequencies(&case, &Layers, &laws);
    }
}

#[test]
fn gains_are_differences_of_log_densities() {
    for case in both() {
        let mut scratch = LayerGibbs.new_scratch(&case.rbm, 2);
        for state in all_states(case.rbm.space()) {
            let mut chains = case.chains(&state, &[0.2, 0.9]);
            LayerGibbs.start(&case.rbm, &mut chains, &mut scratch).unwrap();
            let log_prob = log_prob_of(&case.rbm, &state);
            assert!((chains.log_prob[1] - log_prob).abs() < SINGLE);
            assert!((case.log_density(&state, 1.0) - log_prob).abs() < SINGLE);
            for (from, to) in [(0.0, 0.1), (0.2, 0.9), (0.0, 1.0), (0.6, 0.4)] {
                let gain = |chain: usize, scratch: &mut _| {
                    LayerGibbs.log_gain(&case.rbm, &chains, scratch, chain, (from, to))
                };
                let exact = case.log_density(&state, to) - case.log_density(&state, from);
                for chain in [0, 1] {
                    let found = gain(chain, &mut scratch);
                    assert!((found - exact).abs() < SINGLE, "{from} to {to}: {found} {exact}");
                }
            }
            // At β = 0 the units are fair coins beside the base.
            let coins = case.log_density(&state, 0.0) - case.base.log_prob(&state);
            assert!((coins - log_base(&case.rbm)).abs() < 1e-12);
        }
    }
}

#[test]
fn another_temperature_needs_nothing_to_get_ready() {
    let case = Unsummed::new(3, 2, 2);
    let steps = |adjusts: bool| {
        let mut chains = case.chains(&[1, 0, 1], &[0.1, 0.1]);
        let mut scratch = LayerGibbs.new_scratch(&case.rbm, 2);
        LayerGibbs.start(&case.rbm, &mut chains, &mut scratch).unwrap();
        for beta in [0.3, 0.7, 1.0] {
            chains.betas = vec![beta, 0.5 * beta];
            if adjusts {
                LayerGibbs.adjust(&case.rbm, &mut chains, &mut scratch).unwrap();
            } else {
                LayerGibbs.start(&case.rbm, &mut chains, &mut scratch).unwrap();
            }
            LayerGibbs.step(&case.rbm, &mut chains, &mut scratch).unwrap();
        }
        (chains.states.clone(), chains.log_prob.clone())
    };
    assert_eq!(steps(true), steps(false));
}
