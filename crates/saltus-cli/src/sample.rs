//! `saltus sample`: one run of one sampler, summed up.

use crate::arguments::SampleArguments;
use crate::export::{check_free_or_stdout, prints_a_file};
use crate::failure::{Failure, Finish};
use crate::job::{Config, Destination, Job};
use crate::marginals::SampledMarginals;
use crate::memory::check_bytes;
use crate::model::{self, Context, build, rows_and_columns};
use crate::number::short;
use crate::parse::Size;
use crate::plot::mosaic::Mosaic;
use crate::progress::View;
use crate::{advice, announce, interrupt, ladder, out, per_site, picture, plot, say, table};
use console::Term;
use saltus::draws::observers::{Best, BestState, Marginals};
use saltus::draws::trace::MOST_JUDGED;
use saltus::exact;
use saltus::files::Existing;
use saltus::run::{BEST, MARGINALS};
use saltus::stats::Diagnosis;
use saltus::store::StoreWriter;
use saltus::zoo::{Built, Title};
use saltus::{
    Balancing, Choice, Ended, Model, Outcome, Run, Seconds, Settings, Solver, Space, Summary, Trial,
};
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Instant;

/// Samples and prints.
pub fn run(arguments: SampleArguments) -> Result<Finish, Failure> {
    let job = Job::new(&arguments)?;
    out::goes_elsewhere(job.folder().is_some() || arguments.writes_files());
    if let Some(sentence) = arguments.run.moves.unused_weight(job.settings.sampler.method) {
        say(&format!("saltus: {sentence}"));
    }
    let Config { model, model_seed, .. } = job.config.clone();
    let given = job.config.given();
    let context = Context { seed: model_seed, chains: job.settings.chains, given: Some(&given) };
    Sampling { job, arguments: &arguments }.go(build(&model, context)?)
}

/// Bytes that a draw takes while it is judged, about: its numbers, and more than as much again to work with.
const PER_JUDGED: f64 = 200.0;

struct Sampling<'a> {
    job: Job,
    arguments: &'a SampleArguments,
}

impl Sampling<'_> {
    fn go(self, Built { title, model }: Built) -> Result<Finish, Failure> {
        let Self { job, arguments } = self;
        interrupt::listen();
        let began = Instant::now();
        let Some(job) = job.chosen(&model) else {
            say(
                "saltus: stopped while samplers were tried, before the first draw; --sampler names one at once",
            );
            return Ok(Finish::Early);
        };
        let job = job.suited(&model, arguments).of_part(&model)?;
        let (settings, space) = (&job.settings, model.shown_space());
        settings.suits(&model).map_err(saltus::RunError::from)?;
        settings.check(&settings.sampler.traits(model.space()))?;
        let judged = (settings.chains as f64 * settings.draws as f64).min(MOST_JUDGED as f64);
        check_bytes("the draws that are judged", judged * PER_JUDGED)?;
        let observables = job.config.observables(space)?;
        if arguments.per_site {
            per_site::check(&job, space)?;
        }
        let existing = arguments.store.existing();
        let force = arguments.store.force;
        arguments.mar.as_ref().map_or(Ok(()), |path| check_free_or_stdout(path, force))?;
        let rungs = arguments.temper.keep_rungs.as_ref();
        rungs.map_or(Ok(()), |path| ladder::check(path, settings, force))?;
        let mosaic = arguments
            .mosaic
            .as_deref()
            .map(|path| mosaic(path, existing, &title, space))
            .transpose()?;
        let json = arguments.run.json;
        let is_printed = prints_a_file(arguments.mar.iter().chain(rungs), json)?;
        let store = job.open(&title, &model)?;
        let heading = heading(&title, space, &job) + &exact_words(&model);
        announce(&heading, json || is_printed, arguments.run.quiet)?;
        let mut view = View::new("", arguments.run.quiet);
        let mut run = Run::new(&model, settings.clone())
            .first_chain(job.first_chain())
            .after(Seconds { trials: job.trials.as_secs_f64(), ..Seconds::default() })
            .since(began)
            .observe_as_usual()
            .monitor(|progress| view.show(progress));
        if job.config.marginals {
            run = run.observer(MARGINALS, Marginals);
        }
        if let Some(states) = job.config.best {
            run = run.observer(BEST_STATES, Best { states });
        }
        for (name, observable) in observables {
            run = run.observe(name, observable);
        }
        if rungs.is_some() {
            run = run.keep_rungs();
        }
        if let Some(time) = arguments.store.checkpoint_every {
            run = run.checkpoint_every(time);
        }
        let ran = store.run(run, job.folder(), arguments.per_site);
        view.finish();
        let outcome = ran?;
        let mut summary = Summary::new(title.name, &outcome);
        summary.description = Some(title.words.clone());
        // Parts of a run are judged together.
        if job.is_whole() && !arguments.no_scouts {
            summary.scout(&model, &outcome, interrupt::control);
            if let (Some(folder), Some(scouts)) = (job.folder(), &summary.scouts) {
                StoreWriter::put_scouts(folder, scouts)?;
            }
        }
        let given = job.config.given().evidence;
        let per_site = arguments.per_site.then(|| per_site::judge(&job, &outcome)).transpose()?;
        let marginals = outcome
            .observed::<Marginals>(MARGINALS)
            .map(|table| SampledMarginals::new(table, &outcome.space, &given));
        if json {
            let out = job.folder().map(|path| path.display().to_string());
            let stopped_by = outcome.ended.rule();
            print_json(&Printed {
                summary: &summary,
                fine: advice::fine(&summary),
                warnings: advice::warnings(&summary),
                stopped_by,
                best: outcome.observed::<Best>(BEST).and_then(|best| best.first()),
                best_states: outcome.observed::<Best>(BEST_STATES),
                marginals: marginals.as_ref().filter(|_| arguments.marginals),
                per_site,
                choice: job.config.choice.as_ref(),
                out,
            })?;
        } else if !is_printed {
            let mut above = text(&summary, per_site.as_deref());
            if let Some(marginals) = marginals.as_ref().filter(|_| arguments.marginals) {
                above += &format!("{}\n", marginals.words());
            }
            if let Some(best) = outcome.observed::<Best>(BEST_STATES) {
                above += &best_words(best);
            }
            let below = verdict(&summary, &outcome, &job);
            let seen = std::io::stdout().is_terminal();
            let picture = if arguments.picture || seen {
                let others = [&heading, &above, &below].map(|text| text.lines().count());
                drawn(&outcome, lines_left(others.iter().sum()))
            } else {
                String::new()
            };
            print(&format!("{above}{picture}{below}"))?;
        }
        // What was drawn is told even if not everything can be written.
        let mosaic = arguments.mosaic.as_ref().zip(mosaic).map_or(Ok(()), |(path, mosaic)| {
            let states = outcome.last_states.concat();
            mosaic.of_states(&states, outcome.space.values()).write(path, existing)
        });
        let marginals = (arguments.mar.as_ref().zip(marginals.as_ref()))
            .map_or(Ok(()), |(path, marginals)| marginals.write_uai(path, force));
        let rungs = rungs.map_or(Ok(()), |path| ladder::write(path, &outcome, force));
        mosaic.and(marginals).and(rungs)?;
        if matches!(outcome.ended, Ended::Failed { .. }) {
            say(&format!("saltus: {}", outcome.ended));
        }
        Ok(Finish::from(&outcome.ended).strictly(arguments.run.strict, summary.converged))
    }
}

/// The arrangement of states as images; fails before the work if there can be none.
fn mosaic(
    path: &Path,
    existing: Existing,
    title: &Title,
    space: &Space,
) -> Result<Mosaic, Failure> {
    plot::check_name(path, existing)?;
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
    /// The best states that were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    best_states: Option<&'a Vec<BestState>>,
    /// Marginals and their errors, if they were asked for.
    #[serde(flatten)]
    marginals: Option<&'a SampledMarginals>,
    /// What ended the run: draws, until-ess, until-rhat, time-limit, interrupt or failure.
    stopped_by: &'static str,
    /// Every site, if that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    per_site: Option<Vec<Diagnosis>>,
    /// How the sampler was chosen, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<&'a Choice>,
    /// The folder of the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    out: Option<String>,
}

/// A line about what was tried, if anything was.
fn trials_in_words(choice: &Choice) -> String {
    let one = |trial: &Trial| {
        let weight = trial.balancing.filter(|weight| *weight != Balancing::default());
        let weight = weight.map_or(String::new(), |weight| format!(" ({weight})"));
        let ladder = if trial.tempered { " with a ladder" } else { "" };
        format!("{}{weight}{ladder} {}", trial.sampler, short(trial.ess_per_work))
    };
    match &choice.trials[..] {
        [] => String::new(),
        trials => format!(
            "tried    {}\n         effective draws per counted millisecond; the best is taken\n",
            trials.iter().map(one).collect::<Vec<_>>().join(", ")
        ),
    }
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
    let beta =
        settings.beta.map_or(String::new(), |beta| format!(" at inverse temperature {beta}"));
    let (chains, ladder) = match &settings.temper {
        None => (format!("{chains}{beta}, each with {warmup} steps"), String::new()),
        Some(temper) => {
            let rungs = match temper.rungs {
                None => "as many rungs as suit, found in warm-up".to_owned(),
                Some(rungs) => format!("{rungs} rungs"),
            };
            let rungs = match &temper.ladder {
                None => rungs,
                Some(ladder) => format!("{} rungs, found by the first ladders", ladder.betas.len()),
            };
            let each = format!("{chains} ladders{beta}, each with {warmup} scans");
            (each, format!("temper   {rungs}; draws are those of the highest\n"))
        }
    };
    let tried = job.config.choice.as_ref().map_or(String::new(), trials_in_words);
    format!(
        "{}sampler  {sampler}{weight}{solver}\n\
         chains   {chains} of warm-up and {draws} draws{every}\n\
         {ladder}{tried}{resumed}",
        model::heading(title, space)
    )
}

/// Name of the observer that keeps as many of the best states as were asked for.
const BEST_STATES: &str = "best_states";

/// Best states that are printed for people, and sites of each.
const MOST_BEST: usize = 10;
const MOST_SHOWN: usize = 60;

/// The best states, the best first: log π, energy, draws in it and the state.
fn best_words(best: &[BestState]) -> String {
    let mut text = format!("{:>16}{:>16}{:>9}  best states\n", "log π", "energy", "draws");
    for BestState { log_prob, state, draws } in best.iter().take(MOST_BEST) {
        // Digits stand side by side, larger values apart.
        let apart = if state.iter().any(|value| *value > 9) { " " } else { "" };
        let shown: Vec<String> = state.iter().take(MOST_SHOWN).map(u8::to_string).collect();
        let more = if state.len() > MOST_SHOWN { "…" } else { "" };
        let shown = shown.join(apart);
        text += &format!("{log_prob:>16.6}{:>16.6}{draws:>9}  {shown}{more}\n", -log_prob);
    }
    if best.len() > MOST_BEST || best.iter().any(|one| one.state.len() > MOST_SHOWN) {
        text += "… --json has them all, and whole\n";
    }
    text + "\n"
}

/// Sites beyond which it is not looked whether the exact answer can be had.
const MOST_SOLVED: usize = 1000;

/// A line that says so if the exact answer can be had.
fn exact_words<M: Model>(model: &M) -> String {
    let way = (model.space().sites() <= MOST_SOLVED).then(|| exact::way(model)).flatten();
    way.map_or(String::new(), |way| {
        format!("exact    `saltus exact` gives the exact answer by {}\n", way.name())
    })
}

fn print_json(printed: &Printed<'_>) -> Result<(), Failure> {
    let mut out = out::stdout();
    serde_json::to_writer_pretty(&mut out, printed)?;
    writeln!(out)?;
    Ok(())
}

/// The numbers of a run.
fn text(summary: &Summary, per_site: Option<&[Diagnosis]>) -> String {
    let mut text = String::new();
    if summary.draws > 0 {
        text += &format!("{}\n{}\n", table::of_run(summary), table::of_observables(summary));
    }
    if let Some(tempering) = &summary.tempering {
        text += &ladder::words(tempering);
    }
    if let Some(every) = summary.judged_every {
        let sentence = format!(
            "Judged by one of {every} draws of each chain, so that a long run needs no more memory: draws are \
             worth at least what is said here."
        );
        text += &table::wrap(&sentence, "", "");
    }
    if let Some(sites) = per_site {
        text += &format!("{}\n", per_site::words(sites));
    }
    text
}

/// What to think of a run, last so that it is read.
fn verdict(summary: &Summary, outcome: &Outcome, job: &Job) -> String {
    let mut text = String::new();
    if let Ended::Reached(reached) = &outcome.ended {
        text += &table::wrap(&format!("Stopped: {reached}."), "", "");
    }
    text += &table::verdict(summary);
    if let Some(farewell) = job.farewell(&outcome.ended) {
        text += &format!("{farewell}\n");
    }
    text
}

/// Lines that a terminal has beside so many others; as many as a picture likes where there is none.
fn lines_left(others: usize) -> usize {
    match Term::stdout().size_checked() {
        // A line for what stands above a picture, one below, and the next prompt.
        Some((rows, _)) => usize::from(rows).saturating_sub(others + 3),
        None => usize::MAX,
    }
}

fn print(text: &str) -> Result<(), Failure> {
    let mut out = out::stdout();
    write!(out, "{text}")?;
    Ok(out.flush()?)
}

/// The last state of a chain where that is a lattice, in so many lines at most; nothing in fewer than three.
fn drawn(outcome: &Outcome, lines: usize) -> String {
    let size = rows_and_columns(&outcome.space);
    let (Some(size), Some(state)) = (size, outcome.last_states.first()) else {
        return String::new();
    };
    let values = outcome.space.values();
    let (shown, picture) = picture::draw(state, size, values, lines);
    if lines < FEWEST_LINES {
        return String::new();
    }
    let part = match shown == size {
        true => String::new(),
        false => format!(" (its first {shown} of {size} sites)"),
    };
    format!("last state of chain 0{part}\n{picture}\n")
}

/// Lines that a picture needs to show anything.
const FEWEST_LINES: usize = 3;
