//! What a run shows about itself: findings with stable codes, in the order in which they should be
//! heard. Sentences and advice are the business of whoever tells them.
//!
//! Thresholds and their reasons are in `docs/diagnostics.md`.

use crate::ais::AisOutcome;
use crate::control::Ended;
use crate::draws::sink::SITES_CHANGED;
use crate::draws::sites::SiteCounts;
use crate::draws::trace::{HAMMING, LOG_PROB};
use crate::kernel::ScaleUnit;
use crate::run::{MAGNETISATION, Outcome};
use crate::scouts::Elsewhere;
use crate::stats::{
    EssSummary, MIN_DRAWS, Memory, Movement, Overlap, drift, ess, exceeds_chance, split_rhat,
};
use crate::summary::{ENERGY, ObservableSummary};
use crate::temper::{LadderVerdict, TemperReport};
use serde::Serialize;

/// Missing the target acceptance by more than this is worth a finding.
const ACCEPTANCE_TOLERANCE: f64 = 0.1;
/// A scale beyond this share of the largest is as good as the largest.
const BOLDEST: f64 = 0.8;
/// Fewer effective draws of all chains together are worth a finding (Vehtari et al. 2021).
pub const FEWEST_DRAWS: f64 = 400.0;
/// A larger R-hat is worth a finding.
pub const LARGEST_RHAT: f64 = 1.05;
/// How much further apart than by their own slowness chains must be to be in different modes.
const MODES: f64 = 4.0;
/// Chains are shown to mix on their own if half of them are worth at least so many draws, and have an R-hat of
/// their halves of at most the other.
const MIXES: (f64, f64) = (30.0, 1.1);
/// Chains that are worth fewer draws on their own tell nothing of each other.
const TELLING: f64 = 10.0;
/// Standard errors between a mean and what symmetry says it is.
const ASYMMETRY: f64 = 4.0;
/// Share of the chains of annealing that their weights make them worth at least.
const FEWEST_WEIGHED: f64 = 0.1;

/// Something that deserves attention. Its code for scripts is the name of the variant in kebab-case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Finding {
    /// The run did not make all draws that were asked for.
    Incomplete {
        /// How it ended.
        ended: String,
        /// Whether a step could not be made.
        failed: bool,
        /// Draws of each chain that were made.
        draws: usize,
        /// Draws that were asked for.
        asked: usize,
    },
    /// No site ever changed in some chains.
    Stuck {
        /// Those chains.
        chains: Vec<usize>,
        /// All chains.
        of: usize,
    },
    /// Tuning missed its target, and not because the scale ends there.
    Acceptance {
        /// The acceptance of the draws.
        acceptance: f64,
        /// What it was tuned to.
        target: f64,
        /// Why.
        cause: AcceptanceCause,
        /// Steps of warm-up.
        warmup: usize,
    },
    /// Chains that move do not show it in the distance to the reference state.
    Silent {
        /// How many.
        chains: usize,
    },
    /// log π never changed in chains that moved: the target is flat there, or they go to and fro between few states.
    Level {
        /// How many.
        chains: usize,
        /// All chains.
        of: usize,
    },
    /// Sites that differ between chains and never changed within one.
    Frozen {
        /// How many.
        sites: usize,
        /// All sites.
        of: usize,
    },
    /// An observable still moved the same way in all chains alike.
    ShortWarmup {
        /// The observable.
        observable: String,
        /// Whether it was rising or falling.
        rising: bool,
        /// Steps of warm-up.
        warmup: usize,
    },
    /// The chains are in different places, each at home in its own, and change between them too rarely if at all.
    Disagree {
        /// What shows it.
        by: Disagreement,
    },
    /// The chains differ, and move so slowly that it cannot be told whether they would come to agree.
    TooSlow {
        /// The observable that differs most.
        observable: String,
        /// Its R-hat; none if it is infinite.
        rhat: Option<f64>,
        /// What the draws of a chain are worth on their own.
        ess: f64,
    },
    /// A mean is not what a symmetry of the model says it is: the chains have seen a part of the states.
    Asymmetric {
        /// The observable.
        observable: String,
        /// Its mean.
        mean: f64,
        /// The standard error of the mean; none if it never changed.
        error: Option<f64>,
        /// What it is.
        exact: f64,
    },
    /// Chains that were sent from other starts ended in another place.
    Elsewhere {
        /// How many.
        scouts: usize,
        /// All that were sent.
        of: usize,
        /// What shows it.
        by: Elsewhere,
    },
    /// There is one chain, which cannot tell what others would find.
    OneChain,
    /// Means and errors are rough.
    TooFewDraws {
        /// The observable with the fewest effective draws of all chains together, if these are too
        /// few.
        #[serde(skip_serializing_if = "Option::is_none")]
        fewest: Option<(String, f64)>,
        /// The observable with the largest R-hat, if that is too large.
        #[serde(skip_serializing_if = "Option::is_none")]
        rhat: Option<(String, f64)>,
        /// States still resemble those of so many draws before.
        #[serde(skip_serializing_if = "Option::is_none")]
        resembles: Option<usize>,
    },
    /// Swaps are so rare somewhere that the barrier of a ladder is not known.
    Barrier {
        /// The largest rejection.
        rejection: f64,
        /// Between the rung of that inverse temperature and the next.
        beta: f64,
    },
    /// Replicas travel along the ladder much more slowly than their swaps would let them.
    Exploration {
        /// The inverse temperature whose chain forgets most slowly.
        beta: f64,
    },
    /// The weights of annealed chains differ so much that few of them count.
    UnequalWeights {
        /// How many chains there are.
        chains: usize,
        /// How many they are worth.
        effective: f64,
    },
    /// Annealing back from the model gives more than annealing towards it: mass was missed.
    DirectionsApart {
        /// log Z towards the model, low on average.
        forward: f64,
        /// log Z back from it.
        reverse: f64,
    },
}

/// Why an acceptance is not what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AcceptanceCause {
    /// Even changing one site at a time is accepted less often.
    SmallestRadius,
    /// Even the smallest step is accepted less often.
    SmallestStep,
    /// The warm-up was too short to tune.
    ShortWarmup,
}

/// What shows that chains are in different places.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Disagreement {
    /// The R-hat of an observable, beyond what slow chains explain.
    Rhat {
        /// The observable.
        observable: String,
        /// Its R-hat; none if it is infinite.
        rhat: Option<f64>,
    },
    /// Whole states.
    Overlap {
        /// Share of sites that agree within a chain after `lag` draws.
        within: f64,
        /// Share of sites that agree between chains.
        between: f64,
        /// Draws between the states that were compared.
        lag: usize,
    },
}

/// What may help, to be said in the terms of whoever tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// So many chains.
    Chains(usize),
    /// So many steps of warm-up.
    Warmup(usize),
    /// A longer warm-up.
    LongerWarmup,
    /// More draws.
    Draws,
    /// More steps per draw.
    Thin,
    /// A smaller scale.
    SmallerScale,
    /// Another sampler.
    Sampler,
    /// Another sampler, found by comparing them.
    Compare,
    /// A ladder of temperatures.
    Temper,
    /// An observable of one's own.
    Observe,
    /// More temperatures of annealing.
    Temperatures,
    /// log Z by a ladder of temperatures instead of by annealing.
    LadderForLogZ,
}

/// Something that looks fine.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Assurance {
    /// Some site changed in every chain.
    Moved {
        /// Number of chains.
        chains: usize,
    },
    /// The chains agree.
    Agree {
        /// The largest R-hat.
        rhat: f64,
    },
    /// There are enough effective draws.
    Enough {
        /// The observable with the fewest.
        observable: String,
        /// Of all chains together.
        ess: f64,
    },
    /// Chains have forgotten their start.
    Forgotten,
    /// Steps are accepted more often than asked for because they cannot be made bolder: the scale is the
    /// largest, at which a step on flat ground is a fresh draw.
    Boldest {
        /// The acceptance of the draws.
        acceptance: f64,
        /// What it was tuned to.
        target: f64,
    },
}

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
            verdict.findings.extend(self.asymmetry());
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
            _ => self.kept_memory().map(|by| Finding::Disagree { by }),
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
        let worth: Vec<f64> = series.iter().map(|chain| ess(chain).value()).collect();
        let mean = worth.iter().sum::<f64>() / worth.len().max(1) as f64;
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
        let rhat = match agreement {
            Agreement::Slow(name, rhat) => Some(named((name, *rhat))),
            _ => None,
        };
        let fading = self.overlap.filter(|overlap| overlap.memory == Memory::Fading);
        let resembles = fading.map(|overlap| overlap.lag / 2);
        let any = fewest.is_some() || rhat.is_some() || resembles.is_some();
        any.then_some(Finding::TooFewDraws { fewest, rhat, resembles })
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
        let cause = match traits.unit {
            _ if acceptance > target || (*scale)? >= 1.01 * traits.tuned.0 => {
                AcceptanceCause::ShortWarmup
            }
            ScaleUnit::Radius => AcceptanceCause::SmallestRadius,
            ScaleUnit::StepSize => AcceptanceCause::SmallestStep,
        };
        Some(Finding::Acceptance { acceptance, target, cause, warmup: settings.warmup })
    }
}

impl Finding {
    /// Whether it says that chains do not agree, so that what their draws are worth is not known.
    pub fn voids_effective_draws(&self) -> bool {
        matches!(
            self,
            Self::Stuck { .. } | Self::Frozen { .. } | Self::Disagree { .. } | Self::TooSlow { .. }
        )
    }

    /// Whether it says that a part of the states was not seen.
    pub(crate) fn is_partial(&self) -> bool {
        matches!(self, Self::Incomplete { .. } | Self::Asymmetric { .. })
            || self.voids_effective_draws()
    }

    /// What may help, the first thing first.
    pub fn advice(&self) -> Vec<Advice> {
        match self {
            Self::Stuck { .. } => vec![Advice::SmallerScale, Advice::Sampler],
            Self::Silent { .. } => vec![Advice::Observe],
            Self::Level { .. } => vec![Advice::Sampler],
            Self::Frozen { .. } => vec![Advice::Draws, Advice::Sampler],
            Self::ShortWarmup { warmup, .. } => vec![Advice::Warmup((4 * warmup).max(1000))],
            Self::Disagree { .. } | Self::Elsewhere { .. } | Self::Asymmetric { .. } => {
                vec![Advice::Temper, Advice::Compare]
            }
            Self::TooSlow { .. } => vec![Advice::Compare, Advice::Thin],
            Self::OneChain => vec![Advice::Chains(4)],
            Self::TooFewDraws { .. } => vec![Advice::Draws, Advice::Compare],
            Self::Barrier { .. } => vec![Advice::Temper, Advice::LongerWarmup],
            Self::Exploration { .. } => vec![Advice::Sampler, Advice::Thin],
            Self::UnequalWeights { .. } => vec![Advice::Temperatures, Advice::LadderForLogZ],
            Self::DirectionsApart { .. } => vec![Advice::LadderForLogZ, Advice::Temperatures],
            Self::Incomplete { .. } | Self::Acceptance { .. } => Vec::new(),
        }
    }

    /// Its code, for scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Incomplete { .. } => "incomplete",
            Self::Stuck { .. } => "stuck",
            Self::Acceptance { .. } => "acceptance",
            Self::Silent { .. } => "silent",
            Self::Frozen { .. } => "frozen",
            Self::ShortWarmup { .. } => "short-warmup",
            Self::Disagree { .. } => "disagree",
            Self::TooFewDraws { .. } => "too-few-draws",
            Self::Level { .. } => "level",
            Self::TooSlow { .. } => "too-slow",
            Self::Asymmetric { .. } => "asymmetric",
            Self::Elsewhere { .. } => "elsewhere",
            Self::OneChain => "one-chain",
            Self::UnequalWeights { .. } => "unequal-weights",
            Self::DirectionsApart { .. } => "directions-apart",
            Self::Barrier { .. } => "barrier",
            Self::Exploration { .. } => "exploration",
        }
    }
}

/// Whether an observable is the distance to one of the further reference states.
pub fn is_further_distance(name: &str) -> bool {
    name.strip_prefix(HAMMING).is_some_and(|rest| rest.starts_with('_'))
}

/// An observable's name as people say it.
pub fn plain_name(name: &str) -> &str {
    match name {
        LOG_PROB => "log π",
        HAMMING => "the Hamming distance",
        name if is_further_distance(name) => "a Hamming distance",
        name => name,
    }
}

/// A number with three digits that count.
fn significant(number: f64) -> String {
    let digits = if number == 0.0 { 0 } else { 2 - number.abs().log10().floor() as i32 };
    format!("{number:.*}", digits.clamp(0, 12) as usize)
}

/// An R-hat as people write it.
fn number(rhat: Option<f64>) -> String {
    rhat.filter(|rhat| rhat.is_finite()).map_or("infinite".to_owned(), |rhat| format!("{rhat:.3}"))
}

impl std::fmt::Display for Disagreement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rhat { observable, rhat } => {
                write!(f, "R-hat of {} is {}", plain_name(observable), number(*rhat))
            }
            Self::Overlap { within, between, lag } => write!(
                f,
                "{:.0} % of sites agree within a chain after {lag} draws, {:.0} % between chains",
                100.0 * within,
                100.0 * between
            ),
        }
    }
}

/// What was found, without advice.
impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Incomplete { ended, failed, draws, asked } => {
                let run = if *failed { "" } else { "the run was " };
                write!(f, "{run}{ended}; {draws} of {asked} draws were made")
            }
            Self::Stuck { chains, of } => {
                let shown: Vec<String> = chains.iter().take(10).map(ToString::to_string).collect();
                let more = if chains.len() > shown.len() { ", …" } else { "" };
                let (noun, verb) =
                    if chains.len() == 1 { ("chain", "is") } else { ("chains", "are") };
                write!(
                    f,
                    "{} of {of} chains {verb} stuck ({noun} {}{more}): no site ever changed there, and \
                     such a chain counts as 0 effective draws",
                    chains.len(),
                    shown.join(", ")
                )
            }
            Self::Acceptance { acceptance, target, cause, warmup } => {
                write!(f, "the acceptance is {acceptance:.3}, not the {target} it was tuned to: ")?;
                match cause {
                    AcceptanceCause::SmallestRadius => {
                        f.write_str("even changing one site at a time is accepted less often")
                    }
                    AcceptanceCause::SmallestStep => {
                        f.write_str("even the smallest step is accepted less often")
                    }
                    AcceptanceCause::ShortWarmup => {
                        write!(f, "the warm-up of {warmup} steps was too short to tune")
                    }
                }
            }
            Self::Silent { chains } => write!(
                f,
                "in {chains} moving chains the distance to the reference state never changed, so their \
                 effective draws cannot be told and count as 0"
            ),
            Self::Frozen { sites, of } => {
                let (verb, it, differ) =
                    if *sites == 1 { ("is", "it", "differs") } else { ("are", "they", "differ") };
                let means = if *sites == 1 { "its mean says" } else { "their means say" };
                write!(
                    f,
                    "{sites} of {of} sites {verb} frozen: {it} {differ} between chains and never changed \
                     within one; {means} nothing"
                )
            }
            Self::ShortWarmup { observable, rising, warmup } => write!(
                f,
                "the warm-up of {warmup} steps was too short: {} was still {} in all chains alike after \
                 it",
                plain_name(observable),
                if *rising { "rising" } else { "falling" }
            ),
            Self::Disagree { by } => write!(
                f,
                "the chains are in different modes ({by}) and change between them too rarely if at all: \
                 results depend on where they began"
            ),
            Self::TooFewDraws { fewest, rhat, resembles } => {
                let fewest = fewest.as_ref().map(|(name, ess)| {
                    let name = plain_name(name);
                    format!("all chains together are worth {ess:.0} independent draws of {name}")
                });
                let rhat = rhat.as_ref().map(|(name, rhat)| {
                    let (name, rhat) = (plain_name(name), number(Some(*rhat)));
                    format!("R-hat of {name} is {rhat}, above {LARGEST_RHAT}")
                });
                let resembles = resembles
                    .map(|draws| format!("states still resemble those of {draws} draws before"));
                let reasons: Vec<String> =
                    fewest.into_iter().chain(rhat).chain(resembles).collect();
                write!(f, "too few draws: {}; means and errors are rough", reasons.join(", and "))
            }
            Self::Level { chains, of } => write!(
                f,
                "log π was the same in all draws of {chains} of {of} {}: the target is flat there, or \
                 the sampler goes to and fro between few states",
                if *of == 1 { "chain, which moved" } else { "chains, which moved" }
            ),
            Self::TooSlow { observable, rhat, ess } => write!(
                f,
                "the chains are too slow to tell whether they agree: R-hat of {} is {}, and a chain is \
                 worth {ess:.0} independent draws on its own",
                plain_name(observable),
                number(*rhat)
            ),
            Self::Asymmetric { observable, mean, error, exact } => {
                let error = error.map_or(String::new(), |error| format!(" ± {}", significant(error)));
                write!(
                    f,
                    "the chains have seen a part of the states only: the model is the same with its values \
                     exchanged, so the mean of {} is {}, and not {}{error}",
                    plain_name(observable),
                    significant(*exact),
                    significant(*mean)
                )
            }
            Self::Elsewhere { scouts, of, by: Elsewhere { observable, here, there } } => write!(
                f,
                "there is a place that no chain came to: of {of} that were sent from other starts {scouts} \
                 ended where the mean of {} is {}, and not {}",
                plain_name(observable),
                significant(*there),
                significant(*here)
            ),
            Self::OneChain => f.write_str(
                "one chain cannot tell whether others would find the same: whatever it did not visit is \
                 missing from every number, errors included",
            ),
            Self::UnequalWeights { chains, effective } => write!(
                f,
                "the weights of the chains differ so much that {chains} count for {effective:.1}: log Z is \
                 likely too low, and its standard error too"
            ),
            Self::DirectionsApart { forward, reverse } => write!(
                f,
                "the way back gives a log Z that is {:.2} nats larger ({reverse:.2}, not {forward:.2}), \
                 more than the errors explain: chains on their way miss a part of the mass",
                reverse - forward
            ),
            Self::Barrier { rejection, beta } => {
                let (rejection, beta) = (*rejection, *beta);
                LadderVerdict::AddRungs { rejection, beta }.fmt(f)
            }
            Self::Exploration { beta } => LadderVerdict::TooSlow { beta: *beta }.fmt(f),
        }
    }
}

impl std::fmt::Display for Assurance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Moved { chains: 1 } => f.write_str("the chain moved"),
            Self::Moved { .. } => f.write_str("every chain moved"),
            Self::Agree { rhat } => {
                write!(f, "the chains agree (R-hat at most {})", number(Some(*rhat)))
            }
            Self::Enough { observable, ess } => write!(
                f,
                "the draws are worth {ess:.0} independent ones at least (of {})",
                plain_name(observable)
            ),
            Self::Forgotten => f.write_str("they have forgotten their start"),
            Self::Boldest { acceptance, target } => write!(
                f,
                "steps are accepted more often than asked for ({acceptance:.3}, not {target}) because they \
                 cannot be made bolder"
            ),
        }
    }
}
