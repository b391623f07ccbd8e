//! The rows of all sites at once, in single precision and vectorised over sites; the proposals
//! DLMC, DLMCf and DMALA.
//!
//! A row that is drawn from is the very row that both densities read, so rounding cannot bias a
//! chain beyond the resolution of the draw itself (2⁻²⁴ of the probability to move).

use super::metropolis::Proposal;
use super::row::RowFormula;
use crate::math::{
    Arithmetic, FusedLoop, exp, exp_and_complement, larger, smaller, vectorised,
    vectorised_and_fused,
};
use crate::model::Differences;
use crate::rng::ChainRng;
use crate::space::Space;
use crate::weight::Weight;
use std::marker::PhantomData;

/// Proposes every site at once, each from its own row.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// How rows are made.
    pub formula: RowFormula,
    /// The weight function g.
    pub weight: Weight,
    /// Which differences rows are made from.
    pub differences: Differences,
}

/// The rows of one state.
///
/// Two values: a plane of flip probabilities, then a plane of stay probabilities. More: one plane
/// per value, where the plane of the current value holds the probability to stay.
pub struct RowTable {
    probabilities: Vec<f32>,
    /// More than two values: the sum of each row as it is walked through, one up to rounding.
    totals: Vec<f32>,
    values: usize,
}

/// Differences are held within this of zero before rows are made, which keeps every rate, sum and
/// probability inside the range of f32 for any step size from 1e-9 to 1e9.
const SHARPEST: f32 = 56.0;
/// Smallest entry of a row: far below the resolution of a draw, and the product of two is a normal
/// number.
const SMALLEST: f32 = 1e-18;
/// Sites handled together: their rows stay in the first-level cache.
const TILE: usize = 256;
/// Lanes that a product over a tile is first taken in.
const LANES: usize = 8;

impl Proposal for Rows {
    type Table = RowTable;
    type Path = ();

    fn new_table(&self, space: &Space) -> RowTable {
        let (sites, values) = (space.sites(), space.values());
        let totals = if space.is_binary() { 0 } else { sites };
        RowTable { probabilities: vec![0.0; values * sites], totals: vec![0.0; totals], values }
    }

    fn differences(&self) -> Differences {
        self.differences
    }

    fn prepare(&self, scale: f64, state: &[u8], diff: &[f32], table: &mut RowTable) {
        let h = scale as f32;
        match self.formula {
            RowFormula::Interpolated => {
                prepare_with::<Interpolated>(self.weight, h, state, diff, table)
            }
            RowFormula::Euler => prepare_with::<Euler>(self.weight, h, state, diff, table),
            RowFormula::Normalised => {
                prepare_with::<Normalised>(self.weight, h, state, diff, table)
            }
        }
    }

    fn draw(
        &self,
        _scale: f64,
        state: &[u8],
        table: &mut RowTable,
        rng: &mut ChainRng,
        proposed: &mut [u8],
        (): &mut (),
    ) -> f64 {
        #[cfg(test)]
        if rng.is_scripted() {
            return draw_scripted(state, table, rng, proposed);
        }
        vectorised(
            #[inline(always)]
            || {
                if table.values == 2 {
                    draw_flips(state, &table.probabilities, rng, proposed)
                } else {
                    draw_values(state, table, rng, proposed)
                }
            },
        )
    }

    fn log_reverse(&self, from: &[u8], to: &[u8], table: &mut RowTable, (): &()) -> f64 {
        vectorised(
            #[inline(always)]
            || {
                if table.values == 2 {
                    log_prob_of_flips(from, to, &table.probabilities)
                } else {
                    log_prob_of_values(to, &table.probabilities)
                }
            },
        )
    }
}

/// A weight function g, inside a loop that the compiler can vectorise.
///
/// Because g is locally balanced, g(t)/t is a symmetric function of the two values' weights; rows
/// that are reversible for the site's conditional are made from it.
trait WeightFunction {
    /// g(e^Δ).
    fn rate<A: Arithmetic>(diff: f32) -> f32;
    /// (t, 1/(1 + t), g(t)/t) for t = e^Δ.
    fn split<A: Arithmetic>(diff: f32) -> (f32, f32, f32);
    /// g(t)/t.
    fn symmetric(t: f32) -> f32;
}

struct Sqrt;
impl WeightFunction for Sqrt {
    #[inline(always)]
    fn rate<A: Arithmetic>(diff: f32) -> f32 {
        exp::<A>(0.5 * diff)
    }
    #[inline(always)]
    fn split<A: Arithmetic>(diff: f32) -> (f32, f32, f32) {
        let root = exp::<A>(0.5 * diff);
        let t = root * root;
        // One division for both reciprocals.
        let both = 1.0 / (root * (1.0 + t));
        (t, both * root, both * (1.0 + t))
    }
    #[inline(always)]
    fn symmetric(t: f32) -> f32 {
        1.0 / t.sqrt()
    }
}

macro_rules! weight_function {
    ($name:ident, $t:ident, $value:expr, $symmetric:expr) => {
        struct $name;
        impl WeightFunction for $name {
            #[inline(always)]
            fn rate<A: Arithmetic>(diff: f32) -> f32 {
                let $t = exp::<A>(diff);
                $value
            }
            #[inline(always)]
            fn split<A: Arithmetic>(diff: f32) -> (f32, f32, f32) {
                let $t = exp::<A>(diff);
                ($t, 1.0 / (1.0 + $t), $symmetric)
            }
            #[inline(always)]
            fn symmetric($t: f32) -> f32 {
                $symmetric
            }
        }
    };
}
weight_function!(Ratio, t, t / (1.0 + t), 1.0 / (1.0 + t));
weight_function!(Min, t, smaller(t, 1.0), smaller(1.0 / t, 1.0));
weight_function!(Max, t, larger(t, 1.0), larger(1.0 / t, 1.0));
weight_function!(Sum, t, 1.0 + t, (1.0 + t) / t);

/// A row formula, entry by entry.
trait Formula {
    /// For a site with two values: what `finish` makes a flip from, what it makes a stay from, and
    /// what it needs besides. In two halves, because a processor that looks far ahead in short
    /// loops cannot do so in long ones.
    fn begin<A: Arithmetic, W: WeightFunction>(h: f32, diff: f32) -> (f32, f32, f32);
    /// (flip, stay) from the three numbers of `begin`.
    fn finish<A: Arithmetic>(flip: f32, stay: f32, third: f32) -> (f32, f32);
    /// What moves to another value of weight t, out of weights that sum to `total`, and what of that
    /// value's conditional probability is left to stay.
    fn move_and_keep<A: Arithmetic, W: WeightFunction>(
        h: f32,
        t: f32,
        total: f32,
        inverse: f32,
    ) -> (f32, f32);
    /// What stays of the current value's own conditional probability.
    fn own(nu: f32) -> f32;
    /// What entries are to be divided by, given their sum.
    fn divisor(sum: f32) -> f32;
}

struct Interpolated;
impl Formula for Interpolated {
    #[inline(always)]
    fn begin<A: Arithmetic, W: WeightFunction>(h: f32, diff: f32) -> (f32, f32, f32) {
        let (t, own, symmetric) = W::split::<A>(diff);
        (t * own, own, h * symmetric * (1.0 + t))
    }
    #[inline(always)]
    fn finish<A: Arithmetic>(nu: f32, own: f32, exponent: f32) -> (f32, f32) {
        let (keep, leave) = exp_and_complement::<A>(exponent);
        (nu * leave, A::mul_add(nu, keep, own))
    }
    #[inline(always)]
    fn move_and_keep<A: Arithmetic, W: WeightFunction>(
        h: f32,
        t: f32,
        total: f32,
        inverse: f32,
    ) -> (f32, f32) {
        let nu = t * inverse;
        let (keep, leave) = exp_and_complement::<A>(h * total * W::symmetric(t));
        (nu * leave, nu * keep)
    }
    #[inline(always)]
    fn own(nu: f32) -> f32 {
        nu
    }
    #[inline(always)]
    fn divisor(_sum: f32) -> f32 {
        1.0
    }
}

struct Euler;
impl Formula for Euler {
    #[inline(always)]
    fn begin<A: Arithmetic, W: WeightFunction>(h: f32, diff: f32) -> (f32, f32, f32) {
        let (t, own, symmetric) = W::split::<A>(diff);
        (t * own, own, h * symmetric * t)
    }
    #[inline(always)]
    fn finish<A: Arithmetic>(nu: f32, own: f32, rate: f32) -> (f32, f32) {
        (smaller(rate, nu), own + larger(nu - rate, 0.0))
    }
    #[inline(always)]
    fn move_and_keep<A: Arithmetic, W: WeightFunction>(
        h: f32,
        t: f32,
        _total: f32,
        inverse: f32,
    ) -> (f32, f32) {
        let (nu, rate) = (t * inverse, h * W::symmetric(t) * t);
        (smaller(rate, nu), larger(nu - rate, 0.0))
    }
    #[inline(always)]
    fn own(nu: f32) -> f32 {
        nu
    }
    #[inline(always)]
    fn divisor(_sum: f32) -> f32 {
        1.0
    }
}

struct Normalised;
impl Formula for Normalised {
    #[inline(always)]
    fn begin<A: Arithmetic, W: WeightFunction>(h: f32, diff: f32) -> (f32, f32, f32) {
        let rate = h * W::rate::<A>(diff);
        (rate, 1.0, 1.0 + rate)
    }
    #[inline(always)]
    fn finish<A: Arithmetic>(rate: f32, one: f32, total: f32) -> (f32, f32) {
        let stay = one / total;
        (rate * stay, stay)
    }
    #[inline(always)]
    fn move_and_keep<A: Arithmetic, W: WeightFunction>(
        h: f32,
        t: f32,
        _total: f32,
        _inverse: f32,
    ) -> (f32, f32) {
        (h * W::symmetric(t) * t, 0.0)
    }
    #[inline(always)]
    fn own(_nu: f32) -> f32 {
        1.0
    }
    #[inline(always)]
    fn divisor(sum: f32) -> f32 {
        sum
    }
}

fn prepare_with<F: Formula>(
    weight: Weight,
    h: f32,
    state: &[u8],
    diff: &[f32],
    table: &mut RowTable,
) {
    match weight {
        Weight::Sqrt => prepare_rows::<F, Sqrt>(h, state, diff, table),
        Weight::Ratio => prepare_rows::<F, Ratio>(h, state, diff, table),
        Weight::Min => prepare_rows::<F, Min>(h, state, diff, table),
        Weight::Max => prepare_rows::<F, Max>(h, state, diff, table),
        Weight::Sum => prepare_rows::<F, Sum>(h, state, diff, table),
    }
}

fn prepare_rows<F: Formula, W: WeightFunction>(
    h: f32,
    state: &[u8],
    diff: &[f32],
    table: &mut RowTable,
) {
    vectorised_and_fused(Prepare::<F, W> { h, state, diff, table, with: PhantomData });
}

/// The loop that makes the rows of a state.
struct Prepare<'a, F, W> {
    h: f32,
    state: &'a [u8],
    diff: &'a [f32],
    table: &'a mut RowTable,
    with: PhantomData<(F, W)>,
}

impl<F: Formula, W: WeightFunction> FusedLoop for Prepare<'_, F, W> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { h, state, diff, table, .. } = self;
        if table.values == 2 {
            prepare_flips::<A, F, W>(h, diff, &mut table.probabilities);
        } else {
            prepare_values::<A, F, W>(h, state, diff, table);
        }
    }
}

#[inline(always)]
fn prepare_flips<A: Arithmetic, F: Formula, W: WeightFunction>(
    h: f32,
    diff: &[f32],
    table: &mut [f32],
) {
    let (flips, stays) = table.split_at_mut(diff.len());
    let tiles = diff.chunks(TILE).zip(flips.chunks_mut(TILE)).zip(stays.chunks_mut(TILE));
    for ((diff, flips), stays) in tiles {
        let mut third = [0.0f32; TILE];
        let length = diff.len();
        let (flips, stays) = (&mut flips[..length], &mut stays[..length]);
        let third = &mut third[..length];
        for site in 0..length {
            (flips[site], stays[site], third[site]) = F::begin::<A, W>(h, hold(diff[site]));
        }
        for site in 0..length {
            let (flip, stay) = F::finish::<A>(flips[site], stays[site], third[site]);
            flips[site] = larger(flip, SMALLEST);
            stays[site] = larger(stay, SMALLEST);
        }
    }
}

#[inline(always)]
fn prepare_values<A: Arithmetic, F: Formula, W: WeightFunction>(
    h: f32,
    state: &[u8],
    diff: &[f32],
    RowTable { probabilities, totals, values }: &mut RowTable,
) {
    let sites = state.len();
    for start in (0..sites).step_by(TILE) {
        let length = TILE.min(sites - start);
        let plane = |value: usize| value * sites + start..value * sites + start + length;
        let own = widen(&state[start..start + length]);
        let mut total = [0.0f32; TILE];
        for value in 0..*values {
            let (entries, diffs) = (&mut probabilities[plane(value)], &diff[plane(value)]);
            for ((entry, diff), total) in entries.iter_mut().zip(diffs).zip(&mut total) {
                *entry = exp::<A>(hold(*diff));
                *total += *entry;
            }
        }
        let mut inverse = [0.0f32; TILE];
        for (inverse, total) in inverse.iter_mut().zip(&total) {
            *inverse = 1.0 / total;
        }
        let mut stay = [0.0f32; TILE];
        let mut moved = [0.0f32; TILE];
        for value in 0..*values {
            let entries = &mut probabilities[plane(value)];
            for site in 0..entries.len() {
                let t = entries[site];
                let (move_there, keep) = F::move_and_keep::<A, W>(h, t, total[site], inverse[site]);
                let is_own = own[site] == value as i32;
                entries[site] = larger(move_there, SMALLEST);
                stay[site] += select(is_own, F::own(t * inverse[site]), keep);
                moved[site] += select(is_own, 0.0, entries[site]);
            }
        }
        let totals = &mut totals[start..start + length];
        for site in 0..length {
            let stay = larger(stay[site], SMALLEST);
            probabilities[usize::from(state[start + site]) * sites + start + site] = stay;
            totals[site] = moved[site] + stay;
        }
        if F::divisor(2.0) != 1.0 {
            for value in 0..*values {
                let entries = &mut probabilities[plane(value)];
                for (entry, total) in entries.iter_mut().zip(totals.iter()) {
                    *entry = larger(*entry / F::divisor(*total), SMALLEST);
                }
            }
            totals.fill(1.0);
        }
    }
}

#[inline(always)]
fn draw_flips(state: &[u8], table: &[f32], rng: &mut ChainRng, proposed: &mut [u8]) -> f64 {
    let sites = state.len();
    let (flips, stays) = table.split_at(sites);
    let mut log_prob = 0.0;
    let mut words = [0u32; TILE];
    let mut uniforms = [0.0f32; TILE];
    for start in (0..sites).step_by(TILE) {
        let tile = start..(start + TILE).min(sites);
        let length = tile.len();
        rng.fill_uniform(&mut words[..length], &mut uniforms[..length]);
        let mut chosen = [1.0f32; TILE];
        let (flips, stays) = (&flips[tile.clone()], &stays[tile.clone()]);
        let (state, proposed) = (&state[tile.clone()], &mut proposed[tile]);
        let (uniforms, chosen_now) = (&uniforms[..length], &mut chosen[..length]);
        for site in 0..length {
            let flip = uniforms[site] < flips[site];
            proposed[site] = state[site] ^ u8::from(flip);
            chosen_now[site] = select(flip, flips[site], stays[site]);
        }
        log_prob += sum_of_logs(&chosen);
    }
    log_prob
}

#[inline(always)]
fn log_prob_of_flips(from: &[u8], to: &[u8], table: &[f32]) -> f64 {
    let sites = from.len();
    let (flips, stays) = table.split_at(sites);
    let mut log_prob = 0.0;
    for start in (0..sites).step_by(TILE) {
        let tile = start..(start + TILE).min(sites);
        let length = tile.len();
        let mut chosen = [1.0f32; TILE];
        let chosen_now = &mut chosen[..length];
        let (flips, stays) = (&flips[tile.clone()], &stays[tile.clone()]);
        let (from, to) = (&from[tile.clone()], &to[tile]);
        for site in 0..length {
            chosen_now[site] = select(from[site] != to[site], flips[site], stays[site]);
        }
        log_prob += sum_of_logs(&chosen);
    }
    log_prob
}

/// Draws by walking through the entries of the other values; what is left over stays, so that
/// small probabilities to move keep their full resolution.
#[inline(always)]
fn draw_values(state: &[u8], table: &RowTable, rng: &mut ChainRng, proposed: &mut [u8]) -> f64 {
    let sites = state.len();
    let mut words = [0u32; TILE];
    let mut uniforms = [0.0f32; TILE];
    for start in (0..sites).step_by(TILE) {
        let length = TILE.min(sites - start);
        let own = widen(&state[start..start + length]);
        rng.fill_uniform(&mut words[..length], &mut uniforms[..length]);
        let mut threshold = [0.0f32; TILE];
        let totals = &table.totals[start..start + length];
        for ((threshold, uniform), total) in threshold.iter_mut().zip(&uniforms).zip(totals) {
            *threshold = uniform * total;
        }
        let mut walked = [0.0f32; TILE];
        let mut passed = [0i32; TILE];
        for value in 0..table.values {
            let plane = value * sites + start;
            let entries = &table.probabilities[plane..plane + length];
            for site in 0..entries.len() {
                walked[site] += select(own[site] == value as i32, 0.0, entries[site]);
                passed[site] += i32::from(walked[site] <= threshold[site]);
            }
        }
        let proposed = &mut proposed[start..start + length];
        for site in 0..proposed.len() {
            let moves = passed[site] < table.values as i32;
            proposed[site] = if moves { passed[site] as u8 } else { own[site] as u8 };
        }
    }
    log_prob_of_values(proposed, &table.probabilities)
}

#[inline(always)]
fn log_prob_of_values(to: &[u8], table: &[f32]) -> f64 {
    let sites = to.len();
    let mut log_prob = 0.0;
    for start in (0..sites).step_by(TILE) {
        let mut chosen = [1.0f32; TILE];
        let tile = &to[start..(start + TILE).min(sites)];
        for (site, (chosen, value)) in chosen.iter_mut().zip(tile).enumerate() {
            *chosen = table[usize::from(*value) * sites + start + site];
        }
        log_prob += sum_of_logs(&chosen);
    }
    log_prob
}

/// A difference within the range that rows are made for.
#[inline(always)]
fn hold(diff: f32) -> f32 {
    larger(smaller(diff, SHARPEST), -SHARPEST)
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

/// Σ ln p over a tile.
///
/// One logarithm serves the whole tile: entries are multiplied in pairs, which [`SMALLEST`] keeps
/// from underflowing; then exponents are added as integers and mantissas multiplied. 16 mantissas
/// stay below 2¹⁶ in f32, the product of those below 2¹²⁸ in f64, and together they round no worse
/// than 256 logarithms would.
#[inline(always)]
fn sum_of_logs(probabilities: &[f32; TILE]) -> f64 {
    const HALF: usize = TILE / 2;
    const MANTISSA: u32 = 0x007F_FFFF;
    let (low, high) = probabilities.split_at(HALF);
    let mut products = [0.0f32; HALF];
    let mut exponent = -127 * HALF as i32;
    for pair in 0..HALF {
        let bits = (low[pair] * high[pair]).to_bits();
        exponent += (bits >> 23) as i32;
        products[pair] = f32::from_bits((bits & MANTISSA) | 1.0f32.to_bits());
    }
    let mut width = HALF / 2;
    while width >= LANES {
        let (low, high) = products.split_at_mut(width);
        for (low, high) in low.iter_mut().zip(high) {
            *low *= *high;
        }
        width /= 2;
    }
    let product: f64 = products[..LANES].iter().map(|product| f64::from(*product)).product();
    f64::from(exponent) * std::f64::consts::LN_2 + product.ln()
}

/// `yes` or `no`, from both already loaded: without a branch between two loads the loop vectorises.
#[inline(always)]
fn select(condition: bool, yes: f32, no: f32) -> f32 {
    let mask = u32::from(condition).wrapping_neg();
    f32::from_bits((yes.to_bits() & mask) | (no.to_bits() & !mask))
}

/// Draws site by site from the entries of the table, so that a test can enumerate the draws.
#[cfg(test)]
fn draw_scripted(state: &[u8], table: &RowTable, rng: &mut ChainRng, proposed: &mut [u8]) -> f64 {
    let sites = state.len();
    for site in 0..sites {
        let row: Vec<f64> = (0..table.values)
            .map(|plane| f64::from(table.probabilities[plane * sites + site]))
            .collect();
        let drawn = rng.index(&row, row.iter().sum()) as u8;
        proposed[site] = match (table.values, drawn) {
            (2, 0) => 1 - state[site],
            (2, _) => state[site],
            _ => drawn,
        };
    }
    if table.values == 2 {
        log_prob_of_flips(state, proposed, &table.probabilities)
    } else {
        log_prob_of_values(proposed, &table.probabilities)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn rows(formula: RowFormula, weight: Weight) -> Rows {
        Rows { formula, weight, differences: Differences::Exact }
    }

    /// A state and differences of some spread, with more sites than a tile and an odd rest.
    fn example(sites: usize, values: usize, spread: f32) -> (Space, Vec<u8>, Vec<f32>) {
        let space = Space::new(sites, values).unwrap();
        let state: Vec<u8> = (0..sites).map(|n| (n * 7 % values) as u8).collect();
        let mut diff: Vec<f32> =
            (0..space.diff_len()).map(|i| spread * (1.0 + i as f32 * 2.39).sin()).collect();
        if !space.is_binary() {
            for (site, value) in state.iter().enumerate() {
                diff[usize::from(*value) * sites + site] = 0.0;
            }
        }
        (space, state, diff)
    }

    fn reference_row(space: &Space, state: &[u8], diff: &[f32], site: usize) -> (Vec<f64>, usize) {
        let own = usize::from(state[site]);
        let row = (0..space.values()).map(|value| match (space.is_binary(), value == own) {
            (_, true) => 0.0,
            (true, false) => f64::from(diff[site]),
            (false, false) => f64::from(diff[value * space.sites() + site]),
        });
        (row.collect(), own)
    }

    #[test]
    fn single_precision_rows_agree_with_the_formulas_far_out() {
        // Relative agreement of every entry, from nearly flat to |Δ| = 60 and h from 1e-9 to 1e9.
        for values in [2, 3, 17, 256] {
            for spread in [0.1, 3.0, 28.0, 60.0] {
                let (space, state, diff) = example(70, values, spread);
                for formula in RowFormula::ALL {
                    for weight in Weight::ALL {
                        for h in [1e-9, 1e-3, 0.3, 4.0, 1e9] {
                            let proposal = rows(formula, weight);
                            let mut table = proposal.new_table(&space);
                            proposal.prepare(h, &state, &diff, &mut table);
                            for site in 0..space.sites() {
                                let (mut site_diff, own) =
                                    reference_row(&space, &state, &diff, site);
                                let sharpest = f64::from(SHARPEST);
                                for diff in &mut site_diff {
                                    *diff = diff.clamp(-sharpest, sharpest);
                                }
                                let exact = formula.log_row(&site_diff, own, h, weight);
                                for (value, log) in exact.iter().enumerate() {
                                    let plane = match (values, value == own) {
                                        (2, true) => 1,
                                        (2, false) => 0,
                                        _ => value,
                                    };
                                    let entry = table.probabilities[plane * space.sites() + site];
                                    let entry = f64::from(entry);
                                    let log = log.max(f64::from(SMALLEST).ln());
                                    // Near the clip of Euler's rule, what stays of ν cancels in
                                    // any precision: there only the absolute error is small.
                                    let cancels = formula == RowFormula::Euler && value == own;
                                    let close = (entry.ln() - log).abs() < 2e-5
                                        || (cancels && (entry - log.exp()).abs() < 2e-7);
                                    let case = format!("{formula:?} {weight} h {h} C {values}");
                                    assert!(close, "{case}: {} {log}", entry.ln());
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn golden_rows_of_three_values() {
        // Δ = (0, 0.7, −1.2) at the first value, h = 0.4.
        use RowFormula::{Euler, Interpolated, Normalised};
        let space = Space::new(1, 3).unwrap();
        for (formula, weight, golden) in [
            (Interpolated, Weight::Sqrt, [0.548404488777, 0.368847087354, 0.082748423869]),
            (Interpolated, Weight::Ratio, [0.725705091345, 0.216230145253, 0.058064763402]),
            (Interpolated, Weight::Min, [0.640249532222, 0.293018111373, 0.066732356404]),
            (Interpolated, Weight::Max, [0.464087904972, 0.446165490804, 0.089746604224]),
            (Normalised, Weight::Sqrt, [0.559549597619, 0.317615470324, 0.122834932058]),
            (Normalised, Weight::Ratio, [0.735367007945, 0.196545297106, 0.068087694949]),
            (Normalised, Weight::Min, [0.657688047658, 0.263075219063, 0.079236733279]),
            (Normalised, Weight::Max, [0.453411702090, 0.365223617073, 0.181364680836]),
            // h·G = (0.5676, 0.2195) clipped at ν = (0.607476607150, 0.090859437342).
            (Euler, Weight::Sqrt, [0.341513543221, 0.567627019437, 0.090859437342]),
            (Euler, Weight::Ratio, [0.641865453791, 0.267275108867, 0.090859437342]),
        ] {
            let exact = formula.log_row(&[0.0, 0.7, -1.2], 0, 0.4, weight);
            let proposal = rows(formula, weight);
            let mut table = proposal.new_table(&space);
            proposal.prepare(0.4, &[0], &[0.0, 0.7, -1.2], &mut table);
            for ((exact, single), golden) in exact.iter().zip(&table.probabilities).zip(golden) {
                assert!((exact.exp() - golden).abs() < 2e-12, "{formula:?} {weight} {golden}");
                assert!((f64::from(*single) - golden).abs() < 1e-7, "{formula:?} {weight}");
            }
        }
    }

    #[test]
    fn golden_flips() {
        let space = Space::new(3, 2).unwrap();
        let diff = [-3.0, 0.0, 2.0];
        for (weight, golden) in [
            (Weight::Sqrt, [0.04020309090334925, 0.2753355179413892, 0.6244934572747554]),
            (Weight::Ratio, [0.015635359685899828, 0.16483997698218036, 0.29038114011969174]),
        ] {
            let proposal = rows(RowFormula::Interpolated, weight);
            let mut table = proposal.new_table(&space);
            proposal.prepare(0.4, &[0, 1, 0], &diff, &mut table);
            for (site, golden) in golden.iter().enumerate() {
                let log_row =
                    RowFormula::Interpolated.log_row(&[0.0, f64::from(diff[site])], 0, 0.4, weight);
                assert!((log_row[1].exp() / golden - 1.0).abs() < 1e-14);
                assert!((f64::from(table.probabilities[site]) / golden - 1.0).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn draws_follow_the_rows_they_are_scored_with() {
        const DRAWS: usize = 20_000;
        for values in [2, 3, 8] {
            let (space, state, diff) = example(130, values, 2.0);
            for formula in RowFormula::ALL {
                let proposal = rows(formula, Weight::Sqrt);
                let mut table = proposal.new_table(&space);
                proposal.prepare(0.6, &state, &diff, &mut table);
                let mut rng = ChainRng::new(5, Stream::Chain(values as u64));
                let mut counts = vec![0.0; space.sites() * values];
                let mut proposed = vec![0; space.sites()];
                for _ in 0..DRAWS {
                    let log_forward =
                        proposal.draw(0.6, &state, &mut table, &mut rng, &mut proposed, &mut ());
                    let score = proposal.log_reverse(&state, &proposed, &mut table, &());
                    assert_eq!(log_forward, score);
                    for (site, value) in proposed.iter().enumerate() {
                        counts[site * values + usize::from(*value)] += 1.0;
                    }
                }
                for site in 0..space.sites() {
                    let (site_diff, own) = reference_row(&space, &state, &diff, site);
                    let exact = formula.log_row(&site_diff, own, 0.6, Weight::Sqrt);
                    for (value, log) in exact.iter().enumerate() {
                        let expected = DRAWS as f64 * log.exp();
                        let deviation = (expected * (1.0 - log.exp())).sqrt().max(1.0);
                        // 1,690 counts for each formula: six deviations are beyond chance.
                        let error = (counts[site * values + value] - expected).abs();
                        assert!(error < 6.0 * deviation, "{formula:?} site {site} value {value}");
                    }
                }
            }
        }
    }
}
