//! Products of a block of rows of shares with a matrix in 16 bits: for differences that propose, where a part in
//! thousands is near enough.
//!
//! Sums are integers, so a product is the same in any order, on any processor and in any block; and two products and their sum are
//! one instruction, which halves the time of [`matrix`](super::matrix).

use super::matrix::TILE_ROWS;
use super::vectorised;

/// Columns per panel: with [`TILE_ROWS`] rows their sums fill the registers of AVX2.
const PANEL_COLUMNS: usize = 16;
/// What a share of one is, unless there are so many rows that sums would overflow.
const LARGEST_ONE: usize = 1 << 14;

/// Two entries of each column of a panel, in rows that follow each other.
type Line = [[i16; 2]; PANEL_COLUMNS];

/// A matrix that blocks of rows of numbers from 0 to 1 are multiplied with.
#[derive(Clone, Debug)]
pub(crate) struct ShortMatrix {
    /// Two rows of the matrix are one here; the last may be filled up with zeros.
    pairs: usize,
    /// Panels of columns, each line after line; the last is filled up with zeros.
    panels: Vec<Line>,
    /// What a unit of the sums of each column is worth.
    units: Vec<f32>,
    /// What a share of one is in the left factor.
    one: usize,
}

impl ShortMatrix {
    /// The matrix with those entries, each column rounded to multiples of a power of two.
    pub(crate) fn new(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> f32) -> Self {
        let pairs = rows.div_ceil(2);
        let mut one = LARGEST_ONE;
        while one > 1 && rows.saturating_mul(one) > 1 << 30 {
            one /= 2;
        }
        let mut panels = vec![[[0; 2]; PANEL_COLUMNS]; columns.div_ceil(PANEL_COLUMNS) * pairs];
        let mut units = Vec::with_capacity(columns);
        for column in 0..columns {
            let scale = scale((0..rows).map(|row| f64::from(entry(row, column))), rows, one);
            let (panel, lane) = (column / PANEL_COLUMNS, column % PANEL_COLUMNS);
            for row in 0..rows {
                let rounded = (f64::from(entry(row, column)) * scale).round_ties_even();
                panels[panel * pairs + row / 2][lane][row % 2] = rounded as i16;
            }
            units.push((1.0 / (scale * one as f64)) as f32);
        }
        Self { pairs, panels, units, one }
    }

    /// `product = left · self`; rows of `left` are `stride` apart, even in number, and may be longer than needed.
    /// `shares` is memory.
    pub(crate) fn multiply(
        &self,
        left: &[f32],
        stride: usize,
        shares: &mut Vec<i32>,
        product: &mut [f32],
    ) {
        debug_assert!(stride.is_multiple_of(2) && stride >= 2 * self.pairs);
        shares.resize(left.len() / 2, 0);
        let one = self.one as f32;
        vectorised(
            #[inline(always)]
            || {
                for (share, pair) in shares.iter_mut().zip(left.as_chunks::<2>().0) {
                    // Within the bounds of 16 bits, because shares are from 0 to 1.
                    let [low, high] = pair.map(|number| (number * one + 0.5) as i32);
                    *share = low | high << 16;
                }
            },
        );
        let (shares, stride) = (&shares[..], stride / 2);
        match pulp::Arch::new() {
            #[cfg(target_arch = "x86_64")]
            pulp::Arch::V4(simd) => {
                let body = Multiply { sums: simd, matrix: self, shares, stride, product };
                simd.vectorize(body);
            }
            #[cfg(target_arch = "x86_64")]
            pulp::Arch::V3(simd) => {
                let body = Multiply { sums: simd, matrix: self, shares, stride, product };
                simd.vectorize(body);
            }
            arch => {
                let body = Multiply { sums: Plain, matrix: self, shares, stride, product };
                arch.dispatch(
                    #[inline(always)]
                    || pulp::NullaryFnOnce::call(body),
                );
            }
        }
    }
}

/// The largest power of two by which a column can be multiplied such that its entries fit in 16 bits, and its
/// sums with shares of at most one in 32.
fn scale(entries: impl Iterator<Item = f64> + Clone, rows: usize, one: usize) -> f64 {
    let largest = entries.clone().fold(0.0f64, |largest, entry| largest.max(entry.abs()));
    if largest == 0.0 {
        return 1.0;
    }
    let sum: f64 = entries.map(f64::abs).sum();
    // An entry grows by half a unit when it is rounded.
    let most = f64::from(i32::MAX) / one as f64 - rows as f64 / 2.0;
    (f64::from(i16::MAX) / largest).min(most / sum).log2().floor().exp2()
}

/// Sums of the columns of a panel, in registers.
trait PairSums: Copy {
    type Sums: Copy;

    fn nothing(self) -> Self::Sums;

    /// Adds a line times a pair of shares.
    fn add(self, sums: Self::Sums, pair: i32, line: &Line) -> Self::Sums;

    fn columns(sums: Self::Sums) -> [i32; PANEL_COLUMNS];
}

#[cfg(target_arch = "x86_64")]
impl PairSums for pulp::x86::V4 {
    type Sums = pulp::i32x16;

    #[inline(always)]
    fn nothing(self) -> Self::Sums {
        self.splat_i32x16(0)
    }

    #[inline(always)]
    fn add(self, sums: Self::Sums, pair: i32, line: &Line) -> Self::Sums {
        let pair = pulp::cast(self.splat_i32x16(pair));
        let products = self.multiply_wrapping_add_adjacent_i16x32(pair, pulp::cast(*line));
        self.wrapping_add_i32x16(sums, products)
    }

    #[inline(always)]
    fn columns(sums: Self::Sums) -> [i32; PANEL_COLUMNS] {
        pulp::cast(sums)
    }
}

#[cfg(target_arch = "x86_64")]
impl PairSums for pulp::x86::V3 {
    type Sums = [pulp::i32x8; 2];

    #[inline(always)]
    fn nothing(self) -> Self::Sums {
        [self.splat_i32x8(0); 2]
    }

    #[inline(always)]
    fn add(self, sums: Self::Sums, pair: i32, line: &Line) -> Self::Sums {
        let pair = pulp::cast(self.splat_i32x8(pair));
        let line: [pulp::i16x16; 2] = pulp::cast(*line);
        std::array::from_fn(
            #[inline(always)]
            |half| {
                let products = self.multiply_wrapping_add_adjacent_i16x16(pair, line[half]);
                self.wrapping_add_i32x8(sums[half], products)
            },
        )
    }

    #[inline(always)]
    fn columns(sums: Self::Sums) -> [i32; PANEL_COLUMNS] {
        pulp::cast(sums)
    }
}

/// Left to the compiler.
#[derive(Clone, Copy)]
struct Plain;

impl PairSums for Plain {
    type Sums = [i32; PANEL_COLUMNS];

    #[inline(always)]
    fn nothing(self) -> Self::Sums {
        [0; PANEL_COLUMNS]
    }

    #[inline(always)]
    fn add(self, mut sums: Self::Sums, pair: i32, line: &Line) -> Self::Sums {
        let (low, high) = (i32::from(pair as i16), pair >> 16);
        for (sum, entries) in sums.iter_mut().zip(line) {
            *sum += low * i32::from(entries[0]) + high * i32::from(entries[1]);
        }
        sums
    }

    #[inline(always)]
    fn columns(sums: Self::Sums) -> [i32; PANEL_COLUMNS] {
        sums
    }
}

struct Multiply<'a, P> {
    sums: P,
    matrix: &'a ShortMatrix,
    shares: &'a [i32],
    stride: usize,
    product: &'a mut [f32],
}

impl<P: PairSums> pulp::NullaryFnOnce for Multiply<'_, P> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { sums, matrix, shares, stride, product } = self;
        let columns = matrix.units.len();
        if matrix.pairs == 0 {
            product.fill(0.0);
            return;
        }
        let panels = matrix.panels.chunks_exact(matrix.pairs);
        for (number, (panel, units)) in panels.zip(matrix.units.chunks(PANEL_COLUMNS)).enumerate() {
            let first = number * PANEL_COLUMNS;
            let left = shares.chunks(TILE_ROWS * stride);
            for (left, product) in left.zip(product.chunks_mut(TILE_ROWS * columns)) {
                let target = (&mut product[first..], columns);
                match left.len() / stride {
                    1 => tile::<P, 1>(sums, (left, stride), panel, units, target),
                    2 => tile::<P, 2>(sums, (left, stride), panel, units, target),
                    3 => tile::<P, 3>(sums, (left, stride), panel, units, target),
                    4 => tile::<P, 4>(sums, (left, stride), panel, units, target),
                    5 => tile::<P, 5>(sums, (left, stride), panel, units, target),
                    _ => tile::<P, TILE_ROWS>(sums, (left, stride), panel, units, target),
                }
            }
        }
    }
}

/// A few rows of the left factor times one panel.
#[inline(always)]
fn tile<P: PairSums, const ROWS: usize>(
    simd: P,
    (left, stride): (&[i32], usize),
    panel: &[Line],
    units: &[f32],
    (product, columns): (&mut [f32], usize),
) {
    let left: [&[i32]; ROWS] =
        std::array::from_fn(|row| &left[row * stride..row * stride + panel.len()]);
    let mut sums = [simd.nothing(); ROWS];
    for (index, line) in panel.iter().enumerate() {
        for row in 0..ROWS {
            sums[row] = simd.add(sums[row], left[row][index], line);
        }
    }
    for (row, sums) in sums.into_iter().enumerate() {
        let sums = P::columns(sums);
        let product = &mut product[row * columns..][..units.len()];
        for ((product, sum), unit) in product.iter_mut().zip(sums).zip(units) {
            *product = sum as f32 * unit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries and shares, some of which are at the ends of what is possible.
    fn entry(row: usize, column: usize) -> f32 {
        let size = [1e-3, 1.0, 40.0, 0.0][column % 4];
        size * (((row * 31 + column * 17) % 101) as f32 / 37.0 - 1.3)
    }

    fn shares(count: usize) -> Vec<f32> {
        (0..count).map(|i| [0.0, 1.0, (i * 53 % 89) as f32 / 89.0][i % 3]).collect()
    }

    #[test]
    fn a_product_is_near_and_no_sum_overflows() {
        for (rows, columns, blocks) in [(1usize, 1, 1), (7, 16, 6), (33, 50, 13), (200, 784, 5)] {
            let stride = rows.next_multiple_of(16);
            let left = shares(blocks * stride);
            let mut product = vec![f32::NAN; blocks * columns];
            let matrix = ShortMatrix::new(rows, columns, entry);
            matrix.multiply(&left, stride, &mut Vec::new(), &mut product);
            for (place, found) in product.iter().enumerate() {
                let (row, column) = (place / columns, place % columns);
                let left = &left[row * stride..];
                let exact: f64 =
                    (0..rows).map(|i| f64::from(left[i]) * f64::from(entry(i, column))).sum();
                let sizes = (0..rows).map(|i| f64::from(entry(i, column)).abs());
                // Half a unit of every entry, and half a unit of every share.
                let sum: f64 = sizes.clone().sum();
                let scale = scale(sizes, rows, LARGEST_ONE);
                let bound = 0.5 * rows as f64 / scale + sum / LARGEST_ONE as f64 + 1e-6 * sum;
                assert!((f64::from(*found) - exact).abs() <= bound, "{rows}, {column}: {found}");
                assert!(bound <= 0.01 * sum || sum == 0.0, "{bound} of {sum}");
            }
        }
    }

    #[test]
    fn every_processor_finds_the_same() {
        for (rows, columns, blocks) in [(1usize, 1, 1), (7, 16, 6), (33, 50, 13), (200, 70, 5)] {
            let stride = rows.next_multiple_of(16);
            let left = shares(blocks * stride);
            let mut product = vec![f32::NAN; blocks * columns];
            let matrix = ShortMatrix::new(rows, columns, entry);
            let mut pairs = Vec::new();
            matrix.multiply(&left, stride, &mut pairs, &mut product);
            let shares = &pairs[..];
            let call = |product: &mut [f32]| {
                let stride = stride / 2;
                pulp::NullaryFnOnce::call(Multiply {
                    sums: Plain,
                    matrix: &matrix,
                    shares,
                    stride,
                    product,
                });
            };
            let mut plain = vec![f32::NAN; blocks * columns];
            call(&mut plain);
            assert_eq!(plain, product);
            #[cfg(target_arch = "x86_64")]
            if let Some(simd) = pulp::x86::V3::try_new() {
                let (stride, matrix) = (stride / 2, &matrix);
                let mut narrow = vec![f32::NAN; blocks * columns];
                let product = &mut narrow[..];
                simd.vectorize(Multiply { sums: simd, matrix, shares, stride, product });
                assert_eq!(plain, narrow);
            }
        }
    }

    #[test]
    fn any_size_of_entries_has_a_scale() {
        for size in [0.0, 1e-44f32, 1e-30, 1.0, 1e30, f32::MAX] {
            let matrix =
                ShortMatrix::new(3, 2, |row, column| if row == column { size } else { -size });
            let mut product = [f32::NAN; 2];
            matrix.multiply(&[1.0, 0.5, 0.0, 0.0], 4, &mut Vec::new(), &mut product);
            let expected = [0.5 * size, -0.5 * size];
            for (product, expected) in product.iter().zip(expected) {
                // Numbers too small for single precision may vanish.
                let most = 1e-3 * size.max(f32::MIN_POSITIVE / 1e-3);
                assert!((product - expected).abs() <= most, "{product} {expected}");
            }
        }
        // As many as there may be: sums still fit.
        let matrix = ShortMatrix::new(1 << 18, 1, |_, _| 1.0);
        let mut product = [0.0];
        matrix.multiply(&vec![1.0; 1 << 18], 1 << 18, &mut Vec::new(), &mut product);
        assert_eq!(product, [(1 << 18) as f32]);
    }
}
