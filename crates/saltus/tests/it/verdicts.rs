//! The verdict: silent on good runs, and each trouble called by its name.

use saltus::model::independent::Independent;
use saltus::model::lattice::Lattice;
use saltus::model::pairwise::Pairwise;
use saltus::stats::Memory;
use saltus::{Assurance, Finding, Method, Run, Sampler, Settings, Summary};

fn ising(side: usize, coupling: f32) -> Pairwise {
    let lattice = Lattice::periodic(side, side).unwrap();
    Pairwise::ising_lattice(lattice, coupling, vec![0.0; side * side]).unwrap()
}

fn summary(model: &Pairwise, settings: Settings) -> Summary {
    let run = Run::new(model, settings).references(4).watch_sites();
    Summary::new("ising", &run.go().unwrap())
}

/// The finding of that code.
#[track_caller]
fn found<'a>(summary: &'a Summary, code: &str) -> &'a Finding {
    let found = summary.findings.iter().find(|finding| finding.code() == code);
    found.unwrap_or_else(|| panic!("no {code}: {summary:#?}"))
}

#[test]
fn good_runs_are_met_with_silence() {
    for seed in 0..10 {
        for method in [Method::Dlmc, Method::Gibbs, Method::Pas] {
            let settings = Settings {
                sampler: method.into(),
                chains: 20,
                warmup: 1000,
                draws: 2000,
                seed,
                ..Settings::default()
            };
            let summary = summary(&ising(6, 0.2), settings);
            assert!(summary.findings.is_empty(), "{method} {seed}: {:?}", summary.findings);
            assert!(summary.converged);
            let [moved, agree, enough, forgotten] = &summary.assurances[..] else {
                panic!("{method} {seed}: {:?}", summary.assurances)
            };
            assert_eq!(moved, &Assurance::Moved { chains: 20 });
            assert!(matches!(agree, Assurance::Agree { rhat } if *rhat <= 1.05), "{agree}");
            assert!(matches!(enough, Assurance::Enough { ess, .. } if *ess >= 400.0), "{enough}");
            assert_eq!(forgotten, &Assurance::Forgotten);
            let fine: Vec<String> = summary.assurances.iter().map(ToString::to_string).collect();
            let fine = fine.join("; ");
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
    let summary = summary(&ising(6, 0.9), settings);
    let finding = found(&summary, "disagree");
    assert!(finding.to_string().contains("in different modes"), "{finding}");
    assert!(!summary.converged);
    assert_eq!(summary.overlap.unwrap().memory, Memory::Kept);
}

#[test]
fn a_short_warmup_is_noticed() {
    // One random site at a time on a large lattice: log π rises for thousands of steps.
    let settings = Settings {
        sampler: Sampler { scale: Some(1.0), ..Sampler::rwm() },
        chains: 10,
        warmup: 0,
        draws: 2000,
        ..Settings::default()
    };
    let summary = summary(&ising(40, 0.3), settings);
    let finding = found(&summary, "short-warmup");
    assert!(matches!(finding, Finding::ShortWarmup { warmup: 0, .. }), "{finding}");
    assert!(finding.to_string().contains("the warm-up of 0 steps was too short"), "{finding}");
}

#[test]
fn too_few_draws_are_noticed() {
    let settings = Settings { chains: 4, warmup: 500, draws: 60, ..Settings::default() };
    let summary = summary(&ising(6, 0.2), settings);
    let finding = found(&summary, "too-few-draws");
    let sentence = finding.to_string();
    assert!(sentence.contains("too few draws: all chains together are worth"), "{sentence}");
    let Finding::TooFewDraws { fewest: Some((_, ess)), .. } = finding else { panic!("{sentence}") };
    assert!(*ess < 400.0, "{ess}");
}

#[test]
fn frozen_and_constant_sites_are_told_apart() {
    // Fields so strong that nothing ever leaves its first state, which differs only at site 0.
    let model = Independent::bernoulli(vec![0.0, 80.0, -80.0, 80.0]).unwrap();
    let settings = Settings { chains: 6, warmup: 500, draws: 500, ..Settings::default() };
    let outcome = Run::new(&model, settings.clone()).watch_sites().go().unwrap();
    let counts = Summary::new("bernoulli", &outcome).site_counts.unwrap();
    assert_eq!((counts.moving, counts.frozen, counts.constant), (1, 0, 3));

    let strong = ising(4, 100.0);
    let settings =
        Settings { sampler: Sampler::gibbs(), chains: 8, warmup: 200, draws: 50, ..settings };
    let summary = summary(&strong, settings);
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
        Run::new(&model, settings(threads)).watch_sites().go().unwrap().sites.unwrap()
    };
    assert_eq!(sites(1), sites(5));
}
