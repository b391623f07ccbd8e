//! Training on spaces small enough to list, against formulas in double precision.

use super::*;
use crate::Learnable;
use crate::dbn::{Dbn, Layers};
use initial::{clamped_mean, initial};
use reconstruct::reconstruction_error;
use saltus::math::{log_sum_exp, softplus};
use saltus::{Method as Moves, Model, Rbm, Sampler, Space, States};

/// log π of a state, straight from the formula. Parameters: weights [row][hidden], hidden biases,
/// visible biases, one after the other.
fn log_prob(space: &Space, hidden: usize, parameters: &[f64], state: &[u8]) -> f64 {
    let table = space.diff_len();
    let (weights, biases) = parameters.split_at(hidden * table);
    let (hidden_bias, visible_bias) = biases.split_at(hidden);
    let rows: Vec<usize> = state
        .iter()
        .enumerate()
        .filter(|(_, value)| !space.is_binary() || **value == 1)
        .map(
            |(site, value)| {
                if space.is_binary() { site } else { site * space.values() + usize::from(*value) }
            },
        )
        .collect();
    let visible: f64 = rows.iter().map(|row| visible_bias[*row]).sum();
    let input = |unit: usize| rows.iter().map(|row| weights[row * hidden + unit]).sum::<f64>();
    let units = hidden_bias.iter().enumerate();
    visible + units.map(|(unit, bias)| softplus(bias + input(unit))).sum::<f64>()
}

/// All parameters of an RBM in that order.
fn parameters(rbm: &Rbm) -> Vec<f64> {
    rbm.parameters().into_iter().map(f64::from).collect()
}

/// The gradient of the loss in that order.
fn gradient(rbm: &Rbm, data: &[u8], chains: &[u8]) -> Vec<f64> {
    let mut gradient = vec![0.0; rbm.parameters().len()];
    let states = |states| States::new(states, rbm.space().sites());
    let mut work = rbm.new_work(1);
    rbm.loss_gradient(states(data), states(chains), &mut work, &mut gradient).unwrap();
    gradient.into_iter().map(f64::from).collect()
}

fn all_states(space: &Space) -> Vec<Vec<u8>> {
    let count = space.values().pow(space.sites() as u32);
    (0..count)
        .map(|mut number| {
            let mut digit = || {
                let value = number % space.values();
                number /= space.values();
                value as u8
            };
            (0..space.sites()).map(|_| digit()).collect()
        })
        .collect()
}

/// The probabilities of all states.
fn probabilities(space: &Space, hidden: usize, parameters: &[f64]) -> Vec<f64> {
    let logs: Vec<f64> =
        all_states(space).iter().map(|state| log_prob(space, hidden, parameters, state)).collect();
    let total = log_sum_exp(&logs);
    logs.iter().map(|log| (log - total).exp()).collect()
}

/// An RBM with parameters that have nothing to do with each other.
fn uneven_rbm(values: usize) -> Rbm {
    let space = Space::new(3, values).unwrap();
    let number = |index: usize| ((index * 37 + 11) % 29) as f32 / 12.0 - 1.1;
    let table = space.diff_len();
    let weight: Vec<f32> = (0..2 * table).map(|at| number(at % table + at / table * 50)).collect();
    let visible: Vec<f32> = (0..table).map(|row| number(row + 100)).collect();
    Rbm::new(values, &weight, &[0.7, -0.4], &visible, None).unwrap()
}

/// Examples with these numbers of each state of three sites, and their distribution.
fn examples(values: usize, count: impl Fn(usize) -> usize) -> (Examples, Vec<f64>) {
    let space = Space::new(3, values).unwrap();
    let states = all_states(&space);
    let counts: Vec<usize> = (0..states.len()).map(count).collect();
    let content: Vec<u8> =
        states.iter().zip(&counts).flat_map(|(state, count)| state.repeat(*count)).collect();
    let total: usize = counts.iter().sum();
    let share = counts.iter().map(|count| *count as f64 / total as f64).collect();
    (Examples::new(space, content).unwrap(), share)
}

fn divergence(from: &[f64], to: &[f64]) -> f64 {
    from.iter().zip(to).filter(|(p, _)| **p > 0.0).map(|(p, q)| p * (p / q).ln()).sum()
}

#[test]
fn the_loss_has_the_gradient_of_finite_differences() {
    for values in [2, 3] {
        let rbm = uneven_rbm(values);
        let (space, here) = (rbm.space().clone(), parameters(&rbm));
        let (data, chains) = ([1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 0, 1], [0, 1, 1, 1, 1, 1]);
        let found = gradient(&rbm, &data, &chains);
        let mean = |parameters: &[f64], states: &[u8]| {
            let logs = states.chunks_exact(3).map(|s| log_prob(&space, 2, parameters, s));
            logs.sum::<f64>() / (states.len() / 3) as f64
        };
        let loss = |parameters: &[f64]| mean(parameters, &chains) - mean(parameters, &data);
        compare(&found, &here, loss);
    }
}

#[test]
fn over_all_states_it_is_the_gradient_of_the_exact_likelihood() {
    for values in [2, 3] {
        let rbm = uneven_rbm(values);
        let (space, here) = (rbm.space().clone(), parameters(&rbm));
        let data = [1, 0, 1, 0, 0, 1, 1, 1, 0];
        let mut found = vec![0.0; here.len()];
        for (state, p) in all_states(&space).iter().zip(probabilities(&space, 2, &here)) {
            let part = gradient(&rbm, &data, state);
            found.iter_mut().zip(part).for_each(|(found, part)| *found += p * part);
        }
        let loss = |parameters: &[f64]| {
            let all = all_states(&space);
            let logs: Vec<f64> =
                all.iter().map(|state| log_prob(&space, 2, parameters, state)).collect();
            let data = data.chunks_exact(3).map(|s| log_prob(&space, 2, parameters, s));
            log_sum_exp(&logs) - data.sum::<f64>() / 3.0
        };
        compare(&found, &here, loss);
    }
}

fn compare(found: &[f64], here: &[f64], loss: impl Fn(&[f64]) -> f64) {
    const STEP: f64 = 1e-4;
    for (index, found) in found.iter().enumerate() {
        let at = |step: f64| {
            let mut there = here.to_vec();
            there[index] += step;
            loss(&there)
        };
        let expected = (at(STEP) - at(-STEP)) / (2.0 * STEP);
        // Single precision in sums of a few numbers of size one.
        assert!((found - expected).abs() < 1e-6, "{index}: {found}, expected {expected}");
    }
}

#[test]
fn means_of_log_prob_agree_with_the_formula() {
    for values in [2, 3] {
        let rbm = uneven_rbm(values);
        let (space, parameters) = (rbm.space().clone(), parameters(&rbm));
        for state in all_states(&space) {
            let mut gradient = vec![0.0; parameters.len()];
            let states = States::new(&state, 3);
            let found =
                rbm.add_mean_gradient(states, 1.0, &mut rbm.new_work(1), &mut gradient).unwrap();
            let expected = log_prob(&space, 2, &parameters, &state);
            assert!((found - expected).abs() < 2e-6, "{state:?}: {found}, expected {expected}");
            let mut alone = vec![0.0; parameters.len()];
            rbm.add_gradient(&state, 1.0, &mut alone).unwrap();
            assert_eq!(gradient, alone);
        }
    }
}

#[test]
fn chains_of_other_parameters_are_summed_afresh() {
    // The same block of chains under two sets of weights, as a training has it.
    let mut rbm = uneven_rbm(2);
    let mut work = rbm.new_work(3);
    let states = [1, 0, 1, 0, 1, 1, 1, 1, 1];
    let look = |rbm: &Rbm, work: &mut RbmWork| {
        let mut gradient = vec![0.0; rbm.parameters().len()];
        let mean = rbm.add_mean_gradient(States::new(&states, 3), 1.0, work, &mut gradient);
        (mean.unwrap(), gradient)
    };
    look(&rbm, &mut work);
    let other: Vec<f32> = rbm.parameters().iter().map(|number| 0.5 - 2.0 * number).collect();
    rbm.set_parameters(&other).unwrap();
    let fresh = look(&rbm, &mut rbm.new_work(3));
    assert_eq!(look(&rbm, &mut work), fresh);
    assert_eq!(rbm.parameters(), other);
}

#[test]
fn a_reconstruction_error_is_the_chance_of_change() {
    // Hidden units that are off for certain leave the visible biases alone.
    let visible = [0.0, 0.0, 0.0, 0.0, 2f32.ln(), 0.0, -60.0, 0.0, -60.0];
    let rbm = Rbm::new(3, &[0.3; 18], &[-200.0; 2], &visible, None).unwrap();
    // Kept with probabilities 1/3, 1/2 and 1.
    let error = reconstruction_error(&rbm, &[2, 1, 1]);
    assert!((error - (2.0 / 3.0 + 0.5) / 3.0).abs() < 1e-6, "{error}");
    let bits = Rbm::new(2, &[0.0; 2], &[0.0], &[2f32.ln(), 0.0], None).unwrap();
    let error = reconstruction_error(&bits, &[1, 0, 0, 1]);
    assert!((error - (1.0 / 3.0 + 0.5 + 2.0 / 3.0 + 0.5) / 4.0).abs() < 1e-6, "{error}");
}

#[test]
fn a_small_distribution_is_learnt() {
    // Neighbours that like to be equal, and every state as often as its number besides.
    for (values, method, hidden, sampler) in [
        (2, Method::Cd, 4, None),
        (2, Method::Pcd, 4, None),
        (3, Method::Pcd, 8, None),
        (2, Method::Pcd, 4, Some(Moves::Dlmc)),
        (3, Method::Cd, 8, Some(Moves::Gibbs)),
    ] {
        let space = Space::new(3, values).unwrap();
        let states = all_states(&space);
        let (examples, exact) = examples(values, |index| {
            let equal = states[index].windows(2).filter(|pair| pair[0] == pair[1]).count();
            2 * 4usize.pow(equal as u32) + index / values
        });
        let settings = RbmSettings {
            hidden,
            method,
            sampler: sampler.map(Sampler::new),
            steps: 10,
            epochs: 1500,
            batch: examples.count(),
            learning_rate: 0.02,
            threads: Some(1),
            ..RbmSettings::default()
        };
        let start = initial(&examples, &settings).unwrap();
        let from = divergence(&exact, &probabilities(&space, hidden, &parameters(&start)));
        let trained = train_rbm(&examples, &settings, |_| Control::Continue).unwrap();
        let learnt = probabilities(&space, hidden, &parameters(trained.rbm()));
        let to = divergence(&exact, &learnt);
        assert!(from > 0.3 && to < 0.03, "{values} values, {method}, {sampler:?}: {from} → {to}");
    }
}

/// A training that uses everything: several blocks, what is left over, both methods.
fn small_training(method: Method, values: usize, threads: usize) -> Trained {
    let (examples, _) = examples(values, |index| 3 + index % 5);
    let settings = RbmSettings {
        hidden: 40,
        method,
        steps: 3,
        epochs: 4,
        batch: 25,
        learning_rate: 0.01,
        seed: 3,
        threads: Some(threads),
        ..RbmSettings::default()
    };
    train_rbm(&examples, &settings, |_| Control::Continue).unwrap()
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for (method, values) in [(Method::Cd, 2), (Method::Pcd, 2), (Method::Cd, 3), (Method::Pcd, 3)] {
        let bytes = [1, 2, 5].map(|threads| {
            let path = folder.path().join(format!("{threads}.safetensors"));
            let trained = small_training(method, values, threads);
            trained.save(&path, "test").unwrap();
            let samples = trained.samples(30, 5).unwrap();
            (std::fs::read(path).unwrap(), trained.history, samples)
        });
        assert_eq!(bytes[0], bytes[1]);
        assert_eq!(bytes[0], bytes[2]);
    }
    let weight = small_training(Method::Cd, 2, 1).weight();
    assert_ne!(weight, small_training(Method::Pcd, 2, 1).weight());
}

#[test]
fn a_saved_machine_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    for values in [2, 3] {
        let trained = small_training(Method::Cd, values, 1);
        let path = folder.path().join("rbm.safetensors");
        trained.save(&path, "a test").unwrap();
        let (found, expected) = (Rbm::load(&path).unwrap(), trained.rbm());
        assert_eq!((found.hidden(), found.space()), (40, trained.space()));
        for unit in 0..40 {
            for site in 0..3 {
                for value in 0..values as u8 {
                    let weight = |model: &Rbm| model.weight(unit, site, value);
                    assert_eq!(weight(&found), weight(expected));
                }
            }
        }
        let names: Vec<_> =
            std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
        assert_eq!(names, std::slice::from_ref(&path), "nothing else is left");
        let bytes = std::fs::read(&path).unwrap();
        let (_, header) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
        let words = &header.metadata().as_ref().unwrap()["training"];
        assert!(words.starts_with("a test; cd-3, "), "{words}");
    }
    let nowhere = small_training(Method::Cd, 2, 1).save("/nowhere/at/all", "");
    let sentence = nowhere.unwrap_err().to_string();
    assert!(sentence.starts_with("/nowhere/at/all: cannot be written: "), "{sentence}");
}

#[test]
fn a_network_is_saved_with_both_machines() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let bottom = small_training(Method::Cd, 3, 1);
    bottom.save(path("bottom"), "bottom").unwrap();
    let (examples, _) = examples(3, |index| 3 + index % 5);
    let hidden = examples.hidden_units_of(bottom.rbm().clone()).unwrap();
    let settings = RbmSettings { hidden: 6, steps: 2, batch: 20, ..RbmSettings::default() };
    let top = train_rbm(&hidden, &settings, |_| Control::Continue).unwrap();
    let bytes = std::fs::read(path("bottom")).unwrap();
    top.save_on_top_of(&bytes, path("network"), "top").unwrap();
    let (network, one) = (Layers::load(path("network")), Layers::load(path("bottom")));
    let (Ok(Layers::Two(network)), Ok(Layers::One(_))) = (network, one) else {
        panic!("not a network and an RBM");
    };
    assert_eq!(network.bottom().weight(7, 2, 1), bottom.rbm().weight(7, 2, 1));
    assert_eq!(network.top().weight(5, 39, 1), top.rbm().weight(5, 39, 1));
    assert_eq!((network.top().hidden(), network.space().values()), (6, 3));
    let sentence = Rbm::load(path("network")).unwrap_err().to_string();
    assert!(sentence.contains("has no tensor hidden_bias; it has bottom."), "{sentence}");
    let sentence = top.save_on_top_of(b"none", path("other"), "").unwrap_err().to_string();
    assert!(sentence.contains("other: cannot be written: the bottom RBM is not a whole"));
    assert!(!path("other").exists());
    let mismatch = Dbn::new(bottom.rbm().clone(), bottom.rbm().clone()).unwrap_err();
    assert!(mismatch.to_string().contains("but the bottom one has 40 hidden units"), "{mismatch}");
}

#[test]
fn an_rbm_starts_from_the_data() {
    let space = Space::new(2, 2).unwrap();
    let examples = Examples::new(space, vec![0, 1, 0, 1, 0, 0, 0, 1]).unwrap();
    assert_eq!(clamped_mean(&examples), [0.01, 0.75]);
    let settings = RbmSettings { hidden: 500, seed: 1, ..RbmSettings::default() };
    let rbm = initial(&examples, &settings).unwrap();
    // log(0.01/0.99) and log 3.
    let bias = rbm.visible_biases();
    assert!((bias[0] + 4.595_12).abs() < 1e-5 && (bias[1] - 1.098_612).abs() < 1e-6, "{bias:?}");
    // Uniform in ±1/√2: standard deviation 1/√6.
    let found = Statistics::of(&rbm.parameters()[..1000]);
    assert!(found.min >= -0.5f64.sqrt() && found.max <= 0.5f64.sqrt());
    assert!(found.mean.abs() < 0.05 && (found.sd - (1.0f64 / 6.0).sqrt()).abs() < 0.03);
    let space = Space::new(1, 3).unwrap();
    let examples = Examples::new(space, vec![0, 2, 2, 2]).unwrap();
    let rbm = initial(&examples, &RbmSettings { hidden: 1, ..settings }).unwrap();
    for (bias, frequency) in rbm.visible_biases().iter().zip([0.25f32, 0.01, 0.75]) {
        assert!((bias - frequency.ln()).abs() < 1e-6);
    }
}

#[test]
fn divergence_is_reported_with_the_update() {
    let (examples, _) = examples(2, |index| 5 + index);
    let diverges_at = |learning_rate| {
        let settings = RbmSettings { batch: 20, epochs: 100, steps: 1, ..Default::default() };
        let settings = RbmSettings { learning_rate, ..settings };
        match train_rbm(&examples, &settings, |_| Control::Continue) {
            Err(failed @ TrainError::Diverged { iteration, .. }) => {
                let words = format!("at iteration {iteration}: ");
                assert!(failed.to_string().contains(&words), "{failed}");
                iteration
            }
            other => panic!("{:?}", other.map(|trained| trained.history)),
        }
    };
    // The first step of Adam is the learning rate: beyond the bound at once, or only later.
    assert_eq!(diverges_at(2e6), 1);
    assert!(diverges_at(5e5) > 1);
}

#[test]
fn a_network_begins_as_the_rbm_below_upside_down() {
    let (bottom, units) = (Rbm::random(3, 4, 2, 1).unwrap(), Space::new(4, 2).unwrap());
    let (examples, _) = examples(2, |index| 1 + index);
    let examples = examples.hidden_units_of(bottom.clone()).unwrap();
    // What the bottom RBM says of its hidden units: all states of its sites summed up.
    let below = |hidden: &[u8]| {
        let joint = |state: &Vec<u8>| {
            let inputs = hidden.iter().enumerate().map(|(unit, on)| {
                let weights = state.iter().enumerate();
                let sum: f32 = weights.map(|(site, value)| bottom.weight(unit, site, *value)).sum();
                f64::from(*on) * f64::from(sum + bottom.hidden_bias(unit))
            });
            inputs.sum::<f64>() + bottom.visible_log_prob(state)
        };
        log_sum_exp(&all_states(bottom.space()).iter().map(joint).collect::<Vec<_>>())
    };
    // How far what the top RBM says of them is from that, up to a constant.
    let apart = |hidden: usize| {
        let settings = RbmSettings { hidden, batch: 8, ..RbmSettings::default() };
        let training = RbmTraining::on_top_of(&bottom, &examples, &settings).unwrap();
        let top = training.learner().model();
        let gap = |state: &Vec<u8>| {
            let mut log_prob = [0.0];
            top.log_prob(States::new(state, 4), &mut top.new_cache(1), &mut log_prob).unwrap();
            log_prob[0] - below(state)
        };
        let gaps: Vec<f64> = all_states(&units).iter().map(gap).collect();
        gaps.iter().fold(0.0f64, |most, one| most.max((one - gaps[0]).abs()))
    };
    assert!(apart(3) < 1e-5, "{}", apart(3));
    // Each unit beyond adds at most log((1 + e^0.2)/2): inputs are four of at most 0.05.
    assert!(apart(5) > 1e-4 && apart(5) < 0.22, "{}", apart(5));
    // Too few units to take all sites: a stranger.
    assert!(apart(2) > 0.2, "{}", apart(2));
}

#[test]
fn a_training_goes_on_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint.safetensors");
    let (examples, _) = examples(2, |index| 5 + index);
    let settings = |epochs| RbmSettings { batch: 10, epochs, steps: 2, ..RbmSettings::default() };
    fn run<'a>(
        mut training: RbmTraining<'a>,
        until: usize,
        path: &std::path::Path,
    ) -> RbmTraining<'a> {
        while training.learner().iteration() < until {
            training.iterate().unwrap();
        }
        training.learner().save(path, "a test").unwrap();
        training
    }
    let whole =
        run(RbmTraining::new(&examples, &settings(4)).unwrap(), 24, &path).finish().unwrap();
    let part = run(RbmTraining::new(&examples, &settings(4)).unwrap(), 11, &path);
    let checkpoint = crate::Checkpoint::read(&path).unwrap();
    let again = RbmTraining::new(&examples, &settings(4)).unwrap();
    let again = run(again.resumed(checkpoint, part.history().to_vec()).unwrap(), 24, &path);
    let again = again.finish().unwrap();
    assert_eq!(again.parameters, whole.parameters);
    assert_eq!((again.history, again.complete), (whole.history, true));
}

#[test]
fn a_monitor_can_stop_and_is_told_everything() {
    let (examples, _) = examples(2, |_| 10);
    let settings = RbmSettings { batch: 20, epochs: 2, steps: 1, ..RbmSettings::default() };
    let mut seen = Vec::new();
    let trained = train_rbm(&examples, &settings, |progress| {
        seen.push((progress.update, progress.updates));
        if progress.update == 3 { Control::Stop } else { Control::Continue }
    })
    .unwrap();
    assert_eq!(seen, [(1, 8), (2, 8), (3, 8)]);
    assert_eq!((trained.updates, trained.complete), (3, false));
    assert!(trained.history.iter().all(|report| report.reconstruction_error > 0.0));
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let (examples, _) = examples(2, |_| 1);
    let good = RbmSettings { batch: 8, ..RbmSettings::default() };
    let cases = [
        (RbmSettings { hidden: 0, ..good.clone() }, "hidden units must be at least 1"),
        (RbmSettings { steps: 0, ..good.clone() }, "steps must be at least 1"),
        (RbmSettings { epochs: 0, ..good.clone() }, "epochs must be at least 1"),
        (RbmSettings { batch: 0, ..good.clone() }, "batch must be at least 1"),
        (RbmSettings { batch: 9, ..good.clone() }, "a batch of 9 is more than the 8 examples"),
        (RbmSettings { learning_rate: 0.0, ..good.clone() }, "positive number, got 0"),
        (RbmSettings { learning_rate: f64::NAN, ..good.clone() }, "positive number, got NaN"),
        (
            RbmSettings { final_learning_rate: Some(-1.0), ..good.clone() },
            "the final learning rate must be a positive number, got -1",
        ),
        (RbmSettings { hidden: usize::MAX, ..good.clone() }, "weights saltus can index"),
        (RbmSettings { epochs: usize::MAX, batch: 4, ..good }, "more than can be counted"),
    ];
    for (settings, sentence) in cases {
        let failed = train_rbm(&examples, &settings, |_| Control::Continue).unwrap_err();
        assert!(failed.to_string().contains(sentence), "{failed}");
    }
    assert!("pcd".parse() == Ok(Method::Pcd));
    assert!("cdd".parse::<Method>().unwrap_err().contains("did you mean 'cd'?"));
}
