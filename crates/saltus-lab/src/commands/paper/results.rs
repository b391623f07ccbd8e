//! What the cells of a study say when asked, with their errors: means over draws of the random
//! parameters, the better of two weight functions.
//!
//! Only like is compared with like. Of a target, those cells count that were run with the same
//! number of steps, chains and threads on the same machine file, and those draws of its parameters
//! of which every cell is there. Where a cell is missing that a comparison needs, there is no answer.

use super::measure::{Conditions, Row};
use crate::study::{SAMPLERS, Target, WEIGHTS};
use saltus::{Balancing, Method};

/// The rows of a study.
pub struct Results {
    rows: Vec<Row>,
    /// Which of them can be compared.
    comparable: Vec<usize>,
}

/// How a sampler is judged, and the spread of that over its chains.
#[derive(Clone, Copy)]
pub struct Measure {
    pub value: fn(&Row) -> f64,
    pub sd: fn(&Row) -> Option<f64>,
    /// Whether it counts effective draws.
    pub counts_draws: bool,
}

/// Effective draws per evaluation, on the paper's scale.
pub const PER_EVALUATION: Measure = Measure {
    value: |row| row.ess_per_evaluation,
    sd: |row| row.ess_per_evaluation_sd,
    counts_draws: true,
};
/// Effective draws per second.
pub const PER_SECOND: Measure = Measure {
    value: |row| row.ess_per_second,
    sd: |row| row.ess_per_second_sd,
    counts_draws: true,
};
/// Effective draws over draws.
pub const SHARE: Measure = Measure {
    value: |row| row.ess_mean / row.draws as f64,
    sd: |row| row.ess_sd.map(|sd| sd / row.draws as f64),
    counts_draws: true,
};
/// Seconds of 100,000 steps.
pub const SECONDS: Measure =
    Measure { value: |row| row.seconds_per_100k, sd: |_| None, counts_draws: false };

/// R-hat above which chains disagree, and effective draws below which that means that they have hardly
/// moved. What they are worth is then only a bound: the estimator finds some ten effective draws in
/// any chain that drifts.
const HARDLY_MOVED: (f64, f64) = (1.1, 20.0);

/// A number and its standard error, unless it is only a bound: over draws of the random parameters where there are several,
/// else over chains.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub error: f64,
    /// The number for every draw of the parameters.
    pub draws: Vec<f64>,
    /// Whether the truth may be far less.
    pub may_be_less: bool,
    /// Whether it may be far more.
    pub may_be_more: bool,
}

impl Estimate {
    /// One number over another. With several draws of the parameters, the error is that of ratios draw by draw: what a draw makes
    /// easy or hard for both cancels.
    pub fn over(&self, other: &Self) -> Self {
        let value = self.value / other.value;
        let pairs = self.draws.iter().zip(&other.draws);
        let draws: Vec<f64> = pairs.map(|(one, other)| one / other).collect();
        let chains = (self.error / self.value).hypot(other.error / other.value);
        let relative = match self.draws.len() == other.draws.len() {
            true => standard_error(&draws.iter().map(|ratio| ratio.ln()).collect::<Vec<_>>()),
            false => None,
        };
        Self {
            value,
            error: (value * relative.unwrap_or(chains)).abs(),
            draws,
            may_be_less: self.may_be_less || other.may_be_more,
            may_be_more: self.may_be_more || other.may_be_less,
        }
    }
}

/// That of a mean, from several numbers.
fn standard_error(numbers: &[f64]) -> Option<f64> {
    Some(deviation(numbers)? / (numbers.len() as f64).sqrt())
}

/// The standard deviation of several numbers.
pub fn deviation(numbers: &[f64]) -> Option<f64> {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    (numbers.len() > 1).then(|| (squares / (count - 1.0)).sqrt())
}

impl Results {
    pub fn new(rows: Vec<Row>) -> Self {
        let mut comparable = Vec::new();
        for target in Target::every() {
            let own = |row: &Row| row.target() == Some(target);
            let conditions = conditions_of(&rows, target);
            let alike = |row: &Row| own(row) && is_alike(row, conditions);
            let seeds = complete_seeds(&rows, &alike);
            let counts = |row: &Row| {
                alike(row) && (row.fixed_scale.is_some() || seeds.contains(&row.model_seed))
            };
            comparable.extend((0..rows.len()).filter(|number| counts(&rows[*number])));
        }
        Self { rows, comparable }
    }

    /// All rows, whether they can be compared or not.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The rows of a target that can be compared.
    pub fn of_target(&self, target: Target) -> impl Iterator<Item = &Row> {
        let rows = self.comparable.iter().map(|number| &self.rows[*number]);
        rows.filter(move |row| row.target() == Some(target))
    }

    /// The targets that anything is known of.
    pub fn targets(&self) -> Vec<Target> {
        Target::every().filter(|target| self.of_target(*target).next().is_some()).collect()
    }

    /// The tuned cells of a target and sampler, one for each draw of the parameters.
    pub fn tuned(
        &self,
        target: Target,
        sampler: Method,
        weight: Option<Balancing>,
    ) -> impl Iterator<Item = &Row> {
        self.of_target(target).filter(move |row| {
            row.sampler == sampler && row.weight == weight && row.fixed_scale.is_none()
        })
    }

    /// Mean over the draws of the parameters, with that weight function.
    pub fn mean(
        &self,
        target: Target,
        sampler: Method,
        weight: Option<Balancing>,
        measure: Measure,
    ) -> Option<Estimate> {
        // In the same order for all samplers, so that ratios are of the same draws.
        let mut rows: Vec<&Row> = self.tuned(target, sampler, weight).collect();
        rows.sort_by_key(|row| row.model_seed);
        let draws: Vec<f64> = rows.iter().map(|row| (measure.value)(row)).collect();
        let value = mean(draws.iter().copied())?;
        let variances =
            rows.iter().map(|row| (measure.sd)(row).map_or(0.0, |sd| sd * sd / row.chains as f64));
        let chains = variances.sum::<f64>().sqrt() / rows.len() as f64;
        let error = standard_error(&draws).unwrap_or(chains);
        let (rhat, fewest) = HARDLY_MOVED;
        let drifts = |row: &Row| row.rhat.is_none_or(|found| found > rhat) && row.ess_mean < fewest;
        let may_be_less = measure.counts_draws && rows.iter().copied().any(drifts);
        Some(Estimate { value, error, draws, may_be_less, may_be_more: false })
    }

    /// With the better weight function, where there is a choice.
    pub fn best(&self, target: Target, sampler: Method, measure: Measure) -> Option<Estimate> {
        let weights = weights_of(sampler);
        let all: Option<Vec<Estimate>> =
            weights.iter().map(|weight| self.mean(target, sampler, *weight, measure)).collect();
        all?.into_iter().reduce(|one, other| if other.value > one.value { other } else { one })
    }

    /// The best or the worst of several samplers, and which it is.
    pub fn extreme(
        &self,
        target: Target,
        samplers: &[Method],
        measure: Measure,
        better: fn(f64, f64) -> bool,
    ) -> Option<(Method, Estimate)> {
        let all: Option<Vec<(Method, Estimate)>> = samplers
            .iter()
            .map(|sampler| Some((*sampler, self.best(target, *sampler, measure)?)))
            .collect();
        all?.into_iter().reduce(
            |one, other| {
                if better(other.1.value, one.1.value) { other } else { one }
            },
        )
    }

    /// The best of several samplers, and which it is.
    pub fn best_of(
        &self,
        target: Target,
        samplers: &[Method],
        measure: Measure,
    ) -> Option<(Method, Estimate)> {
        self.extreme(target, samplers, measure, |one, other| one > other)
    }
}

/// Whether a cell may stand beside those of these conditions; cells that run for as long as they need
/// to whatever the others do, only the number of steps aside.
fn is_alike(row: &Row, conditions: Option<Conditions<'_>>) -> bool {
    let Some(conditions) = conditions else {
        return false;
    };
    let own_length = row.fixed_scale.is_some() || row.sampler == Method::Gibbs;
    let steps = if own_length { row.steps } else { conditions.steps };
    row.conditions() == Conditions { steps, ..conditions }
}

/// The conditions under which most is known of a target: all cells if possible, then many steps.
fn conditions_of(rows: &[Row], target: Target) -> Option<Conditions<'_>> {
    let tuned =
        || rows.iter().filter(|row| row.target() == Some(target) && row.fixed_scale.is_none());
    let mut all: Vec<Conditions<'_>> = tuned().map(Row::conditions).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().max_by_key(|conditions| {
        let alike = |row: &Row| {
            row.target() == Some(target)
                && row.fixed_scale.is_none()
                && row.conditions() == *conditions
        };
        let complete = tuned().any(|row| is_complete(rows, &alike, row.model_seed));
        (complete, *conditions)
    })
}

/// Whether every cell of the study is there with that draw of the parameters.
fn is_complete(rows: &[Row], alike: &impl Fn(&Row) -> bool, seed: Option<u64>) -> bool {
    SAMPLERS.into_iter().all(|sampler| {
        weights_of(sampler).into_iter().all(|weight| {
            rows.iter().any(|row| {
                alike(row)
                    && row.fixed_scale.is_none()
                    && (row.model_seed, row.sampler, row.weight) == (seed, sampler, weight)
            })
        })
    })
}

/// The draws of the parameters of which every cell is there; if there is none, all.
fn complete_seeds(rows: &[Row], alike: &impl Fn(&Row) -> bool) -> Vec<Option<u64>> {
    let mut seeds: Vec<Option<u64>> =
        rows.iter().filter(|row| alike(row)).map(|row| row.model_seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let complete: Vec<Option<u64>> =
        seeds.iter().copied().filter(|seed| is_complete(rows, alike, *seed)).collect();
    if complete.is_empty() { seeds } else { complete }
}

/// The weight functions that a sampler is run with.
pub fn weights_of(sampler: Method) -> Vec<Option<Balancing>> {
    if sampler.is_balanced() { WEIGHTS.map(Some).to_vec() } else { vec![None] }
}

/// The mean of what there is.
pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0usize), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}
