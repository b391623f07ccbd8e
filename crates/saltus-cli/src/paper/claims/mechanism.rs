//! Claims about how the proposals work: acceptance, rows, simulated time.

use super::{Answer, Claim, FACTORISED, Part};
use crate::paper::measure::Row;
use crate::paper::results::{Results, mean};
use saltus::Sampler;
use saltus::study::{Target, WEIGHTS};

/// Acceptance that is one but for the rounding of single precision.
const ALWAYS: f64 = 0.999;
/// Share of a row's probability of change that may lie elsewhere than in the exact row.
const SMALL_ERROR: f64 = 0.05;
/// What is taken to be the same row.
const SAME: f64 = 1e-3;
/// Spread of a time that counts as varying.
const VARIES: f64 = 0.01;

/// C2, C10, C13 and C15.
pub fn claims(results: &Results) -> Vec<Claim> {
    let least = |sampler| {
        let of_target = move |target: &Target| {
            let rows = results.of(*target, sampler);
            let value = rows.map(|row| row.acceptance).reduce(f64::min)?;
            Some(Answer { of: target.name().to_owned(), value, holds: value >= ALWAYS })
        };
        FACTORISED.iter().filter_map(of_target).collect::<Vec<_>>()
    };
    let rows = |sampler: Sampler, value: fn(&Row) -> Option<f64>, holds: fn(f64) -> bool| {
        let pairs = Target::ALL.iter().flat_map(|target| WEIGHTS.map(|weight| (*target, weight)));
        let answer = |(target, weight)| {
            let value = mean(results.tuned(target, sampler, Some(weight)).filter_map(value))?;
            Some(Answer { of: format!("{target} {weight}"), value, holds: holds(value) })
        };
        pairs.filter_map(answer).collect::<Vec<_>>()
    };
    // Two values have a closed form, and on factorised targets every step is large.
    let interpolation = |row: &Row| {
        let coupled = row.target().is_some_and(|target| !FACTORISED.contains(&target));
        row.interpolation_error.filter(|_| row.values > 2 && coupled)
    };
    vec![
        Claim::new(
            "C2",
            "On factorised targets DLMC accepts every proposal, whatever the step size and the weight \
             function; so does DLMCf clipped at the conditional distribution.",
            vec![
                Part::all("DLMC: least acceptance (at least 0.999)", least(Sampler::Dlmc)),
                Part::all("DLMCf: least acceptance (at least 0.999)", least(Sampler::Dlmcf)),
            ],
        ),
        Claim::new(
            "C10",
            "With more than two values the interpolated rows are close to the exact matrix exponential.",
            vec![Part::all(
                "share of the probability of a change that is misplaced (at most 0.05)",
                rows(Sampler::Dlmc, interpolation, |error| error <= SMALL_ERROR),
            )],
        ),
        Claim::new(
            "C13",
            "With a small step DLMC's rows are Euler's, with a large one the conditional distributions.",
            vec![
                Part::all(
                    "h = 10⁻⁶: share of the probability of a change elsewhere than in Euler's rows (at most 0.001)",
                    rows(Sampler::Dlmc, |row| row.small_step_error, |error| error <= SAME),
                ),
                Part::all(
                    "h = 10⁶: largest distance from the conditional distribution (at most 0.001)",
                    rows(Sampler::Dlmc, |row| row.large_step_error, |error| error <= SAME),
                ),
            ],
        ),
        Claim::new(
            "C15",
            "The time that a step of PAS simulates varies with the total rate of the state; that of DLMC \
             does not.",
            vec![Part::all(
                "relative spread of the total rate over states in equilibrium (at least 0.01)",
                rows(Sampler::Pas, |row| row.total_rate_cv, |spread| spread >= VARIES),
            )],
        ),
    ]
}
