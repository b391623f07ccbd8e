//! A model of one's own, learnt from examples: a Markov chain of letters that like to stay what they are.
//!
//! It has four parameters: how much letters like to stay, and how much each of the three is liked. The
//! learner needs one thing besides log π: how log π of a state changes with them. At the end
//! the model must expect what the examples show, which is what the most likely parameters do.

use saltus::{Model, ModelError, Sampler, Space, States};
use saltus_learn::data::Examples;
use saltus_learn::{Fall, Learnable, TrainSettings, Training};

const LENGTH: usize = 6;
const LETTERS: usize = 3;

/// log π(x) = stay · Σ [xₙ = xₙ₊₁] + Σ liked(xₙ).
#[derive(Clone)]
struct Letters {
    space: Space,
    /// Stay, and the three letters.
    parameters: [f32; 1 + LETTERS],
}

/// What the parameters are multiplied with: pairs that stay, and how often each letter occurs.
fn features(state: &[u8]) -> [f32; 1 + LETTERS] {
    let mut counts = [0.0; 1 + LETTERS];
    counts[0] = state.windows(2).filter(|pair| pair[0] == pair[1]).count() as f32;
    state.iter().for_each(|letter| counts[1 + usize::from(*letter)] += 1.0);
    counts
}

impl Letters {
    fn log_prob_of(&self, state: &[u8]) -> f64 {
        let terms = features(state).into_iter().zip(self.parameters);
        terms.map(|(count, parameter)| f64::from(count) * f64::from(parameter)).sum()
    }
}

impl Model for Letters {
    type Cache = ();

    fn space(&self) -> &Space {
        &self.space
    }

    fn new_cache(&self, _chains: usize) {}

    fn log_prob(
        &self,
        states: States<'_>,
        _cache: &mut (),
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        for (state, log_prob) in states.rows().zip(log_prob) {
            *log_prob = self.log_prob_of(state);
        }
        Ok(())
    }
}

impl Learnable for Letters {
    type Work = ();

    fn new_work(&self, _batch: usize) {}

    fn parameters(&self) -> Vec<f32> {
        self.parameters.to_vec()
    }

    fn set_parameters(&mut self, parameters: &[f32]) -> Result<(), ModelError> {
        self.parameters.copy_from_slice(parameters);
        Ok(())
    }

    fn add_gradient(
        &self,
        state: &[u8],
        share: f32,
        gradient: &mut [f32],
    ) -> Result<(), ModelError> {
        for (gradient, count) in gradient.iter_mut().zip(features(state)) {
            *gradient += share * count;
        }
        Ok(())
    }
}

/// All words of six letters.
fn all_words() -> impl Iterator<Item = Vec<u8>> {
    let word = |number: usize| {
        (0..LENGTH).map(move |place| (number / LETTERS.pow(place as u32) % LETTERS) as u8).collect()
    };
    (0..LETTERS.pow(LENGTH as u32)).map(word)
}

/// What a model expects of its features, by listing all words.
fn expected(model: &Letters) -> [f64; 1 + LETTERS] {
    let (mut total, mut sums) = (0.0, [0.0; 1 + LETTERS]);
    for word in all_words() {
        let weight = model.log_prob_of(&word).exp();
        total += weight;
        for (sum, count) in sums.iter_mut().zip(features(&word)) {
            *sum += weight * f64::from(count);
        }
    }
    sums.map(|sum| sum / total)
}

/// Learns it, and checks what was learnt.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let space = Space::new(LENGTH, LETTERS)?;
    // Words as often as their letters stay, and oftener if they begin late in the alphabet: nothing that
    // the model could express exactly.
    let copies = |word: &Vec<u8>| 1 + usize::from(word[0]) + 3 * features(word)[0] as usize;
    let words: Vec<u8> = all_words().flat_map(|word| word.repeat(copies(&word))).collect();
    let examples = Examples::new(space.clone(), words.clone())?;
    let model = Letters { space, parameters: [0.0; 1 + LETTERS] };
    let settings = TrainSettings {
        steps: 3,
        batch: 200,
        buffer: 400,
        iterations: 1500,
        learning_rate: 0.02,
        final_learning_rate: Some(1e-4),
        fall: Fall::Cosine,
        ..Sampler::dlmc().into()
    };
    let mut training = Training::new(&examples, model, settings)?;
    while !training.is_complete() {
        training.iterate()?;
    }
    let learnt = training.averaged()?;
    let count = (words.len() / LENGTH) as f64;
    let mut shown = [0.0; 1 + LETTERS];
    for word in words.chunks_exact(LENGTH) {
        shown.iter_mut().zip(features(word)).for_each(|(sum, one)| *sum += f64::from(one) / count);
    }
    println!("examples show {shown:.3?}, the model expects {:.3?}", expected(&learnt));
    println!("parameters {:.3?}", learnt.parameters);
    for (shown, expected) in shown.into_iter().zip(expected(&learnt)) {
        assert!((shown - expected).abs() < 0.03, "{shown}, expected {expected}");
    }
    Ok(())
}
