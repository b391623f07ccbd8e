//! A figure per target like the paper's: effective draws per evaluation and per second, as bars on
//! a logarithmic scale.

use super::measure::Row;
use super::results::{Results, deviation, mean, weights_of};
use crate::study::{SAMPLERS, Target};
use saltus::{Balancing, Method};
use saltus_cli::plot::bars::{Bar, BarPlot, Panel};

/// Colours of the bars.
const KINDS: [&str; 4] = [
    "without a weight function",
    "weight function sqrt",
    "weight function ratio",
    "Gibbs sweeps, not in the paper",
];

fn kind(sampler: Method, weight: Option<Balancing>) -> usize {
    match (sampler, weight) {
        (Method::Gibbs, _) => 3,
        (_, None) => 0,
        (_, Some(Balancing::Ratio)) => 2,
        (_, Some(_)) => 1,
    }
}

/// The figure of a target.
pub fn figure(results: &Results, target: Target) -> BarPlot {
    let panel = |title: &str, value: fn(&Row) -> f64, error: fn(&Row) -> Option<f64>| {
        let samplers = SAMPLERS.into_iter().chain([Method::Gibbs]);
        let pairs = samplers.flat_map(|sampler| {
            weights_of(sampler).into_iter().map(move |weight| (sampler, weight))
        });
        let bars = pairs.filter_map(|(sampler, weight)| {
            let rows = || results.tuned(target, sampler, weight);
            let draws: Vec<f64> = rows().map(value).collect();
            Some(Bar {
                label: sampler.to_string(),
                value: Some(mean(draws.iter().copied())?),
                error: deviation(&draws).or_else(|| mean(rows().filter_map(error))),
                group: kind(sampler, weight),
            })
        });
        Panel { title: title.to_owned(), bars: bars.collect() }
    };
    let rows = || results.of_target(target).filter(|row| row.fixed_scale.is_none());
    let steps = rows().map(|row| row.steps).max().unwrap_or(0);
    let chains = rows().map(|row| row.chains).max().unwrap_or(0);
    let mut seeds: Vec<Option<u64>> = rows().map(|row| row.model_seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let spread = match seeds.len() {
        0 | 1 => "chains".to_owned(),
        draws => format!("{draws} draws of the parameters"),
    };
    let space = rows().next().map(|row| format!("{} sites × {} values", row.sites, row.values));
    BarPlot {
        title: target.name().to_owned(),
        subtitles: vec![
            space.unwrap_or_default(),
            format!(
                "{chains} chains of {steps} steps, half discarded; error bars: standard deviation over \
                 {spread}; log scale"
            ),
        ],
        panels: vec![
            panel(
                "effective draws per evaluation (of 50,000 draws)",
                |row| row.ess_per_evaluation,
                |row| row.ess_per_evaluation_sd,
            ),
            panel(
                "effective draws of a chain per second",
                |row| row.ess_per_second,
                |row| row.ess_per_second_sd,
            ),
        ],
        groups: KINDS.to_vec(),
    }
}
