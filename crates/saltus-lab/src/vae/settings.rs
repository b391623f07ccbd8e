//! How to train an autoencoder, and why that cannot be done.

use super::VaeSizes;
use saltus::ModelError;
use saltus::rng::MOST_OF_TRAINING;
use saltus_learn::data::Split;

/// How to train an autoencoder.
#[derive(Clone, Debug, PartialEq)]
pub struct VaeSettings {
    /// Gated units of each hidden layer.
    pub hidden: usize,
    /// Latent numbers of a level.
    pub latent: usize,
    /// Levels of latent numbers: one or two.
    pub levels: usize,
    /// Channels of the first convolutions, if there are to be any.
    pub channels: Option<usize>,
    /// Times that every image is looked at, at most.
    pub epochs: usize,
    /// Images per update; what is left at the end of an epoch is left out.
    pub batch: usize,
    /// Adam's learning rate: about as far as an update moves a weight.
    pub learning_rate: f64,
    /// Epochs during which the weight of the divergence from the prior rises to one.
    pub warmup: usize,
    /// Epochs after the warm-up without a better bound on the validation images, after which training
    /// ends.
    pub patience: usize,
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Threads, or as many as the machine has. Results do not depend on it.
    pub threads: Option<usize>,
}

impl Default for VaeSettings {
    fn default() -> Self {
        Self {
            hidden: VaeSizes::HIDDEN,
            latent: VaeSizes::LATENT,
            levels: 1,
            channels: None,
            epochs: 200,
            batch: 100,
            learning_rate: 5e-4,
            warmup: 0,
            patience: 50,
            seed: 0,
            threads: None,
        }
    }
}

impl VaeSettings {
    /// Fails if these images cannot be learnt from in this way; else, the sizes of the autoencoder.
    pub fn check(&self, split: &Split) -> Result<VaeSizes, VaeError> {
        let wrong = |sentence: String| Err(VaeError::Setting(sentence));
        for (what, number) in [
            ("the number of epochs", self.epochs),
            ("the batch", self.batch),
            ("the patience", self.patience),
        ] {
            if number == 0 {
                return wrong(format!("{what} must be at least 1"));
            }
        }
        if !(self.learning_rate > 0.0 && self.learning_rate.is_finite()) {
            return wrong(format!(
                "the learning rate must be a positive number, got {}",
                self.learning_rate
            ));
        }
        let sizes = VaeSizes::new(split.rows, split.columns, self.hidden, self.latent)?
            .with_values(split.training.space().values())?;
        let sizes = sizes
            .with_levels(self.levels, self.channels)
            .or_else(|error| wrong(error.to_string()))?;
        for examples in std::iter::once(&split.training).chain(&split.validation) {
            let space = examples.space();
            if space.values() != sizes.values() {
                return wrong(format!(
                    "the images to learn from have {} values per pixel, those to choose by {}",
                    sizes.values(),
                    space.values()
                ));
            }
            if space.sites() != sizes.pixels() {
                return wrong(format!(
                    "an autoencoder of {}×{} pixels cannot learn from states of {} sites",
                    split.rows,
                    split.columns,
                    space.sites()
                ));
            }
        }
        let count = split.training.count();
        if self.batch > count {
            return wrong(format!(
                "a batch of {} is more than the {count} images there are",
                self.batch
            ));
        }
        let (most, _) = MOST_OF_TRAINING;
        if self.epochs.checked_mul(count / self.batch).is_none_or(|updates| updates > most) {
            return wrong(format!(
                "{} epochs of {} updates are more than the {most} updates that have random numbers \
                 of their own",
                self.epochs,
                count / self.batch
            ));
        }
        Ok(sizes)
    }

    /// The weight of the divergence in an epoch, counted from 1.
    pub(super) fn weight(&self, epoch: usize) -> f64 {
        if epoch >= self.warmup { 1.0 } else { epoch as f64 / self.warmup as f64 }
    }
}

/// Why an autoencoder could not be trained or judged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum VaeError {
    /// A setting that makes no sense.
    #[error("{0}")]
    Setting(String),
    /// Numbers that grew beyond all bounds.
    #[error(
        "training diverged at update {update}: a number is no longer usable; try a smaller learning \
         rate than {learning_rate}"
    )]
    Diverged {
        /// The update, counted from 1.
        update: usize,
        /// The learning rate it happened with.
        learning_rate: f64,
    },
    /// The system did not give threads.
    #[error("threads could not be started: {0}")]
    Threads(String),
    /// The autoencoder could not be built or evaluated.
    #[error(transparent)]
    Model(#[from] ModelError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weight_of_the_divergence_rises_and_stays() {
        let weights = |warmup| {
            let settings = VaeSettings { warmup, ..VaeSettings::default() };
            [1, 2, 4, 5, 100].map(|epoch| settings.weight(epoch))
        };
        assert_eq!(weights(4), [0.25, 0.5, 1.0, 1.0, 1.0]);
        assert_eq!(weights(0), [1.0; 5]);
    }
}
