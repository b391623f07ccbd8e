//! Runs one cell and keeps its numbers: a row of the table of results.

use super::cell::{Cell, Protocol};
use super::look::Look;
use super::pace::Pace;
use crate::study::{STEPS, Target};
use saltus::model::erased::Erased;
use saltus::run::Progress;
use saltus::stats::{EssSummary, split_rhat, summarise};
use saltus::{Balancing, Ended, Method, Model, Run, Sampler, Settings};
use saltus_cli::failure::Failure;
use saltus_cli::memory;
use saltus_cli::progress::View;
use serde::{Deserialize, Serialize};

/// Draws of the paper's protocol, to which effective draws are extrapolated.
const PAPER_DRAWS: f64 = STEPS as f64 / 2.0;
/// Numbers that are kept of a draw: two observables and three statistics.
const NUMBERS: f64 = 5.0;

/// The numbers of a cell, in the order of the table's columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub target: String,
    pub sampler: Method,
    pub weight: Option<Balancing>,
    /// Seed of the target's random parameters; none for machines, which come from a file.
    pub model_seed: Option<u64>,
    /// What the machine was, if the target is one.
    pub machine: Option<String>,
    pub fixed_scale: Option<f64>,
    pub sites: usize,
    pub values: usize,
    pub chains: usize,
    pub steps: usize,
    pub draws: usize,
    pub study_seed: u64,
    pub seed: u64,
    pub threads: usize,
    pub scale: Option<f64>,
    pub acceptance: f64,
    pub sites_changed_per_step: f64,
    pub ess_mean: f64,
    pub ess_sd: Option<f64>,
    pub ess_min: f64,
    pub stuck_chains: usize,
    pub evaluations_per_step: f64,
    /// On the paper's scale: ESS of 50,000 draws over the evaluations of one step.
    pub ess_per_evaluation: f64,
    pub ess_per_evaluation_sd: Option<f64>,
    /// Of one chain, while all chains run.
    pub ess_per_second: f64,
    pub ess_per_second_sd: Option<f64>,
    /// For 100,000 steps of all chains, at the median pace of the draws.
    pub seconds_per_100k: f64,
    pub paper_seconds: Option<f64>,
    pub rhat: Option<f64>,
    pub log_prob_mean: Option<f64>,
    pub log_prob_mcse: Option<f64>,
    /// What the chains' last states say about the proposals.
    pub total_rate_cv: Option<f64>,
    pub total_rate_start_over_end: Option<f64>,
    pub interpolation_error: Option<f64>,
    pub euler_error: Option<f64>,
    pub small_step_error: Option<f64>,
    pub large_step_error: Option<f64>,
}

impl Row {
    /// What must be the same in cells that are compared: steps, chains, threads, machine.
    pub fn conditions(&self) -> Conditions<'_> {
        Conditions {
            steps: self.steps,
            chains: self.chains,
            threads: self.threads,
            machine: self.machine.as_deref(),
        }
    }

    /// The target; none if the name is not known, as in a file somebody edited.
    pub fn target(&self) -> Option<Target> {
        self.target.parse().ok()
    }
}

/// Under which a cell was run; the most steps come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Conditions<'a> {
    pub steps: usize,
    pub chains: usize,
    pub threads: usize,
    pub machine: Option<&'a str>,
}

/// How a cell ended.
pub enum Measured {
    Done(Box<Row>),
    /// The user stopped it.
    Stopped,
    /// A chain could not go on, for this reason.
    Failed(String),
}

/// A cell to be run.
pub struct Measuring<'a> {
    pub cell: Cell,
    pub protocol: Protocol,
    pub machine: Option<String>,
    pub threads: Option<usize>,
    pub view: &'a mut View,
}

impl Measuring<'_> {
    /// Runs it.
    pub fn go(self, model: &Erased) -> Result<Measured, Failure> {
        let Self { cell, protocol, machine, threads, view } = self;
        let steps = protocol.steps_of(&cell);
        let warmup = steps / 2;
        let settings = Settings {
            sampler: Sampler {
                balancing: cell.weight.unwrap_or_default(),
                scale: cell.fixed_scale,
                ..Sampler::new(cell.sampler)
            },
            chains: protocol.chains,
            warmup,
            draws: steps - warmup,
            seed: cell.seed(protocol.seed),
            threads,
            ..Settings::default()
        };
        settings.check(&settings.sampler.traits(model.space()))?;
        let numbers = NUMBERS * settings.chains as f64 * settings.draws as f64;
        memory::check_bytes("the draws of a cell", 8.0 * numbers)?;
        let mut pace = Pace::default();
        let monitor = |progress: Progress| {
            if !progress.warming_up {
                pace.note(progress.steps);
            }
            view.show(progress)
        };
        // The same state for all cells of a target: how fast a distance forgets depends on it.
        let run = Run::new(model, settings.clone());
        let outcome = run.reference_seed(protocol.seed).monitor(monitor).go()?;
        match &outcome.ended {
            Ended::Complete | Ended::Reached(_) => {}
            Ended::Interrupted | Ended::TimeLimit => return Ok(Measured::Stopped),
            Ended::Failed { .. } => return Ok(Measured::Failed(outcome.ended.to_string())),
        }
        let draws = outcome.trace.draws();
        let mean_pace = outcome.seconds.draws / draws as f64;
        let seconds_per_step = pace.median().unwrap_or(mean_pace);
        let ess = EssSummary::of_chains(outcome.trace.hamming());
        let sd = (protocol.chains > 1).then_some(ess.sd);
        let log_prob = summarise(outcome.trace.log_prob());
        let rhats = [split_rhat(outcome.trace.hamming()), split_rhat(outcome.trace.log_prob())];
        let evaluations_per_step = outcome.traits.evaluations_charged;
        let per_evaluation = PAPER_DRAWS / draws as f64 / evaluations_per_step;
        let per_second = 1.0 / (draws as f64 * seconds_per_step);
        let look = Look::at(model, &settings, &outcome)?;
        Ok(Measured::Done(Box::new(Row {
            target: cell.target.name().to_owned(),
            sampler: cell.sampler,
            weight: cell.weight,
            model_seed: machine.is_none().then_some(cell.model_seed),
            machine,
            fixed_scale: cell.fixed_scale,
            sites: model.space().sites(),
            values: model.space().values(),
            chains: protocol.chains,
            steps,
            draws,
            study_seed: protocol.seed,
            seed: settings.seed,
            threads: outcome.threads,
            scale: outcome.scale,
            acceptance: outcome.acceptance,
            sites_changed_per_step: outcome.sites_changed_per_step,
            ess_mean: ess.mean,
            ess_sd: sd,
            ess_min: ess.min,
            stuck_chains: outcome.stuck.len(),
            evaluations_per_step,
            ess_per_evaluation: ess.mean * per_evaluation,
            ess_per_evaluation_sd: sd.map(|sd| sd * per_evaluation),
            ess_per_second: ess.mean * per_second,
            ess_per_second_sd: sd.map(|sd| sd * per_second),
            seconds_per_100k: seconds_per_step * STEPS as f64,
            paper_seconds: cell.target.paper_seconds(cell.sampler),
            rhat: rhats.into_iter().flatten().reduce(f64::max).filter(|rhat| rhat.is_finite()),
            log_prob_mean: log_prob.map(|summary| summary.mean),
            log_prob_mcse: log_prob.and_then(|summary| summary.mcse_mean),
            total_rate_cv: look.total_rate_cv,
            total_rate_start_over_end: look.total_rate_start_over_end,
            interpolation_error: look.interpolation_error,
            euler_error: look.euler_error,
            small_step_error: look.small_step_error,
            large_step_error: look.large_step_error,
        })))
    }
}
