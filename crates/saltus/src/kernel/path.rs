//! Proposals that change a drawn list of sites: the path-auxiliary sampler (PAS) and its one-site
//! cases, Gibbs-with-gradients (GWG) and the locally balanced sampler (LB-1).
//!
//! Every change (n, j) of a site to another value has the weight g(e^Δₙⱼ) at the current state.
//! R distinct sites are drawn one after the other in proportion to what their changes weigh, and a
//! change of each; the way back draws the same sites in reverse order from the weights at the
//! proposed state. With R = 1 this is GWG, and with exact differences LB-1.

use super::metropolis::Proposal;
use super::path_table::{Change, PathTable};
use super::{Journal, KernelTraits};
use crate::balancing::Balancing;
use crate::closeness::Closeness;
use crate::math::vectorised;
use crate::model::Differences;
use crate::rng::ChainRng;
use crate::space::Space;

/// Changes `scale` distinct sites per proposal, or one fewer: see `draw_radius`.
#[derive(Clone, Copy, Debug)]
pub struct PathProposal {
    /// The sampler that this makes.
    pub traits: fn(&Space) -> KernelTraits,
    /// The balancing function g.
    pub balancing: Balancing,
    /// Which differences changes are weighed by.
    pub differences: Differences,
    /// How close values are to each other.
    pub closeness: Closeness,
}

impl Proposal for PathProposal {
    type Table = PathTable;
    /// The changes in the order they were drawn.
    type Path = Vec<Change>;

    fn traits(&self, space: &Space) -> KernelTraits {
        (self.traits)(space)
    }

    /// A single change takes half of what the race for many does; which it is, a scale tells.
    fn work(&self, space: &Space) -> f64 {
        let race = if space.is_binary() { 2.0 } else { 1.4 };
        if self.traits(space).scale.is_some() { race } else { 0.5 * race }
    }

    fn new_table(&self, space: &Space) -> PathTable {
        PathTable::new(space, self.closeness)
    }

    fn differences(&self) -> Differences {
        self.differences
    }

    fn prepare(
        &self,
        _scale: f64,
        from: &[u8],
        diff: &[f32],
        table: &mut PathTable,
        to: &[u8],
        path: &Vec<Change>,
    ) -> f64 {
        if has_nan(diff) {
            return f64::NAN;
        }
        table.fill(self.balancing, from, diff);
        // The way back is the path told in reverse, to the values the sites had.
        table.log_prob_of_reverse(path.iter().map(|(site, _)| (*site, to[*site as usize])))
    }

    fn draw(
        &self,
        scale: f64,
        state: &[u8],
        table: &mut PathTable,
        rng: &mut ChainRng,
        proposed: &mut [u8],
        path: &mut Vec<Change>,
    ) -> f64 {
        let count = draw_radius(scale, table.free_sites(), rng);
        let log_prob = table.draw(count, state, rng, path);
        proposed.copy_from_slice(state);
        for (site, value) in path {
            proposed[*site as usize] = *value;
        }
        log_prob
    }

    fn record(&self, path: &Vec<Change>, state: &[u8], journal: &mut Journal) -> Option<u32> {
        for (site, value) in path {
            journal.record(*site as usize, state[*site as usize], *value);
        }
        Some(path.len() as u32)
    }
}

/// Whether one of the differences is not a number; it would vanish when weights are held in range.
fn has_nan(diff: &[f32]) -> bool {
    let nans: u32 = vectorised(
        #[inline(always)]
        || diff.iter().map(|diff| u32::from(diff.is_nan())).sum(),
    );
    nans > 0
}

/// How many of the sites that can change a proposal changes: `scale`, chosen among these sites and one place more
/// where there is nothing to change.
///
/// Without that place a fixed number of flips, if they are accepted, comes by half of all states only
/// at odd steps, or never if it is even. With it whether the number of flips so far is odd is forgotten as fast
/// as the value of any site. A fractional number is rounded up with the probability of its
/// fraction, so that tuning sees a smooth scale.
pub(crate) fn draw_radius(scale: f64, sites: usize, rng: &mut ChainRng) -> usize {
    let radius = round_randomly(scale, rng).clamp(1, sites);
    radius - usize::from(rng.flip(spare_share(radius, sites)))
}

/// The probability that the place where there is nothing to change is among so many.
pub(crate) fn spare_share(radius: usize, sites: usize) -> f64 {
    radius as f64 / (sites + 1) as f64
}

/// A whole number whose mean is `scale`.
fn round_randomly(scale: f64, rng: &mut ChainRng) -> usize {
    let floor = scale.floor();
    let fraction = scale - floor;
    floor as usize + usize::from(fraction > 0.0 && rng.flip(fraction))
}
