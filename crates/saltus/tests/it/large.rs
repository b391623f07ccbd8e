//! Large states fall into parts that threads share: the same bytes for any number of threads, the right distribution, and
//! the differences that any graph gives.

use saltus::model::independent::Independent;
use saltus::model::lattice::Lattice;
use saltus::model::pairwise::Pairwise;
use saltus::{Differences, Method, Model, Run, Sampler, Settings, States};

/// Sites of the lattices here, more than are moved in one piece.
const SHAPE: (usize, usize) = (258, 260);
const SITES: usize = SHAPE.0 * SHAPE.1;

fn ising(coupling: f32) -> Pairwise {
    let lattice = Lattice::periodic(SHAPE.0, SHAPE.1).unwrap();
    Pairwise::ising_lattice(lattice, coupling, vec![0.0; SITES]).unwrap()
}

fn potts() -> Pairwise {
    let field: Vec<f32> = (0..3 * SITES).map(|at| (at as f32 * 0.7).sin()).collect();
    let lattice = Lattice::free(SHAPE.0, SHAPE.1).unwrap();
    Pairwise::potts_lattice(lattice, 3, 0.4, &field).unwrap()
}

fn settings(sampler: Sampler, scale: Option<f64>, warmup: usize, draws: usize) -> Settings {
    Settings {
        sampler: Sampler { scale, ..sampler },
        chains: 1,
        warmup,
        draws,
        ..Settings::default()
    }
}

#[test]
fn one_chain_has_the_same_bytes_for_any_number_of_threads() {
    fn check<M: Model>(model: &M, method: Method) {
        let run = |threads| {
            let threads = Some(threads);
            let settings = Settings { threads, ..settings(method.into(), None, 4, 3) };
            let outcome = Run::new(model, settings).keep_states().go().unwrap();
            (outcome.threads, outcome.trace)
        };
        let (one, two, three) = (run(1), run(2), run(3));
        assert_eq!((one.0, two.0, three.0), (1, 2, 3));
        assert!(one.1 == two.1 && one.1 == three.1, "{method}");
    }
    let bits = Independent::bernoulli((0..SITES).map(|n| (n as f32).sin()).collect()).unwrap();
    for method in [Method::Dlmc, Method::Dlmcf, Method::Dmala, Method::Gibbs] {
        check(&ising(0.3), method);
        check(&potts(), method);
        check(&bits, method);
    }
}

#[test]
fn many_independent_sites_have_their_probabilities_and_no_part_repeats_another() {
    let bits = Independent::bernoulli(vec![1.0; SITES]).unwrap();
    let four = [0.1f32, 0.2, 0.3, 0.4].map(f32::ln);
    let values = Independent::categorical(4, &four.repeat(SITES)).unwrap();
    let p = 1.0 / (1.0 + (-1f64).exp());
    // Not so `dmala`, which rejects nearly all steps of that scale on so many sites.
    for method in [Method::Dlmc, Method::Dlmcf] {
        let last = |model: &Independent| {
            let settings = settings(method.into(), Some(0.8), 60, 1);
            let outcome = Run::new(model, settings).keep_states().go().unwrap();
            outcome.trace.states(0).to_vec()
        };
        let state = last(&bits);
        let ones = state.iter().map(|value| usize::from(*value)).sum::<usize>() as f64;
        let sigma = (SITES as f64 * p * (1.0 - p)).sqrt();
        assert!((ones - p * SITES as f64).abs() < 5.0 * sigma, "{method}: {ones}");
        for part in 1..4 {
            let (one, other) = (&state[..16_384], &state[part * 16_384..][..16_384]);
            let both = one.iter().zip(other).filter(|(a, b)| **a == 1 && **b == 1).count() as f64;
            let sigma = (16_384.0 * p * p * (1.0 - p * p)).sqrt();
            assert!((both - 16_384.0 * p * p).abs() < 5.0 * sigma, "{method}: {both}");
        }
        let state = last(&values);
        for (value, p) in [0.1, 0.2, 0.3, 0.4].into_iter().enumerate() {
            let count = state.iter().filter(|own| usize::from(**own) == value).count() as f64;
            let sigma = (SITES as f64 * p * (1.0 - p)).sqrt();
            assert!((count - p * SITES as f64).abs() < 5.0 * sigma, "{method} {value}: {count}");
        }
    }
}

#[test]
fn differences_and_log_prob_of_parts_are_those_of_a_graph() {
    fn check(lattice: &Pairwise, graph: &Pairwise) {
        let sites = lattice.space().sites();
        let values = lattice.space().values();
        let state: Vec<u8> = (0..sites).map(|n| ((n * n / 7 + n / 3) % values) as u8).collect();
        let answer = |model: &Pairwise| {
            let mut diff = vec![0.0; model.space().diff_len()];
            let mut log_prob = [0.0];
            let (states, mut cache) = (States::new(&state, sites), model.new_cache(1));
            let kind = Differences::Exact;
            model.log_prob_and_diff(kind, states, &mut cache, &mut log_prob, &mut diff).unwrap();
            (log_prob[0], diff)
        };
        let (found, expected) = (answer(lattice), answer(graph));
        assert!((found.0 / expected.0 - 1.0).abs() < 1e-6, "{} {}", found.0, expected.0);
        for (at, (found, expected)) in found.1.iter().zip(&expected.1).enumerate() {
            assert!((found - expected).abs() < 1e-5, "{at}: {found} {expected}");
        }
    }
    let edges = |lattice: Lattice, weight| lattice.edges(weight);
    let (rows, columns) = SHAPE;
    let field: Vec<f32> = (0..SITES).map(|site| (site as f32 * 0.37).cos()).collect();
    for lattice in
        [Lattice::free(rows, columns).unwrap(), Lattice::periodic(rows, columns).unwrap()]
    {
        let graph = Pairwise::ising(&edges(lattice, 0.3), field.clone()).unwrap();
        check(&Pairwise::ising_lattice(lattice, 0.3, field.clone()).unwrap(), &graph);
        let field: Vec<f32> = (0..3 * SITES).map(|at| (at as f32 * 0.7).sin()).collect();
        let graph = Pairwise::potts(3, &edges(lattice, 0.4), &field).unwrap();
        check(&Pairwise::potts_lattice(lattice, 3, 0.4, &field).unwrap(), &graph);
    }
}
