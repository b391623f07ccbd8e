//! How a pairwise model on a graph redraws all sites of many chains, or finds their differences: chosen by its
//! values and its density.

use super::SweptChains;
use super::dense::{self, DenseCache, DenseSpins};
use super::graph::Graph;
use super::lanes::ising::IsingLanes;
use super::lanes::potts::PottsLanes;
use super::lanes::transposed::Transposed;
use super::lanes::{CHAINS, by_groups, differences};
use crate::space::Space;

/// A way to redraw all sites.
#[derive(Clone, Debug)]
pub(crate) enum Sweeper {
    /// Spins that nearly all see each other.
    Dense(DenseSpins),
    /// Spins on any graph.
    Ising(IsingLanes),
    /// Values on any graph.
    Potts(PottsLanes),
    /// Couplings too strong for single precision: site by site.
    None,
}

/// Memory of one block of chains.
#[derive(Clone, Debug, Default)]
pub(crate) struct SweeperCache {
    turned: Transposed,
    dense: DenseCache,
}

impl Sweeper {
    /// What suits a graph with these fields.
    pub(crate) fn new(space: &Space, graph: &Graph, field: &[f32]) -> Self {
        if !space.is_binary() {
            return Self::Potts(PottsLanes::new(graph, field, space.values()));
        }
        if DenseSpins::suits(graph) {
            return Self::Dense(DenseSpins::new(graph, field));
        }
        IsingLanes::new(graph, field).map_or(Self::None, Self::Ising)
    }

    /// How many chains it likes to redraw together.
    pub(crate) fn block_size(&self) -> usize {
        match self {
            Self::Dense(_) => dense::BLOCK,
            Self::Ising(_) | Self::Potts(_) => CHAINS,
            Self::None => 1,
        }
    }

    /// Nanoseconds that a site of a chain takes, with so many neighbours and values (see [`Work`](super::Work)).
    pub(crate) fn work_of_site(&self, around: f64, values: usize) -> Option<f64> {
        match self {
            Self::Dense(_) => Some(2.0 + 0.05 * around),
            Self::Ising(_) => Some(0.8 + 0.1 * around),
            Self::Potts(_) => Some(0.5 + 0.1 * around + 0.4 * values as f64),
            Self::None => None,
        }
    }

    /// Fills in log π without its constant, and the differences of all chains on a graph of spins; returns whether it
    /// did.
    pub(crate) fn differences(
        &self,
        (graph, fields): (&Graph, &[f32]),
        states: &[u8],
        cache: &mut SweeperCache,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> bool {
        let sites = fields.len();
        match self {
            Self::Dense(dense) => dense.differences(states, &mut cache.dense, log_prob, diff),
            Self::Ising(_) | Self::None if log_prob.len() >= differences::LEAST => {
                let groups = states.chunks(CHAINS * sites).zip(diff.chunks_mut(CHAINS * sites));
                let whole = if let Self::Ising(lanes) = self { lanes.whole() } else { None };
                for ((states, diff), log_prob) in groups.zip(log_prob.chunks_mut(CHAINS)) {
                    let turned = &mut cache.turned;
                    match whole {
                        Some(whole) => whole.of_group(states, turned, log_prob, diff),
                        None => {
                            differences::of_group((graph, fields), states, turned, log_prob, diff);
                        }
                    }
                }
            }
            Self::Ising(_) | Self::None | Self::Potts(_) => return false,
        }
        true
    }

    /// Redraws all sites of all chains; returns whether it did. `constant` is added to log π.
    pub(crate) fn sweep(
        &self,
        chains: SweptChains<'_>,
        (sites, constant): (usize, f64),
        cache: &mut SweeperCache,
    ) -> bool {
        let SweeperCache { turned, dense: fields } = cache;
        match self {
            Self::Dense(dense) => dense.sweep(chains, constant, fields),
            Self::Ising(lanes) => {
                by_groups(chains, sites, |group| lanes.sweep(group, turned, constant));
            }
            Self::Potts(lanes) => {
                by_groups(chains, sites, |group| lanes.sweep(group, turned, constant));
            }
            Self::None => return false,
        }
        true
    }
}
