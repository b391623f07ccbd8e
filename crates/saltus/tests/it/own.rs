//! A kernel that is not one of ours, with a momentum that only its chains know: run, tuned, stored,
//! stopped and resumed as any other.

use crate::folder::{assert_same, temporary};
use saltus::Space;
use saltus::draws::observers::Marginals;
use saltus::kernel::{Kind, ScaleTraits, StepReport, accept, check_log_prob, check_start};
use saltus::model::callable::Callable;
use saltus::store::{Description, Keep, StoreWriter, Stored};
use saltus::{
    Chains, Control, Ended, Kernel, KernelTraits, Model, Run, Sampler, Settings, States, StepError,
    Summary,
};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;

/// Shifts as many sites as its scale, all by one value up or down, and goes on in that direction until
/// it is refused: a walk with momentum, which is not reversible. Sites are taken in turn.
struct Lifted {
    /// How long a step takes at least, so that it can be stopped in between.
    pause: Duration,
}

/// What a chain carries on: without it the chain would be another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Momentum {
    downwards: bool,
    next: u64,
}

impl<M: Model> Kernel<M> for Lifted {
    type Scratch = M::Cache;
    type Own = Momentum;

    fn traits(&self, model: &M) -> KernelTraits {
        KernelTraits {
            name: "lifted",
            summary: "a walk with momentum",
            reference: "Diaconis, Holmes and Neal 2000, Annals of Applied Probability 10",
            kind: Kind::WithoutDifferences,
            is_balanced: false,
            has_solver: false,
            scale: Some(ScaleTraits::radius(model.space().sites(), 0.5, 0.5)),
            evaluations_charged: 1.0,
            is_weighted: false,
            is_tried: false,
        }
    }

    fn new_scratch(&self, model: &M, chains: usize) -> M::Cache {
        model.new_cache(chains)
    }

    fn start(
        &self,
        model: &M,
        chains: &mut Chains<Momentum>,
        cache: &mut M::Cache,
    ) -> Result<(), StepError> {
        for chain in 0..chains.len() {
            let state = chains.state(chain);
            let mut log_prob = [0.0];
            let states = States::new(state, state.len());
            model.log_prob(states, cache, &mut log_prob).map_err(StepError::at(chain))?;
            chains.log_prob[chain] = check_start(chain, log_prob[0])?;
        }
        Ok(())
    }

    fn step(
        &self,
        model: &M,
        chains: &mut Chains<Momentum>,
        cache: &mut M::Cache,
    ) -> Result<(), StepError> {
        if !self.pause.is_zero() {
            std::thread::sleep(self.pause);
        }
        let space = model.space();
        for number in 0..chains.len() {
            let chain = chains.chain(number);
            let more = chain.rng.flip(chain.scale.fract());
            let count = (chain.scale as usize + usize::from(more)).clamp(1, space.sites());
            let mut proposed = chain.state.to_vec();
            for site in (0..count).map(|k| (chain.own.next as usize + k) % space.sites()) {
                let values = space.values_at(site);
                let shift = if chain.own.downwards { values - 1 } else { 1 };
                proposed[site] = ((usize::from(proposed[site]) + shift) % values) as u8;
            }
            let mut there = [0.0];
            let states = States::new(&proposed, proposed.len());
            model.log_prob(states, cache, &mut there).map_err(StepError::at(number))?;
            let log_ratio = check_log_prob(number, there[0])? - *chain.log_prob;
            let (acceptance, accepted) = accept(number, log_ratio, chain.rng)?;
            if accepted {
                chain.state.copy_from_slice(&proposed);
                *chain.log_prob = there[0];
            } else {
                chain.own.downwards = !chain.own.downwards;
            }
            chain.own.next = chain.own.next.wrapping_add(count as u64);
            let changed = if accepted { count as u32 } else { 0 };
            *chain.report = StepReport { acceptance, changed, evaluations: 1 };
        }
        Ok(())
    }
}

/// Sites of five values, each with a slope of its own, and neighbours that like to be equal.
fn model() -> Callable {
    Callable::new(Space::new(6, 5).unwrap(), |states, log_prob| {
        for (state, log_prob) in states.rows().zip(log_prob) {
            let own = state.iter().enumerate();
            let own: f64 = own.map(|(n, value)| (n as f64 - 2.5) * f64::from(*value) / 6.0).sum();
            let equal = state.windows(2).filter(|pair| pair[0] == pair[1]).count();
            *log_prob = own + 0.7 * equal as f64;
        }
        Ok(())
    })
}

fn settings() -> Settings {
    Settings { chains: 3, warmup: 400, draws: 1500, thin: 2, seed: 5, ..Settings::default() }
}

fn description(settings: &Settings) -> Description {
    Description {
        keep: Keep::States,
        kernel: Some("lifted".to_owned()),
        ..Description::new("test", model().space(), settings)
    }
}

/// Goes on with a run until its monitor stops it after so many steps; how it ended.
fn go_on(path: &Path, settings: &Settings, pause: Duration, stop_after: usize) -> Ended {
    let model = model();
    let (mut writer, checkpoint) = if path.exists() {
        let (writer, checkpoint, _) = StoreWriter::resume(path, description(settings)).unwrap();
        (writer, checkpoint)
    } else {
        (StoreWriter::create(path, description(settings), false).unwrap(), None)
    };
    let mut run = Run::with_kernel(&model, Lifted { pause }, settings.clone())
        .observer("marginals", Marginals)
        .checkpoint_every(Duration::ZERO)
        .monitor(move |progress| match progress.steps >= stop_after {
            true => Control::Stop,
            false => Control::Continue,
        });
    if let Some(checkpoint) = checkpoint {
        run = run.resume(checkpoint);
    }
    run.go_into(&mut writer).unwrap().ended
}

#[test]
fn stopped_by_its_monitor_it_leaves_the_bytes_of_a_run_that_was_not() {
    let pause = Duration::from_micros(60);
    let fixed =
        Settings { sampler: Sampler { scale: Some(1.5), ..Sampler::default() }, ..settings() };
    for (what, settings) in [("tuned", settings()), ("not tuned", fixed)] {
        let folder = temporary();
        let (whole, broken) = (folder.path().join("whole"), folder.path().join("broken"));
        assert_eq!(go_on(&whole, &settings, Duration::ZERO, usize::MAX), Ended::Complete);
        let (mut stops, mut steps) = (0, Vec::new());
        loop {
            // Beyond the last step at which chains were evaluated afresh, by more and more.
            let checkpoint = match broken.exists() {
                true => Stored::open(&broken).unwrap().checkpoint().unwrap(),
                false => None,
            };
            let at = checkpoint.map_or(0, |checkpoint| checkpoint.steps());
            steps.push(at);
            // During a warm-up that tunes they are at every round, else every thousand steps.
            let tuning = settings.sampler.scale.is_none() && at < 400;
            let far = if tuning { at + 37 } else { at + 1001 + 113 * stops };
            match go_on(&broken, &settings, pause, far) {
                Ended::Interrupted => stops += 1,
                Ended::Complete => break,
                other => panic!("{other}"),
            }
        }
        assert!(stops >= 2, "{what}: stopped {stops} times only, at {steps:?}");
        assert_same(&whole, &broken, what);
        let stored = Stored::open(&broken).unwrap();
        assert_eq!(stored.ended(), Some(Ended::Complete));
    }
}

#[test]
fn a_momentum_that_is_lost_makes_other_draws() {
    // What the test above would see if a checkpoint did not keep it.
    let (model, settings) = (model(), settings());
    let draws = |momentum: Momentum| {
        let rngs = vec![saltus::ChainRng::new(1, saltus::rng::Stream::Chain(0))];
        let mut chains = Chains::new(model.space(), vec![2; 6], rngs);
        chains.own[0] = momentum;
        chains.scales.fill(1.5);
        let kernel = Lifted { pause: Duration::ZERO };
        let mut cache = Kernel::<Callable>::new_scratch(&kernel, &model, 1);
        kernel.start(&model, &mut chains, &mut cache).unwrap();
        (0..settings.thin * 20).for_each(|_| kernel.step(&model, &mut chains, &mut cache).unwrap());
        chains.states.clone()
    };
    let one = draws(Momentum { downwards: true, next: 3 });
    assert_eq!(one, draws(Momentum { downwards: true, next: 3 }));
    assert_ne!(one, draws(Momentum::default()));
}

#[test]
fn it_is_tuned_and_draws_from_the_model() {
    let (model, settings) = (model(), Settings { chains: 20, draws: 4000, ..settings() });
    // With a whole number of sites at every step it would never see half of the states.
    let sampler = Sampler { target_acceptance: Some(0.75), ..settings.sampler.clone() };
    let settings = Settings { sampler, ..settings };
    let run = Run::with_kernel(&model, Lifted { pause: Duration::ZERO }, settings);
    let outcome = run.observer("marginals", Marginals).go().unwrap();
    assert_eq!(outcome.traits.name, "lifted");
    // Tuned to one half where that can be had.
    let (scale, acceptance) = (outcome.scale.unwrap(), outcome.acceptance);
    let largest = outcome.traits.scale.unwrap().tuned.1;
    let is_bold = scale > 0.99 * largest && acceptance > 0.5;
    assert!(
        scale == 1.0 || is_bold || (acceptance - 0.75).abs() < 0.1,
        "{scale} of {largest}: {acceptance}"
    );
    let summary = Summary::new("lifted", &outcome);
    assert_eq!((summary.sampler.as_str(), summary.balancing), ("lifted", None));
    // By enumeration.
    let count = 5usize.pow(6);
    let state = |index: usize| (0..6).map(move |n| (index / 5usize.pow(n) % 5) as u8);
    let states: Vec<u8> = (0..count).flat_map(state).collect();
    let mut log_prob = vec![0.0; count];
    let mut cache = model.new_cache(1);
    model.log_prob(States::new(&states, 6), &mut cache, &mut log_prob).unwrap();
    let total: f64 = log_prob.iter().map(|log| log.exp()).sum();
    let marginals = outcome.observed::<Marginals>("marginals").unwrap();
    for site in 0..6 {
        for value in 0..5u8 {
            let rows = states.chunks(6).zip(&log_prob).filter(|(state, _)| state[site] == value);
            let exact = rows.map(|(_, log)| log.exp()).sum::<f64>() / total;
            let found = marginals.mean[site][usize::from(value)];
            let spread = marginals.spread[site][usize::from(value)];
            assert!(spread < 0.02, "too uncertain to say anything: {spread}");
            // Thirty of them, with errors of twenty chains: six are beyond chance.
            let close = (found - exact).abs() < 6.0 * spread;
            assert!(close, "{site} {value}: {found} ± {spread}, exact {exact}");
        }
    }
}
