//! Products of a block of rows with a matrix that is packed once for many of them, so that they
//! vectorise.
//!
//! Every entry of a product is added up in order, fused wherever the processor fuses, however many
//! rows are multiplied together: a chain's numbers depend neither on the width of the registers nor
//! on the chains it shares a block with, which no general matrix library promises.

use pulp::{Simd, WithSimd};

/// Columns per panel: with [`TILE_ROWS`] rows their sums fill the registers of AVX2.
const PANEL_COLUMNS: usize = 16;
/// Rows of the left factor multiplied together, so that a loaded panel is used that often.
pub const TILE_ROWS: usize = 6;

/// A matrix that many blocks of rows are multiplied with.
///
/// ```
/// use saltus::math::matrix::PackedMatrix;
/// let mut matrix = PackedMatrix::zeros(2, 3);
/// matrix.set_rows([&[1.0, 2.0, 3.0][..], &[4.0, 5.0, 6.0]]);
/// let mut product = [0.0; 3];
/// matrix.multiply(&[1.0, 10.0], 2, &mut product);
/// assert_eq!(product, [41.0, 52.0, 63.0]);
/// ```
#[derive(Clone, Debug)]
pub struct PackedMatrix {
    rows: usize,
    columns: usize,
    /// Panels of `PANEL_COLUMNS` columns, each row after row; the last is filled up with zeros.
    panels: Vec<f32>,
}

impl PackedMatrix {
    /// The matrix with those entries.
    pub fn new(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> f32) -> Self {
        let mut matrix = Self::zeros(rows, columns);
        for column in 0..columns {
            let (panel, lane) = (column / PANEL_COLUMNS, column % PANEL_COLUMNS);
            for row in 0..rows {
                matrix.panels[(panel * rows + row) * PANEL_COLUMNS + lane] = entry(row, column);
            }
        }
        matrix
    }

    /// A matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        let length = columns.div_ceil(PANEL_COLUMNS) * rows * PANEL_COLUMNS;
        Self { rows, columns, panels: vec![0.0; length] }
    }

    /// Takes over its first rows.
    ///
    /// # Panics
    /// If there are more rows than the matrix has, or one has another length.
    pub fn set_rows<'n>(&mut self, rows: impl IntoIterator<Item = &'n [f32]>) {
        for (row, entries) in rows.into_iter().enumerate() {
            assert!(row < self.rows, "a matrix of {} rows has no row {row}", self.rows);
            assert_eq!(entries.len(), self.columns, "length of row {row}");
            let panels = self.panels.chunks_exact_mut(self.rows * PANEL_COLUMNS);
            for (panel, entries) in panels.zip(entries.chunks(PANEL_COLUMNS)) {
                panel[row * PANEL_COLUMNS..][..entries.len()].copy_from_slice(entries);
            }
        }
    }

    /// Takes over all its columns, which stand one after the other.
    ///
    /// # Panics
    /// If there are more or fewer numbers than the matrix has.
    pub fn set_columns(&mut self, columns: &[f32]) {
        let rows = self.rows;
        assert_eq!(columns.len(), rows * self.columns, "numbers of {rows} rows");
        if rows == 0 {
            return;
        }
        let panels = self.panels.chunks_exact_mut(rows * PANEL_COLUMNS);
        for (panel, columns) in panels.zip(columns.chunks(rows * PANEL_COLUMNS)) {
            let lines = panel.as_chunks_mut::<PANEL_COLUMNS>().0;
            for (row, line) in lines.iter_mut().enumerate() {
                for (entry, column) in line.iter_mut().zip(columns.chunks_exact(rows)) {
                    *entry = column[row];
                }
            }
        }
    }

    /// `product = left · self`; rows of `left` are `stride` apart and may be longer than needed.
    pub fn multiply(&self, left: &[f32], stride: usize, product: &mut [f32]) {
        debug_assert!(stride >= self.rows);
        pulp::Arch::new().dispatch(Multiply { matrix: self, left, stride, product });
    }
}

struct Multiply<'a> {
    matrix: &'a PackedMatrix,
    left: &'a [f32],
    stride: usize,
    product: &'a mut [f32],
}

impl WithSimd for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // The number of registers across a panel must be known to the compiler.
        match S::F32_LANES {
            16 => self.panels::<S, 1>(simd),
            8 => self.panels::<S, 2>(simd),
            4 => self.panels::<S, 4>(simd),
            2 => self.panels::<S, 8>(simd),
            _ => self.panels::<S, 16>(simd),
        }
    }
}

impl Multiply<'_> {
    #[inline(always)]
    fn panels<S: Simd, const VECTORS: usize>(self, simd: S) {
        let PackedMatrix { rows, columns, .. } = *self.matrix;
        let panel_len = rows * PANEL_COLUMNS;
        if panel_len == 0 {
            self.product.fill(0.0);
            return;
        }
        for (number, panel) in self.matrix.panels.chunks_exact(panel_len).enumerate() {
            let first = number * PANEL_COLUMNS;
            let target = Target { columns, first, width: PANEL_COLUMNS.min(columns - first) };
            let panel = S::as_simd_f32s(panel).0.as_chunks::<VECTORS>().0;
            for (left, product) in self
                .left
                .chunks(TILE_ROWS * self.stride)
                .zip(self.product.chunks_mut(TILE_ROWS * columns))
            {
                let left = (left, self.stride);
                match product.len() / columns {
                    1 => tile::<S, VECTORS, 1>(simd, left, panel, target, product),
                    2 => tile::<S, VECTORS, 2>(simd, left, panel, target, product),
                    3 => tile::<S, VECTORS, 3>(simd, left, panel, target, product),
                    4 => tile::<S, VECTORS, 4>(simd, left, panel, target, product),
                    5 => tile::<S, VECTORS, 5>(simd, left, panel, target, product),
                    _ => tile::<S, VECTORS, TILE_ROWS>(simd, left, panel, target, product),
                }
            }
        }
    }
}

/// The columns of the product that a panel is responsible for.
#[derive(Clone, Copy)]
struct Target {
    columns: usize,
    first: usize,
    width: usize,
}

/// A few rows of the left factor times one panel.
#[inline(always)]
fn tile<S: Simd, const VECTORS: usize, const ROWS: usize>(
    simd: S,
    (left, stride): (&[f32], usize),
    panel: &[[S::f32s; VECTORS]],
    target: Target,
    product: &mut [f32],
) {
    let left: [&[f32]; ROWS] =
        std::array::from_fn(|row| &left[row * stride..row * stride + panel.len()]);
    let mut sums = [[simd.splat_f32s(0.0); VECTORS]; ROWS];
    for (index, entries) in panel.iter().enumerate() {
        for row in 0..ROWS {
            let factor = simd.splat_f32s(left[row][index]);
            for vector in 0..VECTORS {
                sums[row][vector] = simd.mul_add_e_f32s(factor, entries[vector], sums[row][vector]);
            }
        }
    }
    for (row, sums) in sums.iter().enumerate() {
        let sums: &[f32] = pulp::bytemuck::cast_slice(sums);
        let start = row * target.columns + target.first;
        product[start..start + target.width].copy_from_slice(&sums[..target.width]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_the_sum_in_order_to_the_last_bit() {
        let fuses = !matches!(pulp::Arch::new(), pulp::Arch::Scalar);
        for (rows, columns, blocks) in [(1, 1, 1), (7, 16, 6), (33, 50, 13), (200, 784, 5)] {
            let stride = rows + 3;
            let entry = |i: usize, j: usize| ((i * 31 + j * 17) % 101) as f32 / 37.0 - 1.3;
            let left: Vec<f32> =
                (0..blocks * stride).map(|i| ((i * 53) % 89) as f32 / 23.0 - 1.7).collect();
            let matrix = PackedMatrix::new(rows, columns, entry);
            let mut product = vec![f32::NAN; blocks * columns];
            matrix.multiply(&left, stride, &mut product);
            for row in 0..blocks {
                for column in 0..columns {
                    let mut expected = 0.0f32;
                    for i in 0..rows {
                        let (a, b) = (left[row * stride + i], entry(i, column));
                        expected = if fuses { a.mul_add(b, expected) } else { a * b + expected };
                    }
                    assert_eq!(product[row * columns + column], expected);
                }
            }
        }
    }

    #[test]
    fn rows_and_columns_are_the_entries() {
        let entry = |i: usize, j: usize| (100 * i + j) as f32;
        for (rows, columns) in [(1, 1), (3, 16), (5, 37), (0, 4), (4, 0)] {
            let expected = PackedMatrix::new(rows, columns, entry).panels;
            let by_rows: Vec<Vec<f32>> =
                (0..rows).map(|i| (0..columns).map(|j| entry(i, j)).collect()).collect();
            let mut matrix = PackedMatrix::zeros(rows, columns);
            matrix.set_rows(by_rows.iter().map(|row| &row[..]));
            assert_eq!(matrix.panels, expected);
            let by_columns: Vec<f32> =
                (0..columns).flat_map(|j| (0..rows).map(move |i| entry(i, j))).collect();
            let mut matrix = PackedMatrix::zeros(rows, columns);
            matrix.set_columns(&by_columns);
            assert_eq!(matrix.panels, expected);
        }
    }
}
