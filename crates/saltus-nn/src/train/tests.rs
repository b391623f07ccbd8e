//! Training on spaces small enough to list.

use super::*;
use saltus::math::log_sum_exp;
use saltus::{Method, Model, Sampler, Space, States};
use saltus_learn::data::{Binarisation, Images};
use saltus_learn::{Checkpoint, Learnable, Report, TrainError};

type Training<'a> = saltus_learn::Training<'a, DeepModel>;

/// A training before its first iteration.
fn begin(
    examples: &Examples,
    architecture: Architecture,
    settings: TrainSettings,
) -> Result<Training<'_>, TrainError> {
    let model = DeepModel::untrained(architecture, examples, settings.seed)?;
    Training::new(examples, model, settings)
}

/// A training that goes on.
fn resume(
    examples: &Examples,
    architecture: Architecture,
    checkpoint: Checkpoint,
    threads: usize,
) -> Result<Training<'_>, TrainError> {
    let settings = TrainSettings { threads: Some(threads), ..checkpoint.settings().clone() };
    begin(examples, architecture, settings)?.resumed(checkpoint)
}

fn settings(sampler: Method) -> TrainSettings {
    TrainSettings {
        steps: 3,
        iterations: 4000,
        batch: 64,
        buffer: 256,
        learning_rate: 3e-3,
        warmup: 50,
        decay: 0.99,
        seed: 1,
        threads: Some(1),
        ..Preset::Laptop.settings(&Dataset::StaticMnist, sampler)
    }
}

fn all_states(space: &Space) -> Vec<Vec<u8>> {
    let count = space.values().pow(space.sites() as u32);
    (0..count)
        .map(|mut number| {
            (0..space.sites())
                .map(|_| {
                    let value = number % space.values();
                    number /= space.values();
                    value as u8
                })
                .collect()
        })
        .collect()
}

/// Probabilities of all states under a model.
fn probabilities(model: &DeepModel) -> Vec<f64> {
    let states = all_states(model.space()).concat();
    let mut logs = vec![0.0; states.len() / model.space().sites()];
    let mut cache = model.new_cache(1);
    model.log_prob(States::new(&states, model.space().sites()), &mut cache, &mut logs).unwrap();
    let log_total = log_sum_exp(&logs);
    logs.iter().map(|log| (log - log_total).exp()).collect()
}

fn divergence(exact: &[f64], found: &[f64]) -> f64 {
    exact.iter().zip(found).filter(|(p, _)| **p > 0.0).map(|(p, q)| p * (p / q).ln()).sum()
}

/// Examples of images of 2×3 or 2×2 pixels: each state as often as it likes its neighbours equal.
fn examples(architecture: &Architecture) -> (Examples, Vec<f64>) {
    let (space, columns) = (architecture.space(), architecture.columns());
    let states = all_states(&space);
    let weights: Vec<usize> = states
        .iter()
        .map(|state| {
            let at = |row: usize, column: usize| state[row * columns + column];
            let across = (0..2).flat_map(|row| (1..columns).map(move |column| (row, column)));
            let equal = across.filter(|(row, column)| at(*row, *column) == at(*row, column - 1));
            let down = (0..columns).filter(|column| at(0, *column) == at(1, *column));
            // Not symmetric: the first pixel prefers its last value.
            3usize.pow((equal.count() + down.count()) as u32) * (1 + usize::from(state[0]))
        })
        .collect();
    let total: usize = weights.iter().sum();
    let repeated =
        states.iter().zip(&weights).flat_map(|(state, weight)| state.repeat(*weight)).collect();
    let exact = weights.iter().map(|weight| *weight as f64 / total as f64).collect();
    (Examples::new(space, repeated).unwrap(), exact)
}

fn architecture(values: usize) -> Architecture {
    let columns = if values == 2 { 3 } else { 2 };
    Architecture::new(2, columns, values, 8).unwrap().with_blocks(1).unwrap()
}

#[test]
fn a_tiny_network_learns_a_tiny_distribution() {
    for (values, sampler) in [(2, Method::Dlmc), (3, Method::Dlmc), (2, Method::Pas)] {
        let architecture = architecture(values);
        let (examples, exact) = examples(&architecture);
        let mut training = begin(&examples, architecture, settings(sampler)).unwrap();
        let from = divergence(&exact, &probabilities(training.model()));
        while !training.is_complete() {
            training.iterate().unwrap();
        }
        let to = divergence(&exact, &probabilities(&training.averaged().unwrap()));
        assert!(from > 0.3 && to < 0.015, "{values} values, {sampler}: {from} → {to}");
    }
}

#[test]
fn a_resumed_training_is_one_that_never_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint.safetensors");
    for (values, sampler) in [(2, Method::Dlmc), (3, Method::Gibbs)] {
        let architecture = architecture(values);
        let (examples, _) = examples(&architecture);
        let settings = TrainSettings { iterations: 20, batch: 10, ..settings(sampler) };
        let run = |training: &mut Training, until: usize| -> Vec<Report> {
            let mut reports = Vec::new();
            while training.iteration() < until {
                reports.push(Report {
                    spent: saltus_learn::Spent::default(),
                    ..training.iterate().unwrap()
                });
            }
            reports
        };
        let mut whole = begin(&examples, architecture, settings.clone()).unwrap();
        let expected = run(&mut whole, 20);
        let mut stopped = begin(&examples, architecture, settings).unwrap();
        let mut found = run(&mut stopped, 7);
        stopped.save(&path, "a test").unwrap();
        let checkpoint = Checkpoint::read(&path).unwrap();
        assert_eq!((checkpoint.about(), checkpoint.iteration()), ("a test", 7));
        // Threads do not matter either.
        let mut resumed = resume(&examples, architecture, checkpoint, 3).unwrap();
        found.extend(run(&mut resumed, 20));
        assert_eq!(found, expected);
        assert_eq!(resumed.parameters(), whole.parameters());
        assert_eq!(resumed.average(), whole.average());
        assert_eq!(resumed.buffer(), whole.buffer());
        assert_eq!(resumed.chains(), whole.chains());
    }
}

#[test]
fn images_drawn_at_every_look_and_new_epochs_are_resumed_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint.safetensors");
    let pixels = (0..25 * 6).map(|pixel| (pixel * 37 % 256) as u8).collect();
    let images = Images { rows: 2, columns: 3, pixels };
    // An epoch is two batches.
    let examples = Examples::from_images(images, 2, Binarisation::Stochastic).unwrap();
    let settings = TrainSettings { iterations: 12, batch: 10, ..settings(Method::Dlmc) };
    let run = |training: &mut Training, until: usize| {
        while training.iteration() < until {
            training.iterate().unwrap();
        }
    };
    let mut whole = begin(&examples, architecture(2), settings.clone()).unwrap();
    run(&mut whole, 12);
    let mut stopped = begin(&examples, architecture(2), settings).unwrap();
    run(&mut stopped, 7);
    stopped.save(&path, "").unwrap();
    let checkpoint = Checkpoint::read(&path).unwrap();
    let mut resumed = resume(&examples, architecture(2), checkpoint, 2).unwrap();
    run(&mut resumed, 12);
    assert_eq!(resumed.parameters(), whole.parameters());
    assert_eq!(resumed.buffer(), whole.buffer());
}

#[test]
fn batches_of_any_size_move_all_their_chains() {
    let architecture = architecture(2);
    let (examples, _) = examples(&architecture);
    for (batch, sampler) in
        (1..=21).flat_map(|batch| [(batch, Method::Dlmc), (batch, Method::Gibbs)])
    {
        let settings = TrainSettings { batch, buffer: batch, steps: 60, ..settings(sampler) };
        let mut training = begin(&examples, architecture, settings).unwrap();
        let before = training.buffer().states().to_vec();
        training.iterate().unwrap();
        let after = training.buffer().states().to_vec();
        let stayed = before.chunks(6).zip(after.chunks(6)).filter(|(one, other)| one == other);
        // Of 64 states, a chain may come back to its own.
        assert!(stayed.count() <= 2, "{batch} chains, {sampler}");
    }
}

#[test]
fn recipes_are_those_of_the_protocol() {
    use Dataset::*;
    let steps = |sampler: Method| {
        [StaticMnist, DynamicMnist, Omniglot, Caltech, Frey, Histopathology]
            .map(|dataset| Preset::Paper.settings(&dataset, sampler).steps)
    };
    assert_eq!(steps(Method::Gwg), [50, 50, 40, 100, 100, 100]);
    assert_eq!(steps(Method::Pas), [30, 30, 30, 100, 50, 40]);
    assert_eq!(steps(Method::Dmala), [40; 6]);
    let paper = Preset::Paper.settings(&StaticMnist, Method::Dlmc);
    assert_eq!((paper.iterations, paper.warmup, paper.batch), (50_000, 10_000, 100));
    assert_eq!((paper.learning_rate, paper.decay, paper.buffer), (1e-4, 0.999, 10_000));
    assert_eq!(Preset::Paper.settings(&Caltech, Method::Dlmc).buffer, 1000);
    for sampler in [Method::Gwg, Method::Pas, Method::Dlmc] {
        assert_eq!(Preset::Laptop.settings(&Caltech, sampler).steps, 10);
    }
}

#[test]
fn divergence_is_reported_and_leaves_the_checkpoint_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint.safetensors");
    let architecture = architecture(2);
    let (examples, _) = examples(&architecture);
    let settings = TrainSettings { learning_rate: 1e5, warmup: 0, ..settings(Method::Dlmc) };
    let mut training = begin(&examples, architecture, settings).unwrap();
    training.save(&path, "").unwrap();
    let before = std::fs::read(&path).unwrap();
    let failed = (0..100).find_map(|_| training.iterate().err()).unwrap();
    let sentence = failed.to_string();
    assert!(sentence.starts_with("training diverged at iteration "), "{sentence}");
    assert!(sentence.contains("try a smaller learning rate than 100000"), "{sentence}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint.safetensors");
    let reason = || match Checkpoint::read(&path).unwrap_err() {
        TrainError::File { reason, .. } => reason,
        other => panic!("{other}"),
    };
    assert!(reason().starts_with("cannot be read: "));
    let two = architecture(2);
    let (of_two, _) = examples(&two);
    let settings = TrainSettings { batch: 10, ..settings(Method::Dlmc) };
    let training = begin(&of_two, two, settings).unwrap();
    training.averaged().unwrap().save(&path, "").unwrap();
    assert_eq!(reason(), "is not the checkpoint of a training");
    training.save(&path, "").unwrap();
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 3]).unwrap();
    assert!(reason().starts_with("is not a whole safetensors file"));
    std::fs::write(&path, whole).unwrap();
    let other = Examples::new(two.space(), vec![1; 600]).unwrap();
    let checkpoint = Checkpoint::read(&path).unwrap();
    let refused = resume(&other, two, checkpoint, 1).err().unwrap();
    assert!(refused.to_string().ends_with("is of a training on other examples"), "{refused}");
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let architecture = architecture(2);
    let (examples, _) = examples(&architecture);
    let good = settings(Method::Dlmc);
    let cases = [
        (TrainSettings { steps: 0, ..good.clone() }, "steps must be at least 1"),
        (TrainSettings { iterations: 0, ..good.clone() }, "iterations must be at least 1"),
        (TrainSettings { batch: 0, ..good.clone() }, "batch must be at least 1"),
        (TrainSettings { batch: 300, ..good.clone() }, "cannot be taken from a buffer of 256"),
        (TrainSettings { batch: 1 << 40, ..good.clone() }, "is more than the"),
        (TrainSettings { buffer: 1 << 30, ..good.clone() }, "random numbers of their own"),
        (TrainSettings { learning_rate: -1.0, ..good.clone() }, "positive number, got -1"),
        (TrainSettings { decay: 1.0, ..good.clone() }, "below 1, got 1"),
        (
            TrainSettings {
                sampler: Sampler { target_acceptance: Some(1.0), ..Sampler::dlmc() },
                ..good.clone()
            },
            "strictly between 0 and 1",
        ),
        (
            TrainSettings {
                sampler: Sampler { target_acceptance: Some(0.5), ..Sampler::gwg() },
                ..settings(Method::Gwg)
            },
            "gwg has no scale",
        ),
        (settings(Method::Dld), "count by weights, which a replay buffer does not have"),
    ];
    for (settings, sentence) in cases {
        let failed = begin(&examples, architecture, settings).err().unwrap();
        assert!(failed.to_string().contains(sentence), "{failed}");
    }
    let other = Architecture::new(3, 3, 2, 4).unwrap();
    let failed = begin(&examples, other, good).err().unwrap();
    assert!(failed.to_string().contains("9 sites of 2 values cannot stand on"), "{failed}");
    assert!("papre".parse::<Preset>().unwrap_err().contains("did you mean 'paper'?"));
}

#[test]
fn one_state_at_a_time_gives_the_gradient_of_a_batch() {
    let architecture = architecture(3);
    let (examples, _) = examples(&architecture);
    let model: DeepModel = DeepModel::untrained(architecture, &examples, 2).unwrap();
    let count = DeepModel::parameters(&model).numbers().len();
    let data = [0, 1, 2, 0, 2, 2, 1, 0];
    let (mut found, mut expected) = (vec![0.0; count], vec![0.0; count]);
    let states = States::new(&data, 4);
    let means = model.loss_gradient(states, states, &mut model.new_work(2), &mut found).unwrap();
    // Chains and data are the same: nothing is left but what holds the mean of the network.
    assert_eq!(means.data, means.chains);
    let base = model.frequencies().base();
    let held =
        0.1 * (means.data - states.rows().map(|state| base.log_prob(state)).sum::<f64>() / 2.0);
    for state in states.rows() {
        model.add_gradient(state, held as f32 / 2.0, &mut expected).unwrap();
    }
    let largest = expected.iter().fold(0.0f32, |most, number| most.max(number.abs()));
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-4 * largest, "{found}, expected {expected}");
    }
}
