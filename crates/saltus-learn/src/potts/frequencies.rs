//! Frequencies of letters and of pairs of letters, and how alike those of two sets of sequences are.

use rayon::prelude::*;
use saltus::Space;

/// Weighted frequencies fᵢ(a) and fᵢⱼ(a, b), i < j.
///
/// They stand in one list, in the order of a [`Potts`](super::Potts) model's parameters: site after site the values of each,
/// then pair after pair (0, 1), (0, 2), …, (1, 2), … the values of the first and, fastest, of the second.
#[derive(Clone, Debug, PartialEq)]
pub struct Frequencies {
    space: Space,
    numbers: Vec<f64>,
}

/// Parameters of the pairs of a site with those behind it.
pub(super) fn lengths_of_pairs(space: &Space) -> impl Iterator<Item = usize> + use<> {
    let (sites, values) = (space.sites(), space.values());
    (0..sites).map(move |site| (sites - 1 - site) * values * values)
}

/// Number of parameters.
pub(super) fn parameters(space: &Space) -> usize {
    space.sites() * space.values() + lengths_of_pairs(space).sum::<usize>()
}

/// A list cut into that of the fields and those of each site with the sites behind it.
pub(super) fn split<'n, T>(space: &Space, numbers: &'n mut [T]) -> (&'n mut [T], Vec<&'n mut [T]>) {
    let (fields, mut rest) = numbers.split_at_mut(space.sites() * space.values());
    let mut pairs = Vec::with_capacity(space.sites());
    for length in lengths_of_pairs(space) {
        let (own, others) = rest.split_at_mut(length);
        pairs.push(own);
        rest = others;
    }
    (fields, pairs)
}

/// Adds shares of states to counts of letters and pairs. A task has a site and adds the states up in their order, so
/// that sums do not depend on threads.
pub(super) fn add_counts<T>(
    space: &Space,
    states: &[u8],
    share: impl Fn(usize) -> T + Sync,
    numbers: &mut [T],
) where
    T: Copy + Send + Sync + std::ops::AddAssign,
{
    let (sites, values) = (space.sites(), space.values());
    let (fields, pairs) = split(space, numbers);
    fields.par_chunks_mut(values).zip(pairs).enumerate().for_each(|(site, (field, pairs))| {
        for (number, state) in states.chunks_exact(sites).enumerate() {
            let (share, own) = (share(number), usize::from(state[site]));
            field[own] += share;
            let tables = pairs.chunks_exact_mut(values * values);
            for (table, other) in tables.zip(&state[site + 1..]) {
                table[own * values + usize::from(*other)] += share;
            }
        }
    });
}

impl Frequencies {
    /// Those of states, one after the other, with a weight each.
    pub fn weighted(space: &Space, states: &[u8], weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let mut numbers = vec![0.0; parameters(space)];
        add_counts(space, states, |number| weights[number] / total, &mut numbers);
        Self { space: space.clone(), numbers }
    }

    /// Those of states, one after the other.
    pub fn of(space: &Space, states: &[u8]) -> Self {
        let share = space.sites() as f64 / states.len() as f64;
        let mut numbers = vec![0.0; parameters(space)];
        add_counts(space, states, |_| share, &mut numbers);
        Self { space: space.clone(), numbers }
    }

    /// The same with a share of all letters being equally likely: so often does an ideal gas of letters occur among the sequences.
    pub fn with_pseudocount(mut self, share: f64) -> Self {
        let values = self.space.values() as f64;
        let fields = self.space.sites() * self.space.values();
        for (at, number) in self.numbers.iter_mut().enumerate() {
            let uniform = if at < fields { 1.0 / values } else { 1.0 / (values * values) };
            *number = (1.0 - share) * *number + share * uniform;
        }
        self
    }

    /// All numbers, in the order of the parameters of a model.
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// fᵢ(a) of all letters of a site.
    pub fn of_site(&self, site: usize) -> &[f64] {
        let values = self.space.values();
        &self.numbers[site * values..(site + 1) * values]
    }

    /// Connected correlations fᵢⱼ(a, b) − fᵢ(a) fⱼ(b), pair after pair.
    pub fn connected(&self) -> Vec<f64> {
        let (sites, values) = (self.space.sites(), self.space.values());
        let pairs = (0..sites).flat_map(|one| (one + 1..sites).map(move |other| (one, other)));
        let tables = self.numbers[sites * values..].chunks_exact(values * values);
        let mut connected = Vec::with_capacity(self.numbers.len());
        for ((one, other), table) in pairs.zip(tables) {
            for (own, row) in self.of_site(one).iter().zip(table.chunks_exact(values)) {
                connected
                    .extend(row.iter().zip(self.of_site(other)).map(|(both, f)| both - own * f));
            }
        }
        connected
    }

    /// Pearson's correlation of the connected correlations of two sets of sequences, which adabmDCA judges a
    /// model by.
    pub fn pearson(&self, other: &Self) -> f64 {
        pearson(&self.connected(), &other.connected())
    }
}

/// Pearson's correlation of two lists of numbers.
fn pearson(x: &[f64], y: &[f64]) -> f64 {
    let mean = |numbers: &[f64]| numbers.iter().sum::<f64>() / numbers.len() as f64;
    let (mean_x, mean_y) = (mean(x), mean(y));
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        let (x, y) = (x - mean_x, y - mean_y);
        (xx, xy, yy) = (xx + x * x, xy + x * y, yy + y * y);
    }
    if xx > 0.0 && yy > 0.0 { xy / (xx * yy).sqrt() } else { 0.0 }
}
