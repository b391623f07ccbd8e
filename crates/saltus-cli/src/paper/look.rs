//! What the states where chains ended say about the proposals made there: how uneven total rates
//! are, and how far rows are from the exact ones.

use crate::failure::Failure;
use nalgebra::DMatrix;
use saltus::kernel::row::RowFormula;
use saltus::rng::Stream;
use saltus::{ChainRng, Model, ModelError, Outcome, Sampler, Settings, States, Weight};

/// What was seen; nothing where there is nothing to see.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Look {
    /// Standard deviation over mean of the total rate at the last states: PAS makes a fixed number
    /// of jumps, which take a time inverse to it.
    pub total_rate_cv: Option<f64>,
    /// Mean total rate where chains start, over that where they ended.
    pub total_rate_start_over_end: Option<f64>,
    /// Distance of DLMC's rows from the exact exponential, per probability of a change.
    pub interpolation_error: Option<f64>,
    /// The same of the clipped Euler rows.
    pub euler_error: Option<f64>,
    /// Distance of DLMC's rows from Euler's at a small step, per probability of a change.
    pub small_step_error: Option<f64>,
    /// Distance of DLMC's rows from the conditional distributions at a large step.
    pub large_step_error: Option<f64>,
}

/// Rows that are compared with the exact ones.
const ROWS: usize = 2000;
/// A step at which one jump of any site is unlikely, and one at which all have forgotten.
const SMALL_STEP: f64 = 1e-6;
const LARGE_STEP: f64 = 1e6;

impl Look {
    /// Looks at the last states of a run.
    pub fn at<M: Model>(
        model: &M,
        settings: &Settings,
        outcome: &Outcome,
    ) -> Result<Self, Failure> {
        if settings.scale.is_some() {
            return Ok(Self::default());
        }
        match (settings.sampler, outcome.scale) {
            (Sampler::Pas, _) => Self::at_total_rates(model, settings, outcome),
            (Sampler::Dlmc, Some(h)) => Self::at_rows(model, settings, outcome, h),
            _ => Ok(Self::default()),
        }
    }

    fn at_total_rates<M: Model>(
        model: &M,
        settings: &Settings,
        outcome: &Outcome,
    ) -> Result<Self, Failure> {
        let total = |state: &[u8]| -> Result<f64, Failure> {
            let differences = Differences::new(model, settings, state)?;
            let sites = 0..model.space().sites();
            Ok(sites.map(|site| total_rate(&differences.of_site(site), settings.weight)).sum())
        };
        let ends: Vec<f64> =
            outcome.last_states.iter().map(|state| total(state)).collect::<Result<_, _>>()?;
        let mut state = vec![0; model.space().sites()];
        let starts = (0..settings.chains).map(|chain| {
            let mut rng = ChainRng::new(settings.seed, Stream::Chain(chain as u64));
            model.initial_state(&mut rng, &mut state);
            total(&state)
        });
        let starts: Vec<f64> = starts.collect::<Result<_, _>>()?;
        let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
        let (start, end) = (mean(&starts), mean(&ends));
        let squares: f64 = ends.iter().map(|rate| (rate - end).powi(2)).sum();
        let cv = (squares / (ends.len() as f64 - 1.0)).sqrt() / end;
        Ok(Self {
            total_rate_cv: Some(cv).filter(|cv| cv.is_finite()),
            total_rate_start_over_end: Some(start / end).filter(|ratio| ratio.is_finite()),
            ..Self::default()
        })
    }

    fn at_rows<M: Model>(
        model: &M,
        settings: &Settings,
        outcome: &Outcome,
        h: f64,
    ) -> Result<Self, Failure> {
        let sites = model.space().sites();
        let (mut interpolation, mut euler) = (0.0, 0.0);
        let (mut small, mut small_moves) = (0.0, 0.0);
        let (mut large, mut moves) = (0.0f64, 0.0);
        let per_chain = ROWS.div_ceil(outcome.last_states.len()).min(sites);
        for state in &outcome.last_states {
            let differences = Differences::new(model, settings, state)?;
            // Spread over the state, so that no corner of a lattice stands for the whole.
            for site in (0..per_chain).map(|number| number * sites / per_chain) {
                let (diff, current) = (differences.of_site(site), usize::from(state[site]));
                let row = |formula: RowFormula, h| -> Vec<f64> {
                    let logs = formula.log_row(&diff, current, h, settings.weight);
                    logs.into_iter().map(f64::exp).collect()
                };
                let exact = exact_row(&diff, current, h, settings.weight);
                interpolation += distance(&row(RowFormula::Interpolated, h), &exact);
                euler += distance(&row(RowFormula::Euler, h), &exact);
                moves += 1.0 - exact[current];
                let (one, other) =
                    (row(RowFormula::Interpolated, SMALL_STEP), row(RowFormula::Euler, SMALL_STEP));
                small += distance(&one, &other);
                small_moves += 1.0 - other[current];
                let nu = conditional(&diff);
                large = large.max(distance(&row(RowFormula::Interpolated, LARGE_STEP), &nu));
            }
        }
        Ok(Self {
            interpolation_error: Some(interpolation / moves),
            euler_error: Some(euler / moves),
            small_step_error: Some(small / small_moves),
            large_step_error: Some(large),
            ..Self::default()
        })
    }
}

/// The differences of every site at one state.
struct Differences {
    diff: Vec<f32>,
    state: Vec<u8>,
    values: usize,
}

impl Differences {
    fn new<M: Model>(model: &M, settings: &Settings, state: &[u8]) -> Result<Self, ModelError> {
        let space = model.space();
        let mut diff = vec![0.0; space.diff_len()];
        let mut cache = model.new_cache(1);
        let states = States::new(state, state.len());
        model.log_prob_and_diff(settings.differences, states, &mut cache, &mut [0.0], &mut diff)?;
        Ok(Self { diff, state: state.to_vec(), values: space.values() })
    }

    /// Of every value of a site, zero at the current one.
    fn of_site(&self, site: usize) -> Vec<f64> {
        let sites = self.state.len();
        if self.values == 2 {
            let flip = f64::from(self.diff[site]);
            return if self.state[site] == 0 { vec![0.0, flip] } else { vec![flip, 0.0] };
        }
        (0..self.values).map(|value| f64::from(self.diff[value * sites + site])).collect()
    }
}

/// Sum of the rates to all other values: the own one has difference 0 and rate g(1).
fn total_rate(diff: &[f64], weight: Weight) -> f64 {
    diff.iter().map(|diff| weight.log(*diff).exp()).sum::<f64>() - weight.log(0.0).exp()
}

fn conditional(diff: &[f64]) -> Vec<f64> {
    let most = diff.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = diff.iter().map(|diff| (diff - most).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
}

/// The row of exp(hQ) itself, Q the rates of a site whose conditional distribution the differences
/// give.
///
/// Q is similar to a symmetric matrix, S_ij = √(νᵢ/νⱼ)·Q_ij, whose exponential is found from its
/// eigenvalues and stays accurate however large h is.
fn exact_row(diff: &[f64], current: usize, h: f64, weight: Weight) -> Vec<f64> {
    let values = diff.len();
    let mut symmetric = DMatrix::zeros(values, values);
    for i in 0..values {
        for j in (0..values).filter(|j| *j != i) {
            let d = diff[j] - diff[i];
            symmetric[(i, j)] = (weight.log(d) - 0.5 * d).exp();
            symmetric[(i, i)] -= weight.log(d).exp();
        }
    }
    let eigen = symmetric.symmetric_eigen();
    let row: Vec<f64> = (0..values)
        .map(|j| {
            let sum: f64 = (0..values)
                .map(|k| {
                    let decay = (h * eigen.eigenvalues[k].min(0.0)).exp();
                    eigen.eigenvectors[(current, k)] * decay * eigen.eigenvectors[(j, k)]
                })
                .sum();
            (sum * (0.5 * (diff[j] - diff[current])).exp()).max(0.0)
        })
        .collect();
    let total: f64 = row.iter().sum();
    row.into_iter().map(|entry| entry / total).collect()
}

/// Total variation.
fn distance(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| (one - other).abs()).sum::<f64>() / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_rows_are_those_of_a_dense_exponential() {
        // Golden numbers: differences (0, 0.7, −1.2) at h = 0.4.
        let golden = [
            (Weight::Sqrt, [0.534664358611, 0.377562289236, 0.087773352152]),
            (Weight::Ratio, [0.721048077983, 0.217461564209, 0.061490357809]),
            (Weight::Min, [0.635536329611, 0.293018111373, 0.071445559015]),
            (Weight::Max, [0.436197906797, 0.474055488979, 0.089746604224]),
        ];
        for (weight, expected) in golden {
            let row = exact_row(&[0.0, 0.7, -1.2], 0, 0.4, weight);
            assert!(distance(&row, &expected) < 1e-10, "{weight}: {row:?}");
        }
        let nu = conditional(&[0.0, 0.7, -1.2]);
        assert!(distance(&exact_row(&[0.0, 0.7, -1.2], 2, 1e9, Weight::Sqrt), &nu) < 1e-12);
    }

    #[test]
    fn total_rates_leave_out_the_own_value() {
        let diff = [0.0, 4f64.ln(), 0.25f64.ln()];
        assert!((total_rate(&diff, Weight::Sqrt) - 2.5).abs() < 1e-12);
        assert!((total_rate(&diff, Weight::Ratio) - 1.0).abs() < 1e-12);
    }
}
