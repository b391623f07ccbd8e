//! `saltus exact`: log Z, marginals, the likeliest state and independent draws, where they can be had.

use crate::arguments::{ExactArguments, UaiTask};
use crate::export::check_free;
use crate::failure::{Failure, Finish};
use crate::model::{self, Context, build_any, rows_and_columns};
use crate::states::{StateTable, write_states};
use crate::uai;
use saltus::exact::{Exact, ExactError};
use saltus::rng::{ChainRng, Stream};
use saltus::zoo::{Built, Title};
use saltus::{Model, Space};
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// Solves and prints.
pub fn run(arguments: &ExactArguments) -> Result<Finish, Failure> {
    if arguments.json && arguments.states.as_deref() == Some(Path::new("-")) {
        return Err(Failure::Usage(
            "--states - would mix draws into the JSON: leave --states out, and the JSON has them, or name a file"
                .to_owned(),
        ));
    }
    let file = arguments.states.as_deref().filter(|path| *path != Path::new("-"));
    file.map_or(Ok(()), |path| check_free(path, arguments.force))?;
    crate::out::goes_elsewhere(file.is_some());
    let given = arguments.given.read(&arguments.model)?;
    let context =
        Context { seed: arguments.model_seed.unwrap_or(0), chains: 1, given: Some(&given) };
    let Built { title, model } = build_any(&arguments.model, context, true)?;
    let space = model.shown_space().clone();
    if arguments.spins && space.values() != 2 {
        return Err(Failure::Usage("--spins is about sites of two values".to_owned()));
    }
    let exact = Exact::at(&model, arguments.beta.unwrap_or(1.0)).map_err(|error| match error {
        ExactError::TooLarge(sentence) => {
            Failure::Failed(format!("{sentence}; `saltus sample` samples it instead"))
        }
        error => Failure::Failed(error.to_string()),
    })?;
    let draws = arguments.draws.unwrap_or(0);
    let mut rng = ChainRng::new(arguments.seed.unwrap_or(0), Stream::Reference);
    let states: Vec<u8> = (0..draws).flat_map(|_| exact.draw(&mut rng)).collect();
    if let Some(path) = &arguments.states {
        let table = StateTable {
            states: &states,
            log_prob: None,
            sites: space.sites(),
            chains: 1,
            draws,
            spins: arguments.spins,
            picture: rows_and_columns(&space).map(|size| (size, space.values())),
        };
        write_states(&table, path, arguments.force, &arguments.model)?;
    }
    match arguments.uai {
        Some(task) => print_uai(task, &exact)?,
        None if arguments.json => print_json(&title, &space, &exact, arguments, &states)?,
        None => print_text(&title, &space, &exact)?,
    }
    Ok(Finish::Complete)
}

/// What `--json` prints.
#[derive(Serialize)]
struct Printed<'a> {
    model: &'static str,
    description: &'a str,
    sites: usize,
    values: usize,
    method: &'static str,
    log_z: f64,
    marginals: &'a [Vec<f64>],
    map: Map<'a>,
    /// The draws, unless they went to a file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    draws: Vec<&'a [u8]>,
}

#[derive(Serialize)]
struct Map<'a> {
    state: &'a [u8],
    /// Not normalised.
    log_prob: f64,
}

fn print_json(
    title: &Title,
    space: &Space,
    exact: &Exact,
    arguments: &ExactArguments,
    states: &[u8],
) -> Result<(), Failure> {
    let draws = match arguments.states {
        None => states.chunks(space.sites()).collect(),
        Some(_) => Vec::new(),
    };
    let mut out = crate::out::stdout();
    serde_json::to_writer_pretty(
        &mut out,
        &Printed {
            model: title.name,
            description: &title.words,
            sites: space.sites(),
            values: space.values(),
            method: exact.way().name(),
            log_z: exact.log_z(),
            marginals: exact.marginals(),
            map: Map { state: exact.map(), log_prob: exact.map_log_prob() },
            draws,
        },
    )?;
    writeln!(out)?;
    Ok(())
}

fn print_uai(task: UaiTask, exact: &Exact) -> Result<(), Failure> {
    let text = match task {
        UaiTask::Mar => uai::marginals(exact.marginals()),
        UaiTask::Pr => format!("PR\n{}\n", exact.log_z() / std::f64::consts::LN_10),
        UaiTask::Mpe => uai::state(exact.map()),
    };
    let mut out = crate::out::stdout();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Sites whose marginals are printed for people.
const MOST_SITES: usize = 20;

fn print_text(title: &Title, space: &Space, exact: &Exact) -> Result<(), Failure> {
    let mut out = crate::out::stdout();
    write!(out, "{}", model::heading(title, space))?;
    writeln!(out, "exact    by {}", exact.way().name())?;
    writeln!(out, "\nlog Z                   {:.10}", exact.log_z())?;
    writeln!(out, "largest log π           {:.10}", exact.map_log_prob())?;
    let chance = (exact.map_log_prob() - exact.log_z()).exp();
    writeln!(out, "its state's probability {chance:.6e}")?;
    writeln!(out, "\nsite  likeliest  probabilities of its values")?;
    let rows = exact.marginals().iter().zip(exact.map()).enumerate();
    for (site, (marginal, value)) in rows.take(MOST_SITES) {
        let shown: Vec<String> = marginal.iter().map(|p| format!("{p:.6}")).collect();
        writeln!(out, "{site:>4}  {value:>9}  {}", shown.join(" "))?;
    }
    if space.sites() > MOST_SITES {
        writeln!(out, "… and {} more; --json has them all", space.sites() - MOST_SITES)?;
    }
    Ok(out.flush()?)
}
