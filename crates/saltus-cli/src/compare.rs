//! `saltus compare`: the same run for several samplers, side by side.

use crate::arguments::{COMPARED, CompareArguments, existing};
use crate::contender::{self, Contender, has_scale};
use crate::failure::{Failure, Finish};
use crate::memory::check_bytes;
use crate::model::{self, Context, build};
use crate::plot::bars::{Bar, BarPlot, Panel};
use crate::progress::View;
use crate::{advice, announce, interrupt, out, plot, say, table};
use saltus::kernel::Kind;
use saltus::zoo::{Built, Title};
use saltus::{Ended, Model, Run, Sampler, Settings, Space, Summary};
use serde::Serialize;
use std::io::Write;

/// Runs every sampler and prints.
pub fn run(arguments: CompareArguments) -> Result<Finish, Failure> {
    for path in &arguments.plot {
        plot::check_name(path, existing(arguments.force))?;
    }
    out::goes_elsewhere(!arguments.plot.is_empty());
    let contenders: Vec<Contender> = if arguments.samplers.is_empty() {
        COMPARED.map(|method| Contender { method, solver: None }).to_vec()
    } else {
        arguments.samplers.clone()
    };
    let all_settings: Vec<Settings> =
        contenders.iter().map(|one| one.settings(arguments.run.settings(one.method))).collect();
    let given = arguments.run.given.read(&arguments.model)?;
    let context = Context {
        given: Some(&given),
        seed: arguments.run.model_seed.unwrap_or(0),
        chains: all_settings.first().map_or(1, |settings| settings.chains),
    };
    let comparing = Comparing { all_settings, arguments: &arguments };
    comparing.go(build(&arguments.model, context)?)
}

/// Bytes that a draw takes while it is judged, about: its numbers, and as much again to work with.
const PER_DRAW: f64 = 128.0;

struct Comparing<'a> {
    all_settings: Vec<Settings>,
    arguments: &'a CompareArguments,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Comparison {
    model: &'static str,
    runs: Vec<Compared>,
}

/// One of the runs, with its verdict in words.
#[derive(Serialize)]
struct Compared {
    #[serde(flatten)]
    summary: Summary,
    fine: Vec<String>,
    warnings: Vec<String>,
}

impl From<Summary> for Compared {
    fn from(summary: Summary) -> Self {
        let (fine, warnings) = (advice::fine(&summary), advice::warnings(&summary));
        Self { summary, fine, warnings }
    }
}

impl Comparing<'_> {
    fn go(self, Built { title, model }: Built) -> Result<Finish, Failure> {
        let Self { all_settings, arguments } = self;
        let CompareArguments { run: options, .. } = arguments;
        for settings in &all_settings {
            settings.suits(&model).map_err(saltus::RunError::from)?;
            settings.check(&settings.sampler.traits(model.space()))?;
        }
        for settings in &all_settings {
            // All of them are looked at: a sampler is not to be judged by a part of its draws.
            let draws = settings.chains as f64 * settings.draws as f64;
            check_bytes("the draws of a run", draws * PER_DRAW)?;
        }
        let heading = heading(&title, model.shown_space(), &all_settings);
        announce(&heading, options.json, options.quiet)?;
        interrupt::listen();
        let mut finish = Finish::Complete;
        let mut runs = Vec::new();
        for settings in &all_settings {
            let name = Contender::from(settings).to_string();
            let mut view = View::new(&name, options.quiet);
            let settings = match arguments.best_acceptance {
                true => &best_acceptance(&model, settings, &mut view)?,
                false => settings,
            };
            let run = Run::new(&model, settings.clone());
            let outcome = run.monitor(|progress| view.show(progress)).go()?;
            view.finish();
            let mut summary = Summary::new(title.name, &outcome);
            summary.description = Some(title.words.clone());
            summary.scout(&model, &outcome, interrupt::control);
            runs.push(summary);
            finish = worse(finish, Finish::from(&outcome.ended));
            if matches!(outcome.ended, Ended::Failed { .. }) {
                say(&format!("saltus: {name}: {}", outcome.ended));
            }
            // Also if it came too late for this run to be cut short.
            if interrupt::requested() {
                if runs.len() < all_settings.len() {
                    finish = worse(finish, Finish::Early);
                }
                break;
            }
        }
        Summary::confront(&mut runs);
        let converged = runs.iter().all(|run| run.converged);
        let picture = picture(&title, &runs, arguments.best_acceptance);
        let mut out = out::stdout();
        if options.json {
            serde_json::to_writer_pretty(
                &mut out,
                &Comparison { model: title.name, runs: runs.into_iter().map(Into::into).collect() },
            )?;
            writeln!(out)?;
        } else {
            writeln!(out, "{}", table::of_runs(&runs))?;
            writeln!(out, "{}", picture.text())?;
            write!(out, "{}", table::verdict_of_runs(&runs))?;
        }
        out.flush()?;
        // What was found is told even if it cannot be drawn.
        if !arguments.plot.is_empty() {
            let svg = picture.svg();
            for path in &arguments.plot {
                plot::write(&svg, path, existing(arguments.force))?;
                if !options.json {
                    writeln!(out, "plot in {}", path.display())?;
                }
            }
            out.flush()?;
        }
        Ok(finish.strictly(options.strict, converged))
    }
}

/// Acceptances that are tried.
const ACCEPTANCES: [f64; 8] = [0.3, 0.4, 0.5, 0.574, 0.65, 0.7, 0.75, 0.8];
/// Share of the draws that a trial makes, and the fewest.
const TRIAL: (usize, usize) = (10, 200);

/// The settings with the target at which most sites change per step, by short runs.
fn best_acceptance<M: Model>(
    model: &M,
    settings: &Settings,
    view: &mut View,
) -> Result<Settings, Failure> {
    if !has_scale(settings.sampler.method) {
        return Ok(settings.clone());
    }
    let mut best = (0.0, settings.clone());
    for target in ACCEPTANCES {
        let sampler = Sampler { target_acceptance: Some(target), ..settings.sampler.clone() };
        let chosen = Settings { sampler, ..settings.clone() };
        let draws = (settings.draws / TRIAL.0).max(TRIAL.1).min(settings.draws);
        let trial = Settings { draws, ..chosen.clone() };
        let outcome = Run::new(model, trial).monitor(|progress| view.show(progress)).go()?;
        if outcome.sites_changed_per_step > best.0 {
            best = (outcome.sites_changed_per_step, chosen);
        }
        if !matches!(outcome.ended, Ended::Complete) {
            break;
        }
    }
    Ok(best.1)
}

/// Colours of the bars: what a sampler knows of its target.
const KINDS: [&str; 4] =
    ["without differences", "few sites per step", "all sites per step", "by the model's structure"];

/// The colour of a run.
fn group(run: &Summary) -> usize {
    match run.kind {
        Kind::WithoutDifferences => 0,
        Kind::FewSites => 1,
        Kind::AllSites => 2,
        Kind::Structure => 3,
    }
}

/// The two measures of the paper's figures, and what acceptances were chosen by.
fn picture(title: &Title, runs: &[Summary], best_acceptance: bool) -> BarPlot {
    // The spread of the chains, in the unit of the bar.
    let spread = |run: &Summary, value: f64| {
        let error = (run.chains > 1).then(|| value * run.ess.sd / run.ess.mean);
        error.filter(|error| error.is_finite())
    };
    let panel = |title: &str, is_of_ess: bool, value: fn(&Summary) -> Option<f64>| {
        let bars = runs.iter().map(|run| Bar {
            label: contender::name(run),
            value: value(run),
            error: value(run).filter(|_| is_of_ess).and_then(|value| spread(run, value)),
            group: group(run),
        });
        Panel { title: title.to_owned(), bars: bars.collect() }
    };
    let mut panels = vec![
        panel("effective draws per evaluation", true, |run| run.ess_per_evaluation),
        panel("effective draws per second", true, |run| run.ess_per_second),
    ];
    if best_acceptance {
        panels.insert(
            0,
            panel("sites changed per step", false, |run| Some(run.sites_changed_per_step)),
        );
    }
    let chains = runs.first().map_or(0, |run| run.chains);
    let draws = runs.first().map_or(0, |run| run.draws);
    let (name, parameters) = title.words.split_once(", ").unwrap_or((&title.words, ""));
    let subtitles = [
        parameters.to_owned(),
        format!("mean and standard deviation over {chains} chains of {draws} draws, log scale"),
    ];
    BarPlot {
        title: name.to_owned(),
        subtitles: subtitles.into_iter().filter(|line| !line.is_empty()).collect(),
        panels,
        groups: KINDS.to_vec(),
    }
}

/// A failure outweighs an early end, which outweighs success.
fn worse(one: Finish, other: Finish) -> Finish {
    let weight = |finish| match finish {
        Finish::Complete | Finish::Found => 0,
        Finish::Early => 1,
        Finish::Failed => 2,
    };
    if weight(other) > weight(one) { other } else { one }
}

/// What is being sampled, and how.
fn heading(title: &Title, space: &Space, all_settings: &[Settings]) -> String {
    let names: Vec<String> =
        all_settings.iter().map(|settings| Contender::from(settings).to_string()).collect();
    let shared = all_settings.first().cloned().unwrap_or_default();
    let Settings { sampler, chains, warmup, draws, thin, .. } = shared;
    let every = if thin == 1 { String::new() } else { format!(", one every {thin} steps") };
    format!(
        "{}samplers {}, balancing function {}\n\
         chains   {chains}, each with {warmup} steps of warm-up and {draws} draws{every}\n",
        model::heading(title, space),
        names.join(" "),
        sampler.balancing,
    )
}
