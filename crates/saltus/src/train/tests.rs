//! Training on spaces small enough to list, against formulas in double precision.

use super::*;
use crate::Model;
use crate::math::{log_sum_exp, softplus};
use crate::model::rbm::Rbm;
use crate::rng::{Learning, Stream};
use crate::space::{Space, States};

/// log π of a state, straight from the formula. Parameters: weights [hidden][row], hidden biases,
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
    let units = weights.chunks_exact(table).zip(hidden_bias);
    visible
        + units
            .map(|(weights, bias)| {
                softplus(bias + rows.iter().map(|row| weights[*row]).sum::<f64>())
            })
            .sum::<f64>()
}

/// All parameters of an RBM in that order.
fn parameters(machine: &Machine) -> Vec<f64> {
    let hidden_bias = machine.hidden_bias[..machine.hidden].iter().copied();
    let all = machine.weights_by_unit().into_iter().chain(hidden_bias);
    all.chain(machine.visible_bias.iter().copied()).map(f64::from).collect()
}

/// A gradient in that order.
fn gradient(machine: &Machine, data: &[u8], chains: &[u8]) -> Vec<f64> {
    let mut gradient = Gradient::new(machine);
    gradient.fill(machine, &phase(machine, data), &phase(machine, chains));
    let in_order = Machine {
        weights: gradient.weights,
        hidden_bias: gradient.hidden_bias,
        visible_bias: gradient.visible_bias,
        ..machine.clone()
    };
    parameters(&in_order)
}

fn phase(machine: &Machine, states: &[u8]) -> Phase {
    let count = states.len() / machine.space.sites();
    let mut phase = Phase::new(machine, count);
    phase.states.copy_from_slice(states);
    let mut work = vec![Workspace::new(machine); count.div_ceil(BLOCK)];
    phase.look(machine, &mut rngs(count), &mut work);
    phase
}

fn rngs(count: usize) -> Vec<ChainRng> {
    (0..count).map(|row| ChainRng::new(5, Stream::Learning(Learning::Chain, row as u64))).collect()
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
fn uneven_machine(values: usize) -> Machine {
    let space = Space::new(3, values).unwrap();
    let mut machine = Machine::new(space.clone(), 2, &vec![0.3; space.diff_len()], 0);
    let number = |index: usize| ((index * 37 + 11) % 29) as f32 / 12.0 - 1.1;
    for (row, weights) in machine.weights.chunks_exact_mut(machine.stride).enumerate() {
        weights[..2].copy_from_slice(&[number(row), number(row + 50)]);
    }
    machine.hidden_bias[..2].copy_from_slice(&[0.7, -0.4]);
    for (row, bias) in machine.visible_bias.iter_mut().enumerate() {
        *bias = number(row + 100);
    }
    machine.pack();
    machine
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
        let machine = uneven_machine(values);
        let (space, here) = (machine.space.clone(), parameters(&machine));
        let (data, chains) = ([1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 0, 1], [0, 1, 1, 1, 1, 1]);
        let found = gradient(&machine, &data, &chains);
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
        let machine = uneven_machine(values);
        let (space, here) = (machine.space.clone(), parameters(&machine));
        let data = [1, 0, 1, 0, 0, 1, 1, 1, 0];
        let mut found = vec![0.0; here.len()];
        for (state, p) in all_states(&space).iter().zip(probabilities(&space, 2, &here)) {
            let part = gradient(&machine, &data, state);
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
fn a_look_agrees_with_the_formula_and_with_the_model() {
    for values in [2, 3] {
        let machine = uneven_machine(values);
        let (space, parameters) = (machine.space.clone(), parameters(&machine));
        let visible = &machine.visible_bias;
        let weights = machine.weights_by_unit();
        let model = Rbm::new(values, &weights, &machine.hidden_bias[..2], visible, None).unwrap();
        for state in all_states(&space) {
            let found = phase(&machine, &state).mean_log_prob();
            let expected = log_prob(&space, 2, &parameters, &state);
            assert!((found - expected).abs() < 2e-6, "{state:?}: {found}, expected {expected}");
            let mut of_model = [0.0];
            let states = States::new(&state, 3);
            model.log_prob(states, &mut model.new_cache(1), &mut of_model).unwrap();
            assert!((found - of_model[0]).abs() < 2e-6);
        }
    }
}

#[test]
fn chains_reach_the_exact_distribution() {
    for values in [2, 3] {
        let machine = uneven_machine(values);
        let exact = probabilities(&machine.space, 2, &parameters(&machine));
        let count = 30_000;
        let mut chains = Phase::new(&machine, count);
        let mut work = vec![Workspace::new(&machine); count.div_ceil(BLOCK)];
        chains.walk(&machine, 50, &mut rngs(count), &mut work);
        for (state, exact) in all_states(&machine.space).iter().zip(exact) {
            let found = chains.states.chunks_exact(3).filter(|found| found == state).count();
            let share = found as f64 / count as f64;
            // Five standard deviations of independent draws.
            let allowed = 5.0 * (exact * (1.0 - exact) / count as f64).sqrt();
            assert!((share - exact).abs() < allowed, "{state:?}: {share}, expected {exact}");
        }
    }
}

#[test]
fn a_reconstruction_error_is_the_chance_of_change() {
    // Hidden units that are off for certain leave the visible biases alone.
    let mut machine = uneven_machine(3);
    machine.hidden_bias[..2].fill(-200.0);
    machine.visible_bias.copy_from_slice(&[0.0, 0.0, 0.0, 0.0, 2f32.ln(), 0.0, -60.0, 0.0, -60.0]);
    machine.pack();
    // Kept with probabilities 1/3, 1/2 and 1.
    let error =
        phase(&machine, &[2, 1, 1]).reconstruction_error(&machine, &mut Workspace::new(&machine));
    assert!((error - (2.0 / 3.0 + 0.5) / 3.0).abs() < 1e-6, "{error}");
}

#[test]
fn a_small_distribution_is_learnt() {
    // Neighbours that like to be equal, and every state as often as its number besides.
    for (values, method, hidden) in [(2, Method::Cd, 4), (2, Method::Pcd, 4), (3, Method::Pcd, 8)] {
        let space = Space::new(3, values).unwrap();
        let states = all_states(&space);
        let (examples, exact) = examples(values, |index| {
            let equal = states[index].windows(2).filter(|pair| pair[0] == pair[1]).count();
            2 * 4usize.pow(equal as u32) + index / values
        });
        let settings = TrainSettings {
            hidden,
            method,
            steps: 10,
            epochs: 1500,
            batch: examples.count(),
            learning_rate: 0.02,
            threads: Some(1),
            ..TrainSettings::default()
        };
        let mean = clamped_mean(&examples);
        let start = Machine::new(space.clone(), hidden, &mean, 0);
        let from = divergence(&exact, &probabilities(&space, hidden, &parameters(&start)));
        let trained = train_rbm(&examples, &settings, |_| Control::Continue).unwrap();
        let learnt = probabilities(&space, hidden, &parameters(&trained.machine));
        let to = divergence(&exact, &learnt);
        assert!(from > 0.3 && to < 0.03, "{values} values, {method}: {from} → {to}");
    }
}

/// A training that uses everything: a last batch that is smaller, several blocks, both methods.
fn small_training(method: Method, values: usize, threads: usize) -> Trained {
    let (examples, _) = examples(values, |index| 3 + index % 5);
    let settings = TrainSettings {
        hidden: 40,
        method,
        steps: 3,
        epochs: 4,
        batch: 2 * BLOCK + 1,
        learning_rate: 0.01,
        final_learning_rate: None,
        seed: 3,
        threads: Some(threads),
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
        let path = folder.path().join("machine.safetensors");
        trained.save(&path, "a test").unwrap();
        let (found, expected) = (Rbm::load(&path).unwrap(), trained.machine().unwrap());
        assert_eq!((found.hidden(), found.space()), (40, trained.space()));
        for unit in 0..40 {
            for site in 0..3 {
                for value in 0..values as u8 {
                    let weight = |model: &Rbm| model.weight(unit, site, value);
                    assert_eq!(weight(&found), weight(&expected));
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
    use crate::dbn::{Dbn, Layers};
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let bottom = small_training(Method::Cd, 3, 1);
    bottom.save(path("bottom"), "bottom").unwrap();
    let (examples, _) = examples(3, |index| 3 + index % 5);
    let hidden = examples.hidden_units_of(bottom.machine().unwrap()).unwrap();
    let settings = TrainSettings { hidden: 6, steps: 2, batch: 20, ..TrainSettings::default() };
    let top = train_rbm(&hidden, &settings, |_| Control::Continue).unwrap();
    let bytes = std::fs::read(path("bottom")).unwrap();
    top.save_on_top_of(&bytes, path("network"), "top").unwrap();
    let (network, one) = (Layers::load(path("network")), Layers::load(path("bottom")));
    let (Ok(Layers::Two(network)), Ok(Layers::One(_))) = (network, one) else {
        panic!("not a network and an RBM");
    };
    assert_eq!(network.bottom().weight(7, 2, 1), bottom.machine().unwrap().weight(7, 2, 1));
    assert_eq!(network.top().weight(5, 39, 1), top.machine().unwrap().weight(5, 39, 1));
    assert_eq!((network.top().hidden(), network.space().values()), (6, 3));
    let sentence = Rbm::load(path("network")).unwrap_err().to_string();
    assert!(sentence.contains("has no tensor hidden_bias; it has bottom."), "{sentence}");
    let sentence = top.save_on_top_of(b"none", path("other"), "").unwrap_err().to_string();
    assert!(sentence.contains("other: cannot be written: the bottom RBM is not a whole"));
    assert!(!path("other").exists());
    let mismatch = Dbn::new(bottom.machine().unwrap(), bottom.machine().unwrap()).unwrap_err();
    assert!(mismatch.to_string().contains("but the bottom one has 40 hidden units"), "{mismatch}");
}

#[test]
fn a_machine_starts_from_the_data() {
    let space = Space::new(2, 2).unwrap();
    let examples = Examples::new(space.clone(), vec![0, 1, 0, 1, 0, 0, 0, 1]).unwrap();
    let mean = clamped_mean(&examples);
    assert_eq!(mean, [0.01, 0.75]);
    let machine = Machine::new(space, 500, &mean, 1);
    // log(0.01/0.99) and log 3.
    assert!((machine.visible_bias[0] + 4.595_12).abs() < 1e-5, "{:?}", machine.visible_bias);
    assert!((machine.visible_bias[1] - 1.098_612).abs() < 1e-6);
    // Uniform in ±1/√2: standard deviation 1/√6.
    let found = Statistics::of(&machine.weights_by_unit());
    assert!(found.min >= -0.5f64.sqrt() && found.max <= 0.5f64.sqrt());
    assert!(found.mean.abs() < 0.05 && (found.sd - (1.0f64 / 6.0).sqrt()).abs() < 0.03);

    let space = Space::new(1, 3).unwrap();
    let examples = Examples::new(space.clone(), vec![0, 2, 2, 2]).unwrap();
    let machine = Machine::new(space, 1, &clamped_mean(&examples), 1);
    for (bias, frequency) in machine.visible_bias.iter().zip([0.25f32, 0.01, 0.75]) {
        assert!((bias - frequency.ln()).abs() < 1e-6);
    }
}

#[test]
fn divergence_is_reported_with_the_update() {
    let (examples, _) = examples(2, |index| 5 + index);
    let diverges_at = |learning_rate| {
        let settings = TrainSettings { batch: 20, epochs: 100, steps: 1, ..Default::default() };
        let settings = TrainSettings { learning_rate, ..settings };
        match train_rbm(&examples, &settings, |_| Control::Continue) {
            Err(failed @ TrainError::Diverged { update, .. }) => {
                assert!(failed.to_string().contains(&format!("at update {update}: ")), "{failed}");
                update
            }
            other => panic!("{:?}", other.map(|trained| trained.history)),
        }
    };
    // The first step of Adam is the learning rate: beyond the bound at once, or only later.
    assert_eq!(diverges_at(2e6), 1);
    assert!(diverges_at(5e5) > 1);
}

#[test]
fn a_learning_rate_goes_to_its_end_in_equal_steps() {
    let steady = TrainSettings { learning_rate: 0.3, ..TrainSettings::default() };
    assert_eq!([1, 2, 5].map(|update| steady.rate_of(update, 5)), [0.3; 3]);
    let falling = TrainSettings { final_learning_rate: Some(0.1), ..steady };
    for (update, expected) in [(1, 0.3), (2, 0.25), (3, 0.2), (5, 0.1)] {
        assert!((falling.rate_of(update, 5) - expected).abs() < 1e-12, "{update}");
    }
    assert_eq!(falling.rate_of(1, 1), 0.3);
}

#[test]
fn a_monitor_can_stop_and_is_told_everything() {
    let (examples, _) = examples(2, |_| 10);
    let settings = TrainSettings { batch: 20, epochs: 2, steps: 1, ..TrainSettings::default() };
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
    let good = TrainSettings { batch: 8, ..TrainSettings::default() };
    let cases = [
        (TrainSettings { hidden: 0, ..good.clone() }, "hidden units must be at least 1"),
        (TrainSettings { steps: 0, ..good.clone() }, "steps must be at least 1"),
        (TrainSettings { epochs: 0, ..good.clone() }, "epochs must be at least 1"),
        (TrainSettings { batch: 0, ..good.clone() }, "batch must be at least 1"),
        (TrainSettings { batch: 9, ..good.clone() }, "a batch of 9 is more than the 8 examples"),
        (TrainSettings { learning_rate: 0.0, ..good.clone() }, "positive number, got 0"),
        (TrainSettings { learning_rate: f64::NAN, ..good.clone() }, "positive number, got NaN"),
        (
            TrainSettings { final_learning_rate: Some(-1.0), ..good.clone() },
            "the final learning rate must be a positive number, got -1",
        ),
        (TrainSettings { hidden: usize::MAX, ..good.clone() }, "weights saltus can index"),
        (TrainSettings { epochs: usize::MAX, batch: 4, ..good }, "more than can be counted"),
    ];
    for (settings, sentence) in cases {
        let failed = train_rbm(&examples, &settings, |_| Control::Continue).unwrap_err();
        assert!(failed.to_string().contains(sentence), "{failed}");
    }
    assert!("pcd".parse() == Ok(Method::Pcd));
    assert!("cdd".parse::<Method>().unwrap_err().contains("did you mean 'cd'?"));
}
