//! What is said of the training of a deep model: before it, after it, and to scripts.

use super::count;
use super::folder::Folder;
use crate::failure::Failure;
use crate::table::{finish, plain_table, wrap};
use comfy_table::CellAlignment;
use saltus_nn::data::Split;
use saltus_nn::train::{TrainSettings, Training};
use saltus_nn::{Architecture, Network};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::PathBuf;

/// What is learnt from; part of the checkpoint, so that a training can be resumed without saying it
/// again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    pub data: PathBuf,
    pub dataset: String,
    pub values: Option<usize>,
}

impl About {
    /// What goes into the file of the model.
    pub fn in_words<N: Network + 'static>(&self, training: &Training<'_, N>) -> String {
        let TrainSettings { sampler, weight, steps, batch, learning_rate, seed, .. } =
            training.settings();
        format!(
            "{}; PCD with {steps} steps of {sampler} ({weight}), {} iterations of {batch} images, \
             Adam with learning rate {learning_rate}, seed {seed}, saltus {}",
            self.dataset,
            training.iteration(),
            env!("CARGO_PKG_VERSION")
        )
    }
}

/// The first lines of a report: what is learnt, and how.
pub fn heading(
    about: &About,
    split: &Split,
    architecture: &Architecture,
    settings: &TrainSettings,
) -> String {
    let TrainSettings {
        sampler,
        weight,
        steps,
        iterations,
        batch,
        buffer,
        learning_rate,
        warmup,
        seed,
        ..
    } = settings;
    format!(
        "data     {} of {}, {}×{} pixels of {} values; {} to validate, {} to test\n\
         network  {} channels, 2 + {} residual blocks, {} parameters\n\
         training {steps} steps of {sampler} ({weight}) per iteration, {iterations} iterations of \
         {batch} images,\n         buffer {buffer}, Adam with learning rate {learning_rate} after \
         {warmup} iterations, seed {seed}\n",
        split.training.count(),
        about.dataset,
        split.rows,
        split.columns,
        architecture.values(),
        count(&split.validation),
        count(&split.test),
        architecture.width(),
        architecture.blocks(),
        architecture.parameters(),
    )
}

/// What `--json` prints.
#[derive(Serialize)]
struct Json<'a> {
    model: &'static str,
    dataset: &'a str,
    rows: usize,
    columns: usize,
    values: usize,
    width: usize,
    blocks: usize,
    parameters: usize,
    settings: &'a TrainSettings,
    iterations: usize,
    complete: bool,
    seconds: f64,
    energy_gap: Option<f64>,
    acceptance: Option<f64>,
    sites_changed_per_step: Option<f64>,
    scale: Option<f64>,
    files: Vec<String>,
}

/// The places of numbers in a line of the history.
pub const GAP: usize = 3;
pub const ACCEPTANCE: usize = 4;
pub const CHANGED: usize = 5;
const SCALE: usize = 6;
const SECONDS: usize = 8;

/// One object for scripts.
pub fn print_json<N: Network + 'static>(
    about: &About,
    architecture: &Architecture,
    training: &Training<'_, N>,
    complete: bool,
    history: &[Vec<f64>],
    folder: &Folder,
) -> Result<(), Failure> {
    let last = |column: usize| {
        let number = history.last().and_then(|line| line.get(column));
        number.copied().filter(|number| number.is_finite())
    };
    let json = Json {
        model: "resnet",
        dataset: &about.dataset,
        rows: architecture.rows(),
        columns: architecture.columns(),
        values: architecture.values(),
        width: architecture.width(),
        blocks: architecture.blocks(),
        parameters: architecture.parameters(),
        settings: training.settings(),
        iterations: training.iteration(),
        complete,
        seconds: training.seconds(),
        energy_gap: last(GAP),
        acceptance: last(ACCEPTANCE),
        sites_changed_per_step: last(CHANGED),
        scale: last(SCALE),
        files: files(training, folder).iter().map(|path| path.display().to_string()).collect(),
    };
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &json)?;
    writeln!(out)?;
    Ok(())
}

fn files<N: Network + 'static>(training: &Training<'_, N>, folder: &Folder) -> [PathBuf; 5] {
    let samples = folder.samples(training.iteration());
    [folder.model(), folder.checkpoint(), folder.history_file(), folder.curves(), samples]
}

/// How it went, and what was written.
pub fn print_text<N: Network + 'static>(
    training: &Training<'_, N>,
    complete: bool,
    history: &[Vec<f64>],
    folder: &Folder,
) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let stopped = if complete { "" } else { ", stopped early" };
    writeln!(out, "{} iterations in {:.1} s{stopped}\n", training.iteration(), training.seconds())?;
    writeln!(out, "{}", course(history))?;
    for path in files(training, folder) {
        writeln!(out, "written  {}", path.display())?;
    }
    out.flush()?;
    Ok(())
}

/// The course of a training in a few lines, each the mean over the iterations since the last.
fn course(history: &[Vec<f64>]) -> String {
    const LINES: usize = 8;
    let mut table = plain_table();
    table.set_header(["iterations", "energy gap", "acceptance", "sites changed", "s/iteration"]);
    let length = history.len().div_ceil(LINES).max(1);
    for lines in history.chunks(length) {
        let mean = |column: usize| {
            lines.iter().filter_map(|line| line.get(column)).sum::<f64>() / lines.len() as f64
        };
        let number = |line: Option<&Vec<f64>>| line.map_or(0.0, |line| line[0]);
        table.add_row([
            format!("{}–{}", number(lines.first()), number(lines.last())),
            format!("{:.2}", mean(GAP)),
            format!("{:.3}", mean(ACCEPTANCE)),
            format!("{:.1}", mean(CHANGED)),
            format!("{:.3}", mean(SECONDS)),
        ]);
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let explanation = wrap(
        "Energy gap: mean energy of the data minus that of the chains. Sites changed: by a step of \
         a chain.",
        "",
        "",
    );
    format!("{}\n{explanation}", finish(&mut table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_course_is_made_of_means() {
        let line = |iteration: usize| {
            vec![iteration as f64, 0.0, 0.0, iteration as f64, 0.5, 2.0, 0.1, 1e-4, 0.25]
        };
        let text = course(&(1..=16).map(line).collect::<Vec<_>>());
        assert!(text.contains("1–2") && text.contains("15–16"), "{text}");
        // The mean of 15 and 16.
        assert!(text.contains("15.50"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(!course(&[]).is_empty());
    }
}
