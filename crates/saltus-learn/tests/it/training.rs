//! Training on real images, if they are there, and the published RBMs it is held against.

use crate::tools::reference_machines;
use saltus::Control;
use saltus_learn::data::{Binarisation, Dataset, Examples, Images};
use saltus_learn::rbm::{Method, RbmSettings, RbmStatistics, Statistics, reference, train_rbm};

/// The first so many training images.
fn images(dataset: &Dataset, count: usize) -> Option<Images> {
    let data = reference_machines()?.parent()?.to_path_buf();
    let mut images = dataset.training_images(&data).unwrap();
    assert_eq!((images.count(), images.rows, images.columns), (60_000, 28, 28));
    images.pixels.truncate(count * 784);
    Some(images)
}

#[test]
fn digits_are_learnt() {
    let Some(images) = images(&Dataset::Mnist, 5000) else { return };
    let examples = Examples::from_images(images, 2, Binarisation::Threshold).unwrap();
    // What an RBM without weights gets wrong: every pixel drawn with its own frequency.
    let independent =
        examples.mean().iter().map(|mean| 2.0 * mean * (1.0 - mean)).sum::<f64>() / 784.0;
    let settings = RbmSettings {
        hidden: 100,
        method: Method::Cd,
        steps: 5,
        epochs: 4,
        learning_rate: 0.01,
        ..RbmSettings::default()
    };
    let trained = train_rbm(&examples, &settings, |_| Control::Continue).unwrap();
    let (first, last) = (trained.history[0], trained.history[trained.history.len() - 1]);
    assert!((first.reconstruction_error / independent - 1.0).abs() < 0.1, "{first:?}");
    assert!(last.reconstruction_error < 0.6 * independent, "{independent} {last:?}");
    assert_eq!(trained.updates, 200);
}

#[test]
fn clothes_of_four_levels_are_learnt() {
    let Some(images) = images(&Dataset::FashionMnist, 2000) else { return };
    let examples = Examples::from_images(images, 4, Binarisation::Threshold).unwrap();
    let settings = RbmSettings {
        hidden: 20,
        method: Method::Pcd,
        steps: 2,
        // After five epochs, what seeds do is as large as what is asked.
        epochs: 15,
        learning_rate: 0.01,
        ..RbmSettings::default()
    };
    let trained = train_rbm(&examples, &settings, |_| Control::Continue).unwrap();
    let (first, last) = (trained.history[0], trained.history[trained.history.len() - 1]);
    assert!(last.reconstruction_error < 0.85 * first.reconstruction_error, "{first:?} {last:?}");
}

#[test]
fn frequencies_of_the_digits_are_those_of_the_published_rbms() {
    let Some(images) = images(&Dataset::Mnist, 60_000) else { return };
    let examples = Examples::from_images(images, 2, Binarisation::Threshold).unwrap();
    let mean = examples.mean().iter().map(|mean| mean.clamp(0.01, 0.99)).sum::<f64>() / 784.0;
    assert!((mean - 0.13589).abs() < 5e-6, "{mean}");
}

#[test]
fn statistics_are_those_of_the_published_files() {
    let Some(folder) = reference_machines() else { return };
    for (name, dataset, hidden, values) in [
        ("mnist-binary-25", Dataset::Mnist, 25, 2),
        ("mnist-binary-200", Dataset::Mnist, 200, 2),
        ("fashion-mnist-4-levels-50", Dataset::FashionMnist, 50, 4),
        ("fashion-mnist-8-levels-50", Dataset::FashionMnist, 50, 8),
    ] {
        let bytes = std::fs::read(folder.join(format!("{name}.safetensors"))).unwrap();
        let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        let statistics = |name| {
            let (words, _) = file.tensor(name).unwrap().data().as_chunks::<4>();
            Statistics::of(&words.iter().map(|word| f32::from_le_bytes(*word)).collect::<Vec<_>>())
        };
        let RbmStatistics { weight, hidden_bias, visible_bias } =
            reference(&dataset, hidden, values).unwrap();
        for (found, expected) in [
            (weight, statistics("weight")),
            (hidden_bias, statistics("hidden_bias")),
            (visible_bias, statistics("visible_bias")),
        ] {
            let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-4, "{name}: {a}, expected {b}");
            close(found.mean, expected.mean);
            close(found.sd, expected.sd);
            close(found.min, expected.min);
            close(found.max, expected.max);
        }
    }
    assert!(reference(&Dataset::Mnist, 26, 2).is_none());
}
