//! Rows for t/(1+t): rates never exceed one, so that exp(hQ) is a sum of not too many powers of
//! I + Q/q, all of positive terms.

use super::RowWork;

/// Time after which a row is ν to the last digit: rates are at least those of drawing from ν at rate
/// one, so that all but e^(−h) has forgotten its start, and the least probability is about e^(−60).
const FORGOTTEN: f64 = 150.0;
/// Expected number of jumps of one stretch: beyond, e^(−qh) would be too small a number.
const MOST_JUMPS: f64 = 500.0;
/// What may be left out beside one.
const LEFT_OUT: f64 = 1e-17;

/// The row of a function with log g = `log` whose rates never exceed one.
pub(in crate::balancing) fn bounded(work: RowWork<'_>, log: fn(f64) -> f64, row: &mut [f64]) {
    let RowWork { nu, diff, current, h, one: power, two: next, .. } = work;
    if h > FORGOTTEN {
        row.copy_from_slice(nu);
        return;
    }
    let count = diff.len();
    let rate = |from: usize, to: usize| log(diff[to] - diff[from]).exp();
    let exit =
        |from: usize| -> f64 { (0..count).filter(|to| *to != from).map(|to| rate(from, to)).sum() };
    let exits: Vec<f64> = (0..count).map(exit).collect();
    let rates: Vec<f64> =
        (0..count * count).map(|entry| rate(entry / count, entry % count)).collect();
    let fastest = exits.iter().copied().fold(0.0, f64::max);
    let stretches = (fastest * h / MOST_JUMPS).ceil().max(1.0);
    let jumps = fastest * h / stretches;
    row.fill(0.0);
    row[current] = 1.0;
    for _ in 0..stretches as usize {
        power.clear();
        power.extend_from_slice(row);
        let mut weight = (-jumps).exp();
        row.iter_mut().for_each(|entry| *entry *= weight);
        let mut number = 0.0;
        // Up to the mode of the Poisson weights, and beyond it until they are nothing beside the
        // probability of any jump.
        while number < jumps || weight > LEFT_OUT * jumps.min(1.0) {
            number += 1.0;
            weight *= jumps / number;
            next.clear();
            next.extend(
                power.iter().zip(&exits).map(|(power, exit)| power * (1.0 - exit / fastest)),
            );
            for (from, power) in power.iter().enumerate() {
                let share = power / fastest;
                let rates = &rates[from * count..(from + 1) * count];
                for (to, rate) in rates.iter().enumerate() {
                    // The diagonal of these rates is g(1), not a jump.
                    next[to] += if to == from { 0.0 } else { share * rate };
                }
            }
            std::mem::swap(power, next);
            for (entry, power) in row.iter_mut().zip(power.iter()) {
                *entry += weight * power;
            }
        }
    }
}
