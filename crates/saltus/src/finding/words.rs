//! What was found in words.

use super::evidence::LARGEST_RHAT;
use super::{AcceptanceCause, Assurance, Disagreement, Finding};
use crate::draws::trace::{HAMMING, LOG_PROB};
use crate::run::Elsewhere;
use crate::temper::LadderVerdict;

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
            Self::Inexact { observable, mean, error, exact } => {
                let error = error.map_or(String::new(), |error| format!(" ± {}", significant(error)));
                write!(
                    f,
                    "the chains have seen a part of the states only, or their errors are too small: the exact mean of {}, which is \
                     known, is {}, and not {}{error}",
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
            Self::Contradicted { by, observable, here, there } => write!(
                f,
                "{by} gives another mean of {}, {} and not {}, by more than the errors explain: at least one of the two has not \
                 seen all that matters",
                plain_name(observable),
                significant(*there),
                significant(*here)
            ),
            Self::Unscouted { why } => {
                write!(f, "it was not looked for other modes from other starts, because {why}")
            }
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
            Self::MissedMass { log_z, at_least } => write!(
                f,
                "log Z is {at_least:.2} at least, by the states around a single place, and not {log_z:.2}: most of the mass was \
                 missed"
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
