//! The weights of all single changes from a state: draws lists of distinct sites from them and
//! scores such lists.

use super::race::{Race, sum};
use crate::balancing::{Balance, Balancing, WithBalance};
use crate::closeness::Closeness;
use crate::math::{Arithmetic, FusedLoop, larger, smaller, vectorised, vectorised_and_fused};
use crate::rng::ChainRng;
use crate::space::Space;
use std::marker::PhantomData;

/// A site and the value it changes to.
pub type Change = (u32, u8);

/// The weights g(e^Δ) of all changes from one state.
pub struct PathTable {
    sites: usize,
    space: Space,
    /// More than two values: the weight of each change, one plane per value, zero at the current.
    changes: Vec<f32>,
    /// The weight of each site: the sum of its changes.
    weights: Vec<f32>,
    race: Race,
    /// Factors of the weights by the distance of two values; empty if they are all one.
    closeness: Vec<f64>,
    /// The changes of one site, to choose from.
    choices: Vec<f64>,
    /// Sites taken out for a while, in the order of the path, with their weights.
    taken: Vec<u32>,
    taken_weights: Vec<f32>,
}

/// The loop that weighs many changes at once, by any balancing function.
struct Weigh<'a> {
    diff: &'a [f32],
    weights: &'a mut [f32],
}

impl WithBalance for Weigh<'_> {
    type Output = ();

    fn with<B: Balance>(self) {
        vectorised_and_fused(WeighBy::<B>(self, PhantomData));
    }
}

struct WeighBy<'a, B>(Weigh<'a>, PhantomData<B>);

impl<B: Balance> FusedLoop for WeighBy<'_, B> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        const SHARPEST: f32 = 80.0;
        let Weigh { diff, weights } = self.0;
        for (weight, diff) in weights.iter_mut().zip(diff) {
            *weight = B::weigh::<A>(larger(smaller(*diff, SHARPEST), -SHARPEST));
        }
    }
}

/// The weights of the changes of one site, from planes of that many sites.
fn changes_of(changes: &[f32], sites: usize, site: u32) -> impl Iterator<Item = f64> {
    changes[site as usize..].iter().step_by(sites).map(|change| f64::from(*change))
}

impl PathTable {
    pub(super) fn new(space: &Space, closeness: Closeness) -> Self {
        let changes = if space.is_binary() { 0 } else { space.diff_len() };
        Self {
            sites: space.sites(),
            space: space.clone(),
            changes: vec![0.0; changes],
            weights: vec![0.0; space.sites()],
            race: Race::default(),
            closeness: closeness.table(space.values()),
            choices: Vec::new(),
            taken: Vec::new(),
            taken_weights: Vec::new(),
        }
    }

    /// Weighs all changes from a state by their differences.
    pub(super) fn fill(&mut self, balancing: Balancing, state: &[u8], diff: &[f32]) {
        let Self { sites, space, changes, weights, closeness, .. } = self;
        if changes.is_empty() {
            balancing.with(Weigh { diff, weights });
            for flip in space.masked() {
                weights[*flip as usize] = 0.0;
            }
            return;
        }
        balancing.with(Weigh { diff, weights: changes });
        if !closeness.is_empty() {
            for (value, changes) in changes.chunks_exact_mut(*sites).enumerate() {
                for (change, own) in changes.iter_mut().zip(state) {
                    *change *= closeness[value.abs_diff(usize::from(*own))] as f32;
                }
            }
        }
        for (site, value) in state.iter().enumerate() {
            changes[usize::from(*value) * *sites + site] = 0.0;
        }
        for change in space.masked() {
            changes[*change as usize] = 0.0;
        }
        weights.fill(0.0);
        vectorised(
            #[inline(always)]
            || {
                for changes in changes.chunks_exact(*sites) {
                    for (weight, change) in weights.iter_mut().zip(changes) {
                        *weight += change;
                    }
                }
            },
        );
    }

    /// Takes away the changes that lead where π is zero: weight functions that never vanish would
    /// let them happen.
    pub(super) fn close_forbidden(&mut self, diff: &[f32]) {
        let Self { sites, changes, weights, .. } = self;
        for (entry, _) in diff.iter().enumerate().filter(|(_, diff)| **diff == f32::NEG_INFINITY) {
            let site = entry % *sites;
            if changes.is_empty() {
                weights[site] = 0.0;
            } else {
                changes[entry] = 0.0;
                weights[site] = changes_of(changes, *sites, site as u32).sum::<f64>() as f32;
            }
        }
    }

    /// Sites that can change at all.
    pub(super) fn free_sites(&self) -> usize {
        self.space.free_sites()
    }

    /// The weight of all changes together.
    pub(super) fn total(&self) -> f64 {
        sum(&self.weights)
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
        self.draw_sites(count, rng);
        path.clear();
        for site in &self.taken {
            let value = if self.changes.is_empty() {
                1 - state[*site as usize]
            } else {
                self.choices.clear();
                self.choices.extend(changes_of(&self.changes, self.sites, *site));
                rng.index(&self.choices, self.choices.iter().sum()) as u8
            };
            path.push((*site, value));
        }
        self.score(path.iter().rev().copied())
    }

    /// The logarithm of the probability of drawing a path, whose changes are told in reverse.
    pub(super) fn log_prob_of_reverse(
        &mut self,
        backwards: impl DoubleEndedIterator<Item = Change> + Clone,
    ) -> f64 {
        self.taken.clear();
        self.taken_weights.clear();
        for (site, _) in backwards.clone().rev() {
            self.taken.push(site);
            self.taken_weights.push(std::mem::replace(&mut self.weights[site as usize], 0.0));
        }
        self.score(backwards)
    }

    fn draw_sites(&mut self, count: usize, rng: &mut ChainRng) {
        let Self { weights, race, taken, taken_weights, .. } = self;
        #[cfg(test)]
        if rng.is_scripted() {
            taken.clear();
            taken_weights.clear();
            for _ in 0..count {
                let choices: Vec<f64> = weights.iter().map(|weight| f64::from(*weight)).collect();
                let site = rng.index(&choices, choices.iter().sum());
                taken.push(site as u32);
                taken_weights.push(std::mem::replace(&mut weights[site], 0.0));
            }
            return;
        }
        race.draw(count, weights, rng, taken, taken_weights);
    }

    /// Scores the path whose sites are taken, told backwards, and puts them back.
    ///
    /// What was left when a site was drawn is added up from the end, never by taking away from the
    /// total, so it stays accurate when almost all the weight is drawn.
    fn score(&mut self, backwards: impl Iterator<Item = Change>) -> f64 {
        let Self { sites, changes, weights, taken, taken_weights, .. } = self;
        let mut left = vectorised(
            #[inline(always)]
            || sum(weights),
        );
        let (mut log_prob, mut product) = (0.0, 1.0);
        for ((site, value), weight) in backwards.zip(taken_weights.iter().rev()) {
            left += f64::from(*weight);
            product *= f64::from(*weight) / left;
            if !changes.is_empty() {
                let change = changes[usize::from(value) * *sites + site as usize];
                product *= f64::from(change) / changes_of(changes, *sites, site).sum::<f64>();
            }
            // A logarithm only when the next factor might leave the range.
            if product < 1e-100 {
                log_prob += product.ln();
                product = 1.0;
            }
        }
        for (site, weight) in taken.drain(..).zip(taken_weights.drain(..)) {
            weights[site as usize] = weight;
        }
        log_prob + product.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    /// Weights of a spread that makes some races last several rounds.
    fn table(sites: usize, spread: f32) -> (PathTable, Vec<f64>) {
        let space = Space::new(sites, 2).unwrap();
        let mut table = PathTable::new(&space, Closeness::Equal);
        let diff: Vec<f32> = (0..sites).map(|n| spread * (n as f32 * 1.7).sin()).collect();
        table.fill(Balancing::Sqrt, &vec![0; sites], &diff);
        let weights = table.weights.iter().map(|weight| f64::from(*weight)).collect();
        (table, weights)
    }

    #[test]
    fn a_race_draws_in_the_order_of_repeated_draws() {
        const DRAWS: usize = 60_000;
        for spread in [0.5, 3.0, 12.0] {
            let (mut table, weights) = table(5, spread);
            let total: f64 = weights.iter().sum();
            let mut rng = ChainRng::new(7, Stream::Chain(spread as u64));
            let mut counts = vec![0.0; 125];
            let mut path = Vec::new();
            for _ in 0..DRAWS {
                let score = table.draw(3, &[0; 5], &mut rng, &mut path);
                let [a, b, c] = [0, 1, 2].map(|step| path[step].0 as usize);
                counts[(a * 5 + b) * 5 + c] += 1.0;
                let exact = weights[a] / total * weights[b] / (total - weights[a]) * weights[c]
                    / (total - weights[a] - weights[b]);
                assert!((score - exact.ln()).abs() < 1e-6 * exact.ln().abs().max(1.0));
            }
            for a in 0..5 {
                for b in (0..5).filter(|b| *b != a) {
                    for c in (0..5).filter(|c| *c != a && *c != b) {
                        let p = weights[a] / total * weights[b] / (total - weights[a]) * weights[c]
                            / (total - weights[a] - weights[b]);
                        let expected = DRAWS as f64 * p;
                        let error = (counts[(a * 5 + b) * 5 + c] - expected).abs();
                        // 60 counts for each spread: five deviations are beyond chance.
                        assert!(error < 5.0 * expected.sqrt() + 3.0, "{spread}: {a}{b}{c} {error}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_race_for_all_sites_ends_and_scores_as_it_was_drawn() {
        for (sites, spread) in [(1, 1.0), (700, 1.0), (700, 150.0)] {
            let (mut table, weights) = table(sites, spread);
            let mut rng = ChainRng::new(3, Stream::Chain(0));
            let mut path = Vec::new();
            let forward = table.draw(sites, &vec![0; sites], &mut rng, &mut path);
            let mut found: Vec<u32> = path.iter().map(|(site, _)| *site).collect();
            found.sort_unstable();
            assert_eq!(found, (0..sites as u32).collect::<Vec<_>>());
            assert_eq!(forward, table.log_prob_of_reverse(path.iter().rev().copied()));
            let now: Vec<f64> = table.weights.iter().map(|weight| f64::from(*weight)).collect();
            assert_eq!(now, weights);
        }
    }
}
