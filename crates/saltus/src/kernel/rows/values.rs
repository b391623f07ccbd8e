//! Rows of sites with more than two values: one plane per value, where the plane of the current
//! value holds the probability to stay.

use super::Request;
use super::formula::Formula;
use super::tile::{Product, SMALLEST, TILE, hold, select};
use crate::balancing::exact_row::ExactRow;
use crate::balancing::{Balance, Balancing};
use crate::closeness::Closeness;
use crate::math::{Arithmetic, larger};
use crate::rng::ChainRng;
use crate::space::Space;
use std::ops::Range;

/// The rows of one state. Entries stand tile by tile, value by value within a tile.
pub(super) struct ValueRows {
    probabilities: Vec<f32>,
    /// The sum of each row as it is walked through, one up to rounding.
    totals: Vec<f32>,
    space: Space,
    /// Factors of the rates by the distance of two values; empty if they are all one.
    closeness: Vec<f32>,
}

/// The rows of some sites, whole tiles of them.
#[derive(Clone, Copy)]
pub(super) struct ValueRowsRef<'a> {
    probabilities: &'a [f32],
    totals: &'a [f32],
    values: usize,
}

/// The same, to be made.
pub(super) struct ValueRowsMut<'a> {
    probabilities: &'a mut [f32],
    totals: &'a mut [f32],
    space: &'a Space,
    closeness: &'a [f32],
}

/// Where the entries of a tile begin that begins at a site, and how many sites it has, of so many.
#[inline(always)]
fn tile_at(start: usize, sites: usize, values: usize) -> (usize, usize) {
    (start * values, TILE.min(sites - start))
}

impl ValueRows {
    pub(super) fn new(space: &Space, closeness: Closeness) -> Self {
        let values = space.values();
        Self {
            probabilities: vec![0.0; space.diff_len()],
            totals: vec![0.0; space.sites()],
            space: space.clone(),
            closeness: closeness.table(values).into_iter().map(|factor| factor as f32).collect(),
        }
    }

    /// The rows of these sites, whole tiles of them.
    #[inline(always)]
    pub(super) fn part(&self, sites: Range<usize>) -> ValueRowsRef<'_> {
        let values = self.space.values();
        ValueRowsRef {
            probabilities: &self.probabilities[sites.start * values..sites.end * values],
            totals: &self.totals[sites],
            values,
        }
    }

    pub(super) fn rows_mut(&mut self) -> ValueRowsMut<'_> {
        let Self { probabilities, totals, space, closeness } = self;
        ValueRowsMut { probabilities, totals, space, closeness }
    }

    /// The rows in parts of so many sites, whole tiles of them.
    pub(super) fn parts_mut(&mut self, of_part: usize) -> impl Iterator<Item = ValueRowsMut<'_>> {
        let Self { probabilities, totals, space, closeness } = self;
        let parts = probabilities.chunks_mut(of_part * space.values());
        parts.zip(totals.chunks_mut(of_part)).map(|(probabilities, totals)| ValueRowsMut {
            probabilities,
            totals,
            space,
            closeness,
        })
    }

    /// Draws from the rows of all sites.
    #[inline(always)]
    pub(super) fn draw(&self, state: &[u8], rng: &mut ChainRng, proposed: &mut [u8]) -> f64 {
        self.part(0..state.len()).draw(state, rng, proposed)
    }

    /// Where the entry of a value of a site stands.
    fn place(&self, site: usize, value: usize) -> usize {
        let start = site - site % TILE;
        let (first, length) = tile_at(start, self.totals.len(), self.space.values());
        first + value * length + site % TILE
    }

    /// Makes the rows from matrix exponentials, site by site in double precision; the rest is as in
    /// [`ValueRowsMut::prepare`].
    pub(super) fn prepare_exactly(
        &mut self,
        balancing: Balancing,
        h: f64,
        from: &[u8],
        diff: &[f32],
        to: &[u8],
    ) -> f64 {
        let sites = from.len();
        let mut maker = ExactRow::default();
        let (mut of_site, mut row) = (Vec::new(), Vec::new());
        for (site, own) in from.iter().enumerate() {
            let values = self.space.values_at(site);
            of_site.resize(values, 0.0);
            row.resize(values, 0.0);
            for (value, entry) in of_site.iter_mut().enumerate() {
                *entry = f64::from(hold(diff[value * sites + site]));
            }
            if values == 1 {
                row[0] = 1.0;
            } else {
                maker.write(&of_site, usize::from(*own), h, balancing, &mut row);
            }
            if row[0].is_nan() {
                return f64::NAN;
            }
            let mut moved = 0.0f32;
            for (value, entry) in row.iter().enumerate() {
                let entry = larger(*entry as f32, SMALLEST);
                let place = self.place(site, value);
                self.probabilities[place] = entry;
                moved += if value == usize::from(*own) { 0.0 } else { entry };
            }
            self.totals[site] = moved + self.probabilities[self.place(site, usize::from(*own))];
        }
        self.part(0..sites).log_prob_of(to)
    }

    /// Whether every site has all values, and all are alike.
    pub(super) fn is_plain(&self) -> bool {
        self.space.is_uniform() && self.closeness.is_empty()
    }

    #[cfg(test)]
    pub(super) fn probability(&self, site: usize, value: usize) -> f32 {
        self.probabilities[self.place(site, value)]
    }

    /// Draws site by site, so that a test can enumerate the draws.
    #[cfg(test)]
    pub(super) fn draw_scripted(
        &self,
        state: &[u8],
        rng: &mut ChainRng,
        proposed: &mut [u8],
    ) -> f64 {
        for site in 0..state.len() {
            let row = (0..self.space.values())
                .map(|value| f64::from(self.probability(site, value)))
                .collect::<Vec<_>>();
            proposed[site] = rng.index(&row, row.iter().sum()) as u8;
        }
        self.part(0..state.len()).log_prob_of(proposed)
    }
}

impl ValueRowsMut<'_> {
    /// Makes the rows and returns the logarithm of the probability that they lead to where the request says; NaN if a
    /// difference is. `GENERAL` if some values do not exist at some sites, or some are closer than others.
    #[inline(always)]
    pub(super) fn prepare<A: Arithmetic, F: Formula, W: Balance, const GENERAL: bool>(
        &mut self,
        request: Request<'_>,
    ) -> f64 {
        let Self { probabilities, totals, space, closeness } = self;
        let Request { h, first: first_site, sites: all, from, diff, to } = request;
        let (sites, values) = (from.len(), space.values());
        let exists = space.exists();
        let masked = GENERAL && !space.is_uniform();
        let mut nans = 0u32;
        let mut product = Product::ONE;
        for start in (0..sites).step_by(TILE) {
            let (first, length) = tile_at(start, sites, values);
            let probabilities = &mut probabilities[first..][..values * length];
            // Where a value of this tile's first site stands in a table of planes.
            let in_plane = |value: usize| value * all + first_site + start;
            let from = &from[start..][..length];
            let own = &widen(from)[..length];
            let total = &mut [0.0f32; TILE][..length];
            for value in 0..values {
                let entries = &mut probabilities[value * length..][..length];
                let diff = &diff[in_plane(value)..][..length];
                for site in 0..length {
                    entries[site] = W::power::<A>(hold(diff[site]));
                    let mut weight = W::weight(entries[site]);
                    if masked {
                        weight = select(exists[in_plane(value) + site] != 0, weight, 0.0);
                    }
                    total[site] += weight;
                }
            }
            let inverse = &mut [0.0f32; TILE][..length];
            for site in 0..length {
                nans += u32::from(total[site].is_nan());
                inverse[site] = 1.0 / total[site];
            }
            let stay = &mut [0.0f32; TILE][..length];
            let moved = &mut [0.0f32; TILE][..length];
            let times = &mut [h; TILE][..length];
            for value in 0..values {
                if GENERAL && !closeness.is_empty() {
                    for site in 0..length {
                        times[site] = h * closeness[own[site].abs_diff(value as i32) as usize];
                    }
                }
                let entries = &mut probabilities[value * length..][..length];
                for site in 0..length {
                    let power = entries[site];
                    // One number for all, unless some values are closer than others.
                    let time = if GENERAL { times[site] } else { h };
                    let (there, mut keep) =
                        F::move_and_keep::<A, W>(time, power, total[site], inverse[site]);
                    let is_own = own[site] == value as i32;
                    let mut there = larger(there, SMALLEST);
                    if masked {
                        let is_there = exists[in_plane(value) + site] != 0;
                        there = select(is_there, there, 0.0);
                        keep = select(is_there, keep, 0.0);
                    }
                    entries[site] = there;
                    let nu = W::weight(power) * inverse[site];
                    stay[site] += select(is_own, F::own(nu), keep);
                    moved[site] += select(is_own, 0.0, there);
                }
            }
            if masked {
                // What has one value keeps it, whatever the formula makes of nothing else.
                for site in 0..length {
                    let alone = space.values_at(first_site + start + site) == 1;
                    stay[site] = select(alone, 1.0, stay[site]);
                    moved[site] = select(alone, 0.0, moved[site]);
                }
            }
            let totals = &mut totals[start..][..length];
            for site in 0..length {
                let stay = larger(stay[site], SMALLEST);
                probabilities[usize::from(from[site]) * length + site] = stay;
                totals[site] = moved[site] + stay;
            }
            if F::NORMALISES {
                for site in 0..length {
                    inverse[site] = 1.0 / totals[site];
                }
                for value in 0..values {
                    let entries = &mut probabilities[value * length..][..length];
                    for site in 0..length {
                        let mut entry = larger(entries[site] * inverse[site], SMALLEST);
                        if masked {
                            entry = select(entries[site] != 0.0, entry, 0.0);
                        }
                        entries[site] = entry;
                    }
                }
                totals.fill(1.0);
            }
            product.multiply(&chosen(probabilities, &to[start..][..length]));
        }
        if nans == 0 { product.ln() } else { f64::NAN }
    }
}

impl ValueRowsRef<'_> {
    /// Draws by walking through the entries of the other values; what is left over stays, so that
    /// small probabilities to move keep their full resolution.
    #[inline(always)]
    pub(super) fn draw(&self, state: &[u8], rng: &mut ChainRng, proposed: &mut [u8]) -> f64 {
        let Self { probabilities, totals, values } = *self;
        let sites = state.len();
        let mut product = Product::ONE;
        let mut words = [0u32; TILE];
        let mut uniforms = [0.0f32; TILE];
        for start in (0..sites).step_by(TILE) {
            let (first, length) = tile_at(start, sites, values);
            let probabilities = &probabilities[first..][..values * length];
            let own = widen(&state[start..start + length]);
            rng.fill_uniform(&mut words[..length], &mut uniforms[..length]);
            let mut threshold = [0.0f32; TILE];
            let totals = &totals[start..start + length];
            for ((threshold, uniform), total) in threshold.iter_mut().zip(&uniforms).zip(totals) {
                *threshold = uniform * total;
            }
            let mut walked = [0.0f32; TILE];
            let mut passed = [0i32; TILE];
            for value in 0..values {
                let entries = &probabilities[value * length..][..length];
                for site in 0..entries.len() {
                    walked[site] += select(own[site] == value as i32, 0.0, entries[site]);
                    passed[site] += i32::from(walked[site] <= threshold[site]);
                }
            }
            let proposed = &mut proposed[start..start + length];
            for site in 0..proposed.len() {
                let moves = passed[site] < values as i32;
                proposed[site] = if moves { passed[site] as u8 } else { own[site] as u8 };
            }
            product.multiply(&chosen(probabilities, proposed));
        }
        product.ln()
    }

    #[inline(always)]
    fn log_prob_of(&self, to: &[u8]) -> f64 {
        let mut product = Product::ONE;
        for start in (0..to.len()).step_by(TILE) {
            let (first, length) = tile_at(start, to.len(), self.values);
            let probabilities = &self.probabilities[first..][..self.values * length];
            product.multiply(&chosen(probabilities, &to[start..][..length]));
        }
        product.ln()
    }
}

/// The entries of a tile that lead to these values, looked for value by value: no entry is fetched from a place of its own.
#[inline(always)]
fn chosen(probabilities: &[f32], to: &[u8]) -> [f32; TILE] {
    let mut chosen = [1.0f32; TILE];
    let (to, length) = (widen(to), to.len());
    for (value, entries) in probabilities.chunks_exact(length).enumerate() {
        let chosen = &mut chosen[..length];
        for site in 0..length {
            chosen[site] = select(to[site] == value as i32, entries[site], chosen[site]);
        }
    }
    chosen
}

/// Values as integers of the width of an entry, so that comparisons need no conversion.
#[inline(always)]
fn widen(values: &[u8]) -> [i32; TILE] {
    let mut wide = [0; TILE];
    for (wide, value) in wide.iter_mut().zip(values) {
        *wide = i32::from(*value);
    }
    wide
}
