//! What scripts are told of an estimated normaliser.

use super::report::{Estimation, Found, ReverseFrom, likelihood, warnings};
use crate::failure::Failure;
use saltus::{Finding, of_annealing};
use serde::Serialize;
use std::io::Write;

/// What `--json` prints.
#[derive(Serialize)]
struct Json {
    model: &'static str,
    file: String,
    sites: usize,
    values: usize,
    hidden: Vec<usize>,
    sampler: String,
    chains: usize,
    temperatures: usize,
    seed: u64,
    complete: bool,
    /// Low on average.
    log_z: Option<f64>,
    log_z_se: Option<f64>,
    effective_chains: Option<f64>,
    /// High on average.
    log_z_reverse: Option<f64>,
    log_z_reverse_se: Option<f64>,
    effective_chains_reverse: Option<f64>,
    reverse_from: Option<ReverseFrom>,
    log_z_exact: Option<f64>,
    /// Three errors below the one and above the other.
    lower: Option<f64>,
    upper: Option<f64>,
    findings: Vec<Finding>,
    warnings: Vec<String>,
    dataset: Option<String>,
    images: usize,
    /// Nats per image, with `log_z`.
    log_likelihood: Option<f64>,
    /// Nats per image, with `log_z_exact`.
    log_likelihood_exact: Option<f64>,
    /// Whether the likelihood is only bounded from below.
    log_likelihood_is_bound: bool,
    bits_per_dim: Option<f64>,
    acceptance: Option<f64>,
    scale: Option<f64>,
    threads: Option<usize>,
    seconds: Option<f64>,
}

/// One object for scripts.
pub fn print_json(about: &Estimation<'_>, found: &Found) -> Result<(), Failure> {
    let outcome = found.outcome.as_ref();
    let forward = outcome.and_then(|outcome| outcome.forward);
    let reverse = outcome.and_then(|outcome| outcome.reverse);
    let estimated = likelihood(about, found, forward.map(|forward| forward.log_z));
    let json = Json {
        model: about.subject.name(),
        file: about.source(),
        sites: about.space().sites(),
        values: about.space().values(),
        hidden: about.subject.hidden(),
        sampler: about.transition.to_string(),
        chains: about.settings.chains,
        temperatures: about.settings.temperatures,
        seed: about.settings.seed,
        complete: found.is_complete(about),
        log_z: forward.map(|forward| forward.log_z),
        log_z_se: forward.and_then(|forward| forward.standard_error),
        effective_chains: forward.map(|forward| forward.effective_chains),
        log_z_reverse: reverse.map(|reverse| reverse.log_z),
        log_z_reverse_se: reverse.and_then(|reverse| reverse.standard_error),
        effective_chains_reverse: reverse.map(|reverse| reverse.effective_chains),
        reverse_from: found.reverse_from.filter(|_| reverse.is_some()),
        log_z_exact: found.log_z_exact,
        lower: forward.and_then(|found| Some(found.log_z - 3.0 * found.standard_error?)),
        upper: reverse.and_then(|found| Some(found.log_z + 3.0 * found.standard_error?)),
        findings: outcome.map(of_annealing).unwrap_or_default(),
        warnings: warnings(found),
        dataset: about.arguments.dataset.clone(),
        images: about.images,
        log_likelihood: estimated.as_ref().map(|likelihood| likelihood.nats),
        log_likelihood_exact: likelihood(about, found, found.log_z_exact).map(|exact| exact.nats),
        log_likelihood_is_bound: about.subject.is_bounded(),
        bits_per_dim: estimated.map(|likelihood| likelihood.bits_per_dim),
        acceptance: outcome.map(|outcome| outcome.acceptance),
        scale: outcome.and_then(|outcome| outcome.scale),
        threads: outcome.map(|outcome| outcome.threads),
        seconds: outcome.map(|outcome| outcome.seconds),
    };
    let mut out = crate::out::stdout();
    serde_json::to_writer_pretty(&mut out, &json)?;
    writeln!(out)?;
    Ok(())
}
