//! Inputs of hidden units: sums of rows of weights, exact in any order.
//!
//! A state names few rows of weights (one per site, or one per site that is on), and the next state
//! of a chain most of the same, so adding and taking away rows costs less than a matrix product.
//! Weights are multiples of a small power of two, so sums are integers: nothing is lost, whichever
//! way a state was reached.

use crate::math::bits::{for_each_set, pack};
use pulp::{Simd, WithSimd};
use std::sync::atomic::{AtomicU64, Ordering};

/// Units added up together: their sums fill a few registers.
const PANEL: usize = 32;
/// A sum of as many rows as a state names must stay below this.
const LARGEST_SUM: f64 = (1u32 << 30) as f64;
/// Coarsest spacing of weights; an RBM whose inputs reach further adds in double precision.
const COARSEST: f64 = 1.0 / (1 << 17) as f64;

/// Rows of weights, ready to be added up.
#[derive(Clone, Debug)]
pub(super) struct Inputs {
    values: usize,
    rows: Rows,
    /// Which weights these are: sums of others cannot be gone on from.
    edition: u64,
}

#[derive(Clone, Debug)]
enum Rows {
    /// In units of `quantum`; panels of hidden units, each with all rows.
    Exact { panels: Vec<i32>, count: usize, quantum: f64 },
    /// For RBMs with weights so large that others would vanish beside them.
    Double { weights: Vec<f32>, stride: usize },
}

/// The sums of one chain, and the rows that were added up to them.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    whole: Vec<i32>,
    /// A bit for every row.
    named: Vec<u64>,
    /// The same for the next state, and the rows by which it differs.
    next: Vec<u64>,
    added: Vec<u32>,
    removed: Vec<u32>,
    /// The weights that were added up.
    edition: u64,
}

/// Weights that were laid out so far: those of a model that is learnt change under its chains.
static EDITIONS: AtomicU64 = AtomicU64::new(0);

/// The spacing that weights are rounded to, if inputs of at most `reach` are to be exact.
pub(super) fn quantum(reach: f64) -> Option<f64> {
    let quantum = (reach.max(1.0) / LARGEST_SUM).log2().ceil().exp2();
    (quantum <= COARSEST).then_some(quantum)
}

impl Inputs {
    /// The rows of a table of weights, `stride` hidden units each, that are multiples of `quantum` if
    /// one is given.
    pub(super) fn new(values: usize, weights: &[f32], stride: usize, quantum: Option<f64>) -> Self {
        let edition = EDITIONS.fetch_add(1, Ordering::Relaxed);
        let Some(quantum) = quantum else {
            let rows = Rows::Double { weights: weights.to_vec(), stride };
            return Self { values, rows, edition };
        };
        let count = weights.len() / stride;
        let mut panels = vec![0; stride.div_ceil(PANEL) * count * PANEL];
        for (row, weights) in weights.chunks_exact(stride).enumerate() {
            for (unit, weight) in weights.iter().enumerate() {
                panels[(unit / PANEL * count + row) * PANEL + unit % PANEL] =
                    (f64::from(*weight) / quantum) as i32;
            }
        }
        Self { values, rows: Rows::Exact { panels, count, quantum }, edition }
    }

    /// The sums of no row.
    pub(super) fn nothing(&self, sites: usize, stride: usize) -> Sums {
        let rows = if self.values == 2 { sites } else { sites * self.values };
        Sums {
            whole: vec![0; stride.next_multiple_of(PANEL)],
            named: vec![0; rows.div_ceil(64)],
            next: vec![0; rows.div_ceil(64)],
            added: Vec::with_capacity(sites),
            removed: Vec::with_capacity(sites),
            edition: self.edition,
        }
    }

    /// The rows that a state names: with two values those of sites that are on, with more one per
    /// site.
    fn name_rows(&self, state: &[u8], named: &mut [u64]) {
        if self.values == 2 {
            let (whole, rest) = state.as_chunks::<64>();
            let mut last = [0; 64];
            last[..rest.len()].copy_from_slice(rest);
            for (word, values) in named.iter_mut().zip(whole.iter().chain([&last])) {
                *word = pack(values);
            }
        } else {
            named.fill(0);
            for (site, value) in state.iter().enumerate() {
                let row = site * self.values + usize::from(*value);
                named[row / 64] |= 1 << (row % 64);
            }
        }
    }

    /// Adds the rows that a state names to `inputs`; `sums` are those of an earlier state of the same
    /// chain.
    pub(super) fn add(&self, state: &[u8], sums: &mut Sums, inputs: &mut [f64]) {
        match &self.rows {
            Rows::Exact { panels, count, quantum } => {
                if sums.edition != self.edition {
                    sums.forget(self.edition);
                }
                self.name_rows(state, &mut sums.next);
                sums.advance();
                let Sums { whole, added, removed, .. } = sums;
                let panels = panels.chunks_exact(count * PANEL);
                let sums = whole.as_chunks_mut::<PANEL>().0;
                for ((panel, sums), inputs) in panels.zip(sums).zip(inputs.chunks_mut(PANEL)) {
                    pulp::Arch::new().dispatch(AddRows { panel, added, removed, sums });
                    for (input, sum) in inputs.iter_mut().zip(sums) {
                        *input += f64::from(*sum) * quantum;
                    }
                }
            }
            Rows::Double { weights, stride } => {
                self.name_rows(state, &mut sums.next);
                sums.added.clear();
                list(&sums.next, &[], &mut sums.added);
                for row in &sums.added {
                    let weights = &weights[*row as usize * stride..][..*stride];
                    for (input, weight) in inputs.iter_mut().zip(weights) {
                        *input += f64::from(*weight);
                    }
                }
            }
        }
    }
}

impl Sums {
    /// The sums of no row of other weights.
    fn forget(&mut self, edition: u64) {
        self.whole.fill(0);
        self.named.fill(0);
        self.edition = edition;
    }

    /// Lists the rows that lead to the next state from the last one, or from nothing if those are
    /// fewer.
    fn advance(&mut self) {
        let Self { whole, named, next, added, removed, .. } = self;
        let pairs = named.iter().zip(next.iter());
        let changed: u32 = pairs.map(|(named, next)| (named ^ next).count_ones()).sum();
        if changed > next.iter().map(|word| word.count_ones()).sum() {
            whole.fill(0);
            named.fill(0);
        }
        added.clear();
        removed.clear();
        list(next, named, added);
        list(named, next, removed);
        std::mem::swap(named, next);
    }
}

/// Lists the bits that are in `these` and not in `those`; words missing there are empty.
fn list(these: &[u64], those: &[u64], numbers: &mut Vec<u32>) {
    let those = those.iter().copied().chain(std::iter::repeat(0));
    for ((word, these), those) in (0..).zip(these).zip(those) {
        for_each_set(these & !those, |place| numbers.push(64 * word + place as u32));
    }
}

/// Adds rows of one panel to its sums, and takes others away.
struct AddRows<'a> {
    panel: &'a [i32],
    added: &'a [u32],
    removed: &'a [u32],
    sums: &'a mut [i32; PANEL],
}

impl WithSimd for AddRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // The number of registers across a panel must be known to the compiler.
        match S::I32_LANES {
            16 => self.rows::<S, 2>(simd),
            8 => self.rows::<S, 4>(simd),
            4 => self.rows::<S, 8>(simd),
            2 => self.rows::<S, 16>(simd),
            _ => self.rows::<S, 32>(simd),
        }
    }
}

impl AddRows<'_> {
    #[inline(always)]
    fn rows<S: Simd, const VECTORS: usize>(self, simd: S) {
        let rows = S::as_simd_i32s(self.panel).0.as_chunks::<VECTORS>().0;
        let mut sums = [simd.splat_i32s(0); VECTORS];
        sums.copy_from_slice(S::as_simd_i32s(self.sums).0);
        for row in self.added {
            let row = &rows[*row as usize];
            for vector in 0..VECTORS {
                sums[vector] = simd.add_i32s(sums[vector], row[vector]);
            }
        }
        for row in self.removed {
            let row = &rows[*row as usize];
            for vector in 0..VECTORS {
                sums[vector] = simd.sub_i32s(sums[vector], row[vector]);
            }
        }
        self.sums.copy_from_slice(pulp::bytemuck::cast_slice(&sums));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_exact_however_a_state_was_reached() {
        for (values, reach, stride) in [(2, 7.0, 16), (3, 100.0, 48), (2, 1e9, 32), (256, 9.0, 16)]
        {
            let quantum = quantum(reach);
            assert_eq!(quantum.is_none(), reach > 1e4);
            let step = quantum.unwrap_or(0.25);
            const SITES: usize = 29;
            let count = if values == 2 { SITES } else { SITES * values };
            let weights: Vec<f32> =
                (0..count * stride).map(|i| (((i * 7919) % 1013) as f64 * step) as f32).collect();
            let inputs = Inputs::new(values, &weights, stride, quantum);
            let mut sums = inputs.nothing(SITES, stride);
            let mut state = [0u8; SITES];
            for step in 0..60usize {
                // Now and then a few changes, now and then many, now and then none.
                for change in 0..step % 5 * 3 {
                    state[(step * 13 + change * 7) % SITES] = ((step * 31 + change) % values) as u8;
                }
                let mut found = vec![0.5; stride];
                inputs.add(&state, &mut sums, &mut found);
                let mut exact = vec![0.5; stride];
                for (site, value) in state.iter().map(|value| usize::from(*value)).enumerate() {
                    let row = match (values, value) {
                        (2, 0) => continue,
                        (2, _) => site,
                        _ => site * values + value,
                    };
                    for (exact, weight) in exact.iter_mut().zip(&weights[row * stride..]) {
                        *exact += f64::from(*weight);
                    }
                }
                assert_eq!(found, exact, "{values} values, step {step}");
            }
        }
    }

    #[test]
    fn the_spacing_leaves_room_for_the_largest_sum() {
        for reach in [0.0, 1.0, 3.3, 500.0, 8000.0] {
            let quantum = quantum(reach).unwrap();
            assert!(reach / quantum <= LARGEST_SUM && quantum <= COARSEST, "{reach}");
        }
        assert_eq!(quantum(1e6), None);
        assert_eq!(quantum(f64::INFINITY), None);
    }
}
