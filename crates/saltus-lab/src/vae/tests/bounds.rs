//! Bounds and samples against integrals over one latent number and known frequencies.

use super::super::*;
use super::{all_images, bound, double, examples, random, random_of};
use saltus::{Control, Space};
use saltus_learn::data::Examples;

#[test]
fn the_bound_is_the_integral_over_the_latent_number() {
    let mut vae = random(2, 3, 4, 1);
    // An encoder that sees little and spreads widely: a narrow one has weights without a variance.
    let (_, last) = Plans::new(vae.sizes()).layers[2].clone();
    vae.change_parameters(|parameters| {
        parameters[last.weight].iter_mut().for_each(|weight| *weight *= 0.1);
        parameters[last.bias].copy_from_slice(&[0.1, 0.3]);
    });
    let (sizes, numbers, samples) = (*vae.sizes(), double(&vae), 20_000);
    let images = all_images(6);
    let all: Vec<usize> = (0..64).collect();
    let found = vae.bounds_at(&examples(6, images.clone()), &all, samples, 9).unwrap();
    let mut total = 0.0;
    for (image, found) in images.chunks_exact(6).zip(found) {
        let exact = reference::log_likelihood(&sizes, &numbers, image);
        total += exact.exp();
        // Five standard errors of a logarithm of a mean of so many weights.
        let scatter = reference::scatter(&sizes, &numbers, image) / samples as f64;
        let tolerance = 5.0 * scatter.sqrt() + scatter;
        assert!(tolerance < 0.1, "the encoder is too poor to tell: {tolerance}");
        assert!((found - exact).abs() < tolerance, "{found}, exact {exact} ± {tolerance}");
    }
    // The integrals themselves are probabilities.
    assert!((total - 1.0).abs() < 1e-6, "{total}");
}

#[test]
fn the_bound_of_two_levels_is_the_integral_over_both_latent_numbers() {
    for values in [2, 3] {
        let sizes = VaeSizes::new(1, 2, 3, 1).unwrap().with_levels(2, None).unwrap();
        let mut vae = random_of(sizes.with_values(values).unwrap());
        let sizes = *vae.sizes();
        // Encoders and a prior that spread widely.
        for (name, layer) in Plans::new(&sizes).layers {
            if !name.starts_with("decoder") && name.ends_with("last") {
                vae.change_parameters(|parameters| {
                    parameters[layer.weight].iter_mut().for_each(|weight| *weight *= 0.2);
                    parameters[layer.bias].copy_from_slice(&[0.1, 0.2]);
                });
            }
        }
        let (numbers, samples) = (double(&vae), 20_000);
        let count = values * values;
        let images: Vec<u8> =
            (0..count).flat_map(|at| [(at % values) as u8, (at / values) as u8]).collect();
        let examples = Examples::new(Space::new(2, values).unwrap(), images.clone()).unwrap();
        let all: Vec<usize> = (0..count).collect();
        let found = vae.bounds_at(&examples, &all, samples, 9).unwrap();
        let mut total = 0.0;
        for (image, found) in images.chunks_exact(2).zip(found) {
            let exact = reference::log_likelihood(&sizes, &numbers, image);
            total += exact.exp();
            // Five standard errors of a logarithm of a mean of so many weights.
            let scatter = reference::scatter(&sizes, &numbers, image) / samples as f64;
            let tolerance = 5.0 * scatter.sqrt() + scatter;
            assert!(tolerance < 0.1, "the encoder is too poor to tell: {tolerance}");
            assert!((found - exact).abs() < tolerance, "{found}, exact {exact} ± {tolerance}");
        }
        // The integrals themselves are probabilities.
        assert!((total - 1.0).abs() < 1e-6, "{total}");
    }
}

#[test]
fn samples_of_two_levels_have_the_probabilities_of_the_integrals() {
    let sizes = VaeSizes::new(1, 2, 3, 1).unwrap().with_levels(2, None).unwrap();
    let vae = random_of(sizes);
    let (numbers, count) = (double(&vae), 10_000);
    let images = vae.samples(count, 1);
    for image in all_images(2).chunks_exact(2) {
        let expected = reference::log_likelihood(&sizes, &numbers, image).exp();
        let drawn = images.chunks_exact(2).filter(|drawn| *drawn == image).count() as f64;
        let error = (expected * (1.0 - expected) / count as f64).sqrt();
        assert!((drawn / count as f64 - expected).abs() < 5.0 * error, "{drawn} {expected}");
    }
}

#[test]
fn the_bound_grows_with_the_draws_from_what_training_maximises() {
    let vae = random(2, 2, 4, 1);
    let (sizes, numbers) = (*vae.sizes(), double(&vae));
    let images = all_images(4);
    let mean = |f: fn(&VaeSizes, &[f64], &[u8]) -> f64| {
        images.chunks_exact(4).map(|image| f(&sizes, &numbers, image)).sum::<f64>() / 16.0
    };
    let repeats = 300;
    let examples = examples(4, images.repeat(repeats));
    let bounds = [1, 10, 100].map(|samples| bound(&vae, &examples, samples).mean);
    let exact = mean(reference::log_likelihood);
    let lowest = mean(reference::evidence_bound);
    assert!(lowest < exact - 0.05, "the encoder is too good to tell: {lowest}, {exact}");
    assert!(bounds.is_sorted_by(|a, b| a < b), "{bounds:?}");
    let single = |index| vae.bounds_at(&examples, &[index], 1, 0).unwrap()[0];
    let firsts: Vec<f64> = (0..repeats).map(|repeat| single(16 * repeat)).collect();
    let middle = firsts.iter().sum::<f64>() / repeats as f64;
    let squares: f64 = firsts.iter().map(|first| (first - middle).powi(2)).sum();
    // As if all images scattered as the first does, twice over.
    let error = 2.0 * (squares / (repeats * repeats * 16) as f64).sqrt();
    assert!((bounds[0] - lowest).abs() < 5.0 * error, "{bounds:?}, {lowest} ± {error}");
    assert!((bounds[2] - exact).abs() < 5.0 * error, "{bounds:?}, {exact} ± {error}");
}

#[test]
fn a_bound_does_not_depend_on_the_images_beside_it() {
    let vae = random(3, 4, 20, 5);
    let examples = examples(12, all_images(12));
    let together = vae.bounds_at(&examples, &(0..100).collect::<Vec<_>>(), 3, 1).unwrap();
    for index in [0, 1, 50, 99] {
        assert_eq!(vae.bounds_at(&examples, &[index], 3, 1).unwrap(), [together[index]]);
    }
    let with = |threads| {
        let settings = BoundSettings { samples: 130, seed: 4, threads: Some(threads) };
        let some =
            Examples::new(examples.space().clone(), all_images(12)[..12 * 200].to_vec()).unwrap();
        vae.bound(&some, &settings, |_| Control::Continue).unwrap()
    };
    let one = with(1);
    assert!(one.is_some());
    assert_eq!([with(2), with(5)], [one, one]);
}

#[test]
fn samples_have_the_frequencies_of_the_decoder() {
    let sizes = VaeSizes::new(1, 2, 3, 2).unwrap();
    let mut parameters = vec![0.0; sizes.parameters()];
    let end = parameters.len();
    // Without weights, only the biases of the pixels matter: probabilities 3/4 and 1/5.
    parameters[end - 2..].copy_from_slice(&[3f32.ln(), 0.25f32.ln()]);
    let vae = Vae::new(sizes, parameters).unwrap();
    let images = vae.samples(10_000, 1);
    for (pixel, expected) in [(0, 0.75), (1, 0.2)] {
        let ones = images.iter().skip(pixel).step_by(2).filter(|bit| **bit == 1).count();
        // Five standard errors.
        assert!((ones as f64 / 1e4 - expected).abs() < 0.022, "pixel {pixel}: {ones}");
    }
    // log p(1, 1) = log 0.15, whatever the latent numbers.
    assert!((bound(&vae, &examples(2, vec![1, 1]), 3).mean - 0.15f64.ln()).abs() < 1e-6);
}
