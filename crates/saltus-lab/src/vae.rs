//! Variational autoencoders (Kingma and Welling 2014) of gated layers: what an energy-based model is to be compared with.
//!
//! A [`Vae`] draws latent numbers from a standard normal distribution and gives every pixel its
//! log-odds from them, or a distribution of its levels of gray. Its encoder guesses the latent numbers of an image. Two hidden layers
//! of gated units each, one level of latent numbers or two, fully connected or with convolutions, as in the comparisons of
//! Tomczak and Welling (2018).
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
mod convolution;
mod dense;
mod file;
mod gate;
mod grays;
mod learner;
mod net;
mod pass;
mod pixels;
mod plan;
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

use net::Net;
use plan::Plans;
use posterior::Normals;
use rayon::prelude::*;
use saltus::ModelError;
use saltus::model::{check_finite, check_length};
use saltus::rng::Training as Purpose;
use saltus::rng::{ChainRng, Stream};

/// A variational autoencoder of images.
#[derive(Clone, Debug)]
pub struct Vae {
    sizes: VaeSizes,
    parameters: Vec<f32>,
    /// The uppermost encoder first, the decoder last.
    nets: Vec<Net>,
}

impl Vae {
    /// With these parameters: net by net and layer by layer, all weights [output, input] and then all biases; a file of the
    /// autoencoder names them in their order. A gated layer has two outputs per unit, all numbers and then all gates; encoders
    /// and priors end in all means and then all logarithms of variances.
    pub fn new(sizes: VaeSizes, parameters: Vec<f32>) -> Result<Self, ModelError> {
        let Plans { layers, nets } = Plans::new(&sizes);
        check_length("the list of parameters", parameters.len(), sizes.parameters())?;
        check_finite("parameters", &parameters)?;
        let nets = nets.into_iter().map(|plan| Net::new(plan, &layers)).collect();
        let mut vae = Self { sizes, parameters, nets };
        vae.change_parameters(|_| {});
        Ok(vae)
    }

    /// Before the first update: weights uniform with variance 2/n, n the number of inputs (He et al.
    /// 2015), and no biases.
    pub fn random(sizes: VaeSizes, seed: u64) -> Self {
        let mut rng = ChainRng::new(seed, Stream::Model);
        let plans = Plans::new(&sizes);
        let mut parameters = vec![0.0; plans.parameters()];
        for (_, layer) in plans.layers {
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
        let Self { parameters, nets, .. } = self;
        change(parameters);
        let parameters = &parameters[..];
        let mut layers: Vec<_> = nets.iter_mut().flat_map(|net| net.layers_mut()).collect();
        layers.par_iter_mut().for_each(|layer| layer.set(parameters));
    }

    fn decoder(&self) -> &Net {
        &self.nets[self.nets.len() - 1]
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
        let latent = self.sizes.latent();
        let meaning = self.sizes.decoded_pixels();
        let mut decoder = self.decoder().new_activations(1);
        // The prior of the lower level given the upper, where there are two.
        let prior = (self.sizes.levels() == 2).then(|| &self.nets[2]);
        let mut given = prior.map(|prior| prior.new_activations(1));
        let mut noise = vec![0.0; latent];
        let mut images = vec![0; count * self.sizes.pixels()];
        for (number, image) in images.chunks_exact_mut(self.sizes.pixels()).enumerate() {
            let mut rng = ChainRng::new(seed, Stream::Training(Purpose::Sample, number as u64, 0));
            posterior::fill_noise(&mut rng, &mut noise);
            if let (Some(prior), Some(given)) = (prior, &mut given) {
                given.input_mut(0).copy_from_slice(&noise);
                decoder.input_mut(1).copy_from_slice(&noise);
                prior.forward(given);
                posterior::fill_noise(&mut rng, &mut noise);
                Normals::new(given.output()).draw(&noise, decoder.input_mut(0));
            } else {
                decoder.input_mut(0).copy_from_slice(&noise);
            }
            self.decoder().forward(&mut decoder);
            meaning.draw(decoder.output(), &mut rng, image);
        }
        images
    }
}
