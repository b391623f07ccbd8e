//! `saltus minimize`: the states of largest log π, by annealing or by ladders.

use crate::arguments::{BetaEnds, MinimizeArguments};
use crate::failure::{Failure, Finish};
use crate::model::{self, Context, build};
use crate::number::short;
use crate::progress::View;
use crate::table::{finish, plain_table};
use crate::{announce, interrupt};
use comfy_table::CellAlignment;
use saltus::minimize::{FoundState, Minimize, MinimizeSettings, Minimum, Search};
use saltus::zoo::Built;
use saltus::{Model, choose};
use serde::Serialize;
use std::io::Write;

/// Looks and prints.
pub fn run(arguments: &MinimizeArguments) -> Result<Finish, Failure> {
    let chains = chains(arguments);
    let given = arguments.run.given.read(&arguments.model)?;
    let context =
        Context { seed: arguments.run.model_seed.unwrap_or(0), chains, given: Some(&given) };
    Looking { arguments }.go(build(&arguments.model, context)?)
}

/// Ladders have many chains each.
const LADDERS: usize = 4;

fn chains(arguments: &MinimizeArguments) -> usize {
    arguments.run.chains.unwrap_or(match arguments.method {
        Some(Search::Temper) => LADDERS,
        None | Some(Search::Anneal | Search::Reheat) => MinimizeSettings::default().chains,
    })
}

struct Looking<'a> {
    arguments: &'a MinimizeArguments,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Printed<'a> {
    model: &'static str,
    method: &'static str,
    best: &'a FoundState,
    states: &'a [FoundState],
    coolings: usize,
    sweeps: usize,
    first_beta: f64,
    last_beta: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    reheated_to: Option<f64>,
    seconds: f64,
    seconds_to_best: f64,
    ended: String,
}

impl Looking<'_> {
    fn go(self, Built { title, model }: Built) -> Result<Finish, Failure> {
        let arguments = self.arguments;
        let run = &arguments.run;
        announce(&model::heading(&title, model.shown_space()), run.json, run.quiet)?;
        interrupt::listen();
        let default = MinimizeSettings::default();
        let settings = MinimizeSettings {
            sampler: run
                .moves
                .sampler(arguments.sampler.unwrap_or_else(|| choose::for_path(&model))),
            search: arguments.method.unwrap_or_default(),
            chains: chains(arguments),
            sweeps: arguments.sweeps.unwrap_or(default.sweeps),
            time_limit: run.time_limit,
            seed: run.seed.unwrap_or(0),
            threads: run.threads,
            betas: arguments.betas.map(|BetaEnds(first, last)| (first, last)),
            states: default.states,
        };
        let search = settings.search;
        let mut view = View::new("", run.quiet);
        let ran = Minimize::new(&model, settings)
            .monitor(|progress| {
                let phase = match (search, progress.cooling) {
                    (Search::Temper, 0) => "ladder".to_owned(),
                    (Search::Temper, _) => "scans".to_owned(),
                    (_, cooling) => format!("cooling {cooling}"),
                };
                view.tell(&phase, progress.done, |_| format!("log π {}", short(progress.best)))
            })
            .go();
        view.finish();
        let found = ran?;
        let Some(best) = found.states.first() else {
            return Err(Failure::Failed(format!("no state was found: {}", found.ended)));
        };
        let mut out = crate::out::stdout();
        if run.json {
            let printed = Printed {
                model: title.name,
                method: search.name(),
                best,
                states: &found.states,
                coolings: found.coolings,
                sweeps: found.sweeps,
                first_beta: found.betas.0,
                last_beta: found.betas.1,
                reheated_to: found.reheated_to,
                seconds: found.seconds,
                seconds_to_best: found.seconds_to_best,
                ended: found.ended.to_string(),
            };
            serde_json::to_writer_pretty(&mut out, &printed)?;
            writeln!(out)?;
        } else {
            write!(out, "{}", words(&found, best))?;
        }
        Ok(Finish::from(&found.ended))
    }
}

fn words(found: &Minimum, best: &FoundState) -> String {
    let mut table = plain_table();
    table.set_header(["energy", "log π", "found"]);
    for state in &found.states {
        table.add_row([
            state.energy.to_string(),
            state.log_prob.to_string(),
            format!("{}×", state.count),
        ]);
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let way = match (found.coolings, found.reheated_to) {
        (0, _) => format!("ladders up to β = {}", short(found.betas.1)),
        (coolings, None) => format!(
            "{coolings} coolings from β = {} to {}",
            short(found.betas.0),
            short(found.betas.1)
        ),
        (coolings, Some(peak)) => format!(
            "{coolings} coolings from β = {}, then {}, to {}",
            short(found.betas.0),
            short(peak),
            short(found.betas.1)
        ),
    };
    format!(
        "{}\nBest energy {} after {:.1} s; {way}, {} steps of each chain.\n",
        finish(&mut table),
        best.energy,
        found.seconds_to_best,
        found.sweeps
    )
}
