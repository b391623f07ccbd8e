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

    /// The lattice whose edges these are, in any order and direction, and their common weight; none if they are not those of
    /// a lattice whose sites are numbered row after row or column after column, or weights differ.
    pub fn of_edges(sites: usize, edges: &[Edge]) -> Option<(Self, f32)> {
        let weight = edges.first()?.weight;
        if edges.iter().any(|edge| edge.weight != weight) {
            return None;
        }
        // One of the neighbours of site 0 stands below it, or they stand in one row.
        let below = edges.iter().filter_map(|edge| match (edge.from, edge.to) {
            (0, other) | (other, 0) => Some(other as usize),
            _ => None,
        });
        let mut widths: Vec<usize> = below.chain([sites]).collect();
        widths.sort_unstable();
        widths.dedup();
        let in_order = |edges: &[Edge]| {
            let pair = |edge: &Edge| (edge.from.min(edge.to), edge.from.max(edge.to));
            let mut pairs: Vec<(u32, u32)> = edges.iter().map(pair).collect();
            pairs.sort_unstable();
            pairs
        };
        let mut pairs = None;
        for columns in widths.into_iter().filter(|columns| sites.is_multiple_of(*columns)) {
            for periodic in [false, true] {
                let lattice = Self::new(sites / columns, columns, periodic).ok()?;
                if lattice.has_stencil() && lattice.edge_count() == edges.len() {
                    let pairs = pairs.get_or_insert_with(|| in_order(edges));
                    if *pairs == in_order(&lattice.edges(weight)) {
                        return Some((lattice, weight));
                    }
                }
            }
        }
        None
    }

    /// How many edges it has, if it has a stencil.
    fn edge_count(&self) -> usize {
        match self.periodic {
            true => 2 * self.sites(),
            false => 2 * self.sites() - self.rows - self.columns,
        }
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
    fn a_lattice_is_known_by_its_edges() {
        let of_edges = |lattice: Lattice, edges: &[Edge]| Lattice::of_edges(lattice.sites(), edges);
        for (rows, columns) in [(3, 4), (4, 3), (2, 5), (5, 2), (2, 2), (1, 6), (4, 4), (7, 9)] {
            for lattice in [Lattice::free(rows, columns), Lattice::periodic(rows, columns)] {
                let lattice = lattice.unwrap();
                let mut edges = lattice.edges(-0.3);
                edges.reverse();
                for edge in edges.iter_mut().step_by(2) {
                    (edge.from, edge.to) = (edge.to, edge.from);
                }
                let found = of_edges(lattice, &edges);
                if !lattice.has_stencil() {
                    assert_eq!(found, None, "{lattice:?}");
                    continue;
                }
                // Another lattice may have the same edges; then it is as good.
                let (found, weight) = found.unwrap();
                let pairs = |lattice: Lattice| {
                    let pair = |edge: Edge| (edge.from.min(edge.to), edge.from.max(edge.to));
                    let mut pairs: Vec<_> = lattice.edges(1.0).into_iter().map(pair).collect();
                    pairs.sort_unstable();
                    pairs
                };
                assert_eq!((pairs(found), weight), (pairs(lattice), -0.3), "{lattice:?}");
                // Not with one edge moved, of another weight, missing, or given twice.
                let last = edges.len() - 1;
                let mut other = edges.clone();
                other[last].weight = 0.3;
                assert_eq!(of_edges(lattice, &other), None);
                assert_eq!(of_edges(lattice, &edges[..last]), None);
                if lattice.sites() > 6 {
                    let mut other = edges.clone();
                    other[last] =
                        Edge { from: 0, to: lattice.sites() as u32 / 2 + 1, weight: -0.3 };
                    assert_eq!(of_edges(lattice, &other), None, "{lattice:?}");
                    other[last] = other[0];
                    assert_eq!(of_edges(lattice, &other), None, "{lattice:?}");
                }
            }
        }
        // Sites in columns are a lattice, too; a shuffled one is not.
        let by_columns = |site: u32| (site % 3) * 4 + site / 3;
        let renamed = |name: &dyn Fn(u32) -> u32| -> Vec<Edge> {
            let edges = Lattice::free(4, 3).unwrap().edges(1.0).into_iter();
            edges.map(|edge| Edge { from: name(edge.from), to: name(edge.to), ..edge }).collect()
        };
        let found = Lattice::of_edges(12, &renamed(&by_columns)).unwrap().0;
        assert_eq!(found, Lattice::free(3, 4).unwrap());
        assert_eq!(Lattice::of_edges(12, &renamed(&|site| site * 5 % 12)), None);
        assert_eq!(Lattice::of_edges(3, &[]), None);
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
