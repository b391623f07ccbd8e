//! Adam (Kingma and Ba 2015): steps that follow the mean gradient over its usual size.

/// Forgetting of the mean of gradients and of their squares.
const BETAS: (f32, f32) = (0.9, 0.999);
/// Keeps a gradient that was always zero from being divided by zero.
pub const EPSILON: f64 = 1e-8;

/// Running means of the gradients of some parameters and of their squares.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    /// Means of the gradients.
    pub first: Vec<f32>,
    /// Means of their squares.
    pub second: Vec<f32>,
}

impl Moments {
    /// Those of so many parameters before the first update.
    pub fn new(parameters: usize) -> Self {
        Self { first: vec![0.0; parameters], second: vec![0.0; parameters] }
    }
}

/// One update of all parameters.
///
/// ```
/// use saltus_learn::adam::{Moments, Step};
/// let (mut parameters, mut moments) = ([1.0, 1.0], Moments::new(2));
/// let Moments { first, second } = &mut moments;
/// Step::new(0.1, 1).apply(&mut parameters, &[7.0, -0.02], (first, second));
/// // The first step is the learning rate, whatever the size of the gradient.
/// assert!((parameters[0] - 0.9).abs() < 1e-5 && (parameters[1] - 1.1).abs() < 1e-5);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Learning rate over the correction of the mean, which starts at zero.
    rate: f32,
    /// What makes up for squares that start at zero, under the root.
    root: f32,
    epsilon: f32,
}

impl Step {
    /// The update of that number, counted from 1.
    pub fn new(learning_rate: f64, update: usize) -> Self {
        let update = i32::try_from(update).unwrap_or(i32::MAX);
        let correction = |beta: f32| 1.0 - f64::from(beta).powi(update);
        Self {
            rate: (learning_rate / correction(BETAS.0)) as f32,
            root: (1.0 / correction(BETAS.1).sqrt()) as f32,
            epsilon: EPSILON as f32,
        }
    }

    /// The same with another number that is added to the usual size of a gradient. Gradients well below it are followed
    /// in proportion, as by plain descent with momentum, and their noise is not blown up.
    ///
    /// ```
    /// use saltus_learn::adam::{Moments, Step};
    /// let (mut parameters, mut moments) = ([1.0, 1.0], Moments::new(2));
    /// let Moments { first, second } = &mut moments;
    /// Step::new(0.1, 1).with_epsilon(1.0).apply(&mut parameters, &[0.02, -0.001], (first, second));
    /// // 0.1 · g / (|g| + 1).
    /// assert!((parameters[0] - 0.998039).abs() < 1e-5 && (parameters[1] - 1.0000999).abs() < 1e-6);
    /// ```
    pub fn with_epsilon(self, epsilon: f64) -> Self {
        Self { epsilon: epsilon as f32, ..self }
    }

    /// Moves parameters against their gradient.
    #[inline(always)]
    pub fn apply(
        self,
        parameters: &mut [f32],
        gradient: &[f32],
        (first, second): (&mut [f32], &mut [f32]),
    ) {
        for (((parameter, gradient), first), second) in
            parameters.iter_mut().zip(gradient).zip(first).zip(second)
        {
            *first = BETAS.0 * *first + (1.0 - BETAS.0) * gradient;
            *second = BETAS.1 * *second + (1.0 - BETAS.1) * gradient * gradient;
            *parameter -= self.rate * *first / (second.sqrt() * self.root + self.epsilon);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_computed_by_hand() {
        let (mut parameter, mut moments) = ([1.0f32, -2.0], Moments::new(2));
        let mut step = |update, gradient: [f32; 2]| {
            let Moments { first, second } = &mut moments;
            Step::new(0.1, update).apply(&mut parameter, &gradient, (first, second));
            parameter.map(f64::from)
        };
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 3e-6, "{found}");
        // First: mean g, root of squares |g|, so the step is the learning rate against the sign.
        let [a, b] = step(1, [0.5, -4.0]);
        close(a, 0.9);
        close(b, -1.9);
        // Second, a: m = 0.9·0.05 − 0.1·1 = −0.055, over 0.19: −0.289474;
        // v = 0.999·0.00025 + 0.001 = 0.00124975, over 0.001999: 0.625188, root 0.790688;
        // step 0.1·0.289474/0.790688 = 0.036610.
        // b: m = 0.9·(−0.4) = −0.36, over 0.19: −1.894737; v = 0.999·0.016 = 0.015984, over
        // 0.001999: 7.995998, root 2.827720; step 0.1·1.894737/2.827720 = 0.067006.
        let [a, b] = step(2, [-1.0, 0.0]);
        close(a, 0.936610);
        close(b, -1.832994);
    }

    #[test]
    fn nothing_moves_without_a_gradient() {
        let (mut parameter, mut moments) = ([1.5f32], Moments::new(1));
        for update in 1..50 {
            let Moments { first, second } = &mut moments;
            Step::new(1.0, update).apply(&mut parameter, &[0.0], (first, second));
        }
        assert_eq!(parameter, [1.5]);
    }
}
