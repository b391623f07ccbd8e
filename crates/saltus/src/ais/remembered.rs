//! What a model said of a block of states lately, so that it is not asked again when only the
//! temperature has changed.

use crate::model::Differences;
use crate::space::States;

/// Two answers: of where the chains stand, and of where they were to go.
pub(super) struct Remembered {
    kind: Option<Differences>,
    said: [Said; 2],
    /// The answer that was used last.
    last: usize,
}

#[derive(Default)]
struct Said {
    states: Vec<u8>,
    log_prob: Vec<f64>,
    diff: Vec<f32>,
}

impl Remembered {
    /// Nothing yet.
    pub(super) fn nothing() -> Self {
        Self { kind: None, said: Default::default(), last: 1 }
    }

    /// Keeps an answer in the place of the older one.
    pub(super) fn keep(
        &mut self,
        kind: Differences,
        states: States<'_>,
        log_prob: &[f64],
        diff: &[f32],
    ) {
        if self.kind != Some(kind) {
            *self = Self { kind: Some(kind), ..Self::nothing() };
        }
        self.last = 1 - self.last;
        let Said { states: kept, log_prob: kept_log_prob, diff: kept_diff } =
            &mut self.said[self.last];
        kept.clear();
        states.rows().for_each(|row| kept.extend_from_slice(row));
        kept_log_prob.clear();
        kept_log_prob.extend_from_slice(log_prob);
        kept_diff.clear();
        kept_diff.extend_from_slice(diff);
    }

    /// Gives the answer for these states, if it is known for all of them, and makes it the first.
    pub(super) fn recall(
        &mut self,
        kind: Differences,
        states: States<'_>,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> bool {
        let [first, second] = &mut self.said;
        let (sites, table) = (states.sites(), diff.len() / states.chains());
        let whole = first.states.len() == states.chains() * sites;
        if self.kind != Some(kind) || !whole {
            return false;
        }
        let known = |chain: usize, said: &Said| {
            let row = said.states.get(chain * sites..(chain + 1) * sites);
            row == Some(states.row(chain))
        };
        if !(0..states.chains()).all(|chain| known(chain, first) || known(chain, second)) {
            return false;
        }
        for chain in 0..states.chains() {
            if !known(chain, first) {
                let (row, table) =
                    (chain * sites..(chain + 1) * sites, chain * table..(chain + 1) * table);
                first.states[row.clone()].copy_from_slice(&second.states[row]);
                first.log_prob[chain] = second.log_prob[chain];
                first.diff[table.clone()].copy_from_slice(&second.diff[table]);
            }
        }
        log_prob.copy_from_slice(&first.log_prob);
        diff.copy_from_slice(&first.diff);
        self.last = 0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Differences = Differences::Taylor;

    /// Two chains of two sites, whose answers are made of the states.
    fn answer(states: [u8; 4]) -> ([f64; 2], [f32; 4]) {
        let [a, b, c, d] = states;
        let log_prob = [a + 10 * b, c + 10 * d].map(f64::from);
        (log_prob, states.map(|value| f32::from(value) + 0.5))
    }

    fn recalled(memory: &mut Remembered, states: [u8; 4]) -> Option<([f64; 2], [f32; 4])> {
        let (mut log_prob, mut diff) = ([0.0; 2], [0.0; 4]);
        let found = memory.recall(KIND, States::new(&states, 2), &mut log_prob, &mut diff);
        found.then_some((log_prob, diff))
    }

    fn keep(memory: &mut Remembered, states: [u8; 4]) {
        let (log_prob, diff) = answer(states);
        memory.keep(KIND, States::new(&states, 2), &log_prob, &diff);
    }

    #[test]
    fn chains_that_went_and_chains_that_stayed_are_known() {
        let mut memory = Remembered::nothing();
        assert_eq!(recalled(&mut memory, [1, 2, 3, 4]), None);
        keep(&mut memory, [1, 2, 3, 4]);
        keep(&mut memory, [5, 6, 7, 8]);
        // The first went, the second stayed.
        assert_eq!(recalled(&mut memory, [5, 6, 3, 4]), Some(answer([5, 6, 3, 4])));
        // What comes next does not take its place.
        keep(&mut memory, [9, 9, 9, 9]);
        assert_eq!(recalled(&mut memory, [1, 2, 3, 4]), None);
        assert_eq!(recalled(&mut memory, [5, 6, 9, 9]), Some(answer([5, 6, 9, 9])));
        let (mut log_prob, mut diff) = ([0.0; 2], [0.0; 4]);
        let states = States::new(&[5, 6, 9, 9], 2);
        assert!(!memory.recall(Differences::Exact, states, &mut log_prob, &mut diff));
    }
}
