//! Claims about wall time.

use super::{Answer, BALANCED, Claim, Part};
use crate::paper::results::{Results, SECONDS, weights_of};
use saltus::Sampler;
use saltus::study::Target;

/// How much longer a step of DLMC may take than one of DMALA: the largest ratio in the paper's
/// table.
const MOST: f64 = 1.45;

/// C12.
pub fn claims(results: &Results) -> Vec<Claim> {
    // As in the paper's table, one time per sampler: with the first of its weight functions.
    let seconds = |target: Target, sampler: Sampler| {
        results.mean(target, sampler, weights_of(sampler)[0], SECONDS)
    };
    let values = |target: Target| {
        results.rows().iter().find(|row| row.target() == Some(target)).map(|row| row.values)
    };
    let answers = |chosen: fn(usize) -> bool,
                   value: &dyn Fn(Target) -> Option<f64>,
                   holds: fn(f64) -> bool| {
        let of_target = |target: &Target| {
            values(*target).filter(|values| chosen(*values))?;
            let value = value(*target)?;
            Some(Answer { of: target.name().to_owned(), value, holds: holds(value) })
        };
        Target::ALL.iter().filter_map(of_target).collect::<Vec<_>>()
    };
    let slower_blind = |target| {
        let (hb, bg) = (seconds(target, Sampler::Hb)?, seconds(target, Sampler::Bg)?);
        let cheapest = BALANCED.iter().filter_map(|sampler| seconds(target, *sampler));
        Some(hb.max(bg) / cheapest.reduce(f64::min)?)
    };
    let faster_blind = |target| {
        let (hb, bg) = (seconds(target, Sampler::Hb)?, seconds(target, Sampler::Bg)?);
        Some(hb.min(bg) / seconds(target, Sampler::Dlmc)?)
    };
    let pas = |target| {
        let others = BALANCED.iter().filter(|sampler| **sampler != Sampler::Pas);
        let others = others.filter_map(|sampler| seconds(target, *sampler));
        Some(seconds(target, Sampler::Pas)? / others.reduce(f64::max)?)
    };
    let dlmc = |target| Some(seconds(target, Sampler::Dlmc)? / seconds(target, Sampler::Dmala)?);
    vec![Claim::new(
        "C12",
        "HB and BG are cheap with two values and very expensive with eight; PAS is the slowest balanced \
         sampler everywhere; a step of DLMC takes at most 1.45 times one of DMALA.",
        vec![
            Part::all(
                "two values: the slower of HB and BG over the fastest balanced sampler (below 1)",
                answers(|values| values == 2, &slower_blind, |ratio| ratio < 1.0),
            ),
            Part::all(
                "eight values: the faster of HB and BG over DLMC (above 1)",
                answers(|values| values == 8, &faster_blind, |ratio| ratio > 1.0),
            ),
            Part::all(
                "PAS over the slowest other balanced sampler (above 1)",
                answers(|_| true, &pas, |ratio| ratio > 1.0),
            ),
            Part::all(
                "DLMC over DMALA (at most 1.45)",
                answers(|_| true, &dlmc, |ratio| ratio <= MOST),
            ),
        ],
    )]
}
