//! How the learning rate rises at the beginning, and how parameters are averaged over iterations.

/// The learning rate of an iteration, counted from 1: rises in proportion to its number during the
/// warm-up, and stays.
pub(super) fn learning_rate(full: f64, warmup: usize, iteration: usize) -> f64 {
    if iteration >= warmup { full } else { full * iteration as f64 / warmup as f64 }
}

/// Moves a running mean of parameters: `average = decay · average + (1 − decay) · now`.
#[inline(always)]
pub(super) fn move_average(average: &mut [f32], now: &[f32], decay: f64) {
    // Rounded once: what is kept and what is taken must be one together.
    let taken = (1.0 - decay) as f32;
    for (average, now) in average.iter_mut().zip(now) {
        *average += taken * (now - *average);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_learning_rate_rises_and_stays() {
        let rates = [1, 5, 10, 11, 1000].map(|iteration| learning_rate(0.2, 10, iteration));
        for (found, expected) in rates.iter().zip([0.02, 0.1, 0.2, 0.2, 0.2]) {
            assert!((found - expected).abs() < 1e-15, "{rates:?}");
        }
        assert_eq!(learning_rate(0.2, 0, 1), 0.2);
    }

    #[test]
    fn averages_are_those_computed_by_hand() {
        let mut average = [1.0f32, 0.0];
        move_average(&mut average, &[3.0, 8.0], 0.75);
        // 0.75·1 + 0.25·3 and 0.25·8.
        assert_eq!(average, [1.5, 2.0]);
        move_average(&mut average, &[0.0, -4.0], 0.75);
        // 0.75·1.5 and 0.75·2 − 0.25·4.
        assert_eq!(average, [1.125, 0.5]);
    }
}
