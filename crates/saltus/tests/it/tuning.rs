//! Tuning and thinning: no scale that is found by itself, and no thinning, keeps a sampler from its target.

use saltus::model::graph::Edge;
use saltus::model::independent::Independent;
use saltus::model::lattice::Lattice;
use saltus::model::pairwise::Pairwise;
use saltus::model::paper::{self, Temperature};
use saltus::{Assurance, Finding, Method, Model, Outcome, Run, Sampler, Settings, Summary};

fn settings(sampler: impl Into<Sampler>, chains: usize, warmup: usize, draws: usize) -> Settings {
    Settings { sampler: sampler.into(), chains, warmup, draws, ..Settings::default() }
}

fn run<M: Model>(model: &M, settings: Settings) -> Outcome {
    Run::new(model, settings).go().unwrap()
}

/// Four spins around a ring with J = 0.8, in fields.
const FIELDS: [f32; 4] = [0.3, -0.2, 0.1, 0.2];

fn ring() -> Pairwise {
    let edge = |from: u32| Edge { from, to: (from + 1) % 4, weight: 0.8 };
    Pairwise::ising(&[0, 1, 2, 3].map(edge), FIELDS.to_vec()).unwrap()
}

/// The mean of log π over all states of the ring, which is 2.714.
fn mean_of_the_ring() -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for state in 0..16u32 {
        let spin = |site: usize| if state >> (site % 4) & 1 == 1 { 1.0 } else { -1.0 };
        let log_prob: f64 = (0..4)
            .map(|site| 0.8 * spin(site) * spin(site + 1) + f64::from(FIELDS[site]) * spin(site))
            .sum();
        sum += log_prob * log_prob.exp();
        total += log_prob.exp();
    }
    sum / total
}

/// The mean of log π by a run of one chain, weighted where draws are.
fn mean_log_prob(outcome: &Outcome) -> f64 {
    let log_prob = outcome.trace.series("log_prob").unwrap();
    let log_prob: Vec<f64> = log_prob.iter().flatten().copied().collect();
    let weights: Vec<f64> = match outcome.trace.series("weight") {
        Some(weights) => weights.iter().flatten().copied().collect(),
        None => vec![1.0; log_prob.len()],
    };
    let sum: f64 = log_prob.iter().zip(&weights).map(|(value, weight)| value * weight).sum();
    sum / weights.iter().sum::<f64>()
}

/// Spins that hardly see each other: a step that flips all of them is always accepted, and leads back.
fn nearly_flat() -> Pairwise {
    Pairwise::ising_lattice(Lattice::free(6, 6).unwrap(), 0.05, vec![0.0; 36]).unwrap()
}

#[test]
fn flat_ground_is_not_crossed_to_and_fro() {
    const DRAWS: usize = 4000;
    let model = nearly_flat();
    for method in [Method::Rwm, Method::Dmala, Method::Pas, Method::Dlmc, Method::Dlmcf] {
        let outcome = run(&model, settings(method, 1, 1000, DRAWS));
        let series = outcome.trace.series("log_prob").unwrap();
        let draws: Vec<f64> = series.iter().flatten().copied().collect();
        let mean = draws.iter().sum::<f64>() / DRAWS as f64;
        let sd =
            (draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / DRAWS as f64).sqrt();
        // To the fourth order in J the mean is J (60 tanh J + 100 tanh³ J), and the variance its derivative
        // times J: 0.1504 and 0.39². A fresh draw every few steps knows them to a few hundredths.
        assert!((mean - 0.1504).abs() < 0.08, "{method}: {mean}");
        assert!((sd - 0.39).abs() < 0.05, "{method}: {sd}");
        assert!(outcome.sites_changed_per_step < 19.0, "{method}");
    }
}

#[test]
fn every_second_step_sees_all_states() {
    let exact = mean_of_the_ring();
    assert!((exact - 2.714).abs() < 5e-4, "{exact}");
    let of_scale = |method, scale| Sampler { scale: Some(scale), ..Sampler::new(method) };
    for sampler in [
        Sampler::dld(),
        Sampler::gwg(),
        Sampler::lb1(),
        of_scale(Method::Rwm, 2.0),
        of_scale(Method::Pas, 2.0),
    ] {
        for thin in [1, 2, 3] {
            let settings = Settings { thin, ..settings(sampler.clone(), 1, 100, 20_000) };
            let mean = mean_log_prob(&run(&ring(), settings));
            assert!((mean - exact).abs() < 0.1, "{sampler}, every step of {thin}: {mean}");
        }
    }
}

#[test]
fn no_chain_is_left_behind_on_a_cold_lattice() {
    let lattice = Lattice::free(20, 20).unwrap();
    let model = paper::ising(Temperature::Low, lattice, 0).unwrap();
    for method in [Method::Dlmc, Method::Dlmcf] {
        let outcome = run(&model, settings(method, 40, 3000, 100));
        assert!(outcome.stuck.is_empty(), "{method}: {:?}", outcome.stuck);
    }
}

#[test]
fn steps_that_cannot_be_bolder_are_no_fault_of_the_warm_up() {
    let bits = Independent::bernoulli(vec![0.3; 50]).unwrap();
    for method in [Method::Dlmc, Method::Dlmcf] {
        let summary = Summary::new("bits", &run(&bits, settings(method, 4, 300, 500)));
        assert!(summary.findings.is_empty(), "{method}: {:?}", summary.findings);
        let boldest = |fine: &Assurance| matches!(fine, Assurance::Boldest { .. });
        assert!(summary.assurances.iter().any(boldest), "{method}: {:?}", summary.assurances);
    }
    // Couplings under which most of what is drawn from the conditional distributions is accepted, and not all.
    let model = nearly_flat();
    for method in [Method::Dlmc, Method::Dlmcf] {
        let outcome = run(&model, settings(method, 8, 1000, 500));
        assert!((0.7..0.95).contains(&outcome.acceptance), "{method}: {}", outcome.acceptance);
        let summary = Summary::new("ising", &outcome);
        let tuning = |finding: &Finding| finding.code() == "acceptance";
        assert!(!summary.findings.iter().any(tuning), "{method}: {:?}", summary.findings);
        let fine = summary.assurances.iter().map(ToString::to_string).collect::<String>();
        assert!(fine.contains("cannot be made bolder"), "{method}: {fine}");
    }
}

#[test]
fn four_draws_say_nothing_about_tuning() {
    for seed in 0..20 {
        let settings = Settings { seed, ..settings(Method::Dlmc, 1, 300, 4) };
        let lattice = Lattice::periodic(8, 8).unwrap();
        let model = Pairwise::ising_lattice(lattice, 0.4, vec![0.0; 64]).unwrap();
        let summary = Summary::new("ising", &run(&model, settings));
        let tuning = |finding: &Finding| finding.code() == "acceptance";
        assert!(!summary.findings.iter().any(tuning), "{seed}: {:?}", summary.findings);
    }
}

#[test]
fn a_step_of_dmala_that_flips_every_site_cannot_be_set() {
    let bits = Independent::bernoulli(vec![0.0; 4]).unwrap();
    let sampler = Sampler { scale: Some(2.0), ..Sampler::dmala() };
    let refused = Run::new(&bits, settings(sampler, 1, 10, 10)).go().err().unwrap().to_string();
    assert!(refused.contains("a step size from 1e-9 to 1, got 2"), "{refused}");
}
