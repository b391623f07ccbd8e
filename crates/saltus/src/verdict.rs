//! The verdict on a run in plain words: what looks fine, what does not, and what to try.
//!
//! Thresholds and their reasons are in `docs/diagnostics.md`.

use crate::run::{Ended, Outcome, SiteCounts};
use crate::sampler::Scale;
use crate::stats::{Diagnosis, EssSummary, Memory, Movement, Overlap, drift};
use crate::summary::{ENERGY, ObservableSummary};
use crate::tune::initial_scale;

/// Missing the target acceptance by more than this is worth a warning.
const ACCEPTANCE_TOLERANCE: f64 = 0.1;
/// Fewer effective draws of all chains together are worth a warning (Vehtari et al. 2021).
const FEWEST_DRAWS: f64 = 400.0;
/// A larger R-hat is worth a warning.
const LARGEST_RHAT: f64 = 1.05;
/// How much further apart than by their own slowness chains must be to be in different modes.
const MODES: f64 = 4.0;

/// What is known of a run when it is judged.
pub(crate) struct Evidence<'a> {
    pub(crate) outcome: &'a Outcome,
    /// Of the Hamming distance, chain by chain.
    pub(crate) ess: &'a EssSummary,
    pub(crate) observables: &'a [ObservableSummary],
    pub(crate) site_counts: Option<SiteCounts>,
    pub(crate) overlap: Option<Overlap>,
}

/// Sentences for people.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) fine: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

/// How chains agree.
enum Agreement<'a> {
    Agree(f64),
    /// They differ by no more than their own slowness explains.
    Slow(&'a str, f64),
    /// They differ by more.
    Modes(&'a str, f64),
    Unknown,
}

impl Evidence<'_> {
    pub(crate) fn verdict(&self) -> Verdict {
        let mut verdict = Verdict::default();
        verdict.warnings.extend(self.ended());
        let outcome = self.outcome;
        if outcome.trace.draws() == 0 {
            return verdict;
        }
        let chains = outcome.trace.chains();
        if outcome.stuck.is_empty() {
            let moved = if chains == 1 { "the chain moved" } else { "every chain moved" };
            verdict.fine.push(moved.to_owned());
        } else {
            verdict.warnings.push(stuck(&outcome.stuck, chains));
        }
        verdict.warnings.extend(self.acceptance());
        if outcome.stuck.len() == chains {
            return verdict;
        }
        verdict.warnings.extend(self.silent_chains());
        verdict.warnings.extend(self.frozen_sites());
        verdict.warnings.extend(self.drift());
        let agreement = self.agreement();
        let modes = match &agreement {
            Agreement::Modes(name, rhat) => Some(format!("R-hat of {name} is {}", number(*rhat))),
            _ => self.kept_memory(),
        };
        if let Some(modes) = &modes {
            verdict.warnings.push(format!(
                "the chains are in different modes ({modes}) and change between them too rarely if at \
                 all: results depend on where they began; try another sampler with `saltus \
                 compare`, or many more draws"
            ));
        } else if let Agreement::Agree(rhat) = agreement
            && chains > 1
        {
            verdict.fine.push(format!("the chains agree (R-hat at most {})", number(rhat)));
        }
        match self.too_few(&agreement) {
            Some(_) if modes.is_some() => {}
            Some(warning) => verdict.warnings.push(warning),
            None => verdict.fine.extend(self.enough()),
        }
        if self.overlap.is_some_and(|overlap| overlap.memory == Memory::Forgotten)
            && modes.is_none()
        {
            verdict.fine.push("they have forgotten their start".to_owned());
        }
        verdict
    }

    fn ended(&self) -> Option<String> {
        let outcome = self.outcome;
        let ended = match &outcome.ended {
            ended if ended.is_success() => return None,
            failed @ Ended::Failed { .. } => failed.to_string(),
            early => format!("the run was {early}"),
        };
        let (made, asked) = (outcome.trace.draws(), outcome.settings.draws);
        Some(format!("{ended}; {made} of {asked} draws were made"))
    }

    /// A sentence if chains that move do not show it in the reference distance.
    fn silent_chains(&self) -> Option<String> {
        let silent = self.ess.stuck.len().checked_sub(self.outcome.stuck.len())?;
        (silent > 0).then(|| {
            format!(
                "in {silent} moving chains the distance to the reference state never changed, so \
                 their effective draws cannot be told and count as 0"
            )
        })
    }

    fn frozen_sites(&self) -> Option<String> {
        let counts = self.site_counts?;
        let (verb, differ) = if counts.frozen == 1 { ("is", "differs") } else { ("are", "differ") };
        (counts.frozen > 0).then(|| {
            format!(
                "{} of {} sites {verb} frozen: they {differ} between chains and never changed within \
                 one; their means say nothing; draw more, or try another sampler",
                counts.frozen,
                counts.frozen + counts.moving + counts.constant
            )
        })
    }

    /// A sentence if all chains still moved the same way while they drew.
    fn drift(&self) -> Option<String> {
        let trace = &self.outcome.trace;
        let worst = trace
            .names()
            .iter()
            .filter_map(|name| Some((name, drift(trace.series(name)?)?)))
            .max_by(|one, other| one.1.abs().total_cmp(&other.1.abs()))?;
        let (name, shift) = worst;
        let direction = if shift > 0.0 { "rising" } else { "falling" };
        let warmup = self.outcome.settings.warmup;
        Some(format!(
            "the warm-up of {warmup} steps was too short: {} was still {direction} in all chains \
             alike after it; try --warmup {}",
            plain(name),
            (4 * warmup).max(1000)
        ))
    }

    /// The observables, without the energy, which is log π again.
    fn judged(&self) -> impl Iterator<Item = &ObservableSummary> {
        self.observables.iter().filter(|observable| observable.name != ENERGY)
    }

    fn agreement(&self) -> Agreement<'_> {
        let worst = self
            .judged()
            .filter_map(|observable| Some((observable, observable.diagnosis.rhat?)))
            .max_by(|one, other| one.1.total_cmp(&other.1));
        let Some((observable, rhat)) = worst else {
            return Agreement::Unknown;
        };
        if rhat <= LARGEST_RHAT {
            return Agreement::Agree(rhat);
        }
        // Means of half chains worth n draws each differ by chance: R-hat² is about 1 + 1/n.
        let of_a_half = (self.own_ess(&observable.name) / 2.0).max(1.0);
        if self.outcome.trace.chains() > 1 && rhat * rhat - 1.0 > MODES / of_a_half {
            Agreement::Modes(plain(&observable.name), rhat)
        } else {
            Agreement::Slow(plain(&observable.name), rhat)
        }
    }

    /// Mean over chains of what the draws of one chain are worth on their own.
    fn own_ess(&self, name: &str) -> f64 {
        let series = self.outcome.trace.series(name).unwrap_or_default();
        EssSummary::of_chains(series).mean
    }

    /// What a place in different modes looks like in whole states.
    fn kept_memory(&self) -> Option<String> {
        let overlap = self.overlap.filter(|overlap| overlap.memory == Memory::Kept)?;
        Some(format!(
            "{:.0} % of sites agree within a chain after {} draws, {:.0} % between chains",
            100.0 * overlap.at_lag,
            overlap.lag,
            100.0 * overlap.between_chains?
        ))
    }

    /// The observable with the fewest effective draws, in the bulk or the tails.
    fn fewest(&self) -> Option<(&str, f64)> {
        let moving = self.judged().filter(|o| o.diagnosis.movement == Movement::Moving);
        moving
            .filter_map(|observable| {
                let Diagnosis { ess_bulk, ess_tail, .. } = observable.diagnosis;
                Some((
                    plain(&observable.name),
                    [ess_bulk, ess_tail].into_iter().flatten().reduce(f64::min)?,
                ))
            })
            .min_by(|one, other| one.1.total_cmp(&other.1))
    }

    fn too_few(&self, agreement: &Agreement<'_>) -> Option<String> {
        let mut reasons = Vec::new();
        if let Some((name, ess)) = self.fewest()
            && ess < FEWEST_DRAWS
        {
            reasons.push(format!(
                "all chains together are worth {ess:.0} independent draws of {name}"
            ));
        }
        if let Agreement::Slow(name, rhat) = agreement {
            reasons.push(format!("R-hat of {name} is {}, above {LARGEST_RHAT}", number(*rhat)));
        }
        if let Some(overlap) = self.overlap.filter(|overlap| overlap.memory == Memory::Fading) {
            reasons
                .push(format!("states still resemble those of {} draws before", overlap.lag / 2));
        }
        (!reasons.is_empty()).then(|| {
            format!(
                "too few draws: {}; means and errors are rough; draw more, or try another sampler \
                 with `saltus compare`",
                reasons.join(", and ")
            )
        })
    }

    fn enough(&self) -> Option<String> {
        let (name, ess) = self.fewest()?;
        Some(format!("the draws are worth {ess:.0} independent ones at least (of {name})"))
    }

    /// A sentence if tuning missed its target without a reason to.
    fn acceptance(&self) -> Option<String> {
        let outcome = self.outcome;
        let settings = &outcome.settings;
        if settings.scale.is_some() {
            return None;
        }
        let target = settings.target_acceptance.or(settings.sampler.target_acceptance())?;
        let (_, (smallest, largest)) = initial_scale(settings.sampler, &outcome.space)?;
        let (scale, acceptance) = (outcome.scale?, outcome.acceptance);
        if (acceptance - target).abs() <= ACCEPTANCE_TOLERANCE {
            return None;
        }
        let missed = format!("the acceptance is {acceptance:.3}, not the {target} it was tuned to");
        let radius = settings.sampler.scale() == Scale::Radius;
        if acceptance > target && scale > 0.99 * largest {
            // Accepting everything at the largest scale is the best that can happen.
            return None;
        }
        if acceptance < target && scale < 1.01 * smallest {
            let least = if radius { "changing one site at a time" } else { "the smallest step" };
            return Some(format!("{missed}: even {least} is accepted less often"));
        }
        Some(format!("{missed}: the warm-up of {} steps was too short to tune", settings.warmup))
    }
}

/// An observable's name as people say it.
fn plain(name: &str) -> &str {
    match name {
        crate::trace::LOG_PROB => "log π",
        crate::trace::HAMMING => "the Hamming distance",
        name => name,
    }
}

fn number(rhat: f64) -> String {
    if rhat.is_finite() { format!("{rhat:.3}") } else { "infinite".to_owned() }
}

fn stuck(stuck: &[usize], chains: usize) -> String {
    let shown: Vec<String> = stuck.iter().take(10).map(ToString::to_string).collect();
    let more = if stuck.len() > shown.len() { ", …" } else { "" };
    let (noun, verb) = if stuck.len() == 1 { ("chain", "is") } else { ("chains", "are") };
    format!(
        "{} of {chains} chains {verb} stuck ({noun} {}{more}): no site ever changed there, and such a \
         chain counts as 0 effective draws; try a smaller --scale, or another sampler",
        stuck.len(),
        shown.join(", ")
    )
}
