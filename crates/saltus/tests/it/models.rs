//! What every model must satisfy, checked for each of them through one function.

use proptest::prelude::*;
use saltus::model::callable::Callable;
use saltus::model::erased::Erased;
use saltus::model::factor::Factor;
use saltus::model::factors::Factors;
use saltus::model::fhmm::Fhmm;
use saltus::model::graph::Edge;
use saltus::model::independent::Independent;
use saltus::model::lattice::Lattice;
use saltus::model::pairwise::Pairwise;
use saltus::model::rbm::Rbm;
use saltus::rng::Stream;
use saltus::{ChainRng, Differences, Model, ModelError, Space, States};

/// How far two evaluations may be apart.
#[derive(Clone, Copy)]
struct Tolerance {
    /// Between values of log π.
    log_prob: f64,
    /// Between differences, which are single precision.
    diff: f64,
}

const TIGHT: Tolerance = Tolerance { log_prob: 1e-9, diff: 1e-4 };
/// Part of log π is evaluated in single precision.
const MIXED: Tolerance = Tolerance { log_prob: 2e-5, diff: 2e-4 };

fn log_prob_of<M: Model>(model: &M, state: &[u8]) -> f64 {
    let mut out = [0.0];
    model.log_prob(States::new(state, state.len()), &mut model.new_cache(1), &mut out).unwrap();
    out[0]
}

fn log_prob_and_diff<M: Model>(
    model: &M,
    kind: Differences,
    states: &[u8],
) -> (Vec<f64>, Vec<f32>) {
    let states = States::new(states, model.space().sites());
    let mut log_prob = vec![f64::NAN; states.chains()];
    let mut diff = vec![f32::NAN; states.chains() * model.space().diff_len()];
    model
        .log_prob_and_diff(
            kind,
            states,
            &mut model.new_cache(states.chains()),
            &mut log_prob,
            &mut diff,
        )
        .unwrap();
    (log_prob, diff)
}

/// The differences of one state, by their definition.
fn differences_by_definition<M: Model>(model: &M, state: &[u8]) -> Vec<f64> {
    let space = model.space().clone();
    let here = log_prob_of(model, state);
    let mut diff = vec![0.0; space.diff_len()];
    for site in 0..space.sites() {
        for value in 0..space.values() {
            let mut changed = state.to_vec();
            changed[site] = value as u8;
            if changed[site] != state[site] {
                let plane = if space.is_binary() { 0 } else { value };
                diff[plane * space.sites() + site] = log_prob_of(model, &changed) - here;
            }
        }
    }
    diff
}

fn assert_close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance * expected.abs().max(1.0),
        "{what}: found {found}, expected {expected}"
    );
}

/// Everything the trait promises, on random states drawn with `seed`.
fn check_model<M: Model>(model: &M, seed: u64, tolerance: Tolerance) {
    let space = model.space().clone();
    let (sites, table) = (space.sites(), space.diff_len());
    let mut rng = ChainRng::new(seed, Stream::Chain(0));
    // A block that is no multiple of anything.
    let chains = 7;
    let mut states = vec![0; chains * sites];
    for value in &mut states {
        *value = rng.below(space.values()) as u8;
    }

    for kind in [Differences::Exact, Differences::Taylor] {
        let (log_prob, diff) = log_prob_and_diff(model, kind, &states);
        for (chain, state) in states.chunks_exact(sites).enumerate() {
            let diff = &diff[chain * table..(chain + 1) * table];
            // A block is nothing but its chains, to the last bit.
            let (alone, diff_alone) = log_prob_and_diff(model, kind, state);
            assert_eq!(log_prob[chain], alone[0]);
            assert_eq!(diff, diff_alone);
            assert_eq!(log_prob[chain], log_prob_of(model, state));
            if kind == Differences::Exact {
                for (at, expected) in differences_by_definition(model, state).iter().enumerate() {
                    let found = f64::from(diff[at]);
                    assert_close(found, *expected, tolerance.diff, "exact difference");
                }
            }
            if !space.is_binary() {
                for (site, value) in state.iter().enumerate() {
                    assert_eq!(diff[usize::from(*value) * sites + site], 0.0);
                }
            }
        }
    }
    check_following(model, &mut states, &mut rng, tolerance);

    // Starting states are states.
    let mut state = vec![255; sites];
    model.initial_state(&mut rng, &mut state);
    assert!(state.iter().all(|value| usize::from(*value) < space.values()));
    assert!((1..=100).contains(&model.block_size(100)));
}

/// Chains followed site by site through a thousand moves stay on the true log π.
fn check_following<M: Model>(
    model: &M,
    states: &mut [u8],
    rng: &mut ChainRng,
    tolerance: Tolerance,
) {
    let space = model.space().clone();
    let (sites, values) = (space.sites(), space.values());
    let chains = states.len() / sites;
    let mut cache = model.new_cache(chains);
    let mut log_prob: Vec<f64> = states
        .chunks_exact(sites)
        .enumerate()
        .map(|(chain, state)| model.follow(state, chain, &mut cache).unwrap())
        .collect();
    let mut diff = vec![0.0; values];
    for step in 0..1000 {
        let (chain, site) = (rng.below(chains), rng.below(sites));
        let value = rng.below(values);
        let state = &mut states[chain * sites..(chain + 1) * sites];
        model.site_diff(state, chain, &mut cache, site, &mut diff).unwrap();
        assert_eq!(diff[usize::from(state[site])], 0.0);
        if step % 50 == 0 {
            // The table for one site is the same as in the table for all sites.
            let all = differences_by_definition(model, state);
            let (_, dense) = log_prob_and_diff(model, Differences::Exact, state);
            for other in (0..values).filter(|other| *other != usize::from(state[site])) {
                let plane = if space.is_binary() { 0 } else { other };
                let at = plane * sites + site;
                assert_close(diff[other], all[at], tolerance.log_prob * 5.0, "site_diff");
                assert_close(
                    f64::from(dense[at]),
                    diff[other],
                    tolerance.diff,
                    "site_diff against the dense table",
                );
            }
        }
        log_prob[chain] += diff[value];
        model.set_site(state, chain, &mut cache, site, value as u8);
        assert_eq!(usize::from(state[site]), value);
    }
    for (chain, state) in states.chunks_exact(sites).enumerate() {
        let expected = log_prob_of(model, state);
        // Errors of a thousand steps add up.
        let slack = 100.0 * tolerance.log_prob;
        assert_close(log_prob[chain], expected, slack, "log π after moves");
        // What is remembered of a chain is what it would be if it were followed afresh.
        for site in 0..sites.min(10) {
            let mut fresh = vec![0.0; values];
            let mut fresh_cache = model.new_cache(1);
            model.follow(state, 0, &mut fresh_cache).unwrap();
            model.site_diff(state, 0, &mut fresh_cache, site, &mut fresh).unwrap();
            model.site_diff(state, chain, &mut cache, site, &mut diff).unwrap();
            for (found, expected) in diff.iter().zip(&fresh) {
                assert_close(*found, *expected, 1e-9, "remembered difference");
            }
        }
    }
}

/// A table of random numbers of about that size.
fn numbers(seed: u64, length: usize, scale: f64) -> Vec<f32> {
    let mut rng = ChainRng::new(seed, Stream::Model);
    (0..length).map(|_| ((2.0 * rng.uniform() - 1.0) * scale) as f32).collect()
}

/// log π = Σ θₙ(xₙ) + J Σ xₙ xₙ₊₁, through closures.
fn closure_model(sites: usize, values: usize, seed: u64) -> Callable {
    let table = numbers(seed, sites * values, 1.5);
    Callable::new(Space::new(sites, values).unwrap(), move |states, log_prob| {
        for (state, log_prob) in states.rows().zip(log_prob) {
            let own = state.iter().enumerate();
            *log_prob = own
                .map(|(n, value)| f64::from(table[n * values + usize::from(*value)]))
                .sum::<f64>()
                + 0.3
                    * state
                        .windows(2)
                        .map(|pair| f64::from(pair[0]) * f64::from(pair[1]))
                        .sum::<f64>();
        }
        Ok(())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn bernoulli(sites in 1usize..60, seed in any::<u64>()) {
        let model = Independent::bernoulli(numbers(seed, sites, 4.0)).unwrap();
        check_model(&model, seed, TIGHT);
    }

    #[test]
    fn categorical(sites in 1usize..30, values in 2usize..9, seed in any::<u64>()) {
        let table = numbers(seed, sites * values, 4.0);
        // With two values the model keeps the difference of two floats, itself a float.
        let tolerance = if values == 2 { MIXED } else { TIGHT };
        check_model(&Independent::categorical(values, &table).unwrap(), seed, tolerance);
    }

    #[test]
    fn pairwise(sites in 2usize..30, values in 2usize..6, seed in any::<u64>()) {
        let weights = numbers(seed, 2 * sites, 1.0);
        let edges: Vec<Edge> = weights
            .iter()
            .enumerate()
            .map(|(number, weight)| {
                let from = number % sites;
                // Never the site itself; some pairs come twice.
                let to = (from + 1 + number * 7 % (sites - 1)) % sites;
                Edge { from: from as u32, to: to as u32, weight: *weight }
            })
            .collect();
        let field = numbers(seed ^ 1, sites * values, 1.0);
        check_model(&Pairwise::potts(values, &edges, &field).unwrap(), seed, MIXED);
        let ising = Pairwise::ising(&edges, numbers(seed ^ 2, sites, 1.0)).unwrap();
        check_model(&ising, seed, MIXED);
    }

    #[test]
    fn factor_graphs(sites in 2usize..12, values in 2usize..6, seed in any::<u64>()) {
        let mut rng = ChainRng::new(seed, Stream::Model);
        let factors: Vec<Factor> = (0..2 * sites)
            .map(|_| {
                let mut scope = vec![0; 1 + rng.below(sites.min(4))];
                rng.distinct(sites, &mut scope);
                let states = values.pow(scope.len() as u32);
                let logs: Vec<f64> = (0..states).map(|_| 3.0 * rng.uniform()).collect();
                Factor::new(scope, logs).unwrap()
            })
            .collect();
        let space = Space::new(sites, values).unwrap();
        check_model(&Factors::new(space, &factors).unwrap(), seed, TIGHT);
    }

    /// Enough tables of pairs to be kept in single precision.
    #[test]
    fn many_tables_of_pairs(values in prop::sample::select(vec![5, 21, 40]), seed in any::<u64>()) {
        let sites = match values { 5 => 53, 21 => 13, _ => 8 };
        let mut rng = ChainRng::new(seed, Stream::Model);
        let scopes = (0..sites).flat_map(|b| (0..b).map(move |a| vec![b, a])).chain([vec![2]]);
        let factors: Vec<Factor> = scopes
            .map(|scope| {
                let entries = usize::pow(values, scope.len() as u32);
                let logs: Vec<f64> = (0..entries).map(|_| 0.3 * rng.uniform()).collect();
                Factor::new(scope, logs).unwrap()
            })
            .collect();
        let space = Space::new(sites as usize, values).unwrap();
        check_model(&Factors::new(space, &factors).unwrap(), seed, MIXED);
    }

    #[test]
    fn lattices(
        rows in 1usize..6,
        columns in 1usize..6,
        values in 2usize..5,
        periodic in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let lattice = if periodic { Lattice::periodic } else { Lattice::free };
        let lattice = lattice(rows, columns).unwrap();
        let sites = rows * columns;
        let field = numbers(seed, sites * values, 1.0);
        let potts = Pairwise::potts_lattice(lattice, values, 0.8, &field).unwrap();
        check_model(&potts, seed, MIXED);
        let ising = Pairwise::ising_lattice(lattice, 0.4, numbers(seed, sites, 1.0)).unwrap();
        check_model(&ising, seed, MIXED);
    }

    #[test]
    fn fhmm(length in 1usize..12, factors in 1usize..8, values in 2usize..6, seed in any::<u64>()) {
        check_model(&Fhmm::simulate(length, factors, values, seed).unwrap(), seed, TIGHT);
    }

    #[test]
    fn rbm(visible in 1usize..40, hidden in 1usize..70, values in 2usize..6, seed in any::<u64>()) {
        check_model(&Rbm::random(visible, hidden, values, seed).unwrap(), seed, MIXED);
    }

    #[test]
    fn rbm_with_large_weights(
        values in 2usize..4,
        scale in prop::sample::select(vec![1.0, 3.0, 4.9, 5.5, 200.0]),
        seed in any::<u64>(),
    ) {
        let planes = if values == 2 { 1 } else { values };
        let weight = numbers(seed, 37 * 6 * planes, scale);
        let visible_bias = numbers(seed ^ 1, 6 * planes, 1.0);
        let hidden_bias = numbers(seed ^ 2, 37, scale);
        let model = Rbm::new(values, &weight, &hidden_bias, &visible_bias, None).unwrap();
        check_model(&model, seed, MIXED);
    }

    #[test]
    fn erased(sites in 2usize..20, values in 2usize..5, seed in any::<u64>()) {
        let plain = Rbm::random(sites, 5, values, seed).unwrap();
        let erased = Erased::new(plain.clone());
        check_model(&erased, seed, MIXED);
        let state: Vec<u8> = (0..sites).map(|site| (site % values) as u8).collect();
        assert_eq!(log_prob_of(&erased, &state).to_bits(), log_prob_of(&plain, &state).to_bits());
    }

    #[test]
    fn closures(sites in 1usize..40, values in 2usize..6, seed in any::<u64>()) {
        check_model(&closure_model(sites, values, seed), seed, TIGHT);
    }

    /// First order leaves out exactly the curvature δ²/2σ² of the squared residual.
    #[test]
    fn fhmm_first_order(
        length in 1usize..9,
        factors in 1usize..6,
        values in 2usize..5,
        seed in any::<u64>(),
    ) {
        let model = Fhmm::simulate(length, factors, values, seed).unwrap();
        let sites = length * factors;
        let mut rng = ChainRng::new(seed, Stream::Chain(1));
        let state: Vec<u8> = (0..sites).map(|_| rng.below(values) as u8).collect();
        let exact = differences_by_definition(&model, &state);
        let (_, taylor) = log_prob_and_diff(&model, Differences::Taylor, &state);
        let weights = &model.parameters().weights;
        for (at, (taylor, exact)) in taylor.iter().zip(exact).enumerate() {
            let (value, site) = (at / sites, at % sites);
            let step = if values == 2 {
                weights[site % factors]
            } else {
                let row = &weights[site % factors * values..];
                row[value] - row[usize::from(state[site])]
            };
            let missing = f64::from(step).powi(2) / 8.0; // σ = 2
            assert_close(f64::from(*taylor), exact + missing, 1e-4, "first order");
        }
    }

    /// First order is the derivative along the one-hot coding, found here by finite differences.
    #[test]
    fn rbm_first_order(
        visible in 1usize..12,
        hidden in 1usize..20,
        values in 2usize..5,
        seed in any::<u64>(),
    ) {
        let planes = if values == 2 { 1 } else { values };
        let weight = numbers(seed, hidden * visible * planes, 1.0);
        let hidden_bias = numbers(seed ^ 1, hidden, 1.0);
        let visible_bias = numbers(seed ^ 2, visible * planes, 1.0);
        let model = Rbm::new(values, &weight, &hidden_bias, &visible_bias, None).unwrap();
        let mut rng = ChainRng::new(seed, Stream::Chain(1));
        let state: Vec<u8> = (0..visible).map(|_| rng.below(values) as u8).collect();
        // log π of real-valued codes, from its definition.
        let relaxed = |code: &[f64]| -> f64 {
            let dot = |row: &[f32]| row.iter().zip(code).map(|(w, x)| f64::from(*w) * x).sum();
            let linear: f64 = dot(&visible_bias);
            let rows = weight.chunks_exact(visible * planes).zip(&hidden_bias);
            rows.fold(linear, |sum, (row, bias)| {
                let input: f64 = dot(row);
                sum + (f64::from(*bias) + input).exp().ln_1p()
            })
        };
        let mut code = vec![0.0; visible * planes];
        for (site, value) in state.iter().enumerate() {
            if values == 2 {
                code[site] = f64::from(*value);
            } else {
                code[site * values + usize::from(*value)] = 1.0;
            }
        }
        let (_, diff) = log_prob_and_diff(&model, Differences::Taylor, &state);
        for (at, found) in diff.iter().enumerate() {
            let (value, site) = (at / visible, at % visible);
            // Along the way from the current value to the other one.
            let mut along = vec![0.0; code.len()];
            if values == 2 {
                along[site] = 1.0 - 2.0 * f64::from(state[site]);
            } else {
                along[site * values + value] += 1.0;
                along[site * values + usize::from(state[site])] -= 1.0;
            }
            let moved = |by: f64| {
                relaxed(&code.iter().zip(&along).map(|(x, d)| x + by * d).collect::<Vec<_>>())
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert_close(f64::from(*found), slope, 1e-4, "first order");
        }
    }
}

#[test]
fn many_values_are_all_tried() {
    // 256 values fill a byte: the last must not be forgotten.
    let table = numbers(3, 2 * 256, 1.0);
    check_model(&Independent::categorical(256, &table).unwrap(), 3, TIGHT);
    check_model(&closure_model(2, 256, 3), 3, TIGHT);
    check_model(&Fhmm::simulate(3, 1, 256, 3).unwrap(), 3, TIGHT);
    check_model(&Rbm::random(2, 3, 256, 3).unwrap(), 3, MIXED);
}

/// The oracle of the trait itself, on a model that overrides nothing.
#[test]
fn a_bare_model_has_correct_defaults() {
    struct Bare(Callable);
    impl Model for Bare {
        type Cache = <Callable as Model>::Cache;
        fn space(&self) -> &Space {
            self.0.space()
        }
        fn new_cache(&self, chains: usize) -> Self::Cache {
            self.0.new_cache(chains)
        }
        fn log_prob(
            &self,
            states: States<'_>,
            cache: &mut Self::Cache,
            log_prob: &mut [f64],
        ) -> Result<(), ModelError> {
            self.0.log_prob(states, cache, log_prob)
        }
    }
    for values in [2, 3, 256] {
        check_model(&Bare(closure_model(2, values, 8)), 8, TIGHT);
    }
}

/// Golden numbers of a tiny RBM, computed independently in double precision.
#[test]
fn rbm_golden_numbers() {
    let weight = [
        0.5, -0.3, 0.8, 0.1, 0.9, -0.7, // unit 0: site 0, site 1
        -0.6, 0.4, 0.2, 0.3, -0.5, 1.0, // unit 1
    ];
    let visible_bias = [0.1, -0.2, 0.3, 0.0, 0.5, -0.4];
    let model = Rbm::new(3, &weight, &[0.2, -0.1], &visible_bias, None).unwrap();
    assert!((log_prob_of(&model, &[0, 1]) - 2.64718320822637).abs() < 1e-6);
    assert!((log_prob_of(&model, &[2, 0]) - 2.6003505775153832).abs() < 1e-6);
    let gradient = [
        [0.377124062666, -0.357015428940, 1.011909751407],
        [0.152644403464, 1.133078938370, -0.750937653093],
    ];
    let (_, diff) = log_prob_and_diff(&model, Differences::Taylor, &[0, 1]);
    for value in 0..3 {
        let expected = [gradient[0][value] - gradient[0][0], gradient[1][value] - gradient[1][1]];
        for site in 0..2 {
            assert!((f64::from(diff[value * 2 + site]) - expected[site]).abs() < 1e-6);
        }
    }
}

#[test]
fn reference_machines_have_the_published_statistics() {
    let Some(folder) = crate::tools::reference_machines() else {
        return;
    };
    // Name, hidden units, values, then mean, deviation, least and largest weight.
    let machines = [
        ("mnist-binary-25", 25, 2, [-0.0768, 0.1692, -0.516, 0.415]),
        ("mnist-binary-200", 200, 2, [-0.0281, 0.0769, -0.415, 0.291]),
        ("fashion-mnist-4-levels-50", 50, 4, [-0.0298, 0.2400, -1.513, 1.098]),
        ("fashion-mnist-8-levels-50", 50, 8, [-0.0307, 0.2169, -1.445, 1.189]),
    ];
    for (name, hidden, values, [mean, deviation, least, largest]) in machines {
        let model = Rbm::load(folder.join(format!("{name}.safetensors"))).unwrap();
        assert_eq!(model.hidden(), hidden);
        assert_eq!(*model.space(), Space::new(784, values).unwrap());
        // The scalar coding has no weights for value 0.
        let first = u8::from(values == 2);
        let weights: Vec<f64> = (0..hidden)
            .flat_map(|unit| (0..784).map(move |site| (unit, site)))
            .flat_map(|(unit, site)| (first..values as u8).map(move |value| (unit, site, value)))
            .map(|(unit, site, value)| f64::from(model.weight(unit, site, value)))
            .collect();
        let count = weights.len() as f64;
        let found_mean = weights.iter().sum::<f64>() / count;
        let found_deviation =
            (weights.iter().map(|w| (w - found_mean).powi(2)).sum::<f64>() / count).sqrt();
        let found_least = weights.iter().copied().fold(f64::INFINITY, f64::min);
        let found_largest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert!((found_mean - mean).abs() < 6e-5, "{name}: {found_mean}");
        assert!((found_deviation - deviation).abs() < 6e-5, "{name}");
        assert!((found_least - least).abs() < 6e-4, "{name}: {found_least}");
        assert!((found_largest - largest).abs() < 6e-4, "{name}");
        // A start from the data: about as much ink as MNIST has (mean 0.13589 when thresholded).
        if values == 2 {
            let mut rng = ChainRng::new(1, Stream::Chain(0));
            let (mut ink, mut state) = (0.0, vec![0; 784]);
            for _ in 0..100 {
                model.initial_state(&mut rng, &mut state);
                ink += state.iter().map(|x| f64::from(*x)).sum::<f64>() / 78_400.0;
            }
            assert!((ink - 0.13589).abs() < 0.005, "{name}: {ink}");
        }
    }
}
