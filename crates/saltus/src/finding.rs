//! What a run shows about itself: findings with stable codes, in the order in which they should be
//! heard. Sentences and advice are the business of whoever tells them.
//!
//! Thresholds and their reasons are in `docs/diagnostics.md`.

use crate::control::Ended;
use crate::draws::sites::SiteCounts;
use crate::draws::trace::LOG_PROB;
use crate::kernel::ScaleUnit;
use crate::run::Outcome;
use crate::stats::{Diagnosis, EssSummary, Memory, Movement, Overlap, drift};
use crate::summary::{ENERGY, ObservableSummary};
use crate::temper::LadderVerdict;
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
    /// The chains are in different places, and change between them too rarely if at all.
    Disagree {
        /// What shows it.
        by: Disagreement,
    },
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
    /// They differ by more.
    Modes(&'a str, f64),
    Unknown,
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
        verdict.findings.extend(self.ladder());
        if outcome.stuck.len() == chains {
            return verdict;
        }
        verdict.findings.extend(self.silent_chains());
        verdict.findings.extend(self.frozen_sites());
        verdict.findings.extend(self.drift());
        let agreement = self.agreement();
        let disagreement = match &agreement {
            Agreement::Modes(name, rhat) => Some(Disagreement::Rhat {
                observable: (*name).to_owned(),
                rhat: Some(*rhat).filter(|rhat| rhat.is_finite()),
            }),
            _ => self.kept_memory(),
        };
        let disagree = disagreement.is_some();
        if let Some(by) = disagreement {
            verdict.findings.push(Finding::Disagree { by });
        } else if let Agreement::Agree(rhat) = agreement
            && chains > 1
        {
            verdict.assurances.push(Assurance::Agree { rhat });
        }
        match self.too_few(&agreement) {
            Some(_) if disagree => {}
            Some(finding) => verdict.findings.push(finding),
            None => verdict.assurances.extend(self.enough()),
        }
        if self.overlap.is_some_and(|overlap| overlap.memory == Memory::Forgotten) && !disagree {
            verdict.assurances.push(Assurance::Forgotten);
        }
        verdict
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
            Agreement::Modes(&observable.name, rhat)
        } else {
            Agreement::Slow(&observable.name, rhat)
        }
    }

    /// Mean over chains of what the draws of one chain are worth on their own.
    fn own_ess(&self, name: &str) -> f64 {
        let series = self.outcome.trace.series(name).unwrap_or_default();
        EssSummary::of_chains(series).mean
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

    /// The observable with the fewest effective draws, in the bulk or the tails.
    fn fewest(&self) -> Option<(&str, f64)> {
        let moving = self.judged().filter(|o| o.diagnosis.movement == Movement::Moving);
        moving
            .filter_map(|observable| {
                let Diagnosis { ess_bulk, ess_tail, .. } = observable.diagnosis;
                let fewer = [ess_bulk, ess_tail].into_iter().flatten().reduce(f64::min)?;
                Some((observable.name.as_str(), fewer))
            })
            .min_by(|one, other| one.1.total_cmp(&other.1))
    }

    fn too_few(&self, agreement: &Agreement<'_>) -> Option<Finding> {
        let named = |(name, number): (&str, f64)| (name.to_owned(), number);
        let fewest = self.fewest().filter(|(_, ess)| *ess < FEWEST_DRAWS).map(named);
        let rhat = match agreement {
            Agreement::Slow(name, rhat) => Some(named((name, *rhat))),
            Agreement::Agree(_) | Agreement::Modes(..) | Agreement::Unknown => None,
        };
        let fading = self.overlap.filter(|overlap| overlap.memory == Memory::Fading);
        let resembles = fading.map(|overlap| overlap.lag / 2);
        let any = fewest.is_some() || rhat.is_some() || resembles.is_some();
        any.then_some(Finding::TooFewDraws { fewest, rhat, resembles })
    }

    fn enough(&self) -> Option<Assurance> {
        let (name, ess) = self.fewest()?;
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

    /// A finding if the ladder of a tempered run is not fine.
    fn ladder(&self) -> Option<Finding> {
        match self.outcome.tempering.as_ref()?.verdict() {
            LadderVerdict::AddRungs { rejection, beta } => {
                Some(Finding::Barrier { rejection, beta })
            }
            LadderVerdict::TooSlow { beta } => Some(Finding::Exploration { beta }),
            LadderVerdict::Fine | LadderVerdict::NotMeasured { .. } => None,
        }
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
            Self::Barrier { .. } => "barrier",
            Self::Exploration { .. } => "exploration",
        }
    }
}

/// An observable's name as people say it.
pub fn plain_name(name: &str) -> &str {
    match name {
        LOG_PROB => "log π",
        crate::draws::trace::HAMMING => "the Hamming distance",
        name => name,
    }
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
