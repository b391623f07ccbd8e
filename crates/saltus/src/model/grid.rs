//! Grids of any dimension: who is next to whom, and couplings that are equal or random.

use super::graph::Edge;
use crate::error::ModelError;
use crate::rng::{ChainRng, Stream};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

/// How couplings differ from bond to bond (Edwards and Anderson, J. Phys. F 5, 1975).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Disorder {
    /// +J or −J, equally likely
    Pm,
    /// J times a standard normal number
    Gaussian,
}

/// The edges of a grid with these lengths, the last dimension fastest. With joined rims, across a
/// side of two sites a pair is joined twice, and across a side of one not at all, as on a
/// [`Lattice`](super::lattice::Lattice).
///
/// ```
/// use saltus::model::grid::{edges, Disorder};
/// let cube = edges(&[4, 4, 4], true, 0.2, None)?;
/// assert_eq!(cube.len(), 3 * 64);
/// let glass = edges(&[4, 4, 4], false, 1.0, Some((Disorder::Pm, 7)))?;
/// assert!(glass.len() == 3 * 48 && glass.iter().all(|edge| edge.weight.abs() == 1.0));
/// # Ok::<(), saltus::ModelError>(())
/// ```
pub fn edges(
    shape: &[usize],
    periodic: bool,
    coupling: f32,
    disorder: Option<(Disorder, u64)>,
) -> Result<Vec<Edge>, ModelError> {
    let sites = shape.iter().try_fold(1usize, |sites, length| sites.checked_mul(*length));
    let Some(sites) = sites.filter(|sites| (1..=u32::MAX as usize / 16).contains(sites)) else {
        return Err(ModelError::invalid(format!("a grid of {shape:?} sites cannot be made")));
    };
    let mut rng = ChainRng::new(disorder.map_or(0, |(_, seed)| seed), Stream::Model);
    let mut weight = || match disorder {
        None => coupling,
        Some((Disorder::Pm, _)) => {
            if rng.flip(0.5) {
                coupling
            } else {
                -coupling
            }
        }
        Some((Disorder::Gaussian, _)) => {
            let standard: f64 = StandardNormal.sample(&mut rng);
            (f64::from(coupling) * standard) as f32
        }
    };
    let mut edges = Vec::with_capacity(sites * shape.len());
    for site in 0..sites {
        let mut stride = sites;
        for length in shape {
            stride /= length;
            let at = site / stride % length;
            let next = match (at + 1 < *length, periodic && *length > 1) {
                (true, _) => site + stride,
                (false, true) => site - at * stride,
                (false, false) => continue,
            };
            edges.push(Edge { from: site as u32, to: next as u32, weight: weight() });
        }
    }
    Ok(edges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::lattice::Lattice;

    fn sorted(edges: &[Edge]) -> Vec<(u32, u32)> {
        let mut pairs: Vec<_> =
            edges.iter().map(|edge| (edge.from.min(edge.to), edge.from.max(edge.to))).collect();
        pairs.sort_unstable();
        pairs
    }

    #[test]
    fn in_two_dimensions_it_is_the_lattice() {
        for (rows, columns) in [(3, 4), (2, 5), (1, 6), (2, 2)] {
            for (periodic, lattice) in
                [(true, Lattice::periodic(rows, columns)), (false, Lattice::free(rows, columns))]
            {
                let grid = edges(&[rows, columns], periodic, 0.3, None).unwrap();
                assert_eq!(sorted(&grid), sorted(&lattice.unwrap().edges(0.3)), "{rows}x{columns}");
            }
        }
    }

    #[test]
    fn every_site_of_a_torus_has_two_neighbours_per_dimension() {
        let cube = edges(&[3, 4, 5], true, 1.0, None).unwrap();
        let mut degree = [0; 60];
        for edge in &cube {
            degree[edge.from as usize] += 1;
            degree[edge.to as usize] += 1;
        }
        assert_eq!(degree, [6; 60]);
        assert!(edges(&[0, 3], true, 1.0, None).is_err());
        assert!(edges(&[1 << 20, 1 << 20], true, 1.0, None).is_err());
    }

    #[test]
    fn disorder_has_its_mean_and_variance() {
        for disorder in [Disorder::Pm, Disorder::Gaussian] {
            let bonds = edges(&[40, 40, 10], true, 2.0, Some((disorder, 3))).unwrap();
            let count = bonds.len() as f64;
            let mean = bonds.iter().map(|edge| f64::from(edge.weight)).sum::<f64>() / count;
            let square =
                bonds.iter().map(|edge| f64::from(edge.weight).powi(2)).sum::<f64>() / count;
            assert!(mean.abs() < 5.0 * 2.0 / count.sqrt(), "{disorder:?}: {mean}");
            assert!((square / 4.0 - 1.0).abs() < 5.0 * 2f64.sqrt() / count.sqrt(), "{square}");
        }
    }
}
