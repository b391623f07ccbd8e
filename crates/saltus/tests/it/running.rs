//! How runs behave: the same bytes for any number of threads, tuning that holds its promises,
//! stops that keep what was drawn, and failures that name chain and step.

use saltus::model::callable::Callable;
use saltus::model::erased::Erased;
use saltus::model::fhmm::Fhmm;
use saltus::model::independent::Independent;
use saltus::model::lattice::Lattice;
use saltus::model::pairwise::Pairwise;
use saltus::model::paper::{self, Temperature};
use saltus::model::rbm::Rbm;
use saltus::{
    Balancing, Control, Differences, Ended, Finding, Method, Model, ModelError, Run, RunError,
    Sampler, Settings, Solver, Space, States, Summary, run,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn small_ising() -> Pairwise {
    let field = (0..35).map(|i| (i as f32).sin()).collect();
    Pairwise::ising_lattice(Lattice::free(5, 7).unwrap(), 0.4, field).unwrap()
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let fields: Vec<f32> = (0..80).map(|i| (i as f32 * 1.3).sin()).collect();
    let potts = Pairwise::potts_lattice(Lattice::free(4, 5).unwrap(), 4, 0.8, &fields).unwrap();
    for method in Method::ALL.iter().copied().filter(|method| method.is_general()) {
        let settings = Settings {
            sampler: method.into(),
            chains: 7,
            warmup: 60,
            draws: 40,
            ..Settings::default()
        };
        let run = |threads| {
            let settings = Settings { threads: Some(threads), ..settings.clone() };
            let binary = Run::new(&small_ising(), settings.clone()).keep_states().go().unwrap();
            let values = Run::new(&potts, settings.clone()).keep_states().go().unwrap();
            (binary.trace, binary.scale, values.trace, values.scale)
        };
        let one = run(1);
        assert_eq!(one, run(2), "{method}");
        assert_eq!(one, run(5), "{method}");
    }
}

#[test]
fn runs_of_different_seeds_can_share_their_reference() {
    // Every chain ends in the same state, so that its distance tells the reference.
    let model = Independent::bernoulli(vec![60.0; 200]).unwrap();
    let distances = |seed, reference| {
        let settings = Settings { seed, chains: 2, warmup: 100, draws: 5, ..Settings::default() };
        let run = Run::new(&model, settings.clone()).reference_seed(reference);
        run.go().unwrap().trace.hamming().to_vec()
    };
    assert_eq!(distances(1, 7), distances(2, 7));
    assert_ne!(distances(1, 7), distances(1, 8));
    let settings = Settings { seed: 1, chains: 2, warmup: 100, draws: 5, ..Settings::default() };
    assert_eq!(run::sample(&model, settings.clone()).unwrap().trace.hamming(), distances(1, 1));
}

#[test]
fn solvers_are_the_samplers_they_say() {
    let fields: Vec<f32> = (0..80).map(|i| (i as f32 * 1.3).sin()).collect();
    let potts = Pairwise::potts_lattice(Lattice::free(4, 5).unwrap(), 4, 0.8, &fields).unwrap();
    let base = Settings { chains: 3, warmup: 60, draws: 40, ..Settings::default() };
    let with = |method: Method, solver| Settings {
        sampler: Sampler { solver, ..method.into() },
        ..base.clone()
    };
    let draws = |settings: &Settings| run::sample(&potts, settings.clone()).unwrap().trace;
    let euler = draws(&with(Method::Dlmc, Solver::Euler));
    assert_eq!(euler, draws(&with(Method::Dlmcf, Solver::Interpolate)));
    let exact = with(Method::Dlmc, Solver::Exact);
    let interpolated = with(Method::Dlmc, Solver::Interpolate);
    assert_ne!(draws(&exact), draws(&interpolated));
    // Two values have nothing to approximate.
    let two = |settings: &Settings| run::sample(&small_ising(), settings.clone()).unwrap().trace;
    assert_eq!(two(&exact), two(&interpolated));
    let refused = run::sample(&potts, with(Method::Gwg, Solver::Exact)).unwrap_err();
    assert!(refused.to_string().contains("gwg has no solver to choose"), "{refused}");
}

#[test]
fn another_seed_gives_other_draws() {
    let run = |seed| {
        let settings = Settings { seed, chains: 2, warmup: 10, draws: 10, ..Settings::default() };
        run::sample(&small_ising(), settings.clone()).unwrap().trace
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn factorised_targets_are_drawn_independently() {
    // DLMC accepts everything at any step size on independent sites, so the step size grows to its
    // cap and draws become independent.
    // The estimator itself finds a little less than n in n independent draws, 0.978 n here.
    let bernoulli = paper::bernoulli(Temperature::Low, 300, 3).unwrap();
    let categorical = paper::categorical(100, 8, 3).unwrap();
    for balancing in [Balancing::Sqrt, Balancing::Ratio] {
        let sampler = Sampler { balancing, ..Sampler::dlmc() };
        let settings = Settings { draws: 5000, ..Settings::from(sampler) };
        for summary in [
            Summary::new("bernoulli", &run::sample(&bernoulli, settings.clone()).unwrap()),
            Summary::new("categorical", &run::sample(&categorical, settings.clone()).unwrap()),
        ] {
            assert!(summary.acceptance > 0.9999, "{}", summary.acceptance);
            assert!(summary.ess.mean > 0.97 * 5000.0, "{}", summary.ess.mean);
            assert!((summary.scale.unwrap() - 16.0).abs() < 0.1);
            assert!(summary.findings.is_empty(), "{:?}", summary.findings);
        }
    }
}

#[test]
fn ising_is_tuned_and_mixes_from_a_random_start() {
    tuned_and_mixed(1..=1);
}

#[test]
#[ignore = "takes minutes; .ci/night runs it"]
fn ising_is_tuned_and_mixes_from_many_random_starts() {
    tuned_and_mixed(1..=5);
}

fn tuned_and_mixed(seeds: std::ops::RangeInclusive<u64>) {
    let lattice = Lattice::free(50, 50).unwrap();
    let model = paper::ising(Temperature::High, lattice, 0).unwrap();
    for (method, least) in [(Method::Dlmc, 0.019), (Method::Dmala, 0.009)] {
        for seed in seeds.clone() {
            let settings =
                Settings { sampler: method.into(), seed, draws: 3000, ..Settings::default() };
            let summary = Summary::new("ising", &run::sample(&model, settings.clone()).unwrap());
            assert!((summary.acceptance - 0.574).abs() < 0.03, "{method}: {}", summary.acceptance);
            let per_draw = summary.ess.mean / 3000.0;
            assert!(per_draw >= least, "{method}, seed {seed}: {per_draw}");
            assert!(summary.ess.min > 0.0);
            assert!(summary.findings.is_empty(), "{:?}", summary.findings);
        }
    }
}

#[test]
fn tuning_meets_its_target_on_a_sharp_model_from_a_random_start() {
    // (A start where nothing at all is accepted is a unit test of the tuner.)
    let model = paper::ising(Temperature::Low, Lattice::free(20, 20).unwrap(), 1).unwrap();
    for method in [Method::Pas, Method::Dmala, Method::Dlmcf, Method::Dlmc] {
        let settings = Settings {
            sampler: method.into(),
            chains: 8,
            warmup: 2000,
            draws: 500,
            ..Settings::default()
        };
        let outcome = run::sample(&model, settings.clone()).unwrap();
        assert!((outcome.acceptance - 0.574).abs() < 0.1, "{method}: {}", outcome.acceptance);
    }
}

#[test]
fn every_kept_draw_is_made_with_the_scale_that_is_reported() {
    // The tuned run, and one that has the reported scale from the start and as many steps: their
    // acceptance over the draws must agree.
    let settings = Settings { chains: 40, warmup: 1000, draws: 4000, ..Settings::default() };
    let tuned = run::sample(&small_ising(), settings.clone()).unwrap();
    let sampler = Sampler { scale: tuned.scale, ..Sampler::dlmc() };
    let fixed = Settings { sampler, ..settings };
    let fixed = run::sample(&small_ising(), fixed.clone()).unwrap();
    assert_eq!(fixed.scale, tuned.scale);
    assert!((tuned.acceptance - fixed.acceptance).abs() < 0.005);
}

#[test]
fn evaluations_are_counted_as_charged_and_as_made() {
    let potts = paper::potts(Lattice::free(5, 4).unwrap(), 4, 0).unwrap();
    let (n, c) = (20.0, 4.0);
    for (method, charged, made) in [
        (Method::Rwm, 2.0, 1.0),
        (Method::Hb, 1.0 + 10.0 * (c - 1.0), 10.0 * (c - 1.0) + 30.0 / 31.0),
        (Method::Bg, c * c, c * c - 1.0),
        (Method::Gibbs, n * c, n * (c - 1.0)),
        (Method::Lb1, 2.0 * (n * (c - 1.0) + 1.0), 1.0),
        (Method::Gwg, 4.0, 1.0),
        (Method::Pas, 4.0, 1.0),
        (Method::Dmala, 4.0, 1.0),
        (Method::Dlmcf, 4.0, 1.0),
        (Method::Dlmc, 4.0, 1.0),
    ] {
        let settings = Settings {
            sampler: method.into(),
            chains: 20,
            warmup: 100,
            draws: 500,
            ..Settings::default()
        };
        let summary = Summary::new("potts", &run::sample(&potts, settings.clone()).unwrap());
        assert_eq!(summary.evaluations_per_step, charged, "{method}");
        let found = summary.evaluations_performed_per_step;
        assert!((found - made).abs() < 0.01, "{method}: {found}");
    }
}

/// An RBM that counts how often it is evaluated, and cuts blocks as it is told.
struct Watched<M> {
    model: M,
    block: usize,
    calls: AtomicUsize,
}

impl<M: Model> Model for Watched<M> {
    type Cache = M::Cache;

    fn space(&self) -> &Space {
        self.model.space()
    }

    fn new_cache(&self, chains: usize) -> Self::Cache {
        self.model.new_cache(chains)
    }

    fn log_prob(
        &self,
        states: States<'_>,
        cache: &mut Self::Cache,
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        self.model.log_prob(states, cache, log_prob)
    }

    fn log_prob_and_diff(
        &self,
        kind: Differences,
        states: States<'_>,
        cache: &mut Self::Cache,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.model.log_prob_and_diff(kind, states, cache, log_prob, diff)
    }

    fn is_incremental(&self) -> bool {
        self.model.is_incremental()
    }

    fn follow(
        &self,
        state: &[u8],
        chain: usize,
        cache: &mut Self::Cache,
    ) -> Result<f64, ModelError> {
        self.model.follow(state, chain, cache)
    }

    fn site_diff(
        &self,
        state: &[u8],
        chain: usize,
        cache: &mut Self::Cache,
        site: usize,
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        self.model.site_diff(state, chain, cache, site, diff)
    }

    fn set_site(
        &self,
        state: &mut [u8],
        chain: usize,
        cache: &mut Self::Cache,
        site: usize,
        value: u8,
    ) {
        self.model.set_site(state, chain, cache, site, value);
    }

    fn block_size(&self, _chains: usize) -> usize {
        self.block
    }
}

#[test]
fn a_step_evaluates_the_model_once() {
    let watched = Watched { model: small_ising(), block: 5, calls: AtomicUsize::new(0) };
    for method in [Method::Gwg, Method::Pas, Method::Dmala, Method::Dlmcf, Method::Dlmc] {
        watched.calls.store(0, Ordering::Relaxed);
        let settings = Settings {
            sampler: method.into(),
            chains: 5,
            warmup: 0,
            draws: 500,
            ..Settings::default()
        };
        run::sample(&watched, settings.clone()).unwrap();
        // One at the start, and one for each step of the whole block.
        assert_eq!(watched.calls.load(Ordering::Relaxed), 501, "{method}");
    }
}

#[test]
fn chains_do_not_see_the_block_they_are_in() {
    fn check(name: &str, model: impl Model + 'static) {
        let model = Erased::new(model);
        let mut watched = Watched { model, block: 1, calls: AtomicUsize::new(0) };
        for method in Method::ALL.iter().copied().filter(|method| method.is_general()) {
            let settings = Settings {
                sampler: method.into(),
                chains: 7,
                warmup: 50,
                draws: 50,
                ..Settings::default()
            };
            let mut traces = [1, 3, 7].map(|block| {
                watched.block = block;
                Run::new(&watched, settings.clone()).keep_states().go().unwrap().trace
            });
            traces.sort_by_key(|trace| trace.draws());
            assert!(traces[0] == traces[1] && traces[1] == traces[2], "{method} on {name}");
        }
    }
    check("fhmm", Fhmm::simulate(6, 3, 2, 1).unwrap());
    check("fhmm of three values", Fhmm::simulate(6, 3, 3, 1).unwrap());
    check("rbm", Rbm::random(20, 7, 2, 1).unwrap());
    check("rbm of three values", Rbm::random(12, 7, 3, 1).unwrap());
}

#[test]
fn a_chain_that_moves_is_not_called_stuck() {
    // One site of 256 values: the distance to the reference is almost always one.
    let model = Independent::categorical(256, &[0.0; 256]).unwrap();
    let settings = Settings { chains: 3, warmup: 50, draws: 50, ..Settings::default() };
    let outcome = run::sample(&model, settings.clone()).unwrap();
    assert!(outcome.stuck.is_empty() && outcome.sites_changed_per_step > 0.5);
    let summary = Summary::new("one site", &outcome);
    assert!(summary.findings.iter().all(|finding| finding.code() != "stuck"));
}

#[test]
fn a_start_outside_the_space_and_a_taken_name_are_refused() {
    let model = Callable::new(Space::new(3, 2).unwrap(), |_, log_prob| {
        log_prob.fill(0.0);
        Ok(())
    })
    .with_initial_state(|_, state| state.fill(2));
    let error = run::sample(&model, Settings::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the model started a chain with value 2 at site 0, but values go from 0 to 1"
    );
    let ising = small_ising();
    let settings = Settings { chains: 2, warmup: 0, draws: 1, ..Settings::default() };
    let sites = ising.space().sites();
    let from = |states: Vec<u8>| Run::new(&ising, settings.clone()).start_from(states).go();
    let short = RunError::Starts { bytes: sites, chains: 2, sites };
    assert_eq!(from(vec![0; sites]).unwrap_err(), short);
    assert!(matches!(from(vec![2; 2 * sites]).unwrap_err(), RunError::InitialState { .. }));
    assert!(from(vec![1; 2 * sites]).unwrap().ended.is_success());
    let error =
        Run::new(&ising, settings.clone()).observe("log_prob", |_: &[u8]| 0.0).go().unwrap_err();
    assert_eq!(error, RunError::ObservableName("log_prob".to_owned()));
}

#[test]
fn exact_energies_of_the_periodic_ising_model() {
    // L, β, E/N from Kaufman's finite-size solution; log π = −β·E.
    let critical = (1.0 + 2f64.sqrt()).ln() / 2.0;
    let table = [
        (8, 0.40, -1.222321),
        (8, critical, -1.491589),
        (16, 0.30, -0.704533),
        (16, critical, -1.453065),
    ];
    for (side, beta, energy) in table {
        let lattice = Lattice::periodic(side, side).unwrap();
        let sites = side * side;
        let model = Pairwise::ising_lattice(lattice, beta as f32, vec![0.0; sites]).unwrap();
        let exact = -beta * energy * sites as f64;
        for method in Method::ALL.iter().copied().filter(|method| method.is_general()) {
            // One site at a time does not reach the larger lattices in a short run.
            let sweeps = match method {
                Method::Gibbs => 1,
                Method::Dmala | Method::Dlmcf | Method::Dlmc | Method::Pas => 4,
                Method::Lb1 | Method::Gwg | Method::Dld => sites / 8,
                _ => sites,
            };
            if side == 16 && beta > 0.4 && sweeps > 4 {
                continue;
            }
            let settings = Settings {
                sampler: method.into(),
                chains: 40,
                warmup: 500 * sweeps,
                draws: 1000,
                thin: sweeps,
                seed: 2,
                ..Settings::default()
            };
            let summary = Summary::new("ising", &run::sample(&model, settings.clone()).unwrap());
            let (mean, mcse) = (summary.log_prob.mean.unwrap(), summary.log_prob.mcse.unwrap());
            let case = format!("{method}, {side}x{side} at {beta}: {mean} ± {mcse}, exact {exact}");
            assert!((mean - exact).abs() < 4.0 * mcse, "{case}");
            assert!(mcse < 0.02 * exact, "too uncertain to say anything: {case}");
        }
    }
}

/// The torus as a list of edges, which nothing tells to be a lattice.
#[test]
fn exact_energies_of_the_torus_as_a_graph() {
    for (side, beta, energy) in [(8, 0.40, -1.222321), (16, 0.30, -0.704533), (32, 0.40, -1.107292)]
    {
        let sites = side * side;
        let edges = Lattice::periodic(side, side).unwrap().edges(beta as f32);
        let model = Pairwise::ising(&edges, vec![0.0; sites]).unwrap();
        let exact = -beta * energy * sites as f64;
        let settings = Settings {
            sampler: Method::Gibbs.into(),
            chains: 40,
            warmup: 500,
            draws: 1000,
            seed: 2,
            ..Settings::default()
        };
        let summary = Summary::new("torus", &run::sample(&model, settings).unwrap());
        let (mean, mcse) = (summary.log_prob.mean.unwrap(), summary.log_prob.mcse.unwrap());
        let case = format!("{side}x{side} at {beta}: {mean} ± {mcse}, exact {exact}");
        assert!((mean - exact).abs() < 4.0 * mcse, "{case}");
        assert!(mcse < 0.01 * exact, "too uncertain to say anything: {case}");
    }
}

/// An Ising chain whose log π turns bad after a number of evaluations.
struct Bad {
    good: Pairwise,
    evaluations: AtomicUsize,
    limit: usize,
    bad: f64,
}

impl Bad {
    fn after(limit: usize, bad: f64) -> Self {
        Self { good: small_ising(), evaluations: AtomicUsize::new(0), limit, bad }
    }
}

impl Model for Bad {
    type Cache = <Pairwise as Model>::Cache;

    fn space(&self) -> &Space {
        self.good.space()
    }

    fn new_cache(&self, chains: usize) -> Self::Cache {
        self.good.new_cache(chains)
    }

    fn log_prob(
        &self,
        states: States<'_>,
        cache: &mut Self::Cache,
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        self.good.log_prob(states, cache, log_prob)?;
        if self.evaluations.fetch_add(1, Ordering::Relaxed) >= self.limit {
            log_prob.fill(self.bad);
        }
        Ok(())
    }
}

#[test]
fn a_bad_log_prob_stops_the_run_and_keeps_the_draws() {
    for bad in [f64::NAN, f64::INFINITY] {
        for method in [Method::Rwm, Method::Dlmc, Method::Gwg, Method::Gibbs, Method::Hb] {
            let model = Bad::after(40_000, bad);
            let settings = Settings {
                sampler: method.into(),
                chains: 1,
                warmup: 10,
                draws: 100_000,
                threads: Some(1),
                ..Settings::default()
            };
            let outcome = run::sample(&model, settings.clone()).unwrap();
            let Ended::Failed { chain: 0, step, .. } = outcome.ended else {
                panic!("{method}: {:?}", outcome.ended)
            };
            assert!(step > 10 && outcome.trace.draws() == step - 10, "{method}: step {step}");
            assert!(outcome.trace.log_prob()[0].iter().all(|log_prob| log_prob.is_finite()));
        }
    }
}

#[test]
fn a_forbidden_state_is_rejected_and_never_kept() {
    let model = Bad::after(1, f64::NEG_INFINITY);
    for method in [Method::Rwm, Method::Dlmc, Method::Pas] {
        let settings = Settings {
            sampler: Sampler { scale: Some(1.0), ..method.into() },
            chains: 1,
            warmup: 0,
            draws: 50,
            ..Settings::default()
        };
        model.evaluations.store(0, Ordering::Relaxed);
        // Only the very first evaluation is allowed: the differences there are all −∞.
        let outcome = run::sample(&model, settings.clone()).unwrap();
        assert_eq!(outcome.ended, Ended::Complete);
        assert_eq!(outcome.sites_changed_per_step, 0.0);
        let summary = Summary::new("bad", &outcome);
        assert_eq!((summary.ess.mean, summary.rhat), (0.0, None));
        let stuck = Finding::Stuck { chains: vec![0], of: 1 };
        assert_eq!(summary.findings[0], stuck);
        assert!(stuck.to_string().contains("1 of 1 chains is stuck"), "{stuck}");
    }
}

#[test]
fn stopping_keeps_what_was_drawn() {
    let settings = Settings { chains: 3, warmup: 20, draws: usize::MAX / 8, ..Settings::default() };
    let stopped = Run::new(&small_ising(), settings.clone())
        .monitor(|progress| if progress.warming_up { Control::Continue } else { Control::Stop })
        .go()
        .unwrap();
    assert_eq!(stopped.ended, Ended::Interrupted);
    assert!(stopped.trace.draws() > 0);
    let limit = Some(Duration::from_millis(300));
    let limited = Settings { time_limit: limit, ..settings };
    let outcome = run::sample(&small_ising(), limited.clone()).unwrap();
    assert_eq!(outcome.ended, Ended::TimeLimit);
    let summary = Summary::new("ising", &outcome);
    assert!(summary.draws > 0 && summary.findings[0].to_string().contains("time limit"));
    assert!(matches!(summary.findings[0], Finding::Incomplete { failed: false, .. }));
    // What was drawn is the beginning of what would have been drawn.
    let draws = stopped.trace.draws().min(outcome.trace.draws());
    assert_eq!(stopped.trace.log_prob()[2][..draws], outcome.trace.log_prob()[2][..draws]);
}

#[test]
fn impossible_settings_are_refused() {
    let good = Settings { chains: 2, warmup: 5, draws: 5, ..Settings::default() };
    let refused = |settings: Settings| run::sample(&small_ising(), settings).unwrap_err();
    assert_eq!(refused(Settings { chains: 0, ..good.clone() }), RunError::Zero("chains"));
    assert_eq!(refused(Settings { draws: 0, ..good.clone() }), RunError::Zero("draws"));
    assert_eq!(refused(Settings { thin: 0, ..good.clone() }), RunError::Zero("thin"));
    for endless in [
        Settings { draws: usize::MAX, ..good.clone() },
        Settings { draws: usize::MAX / 2, thin: 3, ..good.clone() },
        Settings { warmup: usize::MAX / 2, ..good.clone() },
    ] {
        assert!(matches!(refused(endless), RunError::TooLong { .. }));
    }
    assert_eq!(refused(Settings { threads: Some(0), ..good.clone() }), RunError::Zero("threads"));
    for target in [0.0, 1.0, f64::NAN] {
        let sampler = Sampler { target_acceptance: Some(target), ..Sampler::dlmc() };
        let error = refused(Settings { sampler, ..good.clone() });
        assert!(matches!(error, RunError::Sampler(_)));
        assert!(error.to_string().starts_with("the target acceptance must lie"), "{error}");
    }
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let sampler = Sampler { scale: Some(scale), ..Sampler::dlmc() };
        let error = refused(Settings { sampler, ..good.clone() });
        assert!(matches!(error, RunError::Sampler(_)));
        assert!(error.to_string().starts_with("the scale of dlmc must be"), "{error}");
    }
    let sampler = Sampler { scale: Some(36.0), ..Sampler::pas() };
    let radius = Settings { sampler, ..good.clone() };
    assert_eq!(
        refused(radius).to_string(),
        "the scale of pas must be a number of sites from 1 to 35, got 36"
    );
    let sampler = Sampler { scale: Some(2.0), ..Sampler::gibbs() };
    assert_eq!(
        refused(Settings { sampler, ..good }).to_string(),
        "gibbs has no scale: there is nothing to set or to tune"
    );
}

#[test]
fn every_sampler_takes_extremes() {
    // One site, and 10⁵ sites with differences of 60, at both ends of the scale.
    let one = Independent::bernoulli(vec![0.4]).unwrap();
    let sharp: Vec<f32> = (0..100_000).map(|i| if i % 2 == 0 { 60.0 } else { -60.0 }).collect();
    let many = Independent::bernoulli(sharp.clone()).unwrap();
    let sharp_values: Vec<f32> = sharp[..3000].to_vec();
    let categorical = Independent::categorical(3, &sharp_values).unwrap();
    for method in Method::ALL.iter().copied().filter(|method| method.is_general()) {
        for balancing in Balancing::ALL {
            let scales: [Option<f64>; 3] = match method {
                Method::Dmala => [Some(1e-9), Some(0.1), Some(1.0)],
                Method::Dlmc | Method::Dlmcf => [Some(1e-9), Some(1.0), Some(1e9)],
                Method::Pas | Method::Rwm => [Some(1.0), Some(1.0), Some(1.0)],
                _ => [None; 3],
            };
            for scale in scales {
                let base = Settings { chains: 2, warmup: 1, draws: 3, ..Settings::default() };
                let sampler = Sampler { balancing, scale, ..method.into() };
                let settings = Settings { sampler: sampler.clone(), ..base };
                let mut outcomes = vec![
                    run::sample(&one, settings.clone()),
                    run::sample(&categorical, settings.clone()),
                ];
                let everything = (method == Method::Pas).then_some(1000.0);
                let sampler = Sampler { scale: everything.or(scale), ..sampler };
                let settings = Settings { sampler, ..settings };
                outcomes.push(run::sample(&categorical, settings.clone()));
                if balancing == Balancing::Sqrt {
                    outcomes.push(run::sample(&many, settings.clone()));
                }
                for outcome in outcomes {
                    let outcome = outcome.unwrap();
                    assert_eq!(outcome.ended, Ended::Complete, "{method} {balancing} {scale:?}");
                    assert!((0.0..=1.0).contains(&outcome.acceptance));
                    assert!(outcome.trace.log_prob().iter().flatten().all(|x| x.is_finite()));
                }
            }
        }
    }
}

#[test]
fn a_stop_is_heard_within_a_step_of_many_chains() {
    // A step of all chains takes more than a second.
    let asked = std::sync::Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let model = Callable::new(Space::new(4, 2).unwrap(), move |states, log_prob| {
        counted.fetch_add(log_prob.len(), Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(10) * states.rows().count() as u32);
        log_prob.fill(0.0);
        Ok(())
    });
    let settings = Settings {
        chains: 400,
        warmup: 10,
        draws: 10,
        threads: Some(1),
        ..Settings::from(Sampler { scale: Some(1.0), ..Sampler::rwm() })
    };
    let outcome = Run::new(&model, settings).monitor(|_| Control::Stop).go().unwrap();
    assert_eq!(outcome.ended, Ended::Interrupted);
    // Not all chains have even begun.
    assert!(asked.load(Ordering::Relaxed) < 200, "{asked:?}");
}
