//! Dictated random decisions: runs the same code through every sequence of decisions it can take,
//! with the probability of each, so that tests see its exact law instead of samples of it.

use super::{ChainRng, Stream};

/// The decisions of one run: those to repeat, and how likely all taken so far were.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    decisions: Vec<Decision>,
    taken: usize,
    probability: f64,
}

#[derive(Clone, Debug)]
struct Decision {
    chosen: usize,
    probabilities: Vec<f64>,
}

impl Script {
    pub(super) fn choose(&mut self, weights: &[f64]) -> usize {
        if self.taken == self.decisions.len() {
            let total: f64 = weights.iter().sum();
            assert!(total.is_finite() && total > 0.0, "weights {weights:?}");
            let probabilities: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
            let chosen = probabilities.iter().position(|p| *p > 0.0).expect("a possible choice");
            self.decisions.push(Decision { chosen, probabilities });
        }
        let decision = &self.decisions[self.taken];
        self.taken += 1;
        self.probability *= decision.probabilities[decision.chosen];
        decision.chosen
    }

    /// Turns to the next sequence of decisions; false when all have been taken.
    fn next(&mut self) -> bool {
        while let Some(last) = self.decisions.last_mut() {
            let rest = last.probabilities[last.chosen + 1..].iter().position(|p| *p > 0.0);
            if let Some(ahead) = rest {
                last.chosen += 1 + ahead;
                return true;
            }
            self.decisions.pop();
        }
        false
    }
}

impl ChainRng {
    pub(crate) fn is_scripted(&self) -> bool {
        self.script.is_some()
    }
}

/// Calls `run` once for every sequence of decisions it can take and passes each result, with its
/// probability, to `visit`.
pub(crate) fn enumerate<T>(mut run: impl FnMut(&mut ChainRng) -> T, mut visit: impl FnMut(T, f64)) {
    let mut rng = ChainRng::new(0, Stream::Chain(0));
    let mut script = Script::default();
    loop {
        script.taken = 0;
        script.probability = 1.0;
        rng.script = Some(script);
        let result = run(&mut rng);
        script = rng.script.take().expect("the script comes back");
        assert_eq!(script.taken, script.decisions.len(), "a replay took another turn");
        visit(result, script.probability);
        if !script.next() {
            return;
        }
    }
}

#[test]
fn all_sequences_are_visited_with_their_probabilities() {
    let mut seen = Vec::new();
    enumerate(
        |rng| {
            let first = rng.below(3);
            if first == 1 { 10 + rng.index(&[1.0, 0.0, 3.0], 4.0) } else { first }
        },
        |result, probability| seen.push((result, probability)),
    );
    let third = 1.0 / 3.0;
    assert_eq!(seen, [(0, third), (10, third * 0.25), (12, third * 0.75), (2, third)]);
}
