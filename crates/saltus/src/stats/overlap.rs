//! Whether chains have forgotten their start: the overlap of a chain with itself after a while,
//! against that after half the while, and against that of two chains.
//!
//! The overlap of two states is the share of sites at which they agree. Chains that have forgotten
//! are as far from their own past as from each other, however far back one looks. Chains that are
//! slow are closer to their near past; chains in different modes are closer to all of their past
//! than to each other.

use super::moments;
use crate::math::bytes::count_differences;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Mean overlaps of states of the same chains, and what follows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overlap {
    /// The longer distance in draws; the shorter is half of it.
    pub lag: usize,
    /// Mean overlap of states of one chain that far apart.
    pub at_lag: f64,
    /// Mean overlap of states of one chain half as far apart.
    pub at_half_lag: f64,
    /// Mean overlap of states of different chains; none if there is only one.
    pub between_chains: Option<f64>,
    /// What the three say.
    pub memory: Memory,
}

/// What chains remember of their start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Memory {
    /// Nothing that could be seen.
    Forgotten,
    /// They still move away from where they were: more draws will help.
    Fading,
    /// They moved as far from their past as they will, and that is nearer than other chains are:
    /// they live in different modes.
    Kept,
    /// Too few chains to tell chance from memory.
    Unknown,
}

/// Smaller differences of overlaps are of no interest, however significant.
const NOTICEABLE: f64 = 0.01;
/// Probability of a false alarm.
const CHANCE: f64 = 1e-4;
/// Chains on either side that a chain is compared with.
const NEIGHBOURS: usize = 16;
/// A chain on its way gets farther in twice the time by more than this factor.
const SETTLED: f64 = 1.25;
/// Probability of calling chains slow that are in different modes: something is said of either.
const OF_LITTLE_WEIGHT: f64 = 0.05;
/// Fewer chains do not tell how much overlaps vary.
const FEWEST_CHAINS: usize = 4;

impl Overlap {
    /// Of states that each chain passed at the same, evenly spaced draws, `spacing` apart.
    ///
    /// `None` if there are fewer than three states of each chain, or not equally many.
    ///
    /// ```
    /// use saltus::stats::{Memory, Overlap};
    /// // Four chains, each of its own opinion.
    /// let chains: Vec<Vec<Vec<u8>>> = (0..4).map(|chain| vec![vec![chain; 10]; 5]).collect();
    /// let overlap = Overlap::new(&chains, 100).unwrap();
    /// assert_eq!((overlap.lag, overlap.at_lag), (200, 1.0));
    /// assert_eq!(overlap.between_chains, Some(0.0));
    /// assert_eq!(overlap.memory, Memory::Kept);
    /// ```
    pub fn new<S: AsRef<[u8]>>(chains: &[Vec<S>], spacing: usize) -> Option<Self> {
        let states = chains.first()?.len();
        if states < 3 || chains.iter().any(|chain| chain.len() != states) {
            return None;
        }
        // The longest even distance of which at least a third of the states have a partner, or
        // two where there are few states.
        let far = (2 * states / 3).max(2) / 2 * 2;
        let within = |chain: &Vec<S>, distance: usize| {
            mean((distance..states).map(|at| overlap(&chain[at - distance], &chain[at])))
        };
        let at_lag: Vec<f64> = chains.iter().map(|chain| within(chain, far)).collect();
        let at_half: Vec<f64> = chains.iter().map(|chain| within(chain, far / 2)).collect();
        let between = between(chains);
        let memory = if chains.len() < FEWEST_CHAINS {
            Memory::Unknown
        } else if clearly_larger(&at_half, &at_lag) {
            Memory::Fading
        } else if clearly_larger(&at_lag, &between) {
            // What still moves away at a steady pace is slow, however little it is.
            if is_settled(&at_half, &at_lag) { Memory::Kept } else { Memory::Fading }
        } else {
            Memory::Forgotten
        };
        Some(Self {
            lag: far * spacing,
            at_lag: moments(&at_lag).0,
            at_half_lag: moments(&at_half).0,
            between_chains: (!between.is_empty()).then(|| moments(&between).0),
            memory,
        })
    }
}

/// Whether chains were as far away after half the time as after all of it, but for chance.
fn is_settled(at_half: &[f64], at_lag: &[f64]) -> bool {
    let away = |overlaps: &[f64]| 1.0 - moments(overlaps).0;
    let steps: Vec<f64> = at_half.iter().zip(at_lag).map(|(half, lag)| half - lag).collect();
    let (step, variance) = moments(&steps);
    let moves_on = step > 0.0 && exceeds_chance(step, variance, steps.len(), OF_LITTLE_WEIGHT);
    !moves_on || away(at_lag) <= SETTLED * away(at_half)
}

/// The mean overlap of every chain with the others, or with some of its neighbours where there are
/// many chains; empty for a single one.
fn between<S: AsRef<[u8]>>(chains: &[Vec<S>]) -> Vec<f64> {
    let count = chains.len();
    let mut sums = vec![0.0; count];
    let mut partners = vec![0u32; count];
    for distance in 1..=(count / 2).min(NEIGHBOURS) {
        // Opposite chains of an even ring would meet twice.
        let pairs = if 2 * distance == count { distance } else { count };
        for one in 0..pairs {
            let other = (one + distance) % count;
            let states = chains[one].iter().zip(&chains[other]);
            let shared = mean(states.map(|(one, other)| overlap(one, other)));
            for chain in [one, other] {
                sums[chain] += shared;
                partners[chain] += 1;
            }
        }
    }
    let means = sums.iter().zip(partners).filter(|(_, partners)| *partners > 0);
    means.map(|(sum, partners)| sum / f64::from(partners)).collect()
}

/// Share of sites at which two states agree.
fn overlap(one: &impl AsRef<[u8]>, other: &impl AsRef<[u8]>) -> f64 {
    let (one, other) = (one.as_ref(), other.as_ref());
    1.0 - f64::from(count_differences(one, other)) / one.len().max(1) as f64
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len();
    values.sum::<f64>() / count as f64
}

/// Whether one number per chain is larger than another by more than chance and at all worth
/// mentioning: a t-test of the differences.
fn clearly_larger(one: &[f64], other: &[f64]) -> bool {
    let differences: Vec<f64> = one.iter().zip(other).map(|(one, other)| one - other).collect();
    let (mean, variance) = moments(&differences);
    mean > NOTICEABLE && exceeds_chance(mean, variance, differences.len(), CHANCE)
}

/// Whether a mean of `count` independent numbers of that sample variance lies so far from 0 that
/// chance would bring it there less often than with probability `chance`.
pub(crate) fn exceeds_chance(mean: f64, variance: f64, count: usize, chance: f64) -> bool {
    let Ok(law) = StudentsT::new(0.0, 1.0, count.saturating_sub(1) as f64) else {
        return false;
    };
    let t = mean.abs() / (variance / count as f64).sqrt();
    // Differences that are all equal leave nothing to chance.
    t == f64::INFINITY || (t.is_finite() && 2.0 * law.sf(t) < chance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{ChainRng, Stream};

    /// Chains of random states in which each site is drawn anew with some probability per state,
    /// started equal to a pattern of the chain's own.
    fn chains(count: usize, states: usize, renewal: f64, seed: u64) -> Vec<Vec<Vec<u8>>> {
        let mut rng = ChainRng::new(seed, Stream::Chain(0));
        (0..count)
            .map(|_| {
                let mut state: Vec<u8> = (0..400).map(|_| rng.below(2) as u8).collect();
                (0..states)
                    .map(|_| {
                        for site in &mut state {
                            if rng.uniform() < renewal {
                                *site = rng.below(2) as u8;
                            }
                        }
                        state.clone()
                    })
                    .collect()
            })
            .collect()
    }

    #[test]
    fn independent_states_are_forgotten() {
        let mut alarms = 0;
        for seed in 0..300 {
            let overlap = Overlap::new(&chains(4 + seed as usize % 7, 6, 1.0, seed), 10).unwrap();
            assert!((overlap.at_lag - 0.5).abs() < 0.1);
            alarms += usize::from(overlap.memory != Memory::Forgotten);
        }
        assert_eq!(alarms, 0);
    }

    #[test]
    fn slow_chains_are_fading_with_the_known_overlap() {
        // Half of the sites are renewed between two states: overlap ½ + ½·½^distance.
        let overlap = Overlap::new(&chains(40, 8, 0.5, 1), 10).unwrap();
        assert_eq!(overlap.lag, 40);
        assert!((overlap.at_lag - (0.5 + 0.5f64.powi(5))).abs() < 0.01, "{overlap:?}");
        assert!((overlap.at_half_lag - (0.5 + 0.5f64.powi(3))).abs() < 0.01, "{overlap:?}");
        assert!((overlap.between_chains.unwrap() - 0.5).abs() < 0.01);
        assert_eq!(overlap.memory, Memory::Fading);
    }

    #[test]
    fn modes_are_kept() {
        let mut chains = chains(6, 6, 1.0, 2);
        for (number, chain) in chains.iter_mut().enumerate() {
            for state in chain {
                state[..200].fill((number % 2) as u8);
            }
        }
        let overlap = Overlap::new(&chains, 1).unwrap();
        assert_eq!(overlap.memory, Memory::Kept);
        // Of five others, three are in the other mode: ½·(½ + 2/5).
        assert!((overlap.between_chains.unwrap() - 0.45).abs() < 0.02, "{overlap:?}");
    }

    #[test]
    fn slow_chains_are_in_no_modes() {
        // A hundredth of the sites is renewed between two states: less than is noticeable.
        let overlap = Overlap::new(&chains(30, 4, 0.004, 5), 1).unwrap();
        assert!(overlap.at_half_lag - overlap.at_lag < 0.01, "{overlap:?}");
        assert_eq!(overlap.memory, Memory::Fading);
    }

    #[test]
    fn few_states_or_chains_say_little() {
        assert_eq!(Overlap::new(&chains(4, 2, 1.0, 3), 1), None);
        let none: [Vec<Vec<u8>>; 0] = [];
        assert_eq!(Overlap::new(&none, 1), None);
        let one = Overlap::new(&chains(1, 3, 1.0, 4), 5).unwrap();
        assert_eq!((one.lag, one.between_chains, one.memory), (10, None, Memory::Unknown));
    }
}
