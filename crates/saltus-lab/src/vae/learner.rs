//! The gradient of the training loss of a batch, shared out among threads in parts that do not depend
//! on their number.
//!
//! The loss is the mean over images of the divergence from the prior, weighted, minus the logarithm of
//! an image's probability at a draw of its latent numbers.

use super::Vae;
use super::dense::{Rows, parameter_gradient};
use super::perceptron::Activations;
use super::posterior::{self, Posterior};
use super::{VaeSizes, pixels};
use rayon::prelude::*;
use saltus::math::matrix::{PackedMatrix, TILE_ROWS};

/// Images that a thread takes all the way together.
const PART: usize = 4 * TILE_ROWS;

/// Memory for gradients of a batch.
#[derive(Clone, Debug)]
pub(super) struct Learner {
    sizes: VaeSizes,
    parts: Vec<Part>,
    /// What goes into every layer, batch × inputs.
    inputs: Vec<PackedMatrix>,
    pub(super) gradient: Vec<f32>,
}

/// Some images of a batch, and what became of them.
#[derive(Clone, Debug)]
struct Part {
    encoder: Activations,
    decoder: Activations,
    /// Gradient at the latent numbers.
    latent: Vec<f32>,
    terms: Terms,
}

/// The two terms of the bound on log p(x), added up or as means over images.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Terms {
    /// log p(x | z).
    pub(super) log_prob: f64,
    /// Divergence of the posterior of z from its prior.
    pub(super) divergence: f64,
}

impl Terms {
    pub(super) fn add(&mut self, other: Terms) {
        self.log_prob += other.log_prob;
        self.divergence += other.divergence;
    }

    pub(super) fn over(self, count: usize) -> Self {
        let share = 1.0 / count as f64;
        Self { log_prob: self.log_prob * share, divergence: self.divergence * share }
    }
}

impl Learner {
    pub(super) fn new(vae: &Vae, batch: usize) -> Self {
        let sizes = vae.sizes;
        let part = |rows: usize| Part {
            encoder: vae.encoder.new_activations(rows),
            decoder: vae.decoder.new_activations(rows),
            latent: vec![0.0; rows * sizes.latent()],
            terms: Terms::default(),
        };
        let layers = sizes.layers();
        Self {
            sizes,
            parts: (0..batch).step_by(PART).map(|first| part(PART.min(batch - first))).collect(),
            inputs: layers.map(|(_, layer)| PackedMatrix::zeros(batch, layer.inputs)).into(),
            gradient: vec![0.0; sizes.parameters()],
        }
    }

    /// Computes the gradient from a batch of images and the noise of their latent numbers; `weight` is
    /// that of the divergence. Returns the means of both terms.
    pub(super) fn fill(&mut self, vae: &Vae, images: &[u8], noise: &[f32], weight: f64) -> Terms {
        let (pixels, latent) = (self.sizes.pixels(), self.sizes.latent());
        let batch = images.len() / pixels;
        let share = 1.0 / batch as f32;
        self.parts
            .par_iter_mut()
            .zip_eq(images.par_chunks(PART * pixels))
            .zip_eq(noise.par_chunks(PART * latent))
            .for_each(|((part, images), noise)| {
                part.pass(vae, images, noise, share, weight as f32);
            });
        let Self { sizes, parts, inputs, gradient } = self;
        for (number, (_, layer)) in sizes.layers().iter().enumerate() {
            let rows: Vec<Rows<'_>> = parts.iter().map(|part| part.layer(number)).collect();
            let gradient = &mut gradient[layer.parameters()];
            parameter_gradient(layer, &rows, &mut inputs[number], gradient);
        }
        let mut terms = Terms::default();
        self.parts.iter().for_each(|part| terms.add(part.terms));
        terms.over(batch)
    }
}

impl Part {
    /// Takes its images through encoder and decoder and the gradients back, those of a loss of which
    /// every image has that share.
    fn pass(&mut self, vae: &Vae, images: &[u8], noise: &[f32], share: f32, weight: f32) {
        let (pixels, latent) = (vae.sizes.pixels(), vae.sizes.latent());
        let Self { encoder, decoder, latent: gradient, terms } = self;
        *terms = Terms::default();
        encoder.input.iter_mut().zip(images).for_each(|(number, bit)| *number = f32::from(*bit));
        vae.encoder.forward(encoder);
        for ((row, noise), latent) in encoder
            .output
            .chunks_exact(2 * latent)
            .zip(noise.chunks_exact(latent))
            .zip(decoder.input.chunks_exact_mut(latent))
        {
            let posterior = Posterior::new(row);
            posterior.draw(noise, latent);
            terms.divergence += posterior.divergence();
        }
        vae.decoder.forward(decoder);
        for (image, log_odds) in
            encoder.input.chunks_exact(pixels).zip(decoder.output.chunks_exact_mut(pixels))
        {
            terms.log_prob += pixels::log_prob(image, log_odds);
            pixels::back(image, share, log_odds);
        }
        vae.decoder.back(decoder);
        vae.decoder.back_to_input(decoder, gradient);
        for ((row, noise), gradient) in encoder
            .output
            .chunks_exact_mut(2 * latent)
            .zip(noise.chunks_exact(latent))
            .zip(gradient.chunks_exact(latent))
        {
            posterior::back(gradient, noise, weight * share, row);
        }
        vae.encoder.back(encoder);
    }

    /// What went into a layer, counted from the encoder's first, and the gradient at what came out.
    fn layer(&self, number: usize) -> Rows<'_> {
        let [encoder, decoder] = [&self.encoder, &self.decoder].map(Activations::layers);
        if number < encoder.len() { encoder[number] } else { decoder[number - encoder.len()] }
    }
}
