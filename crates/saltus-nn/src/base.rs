//! The distribution that a deep model starts from: independent pixels with the frequencies of the
//! data.

use saltus::model::{check_finite, check_length};
use saltus::{ChainRng, ModelError, Space, States};
use saltus_learn::data::Examples;

/// Share of the uniform distribution in the frequencies of two values: none is impossible.
const UNIFORM: f64 = 0.02;
/// What is added to the frequencies of all values of a site together, where there are more than two.
const ADDED: f64 = 0.01;

/// Independent sites. It is normalised, so that log Z of a deep model can be found by annealing
/// from it.
///
/// ```
/// use saltus::Space;
/// use saltus_nn::Base;
/// let base = Base::new(Space::new(2, 2)?, vec![0.75, 0.5])?;
/// assert!((base.log_prob(&[1, 0]) - 0.375f64.ln()).abs() < 1e-6);
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Base {
    space: Space,
    mean: Vec<f32>,
    /// log p of every value of every site, plane after plane.
    logs: Vec<f64>,
}

impl Base {
    /// Sites with these frequencies: of value 1 with two values; with more, a row of all values for
    /// every site.
    pub fn new(space: Space, mean: Vec<f32>) -> Result<Self, ModelError> {
        check_length("the table of frequencies", mean.len(), space.diff_len())?;
        check_finite("frequencies", &mean)?;
        if let Some(at) = mean.iter().position(|mean| !(*mean > 0.0 && *mean < 1.0)) {
            return Err(ModelError::Invalid(format!(
                "frequencies[{at}] is {}, but must lie strictly between 0 and 1",
                mean[at]
            )));
        }
        let (sites, values) = (space.sites(), space.values());
        let mut logs = vec![0.0; sites * values];
        for (site, row) in mean.chunks_exact(space.planes()).enumerate() {
            let total: f64 = row.iter().map(|mean| f64::from(*mean)).sum();
            match row {
                [one] => {
                    logs[site] = (1.0 - f64::from(*one)).ln();
                    logs[sites + site] = f64::from(*one).ln();
                }
                row => {
                    for (value, mean) in row.iter().enumerate() {
                        logs[value * sites + site] = (f64::from(*mean) / total).ln();
                    }
                }
            }
        }
        Ok(Self { space, mean, logs })
    }

    /// Sites with the frequencies of examples, mixed with a little of every value.
    pub fn of_examples(examples: &Examples) -> Self {
        let space = examples.space().clone();
        let values = space.values() as f64;
        let mixed = |mean: &f64| match space.is_binary() {
            true => mean * (1.0 - UNIFORM) + UNIFORM / 2.0,
            false => (mean + ADDED / values) / (1.0 + ADDED),
        };
        let mean = examples.mean().iter().map(|mean| mixed(mean) as f32).collect();
        Self::new(space, mean).expect("frequencies of data, kept away from 0 and 1")
    }

    /// The same as the base of a path of temperatures.
    pub fn independent(&self) -> saltus::Base {
        let sites = self.space.sites();
        let log = |value: usize, site: usize| self.logs[value * sites + site];
        let log_weights: Vec<f32> = if self.space.is_binary() {
            (0..sites).map(|site| (log(1, site) - log(0, site)) as f32).collect()
        } else {
            self.logs.iter().map(|log| *log as f32).collect()
        };
        saltus::Base::new(self.space.clone(), log_weights)
            .expect("logarithms of positive frequencies")
    }

    /// The space of its states.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Its frequencies, as in [`new`](Self::new).
    pub fn mean(&self) -> &[f32] {
        &self.mean
    }

    /// The logarithm of a state's probability.
    pub fn log_prob(&self, state: &[u8]) -> f64 {
        let sites = self.space.sites();
        let at = |(site, value): (usize, &u8)| self.logs[usize::from(*value) * sites + site];
        state.iter().enumerate().map(at).sum()
    }

    /// Adds what single changes of a state would add to its logarithm, in the layout of a
    /// [model](saltus::Model)'s differences.
    pub(crate) fn add_diff(&self, state: &[u8], diff: &mut [f32]) {
        let sites = self.space.sites();
        if self.space.is_binary() {
            let (zero, one) = self.logs.split_at(sites);
            for (site, (value, diff)) in state.iter().zip(diff).enumerate() {
                let change = one[site] - zero[site];
                *diff += if *value == 0 { change } else { -change } as f32;
            }
            return;
        }
        for (plane, logs) in diff.chunks_exact_mut(sites).zip(self.logs.chunks_exact(sites)) {
            for (site, (diff, log)) in plane.iter_mut().zip(logs).enumerate() {
                *diff += (log - self.logs[usize::from(state[site]) * sites + site]) as f32;
            }
        }
    }

    /// Draws a state.
    pub fn draw(&self, rng: &mut ChainRng, state: &mut [u8]) {
        let sites = self.space.sites();
        let mut weights = Vec::with_capacity(self.space.values());
        for (site, value) in state.iter_mut().enumerate() {
            if self.space.is_binary() {
                *value = u8::from(rng.flip(f64::from(self.mean[site])));
                continue;
            }
            weights.clear();
            weights.extend(self.logs[site..].iter().step_by(sites).map(|log| log.exp()));
            *value = rng.index(&weights, weights.iter().sum()) as u8;
        }
    }

    /// The logarithms of the probabilities of states.
    pub(crate) fn add_log_prob(&self, states: States<'_>, log_prob: &mut [f64]) {
        for (state, log_prob) in states.rows().zip(log_prob) {
            *log_prob += self.log_prob(state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus::rng::Stream;

    #[test]
    fn frequencies_are_those_of_the_recipe() {
        let two = Space::new(2, 2).unwrap();
        let examples = Examples::new(two, vec![0, 1, 0, 1, 0, 0, 0, 1]).unwrap();
        // 0·0.98 + 0.01 and 0.75·0.98 + 0.01.
        assert_eq!(Base::of_examples(&examples).mean(), [0.01, 0.745]);
        let four = Space::new(1, 4).unwrap();
        let examples = Examples::new(four, vec![0, 2, 2, 2]).unwrap();
        // (frequency + 0.0025)/1.01.
        for (found, expected) in
            Base::of_examples(&examples).mean().iter().zip([0.2525, 0.0025, 0.7525, 0.0025])
        {
            assert!((found - expected / 1.01).abs() < 1e-7);
        }
    }

    #[test]
    fn probabilities_add_up_to_one_and_differences_are_theirs() {
        for (values, mean) in [(2, vec![0.2, 0.9]), (3, vec![0.2, 0.5, 0.3, 0.6, 0.1, 0.3])] {
            let space = Space::new(2, values).unwrap();
            let base = Base::new(space.clone(), mean).unwrap();
            let independent = base.independent();
            let mut total = 0.0;
            for state in (0..values).flat_map(|a| (0..values).map(move |b| [a as u8, b as u8])) {
                total += base.log_prob(&state).exp();
                let alike = independent.log_prob(&state);
                assert!((base.log_prob(&state) - alike).abs() < 1e-6, "{state:?}: {alike}");
                let mut diff = vec![0.0; space.diff_len()];
                base.add_diff(&state, &mut diff);
                for site in 0..2 {
                    for value in (0..values as u8).filter(|value| *value != state[site]) {
                        let mut other = state;
                        other[site] = value;
                        let plane = if values == 2 { 0 } else { usize::from(value) };
                        let expected = base.log_prob(&other) - base.log_prob(&state);
                        assert!((f64::from(diff[plane * 2 + site]) - expected).abs() < 1e-6);
                    }
                }
            }
            assert!((total - 1.0).abs() < 1e-7, "{total}");
        }
    }

    #[test]
    fn draws_follow_the_frequencies() {
        let base = Base::new(Space::new(1, 3).unwrap(), vec![0.2, 0.5, 0.3]).unwrap();
        let (mut rng, mut counts) = (ChainRng::new(1, Stream::Chain(0)), [0u32; 3]);
        for _ in 0..20_000 {
            let mut state = [0];
            base.draw(&mut rng, &mut state);
            counts[usize::from(state[0])] += 1;
        }
        for (count, expected) in counts.iter().zip([4000.0f64, 10_000.0, 6000.0]) {
            assert!((f64::from(*count) - expected).abs() < 5.0 * expected.sqrt(), "{counts:?}");
        }
    }

    #[test]
    fn what_is_no_frequency_is_refused() {
        let space = Space::new(2, 2).unwrap();
        let refused =
            |mean: &[f32]| Base::new(space.clone(), mean.to_vec()).unwrap_err().to_string();
        assert!(refused(&[0.5]).contains("has 1 entries, expected 2"));
        assert!(refused(&[0.5, 1.0]).contains("frequencies[1] is 1, but must lie strictly"));
        assert!(refused(&[f32::NAN, 0.5]).contains("frequencies[0] is NaN"));
    }
}
