//! States of sixteen chains, site by site: the values of a site stand side by side.

use super::{CHAINS, Lane};
use crate::math::vectorised;

/// Sites that are turned round together.
pub(crate) const BLOCK: usize = 64;

/// Values of sixteen chains by site. Within a block of 64 sites, those of the same place in their groups
/// of eight stand together: then eight groups are turned round in the same instructions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transposed {
    values: Vec<Lane<u8>>,
}

/// Where a site stands.
#[inline(always)]
pub(crate) fn place(site: usize) -> usize {
    site & !(BLOCK - 1) | (site & 7) << 3 | (site >> 3) & 7
}

impl Transposed {
    /// The values, by place.
    #[inline(always)]
    pub(crate) fn values_mut(&mut self) -> &mut [Lane<u8>] {
        &mut self.values
    }

    /// Takes over at most sixteen states, changing every value by a function; lanes without a chain
    /// repeat the first.
    pub(crate) fn read(&mut self, states: &[u8], sites: usize, map: impl Fn(u8) -> u8) {
        self.values.resize(sites.next_multiple_of(BLOCK), [0; CHAINS]);
        vectorised(
            #[inline(always)]
            || {
                for (number, block) in self.values.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate()
                {
                    let mut words = [[0u64; CHAINS]; 8];
                    for chain in 0..CHAINS {
                        let from = if chain * sites < states.len() { chain * sites } else { 0 };
                        let row = &states[from + number * BLOCK..from + sites];
                        for (group, word) in eights(row).into_iter().enumerate() {
                            words[chain % 8][2 * group + chain / 8] = word;
                        }
                    }
                    turn(&mut words);
                    let bytes = block.as_flattened_mut().as_chunks_mut::<8>().0;
                    for (bytes, word) in bytes.iter_mut().zip(words.as_flattened()) {
                        *bytes = word.to_le_bytes();
                    }
                    for value in block.as_flattened_mut() {
                        *value = map(*value);
                    }
                }
            },
        );
    }

    /// Writes the states back, changing every value by a function.
    pub(crate) fn write(&self, states: &mut [u8], sites: usize, map: impl Fn(u8) -> u8) {
        vectorised(
            #[inline(always)]
            || {
                for (number, block) in self.values.as_chunks::<BLOCK>().0.iter().enumerate() {
                    let rows = by_chain(block);
                    for (row, state) in rows.iter().zip(states.chunks_exact_mut(sites)) {
                        let values = &mut state[number * BLOCK..];
                        for (value, byte) in values.iter_mut().zip(row) {
                            *value = map(*byte);
                        }
                    }
                }
            },
        );
    }
}

/// What 64 sites, by place, have in each chain, in the order of the sites.
#[inline(always)]
pub(crate) fn by_chain(block: &[Lane<u8>; BLOCK]) -> [[u8; BLOCK]; CHAINS] {
    let mut words = [[0u64; CHAINS]; 8];
    let bytes = block.as_flattened().as_chunks::<8>().0;
    for (word, bytes) in words.as_flattened_mut().iter_mut().zip(bytes) {
        *word = u64::from_le_bytes(*bytes);
    }
    turn(&mut words);
    let mut rows = [[0; BLOCK]; CHAINS];
    for (chain, row) in rows.iter_mut().enumerate() {
        let words = words[chain % 8].iter().skip(chain / 8).step_by(2);
        for (values, word) in row.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *values = word.to_le_bytes();
        }
    }
    rows
}

/// The first 64 bytes of a row in words, zeros behind its end.
#[inline(always)]
fn eights(row: &[u8]) -> [u64; 8] {
    let mut padded = [0; BLOCK];
    let bytes = match row.first_chunk::<BLOCK>() {
        Some(bytes) => bytes,
        None => {
            padded[..row.len()].copy_from_slice(row);
            &padded
        }
    };
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

/// Exchanges, in every column of eight words, byte i of word j with byte j of word i: first in halves of
/// words, then in quarters, then byte by byte (Warren, *Hacker's Delight*, 7-3).
#[inline(always)]
fn turn(words: &mut [[u64; CHAINS]; 8]) {
    exchange::<4>(words, 0x0000_0000_FFFF_FFFF);
    exchange::<2>(words, 0x0000_FFFF_0000_FFFF);
    exchange::<1>(words, 0x00FF_00FF_00FF_00FF);
}

#[inline(always)]
fn exchange<const STEP: usize>(words: &mut [[u64; CHAINS]; 8], mask: u64) {
    for first in (0..8).filter(|row| row & STEP == 0) {
        let (low, high) = words.split_at_mut(first + STEP);
        let (one, other) = (&mut low[first], &mut high[0]);
        for column in 0..CHAINS {
            let both = (one[column] >> (8 * STEP) ^ other[column]) & mask;
            other[column] ^= both;
            one[column] ^= both << (8 * STEP);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_of_all_chains_stands_at_its_place_and_comes_back() {
        for (chains, sites) in [(16, 64), (16, 1), (3, 100), (1, 7), (16, 257), (9, 128)] {
            let value = |at: usize| (at * 37 % 251) as u8;
            let states: Vec<u8> = (0..chains * sites).map(value).collect();
            let mut turned = Transposed::default();
            turned.read(&states, sites, |value| value ^ 5);
            for site in 0..sites {
                let values = turned.values_mut()[place(site)];
                for (chain, found) in values.into_iter().enumerate() {
                    let chain = if chain < chains { chain } else { 0 };
                    assert_eq!(found, value(chain * sites + site) ^ 5, "{chain} {site}");
                }
            }
            let mut back = vec![0; states.len()];
            turned.write(&mut back, sites, |value| value ^ 5);
            assert_eq!(back, states);
        }
    }
}
