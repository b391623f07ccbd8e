//! What loops over tiles of sites share: their length, selections without branches, and one
//! logarithm for a whole tile.

use crate::math::{larger, smaller};

/// Sites handled together: their rows stay in the first-level cache.
pub(super) const TILE: usize = 256;
/// Lanes that a product over a tile is first taken in.
const LANES: usize = 8;
/// Differences are held within this of zero before rows are made, which keeps every rate, sum and
/// probability inside the range of f32 for any step size from 1e-9 to 1e9.
pub(super) const SHARPEST: f32 = 56.0;
/// Smallest entry of a row: far below the resolution of a draw, and the product of two is a normal
/// number.
pub(super) const SMALLEST: f32 = 1e-18;

/// A difference within the range that rows are made for; NaN stays NaN.
#[inline(always)]
pub(super) fn hold(diff: f32) -> f32 {
    larger(-SHARPEST, smaller(SHARPEST, diff))
}

/// `yes` or `no`, from both already loaded: without a branch between two loads the loop vectorises.
#[inline(always)]
pub(super) fn select(condition: bool, yes: f32, no: f32) -> f32 {
    let mask = u32::from(condition).wrapping_neg();
    f32::from_bits((yes.to_bits() & mask) | (no.to_bits() & !mask))
}

/// Σ ln p over a tile.
///
/// One logarithm serves the whole tile: entries are multiplied in pairs, which [`SMALLEST`] keeps
/// from underflowing; then exponents are added as integers and mantissas multiplied. 16 mantissas
/// stay below 2¹⁶ in f32, the product of those below 2¹²⁸ in f64, and together they round no worse
/// than 256 logarithms would.
#[inline(always)]
pub(super) fn sum_of_logs(probabilities: &[f32; TILE]) -> f64 {
    const HALF: usize = TILE / 2;
    const MANTISSA: u32 = 0x007F_FFFF;
    let (low, high) = probabilities.split_at(HALF);
    let mut products = [0.0f32; HALF];
    let mut exponent = -127 * HALF as i32;
    for pair in 0..HALF {
        let bits = (low[pair] * high[pair]).to_bits();
        exponent += (bits >> 23) as i32;
        products[pair] = f32::from_bits((bits & MANTISSA) | 1.0f32.to_bits());
    }
    let mut width = HALF / 2;
    while width >= LANES {
        let (low, high) = products.split_at_mut(width);
        for (low, high) in low.iter_mut().zip(high) {
            *low *= *high;
        }
        width /= 2;
    }
    let product: f64 = products[..LANES].iter().map(|product| f64::from(*product)).product();
    f64::from(exponent) * std::f64::consts::LN_2 + product.ln()
}
