//! `saltus scan`: energy, specific heat and magnetisation at many temperatures, from one ladder.

use crate::arguments::{BetaRange, ScanArguments, ladder_settings, path_sampler};
use crate::export::{check_free, to_file};
use crate::failure::{Failure, Finish};
use crate::model::{self, Context, build};
use crate::number::with_error;
use crate::progress::View;
use crate::table::{finish, plain_table, wrap};
use crate::{announce, interrupt, ladder};
use comfy_table::CellAlignment;
use saltus::temper::{Averages, Reweighting, TemperReport, Value};
use saltus::zoo::Built;
use saltus::{Model, Run};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write as _;

/// Scans and prints.
pub fn run(arguments: &ScanArguments) -> Result<Finish, Failure> {
    crate::out::goes_elsewhere(arguments.csv.is_some());
    arguments.csv.as_ref().map_or(Ok(()), |path| check_free(path, arguments.force))?;
    let Some(range) = arguments.beta else {
        return Err(Failure::Usage(
            "which temperatures? --beta 0.2:0.6:41 takes 41 inverse temperatures".to_owned(),
        ));
    };
    let chains = arguments.run.chains.unwrap_or(16);
    let given = arguments.run.given.read(&arguments.model)?;
    let context =
        Context { seed: arguments.run.model_seed.unwrap_or(0), chains, given: Some(&given) };
    Scanning { arguments, range }.go(build(&arguments.model, context)?)
}

struct Scanning<'a> {
    arguments: &'a ScanArguments,
    range: BetaRange,
}

/// One inverse temperature: every number with its standard error.
#[derive(Serialize)]
struct Row {
    beta: f64,
    #[serde(flatten)]
    numbers: serde_json::Map<String, serde_json::Value>,
    #[serde(skip)]
    values: Vec<Value>,
}

#[derive(Serialize)]
struct Printed<'a> {
    model: &'static str,
    sites: usize,
    rows: &'a [Row],
    tempering: &'a TemperReport,
}

/// A column: its name and its number from averages at β of so many sites.
type Column = (&'static str, fn(f64, f64, &Averages) -> f64);

/// Of any model.
const ENERGIES: [Column; 3] = [
    ("energy", |_, _, a| -a.log_prob[0]),
    ("energy_per_site", |_, n, a| -a.log_prob[0] / n),
    ("specific_heat", |beta, n, a| {
        beta * beta * (a.log_prob[1] - a.log_prob[0] * a.log_prob[0]) / n
    }),
];
/// Of spins, with m their mean.
const SPINS: [Column; 5] = [
    ("abs_m", |_, _, a| a.observed[0]),
    ("m2", |_, _, a| a.observed[1]),
    ("m4", |_, _, a| a.observed[2]),
    ("susceptibility", |beta, n, a| beta * n * (a.observed[1] - a.observed[0] * a.observed[0])),
    ("binder", |_, _, a| 1.0 - a.observed[2] / (3.0 * a.observed[1] * a.observed[1])),
];

impl Scanning<'_> {
    fn go(self, Built { title, model }: Built) -> Result<Finish, Failure> {
        let Self { arguments, range } = self;
        let (run, space) = (&arguments.run, model.space());
        announce(&model::heading(&title, model.shown_space()), run.json, run.quiet)?;
        interrupt::listen();
        let method = path_sampler(&model, arguments.sampler);
        let settings = ladder_settings(run, method, Some(range.to));
        let sites = space.sites() as f64;
        let magnetisation = move |state: &[u8]| {
            2.0 * state.iter().map(|value| f64::from(*value)).sum::<f64>() / sites - 1.0
        };
        let mut view = View::new("", run.quiet);
        let ran = Run::new(&model, settings)
            .observe_rungs(magnetisation)
            .monitor(|progress| view.show(progress))
            .go();
        view.finish();
        let outcome = ran?;
        let (Some(tempering), Some(draws)) = (&outcome.tempering, &outcome.rung_draws) else {
            return Err(Failure::Failed(format!("nothing was drawn: {}", outcome.ended)));
        };
        let spins: &[Column] = if space.is_binary() { &SPINS } else { &[] };
        let columns: Vec<Column> = ENERGIES.iter().chain(spins).copied().collect();
        let reweighting = Reweighting::new(&tempering.betas, draws);
        let rows: Vec<Row> = range
            .betas()
            .into_iter()
            .map(|beta| row(beta, sites, &columns, &reweighting))
            .collect();
        if let Some(path) = &arguments.csv {
            let text = csv(&rows, &columns);
            to_file(path, arguments.force, |file| file.write_all(text.as_bytes()))?;
        }
        let mut out = crate::out::stdout();
        if run.json {
            let printed =
                Printed { model: title.name, sites: space.sites(), rows: &rows, tempering };
            serde_json::to_writer_pretty(&mut out, &printed)?;
            writeln!(out)?;
        } else {
            writeln!(out, "{}", table(&rows, &columns))?;
            write!(out, "{}", wrap(&ladder::sentence(tempering), "", ""))?;
        }
        Ok(Finish::from(&outcome.ended))
    }
}

/// A number of averages.
type OfAverages = Box<dyn Fn(&Averages) -> f64 + Sync>;

fn row(beta: f64, sites: f64, columns: &[Column], reweighting: &Reweighting) -> Row {
    let functions: Vec<OfAverages> = columns
        .iter()
        .map(|(_, number)| {
            let number = *number;
            Box::new(move |averages: &Averages| number(beta, sites, averages)) as Box<_>
        })
        .collect();
    let functions: Vec<&(dyn Fn(&Averages) -> f64 + Sync)> =
        functions.iter().map(|function| &**function).collect();
    let values = reweighting.at(beta, &functions);
    let mut numbers = serde_json::Map::new();
    for ((name, _), value) in columns.iter().zip(&values) {
        numbers.insert((*name).to_owned(), value.mean.into());
        numbers.insert(format!("{name}_se"), value.se.into());
    }
    Row { beta, numbers, values }
}

fn csv(rows: &[Row], columns: &[Column]) -> String {
    let mut text = "beta".to_owned();
    for (name, _) in columns {
        let _ = write!(text, ",{name},{name}_se");
    }
    text.push('\n');
    for row in rows {
        let _ = write!(text, "{}", row.beta);
        for value in &row.values {
            let error = value.se.map_or(String::new(), |error| error.to_string());
            let _ = write!(text, ",{},{error}", value.mean);
        }
        text.push('\n');
    }
    text
}

/// What fits into a terminal; everything is in the CSV file and in JSON.
fn table(rows: &[Row], columns: &[Column]) -> String {
    const SHOWN: [(&str, &str); 4] = [
        ("energy_per_site", "energy/site"),
        ("specific_heat", "specific heat"),
        ("abs_m", "|m|"),
        ("binder", "Binder"),
    ];
    let shown: Vec<(usize, &str)> = SHOWN
        .iter()
        .filter_map(|(name, title)| Some((columns.iter().position(|(n, _)| n == name)?, *title)))
        .collect();
    let mut table = plain_table();
    let titles = std::iter::once("β").chain(shown.iter().map(|(_, title)| *title));
    table.set_header(titles.collect::<Vec<_>>());
    for row in rows {
        let numbers = shown.iter().map(|(column, _)| {
            let Value { mean, se } = row.values[*column];
            with_error(Some(mean), se).replace(' ', "")
        });
        let cells = std::iter::once(format!("{:.4}", row.beta)).chain(numbers);
        table.add_row(cells.collect::<Vec<_>>());
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    finish(&mut table)
}
