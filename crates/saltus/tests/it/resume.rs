//! A run that is stopped again and again leaves the bytes of one that never was, for every sampler
//! and model.

use crate::folder::{assert_same, temporary};
use saltus::draws::sink::{ChainDraws, Plan, Saved, SinkError};
use saltus::model::callable::Callable;
use saltus::model::erased::Erased;
use saltus::model::fhmm::Fhmm;
use saltus::model::graph::Edge;
use saltus::model::independent::Independent;
use saltus::model::lattice::Lattice;
use saltus::model::pairwise::Pairwise;
use saltus::model::rbm::Rbm;
use saltus::store::{Description, Keep, StoreWriter, Stored};
use saltus::{Differences, Ended, Method, Model, Run, RunError, Sampler, Settings, Sink, Space};
use std::path::Path;
use std::time::Duration;

/// Passes draws on until it breaks down: after so many calls nothing reaches the store any more, as if
/// the process had ended there.
struct Mortal {
    writer: StoreWriter,
    calls_left: usize,
}

impl Mortal {
    fn live(&mut self) -> Result<(), SinkError> {
        if self.calls_left == 0 {
            return Err(SinkError("gone".to_owned()));
        }
        self.calls_left -= 1;
        Ok(())
    }
}

impl Sink for Mortal {
    fn wants_checkpoints(&self) -> bool {
        true
    }

    fn wants_states(&self) -> bool {
        self.writer.wants_states()
    }

    fn begin(&mut self, plan: &Plan<'_>) -> Result<(), SinkError> {
        self.writer.begin(plan)
    }

    fn take(&mut self, draws: Vec<ChainDraws>) -> Result<(), SinkError> {
        self.live()?;
        self.writer.take(draws)
    }

    fn save(&mut self, saved: &Saved<'_>) -> Result<(), SinkError> {
        self.live()?;
        self.writer.save(saved)
    }
}

fn description<M: Model>(model: &M, settings: &Settings) -> Description {
    let keep = if model.space().is_binary() { Keep::Bits } else { Keep::States };
    Description { keep, ..Description::new("test", model.space(), settings) }
}

fn run<'a, M: Model>(model: &'a M, settings: &Settings) -> Run<'a, M> {
    Run::new(model, settings.clone())
        .observe("first", |state: &[u8]| f64::from(state[0]))
        .checkpoint_every(Duration::ZERO)
}

/// Runs to the end without a break.
fn uninterrupted<M: Model>(model: &M, settings: &Settings, path: &Path) -> Ended {
    let mut writer = StoreWriter::create(path, description(model, settings), false).unwrap();
    run(model, settings).go_into(&mut writer).unwrap().ended
}

/// Goes on with a run, and lets it break down after some calls; whether it came to its end.
fn go_on<M: Model>(model: &M, settings: &Settings, path: &Path, calls_left: usize) -> bool {
    let description = description(model, settings);
    let (writer, checkpoint) = if path.exists() {
        let (writer, checkpoint, _) = StoreWriter::resume(path, description).unwrap();
        assert!(checkpoint.is_some(), "the run would begin anew");
        (writer, checkpoint)
    } else {
        (StoreWriter::create(path, description, false).unwrap(), None)
    };
    let mut run = run(model, settings);
    if let Some(checkpoint) = checkpoint {
        run = run.resume(checkpoint);
    }
    match run.go_into(&mut Mortal { writer, calls_left }) {
        Ok(outcome) => {
            assert!(outcome.ended.is_success(), "{}", outcome.ended);
            true
        }
        Err(RunError::Sink(_)) => false,
        Err(error) => panic!("{error}"),
    }
}

/// Compares a run that is stopped many times with one that is not.
fn check<M: Model>(what: &str, model: &M, settings: &Settings) {
    let folder = temporary();
    let (whole, broken) = (folder.path().join("whole"), folder.path().join("broken"));
    uninterrupted(model, settings, &whole);
    let mut stops = 0;
    // Later and later, so that it comes to an end; odd numbers of calls stop within a save.
    while !go_on(model, settings, &broken, 1 + 3 * stops) {
        stops += 1;
    }
    assert!(stops >= 2, "{what} was stopped {stops} times only");
    assert_same(&whole, &broken, what);
}

fn every_sampler(name: &str, model: impl Model + 'static) {
    let model = &Erased::new(model);
    let suits = |method: &Method| Sampler::new(*method).suits(model).is_ok();
    for method in Method::ALL.iter().copied().filter(suits) {
        for differences in [Differences::Taylor, Differences::Exact] {
            let exact = differences == Differences::Exact;
            if exact && (model.taylor_is_exact() || !method.is_balanced()) {
                continue;
            }
            // Warm-up and draws both go over steps at which chains are evaluated afresh.
            let settings = Settings {
                sampler: Sampler { differences, ..method.into() },
                chains: 3,
                warmup: 1130,
                draws: 400,
                thin: 3,
                seed: 5,
                threads: Some(2),
                ..Settings::default()
            };
            check(&format!("{method} on {name} ({differences:?})"), model, &settings);
        }
    }
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|n| ((n * 7919) % 13) as f32 / 10.0 - 0.6).collect()
}

#[test]
fn independent_sites() {
    every_sampler("bits", Independent::bernoulli(numbers(11)).unwrap());
    every_sampler("categories", Independent::categorical(3, &numbers(21)).unwrap());
}

#[test]
fn lattices() {
    let lattice = Lattice::periodic(4, 6).unwrap();
    let ising = Pairwise::ising_lattice(lattice, 0.4, numbers(24)).unwrap();
    every_sampler("an Ising lattice", ising);
    let lattice = Lattice::free(3, 4).unwrap();
    every_sampler(
        "a Potts lattice",
        Pairwise::potts_lattice(lattice, 3, 0.7, &numbers(36)).unwrap(),
    );
}

#[test]
fn graphs() {
    let edges = [(0, 1, 0.5), (1, 2, -0.3), (2, 0, 0.8), (3, 4, 1.1), (0, 4, 0.2)];
    let edges = edges.map(|(from, to, weight)| Edge { from, to, weight });
    every_sampler("an Ising graph", Pairwise::ising(&edges, numbers(9)).unwrap());
    every_sampler("a Potts graph", Pairwise::potts(4, &edges, &numbers(28)).unwrap());
}

#[test]
fn hidden_markov_models() {
    every_sampler("an FHMM", Fhmm::simulate(5, 3, 2, 1).unwrap());
    every_sampler("an FHMM of three values", Fhmm::simulate(4, 2, 3, 1).unwrap());
}

#[test]
fn boltzmann_machines() {
    every_sampler("an RBM", Rbm::random(12, 5, 2, 3).unwrap());
    every_sampler("an RBM of three values", Rbm::random(6, 4, 3, 3).unwrap());
}

#[test]
fn closures() {
    let model = Callable::new(Space::new(8, 3).unwrap(), |states, log_prob| {
        for (state, log_prob) in states.rows().zip(log_prob) {
            *log_prob = state.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64 * 0.7;
        }
        Ok(())
    });
    every_sampler("a closure", model);
}

#[test]
fn stop_rules_fire_at_the_same_draw() {
    let model = Independent::bernoulli(numbers(11)).unwrap();
    let settings = Settings {
        chains: 3,
        warmup: 200,
        draws: 20_000,
        until_ess: Some(1500.0),
        until_rhat: Some(1.05),
        ..Settings::default()
    };
    check("a run with stop rules", &model, &settings);
    let folder = temporary();
    let ended = uninterrupted(&model, &settings, &folder.path().join("run"));
    let Ended::Reached(reached) = ended else { panic!("{ended}") };
    assert!(reached.draws < 20_000 && reached.ess.unwrap().0 >= 1500.0, "{reached:?}");
    assert_eq!(Stored::open(folder.path().join("run")).unwrap().draws(), reached.draws);
    // One rule that cannot be met is enough to go on.
    let settings = Settings { draws: 400, until_rhat: Some(1.0 + 1e-12), ..settings };
    let ended = uninterrupted(&model, &settings, &folder.path().join("other"));
    assert_eq!(ended, Ended::Complete);
}

#[test]
fn an_extended_run_is_a_longer_run() {
    let model = Pairwise::ising_lattice(Lattice::free(4, 4).unwrap(), 0.4, numbers(16)).unwrap();
    let settings = |draws| Settings { chains: 2, warmup: 300, draws, ..Settings::default() };
    let folder = temporary();
    let (short, long) = (folder.path().join("short"), folder.path().join("long"));
    uninterrupted(&model, &settings(1300), &short);
    assert!(go_on(&model, &settings(2900), &short, usize::MAX));
    uninterrupted(&model, &settings(2900), &long);
    assert_same(&short, &long, "an extended run");
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let model = Independent::bernoulli(numbers(11)).unwrap();
    let settings = Settings { chains: 2, warmup: 50, draws: 60, ..Settings::default() };
    let folder = temporary();
    let path = folder.path().join("run");
    uninterrupted(&model, &settings, &path);
    let checkpoint = || Stored::open(&path).unwrap().checkpoint().unwrap().unwrap();
    let refusal = |refused: Result<saltus::Outcome, RunError>| match refused.unwrap_err() {
        RunError::Checkpoint(reason) => reason,
        other => panic!("{other}"),
    };
    let mut other = numbers(11);
    other[3] += 0.01;
    let other = Independent::bernoulli(other).unwrap();
    let reason = refusal(Run::new(&other, settings.clone()).resume(checkpoint()).go());
    assert!(reason.contains("another model"), "{reason}");
    let larger = Independent::bernoulli(numbers(12)).unwrap();
    let reason = refusal(Run::new(&larger, settings.clone()).resume(checkpoint()).go());
    assert!(reason.contains("11 sites × 2 values, this one has 12 × 2"), "{reason}");
    let settings = Settings { seed: 1, ..settings };
    let reason = refusal(Run::new(&model, settings.clone()).resume(checkpoint()).go());
    assert!(reason.contains("other settings") || reason.contains("another model"), "{reason}");
}

#[test]
fn tempered_runs_go_on_to_the_byte() {
    let lattice = Lattice::periodic(4, 4).unwrap();
    let model = Pairwise::ising_lattice(lattice, 0.5, vec![0.1; 16]).unwrap();
    for sampler in [Sampler::gibbs(), Sampler::dlmc()] {
        let settings = Settings {
            chains: 3,
            warmup: 600,
            draws: 1100,
            temper: Some(saltus::temper::Temper::default()),
            ..sampler.into()
        };
        check("a ladder", &model, &settings);
    }
}
