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

/// A product of many probabilities, of which one logarithm is taken at the end.
///
/// Exponents are added as integers and mantissas multiplied, which rounds no worse than adding up
/// logarithms would.
pub(super) struct Product {
    exponent: i64,
    /// From 1 to 2.
    mantissa: f64,
}

impl Product {
    pub(super) const ONE: Self = Self { exponent: 0, mantissa: 1.0 };

    /// Takes in a tile.
    ///
    /// Entries are multiplied in pairs, which [`SMALLEST`] keeps from underflowing; 16 mantissas of
    /// pairs stay below 2¹⁶ in f32, the product of those below 2¹²⁸ in f64.
    #[inline(always)]
    pub(super) fn multiply(&mut self, probabilities: &[f32; TILE]) {
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
        let lanes = products[..LANES].iter().map(|product| f64::from(*product));
        let bits = (lanes.product::<f64>() * self.mantissa).to_bits();
        self.exponent += i64::from(exponent) + (bits >> 52) as i64 - 1023;
        self.mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | 1.0f64.to_bits());
    }

    pub(super) fn ln(self) -> f64 {
        self.exponent as f64 * std::f64::consts::LN_2 + self.mantissa.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_has_the_sum_of_the_logarithms() {
        let mut product = Product::ONE;
        let mut sum = 0.0;
        for tile in 0..40u32 {
            let mut entries = [1.0f32; TILE];
            for (site, entry) in entries.iter_mut().enumerate() {
                let power = (site * 37 + tile as usize * 11) % 100;
                *entry = match power {
                    0..30 => 0.999_999,
                    99 => SMALLEST,
                    _ => 0.9f32.powi(power as i32),
                };
                sum += f64::from(*entry).ln();
            }
            product.multiply(&entries);
        }
        let found = product.ln();
        assert!((found / sum - 1.0).abs() < 1e-9, "{found} {sum}");
    }
}
