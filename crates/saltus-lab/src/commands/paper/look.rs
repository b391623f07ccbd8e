//! What the states where chains ended say about the proposals made there.

mod rates;
mod rows;

use saltus::{Method, Model, ModelError, Outcome, Settings, States};
use saltus_cli::failure::Failure;

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

impl Look {
    /// Looks at the last states of a run.
    pub fn at<M: Model>(
        model: &M,
        settings: &Settings,
        outcome: &Outcome,
    ) -> Result<Self, Failure> {
        if settings.sampler.scale.is_some() {
            return Ok(Self::default());
        }
        match (settings.sampler.method, outcome.scale) {
            (Method::Pas, _) => rates::look(model, settings, outcome),
            (Method::Dlmc, Some(h)) => rows::look(model, settings, outcome, h),
            _ => Ok(Self::default()),
        }
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
        model.log_prob_and_diff(
            settings.sampler.differences,
            states,
            &mut cache,
            &mut [0.0],
            &mut diff,
        )?;
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
