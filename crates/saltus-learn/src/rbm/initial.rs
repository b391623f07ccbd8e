//! An RBM before the first update.

use super::RbmSettings;
use crate::data::Examples;
use saltus::rng::{Learning, Stream};
use saltus::{ChainRng, ModelError, Rbm};

/// Frequencies of the data are kept away from 0 and 1, so that no value is impossible.
const FREQUENCIES: (f64, f64) = (0.01, 0.99);

/// How often each value occurs in the examples, kept away from 0 and 1.
pub(super) fn clamped_mean(examples: &Examples) -> Vec<f32> {
    let (low, high) = FREQUENCIES;
    examples.mean().iter().map(|mean| mean.clamp(low, high) as f32).collect()
}

/// An RBM before the first update.
///
/// The weights are uniform in ±1/√n with n the number of inputs of a hidden unit (sites with
/// two values, sites × values with more): small enough that all hidden units start out half
/// on, large enough that they start out different. The hidden biases are zero. The visible
/// biases give every value its frequency in the data: log-odds with two values, logarithms
/// with more.
pub(super) fn initial(examples: &Examples, settings: &RbmSettings) -> Result<Rbm, ModelError> {
    let (space, mean) = (examples.space(), clamped_mean(examples));
    let table = space.diff_len();
    let mut rng = ChainRng::new(settings.seed, Stream::Learning(Learning::Weights, 0));
    let reach = 1.0 / (table as f64).sqrt();
    let weight: Vec<f32> = (0..settings.hidden * table)
        .map(|_| (reach * (2.0 * rng.uniform() - 1.0)) as f32)
        .collect();
    let bias = |mean: &f32| {
        let mean = f64::from(*mean);
        let bias = if space.is_binary() { (mean / (1.0 - mean)).ln() } else { mean.ln() };
        bias as f32
    };
    let visible_bias: Vec<f32> = mean.iter().map(bias).collect();
    let hidden_bias = vec![0.0; settings.hidden];
    Rbm::new(space.values(), &weight, &hidden_bias, &visible_bias, Some(&mean))
}
