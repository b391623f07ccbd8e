//! g(t) = 1 + t: never slower than rate one, and smooth.

use super::Balance;
use super::exact_row::{RowWork, talbot};
use crate::math::softplus;

pub(crate) struct Sum;

impl Balance for Sum {
    const SUMMARY: &'static str = "g(t) = 1 + t: never slower than rate 1, smooth";

    fn log(d: f64) -> f64 {
        softplus(d)
    }

    #[inline(always)]
    fn rate(t: f32) -> f32 {
        1.0 + t
    }

    #[inline(always)]
    fn symmetric(t: f32) -> f32 {
        (1.0 + t) / t
    }

    fn exact_row(work: RowWork<'_>, row: &mut [f64]) {
        talbot::sum(work, row);
    }
}
