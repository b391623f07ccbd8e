//! All states of a model, one after the other.

use super::{Answer, ExactError};
use crate::error::ModelError;
use crate::math::log_sum_exp;
use crate::model::Model;
use crate::model::factor::raised;
use crate::rng::ChainRng;
use crate::space::{Space, States};

/// The probabilities of all states, the last site fastest.
pub(super) struct Listed {
    space: Space,
    /// The sum of all probabilities up to each state, itself included.
    sums: Vec<f64>,
}

/// States that are evaluated at once.
const BLOCK: usize = 256;

impl Listed {
    pub(super) fn new<M: Model>(
        model: &M,
        states: usize,
        beta: f64,
    ) -> Result<(Self, Answer), ExactError> {
        let space = model.space();
        let mut logs = vec![0.0; states];
        let mut cache = model.new_cache(BLOCK);
        let mut block = vec![0; BLOCK * space.sites()];
        for (number, logs) in logs.chunks_mut(BLOCK).enumerate() {
            let rows = block.chunks_exact_mut(space.sites()).take(logs.len());
            rows.enumerate().for_each(|(row, state)| write(space, number * BLOCK + row, state));
            let states = States::new(&block[..logs.len() * space.sites()], space.sites());
            model.log_prob(states, &mut cache, logs)?;
            if logs.iter().any(|log| log.is_nan() || *log == f64::INFINITY) {
                let reason = "log π is neither a number nor −∞ at some state".to_owned();
                return Err(ModelError::Evaluation(reason).into());
            }
        }
        logs.iter_mut().for_each(|log| *log = raised(*log, beta));
        let log_z = log_sum_exp(&logs);
        if log_z == f64::NEG_INFINITY {
            return Err(ExactError::Impossible);
        }
        let best = (0..states).fold(0, |best, at| if logs[at] > logs[best] { at } else { best });
        let mut map = vec![0; space.sites()];
        write(space, best, &mut map);
        let map_log_prob = logs[best];
        logs.iter_mut().for_each(|log| *log = (*log - log_z).exp());
        let marginals = marginals(space, &logs);
        let mut sum = 0.0;
        for number in &mut logs {
            sum += *number;
            *number = sum;
        }
        Ok((
            Self { space: space.clone(), sums: logs },
            Answer { log_z, marginals, map, map_log_prob },
        ))
    }

    pub(super) fn draw(&self, rng: &mut ChainRng, state: &mut [u8]) {
        let total = self.sums.last().copied().unwrap_or(1.0);
        let at = rng.uniform() * total;
        // The first sum beyond it, which no state of probability zero is.
        let number = self.sums.partition_point(|sum| *sum <= at).min(self.sums.len() - 1);
        write(&self.space, number, state);
    }
}

/// Writes the state of that number.
pub(super) fn write(space: &Space, mut number: usize, state: &mut [u8]) {
    for (site, value) in state.iter_mut().enumerate().rev() {
        let values = space.values_at(site);
        *value = (number % values) as u8;
        number /= values;
    }
}

fn marginals(space: &Space, probabilities: &[f64]) -> Vec<Vec<f64>> {
    let mut marginals: Vec<Vec<f64>> =
        (0..space.sites()).map(|site| vec![0.0; space.values_at(site)]).collect();
    let mut stride = 1;
    for (site, marginal) in marginals.iter_mut().enumerate().rev() {
        let values = space.values_at(site);
        for run in probabilities.chunks_exact(stride * values) {
            for (sum, part) in marginal.iter_mut().zip(run.chunks_exact(stride)) {
                *sum += part.iter().sum::<f64>();
            }
        }
        stride *= values;
    }
    marginals
}
