//! Observers that many runs want: marginals, moments and histograms of an observable, the best states.

use super::observable::Observable;
use super::observer::{Draws, Observer};
use crate::space::Space;
use serde::{Deserialize, Serialize};

/// How often every site had every value.
///
/// ```
/// use saltus::draws::observers::Marginals;
/// use saltus::model::independent::Independent;
/// use saltus::{Run, Settings};
/// let model = Independent::bernoulli(vec![3f32.ln(), 0.0])?; // P(1) = 3/4 and 1/2
/// let settings = Settings { chains: 4, warmup: 50, draws: 2000, ..Settings::default() };
/// let outcome = Run::new(&model, settings).observer("marginals", Marginals).go()?;
/// let marginals = outcome.observed::<Marginals>("marginals").unwrap();
/// assert!((marginals.mean[0][1] - 0.75).abs() < 0.05);
/// assert!(marginals.spread[0][1] < 0.05);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Marginals;

/// Sums of one chain.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MarginalSums {
    /// Weight of all draws.
    total: f64,
    /// Weight of the draws that are in the sums of each site, where changes are followed.
    added: Vec<f64>,
    current: Vec<u8>,
    /// By site, then value.
    sums: Vec<f64>,
    values: usize,
}

/// The probabilities of the values of every site.
#[derive(Clone, Debug, PartialEq)]
pub struct MarginalTable {
    /// By site, then value: over all draws of all chains.
    pub mean: Vec<Vec<f64>>,
    /// The standard deviation of the chains' own means over the root of their number: an error of the
    /// mean that assumes nothing but that chains are independent; 0 for one chain.
    pub spread: Vec<Vec<f64>>,
}

impl MarginalSums {
    /// Gives every site the weight it has earned with its value.
    fn settle(&mut self) {
        for site in 0..self.current.len() {
            self.settle_site(site);
        }
    }

    fn settle_site(&mut self, site: usize) {
        let earned = self.total - self.added[site];
        self.sums[site * self.values + usize::from(self.current[site])] += earned;
        self.added[site] = self.total;
    }
}

impl Observer for Marginals {
    type State = Vec<MarginalSums>;
    type Output = MarginalTable;

    fn new_state(&self, space: &Space, chains: usize) -> Vec<MarginalSums> {
        let of_chain = MarginalSums {
            sums: vec![0.0; space.sites() * space.values()],
            added: vec![0.0; space.sites()],
            values: space.values(),
            ..MarginalSums::default()
        };
        vec![of_chain; chains]
    }

    fn see(&self, chains: &mut Vec<MarginalSums>, draws: &Draws<'_>) {
        for (chain, sums) in chains.iter_mut().enumerate() {
            let state = draws.state(chain);
            if sums.current.is_empty() {
                sums.current = state.to_vec();
            } else if let Some(changes) = draws.changes(chain) {
                for change in changes {
                    let site = change.site as usize;
                    if sums.current[site] != state[site] {
                        sums.settle_site(site);
                        sums.current[site] = state[site];
                    }
                }
            } else {
                for site in 0..state.len() {
                    if sums.current[site] != state[site] {
                        sums.settle_site(site);
                        sums.current[site] = state[site];
                    }
                }
            }
            sums.total += draws.weight(chain);
        }
    }

    fn finish(&self, blocks: Vec<Vec<MarginalSums>>) -> MarginalTable {
        let mut chains = blocks.concat();
        chains.iter_mut().for_each(MarginalSums::settle);
        let Some(values) = chains.first().map(|chain| chain.values) else {
            return MarginalTable { mean: Vec::new(), spread: Vec::new() };
        };
        let entries = chains[0].sums.len();
        let total: f64 = chains.iter().map(|chain| chain.total).sum();
        let count = chains.len() as f64;
        let mean: Vec<f64> = (0..entries)
            .map(|at| chains.iter().map(|chain| chain.sums[at]).sum::<f64>())
            .map(|sum| sum / total.max(f64::MIN_POSITIVE))
            .collect();
        let spread: Vec<f64> = (0..entries)
            .map(|at| {
                let own =
                    |chain: &MarginalSums| chain.sums[at] / chain.total.max(f64::MIN_POSITIVE);
                let squares: f64 = chains.iter().map(|one| (own(one) - mean[at]).powi(2)).sum();
                if count > 1.0 { (squares / (count * (count - 1.0))).sqrt() } else { 0.0 }
            })
            .collect();
        let rows = |table: &[f64]| table.chunks(values).map(<[f64]>::to_vec).collect();
        MarginalTable { mean: rows(&mean), spread: rows(&spread) }
    }

    fn is_sound(&self, chains: &Vec<MarginalSums>, space: &Space, count: usize) -> bool {
        let sites = space.sites();
        let sound = |chain: &MarginalSums| {
            chain.sums.len() == sites * space.values()
                && chain.values == space.values()
                && chain.added.len() == sites
                && (chain.current.is_empty()
                    || (chain.current.len() == sites && space.misplaced(&chain.current).is_none()))
        };
        chains.len() == count && chains.iter().all(sound)
    }
}

/// The states with the largest log π among all draws, each once.
#[derive(Clone, Copy, Debug)]
pub struct Best {
    /// How many states are kept.
    pub states: usize,
}

/// A state that was among the best.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestState {
    /// Its log π.
    pub log_prob: f64,
    /// The state.
    pub state: Vec<u8>,
    /// Draws that were in it since it was first among the best.
    pub draws: u64,
}

/// Puts a state where it belongs among the best so far.
fn insert(best: &mut Vec<BestState>, most: usize, log_prob: f64, state: &[u8], draws: u64) {
    if best.len() == most && best.last().is_none_or(|worst| log_prob < worst.log_prob) {
        return;
    }
    if let Some(known) = best.iter_mut().find(|known| known.state == state) {
        known.draws += draws;
        return;
    }
    // log π of a state that is followed differs in its last digits from draw to draw; the first counts.
    let at = best.partition_point(|other| other.log_prob >= log_prob);
    best.insert(at, BestState { log_prob, state: state.to_vec(), draws });
    best.truncate(most);
}

impl Observer for Best {
    type State = Vec<BestState>;
    type Output = Vec<BestState>;

    fn new_state(&self, _space: &Space, _chains: usize) -> Vec<BestState> {
        Vec::new()
    }

    fn see(&self, best: &mut Vec<BestState>, draws: &Draws<'_>) {
        for chain in 0..draws.chains() {
            insert(best, self.states.max(1), draws.log_prob(chain), draws.state(chain), 1);
        }
    }

    fn finish(&self, blocks: Vec<Vec<BestState>>) -> Vec<BestState> {
        let mut best = Vec::new();
        for BestState { log_prob, state, draws } in blocks.into_iter().flatten() {
            insert(&mut best, self.states.max(1), log_prob, &state, draws);
        }
        best
    }

    fn is_sound(&self, best: &Vec<BestState>, space: &Space, _chains: usize) -> bool {
        best.iter().all(|one| one.state.len() == space.sites())
    }
}

/// Mean and variance of an observable, in memory that does not grow.
#[derive(Clone, Debug)]
pub struct Moments<O>(pub O);

/// Weight, mean and sum of squared deviations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MomentSums {
    /// Weight of all draws.
    pub weight: f64,
    /// Their mean.
    pub mean: f64,
    squares: f64,
}

impl MomentSums {
    fn add(&mut self, other: Self) {
        let weight = self.weight + other.weight;
        if weight > 0.0 {
            let apart = other.mean - self.mean;
            self.mean += apart * other.weight / weight;
            self.squares += other.squares + apart * apart * self.weight * other.weight / weight;
            self.weight = weight;
        }
    }

    /// The variance of the draws.
    pub fn variance(&self) -> f64 {
        if self.weight > 0.0 { self.squares / self.weight } else { 0.0 }
    }
}

impl<O: Observable + 'static> Observer for Moments<O> {
    type State = MomentSums;
    type Output = MomentSums;

    fn new_state(&self, _space: &Space, _chains: usize) -> MomentSums {
        MomentSums::default()
    }

    fn see(&self, sums: &mut MomentSums, draws: &Draws<'_>) {
        for chain in 0..draws.chains() {
            let (weight, mean) = (draws.weight(chain), self.0.value(draws.state(chain)));
            sums.add(MomentSums { weight, mean, squares: 0.0 });
        }
    }

    fn finish(&self, blocks: Vec<MomentSums>) -> MomentSums {
        let mut all = MomentSums::default();
        blocks.into_iter().for_each(|sums| all.add(sums));
        all
    }
}

/// How often an observable fell between equally spaced edges.
#[derive(Clone, Debug)]
pub struct Histogram<O> {
    /// The observable.
    pub observable: O,
    /// The lower edge of the first bin and the upper edge of the last; what lies outside counts in
    /// these.
    pub range: (f64, f64),
    /// Number of bins.
    pub bins: usize,
}

impl<O: Observable + 'static> Observer for Histogram<O> {
    type State = Vec<f64>;
    type Output = Vec<f64>;

    fn new_state(&self, _space: &Space, _chains: usize) -> Vec<f64> {
        vec![0.0; self.bins.max(1)]
    }

    fn see(&self, bins: &mut Vec<f64>, draws: &Draws<'_>) {
        let (low, high) = self.range;
        for chain in 0..draws.chains() {
            let share = (self.observable.value(draws.state(chain)) - low) / (high - low);
            let (count, last) = (bins.len() as f64, bins.len() - 1);
            bins[((share * count) as usize).min(last)] += draws.weight(chain);
        }
    }

    fn finish(&self, blocks: Vec<Vec<f64>>) -> Vec<f64> {
        let mut all = vec![0.0; self.bins.max(1)];
        for (number, bin) in blocks.iter().flat_map(|block| block.iter().enumerate()) {
            all[number] += bin;
        }
        all
    }

    fn is_sound(&self, bins: &Vec<f64>, _space: &Space, _chains: usize) -> bool {
        bins.len() == self.bins.max(1)
    }
}
