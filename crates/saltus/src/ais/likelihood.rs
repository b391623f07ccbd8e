//! How likely a model finds examples, up to its normaliser.

use crate::control::Control;
use crate::error::ModelError;
use crate::model::Model;
use crate::space::States;
use crate::workers::Workers;
use rayon::prelude::*;

/// Examples evaluated together.
const BLOCK: usize = 16;
/// Such blocks between two looks at the monitor.
const AT_ONCE: usize = 32;

/// The mean of log π over states of a model's space, one after the other. Less log Z, it is the mean
/// log-likelihood. `monitor` is told how many states are done, of how many; nothing comes back if it
/// asks to stop.
///
/// ```
/// use saltus::ais::mean_log_prob;
/// use saltus::model::independent::Independent;
/// use saltus::Control;
/// let coin = Independent::bernoulli(vec![2.0])?;
/// let mean = mean_log_prob(&coin, &[0, 1, 1, 1], None, |_, _| Control::Continue)?;
/// assert!((mean.expect("not stopped") - 1.5).abs() < 1e-12);
/// # Ok::<(), saltus::ModelError>(())
/// ```
pub fn mean_log_prob<M: Model>(
    model: &M,
    states: &[u8],
    threads: Option<usize>,
    mut monitor: impl FnMut(usize, usize) -> Control,
) -> Result<Option<f64>, ModelError> {
    let sites = model.space().sites();
    let pool = Workers::new(threads).map_err(|reason| {
        ModelError::Evaluation(format!("threads could not be started: {reason}"))
    })?;
    let evaluate = |block: &[u8]| -> Result<Vec<f64>, ModelError> {
        let mut log_prob = vec![0.0; block.len() / sites];
        let mut cache = model.new_cache(log_prob.len());
        model.log_prob(States::new(block, sites), &mut cache, &mut log_prob)?;
        Ok(log_prob)
    };
    let count = states.len() / sites;
    let mut log_probs = Vec::with_capacity(count);
    for part in states.chunks(AT_ONCE * BLOCK * sites) {
        let found: Result<Vec<Vec<f64>>, ModelError> =
            pool.install(|| part.par_chunks(BLOCK * sites).map(&evaluate).collect());
        log_probs.extend(found?.concat());
        if monitor(log_probs.len(), count) == Control::Stop && log_probs.len() < count {
            return Ok(None);
        }
    }
    Ok(Some(log_probs.iter().sum::<f64>() / log_probs.len() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::independent::Independent;

    #[test]
    fn the_mean_is_over_all_states_unless_the_monitor_stops_it() {
        let coin = Independent::bernoulli(vec![3.0]).unwrap();
        // 1,100 states, a quarter of them 1.
        let states: Vec<u8> = (0..1100).map(|state| u8::from(state % 4 == 0)).collect();
        let mut told = Vec::new();
        let mean = mean_log_prob(&coin, &states, Some(2), |done, all| {
            told.push((done, all));
            Control::Continue
        });
        assert!((mean.unwrap().unwrap() - 0.75).abs() < 1e-9);
        assert_eq!(told, [(512, 1100), (1024, 1100), (1100, 1100)]);
        let stop = |after: usize| {
            mean_log_prob(&coin, &states, Some(2), |done, _| {
                if done >= after { Control::Stop } else { Control::Continue }
            })
        };
        assert_eq!(stop(1024), Ok(None));
        // What is done is not thrown away.
        assert!(stop(1100).unwrap().is_some());
    }
}
