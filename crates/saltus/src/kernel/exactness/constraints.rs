//! One-hot groups and fixed sums: what is left is the distribution of the whole given the constraint.

use super::models::{Table, graph};
use super::samplers::{check_sampler, law_of, one_of_each, scale_of, tolerance_of};
use super::tools::{At, DOUBLE, SINGLE, all_states, check_law, log_prob_of, probabilities};
use crate::base::Base;
use crate::kernel::gibbs::Scan;
use crate::model::clamped::Clamped;
use crate::model::erased::Erased;
use crate::model::factor::Factor;
use crate::model::factors::Factors;
use crate::model::fixed_sum::{FixedSum, FixedSums};
use crate::model::one_hot::OneHot;
use crate::model::rbm::Rbm;
use crate::model::{Differences, Model};
use crate::rng::{ChainRng, Stream};
use crate::sampler::{Method, Sampler};
use crate::space::{Space, States};
use std::sync::Arc;

/// Checks states, log π, differences and starts of a constrained model against the whole one.
fn check_whole<M: Model, W: Model>(model: &M, whole: &W, keeps: impl Fn(&[u8]) -> bool) {
    let space = model.space();
    let mut reached = 0;
    for state in all_states(space) {
        let mut shown = vec![9; whole.space().sites()];
        model.show(&state, &mut shown);
        let found = log_prob_of(model, &state);
        if !keeps(&shown) {
            assert_eq!(found, f64::NEG_INFINITY, "{shown:?}");
            continue;
        }
        reached += 1;
        let expected = log_prob_of(whole, &shown);
        assert!(found == expected || (found - expected).abs() < 1e-9, "{shown:?}");
        if found > f64::NEG_INFINITY {
            check_differences(model, &state);
        }
    }
    assert_eq!(reached, all_states(whole.space()).iter().filter(|state| keeps(state)).count());
    for seed in 0..30 {
        let mut state = vec![0; space.sites()];
        model.initial_state(&mut ChainRng::new(seed, Stream::Chain(0)), &mut state);
        assert!(log_prob_of(model, &state) > f64::NEG_INFINITY, "{state:?}");
    }
}

/// True differences of all sites at once, and of each site followed, are those of log π.
fn check_differences<M: Model>(model: &M, state: &[u8]) {
    let (space, sites) = (model.space(), state.len());
    let (mut cache, mut here) = (model.new_cache(1), [0.0]);
    let mut diff = vec![0.0f32; space.diff_len()];
    let states = States::new(state, sites);
    let exact = Differences::Exact;
    model.log_prob_and_diff(exact, states, &mut cache, &mut here, &mut diff).unwrap();
    model.follow(state, 0, &mut cache).unwrap();
    for site in 0..sites {
        let mut followed = vec![9.0; space.values_at(site)];
        model.site_diff(state, 0, &mut cache, site, &mut followed).unwrap();
        for (value, followed) in followed.iter().enumerate() {
            let mut changed = state.to_vec();
            changed[site] = value as u8;
            let expected = log_prob_of(model, &changed) - here[0];
            let close = |found: f64| found == expected || (found - expected).abs() < SINGLE;
            assert!(close(*followed), "{state:?} {site} {value}: {followed} {expected}");
            if value != usize::from(state[site]) {
                let plane = if space.is_binary() { 0 } else { value };
                assert!(close(f64::from(diff[plane * sites + site])), "{state:?} {site} {value}");
            }
        }
    }
}

fn check_samplers(name: &str, model: impl Model + 'static, samplers: &[Sampler], single: bool) {
    let model = &Erased::new(model);
    for sampler in samplers {
        let at = At::scale(scale_of(model, sampler));
        let tolerance = if single { SINGLE } else { tolerance_of(model, sampler) };
        check_sampler(name, model, sampler, &at, tolerance);
    }
}

/// How many of some sites are 1.
fn ones(state: &[u8], sites: &[usize]) -> usize {
    sites.iter().map(|site| usize::from(state[*site])).sum()
}

/// Bits in two groups and one alone, with zeros: some within a group's own constraint.
fn with_zeros() -> Factors {
    let zero = f64::NEG_INFINITY;
    let factor = |scope: &[u32], logs: &[f64]| Factor::new(scope, logs).unwrap();
    let factors = [
        // Not both, and not none: the group's constraint said once more.
        factor(&[0, 3], &[zero, 0.4, -0.3, zero]),
        factor(&[1, 4, 2], &[0.1, 0.7, zero, 0.2, -0.5, 0.9, 0.3, zero]),
        factor(&[3, 1], &[0.3, -0.8, 0.2, 0.6]),
        factor(&[2], &[0.2, -0.1]),
    ];
    Factors::new(Space::new(5, 2).unwrap(), &factors).unwrap()
}

#[test]
fn one_hot_groups_of_every_kind_of_model() {
    let samplers = one_of_each();
    for table in Table::of_all_kinds(&[2, 3, 2, 2, 2]).map(Erased::new) {
        let model = OneHot::new(table.clone(), &[vec![4, 0, 2]]).unwrap();
        assert_eq!(model.space().sites(), 3);
        check_whole(&model, &table, |state| ones(state, &[0, 2, 4]) == 1);
        check_samplers("a group in a table", model, &samplers, false);
    }
    // Two groups of two: a space of flips.
    let whole = Erased::new(graph());
    let model = OneHot::new(whole.clone(), &[vec![0, 1], vec![2, 3]]).unwrap();
    assert!(model.space().is_binary() && model.adjacency().is_some());
    check_whole(&model, &whole, |state| ones(state, &[0, 1]) == 1 && ones(state, &[2, 3]) == 1);
    check_samplers("groups on a graph", model, &samplers, false);
    let whole = Erased::new(Rbm::random(5, 3, 2, 4).unwrap());
    let model = OneHot::new(whole.clone(), &[vec![1, 2, 4]]).unwrap();
    check_whole(&model, &whole, |state| ones(state, &[1, 2, 4]) == 1);
    check_samplers("a group in a machine", model, &samplers, true);
}

#[test]
fn one_hot_groups_and_hard_zeros() {
    let whole = Erased::new(with_zeros());
    let model = OneHot::new(whole.clone(), &[vec![0, 3], vec![1, 4]]).unwrap();
    let keeps = |state: &[u8]| ones(state, &[0, 3]) == 1 && ones(state, &[1, 4]) == 1;
    check_whole(&model, &whole, keeps);
    // As tables it is the same model.
    let tables = Factors::new(model.space().clone(), &model.factors().unwrap()).unwrap();
    for state in all_states(model.space()) {
        let (found, expected) = (log_prob_of(&tables, &state), log_prob_of(&model, &state));
        assert!(found == expected || (found - expected).abs() < 1e-12, "{state:?}");
    }
    check_samplers("groups and zeros", model, &one_of_each(), false);
}

fn sum(total: usize, sites: &[u32]) -> FixedSum {
    FixedSum { total, sites: sites.to_vec() }
}

/// Samplers that change two sites at once.
fn of_pairs() -> Vec<Sampler> {
    let scans = [Scan::Sweep, Scan::One].map(|scan| Sampler { scan, ..Sampler::gibbs() });
    scans.into_iter().chain([Sampler::bg(), Sampler::hb()]).collect()
}

#[test]
fn fixed_sums_of_every_kind_of_model() {
    for table in Table::of_all_kinds(&[2, 2, 3, 2]).map(Erased::new) {
        let model = FixedSums::new(table.clone(), &[sum(1, &[0, 1, 3])]).unwrap();
        check_whole(&model, &table, |state| ones(state, &[0, 1, 3]) == 1);
        check_samplers("ones in a table", model, &of_pairs(), false);
        let model = FixedSums::new(table.clone(), &[sum(2, &[2, 0, 3])]).unwrap();
        check_whole(&model, &table, |state| ones(state, &[0, 2, 3]) == 2);
        check_samplers("values in a table", model, &of_pairs(), false);
    }
    let whole = Erased::new(graph());
    let model = FixedSums::new(whole.clone(), &[sum(1, &[0, 2]), sum(1, &[1, 3])]).unwrap();
    check_whole(&model, &whole, |state| ones(state, &[0, 2]) == 1 && ones(state, &[1, 3]) == 1);
    check_samplers("two sums on a graph", model, &of_pairs(), false);
    let whole = Erased::new(Rbm::random(4, 3, 2, 4).unwrap());
    let model = FixedSums::new(whole.clone(), &[sum(2, &[0, 1, 2, 3])]).unwrap();
    check_whole(&model, &whole, |state| ones(state, &[0, 1, 2, 3]) == 2);
    check_samplers("ones in a machine", model, &of_pairs(), true);
}

#[test]
fn fixed_sums_and_hard_zeros() {
    let whole = Erased::new(with_zeros());
    let model = FixedSums::new(whole.clone(), &[sum(2, &[0, 1, 3, 4])]).unwrap();
    check_whole(&model, &whole, |state| ones(state, &[0, 1, 3, 4]) == 2);
    check_samplers("a sum and zeros", model, &of_pairs(), false);
}

#[test]
fn fixed_sums_on_a_path_from_independent_sites() {
    let table = Erased::new(Table::mixed(&[2, 2, 2, 2], true));
    let model = FixedSums::new(table.clone(), &[sum(2, &[0, 1, 2, 3])]).unwrap();
    let base = Base::new(model.space().clone(), vec![0.4, -0.9, 0.2, 1.1]).unwrap();
    let base = Arc::new(base);
    for beta in [0.0, 0.4, 1.0] {
        let at = At::rung(1.0, beta, &base);
        check_sampler("a sum", &model, &Sampler::gibbs(), &at, DOUBLE);
    }
}

#[test]
fn groups_sums_and_evidence_together() {
    let whole = Erased::new(Table::mixed(&[2, 2, 2, 2, 2, 2], true));
    let clamped = Clamped::new(whole.clone(), &[(2, 1)]).unwrap();
    // Sites 0, 1, 3, 4, 5 are left.
    let grouped = OneHot::new(clamped, &[vec![0, 2]]).unwrap();
    // The group, then sites 1, 4, 5.
    let model = FixedSums::new(grouped, &[sum(1, &[1, 2, 3])]).unwrap();
    let keeps =
        |state: &[u8]| state[2] == 1 && ones(state, &[0, 3]) == 1 && ones(state, &[1, 4, 5]) == 1;
    check_whole(&model, &whole, keeps);
    check_samplers("all of it", model, &of_pairs(), false);
}

/// A sampler that cannot change two sites at once says so, and so does a path of temperatures.
#[test]
fn samplers_of_single_sites_are_refused() {
    let table = Erased::new(Table::mixed(&[2, 2, 2], true));
    let model = FixedSums::new(table.clone(), &[sum(1, &[0, 1, 2])]).unwrap();
    for method in Method::ALL {
        let moves = [Method::Gibbs, Method::Bg, Method::Hb].contains(method);
        assert_eq!(Sampler::new(*method).suits(&model).is_ok(), moves, "{method}");
        // A table has neither couplings nor layers.
        assert_eq!(Sampler::new(*method).suits(&table).is_ok(), method.is_general(), "{method}");
    }
}

/// Pairs that are drawn from the wrong distribution are told apart by the law alone.
#[test]
fn the_law_of_exchanges_is_that_of_pairs_given_their_sum() {
    let table = Erased::new(Table::mixed(&[2, 2, 2], true));
    let model = FixedSums::new(table.clone(), &[sum(1, &[0, 1, 2])]).unwrap();
    let p = law_of(&model, &Sampler { scan: Scan::One, ..Sampler::gibbs() }, &At::scale(1.0));
    let pi = probabilities(&model);
    // From a state with its one at site i, a pair that holds i is chosen with probability 2/3, either way
    // round; the other end is equally likely to be any other site.
    let states = all_states(model.space());
    let places: Vec<usize> = (0..states.len()).filter(|at| pi[*at] > 0.0).collect();
    for x in &places {
        for y in places.iter().filter(|y| *y != x) {
            let expected = pi[*y] / (pi[*x] + pi[*y]) / 3.0;
            assert!((p[*x][*y] - expected).abs() < 1e-12, "{} {expected}", p[*x][*y]);
        }
    }
    check_law("pairs", &pi, &p, true, 1e-12);
}
