//! Independent sites: Bernoulli and categorical distributions.

use super::graph::Graph;
use super::{Differences, Model, ModelError, check_finite, check_length};
use crate::math::{log_sum_exp, sigmoid, vectorised};
use crate::rng::ChainRng;
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
    space: Space,
    /// Two values: the logit of value 1 at each site. More: one plane of log-weights per value.
    table: Vec<f32>,
    /// No site sees another.
    graph: Graph,
}

impl Independent {
    /// Two values per site; `logits[n]` = log P(1)/P(0) at site n.
    pub fn bernoulli(logits: Vec<f32>) -> Result<Self, ModelError> {
        let space = Space::new(logits.len(), 2)?;
        check_finite("logits", &logits)?;
        let graph = Graph::new(space.sites(), &[])?;
        Ok(Self { space, table: logits, graph })
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
        Ok(Self { space, table, graph: Graph::new(sites, &[])? })
    }

    /// Every value of every site equally likely.
    pub fn uniform(space: &Space) -> Self {
        let graph = Graph::new(space.sites(), &[]).expect("a graph without edges");
        Self { space: *space, table: vec![0.0; space.diff_len()], graph }
    }

    /// Sites with these frequencies: with two values, how often each site is 1; with more, a row of
    /// values per site, in any unit. A value gets at least 0.02 / `values`, so that none is
    /// impossible.
    ///
    /// ```
    /// use saltus::model::independent::Independent;
    /// let sites = Independent::with_frequencies(2, &[0.0, 0.25])?;
    /// let exact = (1.0 + 0.01f64 / 0.99).ln() + (1.0 + 0.25f64 / 0.75).ln();
    /// assert!((sites.log_normaliser() - exact).abs() < 1e-6);
    /// # Ok::<(), saltus::ModelError>(())
    /// ```
    pub fn with_frequencies(values: usize, frequencies: &[f32]) -> Result<Self, ModelError> {
        let least = 0.02 / values.max(1) as f64;
        if values == 2 {
            let logit = |frequency: &f32| {
                let one = f64::from(*frequency).clamp(least, 1.0 - least);
                (one / (1.0 - one)).ln() as f32
            };
            return Self::bernoulli(frequencies.iter().map(logit).collect());
        }
        let rows = frequencies.chunks(values.max(1)).flat_map(|row| {
            let total: f64 = row.iter().map(|frequency| f64::from(*frequency)).sum();
            row.iter().map(move |frequency| (f64::from(*frequency) / total).max(least).ln() as f32)
        });
        Self::categorical(values, &rows.collect::<Vec<_>>())
    }

    /// log Σ π over all states.
    pub fn log_normaliser(&self) -> f64 {
        let (sites, values) = (self.space.sites(), self.space.values());
        let site = |site| {
            let weights: Vec<f64> =
                (0..values).map(|value| f64::from(self.weight(site, value as u8))).collect();
            log_sum_exp(&weights)
        };
        (0..sites).map(site).sum()
    }

    /// Draws a state, independent of all others.
    pub fn draw(&self, rng: &mut ChainRng, state: &mut [u8]) {
        let values = self.space.values();
        let mut weights = vec![0.0; values];
        for (site, value) in state.iter_mut().enumerate() {
            *value = if values == 2 {
                u8::from(rng.flip(sigmoid(f64::from(self.table[site]))))
            } else {
                let logs = (0..values).map(|value| f64::from(self.weight(site, value as u8)));
                let largest = logs.clone().fold(f64::NEG_INFINITY, f64::max);
                for (weight, log) in weights.iter_mut().zip(logs) {
                    *weight = (log - largest).exp();
                }
                rng.index(&weights, weights.iter().sum()) as u8
            };
        }
    }

    /// The log-weights in planes of sites; with two values, those of value 1 against 0.
    pub(crate) fn log_weights(&self) -> &[f32] {
        &self.table
    }

    pub(crate) fn log_prob_of(&self, state: &[u8]) -> f64 {
        if self.space.is_binary() {
            vectorised(
                #[inline(always)]
                || sum_where_one(&self.table, state),
            )
        } else {
            state.iter().enumerate().map(|(site, value)| f64::from(self.weight(site, *value))).sum()
        }
    }

    fn weight(&self, site: usize, value: u8) -> f32 {
        if self.space.is_binary() {
            f32::from(value) * self.table[site]
        } else {
            self.table[usize::from(value) * self.space.sites() + site]
        }
    }
}

/// Rows of `columns` become planes of `rows`.
pub(crate) fn transpose(table: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    (0..columns).flat_map(|j| (0..rows).map(move |n| table[n * columns + j])).collect()
}

/// Σ of the logits at sites with value one, in eight running sums so that it vectorises.
#[inline(always)]
pub(crate) fn sum_where_one(logits: &[f32], state: &[u8]) -> f64 {
    let mut sums = [0.0f64; 8];
    let (logits, logits_tail) = logits.as_chunks::<8>();
    let (state, state_tail) = state.as_chunks::<8>();
    for (logits, state) in logits.iter().zip(state) {
        for lane in 0..8 {
            sums[lane] += f64::from(logits[lane] * f32::from(state[lane]));
        }
    }
    let tail: f64 =
        logits_tail.iter().zip(state_tail).map(|(l, x)| f64::from(l * f32::from(*x))).sum();
    sums.iter().sum::<f64>() + tail
}

impl Model for Independent {
    /// The log-weights of the current values.
    type Cache = Vec<f32>;

    fn space(&self) -> &Space {
        &self.space
    }

    fn new_cache(&self, _chains: usize) -> Vec<f32> {
        vec![0.0; if self.space.is_binary() { 0 } else { self.space.sites() }]
    }

    fn log_prob(
        &self,
        states: States<'_>,
        _cache: &mut Vec<f32>,
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        for (state, log_prob) in states.rows().zip(log_prob) {
            *log_prob = self.log_prob_of(state);
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
        let sites = self.space.sites();
        for (state, diff) in states.rows().zip(diff.chunks_exact_mut(self.space.diff_len())) {
            if self.space.is_binary() {
                vectorised(
                    #[inline(always)]
                    || {
                        for ((diff, logit), value) in diff.iter_mut().zip(&self.table).zip(state) {
                            *diff = logit * (1.0 - 2.0 * f32::from(*value));
                        }
                    },
                );
            } else {
                for (here, (site, value)) in here.iter_mut().zip(state.iter().enumerate()) {
                    *here = self.weight(site, *value);
                }
                vectorised(
                    #[inline(always)]
                    || {
                        for (plane, table) in
                            diff.chunks_exact_mut(sites).zip(self.table.chunks_exact(sites))
                        {
                            for ((diff, table), here) in plane.iter_mut().zip(table).zip(&*here) {
                                *diff = table - here;
                            }
                        }
                    },
                );
            }
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
        let here = f64::from(self.weight(site, state[site]));
        for (value, diff) in diff.iter_mut().enumerate() {
            *diff = f64::from(self.weight(site, value as u8)) - here;
        }
        Ok(())
    }

    fn graph(&self) -> Option<&Graph> {
        Some(&self.graph)
    }
}
