//! Derivatives by differences: what gradients are tested against, here and in the laboratory.

/// The derivative by one of the numbers that `value` depends on.
pub fn derivative(numbers: &mut [f64], index: usize, value: impl Fn(&[f64]) -> f64) -> f64 {
    const STEP: f64 = 1e-5;
    let here = numbers[index];
    numbers[index] = here + STEP;
    let above = value(numbers);
    numbers[index] = here - STEP;
    let below = value(numbers);
    numbers[index] = here;
    (above - below) / (2.0 * STEP)
}
