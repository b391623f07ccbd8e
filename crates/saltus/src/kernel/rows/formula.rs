//! The row formulas entry by entry, in single precision, inside loops that the compiler vectorises.

use crate::balancing::Balance;
use crate::math::{Arithmetic, exp_and_complement, larger, smaller};

/// A row formula; [`RowFormula`](crate::kernel::row::RowFormula) says what each computes.
pub(super) trait Formula {
    /// Whether entries must be divided by their sum.
    const NORMALISES: bool = false;
    /// For a site with two values: three numbers that `finish` makes the row from. In two halves,
    /// because a processor that looks far ahead in short loops cannot do so in long ones.
    fn begin<A: Arithmetic, W: Balance>(h: f32, diff: f32) -> (f32, f32, f32);
    /// (flip, stay) from the three numbers of `begin`.
    fn finish<A: Arithmetic>(first: f32, second: f32, third: f32) -> (f32, f32);
    /// What moves to another value whose difference has that power, and what of that value's share
    /// is left to stay; the weights of all values sum to `total`.
    fn move_and_keep<A: Arithmetic, W: Balance>(
        h: f32,
        power: f32,
        total: f32,
        inverse: f32,
    ) -> (f32, f32);
    /// What stays of the current value's own conditional probability.
    fn own(nu: f32) -> f32;
}

pub(super) struct Interpolated;
impl Formula for Interpolated {
    #[inline(always)]
    fn begin<A: Arithmetic, W: Balance>(h: f32, diff: f32) -> (f32, f32, f32) {
        let power = W::power::<A>(diff);
        let t = W::weight(power);
        let (own, symmetric) = W::split(power);
        (t * own, own, h * symmetric * (1.0 + t))
    }
    #[inline(always)]
    fn finish<A: Arithmetic>(nu: f32, own: f32, exponent: f32) -> (f32, f32) {
        let (keep, leave) = exp_and_complement::<A>(exponent);
        (nu * leave, A::mul_add(nu, keep, own))
    }
    #[inline(always)]
    fn move_and_keep<A: Arithmetic, W: Balance>(
        h: f32,
        power: f32,
        total: f32,
        inverse: f32,
    ) -> (f32, f32) {
        let nu = W::weight(power) * inverse;
        let (keep, leave) = exp_and_complement::<A>(h * total * W::symmetric(power));
        (nu * leave, nu * keep)
    }
    #[inline(always)]
    fn own(nu: f32) -> f32 {
        nu
    }
}

pub(super) struct Euler;
impl Formula for Euler {
    #[inline(always)]
    fn begin<A: Arithmetic, W: Balance>(h: f32, diff: f32) -> (f32, f32, f32) {
        let power = W::power::<A>(diff);
        let t = W::weight(power);
        let own = 1.0 / (1.0 + t);
        (t * own, own, h * W::rate(power))
    }
    #[inline(always)]
    fn finish<A: Arithmetic>(nu: f32, own: f32, rate: f32) -> (f32, f32) {
        (smaller(rate, nu), own + larger(nu - rate, 0.0))
    }
    #[inline(always)]
    fn move_and_keep<A: Arithmetic, W: Balance>(
        h: f32,
        power: f32,
        _total: f32,
        inverse: f32,
    ) -> (f32, f32) {
        let (nu, rate) = (W::weight(power) * inverse, h * W::rate(power));
        (smaller(rate, nu), larger(nu - rate, 0.0))
    }
    #[inline(always)]
    fn own(nu: f32) -> f32 {
        nu
    }
}

pub(super) struct Normalised;
impl Formula for Normalised {
    const NORMALISES: bool = true;
    #[inline(always)]
    fn begin<A: Arithmetic, W: Balance>(h: f32, diff: f32) -> (f32, f32, f32) {
        let rate = h * W::rate(W::power::<A>(diff));
        (rate, 1.0, 1.0 + rate)
    }
    #[inline(always)]
    fn finish<A: Arithmetic>(rate: f32, one: f32, total: f32) -> (f32, f32) {
        let stay = one / total;
        (rate * stay, stay)
    }
    #[inline(always)]
    fn move_and_keep<A: Arithmetic, W: Balance>(
        h: f32,
        power: f32,
        _total: f32,
        _inverse: f32,
    ) -> (f32, f32) {
        (h * W::rate(power), 0.0)
    }
    #[inline(always)]
    fn own(_nu: f32) -> f32 {
        1.0
    }
}
