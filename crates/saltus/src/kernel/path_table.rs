//! The weights of all single changes from a state: draws lists of distinct sites from them and
//! scores such lists.

use super::sum_tree::SumTree;
use crate::math::{Arithmetic, FusedLoop, exp, larger, smaller, vectorised_and_fused};
use crate::rng::ChainRng;
use crate::space::Space;
use crate::weight::Weight;

/// A site and the value it changes to.
pub type Change = (u32, u8);

/// The weights g(e^Δ) of all changes from one state.
pub struct PathTable {
    sites: usize,
    /// More than two values: the weight of each change, one plane per value, zero at the current.
    changes: Vec<f64>,
    /// The weight of each site: the sum of its changes.
    tree: SumTree,
    /// Sites taken out of the tree for a while, with their weights.
    taken: Vec<(usize, f64)>,
}

/// Logarithms of weights are held within this of zero, so that sums over 10⁹ sites and products
/// with them stay finite; a change less likely than e⁻³⁰⁰ is never drawn anyway.
const SHARPEST: f64 = 300.0;

/// The weight of a change by a difference of log π.
fn weigh(weight: Weight, diff: f64) -> f64 {
    weight.log(diff).clamp(-SHARPEST, SHARPEST).exp()
}

/// The loop that weighs many changes at once.
struct Weigh<'a> {
    weight: Weight,
    diff: &'a [f32],
    weights: &'a mut [f64],
}

impl FusedLoop for Weigh<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { weight, diff, weights } = self;
        match weight {
            Weight::Sqrt => weigh_all(diff, weights, |diff| exp::<A>(0.5 * diff)),
            Weight::Ratio => weigh_all(diff, weights, |diff| 1.0 / (1.0 + exp::<A>(-diff))),
            Weight::Min => weigh_all(diff, weights, |diff| exp::<A>(smaller(diff, 0.0))),
            Weight::Max => weigh_all(diff, weights, |diff| exp::<A>(larger(diff, 0.0))),
            Weight::Sum => weigh_all(diff, weights, |diff| 1.0 + exp::<A>(diff)),
        }
    }
}

#[inline(always)]
fn weigh_all(diff: &[f32], weights: &mut [f64], weigh: impl Fn(f32) -> f32) {
    const SHARPEST: f32 = 80.0;
    for (weight, diff) in weights.iter_mut().zip(diff) {
        *weight = f64::from(weigh(larger(smaller(*diff, SHARPEST), -SHARPEST)));
    }
}

impl PathTable {
    pub(super) fn new(space: &Space) -> Self {
        let changes = if space.is_binary() { 0 } else { space.diff_len() };
        let tree = SumTree::new(space.sites());
        Self { sites: space.sites(), changes: vec![0.0; changes], tree, taken: Vec::new() }
    }

    /// Weighs all changes from a state by their differences, in single precision.
    pub(super) fn fill(&mut self, weight: Weight, state: &[u8], diff: &[f32]) {
        let sites = self.sites;
        let weights = &mut self.tree.weights_mut()[..sites];
        if self.changes.is_empty() {
            vectorised_and_fused(Weigh { weight, diff, weights });
        } else {
            let changes = &mut self.changes[..];
            vectorised_and_fused(Weigh { weight, diff, weights: changes });
            for (site, value) in state.iter().enumerate() {
                changes[usize::from(*value) * sites + site] = 0.0;
            }
            weights.fill(0.0);
            for changes in changes.chunks_exact(sites) {
                for (weight, change) in weights.iter_mut().zip(changes) {
                    *weight += change;
                }
            }
        }
        self.tree.rebuild();
    }

    /// Weighs the changes of some sites anew; `diff_of` gives the value of a site and fills in its
    /// differences.
    pub(super) fn set<E>(
        &mut self,
        weight: Weight,
        sites: impl ExactSizeIterator<Item = usize>,
        diff: &mut [f64],
        mut diff_of: impl FnMut(usize, &mut [f64]) -> Result<u8, E>,
    ) -> Result<(), E> {
        let at_once = self.tree.prefers_rebuild(sites.len());
        for site in sites {
            let own = diff_of(site, diff)?;
            let total = self.weigh_site(weight, site, own, diff);
            if at_once {
                self.tree.weights_mut()[site] = total;
            } else {
                self.tree.set(site, total);
            }
        }
        if at_once {
            self.tree.rebuild();
        }
        Ok(())
    }

    /// Weighs the changes of one site that holds `own`; returns their sum.
    fn weigh_site(&mut self, weight: Weight, site: usize, own: u8, diff: &[f64]) -> f64 {
        if self.changes.is_empty() {
            return weigh(weight, diff[usize::from(1 - own)]);
        }
        let mut total = 0.0;
        for (value, diff) in diff.iter().enumerate() {
            let change = if value == usize::from(own) { 0.0 } else { weigh(weight, *diff) };
            self.changes[value * self.sites + site] = change;
            total += change;
        }
        total
    }

    /// Draws `count` distinct sites one after the other, and a change of each; returns the
    /// logarithm of the probability of that path.
    pub(super) fn draw(
        &mut self,
        count: usize,
        state: &[u8],
        rng: &mut ChainRng,
        path: &mut Vec<Change>,
    ) -> f64 {
        path.clear();
        let mut log_prob = 0.0;
        for left in (0..count).rev() {
            let site = self.tree.draw(rng);
            let value = if self.changes.is_empty() {
                1 - state[site]
            } else {
                let changes = self.changes[site..].iter().step_by(self.sites);
                rng.index(changes, self.tree.weight(site)) as u8
            };
            log_prob += self.log_prob_of_change(site, value);
            path.push((site as u32, value));
            if left > 0 {
                self.take(site);
            }
        }
        self.put_back();
        log_prob
    }

    /// The logarithm of the probability of drawing that path.
    pub(super) fn log_prob_of(&mut self, path: impl ExactSizeIterator<Item = Change>) -> f64 {
        let mut log_prob = 0.0;
        let mut left = path.len();
        for (site, value) in path {
            left -= 1;
            log_prob += self.log_prob_of_change(site as usize, value);
            if left > 0 {
                self.take(site as usize);
            }
        }
        self.put_back();
        log_prob
    }

    /// Among the sites not taken.
    fn log_prob_of_change(&self, site: usize, value: u8) -> f64 {
        let change = if self.changes.is_empty() {
            self.tree.weight(site)
        } else {
            self.changes[usize::from(value) * self.sites + site]
        };
        (change / self.tree.total()).ln()
    }

    fn take(&mut self, site: usize) {
        self.taken.push((site, self.tree.weight(site)));
        self.tree.set(site, 0.0);
    }

    fn put_back(&mut self) {
        if self.tree.prefers_rebuild(self.taken.len()) {
            for (site, weight) in self.taken.drain(..) {
                self.tree.weights_mut()[site] = weight;
            }
            self.tree.rebuild();
        } else {
            for (site, weight) in self.taken.drain(..) {
                self.tree.set(site, weight);
            }
        }
    }
}
