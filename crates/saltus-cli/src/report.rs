//! `saltus report`: one self-contained page about a stored run.

mod lines;
mod page;
mod pictures;
mod series;
mod warmup;

use crate::arguments::ReportArguments;
use crate::export::{cannot_write, check_free};
use crate::failure::{Failure, Finish};
use crate::out;
use page::Page;
use rayon::prelude::*;
use saltus::Summary;
use saltus::draws::sink::SITES_CHANGED;
use saltus::draws::trace::WEIGHT;
use saltus::files::{Durability, atomic_write};
use saltus::stats::linearised;
use saltus::store::Stored;
use std::io::Write;
use std::path::PathBuf;

/// Reads the run and writes the page.
pub fn run(arguments: &ReportArguments) -> Result<Finish, Failure> {
    out::goes_elsewhere(true);
    let path = arguments.out.clone().unwrap_or_else(|| beside(&arguments.run));
    check_free(&path, arguments.force)?;
    let stored = Stored::open(&arguments.run)?;
    let html = page_of(&stored)?;
    atomic_write(&path, html.as_bytes(), Durability::Now)
        .map_err(|error| cannot_write(&path, &error))?;
    let mut out = out::stdout();
    writeln!(out, "report in {}", path.display())?;
    Ok(Finish::Complete)
}

/// The page's place unless another is named: beside the run, so that the store stays what it is.
fn beside(run: &std::path::Path) -> PathBuf {
    let mut name = run.file_name().unwrap_or("run".as_ref()).to_owned();
    name.push(".html");
    run.with_file_name(name)
}

fn page_of(stored: &Stored) -> Result<String, Failure> {
    let outcome = stored.outcome()?;
    let description = stored.description();
    let mut summary = Summary::new(description.model.clone(), &outcome);
    summary.description.clone_from(&description.description);
    let trace = &outcome.trace;
    let names: Vec<&str> =
        trace.names().iter().map(String::as_str).chain([SITES_CHANGED]).collect();
    let series = if trace.draws() == 0 {
        Vec::new()
    } else {
        let panel = |name: &&str| {
            let drawn = trace.series(name)?;
            // Of weighted draws, plain ones of the same mean and error are shown.
            let shown = match trace.weights() {
                Some(weights) if *name != WEIGHT => linearised(drawn, weights),
                _ => None,
            };
            Some(series::panel(name, shown.as_deref().unwrap_or(drawn)))
        };
        names.par_iter().filter_map(panel).collect()
    };
    let page = Page {
        summary: &summary,
        version: stored.version(),
        ended: stored.ended().is_some(),
        series,
        warmup: warmup::charts(&outcome.warmup),
        pictures: pictures::of_run(stored, outcome.sites.as_ref())?,
    };
    Ok(page.html())
}
