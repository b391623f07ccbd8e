//! `saltus list`: the models, samplers and balancing functions, one line each.

use crate::arguments::{Arguments, ListArguments};
use crate::failure::{Failure, Finish};
use clap::CommandFactory;
use saltus::zoo::read::Format;
use saltus::{Balancing, Method, Solver};
use serde::Serialize;
use std::io::Write;

#[derive(Serialize)]
struct Catalogue {
    models: Vec<Entry>,
    samplers: Vec<Entry>,
    weights: Vec<Entry>,
    solvers: Vec<Entry>,
    formats: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    name: String,
    description: String,
}

impl Entry {
    fn new(name: &str, description: impl ToString) -> Self {
        Self { name: name.to_owned(), description: description.to_string() }
    }
}

/// Prints the catalogue.
pub fn run(arguments: &ListArguments) -> Result<Finish, Failure> {
    let catalogue = catalogue();
    let mut out = crate::out::stdout();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &catalogue)?;
        writeln!(out)?;
    } else {
        let groups = [
            ("Models", &catalogue.models),
            ("Samplers", &catalogue.samplers),
            ("Balancing functions", &catalogue.weights),
            ("Solvers of dlmc", &catalogue.solvers),
            ("Formats of model files", &catalogue.formats),
        ];
        let longest = groups.iter().flat_map(|(_, entries)| entries.iter());
        let width = longest.map(|entry| entry.name.len()).max().unwrap_or(0);
        for (heading, entries) in groups {
            writeln!(out, "{heading}")?;
            for Entry { name, description } in entries {
                writeln!(out, "  {name:width$}  {description}")?;
            }
            writeln!(out)?;
        }
        writeln!(out, "Try: saltus sample ising, saltus compare potts, saltus exact network.uai")?;
    }
    Ok(Finish::Complete)
}

fn catalogue() -> Catalogue {
    // The models describe themselves in one place, the definition of the command line.
    let command = Arguments::command();
    let models = command.find_subcommand("sample").into_iter().flat_map(|sample| {
        sample.get_subcommands().map(|model| {
            Entry::new(
                model.get_name(),
                model.get_about().map(ToString::to_string).unwrap_or_default(),
            )
        })
    });
    Catalogue {
        models: models.collect(),
        samplers: Method::ALL.iter().map(|one| Entry::new(one.name(), one.describe())).collect(),
        solvers: Solver::ALL.map(|solver| Entry::new(solver.name(), solver.describe())).into(),
        formats: Format::ALL.iter().map(|one| Entry::new(one.name(), one.describe())).collect(),
        weights: Balancing::ALL.map(|one| Entry::new(one.name(), one.describe())).into(),
    }
}
