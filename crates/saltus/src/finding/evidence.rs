//! How a run is judged: by what is known of it, to findings and what looks fine.

use super::words::is_further_distance;
use super::{AcceptanceCause, Assurance, Disagreement, Finding};
use crate::ais::AisOutcome;
use crate::control::Ended;
use crate::draws::observers::Marginals;
use crate::draws::sink::SITES_CHANGED;
use crate::draws::sites::SiteCounts;
use crate::draws::trace::{HAMMING, LOG_PROB};
use crate::kernel::ScaleUnit;
use crate::run::{MAGNETISATION, MARGINALS, Outcome};
use crate::stats::{
    EssSummary, MIN_DRAWS, Memory, Movement, Overlap, drift, exceeds_chance, split_rhat,
};
use crate::summary::{ENERGY, ObservableSummary};
use crate::temper::{LadderVerdict, TemperReport};

/// Missing the target acceptance by more than this is worth a finding.
const ACCEPTANCE_TOLERANCE: f64 = 0.1;
/// A scale beyond this share of the largest is as good as the largest.
const BOLDEST: f64 = 0.8;
/// Fewer effective draws of all chains together are worth a finding (Vehtari et al. 2021).
pub const FEWEST_DRAWS: f64 = 400.0;
/// The same of a marginal. Fewer than for an observable, as it is the worst of very many that is looked at, and
/// what they are worth is taken at its worst.
const FEWEST_OF_MARGINAL: f64 = 100.0;
/// A larger R-hat is worth a finding.
pub const LARGEST_RHAT: f64 = 1.05;
/// How much further apart than by their own slowness chains must be to be in different modes.
const MODES: f64 = 4.0;
/// Chains are shown to mix on their own if half of them are worth at least so many draws, and have an R-hat of
/// their halves of at most the other.
const MIXES: (f64, f64) = (30.0, 1.1);
/// Chains that are worth fewer draws on their own tell nothing of each other.
const TELLING: f64 = 10.0;
/// Standard errors between a mean and what it is, by a symmetry or exactly.
const ASYMMETRY: f64 = 4.0;
/// Rounding of what models compute in single precision, relative to an exact mean.
const ROUNDING: f64 = 1e-5;
/// Share of the chains of annealing that their weights make them worth at least.
const FEWEST_WEIGHED: f64 = 0.1;

/// All that a run shows about itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) assurances: Vec<Assurance>,
    pub(crate) findings: Vec<Finding>,
}

/// What is known of a run when it is judged.
pub(crate) struct Evidence<'a> {
    pub(crate) outcome: &'a Outcome,
    /// Of the Hamming distance, chain by chain.
    pub(crate) ess: &'a EssSummary,
    pub(crate) observables: &'a [ObservableSummary],
    pub(crate) site_counts: Option<SiteCounts>,
    pub(crate) overlap: Option<Overlap>,
}

/// How chains agree.
enum Agreement<'a> {
    Agree(f64),
    /// They differ by no more than their own slowness explains.
    Slow(&'a str, f64),
    /// They differ, and what a chain is worth on its own does not tell whether they would come to agree.
    TooSlow(&'a str, f64, f64),
    /// They differ although each mixes on its own.
    Modes(&'a str, f64),
    Unknown,
}

/// The observables that a run is judged by: without the energy, which is log π again, and without the number of
/// changed sites, which tells of the sampler and not of the target.
pub(crate) fn judged(
    observables: &[ObservableSummary],
) -> impl Iterator<Item = &ObservableSummary> {
    observables.iter().filter(|one| one.name != ENERGY && one.name != SITES_CHANGED)
}

/// The observable with the fewest effective draws, in the bulk or the tails.
pub(crate) fn fewest(observables: &[ObservableSummary]) -> Option<(&str, f64)> {
    let moving = judged(observables).filter(|one| one.diagnosis.movement == Movement::Moving);
    moving
        .filter_map(|observable| Some((observable.name.as_str(), observable.diagnosis.ess()?)))
        .min_by(|one, other| one.1.total_cmp(&other.1))
}

/// The largest R-hat, infinite if chains stand still at different places.
pub(crate) fn largest_rhat(observables: &[ObservableSummary]) -> Option<f64> {
    judged(observables).filter_map(|observable| observable.diagnosis.rhat).reduce(f64::max)
}

/// What the ladder of a tempered run shows about itself.
pub fn of_ladder(outcome: &Outcome) -> Vec<Finding> {
    let finding = match outcome.tempering.as_ref().map(TemperReport::verdict) {
        Some(LadderVerdict::AddRungs { rejection, beta }) => Finding::Barrier { rejection, beta },
        Some(LadderVerdict::TooSlow { beta }) => Finding::Exploration { beta },
        Some(LadderVerdict::Fine | LadderVerdict::NotMeasured { .. }) | None => return Vec::new(),
    };
    vec![finding]
}

/// What annealing shows about itself. Chains that went back tell of missing mass only if they started at draws of
/// the model, or at states that it finds likely.
pub fn of_annealing(outcome: &AisOutcome) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Some(forward) = outcome.forward else {
        return findings;
    };
    let (chains, effective) = (outcome.log_weights.len(), forward.effective_chains);
    if chains > 1 && effective < FEWEST_WEIGHED * chains as f64 {
        findings.push(Finding::UnequalWeights { chains, effective });
    }
    // A single chain tells nothing of its error, and few tell little.
    if let Some(reverse) = outcome.reverse
        && let (Some(one), Some(other)) = (forward.standard_error, reverse.standard_error)
        && let fewest = chains.min(outcome.reverse_chains)
        && let (gap, error) = (reverse.log_z - forward.log_z, one.hypot(other))
        && gap > NEGLIGIBLE_GAP
        && exceeds_chance(gap, error * error * fewest as f64, fewest, CHANCE)
    {
        let (forward, reverse) = (forward.log_z, reverse.log_z);
        findings.push(Finding::DirectionsApart { forward, reverse });
    }
    findings
}

/// Differences of log Z that are of no interest.
const NEGLIGIBLE_GAP: f64 = 0.02;
/// Probability of a false alarm.
const CHANCE: f64 = 1e-4;

/// How chains mix on their own.
struct OnTheirOwn {
    /// Mean over chains of what the draws of one are worth.
    ess: f64,
    /// Whether that is shown.
    mixes: bool,
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

impl Evidence<'_> {
    pub(crate) fn verdict(&self) -> Verdict {
        let mut verdict = Verdict::default();
        verdict.findings.extend(self.incomplete());
        let outcome = self.outcome;
        if outcome.trace.draws() == 0 {
            return verdict;
        }
        let chains = outcome.trace.chains();
        if outcome.stuck.is_empty() {
            verdict.assurances.push(Assurance::Moved { chains });
        } else {
            let stuck = outcome.stuck.clone();
            verdict.findings.push(Finding::Stuck { chains: stuck, of: chains });
        }
        verdict.findings.extend(self.acceptance());
        verdict.assurances.extend(self.boldest());
        verdict.findings.extend(of_ladder(outcome));
        if outcome.stuck.len() == chains {
            return verdict;
        }
        verdict.findings.extend(self.silent_chains());
        verdict.findings.extend(self.level_chains());
        verdict.findings.extend(self.frozen_sites());
        verdict.findings.extend(self.drift());
        let agreement = self.agreement();
        let disagreement = self.disagreement(&agreement);
        let disagree = disagreement.is_some();
        verdict.findings.extend(disagreement);
        if let Agreement::Agree(rhat) = agreement
            && chains > 1
            && !disagree
        {
            verdict.assurances.push(Assurance::Agree { rhat });
        }
        if !disagree {
            verdict.findings.extend(self.asymmetry().or_else(|| self.inexactness()));
        }
        match self.too_few(&agreement) {
            Some(_) if disagree => {}
            Some(finding) => verdict.findings.push(finding),
            None => verdict.assurances.extend(self.enough()),
        }
        if self.overlap.is_some_and(|overlap| overlap.memory == Memory::Forgotten) && !disagree {
            verdict.assurances.push(Assurance::Forgotten);
        }
        verdict.findings.extend((chains == 1).then_some(Finding::OneChain));
        verdict
    }

    /// A finding if chains differ by more than the fewness of their draws.
    fn disagreement(&self, agreement: &Agreement<'_>) -> Option<Finding> {
        let finite = |rhat: f64| Some(rhat).filter(|rhat| rhat.is_finite());
        match *agreement {
            Agreement::Modes(name, rhat) => {
                let (observable, rhat) = (name.to_owned(), finite(rhat));
                Some(Finding::Disagree { by: Disagreement::Rhat { observable, rhat } })
            }
            Agreement::TooSlow(name, rhat, ess) => {
                let (observable, rhat) = (name.to_owned(), finite(rhat));
                Some(Finding::TooSlow { observable, rhat, ess })
            }
            Agreement::Agree(_) | Agreement::Slow(..) | Agreement::Unknown => {
                self.kept_memory().map(|by| Finding::Disagree { by })
            }
        }
    }

    /// A finding if log π never changed in chains that moved.
    fn level_chains(&self) -> Option<Finding> {
        let series = self.outcome.trace.log_prob();
        let level = |chain: &usize| {
            let moved = !self.outcome.stuck.contains(chain);
            moved && series[*chain].windows(2).all(|pair| pair[0] == pair[1])
        };
        let several = series.first().is_some_and(|chain| chain.len() >= MIN_DRAWS);
        let chains = (0..series.len()).filter(level).count();
        (several && chains > 0).then_some(Finding::Level { chains, of: series.len() })
    }

    /// A finding if a mean is not what a symmetry of the model says.
    fn asymmetry(&self) -> Option<Finding> {
        let Outcome { space, symmetric, .. } = self.outcome;
        if !symmetric || !space.is_uniform() {
            return None;
        }
        let (sites, values) = (space.sites() as f64, space.values() as f64);
        let exact = |name: &str| match name {
            MAGNETISATION => Some(0.0),
            HAMMING => Some(sites * (1.0 - 1.0 / values)),
            name if is_further_distance(name) => Some(sites * (1.0 - 1.0 / values)),
            _ => None,
        };
        let apart = |one: &ObservableSummary| {
            let (exact, mean) = (exact(&one.name)?, one.diagnosis.mean?);
            let off = (mean - exact).abs();
            let error = one.diagnosis.mcse;
            let errors = error.map_or(f64::INFINITY, |error| off / error.max(1e-12));
            let finding = Finding::Asymmetric { observable: one.name.clone(), mean, error, exact };
            (off > 1e-9 && errors > ASYMMETRY).then_some((errors, finding))
        };
        // The mean spin says it best.
        let found: Vec<_> = self.observables.iter().filter_map(apart).collect();
        let of_spins = |(_, finding): &&(f64, Finding)| matches!(finding, Finding::Asymmetric { observable, .. } if observable == MAGNETISATION);
        let worst = || found.iter().max_by(|one, other| one.0.total_cmp(&other.0));
        found.iter().find(of_spins).or_else(worst).map(|(_, finding)| finding.clone())
    }

    /// A finding if a mean is not the exact one.
    fn inexactness(&self) -> Option<Finding> {
        let apart = |one: &ObservableSummary| {
            let (exact, mean) = (one.exact?, one.diagnosis.mean?);
            let (off, error) = ((mean - exact).abs(), one.diagnosis.mcse);
            let errors = off / error.unwrap_or(0.0).max(f64::MIN_POSITIVE);
            let finding = Finding::Inexact { observable: one.name.clone(), mean, error, exact };
            (off > ROUNDING * exact.abs().max(1.0) && errors > ASYMMETRY)
                .then_some((errors, finding))
        };
        let found = judged(self.observables).filter_map(apart);
        found.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, finding)| finding)
    }

    fn incomplete(&self) -> Option<Finding> {
        let outcome = self.outcome;
        (!outcome.ended.is_success()).then(|| Finding::Incomplete {
            ended: outcome.ended.to_string(),
            failed: matches!(outcome.ended, Ended::Failed { .. }),
            draws: outcome.trace.draws(),
            asked: outcome.settings.draws,
        })
    }

    fn silent_chains(&self) -> Option<Finding> {
        let chains = self.ess.stuck.len().checked_sub(self.outcome.stuck.len())?;
        (chains > 0).then_some(Finding::Silent { chains })
    }

    fn frozen_sites(&self) -> Option<Finding> {
        let SiteCounts { frozen, moving, constant } = self.site_counts?;
        (frozen > 0).then_some(Finding::Frozen { sites: frozen, of: frozen + moving + constant })
    }

    /// A finding if all chains still moved the same way while they drew.
    fn drift(&self) -> Option<Finding> {
        let trace = &self.outcome.trace;
        let worst = trace
            .names()
            .iter()
            .filter_map(|name| Some((name, drift(trace.series(name)?)?)))
            .max_by(|one, other| one.1.abs().total_cmp(&other.1.abs()))?;
        let (name, shift) = worst;
        Some(Finding::ShortWarmup {
            observable: name.clone(),
            rising: shift > 0.0,
            warmup: self.outcome.settings.warmup,
        })
    }

    fn agreement(&self) -> Agreement<'_> {
        let mut apart: Vec<(&ObservableSummary, f64)> = judged(self.observables)
            .filter_map(|observable| Some((observable, observable.diagnosis.rhat?)))
            .collect();
        apart.sort_by(|one, other| other.1.total_cmp(&one.1));
        let Some(&(worst, rhat)) = apart.first() else {
            return Agreement::Unknown;
        };
        if rhat <= LARGEST_RHAT {
            return Agreement::Agree(rhat);
        }
        apart.retain(|(_, rhat)| *rhat > LARGEST_RHAT);
        let several = self.outcome.trace.chains() > 1;
        // Means of half chains worth n draws each differ by chance: R-hat² is about 1 + 1/n.
        let beyond_chance = |rhat: f64, ess: f64| rhat * rhat - 1.0 > MODES / (ess / 2.0).max(1.0);
        for (observable, rhat) in apart.iter().filter(|_| several) {
            let own = self.on_their_own(observable);
            if own.mixes && beyond_chance(*rhat, own.ess) {
                return Agreement::Modes(&observable.name, *rhat);
            }
        }
        let own = self.on_their_own(worst);
        match own.ess >= TELLING && !beyond_chance(rhat, own.ess) {
            true => Agreement::Slow(&worst.name, rhat),
            false => Agreement::TooSlow(&worst.name, rhat, own.ess),
        }
    }

    /// How chains mix on their own, judged by an observable; by log π if that never moved within a chain.
    fn on_their_own(&self, observable: &ObservableSummary) -> OnTheirOwn {
        let name = match observable.diagnosis.movement {
            Movement::Moving => observable.name.as_str(),
            Movement::Frozen | Movement::Constant => LOG_PROB,
        };
        let series = self.outcome.trace.series(name).unwrap_or_default();
        let EssSummary { mean, per_chain: worth, .. } = EssSummary::of_chains(series);
        let rhats = series.iter().map(|chain| split_rhat(&[chain]).unwrap_or(f64::INFINITY));
        let mixes = median(worth) >= MIXES.0 && median(rhats.collect()) <= MIXES.1;
        OnTheirOwn { ess: mean, mixes }
    }

    /// What a place in different modes looks like in whole states.
    fn kept_memory(&self) -> Option<Disagreement> {
        let overlap = self.overlap.filter(|overlap| overlap.memory == Memory::Kept)?;
        Some(Disagreement::Overlap {
            within: overlap.at_lag,
            between: overlap.between_chains?,
            lag: overlap.lag,
        })
    }

    fn too_few(&self, agreement: &Agreement<'_>) -> Option<Finding> {
        let named = |(name, number): (&str, f64)| (name.to_owned(), number);
        let fewest = fewest(self.observables).filter(|(_, ess)| *ess < FEWEST_DRAWS).map(named);
        let fewest = self.rough_marginal().or(fewest);
        let rhat = match agreement {
            Agreement::Slow(name, rhat) => Some(named((name, *rhat))),
            _ => None,
        };
        let fading = self.overlap.filter(|overlap| overlap.memory == Memory::Fading);
        let resembles = fading.map(|overlap| overlap.lag / 2);
        let any = fewest.is_some() || rhat.is_some() || resembles.is_some();
        any.then_some(Finding::TooFewDraws { fewest, rhat, resembles })
    }

    /// The value of a site whose probability is known worst, if the draws are worth too little for it.
    fn rough_marginal(&self) -> Option<(String, f64)> {
        let (site, value, ess) = self.outcome.observed::<Marginals>(MARGINALS)?.fewest?;
        (ess < FEWEST_OF_MARGINAL).then(|| (format!("whether site {site} is {value}"), ess))
    }

    fn enough(&self) -> Option<Assurance> {
        let (name, ess) = fewest(self.observables)?;
        Some(Assurance::Enough { observable: name.to_owned(), ess })
    }

    /// What was accepted and what was asked for, if a scale was tuned and these differ by more than chance.
    fn missed_acceptance(&self) -> Option<(f64, f64)> {
        let Outcome { settings, traits, acceptance, trace, .. } = self.outcome;
        let sampler = &settings.sampler;
        // The scales of a ladder end where a step on flat ground is a fresh draw.
        let is_tuned = sampler.scale.is_none() && settings.temper.is_none();
        let tuned = traits.scale.filter(|_| is_tuned)?;
        let target = sampler.target_acceptance.unwrap_or(tuned.target_acceptance);
        let steps = (trace.chains() * trace.draws() * settings.thin) as f64;
        // Four standard errors of as many throws of a coin.
        let missed = (acceptance - target).abs() > ACCEPTANCE_TOLERANCE + 2.0 / steps.sqrt();
        missed.then_some((*acceptance, target))
    }

    /// Whether the scale is so near the largest that steps are as bold as they can be.
    fn is_boldest(&self) -> bool {
        let Outcome { traits, scale, .. } = self.outcome;
        traits.scale.zip(*scale).is_some_and(|(traits, scale)| scale > BOLDEST * traits.tuned.1)
    }

    /// What is accepted more often than asked for at the largest scale is no fault of tuning.
    fn boldest(&self) -> Option<Assurance> {
        let (acceptance, target) = self.missed_acceptance()?;
        let boldest = acceptance > target && self.is_boldest();
        boldest.then_some(Assurance::Boldest { acceptance, target })
    }

    /// A finding if tuning missed its target without a reason to.
    fn acceptance(&self) -> Option<Finding> {
        let (acceptance, target) = self.missed_acceptance()?;
        let Outcome { settings, traits, scale, .. } = self.outcome;
        if acceptance > target && self.is_boldest() {
            return None;
        }
        let traits = traits.scale?;
        let is_smallest = acceptance <= target && (*scale)? < 1.01 * traits.tuned.0;
        let cause = match (is_smallest, traits.unit) {
            (true, ScaleUnit::Radius) => AcceptanceCause::SmallestRadius,
            (true, ScaleUnit::StepSize) => AcceptanceCause::SmallestStep,
            (false, ScaleUnit::Radius | ScaleUnit::StepSize) => AcceptanceCause::ShortWarmup,
        };
        Some(Finding::Acceptance { acceptance, target, cause, warmup: settings.warmup })
    }
}
