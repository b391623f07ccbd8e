//! Every sampler comes from every state to every other, also if only every second or third step is seen: its
//! law has one eigenvalue of modulus one.

use super::samplers::{law_of, name_of, unweighted};
use super::tools::{At, Matrix, distance};
use crate::base::Base;
use crate::kernel::ScaleUnit;
use crate::model::Model;
use crate::model::erased::Erased;
use crate::model::graph::Edge;
use crate::model::independent::Independent;
use crate::model::pairwise::Pairwise;
use crate::sampler::Sampler;
use std::sync::Arc;

/// Four spins around a ring, in fields.
fn ring() -> Pairwise {
    let edge = |from: u32| Edge { from, to: (from + 1) % 4, weight: 0.8 };
    Pairwise::ising(&[0, 1, 2, 3].map(edge), vec![0.3, -0.2, 0.1, 0.2]).unwrap()
}

fn product(one: &Matrix, other: &Matrix) -> Matrix {
    let entry = |row: &Vec<f64>, y: usize| row.iter().zip(other).map(|(p, to)| p * to[y]).sum();
    one.iter().map(|row| (0..row.len()).map(|y| entry(row, y)).collect()).collect()
}

/// After many steps it is forgotten where a chain began, also of every `thin`-th step alone.
fn check_mixing(name: &str, law: &Matrix) {
    for thin in [1, 2, 3] {
        let thinned = (1..thin).fold(law.clone(), |power, _| product(&power, law));
        // 2¹⁷ draws: an eigenvalue of 0.9998 has then gone to 10⁻¹¹.
        let many = (0..17).fold(thinned, |power, _| product(&power, &power));
        let first = vec![many[0].clone(); many.len()];
        let left = distance(&many, &first);
        assert!(left < 1e-6, "{name}, every step of {thin}: {left}");
    }
}

/// The smallest and the largest scale that can be tuned, the largest that can be set, and numbers of sites of
/// both parities.
fn scales_of<M: Model>(model: &M, sampler: &Sampler) -> Vec<f64> {
    match sampler.traits(model.space()).scale {
        None => vec![1.0],
        Some(scale) if scale.unit == ScaleUnit::Radius => vec![1.0, 2.0, 3.0, 4.0],
        // From the smallest step on that can be seen to move.
        Some(scale) => vec![0.1, scale.tuned.1, scale.allowed.1],
    }
}

fn check_samplers(name: &str, model: impl Model + 'static) {
    let model = &Erased::new(model);
    for sampler in unweighted().into_iter().chain([Sampler::dld()]) {
        for scale in scales_of(model, &sampler) {
            let name = format!("{} on {name}, scale {scale}", name_of(&sampler));
            check_mixing(&name, &law_of(model, &sampler, &At::scale(scale)));
        }
    }
}

#[test]
fn no_sampler_has_a_period_or_leaves_states_out() {
    check_samplers("a ring", ring());
    check_samplers("flat ground", Independent::bernoulli(vec![0.0; 4]).unwrap());
    check_samplers("three values", Independent::categorical(3, &[0.0; 9]).unwrap());
    check_samplers("one site", Independent::bernoulli(vec![0.0]).unwrap());
}

#[test]
fn clusters_have_no_period_where_nothing_binds_them() {
    let model = ring();
    let base = Arc::new(Base::uniform(model.space()));
    for sampler in [Sampler::sw(), Sampler::wolff()] {
        // At the model, and at β = 0, where every cluster is a site.
        for beta in [0.0, 0.5, 1.0] {
            let law = law_of(&model, &sampler, &At::rung(1.0, beta, &base));
            check_mixing(&format!("{} at β = {beta}", name_of(&sampler)), &law);
        }
    }
}

#[test]
fn a_fixed_number_of_flips_would_be_told_apart() {
    // Two of four spins, always: the number of ones stays even.
    let states = 0u32..16;
    let law: Matrix = states
        .clone()
        .map(|x| states.clone().map(|y| f64::from((x ^ y).count_ones() == 2) / 6.0).collect())
        .collect();
    let panicked = std::panic::catch_unwind(|| check_mixing("two of four", &law));
    assert!(panicked.is_err());
}
