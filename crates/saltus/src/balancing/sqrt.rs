//! g(t) = √t: that of DMALA (Zhang, Liu and Liu 2022) and of the best results of Sun et al. (2023).

use super::Balance;
use super::exact_row::{RowWork, talbot};
use crate::math::{Arithmetic, exp};

pub(crate) struct Sqrt;

impl Balance for Sqrt {
    const SUMMARY: &'static str = "g(t) = √t, the default: fast escape from unlikely values";

    fn log(d: f64) -> f64 {
        0.5 * d
    }

    #[inline(always)]
    fn power<A: Arithmetic>(diff: f32) -> f32 {
        exp::<A>(0.5 * diff)
    }

    #[inline(always)]
    fn weight(root: f32) -> f32 {
        root * root
    }

    #[inline(always)]
    fn rate(root: f32) -> f32 {
        root
    }

    #[inline(always)]
    fn symmetric(root: f32) -> f32 {
        1.0 / root
    }

    #[inline(always)]
    fn split(root: f32) -> (f32, f32) {
        let total = 1.0 + root * root;
        // One division for both reciprocals.
        let both = 1.0 / (root * total);
        (both * root, both * total)
    }

    fn exact_row(work: RowWork<'_>, row: &mut [f64]) {
        talbot::square_root(work, row);
    }
}
