//! An RBM before the first update.

use super::RbmSettings;
use crate::Learnable;
use crate::data::Examples;
use saltus::rng::{Learning, Stream};
use saltus::{ChainRng, Model, ModelError, Rbm};

/// Frequencies of the data are kept away from 0 and 1, so that no value is impossible.
const FREQUENCIES: (f64, f64) = (0.01, 0.99);

/// How much smaller the weights of units without a counterpart begin: together, a thousand of them change log π by a tenth.
const BEYOND: f64 = 0.1;

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

/// The top RBM of a network before its first update as the bottom one upside down: its sites are the hidden units below, its
/// first hidden units the sites below, and what log π says of its sites is what the bottom RBM says of its hidden units. None if
/// sites below have more than two values, or are more than the hidden units.
pub(super) fn mirrored(
    bottom: &Rbm,
    examples: &Examples,
    settings: &RbmSettings,
) -> Option<Result<Rbm, ModelError>> {
    let (below, units) = (bottom.space().sites(), bottom.hidden());
    if !bottom.space().is_binary() || settings.hidden < below {
        return None;
    }
    let parameters = bottom.parameters();
    let (weights, biases) = parameters.split_at(below * units);
    let (visible_bias, mirrored_bias) = biases.split_at(units);
    // A row of the bottom's parameters is a site's, with all hidden units.
    let mut weight = weights.to_vec();
    let mut rng = ChainRng::new(settings.seed, Stream::Learning(Learning::Weights, 0));
    let reach = BEYOND / (units as f64).sqrt();
    let beyond = (settings.hidden - below) * units;
    weight.extend((0..beyond).map(|_| (reach * (2.0 * rng.uniform() - 1.0)) as f32));
    let mut hidden_bias = mirrored_bias.to_vec();
    hidden_bias.resize(settings.hidden, 0.0);
    let mean = clamped_mean(examples);
    Some(Rbm::new(2, &weight, &hidden_bias, visible_bias, Some(&mean)))
}
