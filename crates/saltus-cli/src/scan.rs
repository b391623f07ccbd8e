//! `saltus scan`: energy, specific heat, magnetisation and what else is observed at many temperatures, from one ladder.

use crate::arguments::{BetaRange, ScanArguments, existing, ladder_settings};
use crate::export::{check_free_or_stdout, prints_a_file, put};
use crate::failure::{Failure, Finish};
use crate::model::{self, Context, build};
use crate::number::with_error;
use crate::observe::Observe;
use crate::plot::frame::Division;
use crate::plot::row::Row as Charts;
use crate::plot::style::COLOURS;
use crate::progress::View;
use crate::table::{finish, plain_table, wrap};
use crate::{announce, interrupt, ladder, plot};
use comfy_table::CellAlignment;
use saltus::draws::magnet::{MagnetisationPower, OfMagnetisation, OfOrder};
use saltus::temper::{Averages, Reweighting, TemperReport, Value};
use saltus::zoo::Built;
use saltus::{Model, Observable, Run, Space, choose};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write as _;

/// Scans and prints.
pub fn run(arguments: &ScanArguments) -> Result<Finish, Failure> {
    let is_printed = prints_a_file(&arguments.csv, arguments.run.json)?;
    let writes_csv = arguments.csv.is_some() && !is_printed;
    crate::out::goes_elsewhere(writes_csv || !arguments.plot.is_empty());
    arguments.csv.as_ref().map_or(Ok(()), |path| check_free_or_stdout(path, arguments.force))?;
    for path in &arguments.plot {
        plot::check_name(path, existing(arguments.force))?;
    }
    let Some(range) = arguments.beta else {
        return Err(Failure::Usage(
            "which temperatures? --beta 0.2:0.6:41 takes 41 inverse temperatures".to_owned(),
        ));
    };
    let chains = arguments.run.chains.unwrap_or(16);
    let given = arguments.run.given.read(&arguments.model)?;
    let context =
        Context { seed: arguments.run.model_seed.unwrap_or(0), chains, given: Some(&given) };
    Scanning { arguments, range, is_printed }.go(build(&arguments.model, context)?)
}

struct Scanning<'a> {
    arguments: &'a ScanArguments,
    range: BetaRange,
    /// Whether the rows are printed as they would be in a file, and nothing else is.
    is_printed: bool,
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

/// A number from averages at β of so many sites.
type OfAverages = Box<dyn Fn(f64, f64, &Averages) -> f64 + Sync>;

/// A column of the rows: its name and its number, and what the table and the plot call it, if it is there.
struct Column {
    name: String,
    title: Option<String>,
    drawn: Option<String>,
    number: OfAverages,
}

impl Column {
    fn new(
        name: &str,
        drawn: Option<&str>,
        number: impl Fn(f64, f64, &Averages) -> f64 + Sync + 'static,
    ) -> Self {
        let drawn = drawn.map(str::to_owned);
        Self { name: name.to_owned(), title: None, drawn, number: Box::new(number) }
    }

    /// The same with a place in the table.
    fn titled(self, title: &str) -> Self {
        Self { title: Some(title.to_owned()), ..self }
    }
}

/// What is told of any model.
fn energies() -> [Column; 3] {
    [
        Column::new("energy", None, |_, _, a| -a.log_prob[0]),
        Column::new("energy_per_site", Some("energy per site"), |_, n, a| -a.log_prob[0] / n)
            .titled("energy/site"),
        Column::new("specific_heat", Some("specific heat per site"), |beta, n, a| {
            beta * beta * (a.log_prob[1] - a.log_prob[0] * a.log_prob[0]) / n
        })
        .titled("specific heat"),
    ]
}

/// What is told of spins, with m their mean: |m|, m² and m⁴ are the first observables.
fn of_spins() -> [Column; 5] {
    [
        Column::new("abs_m", Some("|m|"), |_, _, a| a.observed[0]).titled("|m|"),
        Column::new("m2", None, |_, _, a| a.observed[1]),
        Column::new("m4", None, |_, _, a| a.observed[2]),
        Column::new("susceptibility", Some("susceptibility"), |beta, n, a| {
            beta * n * (a.observed[1] - a.observed[0] * a.observed[0])
        }),
        Column::new("binder", Some("Binder cumulant"), |_, _, a| {
            1.0 - a.observed[2] / (3.0 * a.observed[1] * a.observed[1])
        })
        .titled("Binder"),
    ]
}

/// What is told of sites of q values, with m = (q x − 1)/(q − 1) of the share x of the commonest: m, m² and m⁴ are the first observables.
fn of_values() -> [Column; 5] {
    [
        Column::new("order", Some("order"), |_, _, a| a.observed[0]).titled("order"),
        Column::new("order2", None, |_, _, a| a.observed[1]),
        Column::new("order4", None, |_, _, a| a.observed[2]),
        Column::new("susceptibility", Some("susceptibility"), |beta, n, a| {
            beta * n * (a.observed[1] - a.observed[0] * a.observed[0])
        }),
        Column::new("binder", Some("Binder cumulant"), |_, _, a| {
            1.0 - a.observed[2] / (3.0 * a.observed[1] * a.observed[1])
        })
        .titled("Binder"),
    ]
}

const POWERS: [MagnetisationPower; 3] =
    [MagnetisationPower::Absolute, MagnetisationPower::Second, MagnetisationPower::Fourth];

type Observables = Vec<Box<dyn Observable>>;

/// What is told of a model, and the observables that it is told from.
fn columns(space: &Space, asked: &[Observe]) -> Result<(Vec<Column>, Observables), Failure> {
    let (mut columns, mut observables) = (Vec::from(energies()), Vec::new());
    if space.is_binary() {
        columns.extend(of_spins());
        let sites = space.sites();
        let of = |power| Box::new(OfMagnetisation { power, sites }) as Box<dyn Observable>;
        observables.extend(POWERS.map(of));
    }
    let values = space.values();
    if values > 2 && (0..space.sites()).all(|site| space.values_at(site) == values) {
        columns.extend(of_values());
        let of = |power| Box::new(OfOrder { power, values }) as Box<dyn Observable>;
        observables.extend([1, 2, 4].map(of));
    }
    for observe in asked {
        if columns.iter().any(|column| column.name == observe.name) {
            return Err(Failure::Usage(format!(
                "a scan tells {} already: leave it out, or give it another name",
                observe.name
            )));
        }
        let place = observables.len();
        observables.push(observe.read(space)?);
        let number = move |_: f64, _: f64, a: &Averages| a.observed[place];
        let column = Column::new(&observe.name, Some(&observe.name), number);
        columns.push(Column { title: Some(observe.name.clone()), ..column });
    }
    Ok((columns, observables))
}

impl Scanning<'_> {
    fn go(self, Built { title, model }: Built) -> Result<Finish, Failure> {
        let Self { arguments, range, is_printed } = self;
        let (run, space) = (&arguments.run, model.shown_space());
        let (columns, observables) = columns(space, &arguments.observe)?;
        announce(&model::heading(&title, space), run.json || is_printed, run.quiet)?;
        interrupt::listen();
        let method = arguments.sampler.unwrap_or_else(|| choose::for_path(&model));
        let settings = ladder_settings(run, method, Some(range.to));
        let sites = space.sites() as f64;
        let numbers = |state: &[u8]| -> Box<[f64]> {
            if space == model.space() {
                return observables.iter().map(|one| one.value(state)).collect();
            }
            let mut shown = vec![0; space.sites()];
            model.show(state, &mut shown);
            observables.iter().map(|one| one.value(&shown)).collect()
        };
        let mut view = View::new("", run.quiet);
        let ran = Run::new(&model, settings)
            .observe_rungs(numbers)
            .monitor(|progress| view.show(progress))
            .go();
        view.finish();
        let outcome = ran?;
        let (Some(tempering), Some(draws)) = (&outcome.tempering, &outcome.rung_draws) else {
            return Err(Failure::Failed(format!("nothing was drawn: {}", outcome.ended)));
        };
        let reweighting = Reweighting::new(&tempering.betas, draws);
        let rows: Vec<Row> = range
            .betas()
            .into_iter()
            .map(|beta| row(beta, sites, &columns, &reweighting))
            .collect();
        let mut out = crate::out::stdout();
        if run.json {
            let printed =
                Printed { model: title.name, sites: space.sites(), rows: &rows, tempering };
            serde_json::to_writer_pretty(&mut out, &printed)?;
            writeln!(out)?;
        } else if !is_printed {
            writeln!(out, "{}", table(&rows, &columns))?;
            write!(out, "{}", wrap(&ladder::sentence(tempering), "", ""))?;
        }
        out.flush()?;
        // What was found is told even if it cannot be written.
        if let Some(path) = &arguments.csv {
            let text = csv(&rows, &columns);
            put(path, arguments.force, &text)?;
        }
        if !arguments.plot.is_empty() {
            let svg = curves(&title.words, &rows, &columns);
            for path in &arguments.plot {
                plot::write(&svg, path, existing(arguments.force))?;
            }
        }
        Ok(Finish::from(&outcome.ended))
    }
}

fn row(beta: f64, sites: f64, columns: &[Column], reweighting: &Reweighting) -> Row {
    let functions: Vec<_> = columns
        .iter()
        .map(|column| move |averages: &Averages| (column.number)(beta, sites, averages))
        .collect();
    let functions: Vec<&(dyn Fn(&Averages) -> f64 + Sync)> =
        functions.iter().map(|function| function as _).collect();
    let values = reweighting.at(beta, &functions);
    let mut numbers = serde_json::Map::new();
    for (Column { name, .. }, value) in columns.iter().zip(&values) {
        numbers.insert(name.clone(), value.mean.into());
        numbers.insert(format!("{name}_se"), value.se.into());
    }
    Row { beta, numbers, values }
}

fn csv(rows: &[Row], columns: &[Column]) -> String {
    let mut text = "beta".to_owned();
    for Column { name, .. } in columns {
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
    let shown: Vec<(usize, &str)> = columns
        .iter()
        .enumerate()
        .filter_map(|(place, column)| Some((place, column.title.as_deref()?)))
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

/// A chart over β of every column that is drawn, with bars of a standard error on either side.
fn curves(title: &str, rows: &[Row], columns: &[Column]) -> String {
    let drawn: Vec<(usize, &str)> = columns
        .iter()
        .enumerate()
        .filter_map(|(place, column)| Some((place, column.drawn.as_deref()?)))
        .collect();
    let mut picture = Charts::new(drawn.len(), title);
    let betas = rows.iter().map(|row| row.beta);
    let (first, last) = (betas.clone().fold(f64::INFINITY, f64::min), betas.fold(0.0, f64::max));
    for (number, (place, name)) in drawn.iter().enumerate() {
        let values = || rows.iter().map(|row| (row.beta, row.values[*place]));
        let ends = |value: Value| {
            let error = value.se.unwrap_or(0.0);
            (value.mean - error, value.mean + error)
        };
        let lowest = values().map(|(_, value)| ends(value).0).fold(f64::INFINITY, f64::min);
        let highest = values().map(|(_, value)| ends(value).1).fold(f64::NEG_INFINITY, f64::max);
        let mut panel = picture.panel(number);
        panel.title(name);
        let along = (first, last, "inverse temperature");
        let (x, y) = panel.axes_from(along, (lowest, highest), Division::Linear);
        let colour = COLOURS[0];
        panel.curve(values().map(|(beta, value)| (x.at(beta), y.at(value.mean))), colour, "");
        for (beta, value) in values() {
            let (low, high) = ends(value);
            let bar = format!(r#"stroke="{colour}" stroke-width="1.2""#);
            panel.svg.line((x.at(beta), y.at(low)), (x.at(beta), y.at(high)), &bar);
        }
    }
    let names: Vec<&str> = drawn.iter().map(|(_, name)| *name).collect();
    picture.finish(&format!("{title}: {} over the inverse temperature", names.join(", ")))
}
