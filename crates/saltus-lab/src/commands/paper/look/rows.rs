//! How far DLMC's rows are from the exact ones at its own step, and from their limits at small and
//! large ones.

use super::{Differences, Look};
use saltus::kernel::row::RowFormula;
use saltus::{Model, Outcome, Settings};
use saltus_cli::failure::Failure;

/// Rows that are looked at.
const ROWS: usize = 2000;
/// A step at which one jump of any site is unlikely, and one at which all have forgotten.
const SMALL_STEP: f64 = 1e-6;
const LARGE_STEP: f64 = 1e6;

pub fn look<M: Model>(
    model: &M,
    settings: &Settings,
    outcome: &Outcome,
    h: f64,
) -> Result<Look, Failure> {
    let sites = model.space().sites();
    let (mut interpolation, mut euler, mut moves) = (0.0, 0.0, 0.0);
    let (mut small, mut small_moves) = (0.0, 0.0);
    let mut large = 0.0f64;
    let per_chain = ROWS.div_ceil(outcome.last_states.len()).min(sites);
    for state in &outcome.last_states {
        let differences = Differences::new(model, settings, state)?;
        // Spread over the state, so that no corner of a lattice stands for the whole.
        for site in (0..per_chain).map(|number| number * sites / per_chain) {
            let (diff, current) = (differences.of_site(site), usize::from(state[site]));
            let row = |formula: RowFormula, h| -> Vec<f64> {
                let logs = formula.log_row(&diff, current, h, settings.sampler.balancing);
                logs.into_iter().map(f64::exp).collect()
            };
            let exact = row(RowFormula::Exact, h);
            interpolation += distance(&row(RowFormula::Interpolated, h), &exact);
            euler += distance(&row(RowFormula::Euler, h), &exact);
            moves += 1.0 - exact[current];
            let euler_small = row(RowFormula::Euler, SMALL_STEP);
            small += distance(&row(RowFormula::Interpolated, SMALL_STEP), &euler_small);
            small_moves += 1.0 - euler_small[current];
            let nu = conditional(&diff);
            large = large.max(distance(&row(RowFormula::Interpolated, LARGE_STEP), &nu));
        }
    }
    Ok(Look {
        interpolation_error: Some(interpolation / moves),
        euler_error: Some(euler / moves),
        small_step_error: Some(small / small_moves),
        large_step_error: Some(large),
        ..Look::default()
    })
}

fn conditional(diff: &[f64]) -> Vec<f64> {
    let most = diff.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = diff.iter().map(|diff| (diff - most).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
}

/// Total variation.
fn distance(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| (one - other).abs()).sum::<f64>() / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_between_none_and_all() {
        assert_eq!(distance(&[1.0, 0.0], &[0.0, 1.0]), 1.0);
        assert_eq!(distance(&[0.25, 0.75], &[0.25, 0.75]), 0.0);
        let nu = conditional(&[0.0, 3f64.ln()]);
        assert!(distance(&nu, &[0.25, 0.75]) < 1e-15);
    }
}
