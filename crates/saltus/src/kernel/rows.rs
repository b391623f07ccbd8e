//! The rows of all sites at once, in single precision and vectorised over sites; the proposals
//! DLMC, DLMCf and DMALA.
//!
//! A row that is drawn from is the very row that both densities read, so rounding cannot bias a
//! chain beyond the resolution of the draw itself (2⁻²⁴ of the probability to move).

mod flips;
mod formula;
mod tile;
mod values;

use super::metropolis::Proposal;
use super::row::RowFormula;
use super::traits::KernelTraits;
use crate::balancing::{Balance, Balancing, WithBalance};
use crate::closeness::Closeness;
use crate::math::{Arithmetic, FusedLoop, vectorised, vectorised_and_fused};
use crate::model::Differences;
use crate::parts::{self, PART, is_large};
use crate::rng::ChainRng;
use crate::space::Space;
use formula::{Euler, Formula, Interpolated, Normalised};
use std::marker::PhantomData;
use std::ops::Range;
use values::{ValueRows, ValueRowsMut};

/// Proposes every site at once, each from its own row.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// The sampler that this makes.
    pub traits: fn(&Space) -> KernelTraits,
    /// How rows are made.
    pub formula: RowFormula,
    /// The balancing function g.
    pub balancing: Balancing,
    /// Which differences rows are made from.
    pub differences: Differences,
    /// How close values are to each other.
    pub closeness: Closeness,
}

/// The rows of one state.
pub struct RowTable(Entries);

enum Entries {
    /// Two values: one signed number per site, see [`flips`]; the space says which flips exist.
    Flips(Vec<f32>, Space),
    /// More: one plane per value.
    Values(ValueRows),
}

impl Proposal for Rows {
    type Table = RowTable;
    type Path = ();

    fn traits(&self, space: &Space) -> KernelTraits {
        (self.traits)(space)
    }

    fn work(&self, _space: &Space) -> f64 {
        match self.formula {
            RowFormula::Normalised => 1.1,
            RowFormula::Euler => 1.2,
            RowFormula::Interpolated => 1.5,
            // A guess: an exponential of a matrix per site, which nobody has timed by values.
            RowFormula::Exact => 20.0,
        }
    }

    fn new_table(&self, space: &Space) -> RowTable {
        RowTable(if space.is_binary() {
            Entries::Flips(vec![0.0; space.sites()], space.clone())
        } else {
            Entries::Values(ValueRows::new(space, self.closeness))
        })
    }

    fn differences(&self) -> Differences {
        self.differences
    }

    fn prepare(
        &self,
        scale: f64,
        from: &[u8],
        diff: &[f32],
        table: &mut RowTable,
        to: &[u8],
        (): &(),
    ) -> f64 {
        let request = Request { h: scale as f32, first: 0, sites: from.len(), from, diff, to };
        match self.formula {
            RowFormula::Interpolated => {
                prepare_with::<Interpolated>(self.balancing, request, table)
            }
            RowFormula::Euler => prepare_with::<Euler>(self.balancing, request, table),
            RowFormula::Normalised => prepare_with::<Normalised>(self.balancing, request, table),
            RowFormula::Exact => match &mut table.0 {
                // Two values are interpolated exactly.
                Entries::Flips(..) => prepare_with::<Interpolated>(self.balancing, request, table),
                Entries::Values(rows) => {
                    rows.prepare_exactly(self.balancing, scale, from, diff, to)
                }
            },
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
            return match &table.0 {
                Entries::Flips(table, _) => flips::draw_scripted(state, table, rng, proposed),
                Entries::Values(rows) => rows.draw_scripted(state, rng, proposed),
            };
        }
        if is_large(state.len()) {
            return draw_in_parts(state, table, rng, proposed);
        }
        vectorised(
            #[inline(always)]
            || match &table.0 {
                Entries::Flips(table, _) => flips::draw(state, table, rng, proposed),
                Entries::Values(rows) => rows.draw(state, rng, proposed),
            },
        )
    }
}

/// Draws a large state, every part from a stream of its own.
fn draw_in_parts(state: &[u8], table: &RowTable, rng: &mut ChainRng, proposed: &mut [u8]) -> f64 {
    let key = rng.key();
    let parts = state.chunks(PART).zip(proposed.chunks_mut(PART)).collect();
    let logs = parts::each(parts, |number, (state, proposed)| {
        let mut rng = parts::stream(key, number);
        let sites = number * PART..number * PART + state.len();
        vectorised(
            #[inline(always)]
            || match &table.0 {
                Entries::Flips(table, _) => flips::draw(state, &table[sites], &mut rng, proposed),
                Entries::Values(rows) => rows.part(sites).draw(state, &mut rng, proposed),
            },
        )
    });
    logs.into_iter().sum()
}

/// Where rows are made and what they are then asked.
#[derive(Clone, Copy)]
struct Request<'a> {
    h: f32,
    /// The first site, and the number of sites of the whole state.
    first: usize,
    sites: usize,
    from: &'a [u8],
    /// Differences of the whole state.
    diff: &'a [f32],
    to: &'a [u8],
}

impl<'a> Request<'a> {
    /// The same of some sites alone.
    fn of(self, sites: Range<usize>) -> Self {
        let (from, to) = (&self.from[sites.clone()], &self.to[sites.clone()]);
        Self { first: sites.start, from, to, ..self }
    }
}

fn prepare_with<F: Formula>(
    balancing: Balancing,
    request: Request<'_>,
    table: &mut RowTable,
) -> f64 {
    balancing.with(PrepareBy::<F> { request, table, with: PhantomData })
}

/// Makes the rows of a state by one formula and any balancing function.
struct PrepareBy<'a, F> {
    request: Request<'a>,
    table: &'a mut RowTable,
    with: PhantomData<F>,
}

impl<F: Formula> WithBalance for PrepareBy<'_, F> {
    type Output = f64;

    fn with<W: Balance>(self) -> f64 {
        let Self { request, table, .. } = self;
        let is_plain = match &table.0 {
            Entries::Flips(_, space) => space.is_uniform(),
            Entries::Values(rows) => rows.is_plain(),
        };
        let prepare = |request, rows| match is_plain {
            true => {
                vectorised_and_fused(Prepare::<F, W, false> { request, rows, with: PhantomData })
            }
            false => {
                vectorised_and_fused(Prepare::<F, W, true> { request, rows, with: PhantomData })
            }
        };
        if !is_large(request.sites) {
            return prepare(request, table.rows_mut());
        }
        let parts = table.parts_mut();
        let logs = parts::each(parts, |number, rows| {
            let first = number * PART;
            prepare(request.of(first..(first + PART).min(request.sites)), rows)
        });
        logs.into_iter().sum()
    }
}

/// The rows of some sites, to be made.
enum RowsMut<'a> {
    Flips(&'a mut [f32], &'a Space),
    Values(ValueRowsMut<'a>),
}

impl RowTable {
    fn rows_mut(&mut self) -> RowsMut<'_> {
        match &mut self.0 {
            Entries::Flips(table, space) => RowsMut::Flips(table, space),
            Entries::Values(rows) => RowsMut::Values(rows.rows_mut()),
        }
    }

    /// The same in parts.
    fn parts_mut(&mut self) -> Vec<RowsMut<'_>> {
        match &mut self.0 {
            Entries::Flips(table, space) => {
                table.chunks_mut(PART).map(|table| RowsMut::Flips(table, space)).collect()
            }
            Entries::Values(rows) => rows.parts_mut(PART).map(RowsMut::Values).collect(),
        }
    }
}

/// The loop that makes the rows of some sites.
struct Prepare<'a, F, W, const GENERAL: bool> {
    request: Request<'a>,
    rows: RowsMut<'a>,
    with: PhantomData<(F, W)>,
}

impl<F: Formula, W: Balance, const GENERAL: bool> FusedLoop for Prepare<'_, F, W, GENERAL> {
    type Output = f64;

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> f64 {
        let Self { request, rows, .. } = self;
        match rows {
            RowsMut::Flips(table, space) => {
                let Request { h, first, from, diff, to, .. } = request;
                let (diff, exists) = (&diff[first..][..from.len()], space.exists());
                let exists = exists.get(first..).unwrap_or_default();
                flips::prepare::<A, F, W, GENERAL>(h, from, diff, to, exists, table)
            }
            RowsMut::Values(mut rows) => rows.prepare::<A, F, W, GENERAL>(request),
        }
    }
}

#[cfg(test)]
impl RowTable {
    /// The probability of the next value of a site, from the value it has.
    fn probability(&self, site: usize, own: usize, value: usize) -> f32 {
        match &self.0 {
            Entries::Flips(table, _) => flips::row(table, site)[usize::from(value == own)],
            Entries::Values(rows) => rows.probability(site, value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::tile::{SHARPEST, SMALLEST};
    use super::*;
    use crate::kernel::dlmc;
    use crate::rng::Stream;

    fn rows(formula: RowFormula, balancing: Balancing) -> Rows {
        Rows {
            traits: dlmc::traits,
            formula,
            balancing,
            differences: Differences::Exact,
            closeness: Closeness::Equal,
        }
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
                // Exact rows are made by the code they would be compared with, and not in a moment.
                let formulas =
                    RowFormula::ALL.into_iter().filter(|f| *f != RowFormula::Exact || values < 17);
                for formula in formulas {
                    for balancing in Balancing::ALL {
                        for h in [1e-9, 1e-3, 0.3, 4.0, 1e9] {
                            let proposal = rows(formula, balancing);
                            let mut table = proposal.new_table(&space);
                            proposal.prepare(h, &state, &diff, &mut table, &state, &());
                            for site in 0..space.sites() {
                                let (mut site_diff, own) =
                                    reference_row(&space, &state, &diff, site);
                                let sharpest = f64::from(SHARPEST);
                                for diff in &mut site_diff {
                                    *diff = diff.clamp(-sharpest, sharpest);
                                }
                                let exact = formula.log_row(&site_diff, own, h, balancing);
                                for (value, log) in exact.iter().enumerate() {
                                    let entry = f64::from(table.probability(site, own, value));
                                    let log = log.max(f64::from(SMALLEST).ln());
                                    // Near the clip of Euler's rule, what stays of ν cancels in
                                    // any precision: there only the absolute error is small.
                                    let cancels = formula == RowFormula::Euler && value == own;
                                    let close = (entry.ln() - log).abs() < 2e-5
                                        || (cancels && (entry - log.exp()).abs() < 2e-7);
                                    let case = format!("{formula:?} {balancing} h {h} C {values}");
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
        for (formula, balancing, golden) in [
            (Interpolated, Balancing::Sqrt, [0.548404488777, 0.368847087354, 0.082748423869]),
            (Interpolated, Balancing::Ratio, [0.725705091345, 0.216230145253, 0.058064763402]),
            (Interpolated, Balancing::Min, [0.640249532222, 0.293018111373, 0.066732356404]),
            (Interpolated, Balancing::Max, [0.464087904972, 0.446165490804, 0.089746604224]),
            (Normalised, Balancing::Sqrt, [0.559549597619, 0.317615470324, 0.122834932058]),
            (Normalised, Balancing::Ratio, [0.735367007945, 0.196545297106, 0.068087694949]),
            (Normalised, Balancing::Min, [0.657688047658, 0.263075219063, 0.079236733279]),
            (Normalised, Balancing::Max, [0.453411702090, 0.365223617073, 0.181364680836]),
            // h·G = (0.5676, 0.2195) clipped at ν = (0.607476607150, 0.090859437342).
            (Euler, Balancing::Sqrt, [0.341513543221, 0.567627019437, 0.090859437342]),
            (Euler, Balancing::Ratio, [0.641865453791, 0.267275108867, 0.090859437342]),
        ] {
            let exact = formula.log_row(&[0.0, 0.7, -1.2], 0, 0.4, balancing);
            let proposal = rows(formula, balancing);
            let mut table = proposal.new_table(&space);
            proposal.prepare(0.4, &[0], &[0.0, 0.7, -1.2], &mut table, &[0], &());
            for (value, (exact, golden)) in exact.iter().zip(golden).enumerate() {
                let single = f64::from(table.probability(0, 0, value));
                assert!((exact.exp() - golden).abs() < 2e-12, "{formula:?} {balancing} {golden}");
                assert!((single - golden).abs() < 1e-7, "{formula:?} {balancing}");
            }
        }
    }

    #[test]
    fn golden_flips() {
        let space = Space::new(3, 2).unwrap();
        let diff = [-3.0, 0.0, 2.0];
        for (balancing, golden) in [
            (Balancing::Sqrt, [0.04020309090334925, 0.2753355179413892, 0.6244934572747554]),
            (Balancing::Ratio, [0.015635359685899828, 0.16483997698218036, 0.29038114011969174]),
        ] {
            let proposal = rows(RowFormula::Interpolated, balancing);
            let mut table = proposal.new_table(&space);
            let state = [0, 1, 0];
            proposal.prepare(0.4, &state, &diff, &mut table, &state, &());
            for (site, golden) in golden.iter().enumerate() {
                let log_row = RowFormula::Interpolated.log_row(
                    &[0.0, f64::from(diff[site])],
                    0,
                    0.4,
                    balancing,
                );
                assert!((log_row[1].exp() / golden - 1.0).abs() < 1e-14);
                let flip = table.probability(site, 0, 1);
                assert!((f64::from(flip) / golden - 1.0).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn draws_follow_the_rows_they_are_scored_with() {
        const DRAWS: usize = 20_000;
        for values in [2, 3, 8] {
            let (space, state, diff) = example(130, values, 2.0);
            for formula in RowFormula::ALL {
                let proposal = rows(formula, Balancing::Sqrt);
                let mut table = proposal.new_table(&space);
                proposal.prepare(0.6, &state, &diff, &mut table, &state, &());
                let mut rng = ChainRng::new(5, Stream::Chain(values as u64));
                let mut counts = vec![0.0; space.sites() * values];
                let mut proposed = vec![0; space.sites()];
                for _ in 0..DRAWS {
                    let log_forward =
                        proposal.draw(0.6, &state, &mut table, &mut rng, &mut proposed, &mut ());
                    let mut same = proposal.new_table(&space);
                    let score = proposal.prepare(0.6, &state, &diff, &mut same, &proposed, &());
                    assert_eq!(log_forward, score);
                    for (site, value) in proposed.iter().enumerate() {
                        counts[site * values + usize::from(*value)] += 1.0;
                    }
                }
                for site in 0..space.sites() {
                    let (site_diff, own) = reference_row(&space, &state, &diff, site);
                    let exact = formula.log_row(&site_diff, own, 0.6, Balancing::Sqrt);
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
