//! The autoencoder as its definition says, in double precision and one number at a time: what the fast
//! ways are tested against.

use super::sizes::VaeSizes;
use saltus::math::{log_sum_exp, sigmoid, softplus};
use std::f64::consts::TAU;

/// What comes out of a layer, counted from the encoder's first.
fn dense(sizes: &VaeSizes, parameters: &[f64], number: usize, input: &[f64]) -> Vec<f64> {
    let (_, layer) = &sizes.layers()[number];
    let rows = parameters[layer.weight.clone()].chunks_exact(layer.inputs);
    rows.zip(&parameters[layer.bias.clone()])
        .map(|(row, bias)| bias + row.iter().zip(input).map(|(w, x)| w * x).sum::<f64>())
        .collect()
}

/// Two gated layers and a linear one, from that number on.
fn perceptron(sizes: &VaeSizes, parameters: &[f64], first: usize, input: &[f64]) -> Vec<f64> {
    let mut numbers = input.to_vec();
    for layer in first..first + 2 {
        let pairs = dense(sizes, parameters, layer, &numbers);
        let (values, gates) = pairs.split_at(sizes.hidden());
        numbers = values.iter().zip(gates).map(|(value, gate)| value * sigmoid(*gate)).collect();
    }
    dense(sizes, parameters, first + 2, &numbers)
}

/// Means and logarithms of variances of the latent numbers of an image.
fn encode(sizes: &VaeSizes, parameters: &[f64], image: &[u8]) -> (Vec<f64>, Vec<f64>) {
    let image: Vec<f64> = image.iter().map(|bit| f64::from(*bit)).collect();
    let mut means = perceptron(sizes, parameters, 0, &image);
    let log_variances = means.split_off(sizes.latent());
    (means, log_variances)
}

/// log p(x | z).
fn log_prob(sizes: &VaeSizes, parameters: &[f64], image: &[u8], latent: &[f64]) -> f64 {
    let log_odds = perceptron(sizes, parameters, 3, latent);
    let terms = log_odds.iter().zip(image).map(|(l, bit)| f64::from(*bit) * l - softplus(*l));
    terms.sum()
}

/// The training loss of images, one after the other, with the noise of their latent numbers.
pub(super) fn loss(
    sizes: &VaeSizes,
    parameters: &[f64],
    images: &[u8],
    noise: &[f32],
    weight: f64,
) -> f64 {
    let count = images.len() / sizes.pixels();
    let losses = images.chunks_exact(sizes.pixels()).zip(noise.chunks_exact(sizes.latent())).map(
        |(image, noise)| {
            let (means, log_variances) = encode(sizes, parameters, image);
            let both = || means.iter().zip(&log_variances);
            let latent: Vec<f64> = both()
                .zip(noise)
                .map(|((mean, log), noise)| mean + (0.5 * log).exp() * f64::from(*noise))
                .collect();
            let divergence: f64 =
                both().map(|(mean, log)| 0.5 * (mean * mean + log.exp() - 1.0 - log)).sum();
            weight * divergence - log_prob(sizes, parameters, image, &latent)
        },
    );
    losses.sum::<f64>() / count as f64
}

/// log p(x, z) of an autoencoder of one latent number.
fn log_joint(sizes: &VaeSizes, parameters: &[f64], image: &[u8], z: f64) -> f64 {
    log_prob(sizes, parameters, image, &[z]) + log_normal(z, 0.0, 0.0)
}

fn log_normal(z: f64, mean: f64, log_variance: f64) -> f64 {
    -0.5 * ((z - mean).powi(2) / log_variance.exp() + log_variance + TAU.ln())
}

/// log ∫ e^f(z) dz by the trapezoidal rule, for functions that are small beyond ±9.
fn log_integral(f: impl Fn(f64) -> f64) -> f64 {
    const STEP: f64 = 0.01;
    let terms: Vec<f64> = (-900..=900).map(|index| f(f64::from(index) * STEP)).collect();
    log_sum_exp(&terms) + STEP.ln()
}

/// log p(x) of an autoencoder of one latent number.
pub(super) fn log_likelihood(sizes: &VaeSizes, parameters: &[f64], image: &[u8]) -> f64 {
    log_integral(|z| log_joint(sizes, parameters, image, z))
}

/// How far the weight p(x, z) / q(z | x) of a draw from q scatters around its mean p(x): its variance
/// over the square of that.
pub(super) fn scatter(sizes: &VaeSizes, parameters: &[f64], image: &[u8]) -> f64 {
    let (mean, log_variance) = encode(sizes, parameters, image);
    let square = log_integral(|z| {
        let joint = log_joint(sizes, parameters, image, z);
        2.0 * joint - log_normal(z, mean[0], log_variance[0])
    });
    (square - 2.0 * log_likelihood(sizes, parameters, image)).exp_m1()
}

/// The bound on log p(x) that training maximises, over all noise of the one latent number.
pub(super) fn evidence_bound(sizes: &VaeSizes, parameters: &[f64], image: &[u8]) -> f64 {
    const STEP: f64 = 0.01;
    (-900..=900)
        .map(|index| {
            let noise = f64::from(index) * STEP;
            let density = log_normal(noise, 0.0, 0.0).exp();
            -STEP * density * loss(sizes, parameters, image, &[noise as f32], 1.0)
        })
        .sum()
}
