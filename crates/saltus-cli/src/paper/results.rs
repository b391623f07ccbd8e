//! What the cells of a study say when asked: means over draws of the random parameters, the better
//! of two weight functions.

use super::measure::Row;
use saltus::study::{Target, WEIGHTS};
use saltus::{Sampler, Weight};

/// The rows of a study.
pub struct Results {
    rows: Vec<Row>,
}

/// How a sampler is judged.
pub type Measure = fn(&Row) -> f64;

/// Effective draws per evaluation, on the paper's scale.
pub const PER_EVALUATION: Measure = |row| row.ess_per_evaluation;
/// Effective draws per second.
pub const PER_SECOND: Measure = |row| row.ess_per_second;
/// Seconds of 100,000 steps.
pub const SECONDS: Measure = |row| row.seconds_per_100k;

impl Results {
    pub fn new(rows: Vec<Row>) -> Self {
        Self { rows }
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The targets that anything is known of.
    pub fn targets(&self) -> Vec<Target> {
        let known = |target: &Target| self.rows.iter().any(|row| row.target() == Some(*target));
        Target::ALL.into_iter().filter(known).collect()
    }

    /// The tuned cells of a target and sampler, one for each draw of the parameters.
    pub fn tuned(
        &self,
        target: Target,
        sampler: Sampler,
        weight: Option<Weight>,
    ) -> impl Iterator<Item = &Row> {
        self.of(target, sampler)
            .filter(move |row| row.weight == weight && row.fixed_scale.is_none())
    }

    /// All cells of a target and sampler.
    pub fn of(&self, target: Target, sampler: Sampler) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.target() == Some(target) && row.sampler == sampler)
    }

    /// Mean over the draws of the parameters, with that weight function.
    pub fn mean(
        &self,
        target: Target,
        sampler: Sampler,
        weight: Option<Weight>,
        measure: Measure,
    ) -> Option<f64> {
        mean(self.tuned(target, sampler, weight).map(measure))
    }

    /// With the better weight function, where there is a choice.
    pub fn best(&self, target: Target, sampler: Sampler, measure: Measure) -> Option<f64> {
        let weights = weights_of(sampler);
        let values =
            weights.iter().filter_map(|weight| self.mean(target, sampler, *weight, measure));
        values.reduce(f64::max)
    }

    /// The best of several samplers, and which it is.
    pub fn best_of(
        &self,
        target: Target,
        samplers: &[Sampler],
        measure: Measure,
    ) -> Option<(Sampler, f64)> {
        let values = samplers
            .iter()
            .filter_map(|sampler| Some((*sampler, self.best(target, *sampler, measure)?)));
        values.reduce(|one, other| if other.1 > one.1 { other } else { one })
    }
}

/// The weight functions that a sampler is run with.
pub fn weights_of(sampler: Sampler) -> Vec<Option<Weight>> {
    if sampler.uses_weight() { WEIGHTS.map(Some).to_vec() } else { vec![None] }
}

/// The mean of what there is.
pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0usize), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}
