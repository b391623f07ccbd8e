//! `saltus train`: models learnt from images, kept with pictures of what they learnt.

mod dbn;
pub mod files;
mod history;
mod kept;
mod potts;
pub mod report;
#[cfg(feature = "deep")]
mod resnet;

use crate::arguments::{
    BinariseArgument, TrainArguments, TrainRbmArguments, TrainedModel, TrainingArguments, existing,
};
use crate::failure::{Failure, Finish};
use crate::memory::Demand;
use crate::moved::to_the_laboratory;
use crate::number::short;
use crate::plot::mosaic::Mosaic;
use crate::progress::{View, pace};
use crate::{announce, interrupt, out};
use files::Files;
use kept::Kept;
use report::{LearntFrom, print_json, print_text};
use saltus::Control;
use saltus_learn::data::{Coding, DataError, Dataset, Examples, read_examples};
use saltus_learn::rbm::{RbmSettings, RbmTraining, Trained};
use std::path::Path;

/// Samples that are drawn for their picture, and block Gibbs steps of each.
const SAMPLES: (usize, usize) = (100, 1000);
/// Numbers kept per weight while learning: itself, ready for the product, its gradient, two moments.
const PER_WEIGHT: usize = 5;

/// Trains and prints.
pub fn run(arguments: &TrainArguments) -> Result<Finish, Failure> {
    out::goes_elsewhere(true);
    match &arguments.model {
        TrainedModel::Rbm(arguments) => rbm(arguments),
        TrainedModel::Dbn(arguments) => dbn::run(arguments),
        TrainedModel::Potts(arguments) => potts::run(arguments),
        #[cfg(feature = "deep")]
        TrainedModel::Resnet(arguments) => resnet::run(arguments),
        #[cfg(not(feature = "deep"))]
        TrainedModel::Resnet(_) => Err(Failure::without_deep_models()),
        TrainedModel::Vae(_) => to_the_laboratory("train vae"),
    }
}

/// The images to learn from, and what is said of them.
fn data(arguments: &TrainingArguments, values: usize) -> Result<(Examples, LearntFrom), Failure> {
    if values > 2 && arguments.binarise.is_some() {
        return Err(Failure::Usage(format!(
            "--binarise makes two values of a pixel, but --values is {values}"
        )));
    }
    let binarisation = arguments.binarise.unwrap_or(BinariseArgument::Threshold).into();
    let coding = Coding { values: Some(values), binarisation };
    let data = &arguments.data;
    let (split, dataset) = match &arguments.dataset {
        Some(dataset) => {
            let split = dataset.training(data, coding).map_err(|error| unknown(dataset, error))?;
            (split, dataset.clone())
        }
        None if data.is_file() => (read_examples(data, coding)?, Dataset::Folder(data.clone())),
        None => {
            return Err(Failure::Usage(format!(
                "{} is not a file: --dataset says which images are meant",
                data.display()
            )));
        }
    };
    let found = split.training.space().values();
    if found != values {
        return Err(Failure::Usage(format!(
            "sites of {dataset} have {found} values, not {values}"
        )));
    }
    let about = LearntFrom {
        dataset,
        examples: split.training.count(),
        values,
        binarisation: (values == 2).then_some(binarisation),
        rows: split.rows,
        columns: split.columns,
        below: None,
    };
    Ok((split.training, about))
}

/// What is neither a set by name nor a folder was mistyped.
pub fn unknown(dataset: &Dataset, error: DataError) -> Failure {
    match (dataset, error) {
        (Dataset::Folder(_), DataError::Missing(sentence)) => {
            Failure::Usage(format!("--dataset: {sentence}"))
        }
        (_, error) => error.into(),
    }
}

/// Fails if these examples cannot be learnt from, or not in memory.
fn check(examples: &Examples, settings: &RbmSettings) -> Result<(), Failure> {
    settings.check(examples)?;
    let (sites, values) = (examples.space().sites(), examples.space().values());
    let parameters =
        sites.saturating_mul(values).saturating_mul(settings.hidden).saturating_mul(PER_WEIGHT);
    Demand { sites, values, parameters, chains: settings.batch }.check()
}

fn rbm(arguments: &TrainRbmArguments) -> Result<Finish, Failure> {
    let TrainRbmArguments { values, training: arguments } = arguments;
    let values = values.unwrap_or(2);
    arguments.check_moves()?;
    let settings = arguments.settings();
    let files = Files::beside(&arguments.out, ["samples", "filters"])?;
    files.check(arguments.replaces())?;
    let (examples, about) = data(arguments, values)?;
    check(&examples, &settings)?;
    announce(&about.heading(&settings), arguments.keep.json, arguments.keep.quiet)?;
    let trained = train(RbmTraining::new(&examples, &settings)?, arguments)?;
    trained.save(&files.model, &about.in_words())?;
    let (count, steps) = SAMPLES;
    let mosaic = Mosaic { rows: about.rows, columns: about.columns };
    let [samples, filters] = &files.pictures;
    let existing = existing(arguments.replaces());
    mosaic.of_states(&trained.samples(count, steps)?, values).write(samples, existing)?;
    mosaic.of_filters(&trained.weight(), values).write(filters, existing)?;
    finish(&about, &trained, &files.all(), arguments.keep.json)
}

/// Prints what came of a training.
fn finish(
    about: &LearntFrom,
    trained: &Trained,
    files: &[&Path],
    json: bool,
) -> Result<Finish, Failure> {
    if json {
        print_json(about, trained, files)?;
    } else {
        print_text(about, trained, files)?;
    }
    Ok(if trained.complete { Finish::Complete } else { Finish::Early })
}

/// Trains to the end, from where it was stopped if that is wanted.
fn train(mut training: RbmTraining<'_>, arguments: &TrainingArguments) -> Result<Trained, Failure> {
    let (every, kept) = (arguments.keep.save_every, Kept::beside(&arguments.out)?);
    if arguments.resume {
        let (checkpoint, history) = kept.read()?;
        training = training.resumed(checkpoint, history)?;
    }
    let save = |training: &RbmTraining<'_>| {
        kept.save(training.history(), training.learner(), "saltus train")
    };
    interrupt::listen();
    let mut view = View::new("", arguments.keep.quiet).after(training.learner().iteration());
    while !training.is_complete() {
        let progress = training.iterate()?;
        if every.is_some_and(|every| progress.update.is_multiple_of(every)) {
            save(&training)?;
        }
        let done = (progress.update, progress.updates);
        let told = view.tell("training", done, |since| {
            format!(
                "{}, reconstruction error {}, free-energy gap {}",
                pace("updates", done, since),
                short(progress.latest.reconstruction_error),
                short(progress.latest.free_energy_gap)
            )
        });
        if told == Control::Stop {
            break;
        }
    }
    view.finish();
    if every.is_some() || arguments.resume {
        save(&training)?;
    }
    Ok(training.finish()?)
}
