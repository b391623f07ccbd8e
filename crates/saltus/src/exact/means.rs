//! Exact means, by one walk through all states or by elimination, where either is little work.

use super::eliminate::log_z_of;
use super::enumerate::write;
use super::order::order;
use super::{MOST_STATES, states};
use crate::model::Model;
use crate::model::factor::raised;
use crate::space::States;

/// Nanoseconds that an entry of the tables of an elimination is counted as, with all that is summed out three times.
const PER_ENTRY: f64 = 200.0;
/// An evaluation is counted with all differences, which are not asked for here.
const VALUE_ALONE: f64 = 0.25;
/// Nanoseconds that a number of a state is counted as.
const PER_NUMBER: f64 = 20.0;
/// Sites beyond which no order of elimination is looked for: that would take longer than it may.
const MOST_SITES: usize = 1000;
/// By how much β is moved, relatively, to find the mean of log π from log Z.
const STEP: f64 = 1e-4;

/// Means under π^β of some numbers of the states, as they are shown, and of log π: `observe` is given both and fills the numbers
/// in. None if all states are more work than that many counted nanoseconds, if `go_on` does not say so several times a
/// second, or if they cannot be evaluated.
pub(crate) fn of_all_states<M: Model>(
    model: &M,
    beta: f64,
    most_work: f64,
    numbers: usize,
    mut observe: impl FnMut(&[u8], f64, &mut [f64]),
    mut go_on: impl FnMut() -> bool,
) -> Option<Vec<f64>> {
    let (space, shown_space) = (model.space(), model.shown_space());
    let work = model.work();
    let states = states(space).filter(|states| *states <= MOST_STATES && work.is_known)?;
    let each = VALUE_ALONE * work.evaluation + PER_NUMBER * numbers as f64;
    if states as f64 * each > most_work {
        return None;
    }
    let mut cache = model.new_cache(BLOCK);
    let mut block = vec![0; BLOCK * space.sites()];
    let mut shown = vec![0; shown_space.sites()];
    let mut logs = vec![0.0; BLOCK];
    let (mut largest, mut total) = (f64::NEG_INFINITY, 0.0);
    let (mut sums, mut found) = (vec![0.0; numbers], vec![0.0; numbers]);
    for first in (0..states).step_by(BLOCK) {
        if !go_on() {
            return None;
        }
        let count = BLOCK.min(states - first);
        let rows = block.chunks_exact_mut(space.sites()).take(count);
        rows.enumerate().for_each(|(row, state)| write(space, first + row, state));
        let rows = States::new(&block[..count * space.sites()], space.sites());
        model.log_prob(rows, &mut cache, &mut logs[..count]).ok()?;
        for (state, log) in rows.rows().zip(&logs) {
            let here = raised(*log, beta);
            if here == f64::NEG_INFINITY {
                continue;
            }
            if !here.is_finite() {
                return None;
            }
            if here > largest {
                let less = (largest - here).exp();
                total *= less;
                sums.iter_mut().for_each(|sum| *sum *= less);
                largest = here;
            }
            model.show(state, &mut shown);
            observe(&shown, *log, &mut found);
            let weight = (here - largest).exp();
            total += weight;
            sums.iter_mut().zip(&found).for_each(|(sum, number)| *sum += weight * number);
        }
    }
    (total > 0.0).then(|| sums.into_iter().map(|sum| sum / total).collect())
}

/// States that are evaluated at once.
const BLOCK: usize = 256;

/// The mean of log π under π^β, and what [`Exact::at`](super::Exact::at) gives, of a sum of tables whose elimination is no more
/// than that many counted nanoseconds.
pub(crate) fn by_elimination<M: Model>(
    model: &M,
    beta: f64,
    most_work: f64,
) -> Option<(f64, super::Exact)> {
    let space = model.space();
    if space.sites() > MOST_SITES || beta <= 0.0 {
        return None;
    }
    let factors = model.factors()?;
    let order = order(space, &factors, (most_work / PER_ENTRY) as usize).ok()?;
    // d log Z / dβ = E[log π].
    let log_z = |beta: f64| {
        let raised = factors.iter().map(|factor| factor.raised(beta));
        let raised: Vec<_> = raised.collect::<Result<_, _>>().ok()?;
        Some(log_z_of(space, &raised, &order))
    };
    let (above, below) = (log_z(beta * (1.0 + STEP))?, log_z(beta * (1.0 - STEP))?);
    let mean = (above - below) / (2.0 * STEP * beta);
    let exact = super::Exact::at(model, beta).ok()?;
    mean.is_finite().then_some((mean, exact))
}
