//! `saltus train potts`: direct coupling analysis of aligned sequences by Boltzmann learning.

use crate::arguments::TrainPottsArguments;
use crate::failure::{Failure, Finish};
use crate::memory::check_bytes;
use crate::number::short;
use crate::progress::{View, pace};
use crate::table::{finish, plain_table, wrap};
use crate::train::kept::{Kept, beside, write};
use crate::train::report::{cost, some};
use crate::{announce, interrupt};
use comfy_table::CellAlignment;
use saltus::Control;
use saltus::files::check_writable;
use saltus::zoo::read::bytes_of;
use saltus_learn::data::{Coding, read_examples};
use saltus_learn::potts::{
    Alignment, PottsReport, PottsSettings, PottsTraining, TrainedPotts, fasta, parameters_text,
};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Iterations between two checkpoints, unless others are asked for.
const SAVE_EVERY: usize = 100;
/// Numbers kept per pair of letters: the model's two, the learner's five, and counts.
const PER_PARAMETER: f64 = 4.0 * 9.0 + 8.0 * 3.0;

/// Where learning puts what it leaves.
struct Files {
    parameters: PathBuf,
    samples: PathBuf,
    kept: Kept,
}

impl Files {
    fn beside(out: &Path) -> Result<Self, Failure> {
        Ok(Self {
            samples: beside(out, "-samples.fasta")?,
            kept: Kept::beside(out)?,
            parameters: out.to_path_buf(),
        })
    }

    fn all(&self) -> [&Path; 4] {
        let Kept { history, checkpoint } = &self.kept;
        [&self.parameters, &self.samples, history, checkpoint].map(PathBuf::as_path)
    }

    /// Fails before the work, not after it, if the files could not be put there.
    fn check(&self, replace: bool) -> Result<(), Failure> {
        for path in self.all() {
            let failed =
                |reason: String| Err(Failure::Failed(format!("{}: {reason}", path.display())));
            if path.is_dir() {
                return failed("is a folder".to_owned());
            }
            if path.exists() && !replace {
                return failed(
                    "exists already; --force replaces it, --resume goes on with it".to_owned(),
                );
            }
            if let Err(error) = check_writable(path) {
                return failed(format!("cannot be written: {error}"));
            }
        }
        Ok(())
    }

    fn save(&self, training: &PottsTraining) -> Result<(), Failure> {
        self.kept.save(training.history(), training.learner(), "saltus train potts")
    }
}

/// Learns and prints.
pub fn run(arguments: &TrainPottsArguments) -> Result<Finish, Failure> {
    let settings = arguments.settings();
    let files = Files::beside(&arguments.out)?;
    files.check(arguments.keep.force || arguments.resume)?;
    let alignment = read(arguments)?;
    check_memory(&alignment, &settings)?;
    let mut training = PottsTraining::new(&alignment, &settings)?;
    if arguments.resume {
        let (checkpoint, history) = files.kept.read()?;
        training = training.resumed(checkpoint, history)?;
    }
    announce(
        &heading(arguments, &alignment, &training),
        arguments.keep.json,
        arguments.keep.quiet,
    )?;
    interrupt::listen();
    let every = arguments.keep.save_every.unwrap_or(SAVE_EVERY);
    let mut view = View::new("", arguments.keep.quiet).after(training.learner().iteration());
    let mut end = Finish::Complete;
    while !training.is_complete() {
        let progress = training.iterate()?;
        if progress.iteration.is_multiple_of(every) {
            files.save(&training)?;
        }
        let done = (progress.iteration, progress.iterations);
        let told = view.tell("training", done, |since| {
            format!(
                "{}, correlation {:.3}, energy gap {}",
                pace("iterations", done, since),
                progress.latest.pearson,
                short(progress.latest.energy_gap)
            )
        });
        if told == Control::Stop && !training.is_complete() {
            end = Finish::Early;
            break;
        }
    }
    view.finish();
    files.save(&training)?;
    let trained = training.finish(end == Finish::Complete)?;
    let letters = alignment.letters();
    write(&files.parameters, parameters_text(&trained.model, letters).as_bytes())?;
    let samples = fasta(&trained.chains, &trained.log_probs()?, letters);
    write(&files.samples, samples.as_bytes())?;
    match arguments.keep.json {
        true => print_json(arguments, &alignment, &settings, &trained, &files)?,
        false => print_text(&trained, &files)?,
    }
    Ok(end)
}

/// The sequences: FASTA, or a table.
fn read(arguments: &TrainPottsArguments) -> Result<Alignment, Failure> {
    let path = &arguments.data;
    let bytes = bytes_of(path)?;
    let named = |error: saltus_learn::data::DataError| {
        Failure::Failed(format!("{}: {error}", path.display()))
    };
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if first == Some(&b'>') {
        return Alignment::read_fasta(&bytes, arguments.alphabet.as_deref()).map_err(named);
    }
    if arguments.alphabet.is_some() {
        return Err(Failure::Usage(format!(
            "--alphabet is about FASTA, which {} is not",
            path.display()
        )));
    }
    let split = read_examples(path, Coding::default())?;
    let space = split.training.space();
    let states = saltus_learn::data::draw_examples(&split.training, split.training.count(), 0);
    Alignment::of_states(states, space.sites(), space.values()).map_err(named)
}

fn check_memory(alignment: &Alignment, settings: &PottsSettings) -> Result<(), Failure> {
    let letters = (alignment.space().sites() * alignment.space().values()) as f64;
    let chains = settings.chains as f64 * (letters * 8.0 + 2.0 * alignment.space().sites() as f64);
    check_bytes("the couplings and chains", letters * letters / 2.0 * PER_PARAMETER + chains)
}

fn heading(
    arguments: &TrainPottsArguments,
    alignment: &Alignment,
    training: &PottsTraining,
) -> String {
    let settings = arguments.settings();
    let PottsSettings { sampler, steps, chains, learning_rate, seed, identity, .. } = &settings;
    let last = settings.final_learning_rate;
    let last = last.map(|rate| format!(" to {rate}")).unwrap_or_default();
    let left_out = match alignment.left_out() {
        0 => String::new(),
        count => format!("; {count} left out because of other letters"),
    };
    let resumed = match training.learner().iteration() {
        0 => String::new(),
        iteration => format!("resumed  after iteration {iteration}\n"),
    };
    format!(
        "data     {} sequences of {} letters of {}, which count as {:.1} at an identity of {identity}{left_out}\n\
         model    Potts, {} couplings and fields\n\
         training {steps} steps of {sampler} per iteration, at most {} iterations, {chains} chains,\n         \
         Adam with learning rate {learning_rate}{last}, seed {seed}\n{resumed}",
        alignment.count(),
        alignment.space().sites(),
        alignment.letters().iter().collect::<String>(),
        training.effective(),
        training.data().numbers().len(),
        settings.iterations,
    )
}

/// What `--json` prints.
#[derive(Serialize)]
struct Json<'a> {
    model: &'static str,
    data: String,
    sequences: usize,
    left_out: usize,
    sites: usize,
    alphabet: String,
    effective_sequences: f64,
    settings: &'a PottsSettings,
    iterations: usize,
    complete: bool,
    seconds: f64,
    processor_seconds: f64,
    pearson: Option<f64>,
    energy_gap: Option<f64>,
    history: &'a [PottsReport],
    files: Vec<String>,
}

fn print_json(
    arguments: &TrainPottsArguments,
    alignment: &Alignment,
    settings: &PottsSettings,
    trained: &TrainedPotts,
    files: &Files,
) -> Result<(), Failure> {
    let last = trained.history.last();
    let json = Json {
        model: "potts",
        data: arguments.data.display().to_string(),
        sequences: alignment.count(),
        left_out: alignment.left_out(),
        sites: alignment.space().sites(),
        alphabet: alignment.letters().iter().collect(),
        effective_sequences: trained.effective,
        settings,
        iterations: trained.iterations,
        complete: trained.complete,
        seconds: trained.spent.seconds,
        processor_seconds: trained.spent.processor_seconds,
        pearson: last.map(|report| report.pearson),
        energy_gap: last.map(|report| report.energy_gap),
        history: &trained.history,
        files: files.all().iter().map(|path| path.display().to_string()).collect(),
    };
    let mut out = crate::out::stdout();
    serde_json::to_writer_pretty(&mut out, &json)?;
    writeln!(out)?;
    Ok(())
}

fn print_text(trained: &TrainedPotts, files: &Files) -> Result<(), Failure> {
    let mut out = crate::out::stdout();
    let stopped = if trained.complete { "" } else { ", stopped early" };
    writeln!(out, "{} iterations in {}{stopped}\n", trained.iterations, cost(trained.spent))?;
    let mut table = plain_table();
    table.set_header(["iteration", "correlation", "energy gap", "seconds"]);
    for report in some(&trained.history) {
        table.add_row([
            report.iteration.to_string(),
            format!("{:.4}", report.pearson),
            format!("{:.2}", report.energy_gap),
            format!("{:.0}", report.seconds),
        ]);
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let explanation = wrap(
        "Correlation: Pearson's, of the connected two-site correlations of the chains with those of the \
         weighted data. Energy gap: mean energy of the data minus that of the chains.",
        "",
        "",
    );
    writeln!(out, "{}\n{explanation}", finish(&mut table))?;
    for path in files.all() {
        writeln!(out, "written  {}", path.display())?;
    }
    out.flush()?;
    Ok(())
}
