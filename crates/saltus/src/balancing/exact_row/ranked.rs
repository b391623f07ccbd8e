//! Rows for min(1, t) and max(1, t) in closed form, the values sorted by their probability.
//!
//! These are the spectra of the Metropolised independence sampler and its mirror image: with values
//! in falling order of probability p, the entry for two different values is pₗ times a number that
//! depends on one of the two ranks alone.

use super::RowWork;

/// Fills `order` with the values from the most to the least probable, and returns the rank of one.
fn sort(nu: &[f64], current: usize, order: &mut Vec<usize>) -> usize {
    order.clear();
    order.extend(0..nu.len());
    order.sort_by(|one, other| nu[*other].total_cmp(&nu[*one]));
    order.iter().position(|value| *value == current).unwrap_or(0)
}

/// g = min(1, t). With Tₘ the probability of rank m and beyond and μₘ = −m − Tₘ/pₘ, the number W
/// starts at 1 − e^(hμ₀) and grows by (e^(hμₘ) − e^(hμₘ₊₁))/Tₘ₊₁ from rank to rank: nothing cancels.
pub(in crate::balancing) fn minimum(work: RowWork<'_>, row: &mut [f64]) {
    let RowWork { nu, current, h, order, one: tails, two: shares, .. } = work;
    let rank = sort(nu, current, order);
    let p = |rank: usize| nu[order[rank]];
    let count = nu.len();
    tails.clear();
    tails.resize(count, 0.0);
    let mut tail = 0.0;
    for rank in (0..count).rev() {
        tail += p(rank);
        tails[rank] = tail;
    }
    let decay = |rank: usize| (-h * (rank as f64 + tails[rank] / p(rank))).exp();
    shares.clear();
    // Rank 0 holds everything beyond it, which is all.
    let mut share = -(-h / p(0)).exp_m1();
    shares.push(share);
    for rank in 0..count - 1 {
        let fall = tails[rank + 1] * (p(rank) - p(rank + 1)) / (p(rank) * p(rank + 1));
        share += decay(rank) * -(-h * fall).exp_m1() / tails[rank + 1];
        shares.push(share);
    }
    for other in 0..count {
        row[order[other]] = p(other) * shares[rank.min(other)];
    }
    row[current] += decay(rank);
}

/// g = max(1, t). With Hₘ the probability up to rank m and μₘ = −(C − m) − Hₘ₋₁/pₘ, the number for
/// the larger rank m is Eₘ/Hₘ − Σ_(t>m) Eₜpₜ/(Hₜ₋₁Hₜ), E = 1 − e^(hμ).
pub(in crate::balancing) fn maximum(work: RowWork<'_>, row: &mut [f64]) {
    let RowWork { nu, current, h, order, one: heads, two: shares, .. } = work;
    let rank = sort(nu, current, order);
    let p = |rank: usize| nu[order[rank]];
    let count = nu.len();
    heads.clear();
    let mut head = 0.0;
    for rank in 0..count {
        head += p(rank);
        heads.push(head);
    }
    let before = |rank: usize| if rank == 0 { 0.0 } else { heads[rank - 1] };
    let exponent = |rank: usize| -h * ((count - rank) as f64 + before(rank) / p(rank));
    shares.clear();
    shares.resize(count, 0.0);
    let mut beyond = 0.0;
    for rank in (0..count).rev() {
        let leaves = -exponent(rank).exp_m1();
        shares[rank] = leaves / heads[rank] - beyond;
        if rank > 0 {
            beyond += leaves * p(rank) / (heads[rank - 1] * heads[rank]);
        }
    }
    for other in 0..count {
        row[order[other]] = p(other) * shares[rank.max(other)];
    }
    row[current] += exponent(rank).exp();
}
