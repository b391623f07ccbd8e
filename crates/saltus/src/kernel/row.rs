//! The rows of the factorised samplers as their formulas say, in f64: for one site, the
//! probability of every value of the next proposal.
//!
//! A factorised sampler (DLMC, DLMCf, DMALA) proposes every site at once, each from its own row.
//! These are the reference that the vectorised single-precision rows of the samplers are tested
//! against; they are exact and slow.

use super::closeness::Closeness;
use super::exact_row::ExactRow;
use crate::math::{log_sum_exp, log1mexp};
use crate::weight::Weight;
use serde::{Deserialize, Serialize};

/// How a row is made from the differences of a site.
///
/// Throughout, i is the current value, Δⱼ the difference of value j, Gⱼ = g(e^Δⱼ) its jump rate,
/// ν = softmax(Δ) the site's conditional distribution and h the step size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RowFormula {
    /// DLMC: rⱼ = νⱼ(1 − e^(−h·Gⱼ/νⱼ)), the rest stays. Interpolates between Euler's step for
    /// small h and independent draws from ν for large h, and is ν-reversible for every h.
    Interpolated,
    /// DLMCf: rⱼ = min(h·Gⱼ, νⱼ), the rest stays: forward Euler, clipped so that it is a
    /// distribution and ν-reversible for every h.
    Euler,
    /// DMALA: rⱼ ∝ h·Gⱼ, rᵢ ∝ 1.
    Normalised,
    /// Exact DLMC: the row of exp(hQ), Q_kj = g(νⱼ/νₖ). With two values the same as interpolated.
    Exact,
}

impl RowFormula {
    /// Every formula.
    pub const ALL: [Self; 4] = [Self::Interpolated, Self::Euler, Self::Normalised, Self::Exact];

    /// The logarithms of the row of a site whose differences are `diff`, zero at `current`.
    ///
    /// ```
    /// use saltus::Weight;
    /// use saltus::kernel::row::RowFormula;
    /// let row = RowFormula::Interpolated.log_row(&[0.0, 0.7, -1.2], 0, 0.4, Weight::Sqrt);
    /// for (log, exact) in row.iter().zip([0.548404488777, 0.368847087354, 0.082748423869]) {
    ///     assert!((log.exp() - exact).abs() < 1e-12);
    /// }
    /// ```
    pub fn log_row(self, diff: &[f64], current: usize, h: f64, weight: Weight) -> Vec<f64> {
        self.log_row_between(diff, current, h, weight, Closeness::Equal)
    }

    /// The same where some values are closer to each other than others. Exact rows know only values
    /// that are all alike.
    pub fn log_row_between(
        self,
        diff: &[f64],
        current: usize,
        h: f64,
        weight: Weight,
        closeness: Closeness,
    ) -> Vec<f64> {
        let log_total = log_sum_exp(diff);
        let log_nu: Vec<f64> = diff.iter().map(|diff| diff - log_total).collect();
        let rate = |(value, diff): (usize, &f64)| {
            h.ln() + closeness.of_distance(value.abs_diff(current)).ln() + weight.log(*diff)
        };
        let log_rate: Vec<f64> = diff.iter().enumerate().map(rate).collect();
        let others = |j: &usize| *j != current;
        let mut row = vec![0.0; diff.len()];
        match self {
            Self::Normalised => {
                row.copy_from_slice(&log_rate);
                row[current] = 0.0;
                let log_total = log_sum_exp(&row);
                row.iter_mut().for_each(|entry| *entry -= log_total);
            }
            Self::Interpolated => {
                let mut stay = vec![log_nu[current]];
                for j in (0..diff.len()).filter(others) {
                    let a = (log_rate[j] - log_nu[j]).exp();
                    row[j] = log_nu[j] + log1mexp(a);
                    stay.push(log_nu[j] - a);
                }
                row[current] = log_sum_exp(&stay);
            }
            Self::Euler => {
                let mut stay = log_nu[current].exp();
                for j in (0..diff.len()).filter(others) {
                    row[j] = log_rate[j].min(log_nu[j]);
                    // What is clipped off νⱼ stays: a sum of positive terms, nothing cancels.
                    stay += log_nu[j].exp() * -(row[j] - log_nu[j]).exp_m1();
                }
                row[current] = stay.ln();
            }
            Self::Exact => {
                ExactRow::default().write(diff, current, h, weight, &mut row);
                row.iter_mut().for_each(|entry| *entry = entry.ln());
            }
        }
        row
    }
}
