//! Proposals that change a drawn list of sites: the path-auxiliary sampler (PAS) and its one-site
//! cases, Gibbs-with-gradients (GWG) and the locally balanced sampler (LB-1).
//!
//! Every change (n, j) of a site to another value has the weight g(e^Δₙⱼ) at the current state.
//! R distinct sites are drawn one after the other in proportion to what their changes weigh, and a
//! change of each; the way back draws the same sites in reverse order from the weights at the
//! proposed state. With R = 1 this is GWG, and with exact differences LB-1.

use super::metropolis::Proposal;
use super::sum_tree::SumTree;
use crate::model::Differences;
use crate::rng::ChainRng;
use crate::space::Space;
use crate::weight::Weight;

/// Changes `scale` distinct sites per proposal; a fractional number is rounded up with the
/// probability of its fraction, so that tuning sees a smooth scale.
#[derive(Clone, Copy, Debug)]
pub struct PathProposal {
    /// The weight function g.
    pub weight: Weight,
    /// Which differences changes are weighed by.
    pub differences: Differences,
}

/// The weights of all changes from one state.
pub struct PathTable {
    /// More than two values: the weight of each change, one plane per value, zero at the current.
    changes: Vec<f64>,
    /// The weight of each site: the sum of its changes.
    sites: SumTree,
}

impl PathTable {
    /// Weight of the change of a site to a value.
    fn change(&self, sites: usize, site: usize, value: u8) -> f64 {
        if self.changes.is_empty() {
            self.sites.weight(site)
        } else {
            self.changes[usize::from(value) * sites + site]
        }
    }

    /// Takes sites out one by one, in the order given, and adds up the logarithm of each change's
    /// probability among those left; puts them back at the end.
    fn log_prob_of(&mut self, path: impl Iterator<Item = u32> + Clone, to: &[u8]) -> f64 {
        let mut log_prob = 0.0;
        let mut taken = Vec::new();
        for site in path {
            let site = site as usize;
            log_prob += self.change(to.len(), site, to[site]).ln() - self.sites.total().ln();
            taken.push((site, self.sites.weight(site)));
            self.sites.set(site, 0.0);
        }
        for (site, weight) in taken {
            self.sites.set(site, weight);
        }
        log_prob
    }
}

/// Logarithms of weights are held within this of zero, so that sums over 10⁹ sites and products
/// with them stay finite; a change less likely than e⁻³⁰⁰ is never drawn anyway.
const SHARPEST: f64 = 300.0;

impl Proposal for PathProposal {
    type Table = PathTable;
    /// The sites in the order they were drawn.
    type Path = Vec<u32>;

    fn new_table(&self, space: &Space) -> PathTable {
        let changes = if space.is_binary() { 0 } else { space.diff_len() };
        PathTable { changes: vec![0.0; changes], sites: SumTree::new(space.sites()) }
    }

    fn differences(&self) -> Differences {
        self.differences
    }

    fn prepare(&self, _scale: f64, state: &[u8], diff: &[f32], table: &mut PathTable) {
        let sites = state.len();
        let weigh = |diff: f32| {
            let log = self.weight.log(f64::from(diff));
            log.clamp(-SHARPEST, SHARPEST).exp()
        };
        let weights = &mut table.sites.weights_mut()[..sites];
        if table.changes.is_empty() {
            for (weight, diff) in weights.iter_mut().zip(diff) {
                *weight = weigh(*diff);
            }
        } else {
            weights.fill(0.0);
            let planes = table.changes.chunks_exact_mut(sites).zip(diff.chunks_exact(sites));
            for (value, (changes, diff)) in planes.enumerate() {
                for site in 0..sites {
                    let is_own = usize::from(state[site]) == value;
                    changes[site] = if is_own { 0.0 } else { weigh(diff[site]) };
                    weights[site] += changes[site];
                }
            }
        }
        table.sites.rebuild();
    }

    fn draw(
        &self,
        scale: f64,
        state: &[u8],
        table: &mut PathTable,
        rng: &mut ChainRng,
        proposed: &mut [u8],
        path: &mut Vec<u32>,
    ) -> f64 {
        proposed.copy_from_slice(state);
        path.clear();
        let sites = state.len();
        let mut log_prob = 0.0;
        let mut taken = Vec::new();
        for _ in 0..round_randomly(scale, rng).clamp(1, sites) {
            let total = table.sites.total();
            let site = table.sites.draw(rng);
            let weight = table.sites.weight(site);
            proposed[site] = if table.changes.is_empty() {
                1 - state[site]
            } else {
                draw_change(&table.changes, sites, site, weight, rng)
            };
            log_prob += table.change(sites, site, proposed[site]).ln() - total.ln();
            path.push(site as u32);
            taken.push(weight);
            table.sites.set(site, 0.0);
        }
        for (site, weight) in path.iter().zip(taken) {
            table.sites.set(*site as usize, weight);
        }
        log_prob
    }

    fn log_reverse(&self, _from: &[u8], to: &[u8], table: &mut PathTable, path: &Vec<u32>) -> f64 {
        table.log_prob_of(path.iter().rev().copied(), to)
    }
}

/// Draws the new value of a site in proportion to the weights of its changes.
fn draw_change(changes: &[f64], sites: usize, site: usize, total: f64, rng: &mut ChainRng) -> u8 {
    let changes = changes[site..].iter().step_by(sites);
    rng.index(changes, total) as u8
}

/// A whole number whose mean is `scale`.
pub(crate) fn round_randomly(scale: f64, rng: &mut ChainRng) -> usize {
    let floor = scale.floor();
    let fraction = scale - floor;
    floor as usize + usize::from(fraction > 0.0 && rng.flip(fraction))
}
