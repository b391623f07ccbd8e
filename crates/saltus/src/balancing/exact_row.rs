//! The exact row of DLMC: one row of exp(hQ) for a site, Q_ij = g(νⱼ/νᵢ), accurate in every entry
//! however stiff the rates are.
//!
//! Two values have a closed form. With more, most balancing functions have a way of their own that never forms
//! the matrix exponential: √t and 1 + t make Q a diagonal plus few outer products, whose resolvent is
//! known and is inverted along a contour (`talbot.rs`); min and max have closed forms after sorting
//! (`ranked.rs`); t/(1+t) has rates below one, so that sums of powers converge (`uniformisation.rs`).
//! Any other is exponentiated as a matrix (`squaring.rs`). All are sums of positive terms, or of terms that hardly cancel.

pub(super) mod ranked;
pub(super) mod squaring;
pub(super) mod talbot;
pub(super) mod uniformisation;

use super::{Balance, Balancing, WithBalance};
use talbot::Contour;

/// Memory for making exact rows one after the other.
#[derive(Clone, Debug)]
pub struct ExactRow {
    contour: Contour,
    nu: Vec<f64>,
    one: Vec<f64>,
    two: Vec<f64>,
    order: Vec<usize>,
}

/// What a row is made of, and where.
pub(crate) struct RowWork<'a> {
    contour: &'a Contour,
    /// Probabilities of the values.
    nu: &'a [f64],
    /// Their logarithms, up to a constant.
    diff: &'a [f64],
    current: usize,
    h: f64,
    one: &'a mut Vec<f64>,
    two: &'a mut Vec<f64>,
    order: &'a mut Vec<usize>,
}

struct Write<'a, 'r>(RowWork<'a>, &'r mut [f64]);
impl WithBalance for Write<'_, '_> {
    type Output = ();
    fn with<B: Balance>(self) {
        B::exact_row(self.0, self.1);
    }
}

/// Points of the contour: more lose as much by rounding as they gain.
const POINTS: usize = 12;

impl Default for ExactRow {
    fn default() -> Self {
        Self {
            contour: Contour::new(POINTS),
            nu: Vec::new(),
            one: Vec::new(),
            two: Vec::new(),
            order: Vec::new(),
        }
    }
}

impl ExactRow {
    /// Writes the probabilities of every value after time h from the current one; `diff` holds the
    /// log-probabilities of the values up to a constant.
    pub fn write(
        &mut self,
        diff: &[f64],
        current: usize,
        h: f64,
        balancing: Balancing,
        row: &mut [f64],
    ) {
        if diff.iter().any(|diff| diff.is_nan()) {
            row.fill(f64::NAN);
            return;
        }
        if diff.len() == 2 {
            two_values(diff, current, h, balancing, row);
            return;
        }
        self.fill_nu(diff);
        balancing.with(Write(self.work(diff, current, h), row));
        // A contour leaves errors in the last digits, which may be below zero.
        row.iter_mut().for_each(|entry| *entry = entry.max(0.0));
        let total: f64 = row.iter().sum();
        row.iter_mut().for_each(|entry| *entry /= total);
    }

    /// The probabilities of the values.
    fn fill_nu(&mut self, diff: &[f64]) {
        let most = diff.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.nu.clear();
        self.nu.extend(diff.iter().map(|diff| (diff - most).exp()));
        let total: f64 = self.nu.iter().sum();
        self.nu.iter_mut().for_each(|nu| *nu /= total);
    }

    fn work<'a>(&'a mut self, diff: &'a [f64], current: usize, h: f64) -> RowWork<'a> {
        let Self { contour, nu, one, two, order } = self;
        RowWork { contour, nu, diff, current, h, one, two, order }
    }
}

/// ν(1 − e^(−h·g/ν)) of the other value.
fn two_values(diff: &[f64], current: usize, h: f64, balancing: Balancing, row: &mut [f64]) {
    let d = diff[1 - current] - diff[current];
    let (nu, own) = (1.0 / (1.0 + (-d).exp()), 1.0 / (1.0 + d.exp()));
    // g/ν = g(e^d)·(1 + e^(−d)), in logarithms because either factor may be out of range.
    let decay = h * (balancing.log(d) + crate::math::softplus(-d)).exp();
    row[1 - current] = nu * -(-decay).exp_m1();
    row[current] = own + nu * (-decay).exp();
}
