//! The inverse temperatures of annealing, and what is done at each of them in either direction.

use serde::{Deserialize, Serialize};

/// Where chains go: from independent sites to the model, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// From draws of the independent sites to the model.
    Forward,
    /// From draws of the model to the independent sites.
    Reverse,
}

impl std::fmt::Display for Direction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
        })
    }
}

/// Inverse temperatures from 0 to 1 in equal steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ladder {
    /// The number of steps, one less than that of temperatures.
    steps: usize,
}

/// What is done at one temperature: chains are weighed where they stand, then moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Visit {
    /// The inverse temperature of the move, never 0.
    pub(super) beta: f64,
    /// A chain's weight gains log f at `to` minus log f at `from`, both at its present state.
    pub(super) from: f64,
    pub(super) to: f64,
    /// Whether the chains move after that.
    pub(super) moves: bool,
}

impl Ladder {
    /// A ladder of at least two temperatures.
    pub(super) fn new(temperatures: usize) -> Self {
        Self { steps: temperatures - 1 }
    }

    fn beta(self, step: usize) -> f64 {
        step as f64 / self.steps as f64
    }

    /// Number of visits in a direction.
    pub(super) fn visits(self, direction: Direction) -> usize {
        match direction {
            Direction::Forward => self.steps,
            Direction::Reverse => self.steps + 1,
        }
    }

    /// The visit of that number.
    ///
    /// Forward, a chain is weighed on its way to a temperature and then moves there. In reverse it
    /// moves first: so it is weighed after the move, when it comes to the next temperature, and at
    /// last without another move. Either way the weight is that of going from independent sites to the
    /// model.
    pub(super) fn visit(self, direction: Direction, number: usize) -> Visit {
        match direction {
            Direction::Forward => {
                let (from, to) = (self.beta(number), self.beta(number + 1));
                Visit { beta: to, from, to, moves: true }
            }
            Direction::Reverse => {
                let from = self.steps - number;
                let (from, to) = (self.beta(from), self.beta((from + 1).min(self.steps)));
                match number {
                    // Independent sites need no sampler.
                    number if number == self.steps => Visit { beta: to, from, to, moves: false },
                    _ => Visit { beta: from, from, to, moves: true },
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_weigh_every_step_once_and_move_between() {
        let ladder = Ladder::new(3);
        let visits = |direction| -> Vec<Visit> {
            (0..ladder.visits(direction)).map(|number| ladder.visit(direction, number)).collect()
        };
        let visit = |beta, from, to, moves| Visit { beta, from, to, moves };
        assert_eq!(
            visits(Direction::Forward),
            [visit(0.5, 0.0, 0.5, true), visit(1.0, 0.5, 1.0, true)]
        );
        assert_eq!(
            visits(Direction::Reverse),
            [visit(1.0, 1.0, 1.0, true), visit(0.5, 0.5, 1.0, true), visit(0.5, 0.0, 0.5, false)]
        );
        for temperatures in [2, 7] {
            let ladder = Ladder::new(temperatures);
            for direction in [Direction::Forward, Direction::Reverse] {
                let visits = (0..ladder.visits(direction)).map(|n| ladder.visit(direction, n));
                let gained: f64 = visits.clone().map(|visit| visit.to - visit.from).sum();
                assert!((gained - 1.0).abs() < 1e-12);
                assert!(visits.clone().all(|visit| visit.beta > 0.0));
                let moves = visits.filter(|visit| visit.moves).count();
                assert_eq!(moves, temperatures - 1);
            }
        }
    }
}
