//! Gradients against the definition, and trainings on distributions small enough to list.

use super::super::learner::Learner;
use super::super::posterior::fill_noise;
use super::super::*;
use super::{all_images, double, examples, random_of, split};
use saltus::Control;
use saltus_learn::data::Split;
use saltus_nn::derivative::derivative;

#[test]
fn gradients_are_those_of_the_definition() {
    // Rests of tiles, panels and parts, and a weight of the divergence other than one.
    let sizes =
        |rows, columns, hidden, latent| VaeSizes::new(rows, columns, hidden, latent).unwrap();
    let small = sizes(2, 3, 5, 2);
    let two = small.with_levels(2, None).unwrap();
    let convolutional = sizes(5, 6, 4, 2).with_levels(2, Some(2)).unwrap();
    let cases = [
        (sizes(1, 1, 1, 1), 1, 1.0),
        (small, 7, 0.3),
        (sizes(3, 6, 17, 3), 30, 1.0),
        (two, 7, 0.3),
        (sizes(3, 6, 17, 3).with_levels(2, None).unwrap(), 30, 1.0),
        (convolutional, 26, 0.7),
        (small.with_values(5).unwrap(), 7, 0.3),
        (two.with_values(256).unwrap(), 3, 0.9),
        (convolutional.with_values(4).unwrap(), 3, 1.0),
    ];
    for (sizes, batch, weight) in cases {
        let vae = random_of(sizes);
        let mut rng = ChainRng::new(1, Stream::Data(1));
        let value = |rng: &mut ChainRng| match sizes.values() {
            2 => u8::from(rng.flip(0.4)),
            values => (rng.uniform() * values as f64) as u8,
        };
        let images: Vec<u8> = (0..batch * sizes.pixels()).map(|_| value(&mut rng)).collect();
        let mut noise = vec![0.0; batch * sizes.noise()];
        fill_noise(&mut rng, &mut noise);
        let mut learner = Learner::new(&vae, batch);
        let terms = learner.fill(&vae, &images, &noise, weight);
        let mut numbers = double(&vae);
        let at = |numbers: &[f64]| reference::loss(&sizes, numbers, &images, &noise, weight);
        let (found, expected) = (weight * terms.divergence - terms.log_prob, at(&numbers));
        assert!((found - expected).abs() < 1e-5 * expected.abs(), "{found}, expected {expected}");
        for (name, layer) in Plans::new(&sizes).layers {
            for range in [layer.weight, layer.bias] {
                // All of them would take a while.
                let every = range.len().div_ceil(40);
                let some: Vec<(usize, f64)> = range
                    .step_by(every)
                    .map(|index| (index, derivative(&mut numbers, index, at)))
                    .collect();
                let largest = some.iter().fold(0.0f64, |most, (_, number)| most.max(number.abs()));
                for (index, expected) in some {
                    let error = (f64::from(learner.gradient[index]) - expected).abs();
                    // Where no pixel is 1, both are nothing.
                    assert!(error <= 1e-5 * largest, "{sizes:?} {name}: {error:e} of {largest}");
                }
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_numbers_for_any_number_of_threads() {
    let split = split(3, 4, all_images(12)[..12 * 500].to_vec(), Some(all_images(12)));
    let train = |threads, seed| {
        let settings = VaeSettings {
            hidden: 40,
            latent: 3,
            epochs: 2,
            batch: 60,
            seed,
            threads: Some(threads),
            ..VaeSettings::default()
        };
        let trained = train_vae(&split, &settings, |_| Control::Continue).unwrap();
        (trained.model.parameters, trained.history)
    };
    let one = train(1, 0);
    assert_eq!(one, train(2, 0));
    assert_eq!(one, train(5, 0));
    assert_ne!(one, train(1, 1));
}

#[test]
fn a_tiny_autoencoder_learns_a_tiny_distribution() {
    // Images of 2×3 pixels: each as often as it likes its neighbours equal, the first pixel 1.
    let images = all_images(6);
    let weights: Vec<usize> = images
        .chunks_exact(6)
        .map(|image| {
            let pairs = [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)];
            let equal = pairs.iter().filter(|(a, b)| image[*a] == image[*b]).count();
            3usize.pow(equal as u32) * (1 + usize::from(image[0]))
        })
        .collect();
    let total: usize = weights.iter().sum();
    let repeated = images.chunks_exact(6).zip(&weights);
    let split =
        split(2, 3, repeated.flat_map(|(image, count)| image.repeat(*count)).collect(), None);
    let all = examples(6, images);
    let judge = |vae: &Vae| -> (f64, f64) {
        let bounds = vae.bounds_at(&all, &(0..64).collect::<Vec<_>>(), 2000, 0).unwrap();
        let terms = weights.iter().zip(&bounds).map(|(weight, bound)| {
            let exact = *weight as f64 / total as f64;
            exact * (exact.ln() - bound)
        });
        (terms.sum(), bounds.iter().map(|bound| bound.exp()).sum())
    };
    for levels in [1, 2] {
        let settings = VaeSettings {
            hidden: 32,
            latent: 3,
            levels,
            channels: None,
            epochs: 30,
            learning_rate: 2e-3,
            threads: Some(1),
            ..VaeSettings::default()
        };
        learns(&split, &settings, judge);
    }
}

/// Whether a training brings the divergence from what is to be learnt down to a little, and leaves probabilities.
fn learns(split: &Split, settings: &VaeSettings, judge: impl Fn(&Vae) -> (f64, f64)) {
    let (from, _) = judge(&Vae::random(settings.check(split).unwrap(), 0));
    let trained = train_vae(split, settings, |_| Control::Continue).unwrap();
    let (to, sum) = judge(&trained.model);
    assert!(from > 0.3 && to < 0.03, "{from} → {to}");
    assert!((sum - 1.0).abs() < 0.03, "probabilities sum to {sum}");
    let (first, last) = (trained.history[0], trained.history[29]);
    assert!(last.training > first.training && first.validation.is_none(), "{first:?} {last:?}");
    assert!(last.divergence > 0.0 && trained.best.is_none() && trained.complete);
}

#[test]
fn the_best_of_validation_is_kept_and_patience_ends() {
    // What is learnt makes the validation images ever less likely.
    let split = split(2, 2, vec![1; 400], Some(vec![0; 40]));
    let settings = VaeSettings {
        hidden: 8,
        latent: 2,
        epochs: 50,
        batch: 10,
        patience: 3,
        ..VaeSettings::default()
    };
    let train =
        |settings: &VaeSettings| train_vae(&split, settings, |_| Control::Continue).unwrap();
    let trained = train(&settings);
    assert_eq!((trained.history.len(), trained.best, trained.complete), (4, Some(1), true));
    assert!(trained.history.is_sorted_by(|a, b| a.validation > b.validation));
    let first = train(&VaeSettings { epochs: 1, ..settings.clone() });
    assert_eq!(trained.model.parameters, first.model.parameters);
    let patient = train(&VaeSettings { warmup: 6, ..settings });
    assert_eq!((patient.history.len(), patient.best), (9, Some(1)));
    assert_eq!((patient.history[2].weight, patient.history[8].weight), (0.5, 1.0));
}

#[test]
fn a_training_can_be_stopped() {
    let split = split(2, 2, vec![1; 400], None);
    let settings = VaeSettings { hidden: 2, latent: 1, batch: 50, ..VaeSettings::default() };
    let mut told = Vec::new();
    let trained = train_vae(&split, &settings, |progress| {
        told.push((progress.update, progress.updates, progress.latest.map(|latest| latest.epoch)));
        if progress.update == 3 { Control::Stop } else { Control::Continue }
    })
    .unwrap();
    assert_eq!(told, [(1, 400, None), (2, 400, None), (3, 400, Some(1))]);
    assert_eq!((trained.updates, trained.complete, trained.history.len()), (3, false, 1));
    let settings = BoundSettings::default();
    let stopped = trained.model.bound(&split.training, &settings, |_| Control::Stop);
    assert_eq!(stopped, Ok(None));
}
