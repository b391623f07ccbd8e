//! `saltus train`: machines learnt from images, kept with pictures of what they learnt.

mod dbn;
mod mosaic;
mod report;
#[cfg(feature = "deep")]
mod resnet;

use crate::arguments::{
    BinariseArgument, TrainArguments, TrainRbmArguments, TrainedModel, TrainingArguments,
};
use crate::failure::{Failure, Finish};
use crate::memory::Demand;
use crate::number::short;
use crate::progress::{View, pace};
use crate::{announce, interrupt};
use mosaic::Mosaic;
use report::{About, print_json, print_text};
use saltus::data::Examples;
use saltus::train::{TrainSettings, Trained, train_rbm};
use std::path::{Path, PathBuf};

/// Samples that are drawn for their picture, and block Gibbs steps of each.
const SAMPLES: (usize, usize) = (100, 1000);
/// Numbers kept per weight while learning: itself, ready for the product, its gradient, two moments.
const PER_WEIGHT: usize = 5;

/// Trains and prints.
pub fn run(arguments: &TrainArguments) -> Result<Finish, Failure> {
    match &arguments.model {
        TrainedModel::Rbm(arguments) => rbm(arguments),
        TrainedModel::Dbn(arguments) => dbn::run(arguments),
        #[cfg(feature = "deep")]
        TrainedModel::Resnet(arguments) => resnet::run(arguments),
        #[cfg(not(feature = "deep"))]
        TrainedModel::Resnet(_) => Err(Failure::Failed(
            "this saltus was built without deep models: `cargo install --path crates/saltus-cli \
             --features deep` (or `cargo run --release --features deep -- train resnet …`) builds \
             one that has them"
                .to_owned(),
        )),
    }
}

/// The files that a training leaves.
struct Files {
    machine: PathBuf,
    samples: PathBuf,
    /// What hidden units look for, where they see pixels.
    filters: Option<PathBuf>,
}

impl Files {
    fn beside(machine: &Path, with_filters: bool) -> Result<Self, Failure> {
        let Some(stem) = machine.file_stem() else {
            return Err(Failure::Usage(format!("--out {} is not a file", machine.display())));
        };
        let picture = |what: &str| {
            let mut name = stem.to_owned();
            name.push(format!("-{what}.png"));
            machine.with_file_name(name)
        };
        Ok(Self {
            machine: machine.to_path_buf(),
            samples: picture("samples"),
            filters: with_filters.then(|| picture("filters")),
        })
    }

    fn all(&self) -> Vec<&Path> {
        [&self.machine, &self.samples].into_iter().chain(&self.filters).map(|p| &**p).collect()
    }

    /// Fails before the work, not after it, if the files could not be put there.
    fn check(&self, force: bool) -> Result<(), Failure> {
        let failed = |path: &Path, reason: &str| {
            Err(Failure::Failed(format!("{}: {reason}", path.display())))
        };
        let folder = match self.machine.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            return failed(&self.machine, "cannot be written: its folder does not exist");
        }
        for path in self.all() {
            if path.is_dir() {
                return failed(path, "is a folder");
            }
            if path.exists() && !force {
                return failed(path, "exists already; --force replaces it");
            }
        }
        Ok(())
    }
}

/// The images to learn from, and what is said of them.
fn data(arguments: &TrainingArguments, values: usize) -> Result<(Examples, About), Failure> {
    if values > 2 && arguments.binarise.is_some() {
        return Err(Failure::Usage(format!(
            "--binarise makes two values of a pixel, but --values is {values}"
        )));
    }
    let images = arguments.dataset.training_images(&arguments.data)?;
    let (rows, columns) = (images.rows, images.columns);
    let binarisation = arguments.binarise.unwrap_or(BinariseArgument::Threshold).into();
    let examples = Examples::from_images(images, values, binarisation)?;
    let about = About {
        dataset: arguments.dataset,
        examples: examples.count(),
        values,
        binarisation: (values == 2).then_some(binarisation),
        rows,
        columns,
        below: None,
    };
    Ok((examples, about))
}

/// Fails if these examples cannot be learnt from, or not in memory.
fn check(examples: &Examples, settings: &TrainSettings) -> Result<(), Failure> {
    settings.check(examples)?;
    let (sites, values) = (examples.space().sites(), examples.space().values());
    let parameters =
        sites.saturating_mul(values).saturating_mul(settings.hidden).saturating_mul(PER_WEIGHT);
    Demand { sites, values, parameters, chains: settings.batch }.check()
}

fn rbm(arguments: &TrainRbmArguments) -> Result<Finish, Failure> {
    let TrainRbmArguments { values, training } = arguments;
    let values = values.unwrap_or(2);
    let settings = training.settings();
    let files = Files::beside(&training.out, true)?;
    files.check(training.force)?;
    let (examples, about) = data(training, values)?;
    check(&examples, &settings)?;
    announce(&about.heading(&settings), training.json, training.quiet)?;
    let trained = train(&examples, &settings, training.quiet)?;
    trained.save(&files.machine, &about.in_words())?;
    let (count, steps) = SAMPLES;
    let mosaic = Mosaic { rows: about.rows, columns: about.columns };
    keep(&files.samples, &mosaic.of_states(&trained.samples(count, steps)?, values))?;
    if let Some(filters) = &files.filters {
        keep(filters, &mosaic.of_filters(&trained.weight(), values))?;
    }
    finish(&about, &trained, &files, training.json)
}

/// Prints what came of a training.
fn finish(about: &About, trained: &Trained, files: &Files, json: bool) -> Result<Finish, Failure> {
    if json {
        print_json(about, trained, &files.all())?;
    } else {
        print_text(about, trained, &files.all())?;
    }
    Ok(if trained.complete { Finish::Complete } else { Finish::Early })
}

fn train(examples: &Examples, settings: &TrainSettings, quiet: bool) -> Result<Trained, Failure> {
    interrupt::listen();
    let mut view = View::new("", quiet);
    let trained = train_rbm(examples, settings, |progress| {
        let done = (progress.update, progress.updates);
        view.tell("training", done, |elapsed| {
            format!(
                "{}, reconstruction error {}, free-energy gap {}",
                pace("updates", done, elapsed),
                short(progress.latest.reconstruction_error),
                short(progress.latest.free_energy_gap)
            )
        })
    });
    view.finish();
    Ok(trained?)
}

fn keep(path: &Path, picture: &mosaic::Picture) -> Result<(), Failure> {
    picture
        .png()
        .and_then(|bytes| Ok(std::fs::write(path, bytes)?))
        .map_err(|error| Failure::Failed(format!("{}: cannot be written: {error}", path.display())))
}
