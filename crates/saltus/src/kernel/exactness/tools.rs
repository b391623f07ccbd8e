//! The exact law of a step on a tiny model, and what that law must satisfy.

use crate::base::Base;
use crate::closeness::Closeness;
use crate::kernel::{Chains, Kernel};
use crate::math::log_sum_exp;
use crate::model::{Differences, Model};
use crate::rng::script::enumerate;
use crate::rng::{ChainRng, Stream};
use crate::space::{Space, States};
use std::sync::Arc;

pub(super) type Matrix = Vec<Vec<f64>>;

/// Kernels that compute in f64 keep π to this.
pub(super) const DOUBLE: f64 = 1e-10;
/// Rows are kept in f32: half an ulp per entry, a few entries per row.
pub(super) const SINGLE: f64 = 1e-6;

pub(super) const ALIKE: Closeness = Closeness::Equal;
pub(super) const BOTH: [Differences; 2] = [Differences::Taylor, Differences::Exact];

/// The number of a state; the last site runs fastest.
pub(super) fn index_of(space: &Space, state: &[u8]) -> usize {
    let sites = state.iter().enumerate();
    sites.fold(0, |index, (site, value)| index * space.values_at(site) + usize::from(*value))
}

pub(super) fn all_states(space: &Space) -> Vec<Vec<u8>> {
    let count = (0..space.sites()).map(|site| space.values_at(site)).product();
    (0..count)
        .map(|mut index| {
            let mut state = vec![0; space.sites()];
            for (site, value) in state.iter_mut().enumerate().rev() {
                *value = (index % space.values_at(site)) as u8;
                index /= space.values_at(site);
            }
            state
        })
        .collect()
}

pub(super) fn log_prob_of<M: Model>(model: &M, state: &[u8]) -> f64 {
    let mut log_prob = [0.0];
    let states = States::new(state, state.len());
    model.log_prob(states, &mut model.new_cache(1), &mut log_prob).unwrap();
    log_prob[0]
}

/// Where a chain stands: its scale, and its place on the path from a base.
#[derive(Clone, Debug)]
pub(super) struct At {
    pub(super) scale: f64,
    pub(super) beta: f64,
    pub(super) base: Option<Arc<Base>>,
}

impl At {
    /// At the model itself.
    pub(super) fn scale(scale: f64) -> Self {
        Self { scale, beta: 1.0, base: None }
    }

    /// On the path from independent sites.
    pub(super) fn rung(scale: f64, beta: f64, base: &Arc<Base>) -> Self {
        Self { scale, beta, base: Some(base.clone()) }
    }

    /// A chain there.
    pub(super) fn chain<M: Model, Own: Clone + Default>(
        &self,
        model: &M,
        state: &[u8],
        rng: ChainRng,
    ) -> Chains<Own> {
        let mut chains = Chains::new(model.space(), state.to_vec(), vec![rng]);
        if let Some(base) = &self.base {
            chains = chains.on_path_from(base.clone());
        }
        chains.scales.fill(self.scale);
        chains.betas.fill(self.beta);
        chains
    }

    /// p^(1−β) π^β, where π is not zero.
    pub(super) fn density<M: Model>(&self, model: &M) -> Vec<f64> {
        let log_density = |state: &Vec<u8>| match (log_prob_of(model, state), &self.base) {
            (f64::NEG_INFINITY, _) => f64::NEG_INFINITY,
            (log_prob, None) => log_prob,
            (log_prob, Some(base)) => {
                (1.0 - self.beta) * base.log_prob(state) + self.beta * log_prob
            }
        };
        let logs: Vec<f64> = all_states(model.space()).iter().map(log_density).collect();
        let total = log_sum_exp(&logs);
        logs.iter().map(|log| (log - total).exp()).collect()
    }
}

pub(super) fn probabilities<M: Model>(model: &M) -> Vec<f64> {
    At::scale(1.0).density(model)
}

/// The exact law of one step of a kernel from every state; a forbidden one has none.
pub(super) fn transitions<M: Model, K: Kernel<M>>(
    model: &M,
    kernel: &K,
    scale_at: impl Fn(&[u8]) -> f64,
) -> Matrix {
    let states = all_states(model.space());
    states
        .iter()
        .map(|state| transitions_from(model, kernel, &At::scale(scale_at(state)), state))
        .collect()
}

/// The same at one place for all.
pub(super) fn transitions_at<M: Model, K: Kernel<M>>(model: &M, kernel: &K, at: &At) -> Matrix {
    let states = all_states(model.space());
    states.iter().map(|state| transitions_from(model, kernel, at, state)).collect()
}

/// The exact law of one step of a kernel from one state.
pub(super) fn transitions_from<M: Model, K: Kernel<M>>(
    model: &M,
    kernel: &K,
    at: &At,
    state: &[u8],
) -> Vec<f64> {
    law_from(model, kernel, at, state, |kernel, chains, scratch| {
        kernel.start(model, chains, scratch).unwrap();
    })
}

/// The exact law of one step from one state, after the chains were made ready in some way.
pub(super) fn law_from<M: Model, K: Kernel<M>>(
    model: &M,
    kernel: &K,
    at: &At,
    state: &[u8],
    make_ready: impl Fn(&K, &mut Chains<K::Own>, &mut K::Scratch),
) -> Vec<f64> {
    let space = model.space();
    let mut row = vec![0.0; all_states(space).len()];
    if log_prob_of(model, state) == f64::NEG_INFINITY {
        return row;
    }
    let mut scratch = kernel.new_scratch(model, 1);
    enumerate(
        |rng| {
            let script = std::mem::replace(rng, ChainRng::new(0, Stream::Chain(0)));
            let mut chains = at.chain(model, state, script);
            make_ready(kernel, &mut chains, &mut scratch);
            kernel.step(model, &mut chains, &mut scratch).unwrap();
            check_bookkeeping(model, state, &chains);
            let reached = index_of(space, chains.state(0));
            *rng = chains.rngs.remove(0);
            reached
        },
        |reached, probability| row[reached] += probability,
    );
    row
}

/// log π and log p kept along the way are those of the state, and changed sites are counted right.
pub(super) fn check_bookkeeping<M: Model, Own>(model: &M, before: &[u8], after: &Chains<Own>) {
    let state = after.state(0);
    assert!((log_prob_of(model, state) - after.log_prob[0]).abs() < SINGLE);
    if let Some(base) = after.base() {
        assert!((base.log_prob(state) - after.log_base[0]).abs() < SINGLE);
    }
    let changed = before.iter().zip(state).filter(|(a, b)| a != b).count();
    let report = after.reports[0];
    assert_eq!(changed, report.changed as usize);
    assert!(report.evaluations >= 1);
}

/// Largest |(πP)ₓ − πₓ|.
pub(super) fn invariance_error(pi: &[f64], p: &Matrix) -> f64 {
    (0..pi.len())
        .map(|y| (pi.iter().zip(p).map(|(pi, row)| pi * row[y]).sum::<f64>() - pi[y]).abs())
        .fold(0.0, f64::max)
}

/// Largest |πₓPₓᵧ − πᵧPᵧₓ|.
pub(super) fn balance_error(pi: &[f64], p: &Matrix) -> f64 {
    let flow = |x: usize, y: usize| pi[x] * p[x][y];
    let pairs = (0..pi.len()).flat_map(|x| (0..x).map(move |y| (x, y)));
    pairs.map(|(x, y)| (flow(x, y) - flow(y, x)).abs()).fold(0.0, f64::max)
}

/// Largest difference between two laws.
pub(super) fn distance(one: &Matrix, other: &Matrix) -> f64 {
    let entries = one.iter().flatten().zip(other.iter().flatten());
    entries.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Checks that a kernel leaves π as it is and is reversible.
pub(super) fn check_reversible<M: Model, K: Kernel<M>>(
    name: &str,
    model: &M,
    kernel: &K,
    scale: f64,
    tolerance: f64,
) {
    let p = transitions(model, kernel, |_| scale);
    check_law(&format!("{name}, scale {scale}"), &probabilities(model), &p, true, tolerance);
}

/// Checks that a law leaves a distribution as it is, and whether it is reversible.
pub(super) fn check_law(name: &str, pi: &[f64], p: &Matrix, reversible: bool, tolerance: f64) {
    for (_, row) in pi.iter().zip(p).filter(|(pi, _)| **pi > 0.0) {
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{name}: {row:?}");
    }
    let (invariance, balance) = (invariance_error(pi, p), balance_error(pi, p));
    assert!(invariance < tolerance, "{name}: πP ≠ π by {invariance:e}");
    if reversible {
        assert!(balance < tolerance, "{name}: detailed balance off by {balance:e}");
    }
    let moves = p.iter().enumerate().filter(|(x, _)| pi[*x] > 0.0);
    let moves = moves.map(|(x, row)| 1.0 - row[x]).fold(0.0, f64::max);
    assert!(moves > 1e-4, "{name}: never moves, so the test says nothing");
}
