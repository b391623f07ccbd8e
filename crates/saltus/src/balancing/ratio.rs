//! g(t) = t/(1+t): Barker's (1965) acceptance as a rate.

use super::Balance;
use super::exact_row::{RowWork, uniformisation};
use crate::math::{Arithmetic, exp, softplus};

pub(crate) struct Ratio;

impl Balance for Ratio {
    const SUMMARY: &'static str = "g(t) = t/(1+t), Barker: bounded rates, gentle on sharp targets";

    fn log(d: f64) -> f64 {
        -softplus(-d)
    }

    #[inline(always)]
    fn rate(t: f32) -> f32 {
        t / (1.0 + t)
    }

    #[inline(always)]
    fn symmetric(t: f32) -> f32 {
        1.0 / (1.0 + t)
    }

    #[inline(always)]
    fn weigh<A: Arithmetic>(diff: f32) -> f32 {
        1.0 / (1.0 + exp::<A>(-diff))
    }

    fn exact_row(work: RowWork<'_>, row: &mut [f64]) {
        uniformisation::bounded(work, Self::log, row);
    }
}
