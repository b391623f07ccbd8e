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
    /// Weight of all draws, the sum of its squares, and their number.
    total: f64,
    squares: f64,
    draws: u64,
    /// Weight of the draws that are in the sums of each site, where changes are followed.
    added: Vec<f64>,
    current: Vec<u8>,
    /// By site, then value.
    sums: Vec<f64>,
    /// How often a site came to a value.
    entered: Vec<u32>,
    values: usize,
    /// The sums at every so many draws.
    marks: Vec<Mark>,
    spacing: u64,
}

/// What the sums of a chain were after some draws.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Mark {
    total: f64,
    sums: Vec<f32>,
}

/// With more marks every other one is dropped. Odd, so that those that stay are equally far apart.
const MOST_MARKS: usize = 5;
/// A value whose effective visits are fewer says little of how long they last.
const FEWEST_VISITS: f64 = 20.0;

/// The probabilities of the values of every site.
#[derive(Clone, Debug, PartialEq)]
pub struct MarginalTable {
    /// By site, then value: over all draws of all chains.
    pub mean: Vec<Vec<f64>>,
    /// Standard errors of the means: the largest of what the chains' own means, the means of parts of
    /// chains, and the number of changes say. A value that was seen rarely if at all has the error
    /// that it would have if it were as slow as the slowest site. NaN for one chain, which does not tell.
    pub spread: Vec<Vec<f64>>,
    /// The site and value that the chains agree on least, and what their draws are worth for it; none for one
    /// chain, or if nothing changed.
    pub fewest: Option<(usize, usize, f64)>,
}

/// Independent draws that would know a probability as well.
fn worth(mean: f64, error: f64) -> f64 {
    mean * (1.0 - mean) / (error * error)
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

    fn change(&mut self, site: usize, value: u8) {
        if self.current[site] != value {
            self.settle_site(site);
            self.current[site] = value;
            self.entered[site * self.values + usize::from(value)] += 1;
        }
    }

    /// Counts a draw that was taken in, and remembers the sums at every so many.
    fn count(&mut self, weight: f64) {
        self.total += weight;
        self.squares += weight * weight;
        self.draws += 1;
        if self.draws.is_multiple_of(self.spacing) {
            if self.marks.len() == MOST_MARKS {
                // What stays are the multiples of twice the distance; the present draw is one.
                let mut number = 0;
                self.marks.retain(|_| {
                    number += 1;
                    number % 2 == 0
                });
                self.spacing *= 2;
            }
            self.settle();
            let sums = self.sums.iter().map(|sum| *sum as f32).collect();
            self.marks.push(Mark { total: self.total, sums });
        }
    }

    /// The share of an entry in all draws.
    fn mean(&self, at: usize) -> f64 {
        self.sums[at] / self.total.max(f64::MIN_POSITIVE)
    }

    /// The share of an entry in each of the equally long parts between marks.
    fn parts(&self, at: usize) -> impl Iterator<Item = f64> {
        let before = std::iter::once((0.0, 0.0));
        let of = move |mark: &Mark| (mark.total, f64::from(mark.sums[at]));
        before.chain(self.marks.iter().map(of)).zip(self.marks.iter().map(of)).map(
            |((before, sum_before), (total, sum))| {
                (sum - sum_before) / (total - before).max(f64::MIN_POSITIVE)
            },
        )
    }
}

/// The variance of a mean of numbers that are about `mean`.
fn variance_of_mean(numbers: impl Iterator<Item = f64>, mean: f64) -> f64 {
    let (count, squares) =
        numbers.fold((0.0, 0.0), |(count, sum), one| (count + 1.0, sum + (one - mean).powi(2)));
    if count > 1.0 { squares / (count * (count - 1.0)) } else { 0.0 }
}

/// The variance of an entry's mean, by whichever of three ways says the most. Few chains alone give a
/// spread that is often far too small by chance; parts of them are many more, but follow one another;
/// and how often a value comes and goes is known well.
fn variance(chains: &[MarginalSums], at: usize, mean: f64) -> f64 {
    let between = variance_of_mean(chains.iter().map(|chain| chain.mean(at)), mean);
    let marked = chains[0].marks.len() as f64 * chains[0].spacing as f64;
    let in_parts = variance_of_mean(chains.iter().flat_map(|chain| chain.parts(at)), mean)
        * (marked / (chains[0].draws as f64).max(1.0));
    // Draws that differ in weight are worth fewer (Kish).
    let kish: f64 = chains.iter().map(|one| one.total * one.total / one.squares).sum();
    let (draws, entered) = chains.iter().fold((0.0, 0.0), |(draws, entered), one| {
        (draws + one.draws as f64, entered + f64::from(one.entered[at]))
    });
    // Of a reversible chain with that correlation of neighbouring draws, the autocorrelation time is at
    // least (1 + ρ)/(1 − ρ), by convexity over its eigenvalues.
    let own = mean * (1.0 - mean);
    let leaves = (entered.max(1.0) / draws).min(own) / own.max(f64::MIN_POSITIVE);
    let by_changes = own / kish * (2.0 - leaves) / leaves.max(f64::MIN_POSITIVE);
    let by_changes = if entered > 0.0 { by_changes } else { 0.0 };
    between.max(in_parts).max(by_changes)
}

impl Observer for Marginals {
    type State = Vec<MarginalSums>;
    type Output = MarginalTable;

    fn new_state(&self, space: &Space, chains: usize) -> Vec<MarginalSums> {
        let of_chain = MarginalSums {
            sums: vec![0.0; space.sites() * space.values()],
            entered: vec![0; space.sites() * space.values()],
            added: vec![0.0; space.sites()],
            values: space.values(),
            spacing: 1,
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
                    sums.change(site, state[site]);
                }
            } else {
                for (site, value) in state.iter().enumerate() {
                    sums.change(site, *value);
                }
            }
            sums.count(draws.weight(chain));
        }
    }

    fn finish(&self, blocks: Vec<Vec<MarginalSums>>) -> MarginalTable {
        let mut chains = blocks.concat();
        chains.iter_mut().for_each(MarginalSums::settle);
        chains.retain(|chain| chain.draws > 0);
        let Some(values) = chains.first().map(|chain| chain.values) else {
            return MarginalTable { mean: Vec::new(), spread: Vec::new(), fewest: None };
        };
        let entries = chains[0].sums.len();
        let total: f64 = chains.iter().map(|chain| chain.total).sum();
        let mean: Vec<f64> = (0..entries)
            .map(|at| chains.iter().map(|chain| chain.sums[at]).sum::<f64>())
            .map(|sum| sum / total.max(f64::MIN_POSITIVE))
            .collect();
        let (spread, fewest) = match chains.len() {
            1 => (vec![f64::NAN; entries], None),
            _ => errors(&chains, &mean),
        };
        let fewest = fewest.map(|(at, ess)| (at / values, at % values, ess));
        let rows = |table: &[f64]| table.chunks(values).map(<[f64]>::to_vec).collect();
        MarginalTable { mean: rows(&mean), spread: rows(&spread), fewest }
    }

    fn is_sound(&self, chains: &Vec<MarginalSums>, space: &Space, count: usize) -> bool {
        let (sites, entries) = (space.sites(), space.sites() * space.values());
        let sound = |chain: &MarginalSums| {
            chain.sums.len() == entries
                && chain.entered.len() == entries
                && chain.values == space.values()
                && chain.added.len() == sites
                && chain.spacing > 0
                && chain.marks.len() <= MOST_MARKS
                && chain.marks.iter().all(|mark| mark.sums.len() == entries)
                && (chain.current.is_empty()
                    || (chain.current.len() == sites && space.misplaced(&chain.current).is_none()))
        };
        chains.len() == count && chains.iter().all(sound)
    }
}

/// Standard errors of means over several chains, and the entry that draws are worth least for.
fn errors(chains: &[MarginalSums], mean: &[f64]) -> (Vec<f64>, Option<(usize, f64)>) {
    let mut errors: Vec<f64> =
        mean.iter().enumerate().map(|(at, mean)| variance(chains, at, *mean).sqrt()).collect();
    let moving = mean.iter().zip(&errors).enumerate().filter(|(_, (_, error))| **error > 0.0);
    let worths = moving.map(|(at, (mean, error))| (at, worth(*mean, *error)));
    let fewest = worths.clone().min_by(|one, other| one.1.total_cmp(&other.1));
    // What draws are worth for the slowest of the values that come and go often enough to tell.
    let often =
        worths.filter(|(at, worth)| mean[*at].min(1.0 - mean[*at]) * worth >= FEWEST_VISITS);
    let all: f64 = chains.iter().map(|one| one.total * one.total / one.squares).sum();
    let slowest = often.map(|(_, worth)| worth).fold(all, f64::min).max(1.0);
    for (mean, error) in mean.iter().zip(&mut errors) {
        let rarer = mean.min(1.0 - mean);
        if *error == 0.0 || rarer * worth(*mean, *error) < FEWEST_VISITS {
            // The rule of three: what was never seen in n draws may have a probability of 3/n.
            let likely = (rarer + 3.0 / slowest).min(0.5);
            *error = error.max((likely * (1.0 - likely) / slowest).sqrt());
        }
    }
    (errors, fewest)
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
