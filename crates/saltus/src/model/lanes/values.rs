//! Draws of one of several values, sixteen at once.

use super::{CHAINS, Lane};
use crate::math::{Arithmetic, exp, larger};

/// Draws a value in every lane with probability proportional to e^log; `logs` are overwritten.
///
/// The value that a lane has comes last among those that a uniform number can fall on. So it decides first
/// whether to move, however seldom that is.
#[inline(always)]
pub(crate) fn draw<A: Arithmetic>(
    logs: &mut [Lane<f32>],
    own: &Lane<u32>,
    uniforms: &Lane<f32>,
) -> Lane<u32> {
    let mut largest = [f32::NEG_INFINITY; CHAINS];
    for log in logs.iter() {
        for lane in 0..CHAINS {
            largest[lane] = larger(log[lane], largest[lane]);
        }
    }
    let mut total = [0.0; CHAINS];
    for log in logs.iter_mut() {
        let mut weights = *log;
        for lane in 0..CHAINS {
            weights[lane] = exp::<A>(larger(weights[lane] - largest[lane], -SMALLEST));
            total[lane] += weights[lane];
        }
        *log = weights;
    }
    let (mut left, mut drawn) = ([0.0f32; CHAINS], *own);
    for lane in 0..CHAINS {
        left[lane] = uniforms[lane] * total[lane];
    }
    for (value, weights) in logs.iter().enumerate() {
        let value = value as u32;
        for lane in 0..CHAINS {
            let weight = number_if(own[lane] != value, weights[lane]);
            let is_here = (left[lane] >= 0.0) & (left[lane] < weight);
            drawn[lane] ^= (drawn[lane] ^ value) & mask(is_here);
            left[lane] -= weight;
        }
    }
    drawn
}

/// All bits, or none.
#[inline(always)]
fn mask(condition: bool) -> u32 {
    u32::from(condition).wrapping_neg()
}

/// A number if a condition holds, else zero, without a branch that the compiler could make a jump.
#[inline(always)]
pub(crate) fn number_if(condition: bool, number: f32) -> f32 {
    f32::from_bits(number.to_bits() & mask(condition))
}

/// What is less likely than e^−60 of the likeliest value counts as that.
const SMALLEST: f32 = 60.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Fused, Plain};

    /// The share of uniform numbers that a lane's value is drawn from, by bisection of the places where
    /// another value begins.
    fn shares<A: Arithmetic>(logs: &[f32], own: u8) -> Vec<f64> {
        let at = |uniform: f32| {
            let mut logs: Vec<Lane<f32>> = logs.iter().map(|log| [*log; CHAINS]).collect();
            draw::<A>(&mut logs, &[u32::from(own); CHAINS], &[uniform; CHAINS])[3] as u8
        };
        let mut shares = vec![0.0; logs.len()];
        let (mut from, end) = (1e-30f32, 1.0 - f32::EPSILON / 2.0);
        loop {
            let value = at(from);
            let (mut low, mut high) = (from, end);
            if at(end) == value {
                shares[usize::from(value)] += 1.0 - f64::from(from);
                return shares;
            }
            for _ in 0..120 {
                let middle = 0.5 * (low + high);
                if at(middle) == value { low = middle } else { high = middle }
            }
            shares[usize::from(value)] += f64::from(high) - f64::from(from);
            from = high;
        }
    }

    #[test]
    fn values_are_drawn_with_their_probabilities() {
        for logs in [vec![0.3, -1.0, 2.0], vec![5.0, 4.0, 4.5, -3.0, 0.0], vec![0.0, -20.0]] {
            let total: f64 = logs.iter().map(|log| f64::from(*log).exp()).sum();
            for own in 0..logs.len() as u8 {
                for found in [shares::<Fused>(&logs, own), shares::<Plain>(&logs, own)] {
                    for (value, (found, log)) in found.iter().zip(&logs).enumerate() {
                        let exact = f64::from(*log).exp() / total;
                        // Values that it moves to are resolved relative to their own probability.
                        let bound = if value == usize::from(own) {
                            1e-6
                        } else {
                            1e-6 * exact + 1e-7 * exact.max(1e-9)
                        };
                        let bound = if logs.len() == 2 { bound } else { 1e-6 };
                        assert!(
                            (found - exact).abs() < bound,
                            "{logs:?} {own} {value}: {found} {exact}"
                        );
                    }
                }
            }
        }
    }
}
