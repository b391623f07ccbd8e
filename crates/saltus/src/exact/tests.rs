//! Both ways against each other and against formulas.

use super::*;
use crate::model::clamped::Clamped;
use crate::model::erased::Erased;
use crate::model::factor::Factor;
use crate::model::factors::Factors;
use crate::model::fixed_sum::{FixedSum, FixedSums};
use crate::model::lattice::Lattice;
use crate::model::one_hot::OneHot;
use crate::model::pairwise::Pairwise;
use crate::rng::Stream;
use crate::space::States;
use proptest::prelude::*;

/// Tables over random sites, with zeros, none of which forbids the state of zeros.
fn random_factors(seed: u64, cardinalities: &[usize], count: usize) -> Factors {
    let space = Space::mixed(cardinalities).unwrap();
    let mut rng = ChainRng::new(seed, Stream::Model);
    let factors: Vec<Factor> = (0..count)
        .map(|_| {
            let mut scope = vec![0; 1 + rng.below(3.min(cardinalities.len()))];
            rng.distinct(cardinalities.len(), &mut scope);
            let states: usize = scope.iter().map(|site| cardinalities[*site as usize]).product();
            let entry = |place: usize| {
                if place > 0 && rng.uniform() < 0.2 {
                    0.0
                } else {
                    (4.0 * rng.uniform() - 2.0).exp()
                }
            };
            let table: Vec<f64> = (0..states).map(entry).collect();
            Factor::from_potentials(&scope, &table).unwrap()
        })
        .collect();
    Factors::new(space, &factors).unwrap()
}

fn both<M: Model>(model: &M) -> [Answer; 2] {
    let factors = model.factors().unwrap();
    let order =
        order(model.space(), &factors, MOST_ENTRIES).unwrap_or_else(|_| panic!("too large"));
    let eliminated = Eliminated::new(model.space(), factors, order).unwrap().1;
    [Listed::new(model, states(model.space()).unwrap(), 1.0).unwrap().1, eliminated]
}

fn agree<M: Model>(model: &M) {
    let [one, other] = both(model);
    assert!((one.log_z - other.log_z).abs() < 1e-10, "{} {}", one.log_z, other.log_z);
    assert!((one.map_log_prob - other.map_log_prob).abs() < 1e-10);
    let pairs = one.marginals.iter().flatten().zip(other.marginals.iter().flatten());
    for (one, other) in pairs {
        assert!((one - other).abs() < 1e-11, "{one} {other}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn elimination_agrees_with_listing(
        seed in 0u64..1000, cardinalities in prop::collection::vec(1usize..5, 2..7), count in 1usize..14
    ) {
        prop_assume!(cardinalities.iter().any(|values| *values > 1));
        let model = random_factors(seed, &cardinalities, count);
        agree(&model);
        if cardinalities.iter().filter(|values| **values > 1).count() > 1 {
            let first = cardinalities.iter().position(|values| *values > 1).unwrap();
            agree(&Clamped::new(model, &[(first, 0)]).unwrap());
        }
    }
}

#[test]
fn lattices_are_eliminated() {
    let field: Vec<f32> = (0..12).map(|site| (site as f32).sin()).collect();
    agree(&Pairwise::ising_lattice(Lattice::periodic(3, 4).unwrap(), 0.7, field).unwrap());
    let field: Vec<f32> = (0..18).map(|site| (site as f32).cos()).collect();
    agree(&Pairwise::potts_lattice(Lattice::free(2, 3).unwrap(), 3, 0.7, &field).unwrap());
    let field: Vec<f32> = (0..12).map(|site| (site as f32).cos()).collect();
    agree(&Pairwise::potts_lattice(Lattice::free(2, 3).unwrap(), 2, 0.7, &field).unwrap());
}

#[test]
fn draws_have_the_probabilities_of_the_marginals() {
    let model = random_factors(3, &[3, 2, 4, 2, 3, 2, 3, 4, 2, 3], 18);
    for exact in [Exact::new(&model).unwrap(), listed(&model)] {
        let mut rng = ChainRng::new(1, Stream::Reference);
        let count = 20_000;
        let mut sums: Vec<Vec<f64>> =
            exact.marginals().iter().map(|one| vec![0.0; one.len()]).collect();
        for _ in 0..count {
            for (sums, value) in sums.iter_mut().zip(exact.draw(&mut rng)) {
                sums[usize::from(value)] += 1.0;
            }
        }
        for (found, expected) in sums.iter().flatten().zip(exact.marginals().iter().flatten()) {
            let error = (expected * (1.0 - expected).max(0.0) / f64::from(count)).sqrt() + 1e-12;
            assert!(
                (found / f64::from(count) - expected).abs() <= 5.0 * error,
                "{found} {expected}"
            );
        }
    }
}

/// By listing, where elimination would be chosen.
fn listed<M: Model>(model: &M) -> Exact {
    let (listed, answer) = Listed::new(model, states(model.space()).unwrap(), 1.0).unwrap();
    let Answer { log_z, marginals, map, map_log_prob } = answer;
    let (view, sites) = (View::new(model), model.space().sites());
    Exact { found: Found::Listed(listed), log_z, marginals, map, map_log_prob, view, sites }
}

#[test]
fn what_is_fixed_is_certain() {
    let model = random_factors(5, &[2, 1, 3, 2], 6);
    let exact = Exact::new(&Clamped::new(model, &[(2, 0)]).unwrap()).unwrap();
    assert_eq!(exact.marginals()[2], [1.0, 0.0, 0.0]);
    assert_eq!(exact.marginals()[1], [1.0]);
    assert_eq!((exact.map().len(), exact.map()[2]), (4, 0));
}

#[test]
fn what_is_too_large_is_refused_and_what_is_impossible_said() {
    let field = vec![0.0; 60 * 60];
    let large = Pairwise::ising_lattice(Lattice::periodic(60, 60).unwrap(), 0.4, field).unwrap();
    assert_eq!(way(&large), None);
    assert!(Exact::new(&large).err().unwrap().to_string().contains("too many states to list"));
    let never = Factor::from_potentials(&[0], &[0.0, 0.0]).unwrap();
    let space = Space::new(30, 2).unwrap();
    let impossible = Factors::new(space, std::slice::from_ref(&never)).unwrap();
    assert_eq!(Exact::new(&impossible).err(), Some(ExactError::Impossible));
    let few = Factors::new(Space::new(3, 2).unwrap(), &[never]).unwrap();
    assert_eq!(Exact::new(&few).err(), Some(ExactError::Impossible));
}

/// Marginals of bits, sums and draws are those of the states that keep the constraint, added up one by one.
#[test]
fn groups_and_sums_are_shown_as_they_are() {
    let whole = Erased::new(random_factors(5, &[2, 2, 3, 2, 2], 7));
    let grouped = OneHot::new(whole.clone(), &[vec![0, 3, 4]]).unwrap();
    let sum = FixedSum { total: 2, sites: vec![1, 2] };
    for (model, keeps) in [
        (Erased::new(grouped), (|x| x[0] + x[3] + x[4] == 1) as fn(&[u8]) -> bool),
        (Erased::new(FixedSums::new(whole.clone(), &[sum]).unwrap()), |x| x[1] + x[2] == 2),
    ] {
        let exact = Exact::new(&model).unwrap();
        let space = whole.space();
        let mut marginals: Vec<Vec<f64>> =
            (0..5).map(|site| vec![0.0; space.values_at(site)]).collect();
        let mut z = 0.0;
        for number in 0..48 {
            let strides = [24, 12, 4, 2, 1];
            let state: Vec<u8> =
                (0..5).map(|site| (number / strides[site] % space.values_at(site)) as u8).collect();
            let mut log_prob = [0.0];
            let states = States::new(&state, 5);
            whole.log_prob(states, &mut whole.new_cache(1), &mut log_prob).unwrap();
            if keeps(&state) {
                z += log_prob[0].exp();
                let sites = marginals.iter_mut().zip(&state);
                sites.for_each(|(sum, value)| sum[usize::from(*value)] += log_prob[0].exp());
            }
        }
        assert!((exact.log_z() - z.ln()).abs() < 1e-12);
        for (found, sum) in exact.marginals().iter().flatten().zip(marginals.iter().flatten()) {
            assert!((found - sum / z).abs() < 1e-12, "{found} {}", sum / z);
        }
        let mut rng = ChainRng::new(1, Stream::Reference);
        assert!((0..200).all(|_| keeps(&exact.draw(&mut rng))) && keeps(exact.map()));
    }
}
