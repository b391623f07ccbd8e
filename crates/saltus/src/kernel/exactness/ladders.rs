//! Tempered ladders, enumerated as one kernel on the product of the spaces of their rungs.

use super::models::Table;
use super::samplers::{law_of, scale_of, tolerance_of};
use super::tools::{At, Matrix, all_states, check_law, invariance_error, log_prob_of};
use crate::base::Base;
use crate::sampler::Sampler;
use crate::temper::{Ensemble, Rungs, Swapped};
use std::sync::Arc;

/// Three rungs: the base, and chains at two inverse temperatures.
const BETAS: [f64; 3] = [0.0, 0.4, 1.0];

fn rungs() -> Rungs {
    Rungs { betas: BETAS.to_vec(), scales: vec![1.0; 3], shifts: vec![0.0; 2] }
}

/// Where a scan leads from states on the rungs, which have explored already, with the base's draw: the
/// states on the two upper rungs and the probability of each, if swaps are decided by `rule`.
fn swaps(
    scan: usize,
    v: [f64; 3],
    states: [usize; 3],
    rule: &dyn Fn(f64) -> f64,
) -> Vec<([usize; 2], f64)> {
    let mut found = Vec::new();
    for decisions in [false, true] {
        let mut ensemble = Ensemble::new(3);
        // An idle scan turns to the odd pairs.
        (0..scan).for_each(|_| {
            ensemble.swap(&rungs(), &mut [0.0; 3], |_, _| false);
        });
        let mut probability = 1.0;
        let swapped = ensemble.swap(&rungs(), &mut v.clone(), |_, asked| {
            let accepted = rule(asked);
            probability *= if decisions { accepted } else { 1.0 - accepted };
            decisions
        });
        let mut on_chain = [states[1], states[2]];
        if swapped == Swapped::Refreshed {
            on_chain[ensemble.chain_at[0] as usize] = states[0];
        }
        let after = [0, 1].map(|below| on_chain[ensemble.chain_at[below] as usize]);
        found.push((after, probability));
    }
    found
}

/// The law of a scan on the states of the two upper rungs, and what it must keep.
fn scan_law(
    table: &Table,
    base: &Arc<Base>,
    sampler: &Sampler,
    scan: usize,
    rule: &dyn Fn(f64) -> f64,
) -> (Vec<f64>, Matrix) {
    let states = all_states(&table.space);
    let count = states.len();
    let at = [1, 2].map(|rung| At::rung(scale_of(table, sampler), BETAS[rung], base));
    let explore = at.each_ref().map(|at| law_of(table, sampler, at));
    let density = at.each_ref().map(|at| at.density(table));
    let of_base: Vec<f64> = states.iter().map(|state| base.log_prob(state).exp()).collect();
    let v: Vec<f64> =
        states.iter().map(|state| log_prob_of(table, state) - base.log_prob(state)).collect();
    let mut law = vec![vec![0.0; count * count]; count * count];
    let pairs = || (0..count).flat_map(|one| (0..count).map(move |other| (one, other)));
    for (one, other) in pairs() {
        // A scan from a pair is the exploration of both and then the swaps; the latter are mixed below.
        for (x, y) in pairs() {
            let explored = explore[0][one][x] * explore[1][other][y];
            if explored == 0.0 {
                continue;
            }
            for (drawn, drawn_with) in of_base.iter().enumerate() {
                for (after, swapped) in swaps(scan, [v[drawn], v[x], v[y]], [drawn, x, y], rule) {
                    law[one * count + other][after[0] * count + after[1]] +=
                        explored * drawn_with * swapped;
                }
            }
        }
    }
    let pi = pairs().map(|(one, other)| density[0][one] * density[1][other]).collect();
    (pi, law)
}

fn base_of(table: &Table) -> Arc<Base> {
    let weights = (0..table.space.diff_len()).map(|entry| 0.8 * (entry as f32 * 1.7 + 0.3).sin());
    Arc::new(Base::new(table.space.clone(), weights.collect()).unwrap())
}

#[test]
fn a_ladder_keeps_the_product_of_its_rungs() {
    let forbidden: [&[u8]; 1] = [&[1, 0]];
    let holes = Table::of_all_kinds(&[2, 2]).map(|table| table.without(&forbidden));
    for table in Table::of_all_kinds(&[2, 2]).into_iter().chain(holes) {
        let base = base_of(&table);
        for sampler in [Sampler::gibbs(), Sampler::rwm(), Sampler::dlmc()] {
            for scan in [0, 1] {
                let (pi, law) = scan_law(&table, &base, &sampler, scan, &|asked| asked);
                let name = format!("{sampler}, scan {scan}");
                check_law(&name, &pi, &law, false, tolerance_of(&table, &sampler));
            }
        }
    }
}

#[test]
fn wrong_swap_rules_are_found() {
    let table = Table::of_all_kinds(&[2, 2]).into_iter().next().unwrap();
    let base = base_of(&table);
    let wrong: [(&str, &dyn Fn(f64) -> f64); 3] = [
        ("always", &|_| 1.0),
        ("twice as far", &|asked| asked * asked),
        ("half as far", &|asked| asked.sqrt()),
    ];
    for (name, rule) in wrong {
        for scan in [0, 1] {
            let (pi, law) = scan_law(&table, &base, &Sampler::gibbs(), scan, rule);
            let error = invariance_error(&pi, &law);
            assert!(error > 1e-3, "{name}, scan {scan}: {error:e}");
        }
    }
}
