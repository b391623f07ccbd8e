//! What parts of a run must agree on without hearing of each other.

use super::{Progress, Run, RunError, Settings};
use crate::control::{Control, Ended};
use crate::model::Model;

/// Chains, or ladders, of a pilot, if the run has as many.
const CHAINS: usize = 100;
const LADDERS: usize = 16;

/// Whether settings leave anything to be found that parts of a run must agree on: a scale, or a ladder of temperatures.
pub fn needs_pilot<M: Model>(model: &M, whole: &Settings) -> bool {
    match &whole.temper {
        Some(temper) => temper.ladder.is_none(),
        None => {
            let has_scale = whole.sampler.traits(model.space()).scale.is_some();
            has_scale && whole.sampler.scale.is_none()
        }
    }
}

/// The settings of a run in parts: with the scale, or the ladder of temperatures, that a pilot of the run's first chains
/// came to. With these any range of its chains ([`Run::first_chain`]) has the same draws, whatever the others are. Settings
/// that leave nothing to be found are returned as they are. Chains start from `starts`, if they are given, a row for each;
/// `monitor` may stop the pilot, which then is an error.
///
/// ```
/// use saltus::model::independent::Independent;
/// use saltus::{Control, Run, Settings, run};
/// let model = Independent::bernoulli(vec![0.3; 5])?;
/// let whole = Settings { chains: 5, warmup: 50, draws: 10, ..Settings::default() };
/// let whole = run::pilot(&model, &whole, None, |_| Control::Continue)?;
/// let part = Run::new(&model, Settings { chains: 2, ..whole.clone() }).first_chain(3).go()?;
/// assert_eq!(part.trace.log_prob(), &Run::new(&model, whole).go()?.trace.log_prob()[3..]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pilot<M: Model>(
    model: &M,
    whole: &Settings,
    starts: Option<&[u8]>,
    monitor: impl FnMut(Progress) -> Control + Send,
) -> Result<Settings, RunError> {
    let mut settled = whole.clone();
    if !needs_pilot(model, whole) {
        return Ok(settled);
    }
    let climbs = whole.temper.is_some();
    let pilot = Settings {
        chains: whole.chains.min(if climbs { LADDERS } else { CHAINS }),
        draws: 1,
        thin: 1,
        time_limit: None,
        until_ess: None,
        until_rhat: None,
        until_log_z: None,
        ..whole.clone()
    };
    let rows = pilot.chains.saturating_mul(model.space().sites());
    let mut run = Run::new(model, pilot).monitor(monitor);
    if let Some(starts) = starts {
        run = run.start_from(starts[..rows.min(starts.len())].to_vec());
    }
    let outcome = run.go()?;
    if outcome.ended != Ended::Complete {
        return Err(RunError::Pilot(outcome.ended));
    }
    match &mut settled.temper {
        Some(temper) => temper.ladder = outcome.tempering.and_then(|report| report.rungs()),
        None => settled.sampler.scale = outcome.scale,
    }
    Ok(settled)
}
