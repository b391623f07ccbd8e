//! What is said of the training of a deep model: before it, after it, and to scripts.

use super::folder::{Folder, Iteration};
use super::{Training, count};
use crate::arguments::Backend;
use crate::failure::Failure;
use crate::table::{finish, plain_table, wrap};
use crate::train::report::cost;
use comfy_table::CellAlignment;
use saltus_learn::data::Split;
use saltus_learn::{TrainSettings, Validation};
use saltus_nn::{Architecture, Network};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::PathBuf;

/// What is learnt from; part of the checkpoint, so that a training can be resumed without saying it
/// again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkTraining {
    pub data: PathBuf,
    pub dataset: String,
    pub values: Option<usize>,
    /// What computes the network; not in checkpoints of before there was a choice.
    #[serde(default)]
    pub backend: Backend,
    /// Iterations between two checkpoints; not in checkpoints of before it was remembered.
    #[serde(default)]
    pub save_every: Option<usize>,
    /// How the validation images are looked at, if they are.
    #[serde(default)]
    pub looks: Option<Looks>,
    /// The network, once it is known.
    #[serde(default)]
    pub architecture: Option<Architecture>,
}

/// How often and how closely the validation images are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looks {
    pub every: usize,
    pub chains: usize,
    pub temperatures: usize,
}

impl NetworkTraining {
    /// What goes into the file of the model.
    pub fn in_words<N: Network + 'static>(&self, training: &Training<'_, N>) -> String {
        let settings = training.settings();
        let TrainSettings { steps, batch, learning_rate, seed, .. } = settings;
        format!(
            "{}; PCD with {steps} steps of {}, {} iterations of {batch} images, Adam with learning \
             rate {learning_rate}, seed {seed}, saltus {}",
            self.dataset,
            sampler_in_words(settings),
            training.iteration(),
            env!("CARGO_PKG_VERSION")
        )
    }
}

/// "dlmc (sqrt)", or the sampler alone if it has no balancing function.
fn sampler_in_words(settings: &TrainSettings) -> String {
    let sampler = &settings.sampler;
    match sampler.method.is_balanced() {
        true => format!("{sampler} ({})", sampler.balancing),
        false => sampler.to_string(),
    }
}

/// The first lines of a report: what is learnt, and how.
pub fn heading(
    about: &NetworkTraining,
    split: &Split,
    architecture: &Architecture,
    settings: &TrainSettings,
) -> String {
    let TrainSettings { steps, iterations, batch, buffer, learning_rate, warmup, seed, .. } =
        settings;
    let backend = match about.backend {
        Backend::Cpu => "",
        Backend::Burn => ", computed by burn",
    };
    format!(
        "data     {} of {}, {}×{} pixels of {} values; {} to validate, {} to test\n\
         network  {} channels, 2 + {} residual blocks, {} parameters{backend}\n\
         training {steps} steps of {} per iteration, {iterations} iterations of {batch} \
         images,\n         buffer {buffer}, Adam with learning rate {learning_rate} after {warmup} \
         iterations, seed {seed}\n",
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
        sampler_in_words(settings),
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
    processor_seconds: f64,
    energy_gap: Option<f64>,
    acceptance: Option<f64>,
    sites_changed_per_step: Option<f64>,
    scale: Option<f64>,
    /// The look at which it did best on the validation images.
    best: Option<Validation>,
    validation: &'a [Validation],
    files: Vec<String>,
}

/// The mean of a number over iterations.
pub fn mean(iterations: &[Iteration], number: impl Fn(&Iteration) -> f64) -> f64 {
    iterations.iter().map(number).sum::<f64>() / iterations.len() as f64
}

/// One object for scripts.
pub fn print_json<N: Network + 'static>(
    about: &NetworkTraining,
    architecture: &Architecture,
    training: &Training<'_, N>,
    complete: bool,
    (history, looks): (&[Iteration], &[Validation]),
    folder: &Folder,
) -> Result<(), Failure> {
    let last = |number: fn(&Iteration) -> Option<f64>| {
        history.last().and_then(number).filter(|number| number.is_finite())
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
        seconds: training.spent().seconds,
        processor_seconds: training.spent().processor_seconds,
        energy_gap: last(|last| Some(last.energy_gap)),
        acceptance: last(|last| Some(last.acceptance)),
        sites_changed_per_step: last(|last| Some(last.sites_changed_per_step)),
        scale: last(|last| last.scale),
        best: Validation::best(looks).copied(),
        validation: looks,
        files: files(training, folder).iter().map(|path| path.display().to_string()).collect(),
    };
    let mut out = crate::out::stdout();
    serde_json::to_writer_pretty(&mut out, &json)?;
    writeln!(out)?;
    Ok(())
}

fn files<N: Network + 'static>(training: &Training<'_, N>, folder: &Folder) -> Vec<PathBuf> {
    let samples = folder.samples(training.iteration());
    let always =
        [folder.model(), folder.checkpoint(), folder.history_file(), folder.curves(), samples];
    let looked = [folder.best(), folder.validation_file(), folder.learning()];
    always.into_iter().chain(looked.into_iter().filter(|path| path.exists())).collect()
}

/// How it went, and what was written.
pub fn print_text<N: Network + 'static>(
    training: &Training<'_, N>,
    complete: bool,
    (history, looks): (&[Iteration], &[Validation]),
    folder: &Folder,
) -> Result<(), Failure> {
    let mut out = crate::out::stdout();
    let stopped = if complete { "" } else { ", stopped early" };
    writeln!(out, "{} iterations in {}{stopped}\n", training.iteration(), cost(training.spent()))?;
    writeln!(out, "{}", course(history))?;
    if !looks.is_empty() {
        writeln!(out, "{}", table_of_looks(looks))?;
    }
    for path in files(training, folder) {
        writeln!(out, "written  {}", path.display())?;
    }
    out.flush()?;
    Ok(())
}

/// The looks at the validation images, the best one marked.
fn table_of_looks(looks: &[Validation]) -> String {
    let mut table = plain_table();
    table.set_header([
        "iteration",
        "minutes",
        "of processors",
        "validation",
        "chains",
        "in reverse",
        "chains",
        "",
    ]);
    let best = Validation::best(looks).map(|best| best.iteration);
    let optional = |number: Option<f64>, digits: usize| {
        number.map_or("–".to_owned(), |number| format!("{number:.digits$}"))
    };
    for look in looks {
        table.add_row([
            look.iteration.to_string(),
            format!("{:.1}", look.minutes),
            format!("{:.1}", look.processor_minutes),
            format!("{:.2}", look.log_likelihood),
            format!("{:.0}", look.effective_chains),
            optional(look.log_likelihood_reverse, 2),
            optional(look.effective_chains_reverse, 0),
            if best == Some(look.iteration) { "best".to_owned() } else { String::new() },
        ]);
    }
    for column in table.column_iter_mut().take(7) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let explanation = wrap(
        "Validation: mean log-likelihood of validation images in nats, by annealing from independent pixels, and in reverse \
         from images; chains: how many of equal weight they are worth.",
        "",
        "",
    );
    format!("{}\n{explanation}", finish(&mut table))
}

/// The course of a training in a few lines, each the mean over the iterations since the last.
fn course(history: &[Iteration]) -> String {
    const LINES: usize = 8;
    let mut table = plain_table();
    table.set_header(["iterations", "energy gap", "acceptance", "sites changed", "s/iteration"]);
    let length = history.len().div_ceil(LINES).max(1);
    for lines in history.chunks(length) {
        let mean = |number: fn(&Iteration) -> f64| mean(lines, number);
        let number = |row: Option<&Iteration>| row.map_or(0, |row| row.iteration);
        table.add_row([
            format!("{}–{}", number(lines.first()), number(lines.last())),
            format!("{:.2}", mean(|row| row.energy_gap)),
            format!("{:.3}", mean(|row| row.acceptance)),
            format!("{:.1}", mean(|row| row.sites_changed_per_step)),
            format!("{:.3}", mean(|row| row.seconds)),
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
    use saltus::Method;
    use saltus_learn::data::Dataset;
    use saltus_nn::train::Preset;

    #[test]
    fn the_course_is_made_of_means() {
        let row = |iteration: usize| Iteration {
            iteration,
            energy_gap: iteration as f64,
            acceptance: 0.5,
            sites_changed_per_step: 2.0,
            seconds: 0.25,
            ..Iteration::default()
        };
        let text = course(&(1..=16).map(row).collect::<Vec<_>>());
        assert!(text.contains("1–2") && text.contains("15–16"), "{text}");
        // The mean of 15 and 16.
        assert!(text.contains("15.50"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(!course(&[]).is_empty());
    }

    #[test]
    fn a_checkpoint_says_what_computed_the_network() {
        let old = r#"{"data": "data", "dataset": "mnist", "values": null}"#;
        let mut about: NetworkTraining = serde_json::from_str(old).unwrap();
        assert_eq!(about.backend, Backend::Cpu);
        about.backend = Backend::Burn;
        let words = serde_json::to_string(&about).unwrap();
        assert!(words.contains(r#""backend":"burn""#), "{words}");
        let again: NetworkTraining = serde_json::from_str(&words).unwrap();
        assert_eq!(again.backend, Backend::Burn);
    }

    #[test]
    fn a_balancing_function_is_named_where_there_is_one() {
        let words =
            |sampler| sampler_in_words(&Preset::Laptop.settings(&Dataset::StaticMnist, sampler));
        assert_eq!(words(Method::Dlmc), "dlmc (sqrt)");
        assert_eq!(words(Method::Gibbs), "gibbs");
    }
}
