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

#[cfg(test)]
mod tests {
    use super::*;

    const LOGS: [f64; 4] = [0.3, -1.1, 0.8, -0.2];

    fn nu() -> Vec<f64> {
        let total = log_sum_exp(&LOGS);
        LOGS.iter().map(|log| (log - total).exp()).collect()
    }

    /// The row of value i of a site with those log-probabilities.
    fn row(formula: RowFormula, i: usize, h: f64, weight: Weight) -> Vec<f64> {
        let diff: Vec<f64> = LOGS.iter().map(|log| log - LOGS[i]).collect();
        formula.log_row(&diff, i, h, weight).into_iter().map(f64::exp).collect()
    }

    fn rate(i: usize, j: usize, weight: Weight) -> f64 {
        weight.log(LOGS[j] - LOGS[i]).exp()
    }

    #[test]
    fn interpolated_rows_have_the_right_ends() {
        let formula = RowFormula::Interpolated;
        for weight in Weight::ALL {
            for i in 0..4 {
                // No time: nothing moves. All time: the conditional distribution.
                assert!((row(formula, i, 1e-300, weight)[i] - 1.0).abs() < 1e-15);
                for (entry, nu) in row(formula, i, 1e12, weight).iter().zip(nu()) {
                    assert!((entry - nu).abs() < 1e-14);
                }
                for h in [1e-3, 0.3, 4.0] {
                    let row = row(formula, i, h, weight);
                    assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-14);
                    assert!(row[i] >= nu()[i]);
                }
            }
        }
    }

    #[test]
    fn rows_of_the_flow_are_reversible_for_every_step() {
        let formulas = [RowFormula::Interpolated, RowFormula::Euler, RowFormula::Exact];
        for (formula, weight) in formulas.iter().flat_map(|f| Weight::ALL.map(|w| (*f, w))) {
            for h in [1e-3, 0.2, 1.0, 30.0] {
                for i in 0..4 {
                    for j in 0..4 {
                        let there = nu()[i] * row(formula, i, h, weight)[j];
                        let back = nu()[j] * row(formula, j, h, weight)[i];
                        assert!((there - back).abs() < 1e-12, "{formula:?} {weight} {h}");
                    }
                }
            }
        }
        // Not so DMALA's.
        let dmala =
            |i: usize, j: usize| nu()[i] * row(RowFormula::Normalised, i, 0.5, Weight::Sqrt)[j];
        assert!((dmala(0, 1) - dmala(1, 0)).abs() > 1e-3);
    }

    #[test]
    fn independent_sites_accept_what_the_flow_proposes_and_not_all_of_dmala() {
        // log π(y) − log π(x) + log q(y → x) − log q(x → y), a sum over sites: here of two.
        let log_acceptance = |formula: RowFormula, x: [usize; 2], y: [usize; 2]| -> f64 {
            let site = |x: usize, y: usize| {
                let (there, back) = (
                    row(formula, x, 0.7, Weight::Ratio)[y].ln(),
                    row(formula, y, 0.7, Weight::Ratio)[x].ln(),
                );
                LOGS[y] - LOGS[x] + back - there
            };
            site(x[0], y[0]) + site(x[1], y[1])
        };
        for formula in [RowFormula::Interpolated, RowFormula::Euler, RowFormula::Exact] {
            assert!(log_acceptance(formula, [0, 3], [2, 1]).abs() < 1e-11, "{formula:?}");
        }
        assert!(log_acceptance(RowFormula::Normalised, [0, 3], [2, 1]).abs() > 0.01);
    }

    #[test]
    fn all_rows_begin_as_rates() {
        for (formula, weight) in RowFormula::ALL.iter().flat_map(|f| Weight::ALL.map(|w| (*f, w))) {
            // The error falls with the square of h: a tenth of the step, a hundredth of the error.
            let error = |h: f64| {
                let others =
                    (1..4).map(|j| (row(formula, 0, h, weight)[j] - h * rate(0, j, weight)).abs());
                others.fold(0.0, f64::max)
            };
            let (coarse, fine) = (error(1e-3), error(1e-4));
            assert!(coarse < 2e-5, "{formula:?} {weight}: {coarse:e}");
            // Euler's is no error at all until it is clipped.
            assert!(fine < 0.011 * coarse + 1e-12, "{formula:?} {weight}: {coarse:e} {fine:e}");
        }
    }

    #[test]
    fn interpolation_is_exact_for_two_values_and_no_semigroup_for_more() {
        let twice = |formula: RowFormula, h: f64| -> Vec<f64> {
            let first = row(formula, 0, h, Weight::Sqrt);
            let rows: Vec<Vec<f64>> = (0..4).map(|k| row(formula, k, h, Weight::Sqrt)).collect();
            (0..4).map(|j| (0..4).map(|k| first[k] * rows[k][j]).sum()).collect()
        };
        let difference = |formula: RowFormula| {
            let (two, one) = (twice(formula, 0.3), row(formula, 0, 0.6, Weight::Sqrt));
            two.iter().zip(one).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        assert!(difference(RowFormula::Exact) < 1e-10);
        assert!(difference(RowFormula::Interpolated) > 1e-3);
        for weight in Weight::ALL {
            let exact = RowFormula::Exact.log_row(&[0.0, 1.3], 0, 0.8, weight);
            let interpolated = RowFormula::Interpolated.log_row(&[0.0, 1.3], 0, 0.8, weight);
            assert!((exact[1] - interpolated[1]).abs() < 1e-12);
        }
    }

    #[test]
    fn interpolation_is_mostly_but_not_always_closer_than_euler() {
        // Plain Euler, as the paper compares it: h·rate elsewhere, the rest stays.
        let errors = |diff: &[f64], h: f64, weight: Weight| -> (f64, f64) {
            let exact = RowFormula::Exact.log_row(diff, 0, h, weight);
            let interpolated = RowFormula::Interpolated.log_row(diff, 0, h, weight);
            let mut euler: Vec<f64> = diff.iter().map(|diff| h * weight.log(*diff).exp()).collect();
            euler[0] = 1.0 - euler[1..].iter().sum::<f64>();
            let worst = |row: &[f64]| {
                let pairs = exact.iter().zip(row);
                pairs.map(|(exact, entry)| (exact.exp() - entry).abs()).fold(0.0, f64::max)
            };
            let interpolated: Vec<f64> = interpolated.into_iter().map(f64::exp).collect();
            (worst(&interpolated), worst(&euler))
        };
        let (mut closer, mut all) = (0, 0);
        for k in 0..2000 {
            let value =
                |j: i32| if j == 0 { 0.0 } else { 4.0 * f64::from(7 * k + 3 * j * j).sin() };
            let diff: Vec<f64> = (0..5).map(value).collect();
            let total: f64 = diff[1..].iter().map(|diff| Weight::Min.log(*diff).exp()).sum();
            // Within the range where Euler's row is a distribution.
            let (interpolated, euler) = errors(&diff, 0.9 / total, Weight::Min);
            closer += usize::from(interpolated < euler);
            all += 1;
        }
        assert!(closer > all / 2 && closer < all, "{closer} of {all}");
    }
}
