//! The numbers of a run that people and scripts read, and what to say about them in words.

use crate::run::{Ended, Outcome, Seconds};
use crate::sampler::{Sampler, Scale};
use crate::stats::{EssSummary, split_rhat, summarise};
use crate::tune::initial_scale;
use crate::weight::Weight;
use serde::Serialize;

/// What a run came to; serialised, it is the command line's `--json` object.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Name of the model.
    pub model: String,
    /// The model in words, with its parameters, if its maker gave them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The sampler.
    pub sampler: Sampler,
    /// Its weight function, if it has one.
    pub weight: Option<Weight>,
    /// Number of sites.
    pub sites: usize,
    /// Values per site.
    pub values: usize,
    /// Number of chains.
    pub chains: usize,
    /// Warm-up steps of each chain.
    pub warmup: usize,
    /// Kept draws of each chain.
    pub draws: usize,
    /// Steps per kept draw.
    pub thin: usize,
    /// Seed of the run.
    pub seed: u64,
    /// Threads used.
    pub threads: usize,
    /// Step size or number of sites, if the sampler has a scale.
    pub scale: Option<f64>,
    /// Mean acceptance over the kept draws.
    pub acceptance: f64,
    /// The larger split R-hat of log π and the Hamming distance; none if nothing moved, or if chains
    /// stand still at different places and it is infinite.
    pub rhat: Option<f64>,
    /// Effective sample size of the Hamming distance to a random state, over chains.
    pub ess: EssOverChains,
    /// Evaluations per step, counted as in the paper.
    pub evaluations_per_step: f64,
    /// Evaluations per step that were really made.
    pub evaluations_performed_per_step: f64,
    /// Mean ESS of a chain per evaluation (counted as in the paper) of that chain.
    pub ess_per_evaluation: f64,
    /// Mean ESS of a chain per second of wall time of the draws.
    pub ess_per_second: f64,
    /// ESS of all chains together per second of wall time of the draws.
    pub ess_of_all_chains_per_second: f64,
    /// Wall time.
    pub seconds: Seconds,
    /// Wall time of the draws per chain, site and step, in nanoseconds.
    pub ns_per_site_step: f64,
    /// log π over all draws.
    pub log_prob: Estimate,
    /// Mean number of sites that changed in a step.
    pub sites_changed_per_step: f64,
    /// How the run ended.
    pub ended: String,
    /// What deserves attention, in words.
    pub warnings: Vec<String>,
}

/// Effective sample size over chains.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EssOverChains {
    /// Mean over chains.
    pub mean: f64,
    /// Of the worst chain.
    pub min: f64,
    /// Standard deviation over chains.
    pub sd: f64,
}

/// A mean with its Monte Carlo standard error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Mean over all draws; none if there are none.
    pub mean: Option<f64>,
    /// Standard deviation of the draws.
    pub sd: Option<f64>,
    /// Monte Carlo standard error of the mean; none if the draws do not tell.
    pub mcse: Option<f64>,
}

/// Missing the target acceptance by more than this is worth a warning.
const ACCEPTANCE_TOLERANCE: f64 = 0.1;
/// Fewer effective draws of all chains together are worth a warning (Vehtari et al. 2021).
const FEWEST_DRAWS: f64 = 400.0;
/// A larger R-hat is worth a warning.
const LARGEST_RHAT: f64 = 1.05;

impl Summary {
    /// Sums up a run of a model of that name.
    pub fn new(model: impl Into<String>, outcome: &Outcome) -> Self {
        let Outcome { settings, space, trace, seconds, .. } = outcome;
        let ess = EssSummary::of_chains(trace.hamming());
        let log_prob = summarise(trace.log_prob());
        let rhats = [split_rhat(trace.hamming()), split_rhat(trace.log_prob())];
        let rhat = rhats.into_iter().flatten().reduce(f64::max);
        let draws = trace.draws();
        let steps = (draws * settings.thin) as f64;
        let evaluations_per_step = settings.sampler.evaluations_charged(space);
        let per = |amount: f64, of: f64| if of > 0.0 { amount / of } else { 0.0 };
        let site_steps = steps * (trace.chains() * space.sites()) as f64;
        Self {
            model: model.into(),
            description: None,
            sampler: settings.sampler,
            weight: settings.sampler.uses_weight().then_some(settings.weight),
            sites: space.sites(),
            values: space.values(),
            chains: trace.chains(),
            warmup: settings.warmup,
            draws,
            thin: settings.thin,
            seed: settings.seed,
            threads: outcome.threads,
            scale: outcome.scale,
            acceptance: outcome.acceptance,
            rhat: rhat.filter(|rhat| rhat.is_finite()),
            evaluations_per_step,
            evaluations_performed_per_step: outcome.evaluations_performed_per_step,
            ess_per_evaluation: per(ess.mean, steps * evaluations_per_step),
            ess_per_second: per(ess.mean, seconds.draws),
            ess_of_all_chains_per_second: per(ess.mean * trace.chains() as f64, seconds.draws),
            seconds: *seconds,
            ns_per_site_step: per(seconds.draws * 1e9, site_steps),
            log_prob: Estimate {
                mean: log_prob.map(|summary| summary.mean),
                sd: log_prob.map(|summary| summary.sd),
                mcse: log_prob.and_then(|summary| summary.mcse_mean),
            },
            sites_changed_per_step: outcome.sites_changed_per_step,
            ended: outcome.ended.to_string(),
            warnings: warnings(outcome, &ess, rhat),
            ess: EssOverChains { mean: ess.mean, min: ess.min, sd: ess.sd },
        }
    }
}

fn warnings(outcome: &Outcome, ess: &EssSummary, rhat: Option<f64>) -> Vec<String> {
    let mut warnings = Vec::new();
    if !outcome.ended.is_success() {
        let asked = outcome.settings.draws;
        let made = outcome.trace.draws();
        let ended = match &outcome.ended {
            failed @ Ended::Failed { .. } => failed.to_string(),
            early => format!("the run was {early}"),
        };
        warnings.push(format!("{ended}; {made} of {asked} draws were made"));
    }
    if outcome.trace.draws() == 0 {
        return warnings;
    }
    if !outcome.stuck.is_empty() {
        warnings.push(stuck(&outcome.stuck, outcome.trace.chains()));
    }
    let all_stuck = outcome.stuck.len() == outcome.trace.chains();
    if !all_stuck && ess.stuck.len() > outcome.stuck.len() {
        warnings.push(format!(
            "in {} moving chains the distance to the reference state never changed, so their \
             effective draws cannot be told and count as 0",
            ess.stuck.len() - outcome.stuck.len()
        ));
    }
    warnings.extend(acceptance(outcome));
    let total = ess.mean * outcome.trace.chains() as f64;
    if total < FEWEST_DRAWS && !all_stuck {
        warnings.push(format!(
            "all chains together are worth {total:.0} independent draws: means and errors are \
             rough; draw more, or try another sampler with `saltus compare`"
        ));
    }
    if let Some(rhat) = rhat
        && rhat > LARGEST_RHAT
        && !all_stuck
    {
        warnings.push(format!(
            "R-hat is {rhat:.2}, above {LARGEST_RHAT}: the chains do not agree yet; \
             try a longer warm-up and more draws"
        ));
    }
    warnings
}

fn stuck(stuck: &[usize], chains: usize) -> String {
    let shown: Vec<String> = stuck.iter().take(10).map(ToString::to_string).collect();
    let more = if stuck.len() > shown.len() { ", …" } else { "" };
    let (noun, verb) = if stuck.len() == 1 { ("chain", "is") } else { ("chains", "are") };
    format!(
        "{} of {chains} chains {verb} stuck ({noun} {}{more}): no site ever changed there, and such a \
         chain counts as 0 effective draws",
        stuck.len(),
        shown.join(", ")
    )
}

/// A sentence if tuning missed its target without a reason to.
fn acceptance(outcome: &Outcome) -> Option<String> {
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
