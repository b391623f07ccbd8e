//! The rows of all sites at once, in single precision and vectorised over sites; the proposals
//! DLMC, DLMCf and DMALA.
//!
//! A row that is drawn from is the very row that both densities read, so rounding cannot bias a
//! chain beyond the resolution of the draw itself (2⁻²⁴ of a row's total).

use super::metropolis::Proposal;
use super::row::RowFormula;
use crate::math::{exp, exp_and_complement, ln, vectorised};
use crate::model::Differences;
use crate::rng::{ChainRng, unit};
use crate::space::Space;
use crate::weight::Weight;

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
    values: usize,
}

/// Differences are held within this of zero before rows are made, which keeps every rate, sum and
/// probability inside the range of f32 for any step size from 1e-9 to 1e9.
const SHARPEST: f32 = 60.0;
/// Smallest entry of a row: far below the resolution of a draw, and its logarithm is finite.
const SMALLEST: f32 = 1e-37;
/// Sites handled together: their rows stay in the first-level cache.
const TILE: usize = 64;

impl Proposal for Rows {
    type Table = RowTable;
    type Path = ();

    fn new_table(&self, space: &Space) -> RowTable {
        let values = space.values();
        RowTable { probabilities: vec![0.0; values * space.sites()], values }
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
                    draw_values(state, &table.probabilities, rng, proposed)
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

/// A weight function of e^Δ, inside a loop that the compiler can vectorise.
trait WeightFunction {
    fn of(t: f32) -> f32;
}

macro_rules! weight_function {
    ($name:ident, $t:ident, $value:expr) => {
        struct $name;
        impl WeightFunction for $name {
            #[inline(always)]
            fn of($t: f32) -> f32 {
                $value
            }
        }
    };
}
weight_function!(Sqrt, t, t.sqrt());
weight_function!(Ratio, t, t / (1.0 + t));
weight_function!(Min, t, t.min(1.0));
weight_function!(Max, t, t.max(1.0));
weight_function!(Sum, t, 1.0 + t);

/// A row formula, entry by entry.
trait Formula {
    /// Whether entries are probabilities only after division by their sum.
    const UNNORMALISED: bool;
    /// What moves to another value of conditional probability ν and rate g, and what of ν is left
    /// to stay.
    fn move_and_keep(h: f32, nu: f32, g: f32) -> (f32, f32);
    /// What stays of the current value's own conditional probability.
    fn own(nu: f32) -> f32;
}

struct Interpolated;
impl Formula for Interpolated {
    const UNNORMALISED: bool = false;
    #[inline(always)]
    fn move_and_keep(h: f32, nu: f32, g: f32) -> (f32, f32) {
        let (keep, leave) = exp_and_complement(h * g / nu);
        (nu * leave, nu * keep)
    }
    #[inline(always)]
    fn own(nu: f32) -> f32 {
        nu
    }
}

struct Euler;
impl Formula for Euler {
    const UNNORMALISED: bool = false;
    #[inline(always)]
    fn move_and_keep(h: f32, nu: f32, g: f32) -> (f32, f32) {
        let rate = h * g;
        (rate.min(nu), (nu - rate).max(0.0))
    }
    #[inline(always)]
    fn own(nu: f32) -> f32 {
        nu
    }
}

struct Normalised;
impl Formula for Normalised {
    const UNNORMALISED: bool = true;
    #[inline(always)]
    fn move_and_keep(h: f32, _nu: f32, g: f32) -> (f32, f32) {
        (h * g, 0.0)
    }
    #[inline(always)]
    fn own(_nu: f32) -> f32 {
        1.0
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
    vectorised(
        #[inline(always)]
        || {
            if table.values == 2 {
                prepare_flips::<F, W>(h, diff, &mut table.probabilities);
            } else {
                prepare_values::<F, W>(h, state, diff, &mut table.probabilities);
            }
        },
    );
}

#[inline(always)]
fn prepare_flips<F: Formula, W: WeightFunction>(h: f32, diff: &[f32], table: &mut [f32]) {
    let (flips, stays) = table.split_at_mut(diff.len());
    for ((diff, flip), stay) in diff.iter().zip(flips).zip(stays) {
        let t = exp(diff.clamp(-SHARPEST, SHARPEST));
        let own = 1.0 / (1.0 + t);
        let (moved, kept) = F::move_and_keep(h, t * own, W::of(t));
        let stayed = F::own(own) + kept;
        let normalise = if F::UNNORMALISED { 1.0 / (moved + stayed) } else { 1.0 };
        *flip = (moved * normalise).max(SMALLEST);
        *stay = (stayed * normalise).max(SMALLEST);
    }
}

#[inline(always)]
fn prepare_values<F: Formula, W: WeightFunction>(
    h: f32,
    state: &[u8],
    diff: &[f32],
    table: &mut [f32],
) {
    let sites = state.len();
    let values = diff.len() / sites;
    for start in (0..sites).step_by(TILE) {
        let length = TILE.min(sites - start);
        let own = &state[start..start + length];
        let plane = |value: usize| value * sites + start..value * sites + start + length;
        let mut total = [0.0f32; TILE];
        for value in 0..values {
            let (entries, diffs) = (&mut table[plane(value)], &diff[plane(value)]);
            for site in 0..length {
                entries[site] = exp(diffs[site].clamp(-SHARPEST, SHARPEST));
                total[site] += entries[site];
            }
        }
        let mut stay = [0.0f32; TILE];
        let mut moved_total = [0.0f32; TILE];
        for value in 0..values {
            let entries = &mut table[plane(value)];
            for site in 0..length {
                let t = entries[site];
                let nu = t / total[site];
                let (moved, kept) = F::move_and_keep(h, nu, W::of(t));
                let is_own = usize::from(own[site]) == value;
                entries[site] = moved.max(SMALLEST);
                stay[site] += if is_own { F::own(nu) } else { kept };
                moved_total[site] += if is_own { 0.0 } else { moved };
            }
        }
        for value in 0..values {
            let entries = &mut table[plane(value)];
            for site in 0..length {
                let is_own = usize::from(own[site]) == value;
                let entry = if is_own { stay[site].max(SMALLEST) } else { entries[site] };
                entries[site] = if F::UNNORMALISED {
                    (entry / (stay[site] + moved_total[site])).max(SMALLEST)
                } else {
                    entry
                };
            }
        }
    }
}

#[inline(always)]
fn draw_flips(state: &[u8], table: &[f32], rng: &mut ChainRng, proposed: &mut [u8]) -> f64 {
    let sites = state.len();
    let (flips, stays) = table.split_at(sites);
    let mut log_prob = 0.0;
    let mut words = [0u32; TILE];
    for start in (0..sites).step_by(TILE) {
        let tile = start..(start + TILE).min(sites);
        rng.fill(&mut words[..tile.len()]);
        let mut chosen = [1.0f32; TILE];
        let (flips, stays) = (&flips[tile.clone()], &stays[tile.clone()]);
        let (state, proposed) = (&state[tile.clone()], &mut proposed[tile]);
        for site in 0..flips.len() {
            let flip = unit(words[site]) < flips[site];
            proposed[site] = state[site] ^ u8::from(flip);
            chosen[site] = select(flip, flips[site], stays[site]);
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
        let mut chosen = [1.0f32; TILE];
        let (flips, stays) = (&flips[tile.clone()], &stays[tile.clone()]);
        let (from, to) = (&from[tile.clone()], &to[tile]);
        for site in 0..flips.len() {
            chosen[site] = select(from[site] != to[site], flips[site], stays[site]);
        }
        log_prob += sum_of_logs(&chosen);
    }
    log_prob
}

/// Draws by walking through the entries of the other values; what is left over stays, so that
/// small probabilities to move keep their full resolution.
#[inline(always)]
fn draw_values(state: &[u8], table: &[f32], rng: &mut ChainRng, proposed: &mut [u8]) -> f64 {
    let sites = state.len();
    let values = table.len() / sites;
    let mut log_prob = 0.0;
    let mut words = [0u32; TILE];
    for start in (0..sites).step_by(TILE) {
        let length = TILE.min(sites - start);
        let own = &state[start..start + length];
        let plane = |value: usize| &table[value * sites + start..value * sites + start + length];
        rng.fill(&mut words[..length]);
        let mut moved = [0.0f32; TILE];
        let mut stay = [0.0f32; TILE];
        for value in 0..values {
            let entries = plane(value);
            for site in 0..length {
                let is_own = usize::from(own[site]) == value;
                moved[site] += if is_own { 0.0 } else { entries[site] };
                stay[site] += if is_own { entries[site] } else { 0.0 };
            }
        }
        let mut threshold = [0.0f32; TILE];
        for site in 0..length {
            threshold[site] = unit(words[site]) * (moved[site] + stay[site]);
        }
        let mut walked = [0.0f32; TILE];
        let mut passed = [0u32; TILE];
        for value in 0..values {
            let entries = plane(value);
            for site in 0..length {
                let is_own = usize::from(own[site]) == value;
                walked[site] += if is_own { 0.0 } else { entries[site] };
                passed[site] += u32::from(walked[site] <= threshold[site]);
            }
        }
        let proposed = &mut proposed[start..start + length];
        for site in 0..length {
            let moves = (passed[site] as usize) < values;
            proposed[site] = if moves { passed[site] as u8 } else { own[site] };
        }
        log_prob += log_prob_of_tile(proposed, values, plane);
    }
    log_prob
}

#[inline(always)]
fn log_prob_of_values(to: &[u8], table: &[f32]) -> f64 {
    let sites = to.len();
    let values = table.len() / sites;
    let mut log_prob = 0.0;
    for start in (0..sites).step_by(TILE) {
        let length = TILE.min(sites - start);
        let plane = |value: usize| &table[value * sites + start..value * sites + start + length];
        log_prob += log_prob_of_tile(&to[start..start + length], values, plane);
    }
    log_prob
}

#[inline(always)]
fn log_prob_of_tile<'a>(to: &[u8], values: usize, plane: impl Fn(usize) -> &'a [f32]) -> f64 {
    let mut chosen = [1.0f32; TILE];
    for value in 0..values {
        let entries = plane(value);
        for site in 0..to.len() {
            let is_chosen = usize::from(to[site]) == value;
            chosen[site] = if is_chosen { entries[site] } else { chosen[site] };
        }
    }
    sum_of_logs(&chosen)
}

/// Σ ln p over a tile.
///
/// Exponents are added as integers and mantissas multiplied, eight to a lane, so that one
/// logarithm serves eight sites; a product of eight mantissas in [1, 2) rounds no worse than eight
/// logarithms would.
#[inline(always)]
fn sum_of_logs(probabilities: &[f32; TILE]) -> f64 {
    const LANES: usize = TILE / 8;
    const MANTISSA: u32 = 0x007F_FFFF;
    let mut exponents = [0i32; LANES];
    let mut mantissas = [1.0f32; LANES];
    for lanes in probabilities.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            let bits = lanes[lane].to_bits();
            exponents[lane] += (bits >> 23) as i32;
            mantissas[lane] *= f32::from_bits((bits & MANTISSA) | 1.0f32.to_bits());
        }
    }
    let exponent = exponents.iter().sum::<i32>() - 127 * TILE as i32;
    let mut logs = [0.0f32; LANES];
    for lane in 0..LANES {
        logs[lane] = ln(mantissas[lane]);
    }
    f64::from(exponent) * std::f64::consts::LN_2 + f64::from(logs.iter().sum::<f32>())
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
            for spread in [0.1, 3.0, 30.0] {
                let (space, state, diff) = example(70, values, spread);
                for formula in RowFormula::ALL {
                    for weight in Weight::ALL {
                        for h in [1e-9, 1e-3, 0.3, 4.0, 1e9] {
                            let proposal = rows(formula, weight);
                            let mut table = proposal.new_table(&space);
                            proposal.prepare(h, &state, &diff, &mut table);
                            for site in 0..space.sites() {
                                let (site_diff, own) = reference_row(&space, &state, &diff, site);
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
                                    // Near the clip of Euler's rule, 1 − hG cancels in any
                                    // precision: there only the absolute error is small.
                                    let close = (entry.ln() - log).abs() < 2e-5
                                        || (entry - log.exp()).abs() < 2e-7;
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
