//! How often every value of every pixel occurs: the independent pixels that a deep model stands on.

use saltus::model::{check_finite, check_length};
use saltus::{Base, ModelError, Space};
use saltus_learn::data::Examples;

/// Share of the uniform distribution in the frequencies of two values: none is impossible.
const UNIFORM: f64 = 0.02;
/// What is added to the frequencies of all values of a site together, where there are more than two.
const ADDED: f64 = 0.01;

/// Frequencies of the values of sites, and the distribution of independent sites that they make. It is normalised, so that
/// log Z of a deep model can be found by annealing from it.
///
/// ```
/// use saltus::Space;
/// use saltus_nn::Frequencies;
/// let frequencies = Frequencies::new(Space::new(2, 2)?, vec![0.75, 0.5])?;
/// assert!((frequencies.base().log_prob(&[1, 0]) - 0.375f64.ln()).abs() < 1e-6);
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Frequencies {
    numbers: Vec<f32>,
    base: Base,
}

impl Frequencies {
    /// Of value 1 with two values; with more, a row of all values for every site, in any unit.
    pub fn new(space: Space, numbers: Vec<f32>) -> Result<Self, ModelError> {
        check_length("the table of frequencies", numbers.len(), space.diff_len())?;
        check_finite("frequencies", &numbers)?;
        if let Some(at) = numbers.iter().position(|number| !(*number > 0.0 && *number < 1.0)) {
            return Err(ModelError::Invalid(format!(
                "frequencies[{at}] is {}, but must lie strictly between 0 and 1",
                numbers[at]
            )));
        }
        let (sites, planes) = (space.sites(), space.planes());
        let mut log_weights = vec![0.0; numbers.len()];
        for (site, row) in numbers.chunks_exact(planes).enumerate() {
            for (value, number) in row.iter().map(|number| f64::from(*number)).enumerate() {
                let log = if planes == 1 { (number / (1.0 - number)).ln() } else { number.ln() };
                log_weights[value * sites + site] = log as f32;
            }
        }
        Ok(Self { numbers, base: Base::new(space, log_weights)? })
    }

    /// Those of examples, mixed with a little of every value.
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

    /// The numbers, as in [`new`](Self::new).
    pub fn numbers(&self) -> &[f32] {
        &self.numbers
    }

    /// Independent sites with these frequencies.
    pub fn base(&self) -> &Base {
        &self.base
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_are_those_of_the_recipe() {
        let two = Space::new(2, 2).unwrap();
        let examples = Examples::new(two, vec![0, 1, 0, 1, 0, 0, 0, 1]).unwrap();
        // 0·0.98 + 0.01 and 0.75·0.98 + 0.01.
        assert_eq!(Frequencies::of_examples(&examples).numbers(), [0.01, 0.745]);
        let four = Space::new(1, 4).unwrap();
        let examples = Examples::new(four, vec![0, 2, 2, 2]).unwrap();
        // (frequency + 0.0025)/1.01.
        let found = Frequencies::of_examples(&examples);
        for (found, expected) in found.numbers().iter().zip([0.2525, 0.0025, 0.7525, 0.0025]) {
            assert!((found - expected / 1.01).abs() < 1e-7);
        }
    }

    #[test]
    fn sites_have_these_frequencies() {
        let two = Frequencies::new(Space::new(2, 2).unwrap(), vec![0.2, 0.9]).unwrap();
        let three = vec![0.2, 0.5, 0.3, 0.06, 0.01, 0.03];
        let three = Frequencies::new(Space::new(2, 3).unwrap(), three).unwrap();
        let probability = |found: &Frequencies, state: [u8; 2]| found.base().log_prob(&state).exp();
        for (found, expected) in [
            (probability(&two, [1, 0]), 0.2 * 0.1),
            (probability(&two, [0, 1]), 0.8 * 0.9),
            // The unit of a row does not matter.
            (probability(&three, [1, 2]), 0.5 * 0.3),
            (probability(&three, [0, 0]), 0.2 * 0.6),
        ] {
            assert!((found - expected).abs() < 1e-6, "{found}, expected {expected}");
        }
    }

    #[test]
    fn what_is_no_frequency_is_refused() {
        let space = Space::new(2, 2).unwrap();
        let refused = |numbers: &[f32]| {
            Frequencies::new(space.clone(), numbers.to_vec()).unwrap_err().to_string()
        };
        assert!(refused(&[0.5]).contains("has 1 entries, expected 2"));
        assert!(refused(&[0.5, 1.0]).contains("frequencies[1] is 1, but must lie strictly"));
        assert!(refused(&[f32::NAN, 0.5]).contains("frequencies[0] is NaN"));
    }
}
