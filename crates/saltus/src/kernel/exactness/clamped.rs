//! Models with some sites fixed: what is left is the conditional distribution of the whole.

use super::jumps::check_jumps;
use super::models::{Table, fhmm, graph, ising, potts};
use super::samplers::{
    is_reversible, law_of, name_of, one_of_each, scale_of, tolerance_of, unweighted,
};
use super::tools::{ALIKE, At, SINGLE, all_states, check_law, log_prob_of, probabilities};
use crate::balancing::Balancing;
use crate::kernel::jump_process::Jumps;
use crate::math::log_sum_exp;
use crate::model::Model;
use crate::model::clamped::Clamped;
use crate::model::erased::Erased;
use crate::model::rbm::Rbm;
use crate::sampler::Sampler;

/// Whether an inner model is evaluated in double precision throughout.
#[derive(Clone, Copy, PartialEq)]
enum Precision {
    Double,
    Single,
}

/// The conditional distribution of an inner model by enumeration, in the order of the states of the
/// clamped one; and that states are shown whole.
fn conditional<M: Model>(clamped: &Clamped<M>, evidence: &[(usize, u8)]) -> Vec<f64> {
    let inner = clamped.inner();
    let sites = inner.shown_space().sites();
    let of_evidence = |whole: &[u8]| evidence.iter().all(|(site, value)| whole[*site] == *value);
    let mut wholes: Vec<Vec<u8>> = all_states(inner.space());
    wholes.retain(|whole| of_evidence(whole));
    let mut logs = Vec::new();
    for (state, whole) in all_states(clamped.space()).iter().zip(&wholes) {
        let (mut shown, mut expected) = (vec![255; sites], vec![255; sites]);
        clamped.show(state, &mut shown);
        // Both count the free sites in the same order.
        inner.show(whole, &mut expected);
        assert_eq!(shown, expected, "{state:?}");
        logs.push(log_prob_of(inner, whole));
    }
    assert_eq!(logs.len(), wholes.len());
    assert_eq!(clamped.shown_space(), inner.shown_space());
    let total = log_sum_exp(&logs);
    logs.iter().map(|log| (log - total).exp()).collect()
}

fn check_with<M: Model>(
    name: &str,
    inner: M,
    evidence: &[(usize, u8)],
    precision: Precision,
    samplers: &[Sampler],
) {
    let clamped = Clamped::new(inner, evidence).unwrap();
    let pi = conditional(&clamped, evidence);
    for (found, expected) in probabilities(&clamped).iter().zip(&pi) {
        assert!((found - expected).abs() < 1e-12, "{name}");
    }
    for sampler in samplers {
        let law = law_of(&clamped, sampler, &At::scale(scale_of(&clamped, sampler)));
        let tolerance = match precision {
            Precision::Double => tolerance_of(&clamped, sampler),
            Precision::Single => SINGLE,
        };
        let name = format!("{} on clamped {name}", name_of(sampler));
        check_law(&name, &pi, &law, is_reversible(sampler), tolerance);
    }
    let jumps = Jumps { balancing: Balancing::Sqrt, closeness: ALIKE };
    check_jumps(name, &clamped, &jumps, SINGLE);
}

fn check(name: &str, inner: impl Model + 'static, evidence: &[(usize, u8)], precision: Precision) {
    check_with(name, Erased::new(inner), evidence, precision, &one_of_each());
}

#[test]
fn lattices_and_graphs() {
    check("ising", ising(), &[(1, 1), (4, 0)], Precision::Double);
    check("a graph", graph(), &[(2, 1)], Precision::Double);
    check("potts", potts(), &[(1, 2)], Precision::Double);
    check("the end of a path", potts(), &[(0, 0), (0, 0)], Precision::Double);
}

#[test]
fn machines() {
    check("an rbm", Rbm::random(5, 3, 2, 4).unwrap(), &[(0, 1), (3, 0)], Precision::Single);
    check("an rbm of values", Rbm::random(3, 3, 3, 4).unwrap(), &[(1, 2)], Precision::Single);
}

#[test]
fn hidden_markov_models() {
    check("an fhmm", fhmm(2), &[(2, 1)], Precision::Double);
    check("an fhmm of values", fhmm(3), &[(0, 2)], Precision::Double);
}

#[test]
fn two_values_that_are_left_of_more() {
    for table in Table::of_all_kinds(&[2, 4, 1, 2]) {
        assert!(!table.space.is_binary());
        let clamped = Clamped::new(table, &[(1, 3)]).unwrap();
        assert!(clamped.space().is_binary() && !clamped.space().is_uniform());
    }
    for table in Table::of_all_kinds(&[2, 4, 1, 2]) {
        check_with("two of four", table, &[(1, 3)], Precision::Double, &unweighted());
    }
    for table in Table::of_all_kinds(&[2, 3, 2]) {
        check("two of three", table, &[(1, 2)], Precision::Double);
    }
    // Other numbers that are left, and the clamped clamped again.
    for table in Table::of_all_kinds(&[3, 5, 2, 3]) {
        let once = Clamped::new(table, &[(1, 4)]).unwrap();
        check("what is left", once, &[(2, 1)], Precision::Double);
    }
}

#[test]
fn the_base_of_what_is_left_is_that_of_the_whole() {
    let clamped = Clamped::new(Rbm::random(4, 3, 3, 4).unwrap(), &[(1, 2)]).unwrap();
    let (base, whole) = (clamped.base(), clamped.inner().base());
    assert_eq!(base.space(), clamped.space());
    let mut shown = [[0; 4]; 2];
    let states = [[0, 2, 1], [2, 1, 0]];
    for (state, shown) in states.iter().zip(&mut shown) {
        clamped.show(state, shown);
    }
    let apart = base.log_prob(&states[0]) - base.log_prob(&states[1]);
    let expected = whole.log_prob(&shown[0]) - whole.log_prob(&shown[1]);
    assert!((apart - expected).abs() < 1e-6, "{apart} {expected}");
}
