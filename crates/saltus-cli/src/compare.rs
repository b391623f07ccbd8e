//! `saltus compare`: the same run for several samplers, side by side.

use crate::arguments::{COMPARED, CompareArguments};
use crate::failure::{Failure, Finish};
use crate::model::{About, Context, UseModel, with_model};
use crate::progress::View;
use crate::{interrupt, say, table};
use saltus::sampler::Scale;
use saltus::{Ended, Model, Run, Sampler, Settings, Summary};
use serde::Serialize;
use std::io::Write;

/// Runs every sampler and prints.
pub fn run(arguments: CompareArguments) -> Result<Finish, Failure> {
    let differences = arguments.model.differences();
    let samplers = if arguments.samplers.is_empty() { &COMPARED[..] } else { &arguments.samplers };
    let all_settings: Vec<Settings> = samplers
        .iter()
        .map(|sampler| for_sampler(arguments.run.settings(*sampler, differences), *sampler))
        .collect();
    let context = Context {
        seed: arguments.run.model_seed.unwrap_or(0),
        chains: all_settings.first().map_or(1, |settings| settings.chains),
    };
    let comparing = Comparing { all_settings, arguments: &arguments };
    with_model(&arguments.model, context, comparing)?
}

/// A scale or a target is meant for the samplers that have one; the others run as they are.
fn for_sampler(settings: Settings, sampler: Sampler) -> Settings {
    match sampler.scale() {
        Scale::None => Settings { scale: None, target_acceptance: None, ..settings },
        Scale::StepSize | Scale::Radius => settings,
    }
}

struct Comparing<'a> {
    all_settings: Vec<Settings>,
    arguments: &'a CompareArguments,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Comparison {
    model: &'static str,
    runs: Vec<Summary>,
}

impl UseModel for Comparing<'_> {
    type Output = Result<Finish, Failure>;

    fn call<M: Model>(self, about: About, model: &M) -> Self::Output {
        let Self { all_settings, arguments } = self;
        let CompareArguments { run: options, .. } = arguments;
        for settings in &all_settings {
            settings.check(model.space())?;
        }
        let heading = heading(&about, model, &all_settings);
        if !options.json {
            let mut out = std::io::stdout().lock();
            writeln!(out, "{heading}")?;
            out.flush()?;
        } else if !options.quiet {
            say(&heading);
        }
        interrupt::listen();
        let mut finish = Finish::Complete;
        let mut runs = Vec::new();
        for settings in &all_settings {
            let mut view = View::new(settings.sampler.name(), options.quiet);
            let outcome = Run::new(model, settings).monitor(|progress| view.show(progress)).go()?;
            view.finish();
            let mut summary = Summary::new(about.name, &outcome);
            summary.description = Some(about.words.clone());
            runs.push(summary);
            finish = worse(finish, Finish::from(&outcome.ended));
            if matches!(outcome.ended, Ended::Failed { .. }) {
                say(&format!("saltus: {}: {}", settings.sampler, outcome.ended));
            }
            // Also if it came too late for this run to be cut short.
            if interrupt::requested() {
                if runs.len() < all_settings.len() {
                    finish = worse(finish, Finish::Early);
                }
                break;
            }
        }
        let mut out = std::io::stdout().lock();
        if options.json {
            serde_json::to_writer_pretty(&mut out, &Comparison { model: about.name, runs })?;
            writeln!(out)?;
        } else {
            writeln!(out, "{}", table::of_runs(&runs))?;
            write!(out, "{}", table::verdict_of_runs(&runs))?;
        }
        out.flush()?;
        Ok(finish)
    }
}

/// A failure outweighs an early end, which outweighs success.
fn worse(one: Finish, other: Finish) -> Finish {
    let weight = |finish| match finish {
        Finish::Complete => 0,
        Finish::Early => 1,
        Finish::Failed => 2,
    };
    if weight(other) > weight(one) { other } else { one }
}

/// What is being sampled, and how.
fn heading<M: Model>(about: &About, model: &M, all_settings: &[Settings]) -> String {
    let names: Vec<&str> = all_settings.iter().map(|settings| settings.sampler.name()).collect();
    let shared = all_settings.first().cloned().unwrap_or_default();
    let Settings { weight, chains, warmup, draws, thin, .. } = shared;
    let every = if thin == 1 { String::new() } else { format!(", one every {thin} steps") };
    format!(
        "{}samplers {}, weight function {weight}\n\
         chains   {chains}, each with {warmup} steps of warm-up and {draws} draws{every}\n",
        about.heading(model.space()),
        names.join(" "),
    )
}
