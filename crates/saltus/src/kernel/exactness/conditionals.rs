//! Samplers that redraw sites from their conditional distributions.

use super::models;
use super::tools::{
    At, DOUBLE, check_bookkeeping, check_reversible, index_of, invariance_error, probabilities,
    transitions, transitions_from,
};
use crate::base::Base;
use crate::kernel::Kernel;
use crate::kernel::block_gibbs::BlockGibbs;
use crate::kernel::conditional::Conditional;
use crate::kernel::gibbs::{Gibbs, Scan};
use crate::kernel::hamming_ball::HammingBall;
use crate::model::fhmm::{Fhmm, FhmmParameters};
use crate::model::independent::Independent;
use crate::model::lattice::Lattice;
use crate::model::pairwise::Pairwise;
use crate::model::{Model, Rung, Sweep, SweptChains};
use crate::rng::{ChainRng, Stream};
use crate::space::Space;
use std::sync::Arc;

#[test]
fn hamming_balls_and_blocks_are_reversible() {
    for (name, model) in &models::all() {
        check_reversible(&format!("block on {name}"), model, &Conditional(BlockGibbs), 1.0, DOUBLE);
        let one = Conditional(Gibbs(Scan::One));
        check_reversible(&format!("one site on {name}"), model, &one, 1.0, DOUBLE);
        if model.space().sites() < 5 {
            check_reversible(
                &format!("ball on {name}"),
                model,
                &Conditional(HammingBall),
                1.0,
                DOUBLE,
            );
        }
    }
}

#[test]
fn gibbs_sweeps_leave_the_distribution_alone() {
    for (name, model) in &models::all() {
        if model.space().sites() < 5 {
            let error = invariance_error(
                &probabilities(model),
                &transitions(model, &Conditional(Gibbs(Scan::Sweep)), |_| 1.0),
            );
            assert!(error < DOUBLE, "gibbs on {name}: {error:e}");
        }
    }
}

/// Where sweeps in vector loops are compared with sweeps site by site.
fn check_vector_sweeps(number: u64, lattice: Lattice, beta: Option<f64>) {
    let field = (0..lattice.sites()).map(|i| (i as f32 * 1.7).sin()).collect();
    let model = Pairwise::ising_lattice(lattice, 0.35, field).unwrap();
    check_sweeps(&format!("{lattice:?}"), number, &model, beta);
}

/// The same on any model that sweeps by itself.
fn check_sweeps<M: Model>(name: &str, number: u64, model: &M, beta: Option<f64>) {
    const SWEEPS: usize = 200_000;
    let space = model.space();
    assert!(sweep_once(model, &mut vec![0; space.sites()], Rung::MODEL).is_some(), "{name}");
    let start: Vec<u8> = (0..space.sites()).map(|site| u8::from(site % 3 == 0)).collect();
    let at = match beta {
        None => At::scale(1.0),
        Some(beta) => At::rung(1.0, beta, &Arc::new(Base::uniform(space))),
    };
    let kernel = Conditional(Gibbs(Scan::Sweep));
    let exact = transitions_from(model, &kernel, &at, &start);
    let mut scratch = kernel.new_scratch(model, 1);
    let mut counts = vec![0.0; exact.len()];
    let rng = ChainRng::new(7, Stream::Chain(number));
    let mut chains = at.chain(model, &start, rng);
    for _ in 0..SWEEPS {
        chains.state_mut(0).copy_from_slice(&start);
        kernel.start(model, &mut chains, &mut scratch).unwrap();
        kernel.step(model, &mut chains, &mut scratch).unwrap();
        check_bookkeeping(model, &start, &chains);
        counts[index_of(space, chains.state(0))] += 1.0;
    }
    for (count, probability) in counts.iter().zip(exact) {
        let expected = SWEEPS as f64 * probability;
        // Some 1,300 counts in all: six deviations are beyond chance.
        let deviation = expected.sqrt().max(1.0);
        let error: f64 = count - expected;
        assert!(error.abs() < 6.0 * deviation, "{name} {beta:?}: {count} {expected}");
    }
}

#[test]
fn sweeps_of_independent_sites_and_hidden_markov_models_follow_the_same_law() {
    let bits = Independent::bernoulli(vec![0.3, -1.2, 0.0, 2.5, -0.4]).unwrap();
    check_sweeps("bits", 30, &bits, None);
    let logs: Vec<f32> = (0..12).map(|i| (i as f32 * 2.3).sin()).collect();
    let values = Independent::categorical(4, &logs).unwrap();
    for (number, beta) in [None, Some(0.37)].into_iter().enumerate() {
        check_sweeps("values", 31 + number as u64, &values, beta);
        for values in [2, 3] {
            let model = Fhmm::simulate(2, 3, values, 5).unwrap().in_order_of_time();
            check_sweeps("hidden chains", (40 + 10 * number + values) as u64, &model, beta);
        }
    }
}

#[test]
fn hidden_markov_models_too_sharp_for_single_precision_are_swept_site_by_site() {
    let sharp = |noise| {
        let parameters = Fhmm::simulate(3, 2, 2, 5).unwrap().parameters().clone();
        let model = Fhmm::new(FhmmParameters { noise, ..parameters }).unwrap();
        sweep_once(&model, &mut [0; 6], Rung::MODEL)
    };
    assert!(sharp(2.0).is_some());
    assert_eq!((sharp(1e-3), sharp(1e-15)), (None, None));
}

#[test]
fn sweeps_in_vector_loops_follow_the_law_of_sweeps_site_by_site() {
    for (number, lattice) in [
        Lattice::free(2, 3).unwrap(),
        Lattice::free(3, 3).unwrap(),
        Lattice::free(1, 7).unwrap(),
        Lattice::periodic(2, 4).unwrap(),
        Lattice::periodic(4, 2).unwrap(),
    ]
    .into_iter()
    .enumerate()
    {
        check_vector_sweeps(number as u64, lattice, None);
    }
    for (number, beta) in [0.0, 0.37, 1.0].into_iter().enumerate() {
        check_vector_sweeps(10 + number as u64, Lattice::free(2, 3).unwrap(), Some(beta));
        check_vector_sweeps(20 + number as u64, Lattice::periodic(2, 4).unwrap(), Some(beta));
    }
}

/// One sweep of one chain by the model itself, if it makes one.
fn sweep_once<M: Model>(model: &M, state: &mut [u8], rung: Rung<'_>) -> Option<Sweep> {
    let (rngs, done) = (&mut [ChainRng::new(7, Stream::Chain(0))], &mut [Sweep::default()]);
    let betas = &[rung.beta];
    let chains = SweptChains { states: state, betas, base: rung.base, rngs, done };
    model.sweep(chains, &mut model.new_cache(1)).then(|| done[0])
}

#[test]
fn sweeps_in_vector_loops_are_for_uniform_bases() {
    let sweep = |lattice: Lattice, base: Option<&Base>| {
        let sites = lattice.sites();
        let model = Pairwise::ising_lattice(lattice, 0.35, vec![0.0; sites]).unwrap();
        sweep_once(&model, &mut vec![0; sites], Rung { beta: 0.5, base })
    };
    assert!(sweep(Lattice::periodic(3, 4).unwrap(), None).is_some());
    let space = Space::new(12, 2).unwrap();
    let even = Lattice::free(3, 4).unwrap();
    assert!(sweep(even, Some(&Base::uniform(&space))).is_some());
    let biased = Base::new(space, vec![0.1; 12]).unwrap();
    for lattice in [even, Lattice::periodic(3, 4).unwrap()] {
        assert_eq!(sweep(lattice, Some(&biased)), None);
    }
}

#[test]
fn a_sweep_without_a_base_is_at_the_model_whatever_its_beta() {
    let model = Pairwise::ising_lattice(Lattice::free(4, 4).unwrap(), 0.6, vec![0.3; 16]).unwrap();
    let sweep = |beta| {
        let mut state = vec![0; 16];
        let swept = sweep_once(&model, &mut state, Rung { beta, base: None });
        (swept.unwrap(), state)
    };
    assert_eq!(sweep(0.0), sweep(1.0));
}
