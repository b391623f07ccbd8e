//! Tempered runs against exact values of tori, their bytes, and states that are forbidden.

use saltus::model::callable::Callable;
use saltus::temper::{LadderVerdict, Temper, TemperReport};
use saltus::{Lattice, Model, Outcome, Pairwise, Run, Sampler, Settings, Space, run};

/// The critical coupling of the square lattice.
fn critical() -> f64 {
    0.5 * (1.0 + 2f64.sqrt()).ln()
}

fn torus(size: usize, coupling: f64) -> Pairwise {
    let lattice = Lattice::periodic(size, size).unwrap();
    Pairwise::ising_lattice(lattice, coupling as f32, vec![0.0; size * size]).unwrap()
}

fn settings(sampler: Sampler, chains: usize, warmup: usize, draws: usize) -> Settings {
    Settings { chains, warmup, draws, temper: Some(Temper::default()), ..sampler.into() }
}

fn ladder<M: Model>(model: &M, settings: Settings) -> TemperReport {
    Run::new(model, settings).go().unwrap().tempering.unwrap()
}

/// A torus and its equal-rejection ladder, from the density of states, summed exactly.
struct Exact {
    size: usize,
    /// The critical one, unless given.
    beta: Option<f64>,
    log_z: f64,
    rejection: f64,
    rungs: usize,
}

const EXACT: [Exact; 5] = [
    Exact { size: 4, beta: Some(0.4), log_z: 14.561093, rejection: 0.49941, rungs: 4 },
    Exact { size: 4, beta: None, log_z: 15.521915, rejection: 0.42787, rungs: 5 },
    Exact { size: 8, beta: Some(0.4), log_z: 56.599389, rejection: 0.47876, rungs: 7 },
    Exact { size: 8, beta: None, log_z: 60.141781, rejection: 0.47511, rungs: 8 },
    Exact { size: 8, beta: Some(0.6), log_z: 78.141649, rejection: 0.48029, rungs: 10 },
];
/// The rungs of the fourth.
const CRITICAL_RUNGS: [f64; 8] =
    [0.0, 0.07966, 0.15687, 0.22962, 0.29591, 0.35227, 0.39777, 0.44069];

/// Runs a torus and compares everything; `tolerance` is of every rejection.
fn check(exact: &Exact, settings: Settings, tolerance: f64) -> TemperReport {
    let beta = exact.beta.unwrap_or_else(critical);
    let found = ladder(&torus(exact.size, beta), settings);
    let what = format!("{0}×{0} at {beta}: {found:?}", exact.size);
    assert_eq!(found.betas.len(), exact.rungs, "{what}");
    let error = found.log_z_se.unwrap();
    assert!((found.log_z - exact.log_z).abs() < 4.0 * error && error < 0.1, "{what}");
    assert!(found.log_z_lower.unwrap() <= exact.log_z, "{what}");
    assert!(found.log_z_upper.unwrap() >= exact.log_z, "{what}");
    for rejection in &found.rejections {
        assert!((rejection - exact.rejection).abs() < tolerance, "{what}");
    }
    let sum = exact.rejection * (exact.rungs - 1) as f64;
    assert!((found.barrier - sum).abs() < tolerance * (exact.rungs as f64).sqrt(), "{what}");
    // Exploration by single sweeps is not ideal, and nothing travels faster than the ideal.
    let share = found.round_trips as f64 / found.round_trips_expected;
    assert!(share > 0.1 && share < 1.1, "{what}");
    assert_eq!(found.verdict(), LadderVerdict::Fine, "{what}");
    found
}

#[test]
fn ladders_of_tori_are_those_of_their_densities_of_states() {
    for exact in &EXACT {
        let found = check(exact, settings(Sampler::gibbs(), 16, 1500, 1000), 0.06);
        if exact.rungs == CRITICAL_RUNGS.len() {
            for (rung, exact) in found.betas.iter().zip(CRITICAL_RUNGS) {
                assert!((rung * critical() - exact).abs() < 0.012, "{:?}", found.betas);
            }
        }
    }
}

#[test]
#[ignore = "long: rungs to the third digit"]
fn ladders_of_tori_to_the_third_digit() {
    for exact in &EXACT {
        let found = check(exact, settings(Sampler::gibbs(), 32, 30_000, 30_000), 0.02);
        if exact.rungs == CRITICAL_RUNGS.len() {
            for (rung, exact) in found.betas.iter().zip(CRITICAL_RUNGS) {
                assert!((rung * critical() - exact).abs() < 0.003, "{:?}", found.betas);
            }
        }
    }
}

#[test]
fn scales_are_found_on_every_rung() {
    let found = ladder(&torus(8, critical()), settings(Sampler::dlmc(), 8, 2000, 500));
    assert!((found.log_z - 60.141781).abs() < 4.0 * found.log_z_se.unwrap(), "{found:?}");
    // The closer to the model, the smaller the step that is accepted as often.
    assert!(found.scales.first() > found.scales.last(), "{found:?}");
    let last = found.acceptances[found.acceptances.len() - 1];
    assert!((last - 0.574).abs() < 0.1, "{found:?}");
}

fn numbers(outcome: &Outcome) -> (Vec<Vec<f64>>, Vec<u8>, Option<TemperReport>) {
    let trace = &outcome.trace;
    let states = (0..trace.chains()).flat_map(|chain| trace.states(chain).to_vec());
    (trace.log_prob().to_vec(), states.collect(), outcome.tempering.clone())
}

#[test]
fn threads_do_not_change_a_byte_and_seeds_do() {
    let model = torus(6, 0.5);
    let go = |threads, seed| {
        let threads = Some(threads);
        let settings = Settings { threads, seed, ..settings(Sampler::dlmc(), 5, 300, 200) };
        numbers(&Run::new(&model, settings).keep_states().go().unwrap())
    };
    let one = go(1, 7);
    assert!(one == go(2, 7) && one == go(5, 7));
    // The comparison can fail.
    assert!(one != go(1, 8));
}

#[test]
fn an_inverse_temperature_is_a_coupling() {
    // β = 0.8 of coupling 0.5 is coupling 0.4: the same law of the same states.
    let chain = |coupling, beta, temper| {
        let settings = Settings { beta, temper, ..settings(Sampler::gibbs(), 16, 500, 1000) };
        let outcome = run::sample(&torus(4, coupling), settings).unwrap();
        let scale = 1.0 / coupling;
        let all: Vec<f64> = outcome.trace.log_prob().iter().flatten().map(|x| x * scale).collect();
        (all.iter().sum::<f64>() / all.len() as f64, outcome.tempering)
    };
    let (plain, _) = chain(0.4, None, None);
    let (cooled, _) = chain(0.5, Some(0.8), None);
    let (tempered, ladder) = chain(0.5, Some(0.8), Some(Temper::default()));
    assert!(
        (plain - cooled).abs() < 0.6 && (plain - tempered).abs() < 0.6,
        "{plain} {cooled} {tempered}"
    );
    let ladder = ladder.unwrap();
    assert_eq!(ladder.betas.last(), Some(&0.8));
    assert!((ladder.log_z - 14.561093).abs() < 4.0 * ladder.log_z_se.unwrap(), "{ladder:?}");
}

/// Twelve bits of which at most one is set, and a bonus for each: most states are forbidden.
fn mostly_forbidden() -> Callable {
    Callable::new(Space::new(12, 2).unwrap(), |states, log_prob| {
        for (state, log_prob) in states.rows().zip(log_prob) {
            let set = state.iter().filter(|value| **value == 1).count();
            let which = state.iter().position(|value| *value == 1);
            *log_prob = match set {
                0 => 0.0,
                1 => 0.1 * which.unwrap_or(0) as f64,
                _ => f64::NEG_INFINITY,
            };
        }
        Ok(())
    })
    .with_initial_state(|_, state| state.fill(0))
}

#[test]
fn forbidden_states_stay_below() {
    let model = mostly_forbidden();
    let exact = (1.0 + (0..12).map(|n| (0.1 * f64::from(n)).exp()).sum::<f64>()).ln();
    let found = ladder(&model, settings(Sampler::rwm(), 8, 1000, 1000));
    assert!((found.log_z - exact).abs() < 4.0 * found.log_z_se.unwrap(), "{exact} {found:?}");
}

/// Enough for the spread of their means to tell the error of the whole: of eight, three errors would be
/// exceeded every fiftieth time.
const LADDERS: usize = 32;

/// Without tempering a chain of this model keeps its sign for ever.
#[test]
fn both_signs_of_a_magnet_are_seen() {
    let model = torus(12, 0.6);
    let up = |state: &[u8]| state.iter().map(|x| 2.0 * f64::from(*x) - 1.0).sum::<f64>() / 144.0;
    let settings = settings(Sampler::gibbs(), LADDERS, 1000, 2000);
    let outcome = Run::new(&model, settings).observe("up", up).go().unwrap();
    let means: Vec<f64> = outcome
        .trace
        .series("up")
        .unwrap()
        .iter()
        .map(|chain| chain.iter().sum::<f64>() / chain.len() as f64)
        .collect();
    let ladders = LADDERS as f64;
    let mean = means.iter().sum::<f64>() / ladders;
    let variance = means.iter().map(|m| (m - mean) * (m - mean)).sum::<f64>() / (ladders - 1.0);
    let error = (variance / ladders).sqrt();
    assert!(mean.abs() < 3.0 * error && error < 0.3, "{mean} ± {error}");
    let size: f64 = outcome.trace.series("up").unwrap().iter().flatten().map(|m| m.abs()).sum();
    // Yang 1952: (1 − sinh(1.2)⁻⁴)^(1/8) is 0.9736 on an infinite lattice.
    assert!((size / (2000.0 * ladders) - 0.9736).abs() < 0.01, "{}", size / (2000.0 * ladders));
}

#[test]
fn what_cannot_be_tempered_is_refused() {
    let model = torus(4, 0.4);
    let refused = |settings: Settings| run::sample(&model, settings).unwrap_err().to_string();
    let weighted = refused(settings(Sampler::dld(), 2, 10, 10));
    assert!(weighted.contains("weighs its draws"), "{weighted}");
    let one = Settings {
        temper: Some(Temper { rungs: Some(1), ladder: None }),
        ..settings(Sampler::gibbs(), 2, 10, 10)
    };
    assert_eq!(refused(one), "a ladder has from 2 to 10000 rungs, got 1");
    let cold = Settings { beta: Some(-1.0), ..settings(Sampler::gibbs(), 2, 10, 10) };
    assert!(refused(cold).contains("must be positive"));
}
