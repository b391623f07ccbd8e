//! Alignments, models and learning on spaces small enough to list.

use super::frequencies::parameters;
use super::model::place;
use super::*;
use crate::Learnable;
use saltus::math::log_sum_exp;
use saltus::zoo::read::{Body, Format};
use saltus::{Control, Differences, Factors, Model, Space, States};

fn all_states(space: &Space) -> Vec<Vec<u8>> {
    let (sites, values) = (space.sites(), space.values());
    let state = |number: usize| {
        (0..sites).map(move |site| (number / values.pow(site as u32) % values) as u8).collect()
    };
    (0..values.pow(sites as u32)).map(state).collect()
}

/// A model with parameters that have nothing to do with each other.
fn uneven(sites: usize, values: usize) -> Potts {
    let space = Space::new(sites, values).unwrap();
    let number = |index: usize| ((index * 37 + 11) % 29) as f32 / 12.0 - 1.1;
    let numbers: Vec<f32> = (0..parameters(&space)).map(number).collect();
    Potts::new(space, &numbers, vec![1.0; sites * values]).unwrap()
}

/// log π straight from the formula.
fn formula(model: &Potts, state: &[u8]) -> f64 {
    let (space, numbers) = (model.space(), model.parameters());
    let mut sum = 0.0;
    for (one, a) in state.iter().enumerate() {
        sum += f64::from(numbers[one * space.values() + usize::from(*a)]);
        for (other, b) in state.iter().enumerate().skip(one + 1) {
            sum += f64::from(numbers[place(space, (one, other), (*a, *b))]);
        }
    }
    sum
}

fn log_prob(model: &Potts, state: &[u8]) -> f64 {
    let mut found = [0.0];
    let states = States::new(state, state.len());
    model.log_prob(states, &mut model.new_cache(1), &mut found).unwrap();
    found[0]
}

#[test]
fn values_differences_and_followed_chains_are_those_of_the_formula() {
    for values in [2, 3] {
        let model = uneven(4, values);
        let (space, mut cache) = (model.space().clone(), model.new_cache(2));
        for state in all_states(&space) {
            let here = formula(&model, &state);
            assert!((log_prob(&model, &state) - here).abs() < 1e-9);
            let mut diff = vec![0.0; space.diff_len()];
            let (states, mut found) = (States::new(&state, 4), [0.0]);
            model
                .log_prob_and_diff(Differences::Taylor, states, &mut cache, &mut found, &mut diff)
                .unwrap();
            assert!((model.follow(&state, 1, &mut cache).unwrap() - here).abs() < 1e-9);
            for site in 0..4 {
                let mut followed = vec![0.0; values];
                model.site_diff(&state, 1, &mut cache, site, &mut followed).unwrap();
                for value in (0..values as u8).filter(|value| *value != state[site]) {
                    let mut other = state.clone();
                    other[site] = value;
                    let exact = formula(&model, &other) - here;
                    let plane = if values == 2 { 0 } else { usize::from(value) };
                    assert!((f64::from(diff[plane * 4 + site]) - exact).abs() < 1e-5);
                    assert!((followed[usize::from(value)] - exact).abs() < 1e-9);
                }
            }
            // A change of a site changes what the others see.
            let mut moved = state.clone();
            let value = (state[2] + 1) % values as u8;
            model.set_site(&mut moved, 1, &mut cache, 2, value);
            let mut followed = vec![0.0; values];
            model.site_diff(&moved, 1, &mut cache, 0, &mut followed).unwrap();
            let mut other = moved.clone();
            other[0] = (moved[0] + 1) % values as u8;
            let exact = formula(&model, &other) - formula(&model, &moved);
            assert!((followed[usize::from(other[0])] - exact).abs() < 1e-9);
        }
    }
}

#[test]
fn the_gradient_is_the_count_of_letters_and_pairs() {
    let model = uneven(3, 3);
    let space = model.space().clone();
    let states = [0, 2, 1, 0, 1, 1];
    let mut gradient = vec![0.0; model.parameters().len()];
    let mean = model.add_mean_gradient(States::new(&states, 3), 1.0, &mut (), &mut gradient);
    let exact = (formula(&model, &states[..3]) + formula(&model, &states[3..])) / 2.0;
    assert!((mean.unwrap() - exact).abs() < 1e-6);
    let mut alone = vec![0.0; gradient.len()];
    states.chunks(3).for_each(|state| model.add_gradient(state, 0.5, &mut alone).unwrap());
    assert_eq!(gradient, alone);
    assert_eq!(gradient[..3], [1.0, 0.0, 0.0]);
    assert_eq!(gradient[place(&space, (0, 2), (0, 1))], 1.0);
    assert_eq!(gradient[place(&space, (1, 2), (2, 1))], 0.5);
    assert_eq!(gradient.iter().sum::<f32>(), 6.0);
}

#[test]
fn centred_coordinates_are_of_the_same_model() {
    let plain = uneven(3, 3);
    let frequencies = [0.5, 0.2, 0.3, 0.1, 0.1, 0.8, 0.25, 0.7, 0.05];
    let mut model = plain.clone().centred(&frequencies).unwrap();
    let learnt = Learnable::parameters(&model);
    assert_ne!(learnt, Learnable::parameters(&plain));
    let states = all_states(model.space());
    let gradients: Vec<Vec<f32>> = states
        .iter()
        .map(|state| {
            let mut gradient = vec![0.0; learnt.len()];
            model.add_gradient(state, 1.0, &mut gradient).unwrap();
            gradient
        })
        .collect();
    // By hand: the pair (0, 1) of letters (0, 2) in the state 0, 2, x and in another.
    let at = place(model.space(), (0, 1), (0, 2));
    for (state, gradient) in states.iter().zip(&gradients) {
        let own = |site: usize, letter: u8| f64::from(u8::from(state[site] == letter));
        let exact = (own(0, 0) - 0.5) * (own(1, 2) - 0.8);
        assert!((f64::from(gradient[at]) - exact).abs() < 1e-6);
    }
    // To and fro.
    model.set_parameters(&learnt).unwrap();
    for state in &states {
        assert!((log_prob(&model, state) - log_prob(&plain, state)).abs() < 1e-4);
    }
    // log π is linear in what is learnt, up to a constant of all states.
    for (number, step) in [(2, 0.5f32), (at, -0.75)] {
        let mut moved = learnt.clone();
        moved[number] += step;
        model.set_parameters(&moved).unwrap();
        let change = |state: usize| {
            let exact = f64::from(step) * f64::from(gradients[state][number]);
            log_prob(&model, &states[state]) - log_prob(&plain, &states[state]) - exact
        };
        for state in 1..states.len() {
            assert!((change(state) - change(0)).abs() < 1e-4, "{number}");
        }
    }
}

#[test]
fn weights_frequencies_and_correlations_are_those_computed_by_hand() {
    let fasta = ">1\nACGUA\n>2\nacguc\n>3\nAAAA.\n\n>4\nACG\nGA\n>5\nANGUA\n";
    let alignment = Alignment::read_fasta(fasta.as_bytes(), None).unwrap();
    assert_eq!((alignment.count(), alignment.left_out()), (4, 1));
    assert_eq!(alignment.letters().iter().collect::<String>(), "-ACGU");
    assert_eq!(alignment.states()[10..15], [1, 1, 1, 1, 0]);
    // The second and the fourth agree with the first at four sites of five, with each other at three.
    let weights = alignment.weights(0.8);
    assert_eq!(weights, [1.0 / 3.0, 0.5, 1.0, 0.5]);
    assert_eq!(alignment.weights(0.81), [1.0; 4]);
    let found = Frequencies::weighted(alignment.space(), alignment.states(), &weights);
    let total = 7.0 / 3.0;
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
    close(found.of_site(1)[2], (4.0 / 3.0) / total);
    close(found.of_site(4)[1], (5.0 / 6.0) / total);
    // C at the second site and A at the last: the first and the fourth.
    let connected = found.connected();
    let at = place(alignment.space(), (1, 4), (2, 1));
    close(found.numbers()[at], (5.0 / 6.0) / total);
    close(connected[at - 25], (5.0 / 6.0) / total * (1.0 - (4.0 / 3.0) / total));
    close(found.pearson(&found), 1.0);
    let mixed = found.clone().with_pseudocount(0.1);
    close(mixed.of_site(0)[1], 0.9 + 0.02);
    close(mixed.numbers()[at], 0.9 * found.numbers()[at] + 0.1 / 25.0);
}

#[test]
fn what_is_no_alignment_is_refused_in_a_sentence() {
    let refused = |text: &str, alphabet: Option<&str>| {
        Alignment::read_fasta(text.as_bytes(), alphabet).unwrap_err().to_string()
    };
    for (text, alphabet, sentence) in [
        ("", None, "holds no sequence"),
        ("ACGU", None, "line 1: a FASTA file begins with '>'"),
        (">a\n>b\nAC", None, "line 1: a name without a sequence"),
        (">a\nACG\n>b\nAC\n", None, "the sequence at line 3 has 2 letters, but the first has 3"),
        (">a\nJOB\n", None, "in none of the alphabets"),
        (">a\nACG\n", Some("XY"), "no sequence has letters of the alphabet XY alone"),
        (">a\nACG\n", Some("AA"), "the alphabet has A twice"),
        (">a\nACG\n", Some("A"), "between 2 and 256 letters, not 1"),
    ] {
        let found = refused(text, alphabet);
        assert!(found.contains(sentence), "{found}");
    }
    assert!(Alignment::of_states(vec![0, 3], 2, 3).is_err());
    let table = Alignment::of_states(vec![0, 2, 1, 1], 2, 3).unwrap();
    assert_eq!((table.count(), table.letters()), (2, &['0', '1', '2'][..]));
    // Proteins are told from nucleic acids.
    let protein = Alignment::read_fasta(b">a\nMKV-\n", None).unwrap();
    assert_eq!(protein.letters().len(), 21);
}

#[test]
fn parameters_are_read_back_as_the_same_distribution() {
    let model = uneven(3, 5);
    let letters: Vec<char> = "-ACGU".chars().collect();
    let file = Format::Dca.read(parameters_text(&model, &letters).as_bytes()).unwrap();
    let Body::Factors { cardinalities, factors } = file.body else { panic!("tables") };
    let read = Factors::new(Space::mixed(&cardinalities).unwrap(), &factors).unwrap();
    for state in all_states(model.space()) {
        let (mut found, states) = ([0.0], States::new(&state, 3));
        read.log_prob(states, &mut read.new_cache(1), &mut found).unwrap();
        assert!((found[0] - formula(&model, &state)).abs() < 1e-6);
    }
    let text = fasta(&[0, 1, 2, 4, 4, 3], &[-1.5, 2.0], &letters);
    assert_eq!(text, ">sequence 1 | DCAenergy: 1.500\n-AC\n>sequence 2 | DCAenergy: -2.000\nUUG\n");
}

#[test]
fn the_gauge_changes_nothing_but_a_constant() {
    let model = uneven(4, 3);
    let gauged = model.zero_sum();
    let apart = |state: &Vec<u8>| formula(&gauged, state) - formula(&model, state);
    let states = all_states(model.space());
    let constant = apart(&states[0]);
    assert!(states.iter().all(|state| (apart(state) - constant).abs() < 1e-5));
    for a in 0..3 {
        let sum: f32 = (0..3).map(|b| gauged.coupling(1, 3, a, b)).sum();
        let other: f32 = (0..3).map(|b| gauged.coupling(1, 3, b, a)).sum();
        assert!(sum.abs() < 1e-5 && other.abs() < 1e-5);
    }
}

#[test]
fn a_small_distribution_is_learnt_for_any_number_of_threads() {
    // Drawn exactly from a model of the same kind, which has then learnt nothing but it.
    let truth = uneven(4, 3);
    let space = truth.space().clone();
    let logs: Vec<f64> = all_states(&space).iter().map(|state| formula(&truth, state)).collect();
    let log_z = log_sum_exp(&logs);
    let exact: Vec<f64> = logs.iter().map(|log| (log - log_z).exp()).collect();
    let states: Vec<u8> = all_states(&space)
        .into_iter()
        .zip(&exact)
        .flat_map(|(state, p)| state.repeat((p * 20_000.0).round() as usize))
        .collect();
    let alignment = Alignment::of_states(states, 4, 3).unwrap();
    let settings = PottsSettings {
        chains: 500,
        steps: 3,
        iterations: 400,
        identity: 1.0,
        pseudocount: Some(0.0),
        learning_rate: 0.05,
        final_learning_rate: Some(1e-3),
        decay: 0.98,
        threads: Some(1),
        ..PottsSettings::default()
    };
    // Every sequence of one kind shares a weight of one: frequencies are those of kinds.
    let kinds = PottsTraining::new(&alignment, &settings).unwrap().effective();
    let occurring = exact.iter().filter(|p| (**p * 20_000.0).round() > 0.0).count();
    assert!((kinds - occurring as f64).abs() < 1e-6, "{kinds}");
    // So count each: no two are alike beyond all their sites.
    let weights = vec![1.0; alignment.count()];
    let data = Frequencies::weighted(&space, alignment.states(), &weights);
    let numbers = vec![0.0; parameters(&space)];
    let model = Potts::new(space.clone(), &numbers, vec![1.0; 12]).unwrap();
    let learn = |threads: usize| {
        let settings = crate::TrainSettings {
            batch: 500,
            buffer: 500,
            steps: 3,
            iterations: 400,
            learning_rate: 0.05,
            final_learning_rate: Some(1e-3),
            decay: 0.98,
            threads: Some(threads),
            ..saltus::Sampler::gibbs().into()
        };
        let statistics = data.numbers().iter().map(|number| *number as f32).collect();
        let mut training =
            crate::Training::on_statistics(statistics, model.clone(), settings).unwrap();
        while !training.is_complete() {
            training.iterate().unwrap();
        }
        training.average().to_vec()
    };
    let one = learn(1);
    assert_eq!(one, learn(3));
    let learnt = Potts::new(space.clone(), &one, vec![1.0; 12]).unwrap();
    let logs: Vec<f64> = all_states(&space).iter().map(|state| formula(&learnt, state)).collect();
    let log_z = log_sum_exp(&logs);
    let divergence: f64 =
        exact.iter().zip(&logs).map(|(p, log)| p * (p.ln() - (log - log_z))).sum();
    assert!(divergence < 0.005, "{divergence}");
}

#[test]
fn learning_stops_at_its_target_and_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint.safetensors");
    let states: Vec<u8> = (0..200).flat_map(|at| [at % 3, at % 3, at % 2]).collect();
    let alignment = Alignment::of_states(states, 3, 3).unwrap();
    let settings = PottsSettings {
        chains: 100,
        iterations: 40,
        learning_rate: 0.05,
        epsilon: 0.05,
        ..Default::default()
    };
    let whole = train_potts(&alignment, &settings, |_| Control::Continue).unwrap();
    assert_eq!((whole.iterations, whole.complete), (40, true));
    let mut stopped = PottsTraining::new(&alignment, &settings).unwrap();
    for _ in 0..17 {
        stopped.iterate().unwrap();
    }
    stopped.learner().save(&path, "").unwrap();
    let history = stopped.history().to_vec();
    let checkpoint = crate::Checkpoint::read(&path).unwrap();
    let fresh = PottsTraining::new(&alignment, &settings).unwrap();
    let mut resumed = fresh.resumed(checkpoint, history).unwrap();
    while !resumed.is_complete() {
        resumed.iterate().unwrap();
    }
    let resumed = resumed.finish(true).unwrap();
    assert_eq!(resumed.model.parameters(), whole.model.parameters());
    assert_eq!(resumed.chains, whole.chains);
    let looks = |trained: &TrainedPotts| -> Vec<(usize, f64)> {
        trained.history.iter().map(|report| (report.iteration, report.pearson)).collect()
    };
    assert_eq!(looks(&resumed), looks(&whole));
    // With a target that is easily met, it ends before.
    let settings = PottsSettings { target: Some(0.9), iterations: 1000, ..settings };
    let reached = train_potts(&alignment, &settings, |_| Control::Continue).unwrap();
    assert!(reached.complete && reached.iterations < 1000, "{}", reached.iterations);
    assert!(reached.history.last().unwrap().pearson >= 0.9);
}
