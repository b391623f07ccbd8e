//! Numbers that are taken from every kept state.

use crate::math::bytes::{count_differences, count_nonzero};

/// A number that is taken from every kept state. Every closure `Fn(&[u8]) -> f64` is one.
pub trait Observable: Send + Sync {
    /// Its value at a state.
    fn value(&self, state: &[u8]) -> f64;

    /// The same as a count, if it is one: where few sites change, a count is followed instead of
    /// being taken from the whole state.
    fn as_count(&self) -> Option<&dyn Count> {
        None
    }
}

/// An observable that depends on the state through a sum of whole numbers over sites.
pub trait Count: Send + Sync {
    /// The sum at a state.
    fn count(&self, state: &[u8]) -> i64;

    /// By how much it changes when a site takes another value.
    fn change(&self, site: usize, from: u8, to: u8) -> i64;

    /// The observable, from the sum.
    fn value_of(&self, count: i64) -> f64;
}

impl<F: Fn(&[u8]) -> f64 + Send + Sync> Observable for F {
    fn value(&self, state: &[u8]) -> f64 {
        self(state)
    }
}

impl Observable for Box<dyn Observable + '_> {
    fn value(&self, state: &[u8]) -> f64 {
        (**self).value(state)
    }

    fn as_count(&self) -> Option<&dyn Count> {
        (**self).as_count()
    }
}

/// Number of sites that differ from a state.
#[derive(Clone, Debug)]
pub struct Hamming(pub Vec<u8>);

impl Observable for Hamming {
    fn value(&self, state: &[u8]) -> f64 {
        f64::from(count_differences(state, &self.0))
    }

    fn as_count(&self) -> Option<&dyn Count> {
        Some(self)
    }
}

impl Count for Hamming {
    fn count(&self, state: &[u8]) -> i64 {
        i64::from(count_differences(state, &self.0))
    }

    fn change(&self, site: usize, from: u8, to: u8) -> i64 {
        i64::from(to != self.0[site]) - i64::from(from != self.0[site])
    }

    fn value_of(&self, count: i64) -> f64 {
        count as f64
    }
}

/// Mean of the spins of a state of two values, which stand for −1 and 1.
#[derive(Clone, Copy, Debug)]
pub struct Magnetisation {
    /// Number of sites.
    pub sites: usize,
}

impl Observable for Magnetisation {
    fn value(&self, state: &[u8]) -> f64 {
        self.value_of(self.count(state))
    }

    fn as_count(&self) -> Option<&dyn Count> {
        Some(self)
    }
}

impl Count for Magnetisation {
    fn count(&self, state: &[u8]) -> i64 {
        i64::from(count_nonzero(state))
    }

    fn change(&self, _site: usize, from: u8, to: u8) -> i64 {
        i64::from(to != 0) - i64::from(from != 0)
    }

    fn value_of(&self, count: i64) -> f64 {
        2.0 * count as f64 / self.sites as f64 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_are_followed_are_those_of_the_states() {
        let reference = Hamming(vec![0, 1, 2, 0]);
        let spins = Magnetisation { sites: 4 };
        let mut state = vec![0u8, 0, 0, 0];
        let mut counts = [reference.count(&state), spins.count(&state)];
        for (site, to) in [(1, 1u8), (2, 1), (2, 2), (0, 1), (1, 0), (3, 0)] {
            let from = std::mem::replace(&mut state[site], to);
            counts[0] += reference.change(site, from, to);
            counts[1] += spins.change(site, from, to);
            assert_eq!(counts, [reference.count(&state), spins.count(&state)]);
            assert_eq!(reference.value(&state), reference.value_of(counts[0]));
            assert_eq!(spins.value(&state), spins.value_of(counts[1]));
        }
    }
}
