//! Factor graphs and polynomials: numbers of values from one to three, hard zeros, evidence, and a path from
//! independent sites.

use super::samplers::{check_sampler, one_of_each, scale_of, tolerance_of, unweighted};
use super::tools::{At, all_states, log_prob_of};
use crate::model::Model;
use crate::model::clamped::Clamped;
use crate::model::erased::Erased;
use crate::model::factor::Factor;
use crate::model::factors::Factors;
use crate::model::one_hot::OneHot;
use crate::model::polynomial::{Polynomial, Variables};
use crate::rng::{ChainRng, Stream};
use crate::sampler::Sampler;
use crate::space::Space;

/// Tables over one to three sites, of which some entries are zero.
fn factors(cardinalities: &[usize], scopes: &[&[u32]], zeros: &[(usize, usize)]) -> Factors {
    let space = Space::mixed(cardinalities).unwrap();
    let factor = |(number, scope): (usize, &&[u32])| {
        let states: usize = scope.iter().map(|site| cardinalities[*site as usize]).product();
        let log = |place: usize| match zeros.contains(&(number, place)) {
            true => f64::NEG_INFINITY,
            false => 1.3 * ((number * 7 + place * place + 2 * place) as f64 * 0.77).sin(),
        };
        Factor::new(*scope, (0..states).map(log).collect::<Vec<_>>()).unwrap()
    };
    let factors: Vec<Factor> = scopes.iter().enumerate().map(factor).collect();
    Factors::new(space, &factors).unwrap()
}

/// Values from one to three; the second table forbids some pairs.
fn mixed() -> Factors {
    let scopes: [&[u32]; 5] = [&[0], &[2, 0], &[0, 1, 3], &[3, 2], &[1, 3]];
    factors(&[3, 1, 2, 2], &scopes, &[(1, 1), (1, 5), (2, 0)])
}

/// Bits of which one cannot flip.
fn bits() -> Factors {
    factors(&[2, 2, 1, 2], &[&[1, 0, 3], &[2, 3], &[0]], &[(0, 3), (0, 4)])
}

fn check(name: &str, model: impl Model + 'static, samplers: &[Sampler]) {
    let model = &Erased::new(model);
    for sampler in samplers {
        let at = At::scale(scale_of(model, sampler));
        check_sampler(name, model, sampler, &at, tolerance_of(model, sampler));
    }
}

#[test]
fn every_sampler_keeps_to_the_tables() {
    check("a factor graph", mixed(), &unweighted());
    check("a factor graph of bits", bits(), &unweighted());
}

#[test]
fn evidence_and_models_without_a_type() {
    let samplers = one_of_each();
    check("given a site", Clamped::new(mixed(), &[(3, 1)]).unwrap(), &samplers);
    let boxed = Clamped::new(Erased::new(mixed()), &[(0, 2)]).unwrap();
    check("given a site, without a type", boxed, &samplers);
    check("bits given one", Clamped::new(Erased::new(bits()), &[(1, 0)]).unwrap(), &samplers);
}

/// Terms of one to four sites, one of which stands alone.
fn polynomial(variables: Variables) -> Polynomial {
    let terms: [(&[u32], f64); 6] = [
        (&[0], 0.4),
        (&[3], -0.7),
        (&[0, 1], 0.5),
        (&[1, 2, 3], -0.9),
        (&[0, 2, 3], 0.6),
        (&[0, 1, 2, 3], 0.8),
    ];
    let terms: Vec<_> = terms.iter().map(|(sites, weight)| (sites.to_vec(), *weight)).collect();
    Polynomial::new(variables, 4, &terms).unwrap()
}

#[test]
fn every_sampler_on_polynomials() {
    check("a polynomial of spins", polynomial(Variables::Spins), &unweighted());
    check("a polynomial of bits", polynomial(Variables::Bits), &one_of_each());
    let given = Clamped::new(polynomial(Variables::Bits), &[(2, 1)]).unwrap();
    check("a polynomial given a site", given, &one_of_each());
    let groups = OneHot::new(polynomial(Variables::Bits), &[vec![0, 3]]).unwrap();
    check("a polynomial with a one-hot group", groups, &one_of_each());
}

/// log π is the sum of the logarithms, whatever the order of sites and tables.
#[test]
fn log_prob_is_the_sum_of_the_tables() {
    for model in [mixed(), bits()] {
        let tables = model.factors().unwrap();
        for state in all_states(model.space()) {
            let known: Vec<Option<u8>> = state.iter().copied().map(Some).collect();
            let entry = |table: &Factor| table.given(model.space(), &known).log_values()[0];
            let expected: f64 = tables.iter().map(entry).sum();
            let found = log_prob_of(&model, &state);
            assert!(found == expected || (found - expected).abs() < 1e-12, "{state:?}");
        }
    }
}

#[test]
fn chains_start_where_they_can() {
    let clamped = Clamped::new(Erased::new(mixed()), &[(0, 2)]).unwrap();
    for seed in 0..20 {
        let mut state = vec![0; clamped.space().sites()];
        clamped.initial_state(&mut ChainRng::new(seed, Stream::Chain(0)), &mut state);
        assert!(log_prob_of(&clamped, &state) > f64::NEG_INFINITY);
    }
}

#[test]
fn the_base_forbids_nothing() {
    let model = factors(&[3, 2], &[&[0], &[1]], &[(0, 1)]);
    let base = model.base();
    assert!(all_states(model.space()).iter().all(|state| base.log_prob(state).is_finite()));
    assert!(base.log_prob(&[1, 0]) < base.log_prob(&[0, 0]));
}
