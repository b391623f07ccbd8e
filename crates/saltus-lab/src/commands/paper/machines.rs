//! The machines of the rbm targets: the authors' own if their folder is given, else trained on the
//! same images and kept with the study.

use super::cell::hash;
use super::folder::Folder;
use crate::study::Target;
use saltus::Model;
use saltus::model::rbm::Rbm;
use saltus_cli::failure::Failure;
use saltus_cli::progress::{View, pace};
use saltus_learn::data::{Binarisation, Dataset, Examples};
use saltus_learn::rbm::{RbmSettings, train_rbm};
use std::path::{Path, PathBuf};

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
    /// Name of the authors' file; none if they published no such machine.
    file: Option<&'static str>,
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
    let four = Some("fashion-mnist-4-levels-50");
    let eight = Some("fashion-mnist-8-levels-50");
    match target {
        Target::Rbm25 => recipe(Some("mnist-binary-25"), Dataset::Mnist, 25, 2, 1),
        Target::Rbm200 => recipe(Some("mnist-binary-200"), Dataset::Mnist, 200, 2, 1),
        Target::Rbm4 => recipe(four, Dataset::FashionMnist, 50, 4, 6),
        Target::Rbm8 => recipe(eight, Dataset::FashionMnist, 50, 8, 6),
        Target::Rbm4Text => recipe(None, Dataset::FashionMnist, 100, 4, 6),
        Target::Rbm8Text => recipe(None, Dataset::FashionMnist, 100, 8, 6),
        _ => None,
    }
}

impl Machines<'_> {
    /// Whether anything was said about where machines come from.
    pub fn known(&self) -> bool {
        self.authors.is_some() || self.data.is_some()
    }

    /// Fails if the machine of a target is nowhere and cannot be made.
    pub fn check(&self, target: Target) -> Result<(), Failure> {
        let Some(recipe) = recipe(target) else {
            return Ok(());
        };
        match (self.authors_file(&recipe), self.data) {
            (Some(path), _) => recipe.load(target, &path).map(drop),
            (None, _) if self.trained_file(target).is_file() => Ok(()),
            (None, Some(data)) => Ok(recipe.dataset.training_images(data).map(drop)?),
            (None, None) => {
                let missing = self.authors.map_or(String::new(), |authors| {
                    format!(", which is not in {}", authors.display())
                });
                let theirs = recipe.file.map_or(String::new(), |file| {
                    format!("--machines names the folder of the authors' {file}.safetensors{missing}, or ")
                });
                Err(Failure::Failed(format!(
                    "{target} is a machine learnt from images: {theirs}--data one of {} to train on",
                    recipe.dataset
                )))
            }
        }
    }

    /// The authors' file, if it is there.
    fn authors_file(&self, recipe: &Recipe) -> Option<PathBuf> {
        let path = self.authors?.join(format!("{}.safetensors", recipe.file?));
        path.is_file().then_some(path)
    }

    /// Where the machine of a target is kept that was trained here.
    fn trained_file(&self, target: Target) -> PathBuf {
        self.folder.join("machines").join(format!("{target}.safetensors"))
    }

    /// The machine of a target, trained if need be; nothing if the user stopped that, or if the
    /// target needs none.
    pub fn of(&self, target: Target) -> Result<Option<Machine>, Failure> {
        let Some(recipe) = recipe(target) else {
            return Ok(None);
        };
        self.check(target)?;
        if let Some(path) = self.authors_file(&recipe) {
            return recipe
                .load(target, &path)
                .map(|hash| Some(Machine { path, words: format!("the authors', {hash:016x}") }));
        }
        let path = self.trained_file(target);
        if let (false, Some(data)) = (path.is_file(), self.data)
            && !self.train(target, &recipe, data, &path)?
        {
            return Ok(None);
        }
        let hash = recipe.load(target, &path)?;
        Ok(Some(Machine { path, words: format!("trained here, {hash:016x}") }))
    }

    /// Trains the machine; false if the user stopped it.
    fn train(
        &self,
        target: Target,
        recipe: &Recipe,
        data: &Path,
        path: &Path,
    ) -> Result<bool, Failure> {
        let images = recipe.dataset.training_images(data)?;
        let examples = Examples::from_images(images, recipe.values, Binarisation::Threshold)?;
        let settings = RbmSettings {
            hidden: recipe.hidden,
            epochs: recipe.epochs,
            threads: self.threads,
            ..RbmSettings::default()
        };
        let mut view = View::new(&format!("training {target}"), self.quiet);
        let trained = train_rbm(&examples, &settings, |progress| {
            let done = (progress.update, progress.updates);
            view.tell("", done, |elapsed| pace("updates", done, elapsed))
        });
        view.finish();
        let trained = trained?;
        if trained.complete {
            trained.save(path, &format!("the machine of {target}, trained for the study"))?;
        }
        Ok(trained.complete)
    }
}

impl Recipe {
    /// Sees that a file holds such a machine; returns a hash of its bytes, by which results are known
    /// to be of it.
    fn load(&self, target: Target, path: &Path) -> Result<u64, Failure> {
        let machine = Rbm::load(path)?;
        let (hidden, values) = (machine.hidden(), machine.space().values());
        if (hidden, values) != (self.hidden, self.values) {
            return Err(Failure::Failed(format!(
                "{} holds a machine of {hidden} hidden units and {values} values, but {target} has {} \
                 and {}",
                path.display(),
                self.hidden,
                self.values
            )));
        }
        let bytes = std::fs::read(path)
            .map_err(|error| Failure::Failed(format!("cannot read {}: {error}", path.display())))?;
        Ok(hash(bytes))
    }
}
