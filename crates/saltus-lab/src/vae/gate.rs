//! Gated units: a number, times how far a second one opens the way for it.

use saltus::math::{logistic, vectorised};

/// Makes units of rows of all their numbers and then all their gates: unit = number · σ(gate). The
/// gates are replaced by σ(gate), which the way back asks for.
pub(super) fn forward(pairs: &mut [f32], units: &mut [f32], per_row: usize) {
    vectorised(
        #[inline(always)]
        || {
            for (pairs, units) in
                pairs.chunks_exact_mut(2 * per_row).zip(units.chunks_exact_mut(per_row))
            {
                let (numbers, gates) = pairs.split_at_mut(per_row);
                for ((number, gate), unit) in numbers.iter().zip(gates).zip(units) {
                    *gate = if gate.is_nan() { *gate } else { logistic(*gate).1 };
                    *unit = *number * *gate;
                }
            }
        },
    );
}

/// Takes a gradient at the units back: numbers and open gates are replaced by the gradients at the
/// numbers and gates.
pub(super) fn back(gradient: &[f32], pairs: &mut [f32], per_row: usize) {
    vectorised(
        #[inline(always)]
        || {
            for (gradient, pairs) in
                gradient.chunks_exact(per_row).zip(pairs.chunks_exact_mut(2 * per_row))
            {
                let (numbers, gates) = pairs.split_at_mut(per_row);
                for ((number, gate), gradient) in numbers.iter_mut().zip(gates).zip(gradient) {
                    let (through, open) = (gradient * *gate, *gate);
                    // σ′ = σ·(1 − σ).
                    *gate = through * *number * (1.0 - open);
                    *number = through;
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_gradients_are_those_computed_by_hand() {
        // Gates at 0 and log 3: open by 1/2 and 3/4.
        let (mut pairs, mut units) = ([2.0, -4.0, 0.0, 3f32.ln()], [0.0; 2]);
        forward(&mut pairs, &mut units, 2);
        let close = |found: &[f32], expected: &[f32]| {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
        };
        close(&units, &[1.0, -3.0]);
        back(&[10.0, 1.0], &mut pairs, 2);
        // 10·1/2, 1·3/4; 10·2·1/2·1/2, 1·(−4)·3/4·1/4.
        close(&pairs, &[5.0, 0.75, 5.0, -0.75]);
    }
}
