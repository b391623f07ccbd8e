//! Samplers that change a drawn list of sites.

use super::models::{self, Table};
use super::samplers::{local, path};
use super::tools::{
    ALIKE, BOTH, DOUBLE, SINGLE, all_states, check_reversible, probabilities, transitions,
};
use crate::balancing::Balancing;
use crate::kernel::local_change::LocalChange;
use crate::kernel::metropolis::Metropolis;
use crate::kernel::random_walk::RandomWalk;
use crate::model::Differences;
use crate::model::rbm::Rbm;

#[test]
fn path_samplers_are_reversible() {
    for (name, model) in &models::all() {
        for balancing in Balancing::ALL {
            for differences in BOTH {
                let kernel = Metropolis(path(balancing, differences, ALIKE));
                for radius in [1.0, 1.5, 2.0, 3.0] {
                    let name = format!("path {balancing} on {name}");
                    check_reversible(&name, model, &kernel, radius, DOUBLE);
                }
            }
        }
    }
}

#[test]
fn local_changes_make_the_same_transitions_as_paths_of_one() {
    for (name, model) in &models::all() {
        let differences = Differences::Exact;
        if !LocalChange::suits(model, differences) {
            continue;
        }
        for balancing in Balancing::ALL {
            let local = local(balancing, ALIKE);
            check_reversible(&format!("local change on {name}"), model, &local, 1.0, DOUBLE);
            let local = transitions(model, &local, |_| 1.0);
            let whole = Metropolis(path(balancing, differences, ALIKE));
            let whole = transitions(model, &whole, |_| 1.0);
            let error = local.iter().flatten().zip(whole.iter().flatten());
            let error = error.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            // Whole evaluations hand over differences in single precision.
            assert!(error < SINGLE, "{balancing} on {name}: {error:e}");
        }
    }
}

#[test]
fn lb1_accepts_with_the_ratio_of_normalisers() {
    let model = Table::new(3, 3, false);
    let states = all_states(&model.space);
    let pi = probabilities(&model);
    let neighbours =
        |x: usize, y: usize| states[x].iter().zip(&states[y]).filter(|(a, b)| a != b).count() == 1;
    for balancing in Balancing::ALL {
        let differences = Differences::Exact;
        let p = transitions(&model, &Metropolis(path(balancing, differences, ALIKE)), |_| 1.0);
        let rate = |x: usize, y: usize| balancing.log((pi[y] / pi[x]).ln()).exp();
        let z = |x: usize| -> f64 {
            (0..pi.len()).filter(|y| neighbours(x, *y)).map(|y| rate(x, y)).sum()
        };
        for x in 0..pi.len() {
            for y in (0..pi.len()).filter(|y| neighbours(x, *y)) {
                // One step in four, with three sites, is at the place where there is nothing to change.
                let expected = 0.75 * rate(x, y) / z(x) * (z(x) / z(y)).min(1.0);
                assert!((p[x][y] - expected).abs() < 1e-6, "{balancing}: {} {expected}", p[x][y]);
            }
        }
    }
}

#[test]
fn random_walks_are_reversible() {
    for (name, model) in &models::all() {
        for radius in [1.0, 1.7, 3.0] {
            check_reversible(&format!("walk on {name}"), model, &RandomWalk, radius, DOUBLE);
        }
    }
}

#[test]
fn a_walk_of_many_sites_of_a_dense_model_is_reversible() {
    // Few sites are followed one by one, more than four are evaluated once.
    let weight: Vec<f32> = (0..12).map(|i| (i as f32 * 1.9).sin()).collect();
    let bias: Vec<f32> = (0..6).map(|i| (i as f32 * 0.7).cos()).collect();
    let model = Rbm::new(2, &weight, &[0.2, -0.1], &bias, None).unwrap();
    for radius in [3.0, 4.5, 6.0] {
        // Its weights are rounded, so that inputs of hidden units are exact sums.
        check_reversible("walk on an RBM", &model, &RandomWalk, radius, 1e-8);
    }
}
