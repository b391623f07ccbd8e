//! Sweeps that models make themselves, of many chains at once: the law of every chain is that of redrawing
//! site after site, whatever its temperature and its company.

use super::tools::{SINGLE, all_states, index_of, log_prob_of};
use crate::base::Base;
use crate::kernel::conditional::Conditional;
use crate::kernel::gibbs::{Gibbs, Scan};
use crate::kernel::{Chains, Kernel};
use crate::model::dense::DenseSpins;
use crate::model::factor::Factor;
use crate::model::factors::Factors;
use crate::model::graph::{Edge, Graph};
use crate::model::lattice::Lattice;
use crate::model::pairwise::Pairwise;
use crate::model::sweeper::Sweeper;
use crate::model::{Model, Rung};
use crate::rng::{ChainRng, Stream};
use crate::space::Space;
use std::sync::Arc;

/// Inverse temperatures of the chains, in turn.
const BETAS: [f64; 3] = [1.0, 0.37, 0.0];
/// More than one group of lanes, the last not full.
const CHAINS: usize = 21;
const SWEEPS: usize = 4000;

/// The law of redrawing sites one after the other, from log π alone.
fn law<M: Model>(model: &M, base: &Base, order: &[u32], beta: f64, start: &[u8]) -> Vec<f64> {
    let space = model.space();
    let states = all_states(space);
    let log = |state: &Vec<u8>| match log_prob_of(model, state) {
        // What the model forbids is forbidden at β = 0, too.
        f64::NEG_INFINITY => f64::NEG_INFINITY,
        log_prob => Rung { beta, base: Some(base) }.mix(log_prob, base.log_prob(state)),
    };
    let logs: Vec<f64> = states.iter().map(log).collect();
    let mut law = vec![0.0; states.len()];
    law[index_of(space, start)] = 1.0;
    for site in order {
        let site = *site as usize;
        let mut next = vec![0.0; states.len()];
        for (state, probability) in states.iter().zip(&law).filter(|(_, p)| **p > 0.0) {
            let with = |value: usize| {
                let mut changed = state.clone();
                changed[site] = value as u8;
                index_of(space, &changed)
            };
            let values = 0..space.values_at(site);
            let total: f64 = values.clone().map(|value| logs[with(value)].exp()).sum();
            for value in values {
                next[with(value)] += probability * logs[with(value)].exp() / total;
            }
        }
        law = next;
    }
    law
}

/// Compares frequencies after one sweep of a block of chains with the law, temperature by temperature.
fn check<M: Model>(name: &str, model: &M, order: &[u32]) {
    check_from(name, model, Base::uniform(model.space()), order);
}

/// The same on the path from a base.
fn check_from<M: Model>(name: &str, model: &M, base: Base, order: &[u32]) {
    let space = model.space();
    let kernel = Conditional(Gibbs(Scan::Sweep));
    let start: Vec<u8> =
        (0..space.sites()).map(|site| (site * 5 % 3 % space.values_at(site)) as u8).collect();
    let stream = |chain| ChainRng::new(7, Stream::Chain(chain as u64));
    let mut chains: Chains =
        Chains::new(space, start.repeat(CHAINS), (0..CHAINS).map(stream).collect())
            .on_path_from(Arc::new(base.clone()));
    let betas = (0..CHAINS).map(|chain| BETAS[chain % 3]);
    chains.betas = betas.collect();
    let mut scratch = kernel.new_scratch(model, CHAINS);
    let laws = BETAS.map(|beta| law(model, &base, order, beta, &start));
    let mut counts = laws.clone().map(|law| vec![0.0; law.len()]);
    for _ in 0..SWEEPS {
        chains.states.copy_from_slice(&start.repeat(CHAINS));
        kernel.start(model, &mut chains, &mut scratch).unwrap();
        kernel.step(model, &mut chains, &mut scratch).unwrap();
        for chain in 0..CHAINS {
            let state = chains.state(chain);
            counts[chain % 3][index_of(space, state)] += 1.0;
            let error = (log_prob_of(model, state) - chains.log_prob[chain]).abs();
            assert!(error < SINGLE, "{name}: log π is off by {error:e}");
            let changed = state.iter().zip(&start).filter(|(a, b)| a != b).count();
            assert_eq!(chains.reports[chain].changed as usize, changed, "{name}");
        }
    }
    let draws = (SWEEPS * CHAINS / 3) as f64;
    for ((law, counts), beta) in laws.iter().zip(&counts).zip(BETAS) {
        for (probability, count) in law.iter().zip(counts) {
            let expected = draws * probability;
            let deviation = expected.sqrt().max(1.0);
            assert!(
                (count - expected).abs() < 6.0 * deviation,
                "{name} {beta}: {count} {expected}"
            );
        }
    }
}

fn edge(from: u32, to: u32, weight: f32) -> Edge {
    Edge { from, to, weight }
}

/// A triangle with a tail and a doubled edge.
fn edges(unit: f32) -> Vec<Edge> {
    [(0, 1, 1.0), (1, 2, -2.0), (0, 2, 1.0), (2, 3, 1.0), (3, 4, -1.0), (3, 4, -1.0)]
        .map(|(from, to, weight)| edge(from, to, unit * weight))
        .to_vec()
}

fn by_colours<M: Model>(model: &M) -> Vec<u32> {
    model.adjacency().unwrap().colours().concat()
}

#[test]
fn spins_on_any_graph_in_lanes() {
    let uneven: Vec<Edge> = edges(0.3).iter().map(|e| edge(e.from, e.to, e.weight.sin())).collect();
    let field = vec![0.2, -0.5, 0.0, 0.7, 0.1];
    for (name, model) in [
        ("multiples", Pairwise::ising(&edges(0.4), vec![0.0; 5]).unwrap()),
        ("multiples and fields", Pairwise::ising(&edges(0.4), field.clone()).unwrap()),
        ("any weights", Pairwise::ising(&uneven, field).unwrap()),
        ("alone", Pairwise::ising(&[], vec![0.3, -0.2]).unwrap()),
        ("two Potts values", Pairwise::potts(2, &edges(0.4), &[0.1; 10]).unwrap()),
    ] {
        assert_eq!(model.sweep_block_size(100), 16, "{name}");
        check(name, &model, &by_colours(&model));
    }
    // A torus of odd sides has no checkerboard.
    let torus =
        Pairwise::ising_lattice(Lattice::periodic(3, 3).unwrap(), 0.3, vec![0.1; 9]).unwrap();
    check("odd torus", &torus, &by_colours(&torus));
}

#[test]
fn potts_values_on_any_graph_in_lanes() {
    let field: Vec<f32> = (0..15).map(|i| (i as f32 * 1.3).sin()).collect();
    let model = Pairwise::potts(3, &edges(0.4), &field).unwrap();
    check("three values", &model, &by_colours(&model));
    let lattice = Lattice::free(2, 2).unwrap();
    let model = Pairwise::potts_lattice(lattice, 4, 0.6, &[0.0; 16]).unwrap();
    check("four values on a lattice", &model, &by_colours(&model));
}

#[test]
fn spins_with_followed_fields() {
    let field = vec![0.2, -0.5, 0.0, 0.7, 0.1];
    let edges = edges(0.37);
    let graph = Graph::new(5, &edges).unwrap();
    let sweeper = Sweeper::Dense(DenseSpins::new(&graph, &field));
    let model = Pairwise::ising(&edges, field).unwrap().swept_by(sweeper);
    check("dense", &model, &by_colours(&model));
}

/// Tables over single sites and pairs, with zeros that forbid nothing of the state that sweeps start from.
fn tables(cardinalities: &[usize], zeros: &[(usize, usize)]) -> Factors {
    let space = Space::mixed(cardinalities).unwrap();
    let scopes: [&[u32]; 7] = [&[0], &[0, 1], &[2, 1], &[0, 3], &[3, 2], &[1], &[1, 3]];
    let factor = |(number, scope): (usize, &&[u32])| {
        let entries: usize = scope.iter().map(|site| cardinalities[*site as usize]).product();
        let log = |place: usize| match zeros.contains(&(number, place)) {
            true => f64::NEG_INFINITY,
            false => ((number * 5 + place * place + 3 * place) as f64 * 0.61).sin(),
        };
        Factor::new(*scope, (0..entries).map(log).collect::<Vec<_>>()).unwrap()
    };
    let constant = Factor::new([], [-2.5]).unwrap();
    let factors: Vec<Factor> = scopes.iter().enumerate().map(factor).chain([constant]).collect();
    Factors::new(space, &factors).unwrap()
}

#[test]
fn tables_of_pairs() {
    for (name, cardinalities, zeros) in [
        ("mixed values", [3, 2, 1, 4], &[][..]),
        ("mixed values and zeros", [3, 2, 4, 2], &[(0, 1), (1, 3), (3, 4)]),
        ("bits", [2, 2, 2, 2], &[(4, 2)]),
        ("one row of nine", [9, 2, 2, 2], &[]),
        ("rows beyond registers", [40, 1, 2, 1], &[(0, 3)]),
    ] {
        let model = tables(&cardinalities, zeros);
        assert_eq!(model.sweep_block_size(100), 25, "{name}");
        check(name, &model, &by_colours(&model));
        check_from(name, &model, model.base(), &by_colours(&model));
    }
}

/// What happens to a chain depends on nothing but its own stream.
#[test]
fn chains_of_a_block_are_what_they_are_alone() {
    let all: Vec<Edge> = (0..40u32)
        .flat_map(|to| {
            (0..to).map(move |from| edge(from, to, ((from * 7 + to) as f32).sin() * 0.2))
        })
        .collect();
    let ring: Vec<Edge> = (0..150).map(|site| edge(site, (site + 1) % 150, 0.4)).collect();
    let values = Pairwise::potts(5, &ring, &[0.1; 750]).unwrap();
    for model in [
        Pairwise::ising(&all, vec![0.1; 40]).unwrap(),
        Pairwise::ising(&ring, vec![0.1; 150]).unwrap(),
        values,
    ] {
        check_alone(&model);
    }
    check_alone(&tables(&[3, 2, 1, 4], &[]));
}

fn check_alone<M: Model>(model: &M) {
    let together = after_sweeps(model, 0..19);
    let apart: Vec<u8> = (0..19).flat_map(|chain| after_sweeps(model, chain..chain + 1)).collect();
    assert_eq!(together, apart);
}

fn after_sweeps<M: Model>(model: &M, chains: std::ops::Range<u64>) -> Vec<u8> {
    let kernel = Conditional(Gibbs(Scan::Sweep));
    let mut rngs: Vec<_> = chains.map(|chain| ChainRng::new(3, Stream::Chain(chain))).collect();
    let mut states = vec![0; rngs.len() * model.space().sites()];
    for (state, rng) in states.chunks_exact_mut(model.space().sites()).zip(&mut rngs) {
        model.initial_state(rng, state);
    }
    let mut chains: Chains = Chains::new(model.space(), states, rngs);
    let mut scratch = kernel.new_scratch(model, chains.len());
    kernel.start(model, &mut chains, &mut scratch).unwrap();
    (0..10).for_each(|_| kernel.step(model, &mut chains, &mut scratch).unwrap());
    chains.states
}

#[test]
fn couplings_too_strong_for_single_precision_are_swept_site_by_site() {
    let strong = |weight: f32| {
        let edges = [edge(0, 1, weight), edge(1, 2, 0.5 * weight + 0.123)];
        Pairwise::ising(&edges, vec![0.0; 3]).unwrap().sweep_block_size(100)
    };
    assert_eq!((strong(1e5), strong(10.0)), (1, 16));
    // Whole multiples of one number are exact however large.
    let edges = [edge(0, 1, 3e5), edge(1, 2, -1e5)];
    assert_eq!(Pairwise::ising(&edges, vec![0.0; 3]).unwrap().sweep_block_size(100), 16);
}
