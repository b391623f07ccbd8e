//! Sparse graphs of sites: who interacts with whom, and how strongly.

use crate::adjacency::Adjacency;
use crate::error::ModelError;

/// A coupling between two sites.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// One site.
    pub from: u32,
    /// The other site.
    pub to: u32,
    /// Strength of the coupling.
    pub weight: f32,
}

/// Neighbours of every site with the weight of each coupling.
///
/// ```
/// use saltus::model::graph::{Edge, Graph};
/// let path = Graph::new(3, &[
///     Edge { from: 0, to: 1, weight: 1.0 },
///     Edge { from: 1, to: 2, weight: -0.5 },
/// ])?;
/// assert_eq!(path.neighbours(1).collect::<Vec<_>>(), [(0, 1.0), (2, -0.5)]);
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Graph {
    adjacency: Adjacency,
    /// In the order of the adjacency's rows.
    weights: Vec<f32>,
}

impl Graph {
    /// A graph of `sites` sites; an edge given twice counts twice.
    pub fn new(sites: usize, edges: &[Edge]) -> Result<Self, ModelError> {
        for (number, edge) in edges.iter().enumerate() {
            if edge.from.max(edge.to) as usize >= sites {
                return Err(ModelError::invalid(format!(
                    "edge {number} joins site {} to site {}, but the last site is {}",
                    edge.from,
                    edge.to,
                    sites as i64 - 1
                )));
            }
            if edge.from == edge.to {
                return Err(ModelError::invalid(format!(
                    "edge {number} joins site {} to itself; use a field instead",
                    edge.from
                )));
            }
            if !edge.weight.is_finite() {
                return Err(ModelError::invalid(format!(
                    "edge {number} between sites {} and {} has weight {}",
                    edge.from, edge.to, edge.weight
                )));
            }
        }
        let pairs: Vec<(u32, u32)> = edges.iter().map(|edge| (edge.from, edge.to)).collect();
        let adjacency = Adjacency::new(sites, &pairs);
        let mut weights = vec![0.0; 2 * edges.len()];
        for (edge, (one, other)) in edges.iter().zip(adjacency.places(&pairs)) {
            weights[one] = edge.weight;
            weights[other] = edge.weight;
        }
        Ok(Self { adjacency, weights })
    }

    /// Who is joined to whom.
    pub fn adjacency(&self) -> &Adjacency {
        &self.adjacency
    }

    /// Every edge once, from its lesser site.
    pub(crate) fn edges(&self) -> Vec<Edge> {
        let from = |site: usize| {
            let others = self.neighbours(site).filter(move |(other, _)| *other > site);
            others.map(move |(other, weight)| Edge { from: site as u32, to: other as u32, weight })
        };
        (0..self.adjacency.sites()).flat_map(from).collect()
    }

    /// Neighbours of a site and the weights of their couplings.
    #[inline]
    pub fn neighbours(&self, site: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        self.adjacency
            .neighbours(site)
            .iter()
            .zip(&self.weights[self.adjacency.row(site)])
            .map(|(target, weight)| (*target as usize, *weight))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_edges_are_refused_in_a_sentence() {
        let edge = |from, to, weight| [Edge { from, to, weight }];
        let reason = |edges: &[Edge]| Graph::new(3, edges).unwrap_err().to_string();
        assert_eq!(
            reason(&edge(1, 7, 1.0)),
            "edge 0 joins site 1 to site 7, but the last site is 2"
        );
        assert!(reason(&edge(1, 1, 1.0)).contains("itself"));
        assert!(reason(&edge(1, 2, f32::NAN)).contains("NaN"));
    }
}
