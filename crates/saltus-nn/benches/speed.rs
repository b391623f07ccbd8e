//! How fast networks are: milliseconds per value and gradient of 100 images, and per step of a sampler.
//!
//! `cargo bench -p saltus-nn` prints a table; `--features burn` adds burn's way. The least of several
//! rounds, on as many threads as the machine has.

use rayon::prelude::*;
use saltus::{Differences, Model, Run, Sampler, Settings, States};
use saltus_learn::data::Dataset;
use saltus_learn::data::Examples;
use saltus_learn::{TrainSettings, Training};
use saltus_nn::train::Preset;
use saltus_nn::{Architecture, Cpu, DeepModel, Frequencies, Network, Parameters};
use std::time::Instant;

const BATCH: usize = 100;
const ROUNDS: usize = 7;

fn main() {
    println!(
        "| network | width | value | value and gradient | step of dlmc | step of pas | iteration of 1 step |"
    );
    println!("|---|---|---|---|---|---|---|");
    for width in [16, 32, 64] {
        measure::<Cpu>("own loops", width);
    }
    #[cfg(feature = "burn")]
    for width in [16, 64] {
        measure::<saltus_nn::Burn>("burn", width);
    }
}

fn measure<N: Network + 'static>(name: &str, width: usize) {
    let architecture = Architecture::new(28, 28, 2, width).unwrap();
    let base = Frequencies::new(architecture.space(), vec![0.2; 784]).unwrap();
    let model: DeepModel<N> = DeepModel::new(Parameters::random(architecture, 0), base).unwrap();
    let states: Vec<u8> = (0..BATCH * 784).map(|index| u8::from(index * 7919 % 5 == 0)).collect();
    let block = model.block_size(BATCH);
    let mut caches: Vec<_> = (0..BATCH.div_ceil(block)).map(|_| model.new_cache(block)).collect();
    let (mut log_prob, mut diff) = (vec![0.0; BATCH], vec![0.0; BATCH * 784]);
    let value = time(|| {
        caches
            .par_iter_mut()
            .zip(states.par_chunks(block * 784))
            .zip(log_prob.par_chunks_mut(block))
            .for_each(|((cache, states), log_prob)| {
                model.log_prob(States::new(states, 784), cache, log_prob).unwrap();
            });
    });
    let both = time(|| {
        caches
            .par_iter_mut()
            .zip(states.par_chunks(block * 784))
            .zip(log_prob.par_chunks_mut(block))
            .zip(diff.par_chunks_mut(block * 784))
            .for_each(|(((cache, states), log_prob), diff)| {
                let states = States::new(states, 784);
                let taylor = Differences::Taylor;
                model.log_prob_and_diff(taylor, states, cache, log_prob, diff).unwrap();
            });
    });
    let step = |sampler: Sampler, scale: f64| {
        let draws = 5;
        let settings = Settings {
            sampler: Sampler { scale: Some(scale), ..sampler.clone() },
            chains: BATCH,
            warmup: 0,
            draws,
            ..Settings::default()
        };
        let rounds = (0..3).map(|_| Run::new(&model, settings.clone()).go().unwrap().seconds.draws);
        rounds.fold(f64::INFINITY, f64::min) / draws as f64 * 1e3
    };
    let (dlmc, pas) = (step(Sampler::dlmc(), 0.1), step(Sampler::pas(), 5.0));
    let examples = Examples::new(architecture.space(), states.clone()).unwrap();
    let recipe = Preset::Paper.settings(&Dataset::StaticMnist, Sampler::dlmc());
    let settings = TrainSettings { steps: 1, buffer: BATCH, ..recipe };
    let model: DeepModel<N> = DeepModel::untrained(architecture, &examples, 0).unwrap();
    let mut training = Training::new(&examples, model, settings).unwrap();
    let iteration = time(|| {
        training.iterate().unwrap();
    });
    println!(
        "| {name} | {width} | {value:.1} | {both:.1} | {dlmc:.1} | {pas:.1} | {iteration:.1} |"
    );
}

/// Milliseconds of a call, the least of several.
fn time(mut call: impl FnMut()) -> f64 {
    let rounds = (0..ROUNDS).map(|_| {
        let started = Instant::now();
        call();
        started.elapsed().as_secs_f64()
    });
    rounds.fold(f64::INFINITY, f64::min) * 1e3
}
