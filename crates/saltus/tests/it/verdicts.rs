//! The verdict: silent on good runs, and each trouble called by its name.

use saltus::model::independent::Independent;
use saltus::model::lattice::Lattice;
use saltus::model::pairwise::Pairwise;
use saltus::stats::Memory;
use saltus::{Advice, Assurance, Finding, Method, Model, Run, Sampler, Settings, Summary};

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

#[test]
fn one_chain_is_told_what_it_cannot_know() {
    let settings =
        Settings { chains: 1, warmup: 1000, draws: 4000, ..Settings::from(Sampler::gibbs()) };
    let summary = summary(&ising(6, 0.1), settings);
    assert_eq!(summary.findings, [Finding::OneChain]);
    assert!(!summary.converged);
    assert_eq!(summary.findings[0].advice(), [Advice::Chains(4)]);
}

#[test]
fn chains_in_one_of_two_equal_modes_are_found_out() {
    // All chains up, which no R-hat can see; the model without fields knows better.
    let model = ising(6, 0.9);
    let settings =
        Settings { chains: 4, warmup: 200, draws: 2000, ..Settings::from(Sampler::gibbs()) };
    let run = Run::new(&model, settings).observe_as_usual().start_from(vec![1; 4 * 36]);
    let summary = Summary::new("ising", &run.go().unwrap());
    assert!(summary.largest_rhat.unwrap() < 1.05);
    let finding = found(&summary, "asymmetric");
    let Finding::Asymmetric { observable, mean, exact, .. } = finding else { panic!("{finding}") };
    assert_eq!((observable.as_str(), *exact), ("magnetisation", 0.0));
    assert!(*mean > 0.9, "{finding}");
    // Three colours of a Potts model, by the distance to a random state.
    let lattice = Lattice::periodic(5, 5).unwrap();
    let model = Pairwise::potts_lattice(lattice, 3, 1.6, &[0.0; 75]).unwrap();
    let settings =
        Settings { chains: 4, warmup: 200, draws: 2000, ..Settings::from(Sampler::gibbs()) };
    let run = Run::new(&model, settings).observe_as_usual().start_from(vec![2; 4 * 25]);
    let summary = Summary::new("potts", &run.go().unwrap());
    let finding = found(&summary, "asymmetric");
    assert!(finding.to_string().contains("is 16.7, and not"), "{finding}");
}

#[test]
#[cfg(feature = "zarr")]
fn a_stored_run_is_judged_as_it_was() {
    use saltus::store::{Description, StoreWriter, Stored};
    use saltus::{Elsewhere, Scouts};
    let (model, folder) = (ising(6, 0.9), tempfile::tempdir().unwrap());
    let (path, settings) = (folder.path().join("run"), Settings::from(Sampler::gibbs()));
    let settings = Settings { chains: 4, warmup: 200, draws: 2000, ..settings };
    let description = || Description::new("ising", model.space(), &settings);
    let mut writer = StoreWriter::create(&path, description(), false).unwrap();
    let run = Run::new(&model, settings.clone()).observe_as_usual().start_from(vec![1; 4 * 36]);
    run.go_into(&mut writer).unwrap();
    drop(writer);
    let read = || Summary::new("ising", &Stored::open(&path).unwrap().outcome().unwrap());
    found(&read(), "asymmetric");
    // What scouts of another run found stays with it until it goes on.
    let by = Elsewhere { observable: "magnetisation".to_owned(), here: 0.9, there: -0.9 };
    let scouts = Scouts { sent: 8, elsewhere: 3, by: Some(by), unsent: None };
    StoreWriter::put_scouts(&path, &scouts).unwrap();
    assert_eq!(read().scouts, Some(scouts));
    found(&read(), "elsewhere");
    drop(StoreWriter::resume(&path, description()).unwrap());
    assert_eq!(read().scouts, None);
}

#[test]
fn bits_that_move_one_at_a_time_are_slow_and_in_no_modes() {
    // Independent bits, of which a random walk flips at most one per step.
    let bits = Independent::bernoulli(vec![0.1; 400]).unwrap();
    let sampler = Sampler { scale: Some(1.0), ..Sampler::rwm() };
    for (chains, draws) in [(4, 300), (20, 300), (20, 1000)] {
        let settings = Settings { chains, warmup: 100, draws, ..Settings::from(sampler.clone()) };
        let run = Run::new(&bits, settings).observe_as_usual();
        let summary = Summary::new("bits", &run.go().unwrap());
        let codes: Vec<&str> = summary.findings.iter().map(Finding::code).collect();
        assert!(!codes.contains(&"disagree"), "{codes:?}");
        let finding = found(&summary, "too-slow");
        assert!(finding.to_string().contains("too slow to tell"), "{finding}");
        // What effective draws would mean nothing for.
        assert_eq!((summary.ess_per_second, summary.effective_draws_per_second), (None, None));
    }
}

#[test]
fn a_chain_on_level_ground_is_noticed() {
    // Two states of the same probability, to and fro.
    let model = Independent::bernoulli(vec![0.0; 6]).unwrap();
    let settings = Settings { chains: 3, warmup: 50, draws: 500, ..Settings::default() };
    let summary = Summary::new("bits", &Run::new(&model, settings).go().unwrap());
    let finding = found(&summary, "level");
    assert_eq!(finding, &Finding::Level { chains: 3, of: 3 });
}

#[test]
fn what_a_sampler_does_is_no_reason_to_warn() {
    // Nearly every step changes the same number of sites, so that few of its draws count.
    let settings = Settings { chains: 8, warmup: 500, draws: 2000, ..Settings::default() };
    let mut summary = summary(&ising(6, 0.2), settings.clone());
    assert!(summary.findings.is_empty(), "{:?}", summary.findings);
    let changed = summary.observables.iter_mut().find(|one| one.name == "sites_changed").unwrap();
    assert!(changed.diagnosis.rhat.is_some());
    assert_ne!(summary.effective_draws.unwrap().observable, "sites_changed");
}

#[test]
fn stop_rules_look_at_what_the_verdict_looks_at() {
    for seed in 0..5 {
        let settings = Settings {
            chains: 4,
            warmup: 500,
            draws: 1_000_000,
            until_ess: Some(1000.0),
            seed,
            ..Settings::from(Sampler::gibbs())
        };
        // Its mean spin is far slower than everything else.
        let model = ising(6, 0.35);
        let outcome = Run::new(&model, settings).observe_as_usual().go().unwrap();
        assert_eq!(outcome.ended.rule(), "until-ess");
        let summary = Summary::new("ising", &outcome);
        let few = summary.findings.iter().find(|finding| finding.code() == "too-few-draws");
        assert_eq!(few, None, "seed {seed}");
        assert!(summary.effective_draws.unwrap().ess > 500.0, "seed {seed}");
    }
}

/// What two samplers find of a cold ferromagnet in a weak field, each with all its chains in one of the two modes.
fn rivals(starts: [u8; 2]) -> Vec<Summary> {
    let lattice = Lattice::periodic(4, 4).unwrap();
    let model = Pairwise::ising_lattice(lattice, 0.8, vec![0.04; 16]).unwrap();
    let mut runs: Vec<Summary> = [Sampler::gibbs(), Sampler::dlmc()]
        .into_iter()
        .zip(starts)
        .map(|(sampler, start)| {
            let settings = Settings { chains: 2, warmup: 500, draws: 2000, ..sampler.into() };
            let run = Run::new(&model, settings).start_from(vec![start; 32]);
            Summary::new("ising", &run.go().unwrap())
        })
        .collect();
    Summary::confront(&mut runs);
    runs
}

#[test]
fn samplers_that_contradict_each_other_are_not_ranked() {
    let runs = rivals([0, 1]);
    for (run, other) in [(&runs[0], "dlmc"), (&runs[1], "gibbs")] {
        let Finding::Contradicted { by, .. } = found(run, "contradicted") else { panic!() };
        assert_eq!(by, other);
        assert!(run.effective_draws_per_second.is_none() && run.ess_per_evaluation.is_none());
        assert!(!run.converged);
    }
    for run in rivals([1, 1]) {
        assert!(run.findings.iter().all(|finding| finding.code() != "contradicted"));
        assert!(run.effective_draws_per_second.is_some() && run.ess_per_evaluation.is_some());
    }
}
