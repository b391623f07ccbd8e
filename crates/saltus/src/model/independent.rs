//! Independent sites: Bernoulli and categorical distributions.

use super::factor::Factor;
use super::{Differences, Model, check_finite, check_length};
use crate::adjacency::Adjacency;
use crate::base::{Base, transpose};
use crate::error::ModelError;
use crate::space::{Space, States};

/// log π(x) = Σₙ θₙ(xₙ), every site on its own.
///
/// ```
/// use saltus::model::independent::Independent;
/// use saltus::{Model, States};
/// let coin = Independent::bernoulli(vec![3f32.ln()])?; // P(1) = 3/4
/// let mut log_prob = [0.0, 0.0];
/// coin.log_prob(States::new(&[0, 1], 1), &mut coin.new_cache(2), &mut log_prob)?;
/// assert!((log_prob[1] - log_prob[0] - 3f64.ln()).abs() < 1e-6);
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Independent {
    base: Base,
    /// No site sees another.
    adjacency: Adjacency,
}

impl Independent {
    /// Two values per site; `logits[n]` = log P(1)/P(0) at site n.
    pub fn bernoulli(logits: Vec<f32>) -> Result<Self, ModelError> {
        check_finite("logits", &logits)?;
        Ok(Base::new(Space::new(logits.len(), 2)?, logits)?.into())
    }

    /// `values` values per site; `log_weights[n·values + j]` = log-weight of value j at site n.
    pub fn categorical(values: usize, log_weights: &[f32]) -> Result<Self, ModelError> {
        let sites = log_weights.len() / values.max(1);
        let space = Space::new(sites, values)?;
        check_length("the table of log-weights", log_weights.len(), sites * values)?;
        check_finite("log_weights", log_weights)?;
        let table = if space.is_binary() {
            log_weights.chunks_exact(2).map(|pair| pair[1] - pair[0]).collect()
        } else {
            transpose(log_weights, sites, values)
        };
        Ok(Base::new(space, table)?.into())
    }
}

impl From<Base> for Independent {
    fn from(base: Base) -> Self {
        Self { adjacency: Adjacency::none(base.space().sites()), base }
    }
}

impl Model for Independent {
    /// The log-weights of the current values.
    type Cache = Vec<f32>;

    fn space(&self) -> &Space {
        self.base.space()
    }

    fn new_cache(&self, _chains: usize) -> Vec<f32> {
        Vec::new()
    }

    fn log_prob(
        &self,
        states: States<'_>,
        _cache: &mut Vec<f32>,
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        for (state, log_prob) in states.rows().zip(log_prob) {
            *log_prob = self.base.log_weight(state);
        }
        Ok(())
    }

    fn log_prob_and_diff(
        &self,
        _kind: Differences,
        states: States<'_>,
        here: &mut Vec<f32>,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        self.log_prob(states, here, log_prob)?;
        for (state, diff) in states.rows().zip(diff.chunks_exact_mut(self.space().diff_len())) {
            self.base.diff(state, here, diff);
        }
        Ok(())
    }

    fn taylor_is_exact(&self) -> bool {
        true
    }

    fn is_incremental(&self) -> bool {
        true
    }

    fn site_diff(
        &self,
        state: &[u8],
        _chain: usize,
        _cache: &mut Vec<f32>,
        site: usize,
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        for (value, diff) in diff.iter_mut().enumerate() {
            *diff = self.base.change(site, state[site], value as u8);
        }
        Ok(())
    }

    fn factors(&self) -> Option<Vec<Factor>> {
        let of_site = |site: usize| {
            let values = 0..self.space().values_at(site);
            let logs = values.map(|value| f64::from(self.base.weight(site, value as u8)));
            Factor::new([site as u32], logs.collect::<Box<[f64]>>()).ok()
        };
        (0..self.space().sites()).map(of_site).collect()
    }

    fn adjacency(&self) -> Option<&Adjacency> {
        Some(&self.adjacency)
    }
}
