//! `saltus train`: models learnt from images, kept with pictures of what they learnt.

mod dbn;
pub mod files;
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
use report::{LearntFrom, print_json, print_text};
use saltus_learn::data::{Coding, DataError, Dataset, Examples, read_examples};
use saltus_learn::rbm::{RbmSettings, Trained, train_rbm};
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
    let TrainRbmArguments { values, training } = arguments;
    let values = values.unwrap_or(2);
    training.check_moves()?;
    let settings = training.settings();
    let files = Files::beside(&training.out, ["samples", "filters"])?;
    files.check(training.force)?;
    let (examples, about) = data(training, values)?;
    check(&examples, &settings)?;
    announce(&about.heading(&settings), training.json, training.quiet)?;
    let trained = train(&examples, &settings, training.quiet)?;
    trained.save(&files.model, &about.in_words())?;
    let (count, steps) = SAMPLES;
    let mosaic = Mosaic { rows: about.rows, columns: about.columns };
    let [samples, filters] = &files.pictures;
    mosaic
        .of_states(&trained.samples(count, steps)?, values)
        .write(samples, existing(training.force))?;
    mosaic.of_filters(&trained.weight(), values).write(filters, existing(training.force))?;
    finish(&about, &trained, &files.all(), training.json)
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

fn train(examples: &Examples, settings: &RbmSettings, quiet: bool) -> Result<Trained, Failure> {
    interrupt::listen();
    let mut view = View::new("", quiet);
    let trained = train_rbm(examples, settings, |progress| {
        let done = (progress.update, progress.updates);
        view.tell("training", done, |since| {
            format!(
                "{}, reconstruction error {}, free-energy gap {}",
                pace("updates", done, since),
                short(progress.latest.reconstruction_error),
                short(progress.latest.free_energy_gap)
            )
        })
    });
    view.finish();
    Ok(trained?)
}
