//! What is remembered of every site while a chain draws: whether it changed, the sum of its values,
//! and a few whole states, in memory that does not grow with the draws.

use super::observer::{Draws, Observer};
use crate::kernel::SiteChange;
use crate::math::bytes::count_differences;
use crate::math::vectorised;
use crate::space::Space;
use crate::stats::Overlap;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;

/// Watches every site of every chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WatchSites {
    /// The largest value of a site.
    pub(crate) largest: usize,
}

impl Observer for WatchSites {
    type State = Vec<SiteRecord>;
    type Output = Option<Sites>;

    fn new_state(&self, _space: &Space, chains: usize) -> Vec<SiteRecord> {
        vec![SiteRecord::default(); chains]
    }

    fn see(&self, records: &mut Vec<SiteRecord>, draws: &Draws<'_>) {
        for (chain, record) in records.iter_mut().enumerate() {
            record.take(draws.state(chain), self.largest, draws.changes(chain));
        }
    }

    fn finish(&self, blocks: Vec<Vec<SiteRecord>>) -> Option<Sites> {
        Sites::new(&blocks.concat())
    }

    fn is_sound(&self, records: &Vec<SiteRecord>, space: &Space, chains: usize) -> bool {
        records.len() == chains && records.iter().all(|record| record.is_sound(space))
    }
}

/// The sites of one chain, over its kept draws.
///
/// Where a sampler says which sites it changed, a record follows the changes, as long as they are few; else it reads
/// every state, many sites to an instruction. Both come to the same numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SiteRecord {
    draws: u64,
    first: Vec<u8>,
    /// Not zero where the site ever differed from the first draw.
    changed: Vec<u8>,
    /// Sums of values over draws, as far as they are added up.
    sums: Vec<u64>,
    /// Values of the latest draws, not yet in the sums: bytes are added many at a time.
    pending: Vec<u8>,
    /// Draws that can be added to the pending ones before a byte could overflow.
    room: usize,
    /// If changes are followed: the last draw, and the number of draws of each site that are in the
    /// sums.
    current: Vec<u8>,
    added: Vec<u64>,
    /// States at every so many draws.
    passed: Vec<Vec<u8>>,
    spacing: u64,
}

/// Changes of a draw that are followed, of so many sites: one costs about as much as looking at some two hundred sites, many
/// to an instruction.
pub(crate) fn worth_following(sites: usize) -> usize {
    4 + sites / 192
}

/// With more states every other one is dropped.
const MOST_PASSED: usize = 9;

impl SiteRecord {
    /// Takes in the next draw, and what changed since the one before, if that is known.
    pub(crate) fn take(&mut self, state: &[u8], largest: usize, changes: Option<&[SiteChange]>) {
        if self.draws == 0 {
            self.begin(state, changes.is_some());
        }
        if self.added.is_empty() {
            self.add_state(state, largest);
        } else if self.draws > 0 {
            self.follow(state, largest, changes);
        }
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

    fn begin(&mut self, state: &[u8], follows: bool) {
        let sites = state.len();
        self.first = state.to_vec();
        self.changed = vec![0; sites];
        self.sums = vec![0; sites];
        self.spacing = 1;
        if follows {
            self.current = state.to_vec();
            self.added = vec![0; sites];
        } else {
            self.pending = vec![0; sites];
        }
    }

    /// Adds a whole state, of values up to the largest there is.
    fn add_state(&mut self, state: &[u8], largest: usize) {
        if self.room == 0 {
            self.flush();
            self.room = 255 / largest.max(1);
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
    }

    /// Adds what the changed sites had until now; where they are not known and turn out to be many, states are read from
    /// now on.
    fn follow(&mut self, state: &[u8], largest: usize, changes: Option<&[SiteChange]>) {
        let Some(changes) = changes else {
            if count_differences(state, &self.current) as usize > worth_following(state.len()) {
                self.read_from_now_on();
                self.add_state(state, largest);
                return;
            }
            for site in 0..state.len() {
                if state[site] != self.current[site] {
                    self.move_on(site, state[site]);
                }
            }
            return;
        };
        for change in changes {
            let site = change.site as usize;
            if state[site] != self.current[site] {
                self.move_on(site, state[site]);
            }
        }
    }

    /// Adds up what is known of all sites, and follows them no longer.
    fn read_from_now_on(&mut self) {
        for (site, sum) in self.sums.iter_mut().enumerate() {
            *sum += u64::from(self.current[site]) * (self.draws - self.added[site]);
        }
        self.current = Vec::new();
        self.added = Vec::new();
        self.pending = vec![0; self.sums.len()];
        self.room = 0;
    }

    /// A site has another value from the present draw on.
    fn move_on(&mut self, site: usize, value: u8) {
        self.sums[site] += u64::from(self.current[site]) * (self.draws - self.added[site]);
        self.added[site] = self.draws;
        self.current[site] = value;
        self.changed[site] |= value ^ self.first[site];
    }

    /// Whether it could be that of a chain of that space.
    fn is_sound(&self, space: &Space) -> bool {
        let sites = if self.draws == 0 { 0 } else { space.sites() };
        let lengths = [self.first.len(), self.changed.len(), self.sums.len()];
        let one_way = match (self.pending.len(), self.current.len(), self.added.len()) {
            (pending, 0, 0) => pending == sites,
            (0, current, added) => current == sites && added == sites,
            _ => false,
        };
        lengths == [sites; 3]
            && one_way
            && (self.draws == 0 || self.spacing > 0)
            && self.added.iter().all(|added| *added <= self.draws)
            && self.passed.iter().all(|state| state.len() == sites)
    }

    fn flush(&mut self) {
        for (sum, pending) in self.sums.iter_mut().zip(&mut self.pending) {
            *sum += u64::from(std::mem::take(pending));
        }
    }

    /// Sum of the values of a site over all draws.
    fn sum(&self, site: usize) -> u64 {
        let rest = match self.added.get(site) {
            Some(added) => u64::from(self.current[site]) * (self.draws - added),
            None => u64::from(self.pending[site]),
        };
        self.sums[site] + rest
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
        let draws: u64 = chains.iter().map(|chain| chain.draws).sum();
        let means = (0..number)
            .map(|site| chains.iter().map(|chain| chain.sum(site)).sum::<u64>())
            .map(|sum| sum as f64 / draws as f64)
            .collect();
        let passed: Vec<Vec<&[u8]>> =
            chains.iter().map(|chain| chain.passed.iter().map(Vec::as_slice).collect()).collect();
        Some(Self { counts, overlap: Overlap::new(&passed, start.spacing as usize), means })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(states: &[Vec<u8>], values: usize) -> SiteRecord {
        let mut record = SiteRecord::default();
        states.iter().for_each(|state| record.take(state, values - 1, None));
        record
    }

    #[test]
    fn following_changes_comes_to_the_same_as_reading_states() {
        let mut rng = crate::rng::ChainRng::new(1, crate::rng::Stream::Reference);
        let mut state = vec![0u8, 2, 1, 0, 3];
        let (mut followed, mut states) = (SiteRecord::default(), Vec::new());
        for draw in 0..300 {
            let mut changes = Vec::new();
            for _ in 0..rng.below(4) {
                let (site, to) = (rng.below(4), rng.below(4) as u8);
                let from = std::mem::replace(&mut state[site], to);
                changes.push(SiteChange { site: site as u32, from, to });
            }
            // Now and then nobody says what changed.
            let known = draw % 7 != 3;
            followed.take(&state, 3, known.then_some(&changes[..]));
            states.push(state.clone());
        }
        assert!(!followed.added.is_empty());
        let read = record(&states, 4);
        assert_eq!(Sites::new(&[followed.clone()]), Sites::new(std::slice::from_ref(&read)));
        let space = Space::new(5, 4).unwrap();
        assert!(followed.is_sound(&space) && read.is_sound(&space));
        assert!(!SiteRecord { draws: 0, ..followed }.is_sound(&space));
    }

    #[test]
    fn many_changes_that_nobody_tells_are_read() {
        let mut rng = crate::rng::ChainRng::new(2, crate::rng::Stream::Reference);
        let sites = 400;
        let mut state = vec![0u8; sites];
        let (mut record_of_both, mut states) = (SiteRecord::default(), Vec::new());
        for draw in 0..300 {
            let mut changes = Vec::new();
            for _ in 0..if draw < 40 { 1 } else { 50 } {
                let (site, to) = (rng.below(sites), rng.below(3) as u8);
                let from = std::mem::replace(&mut state[site], to);
                changes.push(SiteChange { site: site as u32, from, to });
            }
            record_of_both.take(&state, 2, (draw < 40).then_some(&changes[..]));
            states.push(state.clone());
            assert_eq!(record_of_both.added.is_empty(), draw >= 40);
            assert!(record_of_both.is_sound(&Space::new(sites, 3).unwrap()));
        }
        assert_eq!(Sites::new(&[record_of_both]), Sites::new(&[record(&states, 3)]));
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
