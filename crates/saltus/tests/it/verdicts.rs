//! The verdict: silent on good runs, and each trouble called by its name.

use saltus::model::independent::Independent;
use saltus::model::lattice::Lattice;
use saltus::model::pairwise::Pairwise;
use saltus::stats::Memory;
use saltus::{Run, Sampler, Settings, Summary};

fn ising(side: usize, coupling: f32) -> Pairwise {
    let lattice = Lattice::periodic(side, side).unwrap();
    Pairwise::ising_lattice(lattice, coupling, vec![0.0; side * side]).unwrap()
}

fn summary(model: &Pairwise, settings: &Settings) -> Summary {
    let run = Run::new(model, settings).references(4).watch_sites();
    Summary::new("ising", &run.go().unwrap())
}

#[track_caller]
fn assert_warns(summary: &Summary, words: &str) {
    assert!(summary.warnings.iter().any(|warning| warning.contains(words)), "{summary:#?}");
}

#[test]
fn good_runs_are_met_with_silence() {
    for seed in 0..10 {
        for sampler in [Sampler::Dlmc, Sampler::Gibbs, Sampler::Pas] {
            let settings = Settings {
                sampler,
                chains: 20,
                warmup: 1000,
                draws: 2000,
                seed,
                ..Settings::default()
            };
            let summary = summary(&ising(6, 0.2), &settings);
            assert!(summary.warnings.is_empty(), "{sampler} {seed}: {:?}", summary.warnings);
            let fine = summary.fine.join("; ");
            for words in ["every chain moved", "the chains agree", "worth", "forgotten their start"]
            {
                assert!(fine.contains(words), "{fine}");
            }
        }
    }
}

#[test]
fn chains_in_different_modes_are_named() {
    // Far below the critical temperature chains end all up or all down, and stay.
    let settings =
        Settings { chains: 12, warmup: 3000, draws: 2000, seed: 1, ..Settings::default() };
    let summary = summary(&ising(6, 0.9), &settings);
    assert_warns(&summary, "in different modes");
    assert_eq!(summary.overlap.unwrap().memory, Memory::Kept);
}

#[test]
fn a_short_warmup_is_noticed() {
    // One random site at a time on a large lattice: log π rises for thousands of steps.
    let settings = Settings {
        sampler: Sampler::Rwm,
        scale: Some(1.0),
        chains: 10,
        warmup: 0,
        draws: 2000,
        ..Settings::default()
    };
    let summary = summary(&ising(40, 0.3), &settings);
    assert_warns(&summary, "the warm-up of 0 steps was too short");
    assert_warns(&summary, "try --warmup 1000");
}

#[test]
fn too_few_draws_are_noticed() {
    let settings = Settings { chains: 4, warmup: 500, draws: 60, ..Settings::default() };
    let summary = summary(&ising(6, 0.2), &settings);
    assert_warns(&summary, "too few draws: all chains together are worth");
}

#[test]
fn frozen_and_constant_sites_are_told_apart() {
    // Fields so strong that nothing ever leaves its first state, which differs only at site 0.
    let model = Independent::bernoulli(vec![0.0, 80.0, -80.0, 80.0]).unwrap();
    let settings = Settings { chains: 6, warmup: 500, draws: 500, ..Settings::default() };
    let outcome = Run::new(&model, &settings).watch_sites().go().unwrap();
    let counts = Summary::new("bernoulli", &outcome).site_counts.unwrap();
    assert_eq!((counts.moving, counts.frozen, counts.constant), (1, 0, 3));

    let strong = ising(4, 100.0);
    let settings =
        Settings { sampler: Sampler::Gibbs, chains: 8, warmup: 200, draws: 50, ..settings };
    let summary = summary(&strong, &settings);
    let counts = summary.site_counts.unwrap();
    assert_eq!((counts.moving, counts.frozen + counts.constant), (0, 16));
    assert!(summary.observables.iter().all(|one| one.diagnosis.ess_bulk.is_none()));
    let json = serde_json::to_string(&summary).unwrap();
    assert!(!json.contains("NaN") && !json.contains("inf"), "{json}");
}

#[test]
fn what_sites_did_does_not_depend_on_threads() {
    let settings = |threads| Settings {
        chains: 9,
        warmup: 100,
        draws: 1500,
        threads: Some(threads),
        ..Settings::default()
    };
    let sites = |threads| {
        let model = ising(5, 0.3);
        Run::new(&model, &settings(threads)).watch_sites().go().unwrap().sites.unwrap()
    };
    assert_eq!(sites(1), sites(5));
}
