//! Models made of closures: any function of a block of states can be sampled.

use super::{Differences, Model};
use crate::error::ModelError;
use crate::rng::ChainRng;
use crate::space::{Space, States};

/// Changed states evaluated per call when differences are found by trying them out.
const TRIALS: usize = 64;

type LogProb = dyn Fn(States<'_>, &mut [f64]) -> Result<(), ModelError> + Send + Sync;
type WithTable = dyn Fn(States<'_>, &mut [f64], &mut [f32]) -> Result<(), ModelError> + Send + Sync;
type InitialState = dyn Fn(&mut ChainRng, &mut [u8]) + Send + Sync;

/// A model whose log π is a closure over a block of states.
///
/// Without more, differences are found by trying out every value of every site, many states per
/// call. A closure for the differences or for the gradient spares that. A closure that cannot
/// evaluate a state returns [`ModelError::Evaluation`].
///
/// ```
/// use saltus::model::callable::Callable;
/// use saltus::{Model, Space, States};
/// // As many ones as possible, but never all of them.
/// let model = Callable::new(Space::new(3, 2)?, |states, log_prob| {
///     for (state, log_prob) in states.rows().zip(log_prob) {
///         let ones = state.iter().filter(|value| **value == 1).count();
///         *log_prob = if ones == 3 { f64::NEG_INFINITY } else { ones as f64 };
///     }
///     Ok(())
/// });
/// let mut log_prob = [0.0, 0.0];
/// model.log_prob(States::new(&[0, 1, 1, 1, 1, 1], 3), &mut model.new_cache(2), &mut log_prob)?;
/// assert_eq!(log_prob, [2.0, f64::NEG_INFINITY]);
/// # Ok::<(), saltus::ModelError>(())
/// ```
pub struct Callable {
    space: Space,
    log_prob: Box<LogProb>,
    differences: Option<Box<WithTable>>,
    gradient: Option<Box<WithTable>>,
    initial_state: Option<Box<InitialState>>,
    block_size: usize,
}

/// Memory for trying out changed states of a [`Callable`].
#[derive(Clone, Debug, Default)]
pub struct CallableCache {
    states: Vec<u8>,
    log_prob: Vec<f64>,
    /// Where in the table of differences each changed state belongs.
    targets: Vec<usize>,
}

impl Callable {
    /// A model on `space` with that log π: the closure fills one number per state of the block.
    pub fn new(
        space: Space,
        log_prob: impl Fn(States<'_>, &mut [f64]) -> Result<(), ModelError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            space,
            log_prob: Box::new(log_prob),
            differences: None,
            gradient: None,
            initial_state: None,
            block_size: 1,
        }
    }

    /// Adds a closure that fills log π and the exact differences of every state, laid out as
    /// [`Model`] says. Without a gradient it also serves as the first-order estimate.
    pub fn with_differences(
        mut self,
        differences: impl Fn(States<'_>, &mut [f64], &mut [f32]) -> Result<(), ModelError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.differences = Some(Box::new(differences));
        self
    }

    /// Adds a closure that fills log π and its gradient for every state.
    ///
    /// The gradient has the layout of the differences: with two values, one number per site, the
    /// derivative by the value itself; with more, plane j holds the derivatives by the indicator
    /// of value j. First-order differences are made from it.
    pub fn with_gradient(
        mut self,
        gradient: impl Fn(States<'_>, &mut [f64], &mut [f32]) -> Result<(), ModelError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.gradient = Some(Box::new(gradient));
        self
    }

    /// Adds a closure that draws the state a chain starts from.
    pub fn with_initial_state(
        mut self,
        initial_state: impl Fn(&mut ChainRng, &mut [u8]) + Send + Sync + 'static,
    ) -> Self {
        self.initial_state = Some(Box::new(initial_state));
        self
    }

    /// Asks for blocks of that many chains per call instead of one.
    pub fn with_block_size(mut self, chains: usize) -> Self {
        self.block_size = chains.max(1);
        self
    }

    /// Differences by trying out every value of every site, `TRIALS` changed states per call.
    fn try_all(
        &self,
        states: States<'_>,
        cache: &mut CallableCache,
        log_prob: &[f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        let sites = self.space.sites();
        for ((state, here), diff) in
            states.rows().zip(log_prob).zip(diff.chunks_exact_mut(self.space.diff_len()))
        {
            diff.fill(0.0);
            cache.clear();
            for site in 0..sites {
                for value in 0..self.space.values_at(site) as u16 {
                    let value = value as u8;
                    if value == state[site] {
                        continue;
                    }
                    let plane = if self.space.is_binary() { 0 } else { value };
                    cache.push(state, site, value, usize::from(plane) * sites + site);
                    if cache.targets.len() == TRIALS {
                        self.run_trials(cache, *here, diff)?;
                    }
                }
            }
            self.run_trials(cache, *here, diff)?;
        }
        Ok(())
    }

    /// Evaluates the states collected in the cache and files their differences.
    fn run_trials(
        &self,
        cache: &mut CallableCache,
        here: f64,
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        if !cache.targets.is_empty() {
            self.evaluate(cache)?;
            for (target, there) in cache.targets.iter().zip(&cache.log_prob) {
                diff[*target] = (there - here) as f32;
            }
        }
        cache.clear();
        Ok(())
    }

    fn evaluate(&self, cache: &mut CallableCache) -> Result<(), ModelError> {
        cache.log_prob.clear();
        cache.log_prob.resize(cache.targets.len(), 0.0);
        (self.log_prob)(States::new(&cache.states, self.space.sites()), &mut cache.log_prob)
    }

    /// Turns a gradient into first-order differences, in place.
    fn differences_of_gradient(&self, state: &[u8], table: &mut [f32]) {
        if self.space.is_binary() {
            for (entry, value) in table.iter_mut().zip(state) {
                *entry *= 1.0 - 2.0 * f32::from(*value);
            }
            return;
        }
        let sites = self.space.sites();
        for (site, value) in state.iter().enumerate() {
            let here = table[usize::from(*value) * sites + site];
            for plane in table.chunks_exact_mut(sites) {
                plane[site] -= here;
            }
        }
    }
}

impl std::fmt::Debug for Callable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Callable").field("space", &self.space).finish_non_exhaustive()
    }
}

impl CallableCache {
    fn clear(&mut self) {
        self.states.clear();
        self.targets.clear();
    }

    /// Collects a state with one site changed.
    fn push(&mut self, state: &[u8], site: usize, value: u8, target: usize) {
        let start = self.states.len();
        self.states.extend_from_slice(state);
        self.states[start + site] = value;
        self.targets.push(target);
    }
}

impl Model for Callable {
    type Cache = CallableCache;

    fn space(&self) -> &Space {
        &self.space
    }

    fn new_cache(&self, _chains: usize) -> CallableCache {
        CallableCache::default()
    }

    fn log_prob(
        &self,
        states: States<'_>,
        _cache: &mut CallableCache,
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        (self.log_prob)(states, log_prob)
    }

    fn log_prob_and_diff(
        &self,
        kind: Differences,
        states: States<'_>,
        cache: &mut CallableCache,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        match (kind, &self.gradient, &self.differences) {
            (Differences::Taylor, Some(gradient), _) => {
                gradient(states, log_prob, diff)?;
                for (state, table) in
                    states.rows().zip(diff.chunks_exact_mut(self.space.diff_len()))
                {
                    self.differences_of_gradient(state, table);
                }
                Ok(())
            }
            (_, _, Some(differences)) => differences(states, log_prob, diff),
            _ => {
                (self.log_prob)(states, log_prob)?;
                self.try_all(states, cache, log_prob, diff)
            }
        }
    }

    fn site_diff(
        &self,
        state: &[u8],
        _chain: usize,
        cache: &mut CallableCache,
        site: usize,
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        cache.clear();
        for value in 0..diff.len() {
            cache.push(state, site, value as u8, value);
        }
        self.evaluate(cache)?;
        let here = cache.log_prob[usize::from(state[site])];
        for (value, (diff, there)) in diff.iter_mut().zip(&cache.log_prob).enumerate() {
            // Not there − here at the current value: both may be infinite.
            *diff = if value == usize::from(state[site]) { 0.0 } else { there - here };
        }
        Ok(())
    }

    fn initial_state(&self, rng: &mut ChainRng, state: &mut [u8]) {
        match &self.initial_state {
            Some(initial_state) => initial_state(rng, state),
            None => {
                for (site, value) in state.iter_mut().enumerate() {
                    *value = rng.below(self.space.values_at(site)) as u8;
                }
            }
        }
    }

    fn block_size(&self, _chains: usize) -> usize {
        self.block_size
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// log π = a quadratic form of the values, the same for two and for more values.
    fn quadratic(state: &[u8]) -> f64 {
        let sum: f64 = state
            .iter()
            .enumerate()
            .map(|(site, value)| (site as f64 + 1.0) * f64::from(*value))
            .sum();
        0.1 * sum - 0.01 * sum * sum
    }

    fn fill(states: States<'_>, log_prob: &mut [f64]) {
        for (state, log_prob) in states.rows().zip(log_prob) {
            *log_prob = quadratic(state);
        }
    }

    #[test]
    fn trials_are_batched() {
        let calls = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&calls);
        let model = Callable::new(Space::new(50, 3).unwrap(), move |states, log_prob| {
            counter.fetch_add(1, Ordering::Relaxed);
            fill(states, log_prob);
            Ok(())
        });
        let state = vec![1; 50];
        let mut diff = vec![f32::NAN; 150];
        model
            .log_prob_and_diff(
                Differences::Exact,
                States::new(&state, 50),
                &mut model.new_cache(1),
                &mut [0.0],
                &mut diff,
            )
            .unwrap();
        // One call for the state, and 100 changed states in batches of 64.
        assert_eq!(calls.load(Ordering::Relaxed), 3);
        assert_eq!(diff[50..100], [0.0; 50]);
        let mut changed = state.clone();
        changed[49] = 2;
        assert_eq!(diff[149], (quadratic(&changed) - quadratic(&state)) as f32);
    }

    #[test]
    fn a_gradient_gives_first_order_differences() {
        // ∂/∂xₙ of the quadratic form, by hand.
        let slope = |sum: f64, site: usize| (0.1 - 0.02 * sum) * (site as f64 + 1.0);
        let binary = Callable::new(Space::new(3, 2).unwrap(), |states, log_prob| {
            fill(states, log_prob);
            Ok(())
        })
        .with_gradient(move |states, log_prob, gradient| {
            fill(states, log_prob);
            for (site, gradient) in gradient.iter_mut().enumerate() {
                *gradient = slope(4.0, site % 3) as f32;
            }
            Ok(())
        });
        let (mut log_prob, mut diff) = ([0.0], [0.0; 3]);
        let state = [1, 0, 1]; // 1 + 3 = 4
        binary
            .log_prob_and_diff(
                Differences::Taylor,
                States::new(&state, 3),
                &mut binary.new_cache(1),
                &mut log_prob,
                &mut diff,
            )
            .unwrap();
        for (found, expected) in diff.iter().zip([-0.02, 0.04, -0.06]) {
            assert!((found - expected).abs() < 1e-6);
        }
        assert!((log_prob[0] - 0.24).abs() < 1e-12);

        let potts = Callable::new(Space::new(1, 3).unwrap(), |_, log_prob| {
            log_prob.fill(0.0);
            Ok(())
        })
        .with_gradient(|_, _, gradient| {
            gradient.copy_from_slice(&[1.0, 5.0, 7.0]);
            Ok(())
        });
        potts
            .log_prob_and_diff(
                Differences::Taylor,
                States::new(&[1], 1),
                &mut potts.new_cache(1),
                &mut log_prob,
                &mut diff,
            )
            .unwrap();
        assert_eq!(diff, [-4.0, 0.0, 2.0]);
    }

    #[test]
    fn a_failure_reaches_the_caller() {
        let model = Callable::new(Space::new(2, 2).unwrap(), |states, _| {
            Err(ModelError::Evaluation(format!("no value at {:?}", states.row(0))))
        });
        let failure = model.follow(&[0, 1], 0, &mut model.new_cache(1)).unwrap_err();
        assert_eq!(failure.to_string(), "the model could not be evaluated: no value at [0, 1]");
    }

    #[test]
    fn the_start_and_the_block_are_what_was_asked_for() {
        let model = Callable::new(Space::new(2, 4).unwrap(), |_, _| Ok(()))
            .with_initial_state(|_, state| state.fill(3))
            .with_block_size(20);
        let mut state = [0; 2];
        model.initial_state(&mut ChainRng::new(0, crate::rng::Stream::Chain(0)), &mut state);
        assert_eq!(state, [3, 3]);
        assert_eq!(model.block_size(100), 20);
    }
}
