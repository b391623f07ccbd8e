//! The network's one nonlinearity, z/(1 + e^−z), and its slope, which the way back needs.

use super::plane::Plane;
use saltus::math::{logistic, vectorised};

/// Turns sums into what the next layer sees, and keeps the slopes; what has skipped some layers is
/// added first.
pub(super) fn swish(
    plane: Plane,
    skipped: Option<&[f32]>,
    numbers: &mut [f32],
    slopes: &mut [f32],
) {
    vectorised(
        #[inline(always)]
        || {
            for row in plane.row_ranges() {
                let (numbers, slopes) = (&mut numbers[row.clone()], &mut slopes[row.clone()]);
                if let Some(skipped) = skipped {
                    for (number, skipped) in numbers.iter_mut().zip(&skipped[row]) {
                        *number += skipped;
                    }
                }
                for (number, slope) in numbers.iter_mut().zip(slopes) {
                    let (_, on, off) = logistic(*number);
                    // d/dz zσ(z) = σ(z)·(1 + z·(1 − σ(z))).
                    *slope = on * (1.0 + *number * off);
                    *number *= on;
                }
            }
        },
    );
}

/// Takes a gradient back through it.
pub(super) fn multiply(plane: Plane, slopes: &[f32], gradient: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || {
            for row in plane.row_ranges() {
                for (gradient, slope) in gradient[row.clone()].iter_mut().zip(&slopes[row]) {
                    *gradient *= slope;
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_slopes_are_those_of_the_formula() {
        let plane = Plane { rows: 1, columns: 5, channels: 1 };
        let (mut numbers, mut slopes, mut skipped) = (plane.zeros(), plane.zeros(), plane.zeros());
        let points = [-20.0f32, -1.0, 0.0, 0.5, 30.0];
        for (column, point) in points.iter().enumerate() {
            skipped[plane.at(0, column)] = 1.0;
            numbers[plane.at(0, column)] = point - 1.0;
        }
        swish(plane, Some(&skipped), &mut numbers, &mut slopes);
        let exact = |z: f64| z / (1.0 + (-z).exp());
        for (column, point) in points.iter().enumerate() {
            let (z, at) = (f64::from(*point), plane.at(0, column));
            let close = |found: f32, expected: f64| {
                assert!((f64::from(found) - expected).abs() < 2e-6 * z.abs().max(1.0), "{z}");
            };
            close(numbers[at], exact(z));
            close(slopes[at], (exact(z + 1e-5) - exact(z - 1e-5)) / 2e-5);
        }
        assert_eq!((numbers[0], slopes[0]), (0.0, 0.0), "the border is left alone");
    }
}
