//! Independent sites: where paths of temperatures begin, and the simplest model.

use crate::error::ModelError;
use crate::math::{log_sum_exp, sigmoid, vectorised};
use crate::rng::ChainRng;
use crate::space::Space;

/// A product of independent sites, p(x) ∝ Πₙ e^θₙ(xₙ), normalised and drawn from directly.
///
/// It is the end at β = 0 of every path p^(1−β) π^β.
///
/// ```
/// use saltus::{Base, Space};
/// let base = Base::uniform(&Space::mixed(&[2, 5, 1])?);
/// assert!((base.log_prob(&[1, 4, 0]) + 10f64.ln()).abs() < 1e-12);
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Base {
    space: Space,
    /// Two values: the logit of value 1 at each site. More: one plane of log-weights per value, −∞
    /// where a site does not have it.
    log_weights: Vec<f32>,
    log_normaliser: f64,
    is_uniform: bool,
}

impl Base {
    /// Every value of every site equally likely.
    pub fn uniform(space: &Space) -> Self {
        let mut log_weights = vec![0.0; space.diff_len()];
        if !space.is_binary() {
            space.mask(&mut log_weights);
        }
        Self { is_uniform: true, ..Self::of_planes(space.clone(), log_weights) }
    }

    /// Sites with these log-weights, in planes of sites; with two values, those of value 1 against 0.
    /// Entries of values which do not exist are not read.
    pub fn new(space: Space, mut log_weights: Vec<f32>) -> Result<Self, ModelError> {
        if log_weights.len() != space.diff_len() {
            return Err(ModelError::invalid(format!(
                "the table of log-weights has {} entries, expected {}",
                log_weights.len(),
                space.diff_len()
            )));
        }
        // A flip that does not exist weighs nothing in sums over sites.
        let nothing = if space.is_binary() { 0.0 } else { f32::NEG_INFINITY };
        for entry in space.masked() {
            log_weights[*entry as usize] = 0.0;
        }
        if let Some(at) = log_weights.iter().position(|weight| !weight.is_finite()) {
            return Err(ModelError::invalid(format!(
                "log_weights[{at}] is {}, not a number a model can use",
                log_weights[at]
            )));
        }
        for entry in space.masked() {
            log_weights[*entry as usize] = nothing;
        }
        Ok(Self::of_planes(space, log_weights))
    }

    fn of_planes(space: Space, log_weights: Vec<f32>) -> Self {
        let mut base = Self { space, log_weights, log_normaliser: 0.0, is_uniform: false };
        let site = |site| {
            let values = 0..base.space.values_at(site);
            let weights: Vec<f64> =
                values.map(|value| f64::from(base.weight(site, value as u8))).collect();
            log_sum_exp(&weights)
        };
        base.log_normaliser = (0..base.space.sites()).map(site).sum();
        base
    }

    /// Sites with these frequencies: with two values, how often each site is 1; with more, a row of
    /// values per site, in any unit. A value gets at least 0.02 / `values`, so that none is
    /// impossible.
    ///
    /// ```
    /// use saltus::Base;
    /// let sites = Base::with_frequencies(2, &[0.0, 0.25])?;
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
            let space = Space::new(frequencies.len(), 2)?;
            return Self::new(space, frequencies.iter().map(logit).collect());
        }
        let sites = frequencies.len() / values.max(1);
        let space = Space::new(sites, values)?;
        let rows = frequencies.chunks(values).flat_map(|row| {
            let total: f64 = row.iter().map(|frequency| f64::from(*frequency)).sum();
            row.iter().map(move |frequency| (f64::from(*frequency) / total).max(least).ln() as f32)
        });
        Self::new(space, transpose(&rows.collect::<Vec<_>>(), sites, values))
    }

    /// The same on some of its sites, which are numbered anew in their order.
    pub fn among(&self, space: &Space, sites: &[u32]) -> Self {
        let old = self.space.sites();
        let entry =
            |plane: usize, site: &u32| match self.log_weights.get(plane * old + *site as usize) {
                Some(weight) => *weight,
                None => f32::NEG_INFINITY,
            };
        // Fewer sites may have two values at most where all had more.
        let first = if space.is_binary() && !self.space.is_binary() { 1 } else { 0 };
        let log_weights = (0..space.planes()).flat_map(|plane| {
            sites.iter().map(move |site| {
                let weight = entry(plane + first, site);
                if first == 1 { weight - entry(0, site) } else { weight }
            })
        });
        let mut log_weights: Vec<f32> = log_weights.collect();
        if space.is_binary() {
            for entry in space.masked() {
                log_weights[*entry as usize] = 0.0;
            }
        }
        Self { is_uniform: self.is_uniform, ..Self::of_planes(space.clone(), log_weights) }
    }

    /// Its space.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Whether every value of every site is equally likely.
    pub fn is_uniform(&self) -> bool {
        self.is_uniform
    }

    /// log Σₓ Πₙ e^θₙ(xₙ).
    pub fn log_normaliser(&self) -> f64 {
        self.log_normaliser
    }

    /// log p of a state.
    pub fn log_prob(&self, state: &[u8]) -> f64 {
        self.log_weight(state) - self.log_normaliser
    }

    /// Σₙ θₙ(xₙ), before it is normalised.
    pub(crate) fn log_weight(&self, state: &[u8]) -> f64 {
        if self.space.is_binary() {
            vectorised(
                #[inline(always)]
                || sum_where_one(&self.log_weights, state),
            )
        } else {
            state.iter().enumerate().map(|(site, value)| f64::from(self.weight(site, *value))).sum()
        }
    }

    /// θ of a value of a site.
    #[inline]
    pub fn weight(&self, site: usize, value: u8) -> f32 {
        if self.space.is_binary() {
            f32::from(value) * self.log_weights[site]
        } else {
            self.log_weights[usize::from(value) * self.space.sites() + site]
        }
    }

    /// The log-weights in planes of sites; with two values, those of value 1 against 0.
    pub fn log_weights(&self) -> &[f32] {
        &self.log_weights
    }

    /// By how much log p would change with each value of every site; `here` is scratch space.
    pub(crate) fn diff(&self, state: &[u8], here: &mut Vec<f32>, diff: &mut [f32]) {
        let sites = self.space.sites();
        if self.space.is_binary() {
            return flips(&self.log_weights, state, diff);
        }
        here.resize(sites, 0.0);
        for (here, (site, value)) in here.iter_mut().zip(state.iter().enumerate()) {
            *here = self.weight(site, *value);
        }
        vectorised(
            #[inline(always)]
            || {
                for (plane, table) in
                    diff.chunks_exact_mut(sites).zip(self.log_weights.chunks_exact(sites))
                {
                    for ((diff, table), here) in plane.iter_mut().zip(table).zip(&*here) {
                        *diff = table - here;
                    }
                }
            },
        );
    }

    /// By how much log p would change if a site took another value.
    #[inline]
    pub(crate) fn change(&self, site: usize, from: u8, to: u8) -> f64 {
        f64::from(self.weight(site, to)) - f64::from(self.weight(site, from))
    }

    /// Draws a state, independent of all others.
    pub fn draw(&self, rng: &mut ChainRng, state: &mut [u8]) {
        let mut weights = vec![0.0; self.space.values()];
        for (site, value) in state.iter_mut().enumerate() {
            let values = self.space.values_at(site);
            *value = match values {
                1 => 0,
                2 if self.space.is_binary() => {
                    u8::from(rng.flip(sigmoid(f64::from(self.log_weights[site]))))
                }
                _ => {
                    let logs = (0..values).map(|value| f64::from(self.weight(site, value as u8)));
                    let largest = logs.clone().fold(f64::NEG_INFINITY, f64::max);
                    let weights = &mut weights[..values];
                    for (weight, log) in weights.iter_mut().zip(logs) {
                        *weight = (log - largest).exp();
                    }
                    rng.index(&*weights, weights.iter().sum()) as u8
                }
            };
        }
    }
}

/// Rows of `columns` become planes of `rows`.
pub(crate) fn transpose(table: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    (0..columns).flat_map(|j| (0..rows).map(move |n| table[n * columns + j])).collect()
}

/// By how much log p would change with each bit.
pub(crate) fn flips(logits: &[f32], state: &[u8], diff: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || {
            for ((diff, logit), value) in diff.iter_mut().zip(logits).zip(state) {
                *diff = logit * (1.0 - 2.0 * f32::from(*value));
            }
        },
    );
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::script::enumerate;

    /// A mixed space of two, three and one values, and its draws with their probabilities.
    #[test]
    fn draws_of_mixed_sites_have_the_probabilities_of_the_product() {
        let space = Space::mixed(&[2, 3, 1]).unwrap();
        let base = Base::new(space, vec![0.1, 0.4, 0.0, 0.7, -0.3, 9.0, 5.0, 1.1, 9.0]).unwrap();
        let mut total = 0.0;
        enumerate(
            |rng| {
                let mut state = [0; 3];
                base.draw(rng, &mut state);
                state
            },
            |state, probability| {
                assert!((base.log_prob(&state).exp() - probability).abs() < 1e-6);
                total += probability;
            },
        );
        assert!((total - 1.0).abs() < 1e-12);
        let part = base.among(&Space::mixed(&[3, 2]).unwrap(), &[1, 0]);
        let apart = base.log_weight(&[0, 2, 0]) - base.log_weight(&[1, 1, 0]);
        assert!((part.log_prob(&[2, 0]) - part.log_prob(&[1, 1]) - apart).abs() < 1e-6);
        let bits = base.among(&Space::mixed(&[2, 1]).unwrap(), &[0, 2]);
        assert!((bits.log_prob(&[1, 0]) - bits.log_prob(&[0, 0]) - 0.6).abs() < 1e-6);
    }
}
