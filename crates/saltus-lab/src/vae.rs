//! A variational autoencoder (Kingma and Welling 2014) of fully connected layers: what an energy-based
//! model is to be compared with.
//!
//! A [`Vae`] draws latent numbers from a standard normal distribution and gives every pixel its
//! log-odds from them. Its encoder guesses the latent numbers of an image. Two hidden layers of gated
//! units each, as in the comparisons of Tomczak and Welling (2018).
//!
//! ```
//! use saltus_learn::data::Examples;
//! use saltus::Control;
//! use saltus::Space;
//! use saltus_learn::data::Split;
//! use saltus_lab::vae::{BoundSettings, VaeSettings, train_vae};
//! // Images of 2×2 pixels that are all black or all white.
//! let training = Examples::new(Space::new(4, 2)?, [[0; 4], [1; 4]].concat().repeat(10))?;
//! let split = Split { rows: 2, columns: 2, training, validation: None, test: None };
//! let settings = VaeSettings { hidden: 3, latent: 1, epochs: 2, batch: 10, ..Default::default() };
//! let trained = train_vae(&split, &settings, |_| Control::Continue)?;
//! assert_eq!((trained.updates, trained.history.len()), (4, 2));
//! let settings = BoundSettings { samples: 50, ..Default::default() };
//! let bound = trained.model.bound(&split.training, &settings, |_| Control::Continue)?;
//! assert!(bound.is_some_and(|bound| bound.mean < 0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bound;
mod dense;
mod file;
mod gate;
mod learner;
mod perceptron;
mod pixels;
mod posterior;
#[cfg(test)]
mod reference;
mod settings;
mod sizes;
#[cfg(test)]
mod tests;
mod train;

pub use bound::{Bound, BoundProgress, BoundSettings};
pub use settings::{VaeError, VaeSettings};
pub use sizes::VaeSizes;
pub use train::{EpochReport, TrainedVae, VaeProgress, train_vae};

use perceptron::Perceptron;
use rayon::prelude::*;
use saltus::ModelError;
use saltus::math::logistic;
use saltus::model::{check_finite, check_length};
use saltus::rng::Training as Purpose;
use saltus::rng::{ChainRng, Stream};

/// A variational autoencoder of images of bits.
#[derive(Clone, Debug)]
pub struct Vae {
    sizes: VaeSizes,
    parameters: Vec<f32>,
    encoder: Perceptron,
    decoder: Perceptron,
}

impl Vae {
    /// With these parameters: of encoder and decoder, first, second and last layer, all weights
    /// [output, input] and then all biases. A gated layer has two outputs per unit, all numbers and
    /// then all gates; the encoder ends in all means and then all logarithms of variances.
    pub fn new(sizes: VaeSizes, parameters: Vec<f32>) -> Result<Self, ModelError> {
        check_length("the list of parameters", parameters.len(), sizes.parameters())?;
        check_finite("parameters", &parameters)?;
        let [first, second, last, fourth, fifth, sixth] = sizes.layers().map(|(_, layer)| layer);
        let mut vae = Self {
            sizes,
            parameters,
            encoder: Perceptron::new([first, second, last]),
            decoder: Perceptron::new([fourth, fifth, sixth]),
        };
        vae.change_parameters(|_| {});
        Ok(vae)
    }

    /// Before the first update: weights uniform with variance 2/n, n the number of inputs (He et al.
    /// 2015), and no biases.
    pub fn random(sizes: VaeSizes, seed: u64) -> Self {
        let mut rng = ChainRng::new(seed, Stream::Model);
        let mut parameters = vec![0.0; sizes.parameters()];
        for (_, layer) in sizes.layers() {
            let reach = (6.0 / layer.inputs as f64).sqrt();
            for number in &mut parameters[layer.weight] {
                *number = (reach * (2.0 * rng.uniform() - 1.0)) as f32;
            }
        }
        Self::new(sizes, parameters).expect("as many finite numbers as there are parameters")
    }

    /// Its sizes.
    pub fn sizes(&self) -> &VaeSizes {
        &self.sizes
    }

    /// Its parameters.
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// Changes its parameters.
    fn change_parameters(&mut self, change: impl FnOnce(&mut [f32])) {
        let Self { parameters, encoder, decoder, .. } = self;
        change(parameters);
        let parameters = &parameters[..];
        let layers = encoder.layers_mut().par_iter_mut().chain(decoder.layers_mut());
        layers.for_each(|layer| layer.set(parameters));
    }

    /// So many images, one after the other.
    ///
    /// ```
    /// use saltus_lab::vae::{Vae, VaeSizes};
    /// let vae = Vae::random(VaeSizes::new(4, 4, 10, 2)?, 0);
    /// let images = vae.samples(3, 0);
    /// assert!(images.len() == 3 * 16 && images.iter().all(|bit| *bit < 2));
    /// # Ok::<(), saltus::ModelError>(())
    /// ```
    pub fn samples(&self, count: usize, seed: u64) -> Vec<u8> {
        let mut activations = self.decoder.new_activations(1);
        let mut images = vec![0; count * self.sizes.pixels()];
        for (number, image) in images.chunks_exact_mut(self.sizes.pixels()).enumerate() {
            let mut rng = ChainRng::new(seed, Stream::Training(Purpose::Sample, number as u64, 0));
            posterior::fill_noise(&mut rng, &mut activations.input);
            self.decoder.forward(&mut activations);
            for (bit, log_odds) in image.iter_mut().zip(&activations.output) {
                *bit = u8::from(rng.flip(f64::from(logistic(*log_odds).1)));
            }
        }
        images
    }
}
