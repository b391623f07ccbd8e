//! How likely an autoencoder finds images: the importance-weighted bound (Burda et al. 2016).
//!
//! From K draws of the latent numbers z from the encoder's q(z | x),
//! log p(x) ≥ E log (1/K) Σ p(x, z) / q(z | x). It grows with K, towards log p(x).

use super::pass::{self, Drawn};
use super::posterior::{Normals, fill_noise};
use super::{Vae, VaeError};
use rayon::prelude::*;
use saltus::Control;
use saltus::Workers;
use saltus::math::log_sum_exp;
use saltus::math::matrix::TILE_ROWS;
use saltus::rng::{Stream, Training as Purpose};
use saltus::{ChainRng, ModelError};
use saltus_learn::data::Examples;
use serde::Serialize;

/// Draws that a thread decodes together.
const ROWS: usize = 16 * TILE_ROWS;
/// Fewest and most images that a thread encodes together.
const IMAGES: (usize, usize) = (4, 4 * TILE_ROWS);
/// More draws per image would fill the memory and hardly raise the bound.
const MOST_SAMPLES: usize = 1_000_000;
/// Images between two words to the monitor.
const BETWEEN: usize = 128;

/// How to find a bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundSettings {
    /// Draws of the latent numbers per image.
    pub samples: usize,
    /// Their seed.
    pub seed: u64,
    /// Threads, or as many as the machine has. Results do not depend on it.
    pub threads: Option<usize>,
}

impl Default for BoundSettings {
    fn default() -> Self {
        Self { samples: 500, seed: 0, threads: None }
    }
}

impl BoundSettings {
    /// Fails if there is no such bound.
    pub fn check(&self) -> Result<(), VaeError> {
        if (1..=MOST_SAMPLES).contains(&self.samples) {
            return Ok(());
        }
        Err(VaeError::Setting(format!(
            "a bound needs between 1 and {MOST_SAMPLES} draws per image, got {}",
            self.samples
        )))
    }
}

/// The bound on the logarithm of the probability of images, in nats.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bound {
    /// Mean over images.
    pub mean: f64,
    /// Its standard error over images, if there are several.
    pub standard_error: Option<f64>,
    /// Draws per image.
    pub samples: usize,
    /// Number of images.
    pub images: usize,
}

/// How far the search for a bound is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundProgress {
    /// Images done.
    pub images: usize,
    /// Images that will have been done at the end.
    pub of: usize,
}

impl Vae {
    /// The importance-weighted bound, mean over examples. `monitor` is told of progress and may ask to
    /// stop; then there is none.
    ///
    /// The same seed gives the same numbers, to the last bit, for any number of threads.
    pub fn bound(
        &self,
        examples: &Examples,
        settings: &BoundSettings,
        mut monitor: impl FnMut(BoundProgress) -> Control,
    ) -> Result<Option<Bound>, VaeError> {
        let BoundSettings { samples, seed, threads } = *settings;
        let (space, wanted) = (examples.space(), self.sizes.pixels());
        let values = self.sizes.values();
        if space.values() != values || space.sites() != wanted {
            return Err(VaeError::Setting(format!(
                "an autoencoder of {wanted} pixels of {values} values cannot judge states of {} sites of \
                 {} values",
                space.sites(),
                space.values()
            )));
        }
        settings.check()?;
        let pool = Workers::new(threads).map_err(VaeError::Threads)?;
        let of = examples.count();
        let mut bounds = Vec::with_capacity(of);
        while bounds.len() < of {
            let next: Vec<usize> = (bounds.len()..of).take(BETWEEN).collect();
            bounds.extend(pool.install(|| self.bounds_at(examples, &next, samples, seed))?);
            if monitor(BoundProgress { images: bounds.len(), of }) == Control::Stop {
                return Ok(None);
            }
        }
        Ok(Some(Bound::of_images(&bounds, samples)))
    }

    /// The bounds at some examples, in their order, on the threads at hand.
    pub(super) fn bounds_at(
        &self,
        examples: &Examples,
        indices: &[usize],
        samples: usize,
        seed: u64,
    ) -> Result<Vec<f64>, VaeError> {
        let (fewest, most) = IMAGES;
        let bounds: Vec<f64> = indices
            .par_chunks((ROWS / samples).clamp(fewest, most))
            .flat_map_iter(|few| self.bounds_at_few(examples, few, samples, seed))
            .collect();
        let wrong = bounds.iter().zip(indices).find(|(bound, _)| !bound.is_finite());
        if let Some((bound, index)) = wrong {
            let reason = format!("its bound at image {index} is {bound}");
            return Err(VaeError::Model(ModelError::Evaluation(reason)));
        }
        Ok(bounds)
    }

    /// The same on one thread. Rows that are decoded together are draws for one or several images.
    fn bounds_at_few(
        &self,
        examples: &Examples,
        indices: &[usize],
        samples: usize,
        seed: u64,
    ) -> Vec<f64> {
        let (pixels, latent) = (self.sizes.pixels(), self.sizes.latent());
        let (decoded, meaning) = (self.sizes.decoded(), self.sizes.decoded_pixels());
        let mut encoder = self.nets[0].new_activations(indices.len());
        let mut state = vec![0; pixels];
        let mut rngs = Vec::with_capacity(indices.len());
        for (index, image) in indices.iter().zip(encoder.input_mut(0).chunks_exact_mut(pixels)) {
            let mut rng = ChainRng::new(seed, Stream::Training(Purpose::Bound, *index as u64, 0));
            examples.fill(*index, &mut rng, &mut state);
            let numbers = image.iter_mut().zip(&state);
            numbers.for_each(|(number, value)| *number = meaning.to_input(*value));
            rngs.push(rng);
        }
        self.nets[0].forward(&mut encoder);
        let encoder = &encoder;
        let rows = indices.len() * samples;
        let mut logs = vec![0.0; rows];
        let mut noise = Vec::new();
        let mut below: Vec<_> =
            self.nets[1..].iter().map(|net| net.new_activations(ROWS.min(rows))).collect();
        for first in (0..rows).step_by(ROWS) {
            let few = ROWS.min(rows - first);
            self.nets[1..].iter().zip(&mut below).for_each(|(net, below)| net.resize(below, few));
            noise.resize(few * self.sizes.noise(), 0.0);
            for (row, noise) in (first..).zip(noise.chunks_exact_mut(self.sizes.noise())) {
                fill_noise(&mut rngs[row / samples], noise);
            }
            let image_of = |row: usize| (first + row) / samples;
            let posterior =
                |row| Normals::new(&encoder.output()[image_of(row) * 2 * latent..][..2 * latent]);
            let image = |row| &encoder.input(0)[image_of(row) * pixels..][..pixels];
            pass::decode(self, &mut below, &noise, (posterior, image), |row, drawn| {
                let Drawn { posterior, prior, noise, latent } = drawn;
                logs[first + row] += posterior.log_ratio(prior, noise, latent);
            });
            let Some(decoder) = below.last() else { continue };
            for (row, decoded) in decoder.output().chunks_exact(decoded).enumerate() {
                logs[first + row] += meaning.log_prob(image(row), decoded);
            }
        }
        let mean = |logs: &[f64]| log_sum_exp(logs) - (samples as f64).ln();
        logs.chunks_exact(samples).map(mean).collect()
    }
}

impl Bound {
    /// Of the bounds at single images.
    fn of_images(bounds: &[f64], samples: usize) -> Self {
        let count = bounds.len() as f64;
        let mean = bounds.iter().sum::<f64>() / count;
        let squares: f64 = bounds.iter().map(|bound| (bound - mean).powi(2)).sum();
        let standard_error = (bounds.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt());
        Self { mean, standard_error, samples, images: bounds.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_errors_are_those_computed_by_hand() {
        // Mean 4, squares 9 + 1 + 4 + 4 + 16 + 0 = 34, over 5 and 6.
        let bound = Bound::of_images(&[1.0, 3.0, 2.0, 6.0, 8.0, 4.0], 7);
        assert_eq!((bound.mean, bound.samples, bound.images), (4.0, 7, 6));
        assert!((bound.standard_error.unwrap() - (34.0f64 / 30.0).sqrt()).abs() < 1e-12);
        assert_eq!(Bound::of_images(&[-5.0], 1).standard_error, None);
    }
}
