//! Swendsen–Wang and Wolff: spins and values, with and without fields, balanced couplings of both signs, factor graphs,
//! and every rung of a path.

use super::models::{ising, potts};
use super::samplers::{check_sampler, law_of};
use super::tools::{At, DOUBLE, Matrix, balance_error, distance, invariance_error, probabilities};
use crate::base::Base;
use crate::kernel::cluster::Clusters;
use crate::kernel::swendsen_wang::SwendsenWang;
use crate::kernel::{Chains, Kernel};
use crate::model::Model;
use crate::model::clamped::Clamped;
use crate::model::erased::Erased;
use crate::model::factor::Factor;
use crate::model::factors::Factors;
use crate::model::graph::Edge;
use crate::model::pairwise::Pairwise;
use crate::rng::{ChainRng, Stream};
use crate::sampler::Sampler;
use crate::space::Space;
use std::sync::Arc;

/// A square with a tail whose couplings have both signs and are all satisfied by some state.
fn balanced(field: [f32; 5]) -> Pairwise {
    let edges = [(0, 1, 0.5), (1, 2, -0.7), (2, 3, 0.4), (3, 0, -0.9), (3, 4, -0.3)];
    let edges = edges.map(|(from, to, weight)| Edge { from, to, weight });
    Pairwise::ising(&edges, field.to_vec()).unwrap()
}

/// Tables over pairs of bits and of values, and a site of one value.
fn tables() -> Factors {
    let space = Space::mixed(&[2, 3, 2, 1, 3]).unwrap();
    let bits = Factor::new([2, 0], [0.3, -0.2, 1.1, 0.4]).unwrap();
    let equal = (0..9).map(|at| 0.1 * f64::from(at % 3) + if at % 4 == 0 { 0.9 } else { 0.0 });
    let values = Factor::new([1, 4], equal.collect::<Vec<_>>()).unwrap();
    let alone = Factor::new([1, 3], [0.2, -0.5, 0.1]).unwrap();
    Factors::new(space, &[bits, values, alone]).unwrap()
}

fn biased(space: &Space) -> Arc<Base> {
    let weights = (0..space.diff_len()).map(|entry| 1.1 * (entry as f32 * 2.3 + 0.7).sin());
    Arc::new(Base::new(space.clone(), weights.collect()).unwrap())
}

fn check(name: &str, model: impl Model + 'static) {
    let model = &Erased::new(model);
    for sampler in [Sampler::sw(), Sampler::wolff()] {
        check_sampler(name, model, &sampler, &At::scale(1.0), DOUBLE);
        for base in [Arc::new(Base::uniform(model.space())), biased(model.space())] {
            for beta in [0.0, 0.37, 1.0] {
                check_sampler(name, model, &sampler, &At::rung(1.0, beta, &base), DOUBLE);
            }
        }
    }
}

#[test]
fn clusters_leave_the_distribution_alone() {
    check("ising with fields", ising());
    check("balanced couplings", balanced([0.0; 5]));
    check("balanced couplings with fields", balanced([0.3, -0.8, 0.0, 0.2, 0.5]));
    check("potts with fields", potts());
    let edges = [(0, 1, 0.6), (1, 2, 0.9), (2, 0, 0.3)];
    let edges = edges.map(|(from, to, weight)| Edge { from, to, weight });
    check("potts", Pairwise::potts(3, &edges, &[0.0; 9]).unwrap());
    check("tables", tables());
    check("a clamped lattice", Clamped::new(ising(), &[(1, 1)]).unwrap());
}

/// The law of a vector loop cannot be enumerated: it must be that of the decisions one by one.
#[test]
fn bonds_of_a_vector_loop_have_the_same_law() {
    const STEPS: usize = 400_000;
    let model = balanced([0.3, -0.8, 0.0, 0.2, 0.5]);
    let law = law_of(&model, &Sampler::sw(), &At::scale(1.0));
    let kernel = SwendsenWang(Clusters::of(&model));
    let start = [1, 0, 0, 1, 0];
    let mut scratch = kernel.new_scratch(&model, 1);
    let mut counts = vec![0.0; law.len()];
    let mut rng = ChainRng::new(5, Stream::Chain(0));
    for _ in 0..STEPS {
        let mut chains: Chains = Chains::new(model.space(), start.to_vec(), vec![rng]);
        kernel.step(&model, &mut chains, &mut scratch).unwrap();
        counts[super::tools::index_of(model.space(), chains.state(0))] += 1.0;
        rng = chains.rngs.remove(0);
    }
    let expected = &law[super::tools::index_of(model.space(), &start)];
    let chi_squared: f64 = (counts.iter().zip(expected))
        .map(|(count, p)| (count - p * STEPS as f64).powi(2) / (p * STEPS as f64))
        .sum();
    // 31 degrees of freedom: 68 is exceeded once in 10⁴.
    assert!(chi_squared < 68.0, "{chi_squared}");
}

/// The same with couplings that are not the model's: bonds of 1 − e^(−J) between spins, where they have to be
/// 1 − e^(−2J).
#[test]
fn wrong_bonds_are_told_apart() {
    let model = balanced([0.0; 5]);
    let halved = {
        let edges = [(0, 1, 0.25), (1, 2, -0.35), (2, 3, 0.2), (3, 0, -0.45), (3, 4, -0.15)];
        let edges = edges.map(|(from, to, weight)| Edge { from, to, weight });
        Pairwise::ising(&edges, vec![0.0; 5]).unwrap()
    };
    for sampler in [Sampler::sw(), Sampler::wolff()] {
        let right = law_of(&model, &sampler, &At::scale(1.0));
        let wrong: Matrix = law_of(&halved, &sampler, &At::scale(1.0));
        let pi = probabilities(&model);
        assert!(invariance_error(&pi, &right) < DOUBLE && balance_error(&pi, &right) < DOUBLE);
        assert!(invariance_error(&pi, &wrong) > 1e-3);
        assert!(distance(&right, &wrong) > 1e-3);
    }
}
