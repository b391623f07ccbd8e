//! g(t) = min(1, t): Metropolis' (1953) acceptance as a rate.

use super::Balance;
use super::exact_row::{RowWork, ranked};
use crate::math::{Arithmetic, exp, smaller};

pub(crate) struct Min;

impl Balance for Min {
    const SUMMARY: &'static str = "g(t) = min(1, t), Metropolis: bounded rates";

    fn log(d: f64) -> f64 {
        d.min(0.0)
    }

    #[inline(always)]
    fn rate(t: f32) -> f32 {
        smaller(t, 1.0)
    }

    #[inline(always)]
    fn symmetric(t: f32) -> f32 {
        smaller(1.0 / t, 1.0)
    }

    #[inline(always)]
    fn weigh<A: Arithmetic>(diff: f32) -> f32 {
        exp::<A>(smaller(diff, 0.0))
    }

    fn exact_row(work: RowWork<'_>, row: &mut [f64]) {
        ranked::minimum(work, row);
    }
}
