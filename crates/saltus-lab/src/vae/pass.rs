//! What becomes of images in all nets below the uppermost encoder, and the way back.

use super::Vae;
use super::net::Activations;
use super::posterior::{self, Normals};

/// A draw of the latent numbers of a level.
pub(super) struct Drawn<'d> {
    pub(super) posterior: Normals<'d>,
    /// Standard normal if there is no other.
    pub(super) prior: Option<Normals<'d>>,
    pub(super) noise: &'d [f32],
    pub(super) latent: &'d [f32],
}

/// Draws latent numbers and what they are decoded to, for rows of noise, the upper level's first. `below` are the activations
/// of all nets but the uppermost encoder; that one's `posterior` and the `image` are those of a row. `told` is told of every draw.
pub(super) fn decode<'r>(
    vae: &Vae,
    below: &mut [Activations],
    noise: &[f32],
    (posterior, image): (impl Fn(usize) -> Normals<'r>, impl Fn(usize) -> &'r [f32]),
    mut told: impl FnMut(usize, Drawn<'_>),
) {
    let latent = vae.sizes.latent();
    let noise = || noise.chunks_exact(vae.sizes.noise()).enumerate();
    if let [encoder, prior, decoder] = below {
        let pixels = vae.sizes.pixels();
        for (row, noise) in noise() {
            let upper = &mut decoder.input_mut(1)[row * latent..][..latent];
            let (noise, posterior) = (&noise[..latent], posterior(row));
            posterior.draw(noise, upper);
            encoder.input_mut(0)[row * pixels..][..pixels].copy_from_slice(image(row));
            encoder.input_mut(1)[row * latent..][..latent].copy_from_slice(upper);
            prior.input_mut(0)[row * latent..][..latent].copy_from_slice(upper);
            told(row, Drawn { posterior, prior: None, noise, latent: upper });
        }
        vae.nets[1].forward(encoder);
        vae.nets[2].forward(prior);
        for (row, noise) in noise() {
            let of_row = row * 2 * latent..(row + 1) * 2 * latent;
            let posterior = Normals::new(&encoder.output()[of_row.clone()]);
            let prior = Some(Normals::new(&prior.output()[of_row]));
            let lower = &mut decoder.input_mut(0)[row * latent..][..latent];
            let noise = &noise[latent..];
            posterior.draw(noise, lower);
            told(row, Drawn { posterior, prior, noise, latent: lower });
        }
        vae.decoder().forward(decoder);
    } else if let [decoder] = below {
        for (row, noise) in noise() {
            let latent = &mut decoder.input_mut(0)[row * latent..][..latent];
            let posterior = posterior(row);
            posterior.draw(noise, latent);
            told(row, Drawn { posterior, prior: None, noise, latent });
        }
        vae.decoder().forward(decoder);
    }
}

/// Takes the gradient at what was decoded, which stands in its place, back through all nets; `factor` is the weight of the
/// divergences.
pub(super) fn back(vae: &Vae, nets: &mut [Activations], noise: &[f32], factor: f32) {
    let (latent, per_image) = (vae.sizes.latent(), vae.sizes.noise());
    let Some((top, below)) = nets.split_first_mut() else { return };
    let noise = || noise.chunks_exact(per_image);
    // The gradient at the upper level's numbers.
    let mut upper: Vec<f32> = Vec::new();
    if let [encoder, prior, decoder] = below {
        vae.decoder().back(decoder);
        let rows = encoder.output_mut().chunks_exact_mut(2 * latent);
        let rows = rows.zip(prior.output_mut().chunks_exact_mut(2 * latent));
        let gradients = decoder.gradient(0).chunks_exact(latent);
        for (((row, prior), gradient), noise) in rows.zip(gradients).zip(noise()) {
            posterior::back(gradient, &noise[latent..], factor, row, Some(prior));
        }
        vae.nets[1].back(encoder);
        vae.nets[2].back(prior);
        let terms = decoder.gradient(1).iter().zip(encoder.gradient(1)).zip(prior.gradient(0));
        upper.extend(terms.map(|((decoder, encoder), prior)| decoder + encoder + prior));
    } else if let [decoder] = below {
        vae.decoder().back(decoder);
        upper.extend(decoder.gradient(0));
    }
    let rows = top.output_mut().chunks_exact_mut(2 * latent).zip(upper.chunks_exact(latent));
    for ((row, gradient), noise) in rows.zip(noise()) {
        posterior::back(gradient, &noise[..latent], factor, row, None);
    }
    vae.nets[0].back(top);
}
