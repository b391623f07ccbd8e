//! The balancing functions g as loops over differences want them: with as few exponentials, roots and
//! divisions as each allows.

use crate::math::{Arithmetic, exp, larger, smaller};

/// A balancing function g, inside a loop that the compiler can vectorise.
///
/// What a loop keeps of a difference Δ is its *power*: t = e^Δ, or a root of it. Because g is locally
/// balanced, g(t)/t is a symmetric function of the two values' weights; rows that are reversible for
/// the site's conditional are made from it.
pub(super) trait Balance {
    /// What is kept of a difference.
    fn power<A: Arithmetic>(diff: f32) -> f32;
    /// t.
    fn weight(power: f32) -> f32;
    /// g(t).
    fn rate(power: f32) -> f32;
    /// g(t)/t.
    fn symmetric(power: f32) -> f32;
    /// (1/(1 + t), g(t)/t).
    fn split(power: f32) -> (f32, f32);
}

pub(super) struct Sqrt;
impl Balance for Sqrt {
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
}

macro_rules! balance {
    ($name:ident, $t:ident, $rate:expr, $symmetric:expr) => {
        pub(super) struct $name;
        impl Balance for $name {
            #[inline(always)]
            fn power<A: Arithmetic>(diff: f32) -> f32 {
                exp::<A>(diff)
            }
            #[inline(always)]
            fn weight($t: f32) -> f32 {
                $t
            }
            #[inline(always)]
            fn rate($t: f32) -> f32 {
                $rate
            }
            #[inline(always)]
            fn symmetric($t: f32) -> f32 {
                $symmetric
            }
            #[inline(always)]
            fn split($t: f32) -> (f32, f32) {
                (1.0 / (1.0 + $t), $symmetric)
            }
        }
    };
}
balance!(Ratio, t, t / (1.0 + t), 1.0 / (1.0 + t));
balance!(Min, t, smaller(t, 1.0), smaller(1.0 / t, 1.0));
balance!(Max, t, larger(t, 1.0), larger(1.0 / t, 1.0));
balance!(Sum, t, 1.0 + t, (1.0 + t) / t);
