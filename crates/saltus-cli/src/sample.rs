//! `saltus sample`: one run of one sampler, summed up.

use crate::arguments::SampleArguments;
use crate::failure::{Failure, Finish};
use crate::model::{About, Context, UseModel, with_model};
use crate::progress::View;
use crate::{interrupt, picture, say, table};
use saltus::{Ended, Model, Outcome, Run, Settings, Summary};
use std::io::{IsTerminal, Write};

/// Samples and prints.
pub fn run(arguments: SampleArguments) -> Result<Finish, Failure> {
    let sampler = arguments.sampler.unwrap_or_default();
    if let (Some(weight), false) = (arguments.run.weight, sampler.uses_weight()) {
        say(&format!("saltus: {sampler} has no weight function, --weight {weight} is not used"));
    }
    let settings = arguments.run.settings(sampler, arguments.model.differences());
    let context = Context { seed: arguments.run.model_seed.unwrap_or(0), chains: settings.chains };
    let sampling = Sampling { settings, arguments: &arguments };
    with_model(&arguments.model, context, sampling)?
}

struct Sampling<'a> {
    settings: Settings,
    arguments: &'a SampleArguments,
}

impl UseModel for Sampling<'_> {
    type Output = Result<Finish, Failure>;

    fn call<M: Model>(self, about: About, model: &M) -> Self::Output {
        let Self { settings, arguments } = self;
        settings.check(model.space())?;
        let json = arguments.run.json;
        let heading = heading(&about, model, &settings);
        if !json {
            let mut out = std::io::stdout().lock();
            writeln!(out, "{heading}")?;
            out.flush()?;
        } else if !arguments.run.quiet {
            say(&heading);
        }
        interrupt::listen();
        let mut view = View::new("", arguments.run.quiet);
        let mut run = Run::new(model, &settings)
            .references(REFERENCES)
            .watch_sites()
            .monitor(|progress| view.show(progress));
        if model.space().is_binary() {
            run = run.observe("magnetisation", magnetisation);
        }
        let outcome = run.go()?;
        view.finish();
        let mut summary = Summary::new(about.name, &outcome);
        summary.description = Some(about.words.clone());
        if json {
            print_json(&summary)?;
        } else {
            print_text(&summary)?;
            if arguments.picture || std::io::stdout().is_terminal() {
                print_picture(&about, &outcome)?;
            }
        }
        if matches!(outcome.ended, Ended::Failed { .. }) {
            say(&format!("saltus: {}", outcome.ended));
        }
        Ok(Finish::from(&outcome.ended))
    }
}

/// Random states that distances are measured to.
const REFERENCES: usize = 4;

/// Mean of the spins, which are −1 and 1.
fn magnetisation(state: &[u8]) -> f64 {
    let up: usize = state.iter().map(|value| usize::from(*value)).sum();
    2.0 * up as f64 / state.len() as f64 - 1.0
}

/// What is being sampled, and how.
fn heading<M: Model>(about: &About, model: &M, settings: &Settings) -> String {
    let weight = if settings.sampler.uses_weight() {
        format!(", weight function {}", settings.weight)
    } else {
        String::new()
    };
    let Settings { sampler, chains, warmup, draws, thin, .. } = settings;
    let every = if *thin == 1 { String::new() } else { format!(", one every {thin} steps") };
    format!(
        "{}sampler  {sampler}{weight}\n\
         chains   {chains}, each with {warmup} steps of warm-up and {draws} draws{every}\n",
        about.heading(model.space())
    )
}

fn print_json(summary: &Summary) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, summary)?;
    writeln!(out)?;
    Ok(())
}

fn print_text(summary: &Summary) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    if summary.draws > 0 {
        writeln!(out, "{}", table::of_run(summary))?;
        writeln!(out, "{}", table::of_observables(summary))?;
    }
    write!(out, "{}", table::verdict(summary))?;
    out.flush()?;
    Ok(())
}

fn print_picture(about: &About, outcome: &Outcome) -> Result<(), Failure> {
    let (Some(size), Some(state)) = (about.lattice, outcome.last_states.first()) else {
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
