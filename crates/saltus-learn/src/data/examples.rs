//! Examples of states, which models learn from: images with their grays cut into values.

use super::{DataError, Images};
use rayon::prelude::*;
use saltus::math::sigmoid;
use saltus::rng::{Annealing, Stream};
use saltus::{ChainRng, Model, Rbm, Space};
use serde::Serialize;

/// How grays become two values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Binarisation {
    /// 1 where the gray is above one half.
    #[default]
    Threshold,
    /// 1 with the gray as probability, drawn again whenever an image is looked at.
    Stochastic,
}

/// The level of a gray among `values` equal ones: ⌊(values − 10⁻⁶) · pixel / 255⌋.
///
/// With two levels this is the threshold at one half.
///
/// ```
/// use saltus_learn::data::quantise;
/// assert_eq!([0, 63, 64, 127, 128, 255].map(|pixel| quantise(pixel, 4)), [0, 0, 1, 1, 2, 3]);
/// ```
pub fn quantise(pixel: u8, values: usize) -> u8 {
    ((values as f64 - 1e-6) * f64::from(pixel) / 255.0) as u8
}

/// States to learn from.
///
/// ```
/// use saltus::Space;
/// use saltus_learn::data::Examples;
/// // Two states of three bits.
/// let examples = Examples::new(Space::new(3, 2)?, vec![0, 1, 1, 0, 0, 1])?;
/// assert_eq!(examples.mean(), [0.0, 0.5, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Examples {
    space: Space,
    content: Content,
}

/// Where states come from.
#[derive(Clone, Debug)]
enum Content {
    /// One after the other.
    States(Vec<u8>),
    /// Drawn from these grays whenever an example is looked at.
    Grays(Vec<u8>),
    /// Hidden units that an RBM gives to other examples, drawn whenever one is looked at.
    Hidden(Box<Rbm>, Box<Examples>),
}

impl Examples {
    /// These states, one after the other.
    pub fn new(space: Space, states: Vec<u8>) -> Result<Self, DataError> {
        if states.is_empty() || !states.len().is_multiple_of(space.sites()) {
            return Err(DataError::Invalid(format!(
                "{} values are not a number of states of {} sites",
                states.len(),
                space.sites()
            )));
        }
        if let Some(value) = states.iter().find(|value| usize::from(**value) >= space.values()) {
            return Err(DataError::Invalid(format!(
                "value {value} is not one of the {} values of a site, which count from 0",
                space.values()
            )));
        }
        Ok(Self { space, content: Content::States(states) })
    }

    /// The pixels of images as sites of that many values; with more than two values they are
    /// [quantised](quantise), whatever the binarisation.
    pub fn from_images(
        images: Images,
        values: usize,
        binarisation: Binarisation,
    ) -> Result<Self, DataError> {
        let space = Space::new(images.rows * images.columns, values)
            .map_err(|error| DataError::Invalid(error.to_string()))?;
        let mut pixels = images.pixels;
        if values == 2 && binarisation == Binarisation::Stochastic {
            return Ok(Self { space, content: Content::Grays(pixels) });
        }
        let level: Vec<u8> = (0..=255).map(|pixel| quantise(pixel, values)).collect();
        pixels.iter_mut().for_each(|pixel| *pixel = level[usize::from(*pixel)]);
        Ok(Self { space, content: Content::States(pixels) })
    }

    /// The hidden units that an RBM gives to these examples, for another RBM to learn from;
    /// drawn whenever an example is looked at.
    pub fn hidden_units_of(self, rbm: Rbm) -> Result<Self, DataError> {
        let (space, expected) = (self.space.clone(), rbm.space());
        if space != *expected {
            return Err(DataError::Invalid(format!(
                "the examples have {} sites of {} values, but the RBM has {} of {}",
                space.sites(),
                space.values(),
                expected.sites(),
                expected.values()
            )));
        }
        let space =
            Space::new(rbm.hidden(), 2).map_err(|error| DataError::Invalid(error.to_string()))?;
        Ok(Self { space, content: Content::Hidden(Box::new(rbm), Box::new(self)) })
    }

    /// The space of the states.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Number of examples.
    pub fn count(&self) -> usize {
        match &self.content {
            Content::States(states) => states.len() / self.space.sites(),
            Content::Grays(grays) => grays.len() / self.space.sites(),
            Content::Hidden(_, visible) => visible.count(),
        }
    }

    /// Puts an example into `state`; random numbers are used only if it has to be drawn.
    ///
    /// # Panics
    /// If there is no such example, or the state has another length.
    pub fn fill(&self, index: usize, rng: &mut ChainRng, state: &mut [u8]) {
        let sites = self.space.sites();
        let range = index * sites..(index + 1) * sites;
        match &self.content {
            Content::States(states) => state.copy_from_slice(&states[range]),
            Content::Grays(grays) => {
                for (value, gray) in state.iter_mut().zip(&grays[range]) {
                    *value = u8::from(rng.flip(f64::from(*gray) / 255.0));
                }
            }
            Content::Hidden(rbm, visible) => {
                for (value, mean) in state.iter_mut().zip(means(rbm, visible, index, rng)) {
                    *value = u8::from(rng.flip(mean));
                }
            }
        }
    }

    /// How often each value occurs at each site: with two values, how often 1 does; with more, a
    /// row of values per site.
    pub fn mean(&self) -> Vec<f64> {
        let (content, whole) = match &self.content {
            Content::States(states) => (states, 1.0),
            Content::Grays(grays) => (grays, 255.0),
            Content::Hidden(rbm, visible) => return mean_of_hidden(rbm, visible),
        };
        let planes = self.space.planes();
        let mut sums = vec![0u64; self.space.diff_len()];
        for example in content.chunks_exact(self.space.sites()) {
            for (value, sums) in example.iter().zip(sums.chunks_exact_mut(planes)) {
                match sums {
                    [sum] => *sum += u64::from(*value),
                    row => row[usize::from(*value)] += 1,
                }
            }
        }
        let whole = self.count() as f64 * whole;
        sums.iter().map(|sum| *sum as f64 / whole).collect()
    }
}

/// The states of the first `count` examples, one after the other; examples that are drawn whenever
/// they are looked at are drawn once, with that seed.
pub fn draw_examples(examples: &Examples, count: usize, seed: u64) -> Vec<u8> {
    let sites = examples.space().sites();
    let count = count.min(examples.count());
    let mut states = vec![0; count * sites];
    for (index, state) in states.chunks_exact_mut(sites).enumerate() {
        examples.fill(
            index,
            &mut ChainRng::new(seed, Stream::Annealing(Annealing::Draw, index as u64)),
            state,
        );
    }
    states
}

/// Probability of on of the hidden units that an RBM gives to an example.
fn means(rbm: &Rbm, visible: &Examples, index: usize, rng: &mut ChainRng) -> Vec<f64> {
    let mut state = vec![0; visible.space.sites()];
    visible.fill(index, rng, &mut state);
    let mut inputs = vec![0.0; rbm.row_length()];
    rbm.hidden_inputs(&state, 0, &mut rbm.new_cache(1), &mut inputs);
    inputs.truncate(rbm.hidden());
    inputs.iter_mut().for_each(|input| *input = sigmoid(*input));
    inputs
}

/// Their mean over all examples, added up in blocks whose order does not depend on threads.
fn mean_of_hidden(rbm: &Rbm, visible: &Examples) -> Vec<f64> {
    const BLOCK: usize = 256;
    let count = visible.count();
    let sum = |block: usize| {
        let mut rng = ChainRng::new(0, Stream::Data(block as u64));
        let mut sums = vec![0.0; rbm.hidden()];
        for index in block * BLOCK..count.min((block + 1) * BLOCK) {
            let means = means(rbm, visible, index, &mut rng);
            sums.iter_mut().zip(means).for_each(|(sum, mean)| *sum += mean);
        }
        sums
    };
    let blocks: Vec<Vec<f64>> = (0..count.div_ceil(BLOCK)).into_par_iter().map(sum).collect();
    let of_unit = |unit: usize| blocks.iter().map(|sums| sums[unit]).sum::<f64>() / count as f64;
    (0..rbm.hidden()).map(of_unit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn images(pixels: &[u8]) -> Images {
        Images { rows: 1, columns: 2, pixels: pixels.to_vec() }
    }

    fn state(examples: &Examples, index: usize) -> [u8; 2] {
        let mut state = [9; 2];
        examples.fill(index, &mut ChainRng::new(0, Stream::Data(0)), &mut state);
        state
    }

    #[test]
    fn a_gray_above_one_half_is_one() {
        // 127/255 = 0.498, 128/255 = 0.502.
        let examples =
            Examples::from_images(images(&[0, 127, 128, 255]), 2, Binarisation::Threshold).unwrap();
        assert_eq!([state(&examples, 0), state(&examples, 1)], [[0, 0], [1, 1]]);
        assert_eq!(examples.mean(), [0.5, 0.5]);
        for pixel in 0..=255 {
            assert_eq!(quantise(pixel, 2) == 1, f64::from(pixel) / 255.0 > 0.5, "{pixel}");
        }
    }

    #[test]
    fn levels_are_those_computed_by_hand() {
        // 4·63/255 = 0.988, 4·64/255 = 1.004, 4·191/255 = 2.996, 4·192/255 = 3.012.
        let four = [(0, 0), (63, 0), (64, 1), (127, 1), (128, 2), (191, 2), (192, 3), (255, 3)];
        for (pixel, level) in four {
            assert_eq!(quantise(pixel, 4), level, "{pixel}");
        }
        // 8·31/255 = 0.973, 8·32/255 = 1.004, 8·223/255 = 6.996, 8·224/255 = 7.027.
        for (pixel, level) in [(31, 0), (32, 1), (223, 6), (224, 7), (255, 7)] {
            assert_eq!(quantise(pixel, 8), level, "{pixel}");
        }
        // 3·85/255 = 1 exactly, and 3 − 10⁻⁶ falls just short of it.
        assert_eq!((quantise(85, 3), quantise(86, 3)), (0, 1));
        assert_eq!((quantise(1, 256), quantise(255, 256)), (1, 255));
    }

    #[test]
    fn frequencies_are_counted_per_value() {
        let images = images(&[0, 255, 64, 255, 0, 128, 0, 0]);
        let examples = Examples::from_images(images, 4, Binarisation::Threshold).unwrap();
        assert_eq!(examples.mean(), [0.75, 0.25, 0.0, 0.0, 0.25, 0.0, 0.25, 0.5]);
    }

    #[test]
    fn stochastic_bits_have_the_gray_as_probability() {
        let examples =
            Examples::from_images(images(&[51, 255]), 2, Binarisation::Stochastic).unwrap();
        assert_eq!(examples.mean(), [0.2, 1.0]);
        let mut rng = ChainRng::new(3, Stream::Data(7));
        let (mut ones, draws) = ([0u32; 2], 20_000);
        for _ in 0..draws {
            let mut state = [0; 2];
            examples.fill(0, &mut rng, &mut state);
            ones = [ones[0] + u32::from(state[0]), ones[1] + u32::from(state[1])];
        }
        assert_eq!(ones[1], draws);
        // Five standard deviations of a mean of 20,000 draws with probability 0.2.
        assert!((f64::from(ones[0]) / f64::from(draws) - 0.2).abs() < 0.0142, "{ones:?}");
    }

    #[test]
    fn hidden_units_are_drawn_with_the_probabilities_of_the_rbm() {
        // One unit that sees the difference of two sites.
        let rbm = Rbm::new(2, &[2.0, -2.0], &[0.5], &[0.0; 2], None).unwrap();
        let examples = Examples::new(Space::new(2, 2).unwrap(), vec![1, 0, 1, 1]).unwrap();
        let hidden = examples.hidden_units_of(rbm).unwrap();
        assert_eq!((hidden.count(), hidden.space().clone()), (2, Space::new(1, 2).unwrap()));
        let exact = [sigmoid(2.5), sigmoid(0.5)];
        assert!((hidden.mean()[0] - (exact[0] + exact[1]) / 2.0).abs() < 1e-7);
        let mut rng = ChainRng::new(3, Stream::Data(7));
        for (index, exact) in exact.iter().enumerate() {
            let draws = 20_000;
            let mut on = 0;
            for _ in 0..draws {
                let mut state = [9];
                hidden.fill(index, &mut rng, &mut state);
                on += u32::from(state[0]);
            }
            // Five standard deviations.
            let allowed = 5.0 * (exact * (1.0 - exact) / f64::from(draws)).sqrt();
            assert!((f64::from(on) / f64::from(draws) - exact).abs() < allowed, "{on}");
        }
        let rbm = Rbm::random(3, 2, 2, 0).unwrap();
        let examples = Examples::new(Space::new(2, 2).unwrap(), vec![1, 0]).unwrap();
        let sentence = examples.hidden_units_of(rbm).unwrap_err().to_string();
        assert!(sentence.contains("2 sites of 2 values, but the RBM has 3 of 2"), "{sentence}");
    }

    #[test]
    fn what_is_no_state_is_refused() {
        let space = Space::new(2, 3).unwrap();
        let refused = |states: &[u8]| Examples::new(space.clone(), states.to_vec()).unwrap_err();
        assert!(refused(&[]).to_string().contains("0 values are not"));
        assert!(refused(&[0, 1, 2]).to_string().contains("3 values are not"));
        assert!(refused(&[0, 3]).to_string().contains("value 3 is not one of the 3"));
    }
}
