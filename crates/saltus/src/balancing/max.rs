//! g(t) = max(1, t): never slower than rate one.

use super::Balance;
use super::exact_row::{RowWork, ranked};
use crate::math::{Arithmetic, exp, larger};

pub(crate) struct Max;

impl Balance for Max {
    const SUMMARY: &'static str = "g(t) = max(1, t): never slower than rate 1";

    fn log(d: f64) -> f64 {
        d.max(0.0)
    }

    #[inline(always)]
    fn rate(t: f32) -> f32 {
        larger(t, 1.0)
    }

    #[inline(always)]
    fn symmetric(t: f32) -> f32 {
        larger(1.0 / t, 1.0)
    }

    #[inline(always)]
    fn weigh<A: Arithmetic>(diff: f32) -> f32 {
        exp::<A>(larger(diff, 0.0))
    }

    fn exact_row(work: RowWork<'_>, row: &mut [f64]) {
        ranked::maximum(work, row);
    }
}
