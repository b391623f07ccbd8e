//! The jump process, whose states are weighted.

use super::models;
use super::tools::{
    ALIKE, At, DOUBLE, SINGLE, all_states, balance_error, invariance_error, log_prob_of,
    probabilities, transitions,
};
use crate::balancing::Balancing;
use crate::kernel::Kernel;
use crate::kernel::jump_process::{Jumps, LocalJumps};
use crate::kernel::local_change::LocalChange;
use crate::model::{Differences, Model};
use crate::rng::{ChainRng, Stream};

/// The jump process: where it jumps through, it does in proportion to π over the time it stays.
pub(super) fn check_jumps<M: Model, K: Kernel<M>>(
    name: &str,
    model: &M,
    kernel: &K,
    tolerance: f64,
) {
    let times = all_states(model.space()).into_iter().map(|state| {
        if log_prob_of(model, &state) == f64::NEG_INFINITY {
            return f64::INFINITY;
        }
        let mut scratch = kernel.new_scratch(model, 1);
        let rng = ChainRng::new(0, Stream::Chain(0));
        let mut chains = At::scale(1.0).chain(model, &state, rng);
        kernel.start(model, &mut chains, &mut scratch).unwrap();
        kernel.holding_time(&scratch, 0).unwrap()
    });
    let mut jumped: Vec<f64> = probabilities(model).iter().zip(times).map(|(p, t)| p / t).collect();
    let total: f64 = jumped.iter().sum();
    jumped.iter_mut().for_each(|p| *p /= total);
    let p = transitions(model, kernel, |_| 1.0);
    let (invariance, balance) = (invariance_error(&jumped, &p), balance_error(&jumped, &p));
    assert!(invariance < tolerance, "{name}: the law of the jumps is off by {invariance:e}");
    assert!(balance < tolerance, "{name}: detailed balance of the jumps is off by {balance:e}");
    // Four free sites or fewer, so that the step in N + 1 which is no jump is more than one in 64.
    let rest = 1.0 / (model.space().free_sites() + 1) as f64;
    let stays = |(x, row): (usize, &Vec<f64>)| jumped[x] == 0.0 || (row[x] - rest).abs() < 1e-12;
    assert!(p.iter().enumerate().all(stays), "{name}: a jump changes something");
}

#[test]
fn the_jump_process_counts_states_by_the_time_it_stays() {
    for (name, model) in &models::all() {
        for balancing in Balancing::ALL {
            check_jumps(name, model, &Jumps { balancing, closeness: ALIKE }, SINGLE);
            if LocalChange::suits(model, Differences::Exact) {
                check_jumps(name, model, &LocalJumps { balancing, closeness: ALIKE }, DOUBLE);
            }
        }
    }
}
