//! Sums out one site after the other: log Z on the way up, marginals and draws on the way back
//! (Dechter, *Bucket elimination*, Artificial Intelligence 113, 1999).

use super::order::Order;
use super::{Answer, ExactError};
use crate::math::log_sum_exp;
use crate::model::factor::{Factor, Places, states_of, strides_of};
use crate::rng::ChainRng;
use crate::space::Space;

/// The table of every site when its turn came.
pub(super) struct Eliminated {
    /// In the order of elimination.
    buckets: Vec<Bucket>,
}

/// A site, and its table over the sites that come later and itself, which runs fastest.
struct Bucket {
    site: u32,
    later: Vec<u32>,
    /// By how much the values of the later sites move.
    strides: Vec<usize>,
    values: usize,
    logs: Vec<f64>,
}

/// What is known of some sites when a site has been summed out.
struct Message {
    scope: Vec<u32>,
    logs: Vec<f64>,
}

impl Eliminated {
    pub(super) fn new(
        space: &Space,
        factors: Vec<Factor>,
        order: Order,
    ) -> Result<(Self, Answer), ExactError> {
        let (buckets, map_log_prob) = up(space, &factors, &order, largest);
        if map_log_prob == f64::NEG_INFINITY {
            return Err(ExactError::Impossible);
        }
        let mut map = vec![0; space.sites()];
        for bucket in buckets.iter().rev() {
            map[bucket.site as usize] = position_of_largest(bucket.row(&map));
        }
        drop(buckets);
        let (buckets, log_z) = up(space, &factors, &order, log_sum_exp);
        let marginals = down(space, &buckets);
        Ok((Self { buckets }, Answer { log_z, marginals, map, map_log_prob }))
    }

    /// From the last site that was eliminated to the first, each given those before.
    pub(super) fn draw(&self, rng: &mut ChainRng, state: &mut [u8]) {
        let mut weights = Vec::new();
        for bucket in self.buckets.iter().rev() {
            let row = bucket.row(state);
            let most = largest(row);
            weights.clear();
            weights.extend(row.iter().map(|log| (log - most).exp()));
            state[bucket.site as usize] = rng.index(&weights, weights.iter().sum()) as u8;
        }
    }
}

impl Bucket {
    /// The logarithms of the values of its site, given the later ones.
    fn row(&self, state: &[u8]) -> &[f64] {
        let places = self.later.iter().zip(&self.strides);
        let place: usize =
            places.map(|(site, stride)| usize::from(state[*site as usize]) * stride).sum();
        &self.logs[place..place + self.values]
    }

    /// Its sites in the order of its table.
    fn scope(&self) -> Vec<u32> {
        self.later.iter().copied().chain([self.site]).collect()
    }
}

fn largest(logs: &[f64]) -> f64 {
    logs.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn position_of_largest(logs: &[f64]) -> u8 {
    let best = (0..logs.len()).fold(0, |best, at| if logs[at] > logs[best] { at } else { best });
    best as u8
}

/// log Z alone.
pub(super) fn log_z_of(space: &Space, factors: &[Factor], order: &Order) -> f64 {
    up(space, factors, order, log_sum_exp).1
}

/// Eliminates all sites; what is left is the reduction over all states.
fn up(
    space: &Space,
    factors: &[Factor],
    order: &Order,
    reduce: impl Fn(&[f64]) -> f64,
) -> (Vec<Bucket>, f64) {
    let mut turn = vec![0; space.sites()];
    for (number, (site, _)) in order.steps.iter().enumerate() {
        turn[*site as usize] = number;
    }
    // Every table waits for the first of its sites.
    let first = |scope: &[u32]| scope.iter().map(|site| turn[*site as usize]).min();
    let mut tables: Vec<Vec<&Factor>> = vec![Vec::new(); order.steps.len()];
    let mut messages: Vec<Vec<Message>> = order.steps.iter().map(|_| Vec::new()).collect();
    let mut rest = 0.0;
    for factor in factors {
        match first(factor.scope()) {
            Some(number) => tables[number].push(factor),
            None => rest += factor.log_values()[0],
        }
    }
    let mut buckets = Vec::with_capacity(order.steps.len());
    for (number, (site, later)) in order.steps.iter().enumerate() {
        let scope: Vec<u32> = later.iter().copied().chain([*site]).collect();
        let mut logs = vec![0.0; states_of(space, &scope).unwrap_or(0)];
        for factor in &tables[number] {
            add(space, &scope, factor.scope(), factor.log_values(), &mut logs);
        }
        for message in messages[number].drain(..) {
            add(space, &scope, &message.scope, &message.logs, &mut logs);
        }
        let values = space.values_at(*site as usize);
        let reduced: Vec<f64> = logs.chunks_exact(values).map(&reduce).collect();
        match first(later) {
            Some(next) => messages[next].push(Message { scope: later.clone(), logs: reduced }),
            None => rest += reduced[0],
        }
        let mut strides = strides_of(space, &scope);
        strides.pop();
        buckets.push(Bucket { site: *site, later: later.clone(), strides, values, logs });
    }
    (buckets, rest)
}

/// Adds a table over some of the sites of another.
fn add(space: &Space, scope: &[u32], part: &[u32], logs: &[f64], sums: &mut [f64]) {
    let own = strides_of(space, part);
    let stride = |site: &u32| part.iter().position(|other| other == site).map_or(0, |at| own[at]);
    let mut places = Places::new(space, scope, scope.iter().map(stride).collect());
    sums.iter_mut().for_each(|sum| *sum += logs[places.next_place()]);
}

/// The marginals, from the last bucket to the first: p(own | later) times the probability of the later
/// ones, which is a sum over the bucket that the message went to.
fn down(space: &Space, buckets: &[Bucket]) -> Vec<Vec<f64>> {
    let mut number_of = vec![0; space.sites()];
    for (number, bucket) in buckets.iter().enumerate() {
        number_of[bucket.site as usize] = number;
    }
    let mut marginals = vec![Vec::new(); space.sites()];
    let mut joint: Vec<Vec<f64>> = buckets.iter().map(|_| Vec::new()).collect();
    for (number, bucket) in buckets.iter().enumerate().rev() {
        let next = bucket.later.iter().map(|site| number_of[*site as usize]).min();
        let of_later = match next {
            None => vec![1.0],
            Some(next) => summed(space, &buckets[next].scope(), &joint[next], &bucket.later),
        };
        let mut own = Vec::with_capacity(bucket.logs.len());
        let mut marginal = vec![0.0; bucket.values];
        for (row, probability) in bucket.logs.chunks_exact(bucket.values).zip(of_later) {
            let total = log_sum_exp(row);
            for (log, sum) in row.iter().zip(&mut marginal) {
                // Where the later sites cannot be, nothing is.
                let given = if total == f64::NEG_INFINITY { 0.0 } else { (log - total).exp() };
                own.push(given * probability);
                *sum += given * probability;
            }
        }
        joint[number] = own;
        marginals[bucket.site as usize] = marginal;
    }
    marginals
}

/// Sums a table over all of its sites but some.
fn summed(space: &Space, scope: &[u32], table: &[f64], kept: &[u32]) -> Vec<f64> {
    let own = strides_of(space, kept);
    let stride = |site: &u32| kept.iter().position(|other| other == site).map_or(0, |at| own[at]);
    let mut places = Places::new(space, scope, scope.iter().map(stride).collect());
    let mut sums = vec![0.0; states_of(space, kept).unwrap_or(0)];
    for number in table {
        sums[places.next_place()] += number;
    }
    sums
}
