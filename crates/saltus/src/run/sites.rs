//! What is remembered of every site while a chain draws: whether it changed, the sum of its values,
//! and a few whole states, in memory that does not grow with the draws.

use crate::math::vectorised;
use crate::stats::Overlap;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;

/// The sites of one chain, over its kept draws.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SiteRecord {
    draws: usize,
    first: Vec<u8>,
    /// Not zero where the site ever differed from the first draw.
    changed: Vec<u8>,
    /// Exact up to 16 million draws, of two values up to four billion.
    sums: Vec<u32>,
    /// Values of the latest draws, not yet in the sums: bytes are added many at a time.
    pending: Vec<u8>,
    /// Draws that can be added to the pending ones before a byte could overflow.
    room: usize,
    /// States at every so many draws.
    passed: Vec<Vec<u8>>,
    spacing: usize,
}

/// With more states every other one is dropped.
const MOST_PASSED: usize = 9;

impl SiteRecord {
    /// Takes in the next draw.
    pub(crate) fn take(&mut self, state: &[u8], values: usize) {
        if self.draws == 0 {
            let sites = state.len();
            self.first = state.to_vec();
            self.changed = vec![0; sites];
            self.sums = vec![0; sites];
            self.pending = vec![0; sites];
            self.spacing = 1;
        }
        if self.room == 0 {
            self.flush();
            self.room = 255 / (values - 1);
        }
        let sites = state.len();
        let (first, changed) = (&self.first[..sites], &mut self.changed[..sites]);
        let pending = &mut self.pending[..sites];
        vectorised(
            #[inline(always)]
            || {
                for site in 0..sites {
                    changed[site] |= state[site] ^ first[site];
                    pending[site] += state[site];
                }
            },
        );
        self.room -= 1;
        self.draws += 1;
        if self.draws.is_multiple_of(self.spacing) {
            if self.passed.len() == MOST_PASSED {
                // What stays are the multiples of twice the distance; the present draw is one.
                let mut number = 0;
                self.passed.retain(|_| {
                    number += 1;
                    number % 2 == 0
                });
                self.spacing *= 2;
            }
            self.passed.push(state.to_vec());
        }
    }

    /// Whether it could be that of a chain of so many sites.
    pub(crate) fn is_sound(&self, sites: usize) -> bool {
        let sites = if self.draws == 0 { 0 } else { sites };
        let lengths = [self.first.len(), self.changed.len(), self.sums.len(), self.pending.len()];
        lengths == [sites; 4]
            && (self.draws == 0 || self.spacing > 0)
            && self.passed.iter().all(|state| state.len() == sites)
    }

    fn flush(&mut self) {
        for (sum, pending) in self.sums.iter_mut().zip(&mut self.pending) {
            *sum = sum.saturating_add(u32::from(std::mem::take(pending)));
        }
    }

    /// Sum of the values of a site over all draws.
    fn sum(&self, site: usize) -> u64 {
        u64::from(self.sums[site]) + u64::from(self.pending[site])
    }
}

/// What the sites did over the kept draws of all chains.
#[derive(Clone, Debug, PartialEq)]
pub struct Sites {
    /// How many moved.
    pub counts: SiteCounts,
    /// Whether the chains forgot their start; none if there are too few draws.
    pub overlap: Option<Overlap>,
    /// The mean value of every site.
    pub means: Vec<f64>,
}

/// How many sites did what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteCounts {
    /// Sites that changed in at least one chain.
    pub moving: usize,
    /// Sites that never changed within a chain, but are not the same in all chains.
    pub frozen: usize,
    /// Sites that had the same value in every draw of every chain.
    pub constant: usize,
}

impl Sites {
    /// Sums up the records of all chains; none if one has no draws.
    pub(crate) fn new<R: Borrow<SiteRecord>>(chains: &[R]) -> Option<Self> {
        let chains: Vec<&SiteRecord> = chains.iter().map(Borrow::borrow).collect();
        let (start, rest) = chains.split_first()?;
        let number = chains.iter().map(|chain| chain.first.len()).min().unwrap_or(0);
        if number == 0 {
            return None;
        }
        let mut counts = SiteCounts::default();
        for site in 0..number {
            if chains.iter().any(|chain| chain.changed[site] != 0) {
                counts.moving += 1;
            } else if rest.iter().any(|chain| chain.first[site] != start.first[site]) {
                counts.frozen += 1;
            } else {
                counts.constant += 1;
            }
        }
        let draws: usize = chains.iter().map(|chain| chain.draws).sum();
        let means = (0..number)
            .map(|site| chains.iter().map(|chain| chain.sum(site)).sum::<u64>())
            .map(|sum| sum as f64 / draws as f64)
            .collect();
        let passed: Vec<Vec<&[u8]>> =
            chains.iter().map(|chain| chain.passed.iter().map(Vec::as_slice).collect()).collect();
        Some(Self { counts, overlap: Overlap::new(&passed, start.spacing), means })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(states: &[Vec<u8>], values: usize) -> SiteRecord {
        let mut record = SiteRecord::default();
        states.iter().for_each(|state| record.take(state, values));
        record
    }

    #[test]
    fn sites_are_told_apart() {
        // Site 0 is constant, 1 frozen, 2 moves in one chain and comes back.
        let one = record(&[vec![3, 1, 0], vec![3, 1, 0], vec![3, 1, 0]], 4);
        let two = record(&[vec![3, 2, 1], vec![3, 2, 2], vec![3, 2, 1]], 4);
        let sites = Sites::new(&[one, two]).unwrap();
        assert_eq!(sites.counts, SiteCounts { moving: 1, frozen: 1, constant: 1 });
        assert_eq!(sites.means, [3.0, 1.5, 4.0 / 6.0]);
        assert_eq!(Sites::new::<SiteRecord>(&[]), None);
        assert_eq!(Sites::new(&[SiteRecord::default()]), None);
    }

    #[test]
    fn sums_do_not_overflow() {
        for values in [2, 3, 8, 256] {
            let largest = (values - 1) as u8;
            let record = record(&vec![vec![largest, 0]; 1000], values);
            assert_eq!(Sites::new(&[record]).unwrap().means, [f64::from(largest), 0.0]);
        }
    }

    #[test]
    fn few_states_are_kept_evenly_spaced() {
        for draws in [1, 2, 9, 10, 11, 1000, 4097] {
            let states: Vec<Vec<u8>> = (1..=draws).map(|t: u32| t.to_le_bytes().to_vec()).collect();
            let record = record(&states, 256);
            let passed: Vec<u32> = record
                .passed
                .iter()
                .map(|state| u32::from_le_bytes(state.as_slice().try_into().unwrap()))
                .collect();
            let expected: Vec<u32> =
                (1..).map(|k| k * record.spacing as u32).take_while(|t| *t <= draws).collect();
            assert_eq!(passed, expected, "{draws}");
            assert!(passed.len() <= MOST_PASSED && (draws < 9 || passed.len() >= 5), "{draws}");
        }
    }
}
