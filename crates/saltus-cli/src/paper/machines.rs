//! The machines of the rbm targets: the authors' own if their folder is given, else trained on the
//! same images and kept with the study.

use super::folder::Folder;
use crate::failure::Failure;
use crate::progress::{View, pace};
use saltus::data::{Binarisation, Dataset, Examples};
use saltus::study::Target;
use saltus::train::{TrainSettings, train_rbm};
use std::path::PathBuf;

/// A machine in a file, and what it is in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    pub path: PathBuf,
    pub words: String,
}

/// Where machines come from.
pub struct Machines<'a> {
    /// Folder of the authors' machines.
    pub authors: Option<&'a PathBuf>,
    /// Folder of the images.
    pub data: Option<&'a PathBuf>,
    pub folder: &'a Folder,
    pub threads: Option<usize>,
    pub quiet: bool,
}

/// What a target's machine was trained on, and how.
struct Recipe {
    /// Name of the authors' file.
    file: &'static str,
    dataset: Dataset,
    hidden: usize,
    values: usize,
    epochs: usize,
}

/// How the machine of a target is made; none if it has none.
///
/// One epoch on MNIST gives the authors' statistics of the weights. On Fashion-MNIST no number of
/// epochs gives all of them; the spread of the weights is closest near six.
fn recipe(target: Target) -> Option<Recipe> {
    let recipe = |file, dataset, hidden, values, epochs| {
        Some(Recipe { file, dataset, hidden, values, epochs })
    };
    match target {
        Target::Rbm25 => recipe("mnist-binary-25", Dataset::Mnist, 25, 2, 1),
        Target::Rbm200 => recipe("mnist-binary-200", Dataset::Mnist, 200, 2, 1),
        Target::Rbm4 => recipe("fashion-mnist-4-levels-50", Dataset::FashionMnist, 50, 4, 6),
        Target::Rbm8 => recipe("fashion-mnist-8-levels-50", Dataset::FashionMnist, 50, 8, 6),
        _ => None,
    }
}

impl Machines<'_> {
    /// Whether anything was said about where machines come from.
    pub fn known(&self) -> bool {
        self.authors.is_some() || self.data.is_some()
    }

    /// The machine of a target, trained if need be; nothing if the user stopped that, or if the
    /// target needs none.
    pub fn of(&self, target: Target) -> Result<Option<Machine>, Failure> {
        let Some(recipe) = recipe(target) else {
            return Ok(None);
        };
        if let Some(authors) = self.authors {
            let path = authors.join(format!("{}.safetensors", recipe.file));
            if !path.is_file() {
                return Err(Failure::Failed(format!(
                    "{target} needs {}, which is not there",
                    path.display()
                )));
            }
            return Ok(Some(Machine { path, words: "the authors'".to_owned() }));
        }
        let path = self.folder.join("machines").join(format!("{target}.safetensors"));
        let words = format!("trained here, CD-100, epochs: {}", recipe.epochs);
        if path.is_file() {
            return Ok(Some(Machine { path, words }));
        }
        match self.data {
            Some(_) => {
                Ok(self.train(target, &recipe)?.map(|bytes_at| Machine { path: bytes_at, words }))
            }
            None => Err(Failure::Failed(format!(
                "{target} is a machine learnt from images: --machines names a folder of the \
                 authors' files ({}.safetensors), or --data one of {} to train on",
                recipe.file, recipe.dataset
            ))),
        }
    }

    /// Trains the machine; nothing if the user stopped it.
    fn train(&self, target: Target, recipe: &Recipe) -> Result<Option<PathBuf>, Failure> {
        let Some(data) = self.data else {
            return Ok(None);
        };
        let images = recipe.dataset.training_images(data)?;
        let examples = Examples::from_images(images, recipe.values, Binarisation::Threshold)?;
        let settings = TrainSettings {
            hidden: recipe.hidden,
            epochs: recipe.epochs,
            threads: self.threads,
            ..TrainSettings::default()
        };
        let mut view = View::new(&format!("training {target}"), self.quiet);
        let trained = train_rbm(&examples, &settings, |progress| {
            let done = (progress.update, progress.updates);
            view.tell("", done, |elapsed| pace("updates", done, elapsed))
        });
        view.finish();
        let trained = trained?;
        if !trained.complete {
            return Ok(None);
        }
        let path = self.folder.join("machines").join(format!("{target}.safetensors"));
        trained.save(&path, &format!("the machine of {target}, trained for the study"))?;
        Ok(Some(path))
    }
}
