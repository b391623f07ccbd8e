//! Elementary functions: f64 forms for formulas, and branch-free f32 forms that the compiler
//! turns into vector instructions.
//!
//! Loops round the same way on every processor with fused multiply-add (x86-64 since 2013, aarch64),
//! whatever the width of its registers; older ones, where fusing would be a slow library call,
//! round twice.

pub(crate) mod bits;
pub mod bytes;
pub mod matrix;
pub(crate) mod mixture;
pub(crate) mod short_matrix;

/// log(1 + e^x), for every x.
pub fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// 1 / (1 + e^−x).
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// log(1 − e^−a) for a ≥ 0; log 0 = −∞ at a = 0 and 0 at a = ∞.
pub fn log1mexp(a: f64) -> f64 {
    if a < std::f64::consts::LN_2 { (-(-a).exp_m1()).ln() } else { (-(-a).exp()).ln_1p() }
}

/// log Σ e^x, −∞ for an empty sum.
///
/// ```
/// assert!((saltus::math::log_sum_exp(&[-1000.0, -1000.0]) - (-1000.0 + 2f64.ln())).abs() < 1e-12);
/// ```
pub fn log_sum_exp(x: &[f64]) -> f64 {
    let max = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if max == f64::NEG_INFINITY {
        return max;
    }
    max + x.iter().map(|x| (x - max).exp()).sum::<f64>().ln()
}

// The split of ln 2 and the polynomial of ln are those of Cephes' single-precision functions.
const LN2_HIGH: f32 = 0.693_359_4;
const LN2_LOW: f32 = -2.121_944_4e-4;
/// Arguments beyond this have results outside the normal f32 range.
const EXP_LIMIT: f32 = 87.0;

/// The smaller of two numbers as one instruction; `f32::min` takes three to get NaN right.
#[inline(always)]
pub(crate) fn smaller(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// The larger of two numbers as one instruction.
#[inline(always)]
pub(crate) fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// How a·b + c is computed.
pub(crate) trait Arithmetic {
    /// a·b + c.
    fn mul_add(a: f32, b: f32, c: f32) -> f32;
}

/// One rounding: one instruction where the processor has it, a slow library call elsewhere.
pub(crate) struct Fused;
impl Arithmetic for Fused {
    #[inline(always)]
    fn mul_add(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

/// Two roundings: two instructions everywhere.
pub(crate) struct Plain;
impl Arithmetic for Plain {
    #[inline(always)]
    fn mul_add(a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }
}

/// e^r − 1 for |r| ≤ ln 2 / 2, to 1.1e-7 of e^r: r + r²·q(r) with q the best cubic in that sense,
/// evaluated in pairs so that fewer operations wait for each other.
#[inline(always)]
fn exp_minus_one_reduced<A: Arithmetic>(r: f32) -> f32 {
    let square = r * r;
    let low = A::mul_add(r, 0.166_671_14, 0.499_992_3);
    let high = A::mul_add(r, 0.008_312_526, 0.041_890_12);
    A::mul_add(square, A::mul_add(square, high, low), r)
}

/// x = k·ln 2 + r; returns r and 2^k.
#[inline(always)]
fn reduce<A: Arithmetic>(x: f32) -> (f32, f32) {
    // Adding 1.5·2^23 rounds to the nearest integer and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let shifted = A::mul_add(x, std::f32::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = A::mul_add(k, -LN2_LOW, A::mul_add(k, -LN2_HIGH, x));
    let power = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    (r, power)
}

/// e^x to 2e-7 relative, for |x| ≤ 87.
#[inline(always)]
pub(crate) fn exp<A: Arithmetic>(x: f32) -> f32 {
    let (r, power) = reduce::<A>(x);
    A::mul_add(exp_minus_one_reduced::<A>(r), power, power)
}

/// (e^−a, 1 − e^−a) for a ≥ 0, to 2e-7 and 8e-7 relative. Beyond 60, a = ∞ included, the values at 60:
/// 9e-27 in place of less, and 1; smaller numbers would soon be denormal, which is slow.
#[inline(always)]
pub(crate) fn exp_and_complement<A: Arithmetic>(a: f32) -> (f32, f32) {
    const NEGLIGIBLE: f32 = 60.0;
    let (r, power) = reduce::<A>(-smaller(a, NEGLIGIBLE));
    let reduced = exp_minus_one_reduced::<A>(r);
    (A::mul_add(reduced, power, power), A::mul_add(-reduced, power, 1.0 - power))
}

/// ln x for positive normal x, to 2e-7 relative or 1e-7 absolute near 1.
#[inline(always)]
pub(crate) fn ln(x: f32) -> f32 {
    // Mantissa in [√½, √2), so that the polynomial sees |m − 1| ≤ 0.42.
    const SQRT_HALF_BITS: u32 = 0x3F35_04F3;
    let bits = x.to_bits().wrapping_sub(SQRT_HALF_BITS);
    let exponent = (bits as i32 >> 23) as f32;
    let m = f32::from_bits((bits & 0x007F_FFFF).wrapping_add(SQRT_HALF_BITS)) - 1.0;
    let z = m * m;
    let mut p = 7.037_683_6e-2_f32;
    p = p * m - 1.151_461e-1;
    p = p * m + 1.167_699_9e-1;
    p = p * m - 1.242_014_1e-1;
    p = p * m + 1.424_932_3e-1;
    p = p * m - 1.666_805_8e-1;
    p = p * m + 2.000_071_5e-1;
    p = p * m - 2.499_999_4e-1;
    p = p * m + 3.333_333e-1;
    let tail = p * m * z + exponent * LN2_LOW - 0.5 * z;
    (m + tail) + exponent * LN2_HIGH
}

/// (log(1 + e^−|x|), 1/(1 + e^−x), 1/(1 + e^x)): the first to 2e-7 absolute, the others to 4e-7
/// relative as long as they are normal numbers.
///
/// `max(x, 0)` plus the first is the softplus of x; leaving that sum to the caller lets it be
/// taken in double precision.
///
/// ```
/// let (log, on, off) = saltus::math::logistic(3f32.ln());
/// assert!((on - 0.75).abs() < 1e-6 && (off - 0.25).abs() < 1e-6);
/// assert!((log - (4.0f32 / 3.0).ln()).abs() < 1e-6);
/// ```
#[inline(always)]
pub fn logistic(x: f32) -> (f32, f32, f32) {
    let small = exp::<Plain>(-smaller(x.abs(), EXP_LIMIT));
    let large = 1.0 / (1.0 + small);
    let small = small * large;
    let (on, off) = if x < 0.0 { (small, large) } else { (large, small) };
    (-ln(large), on, off)
}

/// Runs a loop compiled for the best instruction set of this machine.
///
/// What the loop calls must be `#[inline(always)]` to be compiled with it; so must a closure that is
/// long.
///
/// ```
/// let (x, mut y) = (vec![1.5f32; 100], vec![1.0f32; 100]);
/// saltus::math::vectorised(|| y.iter_mut().zip(&x).for_each(|(y, x)| *y += 2.0 * x));
/// assert_eq!(y, [4.0; 100]);
/// ```
#[inline(always)]
pub fn vectorised<R>(body: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(body)
}

/// A loop that may use fused arithmetic.
pub(crate) trait FusedLoop {
    /// What it computes.
    type Output;
    /// Runs it; must be `#[inline(always)]`.
    fn run<A: Arithmetic>(self) -> Self::Output;
}

/// Runs a loop as [`vectorised`] does, with fused arithmetic where the processor has it.
pub(crate) fn vectorised_and_fused<L: FusedLoop>(body: L) -> L::Output {
    struct Dispatched<L>(L);
    impl<L: FusedLoop> pulp::WithSimd for Dispatched<L> {
        type Output = L::Output;
        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, _simd: S) -> L::Output {
            // Every vector unit that pulp knows fuses; plain scalar code does not.
            if S::F32_LANES > 1 { self.0.run::<Fused>() } else { self.0.run::<Plain>() }
        }
    }
    pulp::Arch::new().dispatch(Dispatched(body))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two million numbers across the range, and both ends.
    fn sweep(from: f32, to: f32) -> impl Iterator<Item = f32> {
        (0..=2_000_000u32).map(move |i| from + (to - from) * (i as f32 / 2_000_000.0))
    }

    #[test]
    fn exp_is_accurate() {
        let worst = sweep(-87.0, 87.0)
            .flat_map(|x| [(x, exp::<Plain>(x)), (x, exp::<Fused>(x))])
            .map(|(x, found)| (f64::from(found) / f64::from(x).exp() - 1.0).abs())
            .fold(0.0, f64::max);
        assert!(worst < 2e-7, "{worst:e}");
        assert_eq!(exp::<Fused>(0.0), 1.0);
    }

    #[test]
    fn complement_is_accurate_where_it_cancels() {
        let mut worst = (0.0f64, 0.0f64);
        let tiny = (0..4000).map(|i| 1e-30 * 1.02f32.powi(i));
        for a in sweep(0.0, 60.0).chain(tiny).filter(|a| *a > 0.0 && *a < 60.0) {
            let exact = -(-f64::from(a)).exp_m1();
            for (stay, leave) in [exp_and_complement::<Plain>(a), exp_and_complement::<Fused>(a)] {
                worst.0 = worst.0.max((f64::from(stay) / (-f64::from(a)).exp() - 1.0).abs());
                worst.1 = worst.1.max((f64::from(leave) / exact - 1.0).abs());
            }
        }
        assert!(worst.0 < 2e-7 && worst.1 < 8e-7, "{worst:?}");
        assert_eq!(exp_and_complement::<Fused>(0.0), (1.0, 0.0));
        assert_eq!(exp_and_complement::<Fused>(f32::INFINITY).1, 1.0);
    }

    #[test]
    fn ln_is_accurate() {
        let mut worst = 0.0f64;
        let mut x = f32::MIN_POSITIVE;
        while x < 1e30 {
            let exact = f64::from(x).ln();
            worst = worst.max((f64::from(ln(x)) - exact).abs() / exact.abs().max(0.5));
            x *= 1.000_03;
        }
        assert!(worst < 2e-7, "{worst:e}");
        assert_eq!(ln(1.0), 0.0);
    }

    #[test]
    fn logistic_is_accurate() {
        let mut worst = (0.0f64, 0.0f64);
        for x in sweep(-86.0, 86.0) {
            let (log, on, off) = logistic(x);
            let x = f64::from(x);
            worst.0 = worst.0.max((x.max(0.0) + f64::from(log) - softplus(x)).abs());
            for (found, exact) in [(on, sigmoid(x)), (off, sigmoid(-x))] {
                worst.1 = worst.1.max((f64::from(found) / exact - 1.0).abs());
            }
        }
        assert!(worst.0 < 2e-7 && worst.1 < 4e-7, "{worst:?}");
        assert_eq!(logistic(0.0).1, 0.5);
        assert_eq!(logistic(-1000.0).0, 0.0);
        assert_eq!(logistic(1000.0).1, 1.0);
    }

    #[test]
    fn double_precision_forms_hold_at_the_ends() {
        assert_eq!(softplus(1000.0), 1000.0);
        assert_eq!(softplus(-1000.0), 0.0);
        assert!((softplus(0.0) - 2f64.ln()).abs() < 1e-16);
        assert_eq!(sigmoid(-1000.0), 0.0);
        assert_eq!(log1mexp(0.0), f64::NEG_INFINITY);
        assert_eq!(log1mexp(f64::INFINITY), 0.0);
        assert!((log1mexp(1e-20) - 1e-20f64.ln()).abs() < 1e-12);
        assert_eq!(log_sum_exp(&[]), f64::NEG_INFINITY);
    }
}
