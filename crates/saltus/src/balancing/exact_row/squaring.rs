//! Rows for any balancing function: the matrix exponential by scaling and squaring, of positive terms alone.
//!
//! The rates are scaled until no state is left more than once on average, where exp(hQ) is a short sum of
//! powers, and squared back. Off the diagonal every entry is a sum of products of entries, and keeps its relative
//! error however small it is; what stays is what does not leave, as long as that is the more accurate of the two.

use super::RowWork;

/// Terms of the sum: the next would be below 1/20! of the first.
const TERMS: usize = 20;

pub(in crate::balancing) fn row(work: &RowWork<'_>, log: fn(f64) -> f64, row: &mut [f64]) {
    let (diff, h, count) = (work.diff, work.h, work.diff.len());
    let jump = |from: usize, to: usize| match from == to {
        true => 0.0,
        false => log(diff[to] - diff[from]).exp(),
    };
    let rates: Vec<f64> = (0..count * count).map(|at| jump(at / count, at % count)).collect();
    let exits: Vec<f64> = rates.chunks_exact(count).map(|rates| rates.iter().sum()).collect();
    let fastest = exits.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let halvings = (fastest * h).log2().ceil().max(0.0);
    // Expected jumps from the state that is left fastest, in a step that is short enough.
    let jumps = fastest * h / halvings.exp2();
    // One jump of the chain that is left at the same rate everywhere.
    let mut jump = rates;
    jump.iter_mut().for_each(|rate| *rate /= fastest);
    for (state, exit) in exits.iter().enumerate() {
        jump[state * count + state] = 1.0 - exit / fastest;
    }
    // Horner: I + J·j/1·(I + J·j/2·(I + …)).
    let mut sum = identity(count);
    let mut next = vec![0.0; count * count];
    for term in (1..=TERMS).rev() {
        multiply(&jump, &sum, &mut next);
        next.iter_mut().for_each(|entry| *entry *= jumps / term as f64);
        for state in 0..count {
            next[state * count + state] += 1.0;
        }
        std::mem::swap(&mut sum, &mut next);
    }
    sum.iter_mut().for_each(|entry| *entry *= (-jumps).exp());
    complete(&mut sum, count);
    for _ in 0..halvings as usize {
        multiply(&sum, &sum, &mut next);
        std::mem::swap(&mut sum, &mut next);
        complete(&mut sum, count);
    }
    row.copy_from_slice(&sum[work.current * count..][..count]);
}

fn identity(count: usize) -> Vec<f64> {
    (0..count * count).map(|at| f64::from(u8::from(at / count == at % count))).collect()
}

fn multiply(left: &[f64], right: &[f64], product: &mut [f64]) {
    let count = product.len().isqrt();
    for (left, product) in left.chunks_exact(count).zip(product.chunks_exact_mut(count)) {
        product.fill(0.0);
        for (factor, right) in left.iter().zip(right.chunks_exact(count)) {
            for (entry, right) in product.iter_mut().zip(right) {
                *entry += factor * right;
            }
        }
    }
}

/// Has every row sum to one: by its diagonal if that is most of it, else by a factor.
fn complete(matrix: &mut [f64], count: usize) {
    for (state, row) in matrix.chunks_exact_mut(count).enumerate() {
        if row[state] > 0.5 {
            row[state] = 0.0;
            row[state] = 1.0 - row.iter().sum::<f64>();
        } else {
            let total: f64 = row.iter().sum();
            row.iter_mut().for_each(|entry| *entry /= total);
        }
    }
}
