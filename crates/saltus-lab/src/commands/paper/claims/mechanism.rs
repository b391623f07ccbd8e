//! Claims about how the proposals work: acceptance, rows, simulated time.

use super::{Answer, Claim, Part};
use crate::commands::paper::measure::Row;
use crate::commands::paper::results::{Results, mean};
use crate::study::{Target, WEIGHTS};
use saltus::{Balancing, Method};

/// Acceptance that is one but for the rounding of single precision.
const ALWAYS: f64 = 0.999;
/// Share of a row's probability of change that may lie elsewhere than in the exact row.
const SMALL_ERROR: f64 = 0.05;
/// What is taken to be the same row.
const SAME: f64 = 1e-3;
/// Spread of a time that counts as varying.
const VARIES: f64 = 0.01;
/// Factor between the rates of two phases that counts as another pace.
const OTHER_PACE: f64 = 1.1;

/// C2, C10, C13 and C15.
pub fn claims(results: &Results) -> Vec<Claim> {
    let ask = Asking { results };
    let of_many_values =
        [Target::Potts4, Target::Potts8, Target::Fhmm4, Target::Fhmm8, Target::Rbm4, Target::Rbm8];
    vec![
        Claim::new(
            "C2",
            "On factorised targets DLMC accepts every proposal, whatever the step size and the weight \
             function; so does DLMCf clipped at the conditional distribution.",
            vec![
                Part::all("DLMC: least acceptance (at least 0.999)", ask.least(Method::Dlmc)),
                Part::all("DLMCf: least acceptance (at least 0.999)", ask.least(Method::Dlmcf)),
            ],
        ),
        Claim::new(
            "C10",
            "With more than two values the interpolated rows are close to the exact matrix exponential.",
            vec![Part::all(
                "share of the probability of a change that is misplaced (at most 0.05)",
                ask.cells(
                    &of_many_values,
                    Method::Dlmc,
                    |row| row.interpolation_error,
                    |error| error <= SMALL_ERROR,
                ),
            )],
        ),
        Claim::new(
            "C13",
            "With a small step DLMC's rows are Euler's, with a large one the conditional distributions.",
            vec![
                Part::all(
                    "h = 10⁻⁶: share of the probability of a change elsewhere than in Euler's rows (at most 0.001)",
                    ask.cells(
                        &Target::ALL,
                        Method::Dlmc,
                        |row| row.small_step_error,
                        |error| error <= SAME,
                    ),
                ),
                Part::all(
                    "h = 10⁶: largest distance from the conditional distribution (at most 0.001)",
                    ask.cells(
                        &Target::ALL,
                        Method::Dlmc,
                        |row| row.large_step_error,
                        |error| error <= SAME,
                    ),
                ),
            ],
        ),
        Claim::new(
            "C15",
            "The time that a step of PAS simulates varies with the total rate of the state; that of \
             DLMC is its step size.",
            vec![
                Part::all(
                    "relative spread of the total rate over states in equilibrium (at least 0.01)",
                    ask.cells(
                        &Target::ALL,
                        Method::Pas,
                        |row| row.total_rate_cv,
                        |spread| spread >= VARIES,
                    ),
                ),
                Part::all(
                    "total rate where chains start over that in equilibrium (a factor of 1.1 or more)",
                    ask.cells(
                        &Target::ALL,
                        Method::Pas,
                        |row| row.total_rate_start_over_end,
                        |ratio| ratio.max(1.0 / ratio) >= OTHER_PACE,
                    ),
                ),
            ],
        ),
    ]
}

struct Asking<'a> {
    results: &'a Results,
}

impl Asking<'_> {
    /// The least acceptance at the step sizes that were tried and the one that was tuned.
    fn least(&self, sampler: Method) -> Vec<Option<Answer>> {
        let of_target = |target: &Target| {
            let rows = || self.results.of_target(*target).filter(|row| row.sampler == sampler);
            // Without the step sizes that were tried it would say nothing of whatever step size.
            rows().find(|row| row.fixed_scale.is_some())?;
            let least = rows().map(|row| row.acceptance).reduce(f64::min)?;
            Some(Answer::exact(target.name(), least, |acceptance| acceptance >= ALWAYS))
        };
        Target::FACTORISED.iter().map(of_target).collect()
    }

    /// A number of every cell of a sampler, for each weight function.
    fn cells(
        &self,
        targets: &[Target],
        sampler: Method,
        value: fn(&Row) -> Option<f64>,
        holds: impl Fn(f64) -> bool + Copy,
    ) -> Vec<Option<Answer>> {
        let pairs = targets.iter().flat_map(|target| WEIGHTS.map(|weight| (*target, weight)));
        let answer = |(target, weight): (Target, Balancing)| {
            let rows = self.results.tuned(target, sampler, Some(weight));
            let value = mean(rows.filter_map(value))?;
            Some(Answer::exact(format!("{target} {weight}"), value, holds))
        };
        pairs.map(answer).collect()
    }
}
