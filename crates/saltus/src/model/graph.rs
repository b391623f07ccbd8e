//! Sparse graphs of sites: who interacts with whom, how strongly, and a colouring of them.

use super::ModelError;

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

/// Neighbours of every site with the weight of each coupling, in compressed rows.
///
/// ```
/// use saltus::model::graph::{Edge, Graph};
/// let path = Graph::new(3, &[
///     Edge { from: 0, to: 1, weight: 1.0 },
///     Edge { from: 1, to: 2, weight: -0.5 },
/// ])?;
/// assert_eq!(path.neighbours(1).collect::<Vec<_>>(), [(0, 1.0), (2, -0.5)]);
/// assert_eq!(path.colours().len(), 2);
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Graph {
    offsets: Vec<u32>,
    targets: Vec<u32>,
    weights: Vec<f32>,
}

impl Graph {
    /// A graph of `sites` sites; an edge given twice counts twice.
    pub fn new(sites: usize, edges: &[Edge]) -> Result<Self, ModelError> {
        let mut degree = vec![0u32; sites + 1];
        for (number, edge) in edges.iter().enumerate() {
            for end in [edge.from, edge.to] {
                if end as usize >= sites {
                    return Err(ModelError::invalid(format!(
                        "edge {number} joins site {} to site {}, but the last site is {}",
                        edge.from,
                        edge.to,
                        sites as i64 - 1
                    )));
                }
                degree[end as usize + 1] += 1;
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
        for site in 0..sites {
            degree[site + 1] += degree[site];
        }
        let offsets = degree;
        let mut next = offsets.clone();
        let mut targets = vec![0; 2 * edges.len()];
        let mut weights = vec![0.0; 2 * edges.len()];
        for edge in edges {
            for (at, other) in [(edge.from, edge.to), (edge.to, edge.from)] {
                let slot = next[at as usize] as usize;
                next[at as usize] += 1;
                targets[slot] = other;
                weights[slot] = edge.weight;
            }
        }
        Ok(Self { offsets, targets, weights })
    }

    /// Number of sites.
    pub fn sites(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Neighbours of a site and the weights of their couplings.
    #[inline]
    pub fn neighbours(&self, site: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let range = self.offsets[site] as usize..self.offsets[site + 1] as usize;
        self.targets[range.clone()]
            .iter()
            .zip(&self.weights[range])
            .map(|(target, weight)| (*target as usize, *weight))
    }

    /// Sites by colour: no two sites of one colour are neighbours (greedy, in order of site).
    pub fn colours(&self) -> Vec<Vec<u32>> {
        const NONE: u32 = u32::MAX;
        let mut colour = vec![NONE; self.sites()];
        let mut classes: Vec<Vec<u32>> = Vec::new();
        let mut taken = Vec::new();
        for site in 0..self.sites() {
            taken.clear();
            taken.resize(classes.len(), false);
            for (other, _) in self.neighbours(site) {
                if colour[other] != NONE {
                    taken[colour[other] as usize] = true;
                }
            }
            let free = taken.iter().position(|taken| !taken).unwrap_or(classes.len());
            if free == classes.len() {
                classes.push(Vec::new());
            }
            colour[site] = free as u32;
            classes[free].push(site as u32);
        }
        classes
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

    #[test]
    fn colours_separate_neighbours() {
        let mut edges = Vec::new();
        for from in 0..20u32 {
            for to in from + 1..20 {
                if (from * 7 + to * 3) % 5 == 0 {
                    edges.push(Edge { from, to, weight: 1.0 });
                }
            }
        }
        let graph = Graph::new(20, &edges).unwrap();
        let colours = graph.colours();
        assert_eq!(colours.iter().map(Vec::len).sum::<usize>(), 20);
        for class in colours {
            for site in &class {
                for (other, _) in graph.neighbours(*site as usize) {
                    assert!(!class.contains(&(other as u32)));
                }
            }
        }
    }
}
