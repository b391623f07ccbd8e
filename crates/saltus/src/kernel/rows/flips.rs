//! Rows of sites with two values: to flip or to stay.
//!
//! One number per site says both: the probability of the rarer of the two, with a minus sign if that
//! is to stay. So rare flips and rare stays alike keep their relative precision, in the draw as in
//! the densities, and the other probability is the rest up to one.

use super::formula::Formula;
use super::tile::{Product, SMALLEST, TILE, hold, select};
use crate::balancing::Balance;
use crate::math::{Arithmetic, larger};
use crate::rng::{ChainRng, is_coarse, unit};

/// Makes the rows of `from` and returns the logarithm of the probability that they lead to `to`; NaN
/// if a difference is. `MASKED` if some flips do not exist, as `exists` says.
#[inline(always)]
pub(super) fn prepare<A: Arithmetic, F: Formula, W: Balance, const MASKED: bool>(
    h: f32,
    from: &[u8],
    diff: &[f32],
    to: &[u8],
    exists: &[u8],
    table: &mut [f32],
) -> f64 {
    let mut product = Product::ONE;
    let mut nans = 0u32;
    let (mut first, mut second, mut third) = ([0.0f32; TILE], [0.0f32; TILE], [0.0f32; TILE]);
    for start in (0..diff.len()).step_by(TILE) {
        let length = TILE.min(diff.len() - start);
        let (diff, table) = (&diff[start..][..length], &mut table[start..][..length]);
        let (from, to) = (&from[start..][..length], &to[start..][..length]);
        {
            let (first, second, third) =
                (&mut first[..length], &mut second[..length], &mut third[..length]);
            for site in 0..length {
                nans += u32::from(diff[site].is_nan());
                (first[site], second[site], third[site]) = F::begin::<A, W>(h, hold(diff[site]));
            }
        }
        let mut chosen = [1.0f32; TILE];
        let (first, second, third) = (&first[..length], &second[..length], &third[..length]);
        let chosen_now = &mut chosen[..length];
        for site in 0..length {
            let (flip, stay) = F::finish::<A>(first[site], second[site], third[site]);
            let rarely_stays = stay < flip;
            let mut rare = larger(select(rarely_stays, stay, flip), SMALLEST);
            let mut rarely_stays = rarely_stays;
            if MASKED {
                let there = exists[start + site] != 0;
                rare = select(there, rare, 0.0);
                rarely_stays &= there;
            }
            table[site] = select(rarely_stays, -rare, rare);
            let is_rare = (from[site] != to[site]) != rarely_stays;
            chosen_now[site] = select(is_rare, rare, 1.0 - rare);
        }
        product.multiply(&chosen);
    }
    if nans == 0 { product.ln() } else { f64::NAN }
}

/// Draws every site from its row; returns the logarithm of the probability of what was drawn.
#[inline(always)]
pub(super) fn draw(state: &[u8], table: &[f32], rng: &mut ChainRng, proposed: &mut [u8]) -> f64 {
    let mut product = Product::ONE;
    let mut words = [0u32; TILE];
    for start in (0..state.len()).step_by(TILE) {
        let length = TILE.min(state.len() - start);
        let words = &mut words[..length];
        let (state, table) = (&state[start..][..length], &table[start..][..length]);
        let proposed = &mut proposed[start..][..length];
        rng.fill(words);
        let mut coarse = 0u32;
        for word in words.iter() {
            coarse += u32::from(is_coarse(*word));
        }
        product.multiply(&if coarse == 0 {
            draw_tile(state, table, proposed, |site| unit(words[site]))
        } else {
            let mut uniforms = [0.0f32; TILE];
            rng.refine(words, &mut uniforms);
            draw_tile(state, table, proposed, |site| uniforms[site])
        });
    }
    product.ln()
}

/// Draws the sites of a tile; returns the probabilities of what was drawn.
#[inline(always)]
fn draw_tile(
    state: &[u8],
    table: &[f32],
    proposed: &mut [u8],
    uniform: impl Fn(usize) -> f32,
) -> [f32; TILE] {
    let length = state.len();
    let mut chosen = [1.0f32; TILE];
    let (table, proposed) = (&table[..length], &mut proposed[..length]);
    let chosen_now = &mut chosen[..length];
    for site in 0..length {
        let rare = table[site].abs();
        let is_rare = uniform(site) < rare;
        proposed[site] = state[site] ^ u8::from(is_rare != (table[site] < 0.0));
        chosen_now[site] = select(is_rare, rare, 1.0 - rare);
    }
    chosen
}

/// The probabilities to flip and to stay at a site.
#[cfg(test)]
pub(super) fn row(table: &[f32], site: usize) -> [f32; 2] {
    let rare = table[site].abs();
    if table[site] < 0.0 { [1.0 - rare, rare] } else { [rare, 1.0 - rare] }
}

/// Draws site by site, so that a test can enumerate the draws.
#[cfg(test)]
pub(super) fn draw_scripted(
    state: &[u8],
    table: &[f32],
    rng: &mut ChainRng,
    proposed: &mut [u8],
) -> f64 {
    let mut log_prob = 0.0;
    for site in 0..state.len() {
        let row = row(table, site).map(f64::from);
        let drawn = rng.index(&row, 1.0);
        proposed[site] = if drawn == 0 { 1 - state[site] } else { state[site] };
        log_prob += row[drawn].ln();
    }
    log_prob
}
