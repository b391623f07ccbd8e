//! Holds back chains that are stuck while the others warm up.
//!
//! One scale is tuned for all chains, from their mean acceptance. A chain that comes to a place where steps of
//! that scale are never accepted would stay there for ever, and the mean would not show it: from a random start
//! on a cold lattice many sites want to flip, and a step that flips them all overshoots. Such a chain takes ever
//! smaller steps until it moves, and larger ones again as long as it does. Nobody is held back once draws are
//! kept.

use serde::{Deserialize, Serialize};

/// Steps without a change after which a chain is held back.
const PATIENCE: usize = 20;
/// By what log(scale) grows after a round in which a chain moved: more slowly than it fell, for one that was
/// stuck is rarely through at once.
const RELEASE: f64 = 0.5;
/// The smallest factor of a scale, as a logarithm.
const SMALLEST_LOG: f64 = -20.0;
/// No step size is smaller.
const SMALLEST_SCALE: f64 = 1e-9;

/// How a chain is held back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Restraint {
    /// Steps since it last moved.
    still: usize,
    /// By what it takes smaller steps than the others, as a logarithm.
    log_factor: f64,
}

impl Restraint {
    /// Whether the chain takes the same steps as all that are free.
    pub(super) fn is_free(self) -> bool {
        self.log_factor == 0.0
    }

    /// Its scale, where others have this one.
    pub(super) fn scale(self, of_others: f64) -> f64 {
        (of_others * self.log_factor.exp()).max(SMALLEST_SCALE.min(of_others))
    }

    /// After a round of so many steps in which something changed, or nothing.
    pub(super) fn end_round(&mut self, steps: usize, moved: bool) {
        if moved {
            self.still = 0;
            self.log_factor = (self.log_factor + RELEASE).min(0.0);
            return;
        }
        self.still += steps;
        if self.still >= PATIENCE {
            self.log_factor = (self.log_factor - 1.0).max(SMALLEST_LOG);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_that_stands_still_is_held_back_until_it_moves() {
        let mut restraint = Restraint::default();
        // A step that changes nothing says little.
        restraint.end_round(1, false);
        assert!(restraint.is_free());
        restraint.end_round(30, false);
        restraint.end_round(30, false);
        assert!((restraint.scale(0.5) - 0.5 * (-2f64).exp()).abs() < 1e-15);
        (0..3).for_each(|_| restraint.end_round(30, true));
        assert!(!restraint.is_free());
        restraint.end_round(30, true);
        assert!(restraint.is_free());
        assert_eq!(restraint.scale(0.5), 0.5);
        (0..100).for_each(|_| restraint.end_round(30, false));
        assert_eq!(restraint.scale(1e-8), SMALLEST_SCALE);
        assert_eq!(restraint.scale(1e-10), 1e-10);
    }
}
