//! What is said of the training of an autoencoder: before it, meanwhile, after it, and to scripts.

use crate::vae::{Bound, EpochReport, TrainedVae, VaeSettings, VaeSizes};
use comfy_table::CellAlignment;
use saltus_cli::failure::Failure;
use saltus_cli::number::{short, with_error};
use saltus_cli::table::{finish, plain_table, wrap};
use saltus_cli::train::report::{cost, some};
use saltus_learn::data::{Dataset, Split};
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// What was learnt, and from what.
pub struct About<'a> {
    pub dataset: &'a Dataset,
    pub split: &'a Split,
    pub sizes: VaeSizes,
}

/// How likely images are that it has not learnt from.
#[derive(Serialize)]
pub struct Judged {
    pub part: &'static str,
    #[serde(flatten)]
    pub bound: Bound,
    pub bits_per_dim: f64,
    pub seconds: f64,
}

impl About<'_> {
    /// The first lines of a report: what is learnt, and how.
    pub fn heading(&self, settings: &VaeSettings) -> String {
        let VaeSettings { hidden, latent, epochs, batch, learning_rate, .. } = settings;
        let VaeSettings { warmup, patience, seed, .. } = settings;
        let Split { rows, columns, training, validation, test } = self.split;
        let others: Vec<String> = [(validation, "to choose by"), (test, "to test on")]
            .into_iter()
            .filter_map(|(part, purpose)| Some(format!("{} {purpose}", part.as_ref()?.count())))
            .collect();
        let others = match others.is_empty() {
            true => String::new(),
            false => format!("\n         {}", others.join(", ")),
        };
        let (pixels, sizes) = (self.sizes.pixels(), &self.sizes);
        let form = match (sizes.levels(), sizes.channels()) {
            (1, _) => {
                format!("{pixels}–{hidden}–{hidden}–{latent}–{hidden}–{hidden}–{pixels} numbers")
            }
            (_, None) => format!("two levels of {latent} numbers, layers of {hidden} units"),
            (_, Some(channels)) => {
                format!("two levels of {latent} numbers, {hidden} units, {channels} channels")
            }
        };
        format!(
            "data     {} images of {}, {rows}×{columns} pixels{others}\n\
             model    {form}, {} parameters\n\
             training up to {epochs} epochs in batches of {batch}, Adam with learning rate \
             {learning_rate},\n         warm-up {warmup}, patience {patience}, seed {seed}\n",
            training.count(),
            self.dataset,
            self.sizes.parameters(),
        )
    }

    /// What goes into the file of the autoencoder: everything that decides its bytes.
    pub fn in_words(&self, trained: &TrainedVae) -> String {
        let VaeSettings { batch, learning_rate, warmup, seed, .. } = &trained.settings;
        let kept = match trained.best {
            Some(epoch) => format!("as after epoch {epoch}"),
            None => format!("{} updates", trained.updates),
        };
        format!(
            "{} images of {}; {kept}, batches of {batch}, Adam with learning rate {learning_rate}, \
             warm-up {warmup}, seed {seed}, saltus {}",
            self.split.training.count(),
            self.dataset,
            env!("CARGO_PKG_VERSION")
        )
    }
}

/// "epoch 7, bound -95.2, validation -96.1".
pub fn epoch(report: &EpochReport) -> String {
    let EpochReport { epoch, training, validation, .. } = report;
    let validation = validation.map(|bound| format!(", validation {}", short(bound)));
    format!("epoch {epoch}, bound {}{}", short(*training), validation.unwrap_or_default())
}

/// What `--json` prints.
#[derive(Serialize)]
struct Json<'a> {
    model: &'static str,
    dataset: &'a str,
    rows: usize,
    columns: usize,
    training_images: usize,
    validation_images: Option<usize>,
    test_images: Option<usize>,
    hidden: usize,
    latent: usize,
    levels: usize,
    channels: Option<usize>,
    values: usize,
    parameters: usize,
    epochs: usize,
    batch: usize,
    learning_rate: f64,
    warmup: usize,
    patience: usize,
    seed: u64,
    updates: usize,
    complete: bool,
    seconds: f64,
    processor_seconds: f64,
    best_epoch: Option<usize>,
    history: &'a [EpochReport],
    bound: Option<&'a Judged>,
    files: Vec<String>,
}

/// One object for scripts.
pub fn print_json(
    about: &About<'_>,
    trained: &TrainedVae,
    judged: Option<&Judged>,
    files: &[&Path],
) -> Result<(), Failure> {
    let (settings, split) = (&trained.settings, about.split);
    let json = Json {
        model: "vae",
        dataset: about.dataset.name(),
        rows: split.rows,
        columns: split.columns,
        training_images: split.training.count(),
        validation_images: split.validation.as_ref().map(|images| images.count()),
        test_images: split.test.as_ref().map(|images| images.count()),
        hidden: settings.hidden,
        latent: settings.latent,
        levels: settings.levels,
        channels: settings.channels,
        values: about.sizes.values(),
        parameters: about.sizes.parameters(),
        epochs: settings.epochs,
        batch: settings.batch,
        learning_rate: settings.learning_rate,
        warmup: settings.warmup,
        patience: settings.patience,
        seed: settings.seed,
        updates: trained.updates,
        complete: trained.complete,
        seconds: trained.spent.seconds,
        processor_seconds: trained.spent.processor_seconds,
        best_epoch: trained.best,
        history: &trained.history,
        bound: judged,
        files: files.iter().map(|path| path.display().to_string()).collect(),
    };
    let mut out = saltus_cli::out::stdout();
    serde_json::to_writer_pretty(&mut out, &json)?;
    writeln!(out)?;
    Ok(())
}

/// How it went, how likely other images are, and what was written.
pub fn print_text(
    trained: &TrainedVae,
    judged: Option<&Judged>,
    files: &[&Path],
) -> Result<(), Failure> {
    let mut out = saltus_cli::out::stdout();
    let stopped = if trained.complete { "" } else { ", stopped early" };
    let kept = trained.best.map(|epoch| format!("; kept as after epoch {epoch}"));
    let kept = kept.unwrap_or_default();
    writeln!(out, "{} updates in {}{stopped}{kept}\n", trained.updates, cost(trained.spent))?;
    writeln!(out, "{}", course(&trained.history))?;
    if let Some(judged) = judged {
        writeln!(out, "{}", verdict(judged))?;
    }
    for path in files {
        writeln!(out, "written  {}", path.display())?;
    }
    out.flush()?;
    Ok(())
}

/// The course of a training in a few lines.
fn course(history: &[EpochReport]) -> String {
    let mut table = plain_table();
    table.set_header(["epoch", "bound", "divergence", "bound on validation"]);
    for report in some(history) {
        table.add_row([
            report.epoch.to_string(),
            format!("{:.2}", report.training),
            format!("{:.2}", report.divergence),
            report.validation.map_or("–".to_owned(), |bound| format!("{bound:.2}")),
        ]);
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let explanation = wrap(
        "Bound: on the logarithm of an image's probability, in nats, from one draw. Divergence: of \
         the latent numbers from their prior, which is part of it.",
        "",
        "",
    );
    format!("{}\n{explanation}", finish(&mut table))
}

fn verdict(Judged { part, bound, bits_per_dim, seconds }: &Judged) -> String {
    let Bound { mean, standard_error, samples, images } = *bound;
    wrap(
        &format!(
            "log p ≥ {} nats, {bits_per_dim:.3} bits per pixel: mean and standard error over {images} {part} images, \
             {samples} draws each, in {seconds:.1} s.",
            with_error(Some(mean), standard_error)
        ),
        "",
        "",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_training_fits_into_a_terminal() {
        let report = |epoch: usize| EpochReport {
            epoch,
            weight: 1.0,
            training: -104.318,
            divergence: 25.5,
            validation: (epoch > 1).then_some(-98.7654),
        };
        let text = course(&(1..=9).map(report).collect::<Vec<_>>());
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert!(lines[1].starts_with('1') && lines[1].ends_with('–'), "{text}");
        assert!(lines[5].starts_with('9') && lines[5].ends_with("-98.77"), "{text}");
        assert_eq!(epoch(&report(3)), "epoch 3, bound -104, validation -98.8");
        assert_eq!(epoch(&report(1)), "epoch 1, bound -104");
        let bound =
            Bound { mean: -88.5127, standard_error: Some(0.283), samples: 500, images: 10_000 };
        let verdict =
            verdict(&Judged { part: "test", bound, bits_per_dim: 0.1629, seconds: 51.26 });
        assert!(verdict.starts_with("log p ≥ -88.51 ± 0.28 nats, 0.163 bits"), "{verdict}");
        assert!(text.lines().chain(verdict.lines()).all(|line| line.chars().count() <= 80));
        let verdict = verdict.replace('\n', " ");
        assert!(verdict.contains("10000 test images, 500 draws each, in 51.3 s."), "{verdict}");
    }
}
