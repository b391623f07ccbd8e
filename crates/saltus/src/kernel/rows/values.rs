//! Rows of sites with more than two values: one plane per value, where the plane of the current
//! value holds the probability to stay.

use super::formula::Formula;
use super::tile::{Product, SMALLEST, TILE, hold, select};
use crate::balancing::exact_row::ExactRow;
use crate::balancing::{Balance, Balancing};
use crate::closeness::Closeness;
use crate::math::{Arithmetic, larger};
use crate::rng::ChainRng;
use crate::space::Space;

/// The rows of one state.
pub(super) struct ValueRows {
    pub(super) probabilities: Vec<f32>,
    /// The sum of each row as it is walked through, one up to rounding.
    totals: Vec<f32>,
    space: Space,
    /// Factors of the rates by the distance of two values; empty if they are all one.
    closeness: Vec<f32>,
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

    /// Makes the rows of `from` and returns the logarithm of the probability that they lead to `to`;
    /// NaN if a difference is. `GENERAL` if some values do not exist at some sites, or some are closer than others.
    #[inline(always)]
    pub(super) fn prepare<A: Arithmetic, F: Formula, W: Balance, const GENERAL: bool>(
        &mut self,
        h: f32,
        from: &[u8],
        diff: &[f32],
        to: &[u8],
    ) -> f64 {
        let Self { probabilities, totals, space, closeness } = self;
        let (sites, values) = (from.len(), space.values());
        let exists = space.exists();
        let masked = GENERAL && !space.is_uniform();
        let mut nans = 0u32;
        for start in (0..sites).step_by(TILE) {
            let length = TILE.min(sites - start);
            let from = &from[start..][..length];
            let own = &widen(from)[..length];
            let total = &mut [0.0f32; TILE][..length];
            for value in 0..values {
                let entries = &mut probabilities[value * sites + start..][..length];
                let diff = &diff[value * sites + start..][..length];
                for site in 0..length {
                    entries[site] = W::power::<A>(hold(diff[site]));
                    let mut weight = W::weight(entries[site]);
                    if masked {
                        weight = select(exists[value * sites + start + site] != 0, weight, 0.0);
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
                let entries = &mut probabilities[value * sites + start..][..length];
                for site in 0..length {
                    let power = entries[site];
                    // One number for all, unless some values are closer than others.
                    let time = if GENERAL { times[site] } else { h };
                    let (there, mut keep) =
                        F::move_and_keep::<A, W>(time, power, total[site], inverse[site]);
                    let is_own = own[site] == value as i32;
                    let mut there = larger(there, SMALLEST);
                    if masked {
                        let is_there = exists[value * sites + start + site] != 0;
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
                    let alone = space.values_at(start + site) == 1;
                    stay[site] = select(alone, 1.0, stay[site]);
                    moved[site] = select(alone, 0.0, moved[site]);
                }
            }
            let totals = &mut totals[start..][..length];
            for site in 0..length {
                let stay = larger(stay[site], SMALLEST);
                probabilities[usize::from(from[site]) * sites + start + site] = stay;
                totals[site] = moved[site] + stay;
            }
            if F::NORMALISES {
                for site in 0..length {
                    inverse[site] = 1.0 / totals[site];
                }
                for value in 0..values {
                    let entries = &mut probabilities[value * sites + start..][..length];
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
        }
        if nans == 0 { self.log_prob_of(to) } else { f64::NAN }
    }

    /// The same with rows of matrix exponentials, site by site in double precision.
    pub(super) fn prepare_exactly(
        &mut self,
        balancing: Balancing,
        h: f64,
        from: &[u8],
        diff: &[f32],
        to: &[u8],
    ) -> f64 {
        let Self { probabilities, totals, space, .. } = self;
        let sites = from.len();
        let mut maker = ExactRow::default();
        let (mut of_site, mut row) = (Vec::new(), Vec::new());
        for (site, own) in from.iter().enumerate() {
            let values = space.values_at(site);
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
                probabilities[value * sites + site] = entry;
                moved += if value == usize::from(*own) { 0.0 } else { entry };
            }
            totals[site] = moved + probabilities[usize::from(*own) * sites + site];
        }
        self.log_prob_of(to)
    }

    /// Draws by walking through the entries of the other values; what is left over stays, so that
    /// small probabilities to move keep their full resolution.
    #[inline(always)]
    pub(super) fn draw(&self, state: &[u8], rng: &mut ChainRng, proposed: &mut [u8]) -> f64 {
        let sites = state.len();
        let mut words = [0u32; TILE];
        let mut uniforms = [0.0f32; TILE];
        for start in (0..sites).step_by(TILE) {
            let length = TILE.min(sites - start);
            let own = widen(&state[start..start + length]);
            rng.fill_uniform(&mut words[..length], &mut uniforms[..length]);
            let mut threshold = [0.0f32; TILE];
            let totals = &self.totals[start..start + length];
            for ((threshold, uniform), total) in threshold.iter_mut().zip(&uniforms).zip(totals) {
                *threshold = uniform * total;
            }
            let mut walked = [0.0f32; TILE];
            let mut passed = [0i32; TILE];
            for value in 0..self.space.values() {
                let plane = value * sites + start;
                let entries = &self.probabilities[plane..plane + length];
                for site in 0..entries.len() {
                    walked[site] += select(own[site] == value as i32, 0.0, entries[site]);
                    passed[site] += i32::from(walked[site] <= threshold[site]);
                }
            }
            let proposed = &mut proposed[start..start + length];
            for site in 0..proposed.len() {
                let moves = passed[site] < self.space.values() as i32;
                proposed[site] = if moves { passed[site] as u8 } else { own[site] as u8 };
            }
        }
        self.log_prob_of(proposed)
    }

    /// Whether every site has all values, and all are alike.
    pub(super) fn is_plain(&self) -> bool {
        self.space.is_uniform() && self.closeness.is_empty()
    }

    #[inline(always)]
    fn log_prob_of(&self, to: &[u8]) -> f64 {
        let sites = to.len();
        let mut product = Product::ONE;
        for start in (0..sites).step_by(TILE) {
            let mut chosen = [1.0f32; TILE];
            let tile = &to[start..(start + TILE).min(sites)];
            for (site, (chosen, value)) in chosen.iter_mut().zip(tile).enumerate() {
                *chosen = self.probabilities[usize::from(*value) * sites + start + site];
            }
            product.multiply(&chosen);
        }
        product.ln()
    }

    #[cfg(test)]
    pub(super) fn sites(&self) -> usize {
        self.totals.len()
    }

    /// Draws site by site, so that a test can enumerate the draws.
    #[cfg(test)]
    pub(super) fn draw_scripted(
        &self,
        state: &[u8],
        rng: &mut ChainRng,
        proposed: &mut [u8],
    ) -> f64 {
        let sites = state.len();
        for site in 0..sites {
            let row = (0..self.space.values())
                .map(|value| f64::from(self.probabilities[value * sites + site]))
                .collect::<Vec<_>>();
            proposed[site] = rng.index(&row, row.iter().sum()) as u8;
        }
        self.log_prob_of(proposed)
    }
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
