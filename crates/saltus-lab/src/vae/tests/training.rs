//! Gradients against the definition, and trainings on distributions small enough to list.

use super::super::learner::Learner;
use super::super::posterior::fill_noise;
use super::super::*;
use super::{all_images, double, examples, random, split};
use saltus::Control;
use saltus_nn::derivative::derivative;

#[test]
fn gradients_are_those_of_the_definition() {
    // Rests of tiles, panels and parts, and a weight of the divergence other than one.
    let cases = [(1, 1, 1, 1, 1, 1.0), (2, 3, 5, 2, 7, 0.3), (3, 6, 17, 3, 30, 1.0)];
    for (rows, columns, hidden, latent, batch, weight) in cases {
        let vae = random(rows, columns, hidden, latent);
        let sizes = *vae.sizes();
        let mut rng = ChainRng::new(1, Stream::Data(1));
        let images: Vec<u8> =
            (0..batch * sizes.pixels()).map(|_| u8::from(rng.flip(0.4))).collect();
        let mut noise = vec![0.0; batch * latent];
        fill_noise(&mut rng, &mut noise);
        let mut learner = Learner::new(&vae, batch);
        let terms = learner.fill(&vae, &images, &noise, weight);
        let mut numbers = double(&vae);
        let at = |numbers: &[f64]| reference::loss(&sizes, numbers, &images, &noise, weight);
        let (found, expected) = (weight * terms.divergence - terms.log_prob, at(&numbers));
        assert!((found - expected).abs() < 1e-5 * expected.abs(), "{found}, expected {expected}");
        for (name, layer) in sizes.layers() {
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
    let settings = VaeSettings {
        hidden: 32,
        latent: 3,
        epochs: 30,
        learning_rate: 2e-3,
        threads: Some(1),
        ..VaeSettings::default()
    };
    let (from, _) = judge(&Vae::random(settings.check(&split).unwrap(), 0));
    let trained = train_vae(&split, &settings, |_| Control::Continue).unwrap();
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
