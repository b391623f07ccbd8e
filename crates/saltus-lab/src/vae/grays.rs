//! What the decoder says of an image of grays: independent levels of logistic distributions.
//!
//! A pixel of C levels has two numbers, m and t: its level is where a logistic distribution of mean σ(m) and scale e^t falls among
//! C equal bins of the unit interval, of which the first and the last reach to infinity (after Kingma et al. 2016, whose outer bins
//! leave the tails out).

use saltus::ChainRng;
use saltus::math::sigmoid;

/// The scales are kept within e to these powers: beyond, a level is a certainty or nothing is known.
const LOG_SCALES: (f32, f32) = (-7.0, 2.0);

/// What is known of a bin: the logarithm of its probability, and its derivatives by mean and logarithm of the scale.
struct Bin {
    log_prob: f64,
    by_mean: f64,
    by_log_scale: f64,
}

impl Bin {
    /// The bin of a level, of so many.
    fn new(level: f64, levels: f64, mean: f64, log_scale: f64) -> Self {
        let precision = (-log_scale).exp();
        let at = |edge: f64| (edge / levels - mean) * precision;
        let (low, high) = (at(level), at(level + 1.0));
        // There are two levels at least.
        let (is_first, is_last) = (level == 0.0, level + 1.0 == levels);
        // σ(high) − σ(low) = σ(high)·σ(−low)·(1 − e^(low − high)), without cancellation.
        let (below, above) = (sigmoid(high), sigmoid(-low));
        let log = |number: f64| number.min(0.0) - (-number.abs()).exp().ln_1p();
        let (log_prob, by_high, by_low) = match (is_first, is_last) {
            (true, _) => (log(high), 1.0 - below, 0.0),
            (_, true) => (log(-low), 0.0, -(1.0 - above)),
            _ => {
                let width = low - high;
                let inner = (-width.exp_m1()).ln();
                // d/d(high − low) of log(1 − e^(low − high)).
                let slope = 1.0 / (-width).exp_m1();
                (log(high) + log(-low) + inner, 1.0 - below + slope, -(1.0 - above) - slope)
            }
        };
        let high_times = if is_last { 0.0 } else { high * by_high };
        let low_times = if is_first { 0.0 } else { low * by_low };
        Self {
            log_prob,
            by_mean: -(by_high + by_low) * precision,
            by_log_scale: -(high_times + low_times),
        }
    }
}

/// Mean, and log scale within its bounds; whether it is strictly within.
fn parameters(mean: f32, log_scale: f32) -> (f64, f64, bool) {
    let (low, high) = LOG_SCALES;
    // Not `clamp`, which is the same but hides what becomes of NaN: it stays NaN.
    let bounded = log_scale.clamp(low, high);
    (sigmoid(f64::from(mean)), f64::from(bounded), bounded == log_scale)
}

/// What goes into an encoder for a level: between 0 and 1.
pub(super) fn to_input(level: u8, levels: usize) -> f32 {
    f32::from(level) / (levels.max(2) - 1) as f32
}

/// And back.
fn level_of(input: f32, levels: usize) -> f64 {
    f64::from((input * (levels.max(2) - 1) as f32).round())
}

/// The logarithm of an image's probability, given as it goes into an encoder; `decoded` are mean and scale of every pixel.
pub(super) fn log_prob(image: &[f32], decoded: &[f32], levels: usize) -> f64 {
    let terms = image.iter().zip(decoded.as_chunks::<2>().0).map(|(input, [mean, scale])| {
        let (mean, log_scale, _) = parameters(*mean, *scale);
        Bin::new(level_of(*input, levels), levels as f64, mean, log_scale).log_prob
    });
    terms.sum()
}

/// Replaces what was decoded by `−factor` times the gradient of [`log_prob`] there.
pub(super) fn back(image: &[f32], factor: f32, decoded: &mut [f32], levels: usize) {
    for (input, [mean, scale]) in image.iter().zip(decoded.as_chunks_mut::<2>().0) {
        let (at, log_scale, is_within) = parameters(*mean, *scale);
        let bin = Bin::new(level_of(*input, levels), levels as f64, at, log_scale);
        // σ′ = σ·(1 − σ).
        *mean = -factor * (bin.by_mean * at * (1.0 - at)) as f32;
        *scale = if is_within { -factor * bin.by_log_scale as f32 } else { 0.0 };
    }
}

/// Draws an image: the bins where draws from the logistic distributions fall.
pub(super) fn draw(decoded: &[f32], levels: usize, rng: &mut ChainRng, image: &mut [u8]) {
    for (level, [mean, scale]) in image.iter_mut().zip(decoded.as_chunks::<2>().0) {
        let (mean, log_scale, _) = parameters(*mean, *scale);
        let uniform = rng.uniform();
        let drawn = mean + log_scale.exp() * (uniform / (1.0 - uniform)).ln();
        // A cast takes what is below zero to the first level.
        *level = ((drawn * levels as f64).floor().min(levels as f64 - 1.0)) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_the_probabilities_of_their_bins_and_add_up_to_one() {
        for (mean, scale) in [(0.0f32, -2.0f32), (3.0, -5.0), (-9.0, 1.0), (0.4, -7.0), (0.1, -9.0)]
        {
            let (center, log_scale, _) = parameters(mean, scale);
            let cumulative = |level: usize, more: usize| match level + more {
                0 => 0.0,
                16 => 1.0,
                edge => sigmoid((edge as f64 / 16.0 - center) / log_scale.exp()),
            };
            let mut total = 0.0;
            for level in 0..16u8 {
                let found = log_prob(&[to_input(level, 16)], &[mean, scale], 16).exp();
                let expected = cumulative(level.into(), 1) - cumulative(level.into(), 0);
                assert!((found - expected).abs() < 1e-9, "{level}: {found}, {expected}");
                total += found;
            }
            assert!((total - 1.0).abs() < 1e-9, "{total}");
        }
        // Every level comes back.
        assert!((0..=255).all(|level| level_of(to_input(level, 256), 256) == f64::from(level)));
    }

    #[test]
    fn draws_have_the_probabilities_of_the_levels() {
        let decoded = [0.7f32, -1.5];
        let mut rng = ChainRng::new(1, saltus::rng::Stream::Data(0));
        let mut counts = [0u32; 5];
        for _ in 0..20_000 {
            let mut image = [0];
            draw(&decoded, 5, &mut rng, &mut image);
            counts[usize::from(image[0])] += 1;
        }
        for (level, count) in counts.into_iter().enumerate() {
            let expected = 2e4 * log_prob(&[to_input(level as u8, 5)], &decoded, 5).exp();
            assert!((f64::from(count) - expected).abs() < 5.0 * expected.sqrt(), "{counts:?}");
        }
    }

    #[test]
    fn gradients_are_those_of_differences_far_into_the_tails() {
        let image = [0, 3, 255, 100, 0, 255, 128].map(|level| to_input(level, 256));
        let decoded =
            [-8.0f32, 2.0, 5.0, -0.4, 6.0, -6.0, 0.0, -3.0, -6.5, -4.0, -1.0, -5.0, -5.0, -8.0];
        let mut found = decoded;
        back(&image, 0.5, &mut found, 256);
        for at in 0..decoded.len() {
            let value = |change: f32| {
                let mut moved = decoded;
                moved[at] += change;
                (log_prob(&image, &moved, 256), f64::from(moved[at]))
            };
            let ((above, right), (below, left)) = (value(1e-3), value(-1e-3));
            let expected = -0.5 * (above - below) / (right - left);
            let error = (f64::from(found[at]) - expected).abs();
            assert!(error < 1e-3 * (1.0 + expected.abs()), "{at}: {} {expected}", found[at]);
        }
        assert!(found.iter().all(|number| number.is_finite()));
    }
}
