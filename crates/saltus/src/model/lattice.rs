//! Rectangular lattices: their edges, and a copy of a state with a border so that every site has
//! four neighbours at fixed offsets.

use super::graph::Edge;
use crate::error::ModelError;

/// A rectangle of sites, numbered row after row, each joined to its horizontal and vertical
/// neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lattice {
    rows: usize,
    columns: usize,
    periodic: bool,
}

impl Lattice {
    /// A lattice with free boundaries: sites at the rim have fewer neighbours.
    pub fn free(rows: usize, columns: usize) -> Result<Self, ModelError> {
        Self::new(rows, columns, false)
    }

    /// A lattice on a torus: opposite rims are joined. Across a side of two sites a pair is joined
    /// twice, as is usual; across a side of one site not at all.
    pub fn periodic(rows: usize, columns: usize) -> Result<Self, ModelError> {
        Self::new(rows, columns, true)
    }

    fn new(rows: usize, columns: usize, periodic: bool) -> Result<Self, ModelError> {
        if rows == 0 || columns == 0 {
            return Err(ModelError::invalid(format!(
                "a lattice needs at least one row and one column, got {rows}x{columns}"
            )));
        }
        if rows.checked_mul(columns).is_none_or(|sites| sites > u32::MAX as usize / 8) {
            return Err(ModelError::invalid(format!("a lattice of {rows}x{columns} is too large")));
        }
        Ok(Self { rows, columns, periodic })
    }

    /// Number of sites.
    pub fn sites(&self) -> usize {
        self.rows * self.columns
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// Whether opposite rims are joined.
    pub fn is_periodic(&self) -> bool {
        self.periodic
    }

    /// All edges, with one weight.
    pub fn edges(&self, weight: f32) -> Vec<Edge> {
        let mut edges = Vec::with_capacity(2 * self.sites());
        let wrap = |at: usize, length: usize| match (at + 1 < length, self.periodic && length > 1) {
            (true, _) => Some(at + 1),
            (false, true) => Some(0),
            (false, false) => None,
        };
        for row in 0..self.rows {
            for column in 0..self.columns {
                let from = (row * self.columns + column) as u32;
                if let Some(column) = wrap(column, self.columns) {
                    edges.push(Edge { from, to: (row * self.columns + column) as u32, weight });
                }
                if let Some(row) = wrap(row, self.rows) {
                    edges.push(Edge { from, to: (row * self.columns + column) as u32, weight });
                }
            }
        }
        edges
    }

    /// Whether the bordered copy reproduces the edges (it would join a site to itself across a
    /// periodic side of one).
    pub(crate) fn has_stencil(&self) -> bool {
        !self.periodic || (self.rows > 1 && self.columns > 1)
    }

    /// Length of a bordered copy.
    pub(crate) fn bordered_len(&self) -> usize {
        (self.rows + 2) * self.stride()
    }

    /// Distance between rows of a bordered copy.
    pub(crate) fn stride(&self) -> usize {
        self.columns + 2
    }

    /// Copies a state into its bordered form, each value through `code`; where there is no
    /// neighbour the border holds `outside`.
    pub(crate) fn border<T: Copy>(
        &self,
        state: &[u8],
        bordered: &mut [T],
        outside: T,
        code: impl Fn(u8) -> T,
    ) {
        let (rows, columns, stride) = (self.rows, self.columns, self.stride());
        for (row, line) in state.chunks_exact(columns).enumerate() {
            let target = &mut bordered[(row + 1) * stride..(row + 2) * stride];
            for (target, value) in target[1..=columns].iter_mut().zip(line) {
                *target = code(*value);
            }
            (target[0], target[columns + 1]) =
                if self.periodic { (target[columns], target[1]) } else { (outside, outside) };
        }
        if self.periodic {
            bordered.copy_within(rows * stride..(rows + 1) * stride, 0);
            bordered.copy_within(stride..2 * stride, (rows + 1) * stride);
        } else {
            bordered[..stride].fill(outside);
            bordered[(rows + 1) * stride..].fill(outside);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_counted() {
        assert_eq!(Lattice::free(3, 4).unwrap().edges(1.0).len(), 3 * 3 + 2 * 4);
        assert_eq!(Lattice::periodic(3, 4).unwrap().edges(1.0).len(), 2 * 12);
        assert_eq!(Lattice::periodic(1, 4).unwrap().edges(1.0).len(), 4);
        assert_eq!(Lattice::free(1, 1).unwrap().edges(1.0).len(), 0);
    }

    #[test]
    fn a_border_wraps_or_ends() {
        let state = [1, 2, 3, 4, 5, 6];
        let lattice = Lattice::periodic(2, 3).unwrap();
        let mut bordered = vec![0; lattice.bordered_len()];
        lattice.border(&state, &mut bordered, 9, |v| v);
        assert_eq!(&bordered[5..10], [3, 1, 2, 3, 1]);
        assert_eq!(&bordered[..5], [6, 4, 5, 6, 4]);
        Lattice::free(2, 3).unwrap().border(&state, &mut bordered, 9, |v| v);
        assert_eq!(&bordered[10..15], [9, 4, 5, 6, 9]);
        assert_eq!(&bordered[15..], [9; 5]);
    }
}
