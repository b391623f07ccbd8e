//! What the decoder says of an image: independent bits with these log-odds, or levels of gray.

use super::grays;
use saltus::ChainRng;
use saltus::math::{logistic, vectorised};

/// What the decoder's numbers mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pixels {
    /// One number per pixel, the log-odds of 1.
    Bits,
    /// Two numbers per pixel of so many levels.
    Grays(usize),
}

impl Pixels {
    /// What goes into an encoder for a value.
    pub(super) fn to_input(self, value: u8) -> f32 {
        match self {
            Self::Bits => f32::from(value),
            Self::Grays(levels) => grays::to_input(value, levels),
        }
    }

    /// The logarithm of an image's probability, given as it goes into an encoder.
    pub(super) fn log_prob(self, image: &[f32], decoded: &[f32]) -> f64 {
        match self {
            Self::Bits => log_prob(image, decoded),
            Self::Grays(levels) => grays::log_prob(image, decoded, levels),
        }
    }

    /// Replaces what was decoded by `−factor` times the gradient of [`log_prob`](Self::log_prob) there.
    pub(super) fn back(self, image: &[f32], factor: f32, decoded: &mut [f32]) {
        match self {
            Self::Bits => back(image, factor, decoded),
            Self::Grays(levels) => grays::back(image, factor, decoded, levels),
        }
    }

    /// Draws an image.
    pub(super) fn draw(self, decoded: &[f32], rng: &mut ChainRng, image: &mut [u8]) {
        match self {
            Self::Bits => {
                for (bit, log_odds) in image.iter_mut().zip(decoded) {
                    *bit = u8::from(rng.flip(f64::from(logistic(*log_odds).1)));
                }
            }
            Self::Grays(levels) => grays::draw(decoded, levels, rng, image),
        }
    }
}

/// Pixels that are added up side by side.
const LANES: usize = 16;

/// The logarithm of the probability of a bit with that log-odds.
#[inline(always)]
fn log_prob_of_bit(bit: f32, log_odds: f32) -> f64 {
    // log σ(l) if the bit is 1, log σ(−l) if it is 0.
    let towards = if bit > 0.5 { log_odds } else { -log_odds };
    let (log, _, _) = logistic(towards);
    // Not `min`, which would make a number of NaN.
    let below = if towards > 0.0 { 0.0 } else { towards };
    f64::from(below) - f64::from(log)
}

/// The logarithm of the probability of an image of bits.
fn log_prob(image: &[f32], log_odds: &[f32]) -> f64 {
    vectorised(
        #[inline(always)]
        || {
            let (images, image_rest) = image.as_chunks::<LANES>();
            let (odds, odds_rest) = log_odds.as_chunks::<LANES>();
            let mut sums = [0.0f64; LANES];
            for (image, odds) in images.iter().zip(odds) {
                for lane in 0..LANES {
                    sums[lane] += log_prob_of_bit(image[lane], odds[lane]);
                }
            }
            for (lane, (bit, odds)) in image_rest.iter().zip(odds_rest).enumerate() {
                sums[lane] += log_prob_of_bit(*bit, *odds);
            }
            sums.iter().sum()
        },
    )
}

/// Replaces log-odds by `−factor` times the gradient of [`log_prob`] there.
fn back(image: &[f32], factor: f32, log_odds: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || {
            for (log_odds, bit) in log_odds.iter_mut().zip(image) {
                *log_odds = factor * (logistic(*log_odds).1 - bit);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_and_gradients_are_those_of_the_formula() {
        // More than one round of lanes and a rest; far into both tails.
        let log_odds: Vec<f32> = (0..37).map(|i| (i as f32 - 18.0) * 2.3).collect();
        let image: Vec<f32> = (0..37).map(|i| (i % 3 % 2) as f32).collect();
        let exact = |log_odds: &[f64]| -> f64 {
            let terms = log_odds.iter().zip(&image);
            terms.map(|(l, x)| f64::from(*x) * l - saltus::math::softplus(*l)).sum()
        };
        let double: Vec<f64> = log_odds.iter().map(|number| f64::from(*number)).collect();
        let expected = exact(&double);
        let found = log_prob(&image, &log_odds);
        assert!((found - expected).abs() < 1e-5, "{found}, expected {expected}");
        let mut gradient = log_odds;
        back(&image, 0.5, &mut gradient);
        for index in 0..37 {
            let at = |change: f64| {
                let mut moved = double.clone();
                moved[index] += change;
                exact(&moved)
            };
            let expected = -0.5 * (at(1e-4) - at(-1e-4)) / 2e-4;
            assert!((f64::from(gradient[index]) - expected).abs() < 1e-6, "{index}");
        }
    }
}
