//! The gradient of the training loss of a batch, shared out among threads in parts that do not depend
//! on their number.
//!
//! The loss is the mean over images of the divergence from the prior, weighted, minus the logarithm of
//! an image's probability at a draw of its latent numbers.

use super::dense::{Rows, parameter_gradient};
use super::net::Activations;
use super::plan::{Op, Plans};
use super::posterior::Normals;
use super::{Vae, VaeSizes, pass};
use rayon::prelude::*;
use saltus::math::matrix::{PackedMatrix, TILE_ROWS};

/// Images that a thread takes all the way together.
const PART: usize = 4 * TILE_ROWS;

/// Memory for gradients of a batch.
#[derive(Clone, Debug)]
pub(super) struct Learner {
    sizes: VaeSizes,
    plans: Plans,
    parts: Vec<Part>,
    /// What goes into every layer, batch × inputs; not asked for where places of a map see pieces of it.
    inputs: Vec<PackedMatrix>,
    pub(super) gradient: Vec<f32>,
}

/// Some images of a batch, and what became of them.
#[derive(Clone, Debug)]
struct Part {
    nets: Vec<Activations>,
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
        let (sizes, plans) = (vae.sizes, Plans::new(&vae.sizes));
        let part = |rows: usize| Part {
            nets: vae.nets.iter().map(|net| net.new_activations(rows)).collect(),
            terms: Terms::default(),
        };
        let inputs = plans.layers.iter().map(|(_, layer)| PackedMatrix::zeros(batch, layer.inputs));
        Self {
            inputs: inputs.collect(),
            parts: (0..batch).step_by(PART).map(|first| part(PART.min(batch - first))).collect(),
            gradient: vec![0.0; plans.parameters()],
            sizes,
            plans,
        }
    }

    /// Computes the gradient from a batch of images and the noise of their latent numbers; `weight` is
    /// that of the divergence. Returns the means of both terms.
    pub(super) fn fill(&mut self, vae: &Vae, images: &[u8], noise: &[f32], weight: f64) -> Terms {
        let (pixels, per_image) = (self.sizes.pixels(), self.sizes.noise());
        let batch = images.len() / pixels;
        let share = 1.0 / batch as f32;
        self.parts
            .par_iter_mut()
            .zip_eq(images.par_chunks(PART * pixels))
            .zip_eq(noise.par_chunks(PART * per_image))
            .for_each(|((part, images), noise)| {
                part.pass(vae, images, noise, share, weight as f32);
            });
        for net in 0..vae.nets.len() {
            self.add_up(vae, net);
        }
        let mut terms = Terms::default();
        self.parts.iter().for_each(|part| terms.add(part.terms));
        terms.over(batch)
    }

    /// The gradient of the layers of a net, added up over parts in their order.
    fn add_up(&mut self, vae: &Vae, net: usize) {
        let Self { plans, parts, inputs, gradient, .. } = self;
        let weighted: Vec<Vec<_>> =
            parts.iter().map(|part| vae.nets[net].weighted(&part.nets[net]).collect()).collect();
        for node in 0..weighted[0].len() {
            let number = weighted[0][node].layer;
            let (_, layer) = &plans.layers[number];
            let gradient = &mut gradient[layer.parameters()];
            let rows: Vec<Rows<'_>> = weighted.iter().map(|nodes| nodes[node].rows).collect();
            match weighted[0][node].op {
                Op::Convolve { shape, .. } => {
                    let sum =
                        |(input, output): &Rows<'_>| shape.parameter_gradient(layer, input, output);
                    let sums: Vec<Vec<f32>> = rows.par_iter().map(sum).collect();
                    gradient.fill(0.0);
                    for sum in sums {
                        gradient.iter_mut().zip(sum).for_each(|(all, part)| *all += part);
                    }
                }
                _ => parameter_gradient(layer, &rows, &mut inputs[number], gradient),
            }
        }
    }
}

impl Part {
    /// Takes its images through all nets and the gradients back, those of a loss of which
    /// every image has that share.
    fn pass(&mut self, vae: &Vae, images: &[u8], noise: &[f32], share: f32, weight: f32) {
        let (pixels, latent) = (vae.sizes.pixels(), vae.sizes.latent());
        let (decoded, meaning) = (vae.sizes.decoded(), vae.sizes.decoded_pixels());
        let Self { nets, terms } = self;
        *terms = Terms::default();
        let Some((top, below)) = nets.split_first_mut() else { return };
        let rows = top.input_mut(0).iter_mut().zip(images);
        rows.for_each(|(number, value)| *number = meaning.to_input(*value));
        vae.nets[0].forward(top);
        let top = &*top;
        let posterior = |row: usize| Normals::new(&top.output()[row * 2 * latent..][..2 * latent]);
        let image = |row: usize| &top.input(0)[row * pixels..][..pixels];
        pass::decode(vae, below, noise, (posterior, image), |_, drawn| {
            terms.divergence += drawn.posterior.divergence(drawn.prior);
        });
        if let Some(decoder) = below.last_mut() {
            for (row, decoded) in decoder.output_mut().chunks_exact_mut(decoded).enumerate() {
                terms.log_prob += meaning.log_prob(image(row), decoded);
                meaning.back(image(row), share, decoded);
            }
        }
        pass::back(vae, nets, noise, weight * share);
    }
}
