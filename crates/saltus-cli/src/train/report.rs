//! What is said of a training: before it, after it, and to scripts.

use crate::failure::Failure;
use crate::number::short;
use crate::table::{finish, plain_table, wrap};
use comfy_table::CellAlignment;
use saltus_learn::Spent;
use saltus_learn::data::{Binarisation, Dataset};
use saltus_learn::rbm::{RbmReport, RbmSettings, RbmStatistics, Statistics, Trained, reference};
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// What was learnt from.
pub struct LearntFrom {
    pub dataset: Dataset,
    pub examples: usize,
    /// Values of a pixel.
    pub values: usize,
    /// How grays became two values, if they did.
    pub binarisation: Option<Binarisation>,
    pub rows: usize,
    pub columns: usize,
    /// Hidden units of the RBM below, if there is one.
    pub below: Option<usize>,
}

impl LearntFrom {
    fn pixels(&self) -> String {
        match self.binarisation {
            Some(_) if !self.dataset.has_open_values() => "two values".to_owned(),
            Some(Binarisation::Threshold) => "two values by threshold".to_owned(),
            Some(Binarisation::Stochastic) => "two values drawn by gray".to_owned(),
            None => format!("{} levels of gray", self.values),
        }
    }

    /// The first lines of a report: what is learnt, and how.
    pub fn heading(&self, settings: &RbmSettings) -> String {
        let RbmSettings { hidden, method, steps, epochs, batch, learning_rate, seed, .. } =
            settings;
        let last = settings.final_learning_rate;
        let last = last.map(|rate| format!(" to {rate}")).unwrap_or_default();
        let sampler = settings.sampler.as_ref();
        let sampler = sampler.map(|sampler| format!(" by {sampler}")).unwrap_or_default();
        let below = self.below.map(|below| format!(" on {below} below")).unwrap_or_default();
        let epochs = match epochs {
            1 => "1 epoch".to_owned(),
            epochs => format!("{epochs} epochs"),
        };
        format!(
            "data     {} images of {}, {}×{} pixels, {}\n\
             RBM      {hidden} hidden units{below}\n\
             training {method}-{steps}{sampler}, {epochs} in batches of {batch}, Adam with learning rate \
             {learning_rate}{last}, seed {seed}\n",
            self.examples,
            self.dataset,
            self.rows,
            self.columns,
            self.pixels(),
        )
    }

    /// What goes into the file of the RBM.
    pub fn in_words(&self) -> String {
        let pixels = self.pixels();
        format!("{} images of {}, {pixels}", self.examples, self.dataset)
    }

    fn reference(&self, trained: &Trained) -> Option<RbmStatistics> {
        // An RBM on top of another has no published counterpart.
        let published = reference(&self.dataset, trained.settings.hidden, self.values);
        published.filter(|_| self.below.is_none())
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Json<'a> {
    model: &'static str,
    dataset: &'a str,
    examples: usize,
    binarise: Option<Binarisation>,
    visible: usize,
    values: usize,
    /// Hidden units of the RBM below.
    #[serde(skip_serializing_if = "Option::is_none")]
    below: Option<usize>,
    hidden: usize,
    method: &'static str,
    sampler: String,
    steps: usize,
    epochs: usize,
    batch: usize,
    learning_rate: f64,
    final_learning_rate: Option<f64>,
    seed: u64,
    updates: usize,
    complete: bool,
    seconds: f64,
    processor_seconds: f64,
    reconstruction_error: Option<f64>,
    free_energy_gap: Option<f64>,
    history: &'a [RbmReport],
    statistics: RbmStatistics,
    reference: Option<RbmStatistics>,
    files: Vec<String>,
}

/// One object for scripts.
pub fn print_json(about: &LearntFrom, trained: &Trained, files: &[&Path]) -> Result<(), Failure> {
    let settings = &trained.settings;
    let last = trained.history.last();
    let json = Json {
        model: if about.below.is_some() { "dbn" } else { "rbm" },
        dataset: about.dataset.name(),
        examples: about.examples,
        binarise: about.binarisation,
        visible: about.rows * about.columns,
        values: about.values,
        below: about.below,
        hidden: settings.hidden,
        method: settings.method.name(),
        sampler: match &settings.sampler {
            None => "layers".to_owned(),
            Some(sampler) => sampler.to_string(),
        },
        steps: settings.steps,
        epochs: settings.epochs,
        batch: settings.batch,
        learning_rate: settings.learning_rate,
        final_learning_rate: settings.final_learning_rate,
        seed: settings.seed,
        updates: trained.updates,
        complete: trained.complete,
        seconds: trained.spent.seconds,
        processor_seconds: trained.spent.processor_seconds,
        reconstruction_error: last.map(|report| report.reconstruction_error),
        free_energy_gap: last.map(|report| report.free_energy_gap),
        history: &trained.history,
        statistics: trained.statistics(),
        reference: about.reference(trained),
        files: files.iter().map(|path| path.display().to_string()).collect(),
    };
    let mut out = crate::out::stdout();
    serde_json::to_writer_pretty(&mut out, &json)?;
    writeln!(out)?;
    Ok(())
}

/// How it went, the parameters beside those of the published RBM, and what was written.
pub fn print_text(about: &LearntFrom, trained: &Trained, files: &[&Path]) -> Result<(), Failure> {
    let mut out = crate::out::stdout();
    let stopped = if trained.complete { "" } else { ", stopped early" };
    writeln!(out, "{} updates in {}{stopped}\n", trained.updates, cost(trained.spent))?;
    writeln!(out, "{}", course(&trained.history))?;
    let statistics = trained.statistics();
    writeln!(out, "{}", parameters(&statistics, about.reference(trained).as_ref()))?;
    for path in files {
        writeln!(out, "written  {}", path.display())?;
    }
    out.flush()?;
    Ok(())
}

/// "3.2 s, 6.1 of processors".
pub fn cost(spent: Spent) -> String {
    format!("{:.1} s, {:.1} of processors", spent.seconds, spent.processor_seconds)
}

/// A few of the reports of a training, the first and the last among them.
pub fn some<R>(history: &[R]) -> impl Iterator<Item = &R> {
    const LINES: usize = 5;
    let last = history.len().saturating_sub(1);
    let mut shown: Vec<usize> = (0..LINES).map(|line| line * last / (LINES - 1)).collect();
    shown.dedup();
    shown.into_iter().filter_map(move |index| history.get(index))
}

/// The course of a training in a few lines.
fn course(history: &[RbmReport]) -> String {
    let mut table = plain_table();
    table.set_header(["update", "reconstruction error", "free-energy gap"]);
    for report in some(history) {
        table.add_row([
            report.update.to_string(),
            format!("{:.4}", report.reconstruction_error),
            format!("{:.2}", report.free_energy_gap),
        ]);
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let explanation = wrap(
        "Reconstruction error: share of the pixels that one step by layers is expected to \
         change. Free-energy gap: of the data minus that of the chains.",
        "",
        "",
    );
    format!("{}\n{explanation}", finish(&mut table))
}

fn parameters(found: &RbmStatistics, published: Option<&RbmStatistics>) -> String {
    let mut table = plain_table();
    table.set_header(["", "", "mean", "sd", "min", "max"]);
    for (name, found, published) in [
        ("weight", found.weight, published.map(|rbm| rbm.weight)),
        ("hidden bias", found.hidden_bias, published.map(|rbm| rbm.hidden_bias)),
        ("visible bias", found.visible_bias, published.map(|rbm| rbm.visible_bias)),
    ] {
        let mut row = |name: &str, whose: &str, Statistics { mean, sd, min, max }| {
            let numbers = [mean, sd, min, max].map(short);
            table.add_row([vec![name.to_owned(), whose.to_owned()], numbers.to_vec()].concat());
        };
        row(name, "this RBM", found);
        if let Some(published) = published {
            row("", "the authors'", published);
        }
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    finish(&mut table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_course_has_its_first_and_last_line() {
        let report =
            |update| RbmReport { update, reconstruction_error: 0.25, free_energy_gap: -1.5 };
        let text = course(&(1..=20).map(report).collect::<Vec<_>>());
        let numbers: Vec<&str> = text
            .lines()
            .filter_map(|line| line.split_whitespace().next())
            .filter(|word| word.parse::<usize>().is_ok())
            .collect();
        assert_eq!(numbers, ["1", "5", "10", "15", "20"]);
        assert!(text.contains("0.2500") && text.contains("-1.50"), "{text}");
        assert!(course(&[report(1)]).contains("0.2500"));
    }

    #[test]
    fn the_published_rbm_stands_below() {
        let published = reference(&Dataset::Mnist, 25, 2).unwrap();
        let text = parameters(&published, Some(&published));
        assert_eq!(text.lines().filter(|line| line.contains("the authors'")).count(), 3);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(!parameters(&published, None).contains("authors"));
    }
}
