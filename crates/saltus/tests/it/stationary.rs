//! Long runs of every sampler against exact probabilities: many chains, one late draw of each, a
//! chi-square test over all states.

use saltus::model::callable::Callable;
use saltus::model::erased::Erased;
use saltus::model::fhmm::Fhmm;
use saltus::model::independent::Independent;
use saltus::model::lattice::Lattice;
use saltus::model::pairwise::Pairwise;
use saltus::model::rbm::Rbm;
use saltus::{Balancing, Method, Model, Run, Sampler, Settings, Space, States};
use statrs::distribution::{ChiSquared, ContinuousCDF};

const CHAINS: usize = 12_000;
/// Chance that this whole file fails although everything is right.
const FALSE_ALARM: f64 = 1e-4;
/// At least as many tests as are made here.
const TESTS: f64 = 300.0;

fn index_of(values: usize, state: &[u8]) -> usize {
    state.iter().fold(0, |index, value| index * values + usize::from(*value))
}

fn exact_probabilities<M: Model>(model: &M) -> Vec<f64> {
    let (sites, values) = (model.space().sites(), model.space().values());
    let mut cache = model.new_cache(1);
    let mut weights: Vec<f64> = (0..values.pow(sites as u32))
        .map(|index| {
            let state: Vec<u8> = (0..sites)
                .map(|site| (index / values.pow((sites - 1 - site) as u32) % values) as u8)
                .collect();
            let mut log_prob = [0.0];
            model.log_prob(States::new(&state, sites), &mut cache, &mut log_prob).unwrap();
            log_prob[0].exp()
        })
        .collect();
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
    weights
}

/// p-value of the last draws of many chains under exact probabilities.
fn p_value<M: Model>(model: &M, exact: &[f64], settings: Settings) -> f64 {
    let outcome = Run::new(model, settings).keep_states().go().unwrap();
    let values = model.space().values();
    let mut counts = vec![0.0; exact.len()];
    for chain in 0..CHAINS {
        counts[index_of(values, outcome.trace.states(chain))] += 1.0;
    }
    // States too rare for the chi-square approximation are counted together.
    let (mut statistic, mut classes) = (0.0, 0.0);
    let (mut rare_count, mut rare_expected) = (0.0, 0.0);
    for (count, probability) in counts.iter().zip(exact) {
        let expected = probability * CHAINS as f64;
        if expected < 8.0 {
            rare_count += count;
            rare_expected += expected;
        } else {
            statistic += (count - expected) * (count - expected) / expected;
            classes += 1.0;
        }
    }
    if rare_expected > 0.0 {
        statistic += (rare_count - rare_expected).powi(2) / rare_expected.max(1.0);
        classes += 1.0;
    }
    1.0 - ChiSquared::new(classes - 1.0).unwrap().cdf(statistic)
}

/// How many steps a chain makes before it is looked at.
#[derive(Clone, Copy)]
enum Steps {
    /// Fewer where a step changes more. A chain that has not forgotten its start fails, so that this is
    /// no weaker a test of the law.
    Few,
    /// Enough for the slowest sampler, whatever the sampler.
    Many,
}

impl Steps {
    fn of(self, method: Method) -> usize {
        match (self, method) {
            (_, Method::Gibbs) => 20,
            (Self::Many, _) => 250,
            (Self::Few, Method::Dlmc | Method::Dlmcf | Method::Dmala) => 50,
            (Self::Few, _) => 100,
        }
    }
}

fn settings(method: Method, balancing: Balancing, steps: Steps) -> Settings {
    let scale = match method {
        Method::Dmala | Method::Dlmc | Method::Dlmcf => Some(0.4),
        Method::Pas | Method::Rwm => Some(1.6),
        _ => None,
    };
    let thin = steps.of(method);
    let base = Settings { chains: CHAINS, warmup: 0, draws: 1, seed: 11, ..Settings::default() };
    let sampler = Sampler { balancing, scale, ..method.into() };
    Settings { sampler, thin, ..base }
}

/// What states a jump process jumps through: π times the sum of the rates away.
fn jumped_through(exact: &[f64], balancing: Balancing, sites: usize, values: usize) -> Vec<f64> {
    let rates = |index: usize| -> f64 {
        let changes = (0..sites).flat_map(|site| {
            let place = values.pow(site as u32);
            let own = index / place % values;
            (0..values)
                .filter(move |value| *value != own)
                .map(move |value| index - own * place + value * place)
        });
        let possible = changes.filter(|other| exact[*other] > 0.0);
        possible.map(|other| balancing.log((exact[other] / exact[index]).ln()).exp()).sum()
    };
    let states = exact.iter().enumerate();
    let law: Vec<f64> =
        states.map(|(index, p)| if *p > 0.0 { p * rates(index) } else { 0.0 }).collect();
    let total: f64 = law.iter().sum();
    law.into_iter().map(|p| p / total).collect()
}

fn check(name: &str, model: impl Model + 'static, steps: Steps) {
    let model = &Erased::new(model);
    let exact = exact_probabilities(model);
    let (sites, values) = (model.space().sites(), model.space().values());
    let suits = |method: &Method| Sampler::new(*method).suits(model).is_ok();
    for method in Method::ALL.iter().copied().filter(suits) {
        let all = &Balancing::ALL[..];
        let balancings = if method.is_balanced() { all } else { &[Balancing::Sqrt] };
        for balancing in balancings {
            let law = if method.is_weighted() {
                jumped_through(&exact, *balancing, sites, values)
            } else {
                exact.clone()
            };
            let p = p_value(model, &law, settings(method, *balancing, steps));
            assert!(p > FALSE_ALARM / TESTS, "{method} {balancing} on {name}: p = {p:e}");
        }
    }
}

fn ising() -> Pairwise {
    let field = vec![0.3, -0.7, 0.1, 1.1, -0.2, 0.5];
    Pairwise::ising_lattice(Lattice::periodic(2, 3).unwrap(), 0.25, field).unwrap()
}

fn potts(steps: Steps) {
    let fields: Vec<f32> = (0..12).map(|i| (i as f32 * 1.3).sin()).collect();
    let model = Pairwise::potts_lattice(Lattice::free(2, 2).unwrap(), 3, 0.6, &fields).unwrap();
    check("potts", model, steps);
}

fn independent(steps: Steps) {
    check("bernoulli", Independent::bernoulli(vec![0.5, -1.5, 0.0, 2.0]).unwrap(), steps);
    let log_weights: Vec<f32> = (0..12).map(|i| (i as f32 * 0.9).cos()).collect();
    check("categorical", Independent::categorical(4, &log_weights).unwrap(), steps);
}

fn hidden(steps: Steps) {
    check("fhmm", Fhmm::simulate(3, 2, 2, 4).unwrap(), steps);
    check("rbm", Rbm::random(4, 3, 3, 4).unwrap(), steps);
}

fn closure(steps: Steps) {
    let space = Space::new(4, 2).unwrap();
    let model = Callable::new(space, |states, log_prob| {
        for (state, log_prob) in states.rows().zip(log_prob) {
            // Forbidden: all ones. Otherwise something without symmetry.
            let code = state.iter().fold(0.0, |code, value| 2.0 * code + f64::from(*value));
            *log_prob = if code == 15.0 { f64::NEG_INFINITY } else { 1.5 * (code * code).sin() };
        }
        Ok(())
    })
    .with_initial_state(|rng, state| {
        state.iter_mut().for_each(|value| *value = rng.below(2) as u8);
        state[0] = 0;
    });
    check("closure", model, steps);
}

#[test]
fn ising_on_a_torus() {
    check("ising", ising(), Steps::Few);
}

#[test]
fn potts_on_a_graph() {
    potts(Steps::Few);
}

#[test]
fn independent_sites() {
    independent(Steps::Few);
}

#[test]
fn hidden_markov_models_and_rbms() {
    hidden(Steps::Few);
}

/// A forbidden state and steep walls: no sampler forgets its start in few steps.
#[test]
fn closures() {
    closure(Steps::Many);
}

#[test]
#[ignore = "takes minutes; .ci/night runs it"]
fn every_model_with_many_steps() {
    check("ising", ising(), Steps::Many);
    potts(Steps::Many);
    independent(Steps::Many);
    hidden(Steps::Many);
}

#[test]
fn a_slightly_wrong_model_fails_this_test() {
    let field = vec![0.3, -0.7, 0.1, 1.1, -0.2, 0.5];
    let wrong = Pairwise::ising_lattice(Lattice::periodic(2, 3).unwrap(), 0.28, field).unwrap();
    let exact = exact_probabilities(&wrong);
    let p = p_value(&ising(), &exact, settings(Method::Dlmc, Balancing::Sqrt, Steps::Few));
    assert!(p < FALSE_ALARM / TESTS, "p = {p:e}");
}

#[test]
fn a_chain_that_has_not_mixed_fails_this_test() {
    let few = Settings { thin: 1, ..settings(Method::Rwm, Balancing::Sqrt, Steps::Few) };
    let p = p_value(&ising(), &exact_probabilities(&ising()), few);
    assert!(p < FALSE_ALARM / TESTS, "p = {p:e}");
}
