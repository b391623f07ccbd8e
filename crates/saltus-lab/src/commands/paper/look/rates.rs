//! How uneven total rates are: the time that a fixed number of jumps takes varies with them.

use super::{Differences, Look};
use saltus::rng::Stream;
use saltus::{Balancing, ChainRng, Model, Outcome, Settings};
use saltus_cli::failure::Failure;

pub fn look<M: Model>(model: &M, settings: &Settings, outcome: &Outcome) -> Result<Look, Failure> {
    let total = |state: &[u8]| -> Result<f64, Failure> {
        let differences = Differences::new(model, settings, state)?;
        let sites = 0..model.space().sites();
        Ok(sites
            .map(|site| total_rate(&differences.of_site(site), settings.sampler.balancing))
            .sum())
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
    Ok(Look {
        total_rate_cv: Some(cv).filter(|cv| cv.is_finite()),
        total_rate_start_over_end: Some(start / end).filter(|ratio| ratio.is_finite()),
        ..Look::default()
    })
}

/// Sum of the rates to all other values: the own one has difference 0 and rate g(1).
fn total_rate(diff: &[f64], weight: Balancing) -> f64 {
    diff.iter().map(|diff| weight.log(*diff).exp()).sum::<f64>() - weight.log(0.0).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn total_rates_leave_out_the_own_value() {
        let diff = [0.0, 4f64.ln(), 0.25f64.ln()];
        assert!((total_rate(&diff, Balancing::Sqrt) - 2.5).abs() < 1e-12);
        assert!((total_rate(&diff, Balancing::Ratio) - 1.0).abs() < 1e-12);
    }
}
