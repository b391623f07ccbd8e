//! Claims about wall time.

use super::{Answer, Claim, Part};
use crate::commands::paper::results::{Results, SECONDS, weights_of};
use crate::study::{BALANCED, Target};
use saltus::Method;

/// How much longer a step of DLMC may take than one of DMALA: the largest ratio in the paper's table
/// is 1.435, on categorical-8.
const MOST: f64 = 1.45;
/// What "very expensive" is taken to mean: the least such ratio in the paper's table is 1.98.
const EXPENSIVE: f64 = 1.5;

/// C12.
pub fn claims(results: &Results) -> Vec<Claim> {
    // As in the paper's table, one time per sampler: with the first of its weight functions.
    let seconds = |target: Target, sampler: Method| {
        let estimate = results.mean(target, sampler, weights_of(sampler)[0], SECONDS)?;
        Some(estimate.value)
    };
    let all = |target: Target, but: Option<Method>| -> Option<Vec<f64>> {
        let samplers = BALANCED.into_iter().filter(|sampler| Some(*sampler) != but);
        samplers.map(|sampler| seconds(target, sampler)).collect()
    };
    let slowest_blind = |target| {
        let blind = seconds(target, Method::Hb)?.max(seconds(target, Method::Bg)?);
        Some(blind / all(target, None)?.into_iter().reduce(f64::min)?)
    };
    let fastest_blind = |target| {
        let blind = seconds(target, Method::Hb)?.min(seconds(target, Method::Bg)?);
        Some(blind / seconds(target, Method::Dlmc)?)
    };
    let pas = |target| {
        let others = all(target, Some(Method::Pas))?.into_iter().reduce(f64::max)?;
        Some(seconds(target, Method::Pas)? / others)
    };
    let dlmc = |target| Some(seconds(target, Method::Dlmc)? / seconds(target, Method::Dmala)?);
    vec![Claim::new(
        "C12",
        "HB and BG are cheap with two values and very expensive with eight; PAS is the slowest balanced \
         sampler everywhere; a step of DLMC takes at most 1.45 times one of DMALA.",
        vec![
            Part::all(
                "two values: the slower of HB and BG over the fastest balanced sampler (below 1)",
                answers(&OF_TWO_VALUES, slowest_blind, |ratio| ratio < 1.0),
            ),
            Part::all(
                "eight values: the faster of HB and BG over DLMC (at least 1.5)",
                answers(&OF_EIGHT_VALUES, fastest_blind, |ratio| ratio >= EXPENSIVE),
            ),
            Part::all(
                "PAS over the slowest other balanced sampler (above 1)",
                answers(&Target::ALL, pas, |ratio| ratio > 1.0),
            ),
            Part::all(
                "DLMC over DMALA (at most 1.45)",
                answers(&Target::ALL, dlmc, |ratio| ratio <= MOST),
            ),
        ],
    )]
}

const OF_TWO_VALUES: [Target; 8] = [
    Target::BernoulliLow,
    Target::BernoulliHigh,
    Target::IsingLow,
    Target::IsingHigh,
    Target::FhmmBinaryLow,
    Target::FhmmBinaryHigh,
    Target::Rbm25,
    Target::Rbm200,
];
const OF_EIGHT_VALUES: [Target; 4] =
    [Target::Categorical8, Target::Potts8, Target::Fhmm8, Target::Rbm8];

fn answers(
    targets: &[Target],
    value: impl Fn(Target) -> Option<f64>,
    holds: impl Fn(f64) -> bool + Copy,
) -> Vec<Option<Answer>> {
    let answer = |target: &Target| Some(Answer::exact(target.name(), value(*target)?, holds));
    targets.iter().map(answer).collect()
}
