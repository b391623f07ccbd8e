//! The exact row of DLMC: one row of exp(hQ) for a site, Q_ij = g(νⱼ/νᵢ), accurate in every entry
//! however stiff the rates are.
//!
//! Every balancing function has a way of its own that never forms the matrix exponential: two values
//! have a closed form; √t and 1 + t make Q a diagonal plus few outer products, whose resolvent is
//! known and is inverted along a contour (`talbot.rs`); min and max have closed forms after sorting
//! (`ranked.rs`); t/(1+t) has rates below one, so that sums of powers converge (`uniformisation.rs`).
//! All are sums of positive terms, or of terms that hardly cancel.

mod ranked;
mod talbot;
mod uniformisation;

use crate::balancing::Balancing;
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
    ///
    /// ```
    /// use saltus::Balancing;
    /// use saltus::kernel::exact_row::ExactRow;
    /// let mut row = [0.0; 3];
    /// ExactRow::default().write(&[0.0, 0.7, -1.2], 0, 0.4, Balancing::Sqrt, &mut row);
    /// for (entry, exact) in row.iter().zip([0.534664358611, 0.377562289236, 0.087773352152]) {
    ///     assert!((entry - exact).abs() < 1e-12);
    /// }
    /// ```
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
        let Self { contour, nu, one, two, order } = self;
        let most = diff.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        nu.clear();
        nu.extend(diff.iter().map(|diff| (diff - most).exp()));
        let total: f64 = nu.iter().sum();
        nu.iter_mut().for_each(|nu| *nu /= total);
        match balancing {
            Balancing::Sqrt => talbot::square_root(contour, nu, current, h, row, one, two),
            Balancing::Sum => talbot::sum(contour, nu, current, h, row, one, two),
            Balancing::Min => ranked::minimum(nu, current, h, row, order, one, two),
            Balancing::Max => ranked::maximum(nu, current, h, row, order, one, two),
            Balancing::Ratio => uniformisation::ratio(nu, diff, current, h, row, one, two),
        }
        // A contour leaves errors in the last digits, which may be below zero.
        row.iter_mut().for_each(|entry| *entry = entry.max(0.0));
        let total: f64 = row.iter().sum();
        row.iter_mut().for_each(|entry| *entry /= total);
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

#[cfg(test)]
mod tests;
