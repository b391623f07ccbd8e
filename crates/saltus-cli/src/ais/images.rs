//! The test images that likelihoods are about.

use super::subject::Subject;
use crate::arguments::{AisArguments, BinariseArgument};
use crate::failure::Failure;
use crate::train::unknown;
use saltus::Space;
use saltus_learn::data::{Coding, Dataset, Examples, draw_examples};
use std::path::Path;

/// The states of the test images, one after the other; none without data.
pub fn test_images(
    arguments: &AisArguments,
    subject: &Subject,
    seed: u64,
) -> Result<Vec<u8>, Failure> {
    let (Some(data), Some(name)) = (&arguments.data, &arguments.dataset) else {
        return Ok(Vec::new());
    };
    let space = subject.space();
    if space.values() > 2 && arguments.binarise.is_some() {
        return Err(Failure::Usage(format!(
            "--binarise makes two values of a pixel, but the RBM has {} values",
            space.values()
        )));
    }
    let (examples, rows, columns) = match subject {
        #[cfg(feature = "deep")]
        Subject::Deep(_) => of_deep_models(arguments, data, name, space)?,
        _ => of_rbms(arguments, data, name, space)?,
    };
    if examples.space() != space {
        let (sites, values) = (space.sites(), space.values());
        return Err(Failure::Failed(format!(
            "{} has {sites} sites of {values} values, but images of {name} have {rows}×{columns} \
             pixels of {}",
            arguments.file.as_deref().unwrap_or(Path::new("the model")).display(),
            examples.space().values()
        )));
    }
    Ok(draw_examples(&examples, examples.count(), seed))
}

fn of_rbms(
    arguments: &AisArguments,
    data: &Path,
    name: &str,
    space: &Space,
) -> Result<(Examples, usize, usize), Failure> {
    let dataset = Dataset::named(name);
    let binarisation = arguments.binarise.unwrap_or(BinariseArgument::Threshold).into();
    let coding = Coding { values: Some(space.values()), binarisation };
    let split = dataset.test(data, coding).map_err(|error| unknown(&dataset, error))?;
    Ok((split.training, split.rows, split.columns))
}

#[cfg(feature = "deep")]
fn of_deep_models(
    arguments: &AisArguments,
    data: &Path,
    name: &str,
    space: &Space,
) -> Result<(Examples, usize, usize), Failure> {
    if arguments.binarise.is_some() {
        return Err(Failure::Usage(
            "--binarise is about RBMs: a deep model sees images as its training did".to_owned(),
        ));
    }
    let dataset = Dataset::named(name);
    let values = (space.values() > 2).then_some(space.values());
    let split = dataset.load(data, Coding { values, ..Coding::DRAWN })?;
    let test = split.test.ok_or_else(|| {
        Failure::Failed(format!("{name} has no test images: test-images-idx3-ubyte belongs there"))
    })?;
    Ok((test, split.rows, split.columns))
}
