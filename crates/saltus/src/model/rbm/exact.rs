//! Exact differences of an RBM: what log π gains if one site takes another value.
//!
//! Σ softplus(a + Wⱼ − Wᵢ) − softplus(a) is the logarithm of a product of mixtures
//! (off·e^Wᵢ + on·e^Wⱼ) / e^Wᵢ: a few multiplications per unit instead of a logarithm.

use super::{LANES, Rbm};
use crate::math::{mixture, softplus, vectorised};
use pulp::{Simd, WithSimd};

/// The hidden units of a chain that is followed site by site.
#[derive(Clone, Debug)]
pub(super) struct Followed {
    pub(super) activations: Vec<f64>,
    pub(super) on: Vec<f64>,
    pub(super) off: Vec<f64>,
}

impl Followed {
    /// The probabilities that follow from the inputs.
    pub(super) fn refresh(&mut self) {
        let Self { activations, on, off } = self;
        for ((activation, on), off) in activations.iter().zip(on).zip(off) {
            let small = (-activation.abs()).exp();
            let large = 1.0 / (1.0 + small);
            (*on, *off) =
                if *activation < 0.0 { (small * large, large) } else { (large, small * large) };
        }
    }
}

impl Rbm {
    /// The exact change for one value of one site, in double precision.
    pub(super) fn change(&self, units: &Followed, site: usize, from: u8, to: u8) -> f64 {
        if self.exponentials().is_empty() {
            return self.change_by_logarithms(&units.activations, site, from, to);
        }
        let (from_row, to_row) = (self.row(site, from), self.row(site, to));
        let bias = self.bias(site, to) - self.bias(site, from);
        let (from, to) =
            (self.slice(self.exponentials(), from_row), self.slice(self.exponentials(), to_row));
        let log = vectorised(
            #[inline(always)]
            || log_of_product_double(units, from, to, self.group),
        );
        bias + log - self.row_sums[from_row]
    }

    /// The same for weights of any size, which exponentials cannot hold.
    fn change_by_logarithms(&self, activations: &[f64], site: usize, from: u8, to: u8) -> f64 {
        let weights = |value| self.slice(&self.weights, self.row(site, value));
        let hidden: f64 = activations
            .iter()
            .zip(weights(from))
            .zip(weights(to))
            .map(|((activation, from), to)| {
                softplus(activation + f64::from(*to) - f64::from(*from)) - softplus(*activation)
            })
            .sum();
        hidden + self.bias(site, to) - self.bias(site, from)
    }

    pub(super) fn exact_diff_by_logarithms(
        &self,
        state: &[u8],
        activations: &[f64],
        diff: &mut [f32],
    ) {
        diff.fill(0.0);
        for (site, value) in state.iter().enumerate() {
            for other in self.others(*value) {
                let change = self.change_by_logarithms(activations, site, *value, other);
                diff[self.place(site, other)] = change as f32;
            }
        }
    }
}

/// Exact differences of one chain.
pub(super) struct ExactDiff<'a> {
    pub(super) model: &'a Rbm,
    pub(super) state: &'a [u8],
    pub(super) on: &'a [f32],
    pub(super) off: &'a [f32],
    pub(super) diff: &'a mut [f32],
}

impl WithSimd for ExactDiff<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match S::F32_LANES {
            16 => self.sites::<S, 1>(simd),
            8 => self.sites::<S, 2>(simd),
            4 => self.sites::<S, 4>(simd),
            2 => self.sites::<S, 8>(simd),
            _ => self.sites::<S, 16>(simd),
        }
    }
}

impl ExactDiff<'_> {
    #[inline(always)]
    fn sites<S: Simd, const VECTORS: usize>(self, simd: S) {
        let model = self.model;
        let exponentials = model.exponentials();
        for (site, value) in self.state.iter().enumerate() {
            let row = model.row(site, *value);
            let from = model.slice(exponentials, row);
            let here = model.row_sums[row] + model.bias(site, *value);
            if !model.space.is_binary() {
                self.diff[model.place(site, *value)] = 0.0;
            }
            for other in model.others(*value) {
                let to = model.slice(exponentials, model.row(site, other));
                let rows = [self.off, from, self.on, to];
                let log = mixture::log_product::<S, VECTORS>(simd, rows, model.group);
                self.diff[model.place(site, other)] = (log - here + model.bias(site, other)) as f32;
            }
        }
    }
}

/// log Π (off·from + on·to) in double precision, a logarithm after every `group` factors.
#[inline(always)]
fn log_of_product_double(units: &Followed, from: &[f32], to: &[f32], group: usize) -> f64 {
    let mut total = 0.0;
    for (((on, off), from), to) in units
        .on
        .chunks(group)
        .zip(units.off.chunks(group))
        .zip(from.chunks(group))
        .zip(to.chunks(group))
    {
        let mut product = [1.0f64; LANES];
        for (((on, off), from), to) in on
            .as_chunks::<LANES>()
            .0
            .iter()
            .zip(off.as_chunks::<LANES>().0)
            .zip(from.as_chunks::<LANES>().0)
            .zip(to.as_chunks::<LANES>().0)
        {
            for lane in 0..LANES {
                product[lane] *= off[lane] * f64::from(from[lane]) + on[lane] * f64::from(to[lane]);
            }
        }
        total += product.iter().product::<f64>().ln();
    }
    total
}
