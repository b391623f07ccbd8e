//! `saltus sample`: one run of one sampler, summed up.

use crate::arguments::SampleArguments;
use crate::failure::{Failure, Finish};
use crate::job::{Destination, Job};
use crate::model::{self, Context, rows_and_columns, with_model};
use crate::observe::MAGNETISATION;
use crate::parse::Size;
use crate::plot::mosaic::Mosaic;
use crate::progress::View;
use crate::{advice, announce, interrupt, per_site, picture, plot, say, table};
use saltus::draws::observable::Magnetisation;
use saltus::draws::observers::{Best, BestState};
use saltus::stats::Diagnosis;
use saltus::zoo::{Title, UseModel};
use saltus::{Ended, Model, Outcome, Run, Settings, Solver, Space, Summary};
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::path::Path;

/// Samples and prints.
pub fn run(arguments: SampleArguments) -> Result<Finish, Failure> {
    let job = Job::new(&arguments)?;
    if let Some(sentence) = arguments.run.moves.unused_weight(job.settings.sampler.method) {
        say(&format!("saltus: {sentence}"));
    }
    let context = Context { seed: job.config.model_seed, chains: job.settings.chains };
    let model = job.config.model.clone();
    with_model(&model, context, Sampling { job, arguments: &arguments })?
}

struct Sampling<'a> {
    job: Job,
    arguments: &'a SampleArguments,
}

impl UseModel for Sampling<'_> {
    type Output = Result<Finish, Failure>;

    fn call<M: Model + 'static>(self, title: Title, model: M) -> Self::Output {
        let Self { job, arguments } = self;
        let (settings, space) = (&job.settings, model.shown_space());
        settings.sampler.check(model.space()).map_err(saltus::RunError::from)?;
        settings.check(&settings.sampler.traits(model.space()))?;
        let observables = job.config.observables(space)?;
        if arguments.per_site {
            per_site::check(&job, space)?;
        }
        let mosaic =
            arguments.mosaic.as_deref().map(|path| mosaic(path, &title, space)).transpose()?;
        let store = job.open(&title, &model)?;
        let json = arguments.run.json;
        let heading = heading(&title, space, &job);
        announce(&heading, json, arguments.run.quiet)?;
        interrupt::listen();
        let mut view = View::new("", arguments.run.quiet);
        let mut run = Run::new(&model, settings.clone())
            .references(REFERENCES)
            .observer(BEST, Best { states: 1 })
            .monitor(|progress| view.show(progress));
        let few = settings.chains.saturating_mul(space.sites()) <= MOST_WATCHED;
        // Sites are counted draw by draw, which weighted draws do not allow.
        if few && !settings.sampler.method.is_weighted() {
            run = run.watch_sites();
        }
        if space.is_binary() {
            run = run.observe(MAGNETISATION, Magnetisation { sites: space.sites() });
        }
        for (name, observable) in observables {
            run = run.observe(name, observable);
        }
        if arguments.per_site && job.folder().is_none() {
            run = run.keep_states();
        }
        if let Some(time) = arguments.store.checkpoint_every {
            run = run.checkpoint_every(time);
        }
        let ran = store.run(run, job.folder());
        view.finish();
        let outcome = ran?;
        let mut summary = Summary::new(title.name, &outcome);
        summary.description = Some(title.words.clone());
        let per_site = arguments.per_site.then(|| per_site::judge(&job, &outcome)).transpose()?;
        if let (Some(path), Some(mosaic)) = (&arguments.mosaic, mosaic) {
            let states = outcome.last_states.concat();
            mosaic.of_states(&states, outcome.space.values()).write(path)?;
        }
        if json {
            let out = job.folder().map(|path| path.display().to_string());
            let stopped_by = outcome.ended.rule();
            print_json(&Printed {
                summary: &summary,
                fine: advice::fine(&summary),
                warnings: advice::warnings(&summary),
                stopped_by,
                best: outcome.observed::<Best>(BEST).and_then(|best| best.first()),
                per_site,
                out,
            })?;
        } else {
            print_text(&summary, per_site.as_deref(), &outcome, &job)?;
            if arguments.picture || std::io::stdout().is_terminal() {
                print_picture(&outcome)?;
            }
        }
        if matches!(outcome.ended, Ended::Failed { .. }) {
            say(&format!("saltus: {}", outcome.ended));
        }
        Ok(Finish::from(&outcome.ended).strictly(arguments.run.strict, summary.converged))
    }
}

/// The arrangement of states as images; fails before the work if there can be none.
fn mosaic(path: &Path, title: &Title, space: &Space) -> Result<Mosaic, Failure> {
    plot::check_name(path)?;
    if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("png")) {
        return Err(Failure::Usage(format!("--mosaic {} must end in .png", path.display())));
    }
    let Some(Size { rows, columns }) = rows_and_columns(space) else {
        return Err(Failure::Usage(format!(
            "--mosaic needs states with rows and columns, which those of {} have not",
            title.name
        )));
    };
    Ok(Mosaic { rows, columns })
}

/// Random states that distances are measured to.
const REFERENCES: usize = 3;
/// Sites of all chains together that are watched one by one; with more, remembering them would take
/// more memory than sampling does.
const MOST_WATCHED: usize = 10_000_000;

/// Name of the observer that keeps the best state.
const BEST: &str = "best";

/// What `--json` prints.
#[derive(Serialize)]
struct Printed<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    /// What looks fine, in words.
    fine: Vec<String>,
    /// What deserves attention, in words.
    warnings: Vec<String>,
    /// The draw with the largest log π.
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<&'a BestState>,
    /// What ended the run: draws, until-ess, until-rhat, time-limit, interrupt or failure.
    stopped_by: &'static str,
    /// Every site, if that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    per_site: Option<Vec<Diagnosis>>,
    /// The folder of the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    out: Option<String>,
}

/// What is being sampled, and how.
fn heading(title: &Title, space: &Space, job: &Job) -> String {
    let settings = &job.settings;
    let weight = if settings.sampler.method.is_balanced() {
        format!(", balancing function {}", settings.sampler.balancing)
    } else {
        String::new()
    };
    let solver = match settings.sampler.solver {
        Solver::Interpolate => String::new(),
        solver => format!(", solver {solver}"),
    };
    let Settings { sampler, chains, warmup, draws, thin, .. } = settings;
    let every = if *thin == 1 { String::new() } else { format!(", one every {thin} steps") };
    let resumed = match &job.destination {
        Destination::Resumed { path, draws, .. } => {
            format!("resumed  {}, which has {draws} draws\n", path.display())
        }
        _ => String::new(),
    };
    format!(
        "{}sampler  {sampler}{weight}{solver}\n\
         chains   {chains}, each with {warmup} steps of warm-up and {draws} draws{every}\n\
         {resumed}",
        model::heading(title, space)
    )
}

fn print_json(printed: &Printed<'_>) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, printed)?;
    writeln!(out)?;
    Ok(())
}

fn print_text(
    summary: &Summary,
    per_site: Option<&[Diagnosis]>,
    outcome: &Outcome,
    job: &Job,
) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    if summary.draws > 0 {
        writeln!(out, "{}", table::of_run(summary))?;
        writeln!(out, "{}", table::of_observables(summary))?;
    }
    if let Some(sites) = per_site {
        writeln!(out, "{}", per_site::words(sites))?;
    }
    if let Ended::Reached(reached) = &outcome.ended {
        write!(out, "{}", table::wrap(&format!("Stopped: {reached}."), "", ""))?;
    }
    write!(out, "{}", table::verdict(summary))?;
    if let Some(farewell) = job.farewell(&outcome.ended) {
        writeln!(out, "{farewell}")?;
    }
    out.flush()?;
    Ok(())
}

fn print_picture(outcome: &Outcome) -> Result<(), Failure> {
    let size = rows_and_columns(&outcome.space);
    let (Some(size), Some(state)) = (size, outcome.last_states.first()) else {
        return Ok(());
    };
    let values = outcome.space.values();
    let part = match picture::shown_part(size, values) {
        Some(part) => format!(" (its first {part} of {size} sites)"),
        None => String::new(),
    };
    let mut out = std::io::stdout().lock();
    writeln!(out, "\nlast state of chain 0{part}")?;
    write!(out, "{}", picture::draw(state, size, values))?;
    out.flush()?;
    Ok(())
}
