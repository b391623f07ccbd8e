//! The image sets that deep models are trained on: where their files are, how they are split, and how
//! their grays become values.

mod parts;

use parts::{Parts, Values, append, is_bits, split, take_last};
use saltus::data::{DataError, Examples, Images, read_images};
use saltus::names::unknown;
use std::fmt;
use std::path::{Path, PathBuf};

/// What files of images are called after the name of their part, plain and compressed.
const ENDINGS: [&str; 2] = ["images-idx3-ubyte.gz", "images-idx3-ubyte"];

/// A set of images by name, or any folder of IDX files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dataset {
    /// MNIST with bits drawn once and published (Larochelle and Murray 2011).
    StaticMnist,
    /// MNIST with bits drawn whenever an image is looked at.
    DynamicMnist,
    /// Handwritten characters (Lake et al. 2015), bits drawn whenever an image is looked at.
    Omniglot,
    /// Silhouettes of the objects of Caltech-101 (Marlin et al. 2010).
    Caltech,
    /// Frames of a film of one face (Roweis), 256 levels.
    Frey,
    /// Patches of tissue (Tomczak and Welling 2016), 256 levels.
    Histopathology,
    /// The files of a folder, found under `--data` or from where the program runs.
    Folder(PathBuf),
}

/// Examples to learn from and others to judge by.
#[derive(Clone, Debug)]
pub struct Split {
    /// Rows of an image.
    pub rows: usize,
    /// Columns of an image.
    pub columns: usize,
    /// To learn from.
    pub training: Examples,
    /// To choose by.
    pub validation: Option<Examples>,
    /// To report on.
    pub test: Option<Examples>,
}

impl Dataset {
    /// The sets that have a name.
    pub const NAMED: [Self; 6] = [
        Self::StaticMnist,
        Self::DynamicMnist,
        Self::Omniglot,
        Self::Caltech,
        Self::Frey,
        Self::Histopathology,
    ];

    /// Its name on the command line.
    pub fn name(&self) -> &str {
        match self {
            Self::StaticMnist => "static-mnist",
            Self::DynamicMnist => "dynamic-mnist",
            Self::Omniglot => "omniglot",
            Self::Caltech => "caltech",
            Self::Frey => "frey",
            Self::Histopathology => "histopathology",
            Self::Folder(folder) => folder.to_str().unwrap_or("a folder"),
        }
    }

    /// The set of that name; anything else is the path of a folder.
    pub fn named(name: &str) -> Self {
        let known = Self::NAMED.into_iter().find(|dataset| dataset.name() == name);
        known.unwrap_or_else(|| Self::Folder(PathBuf::from(name)))
    }

    /// Its folder among those of other sets.
    fn folder(&self) -> &Path {
        match self {
            Self::StaticMnist => "mnist-static-binarized",
            Self::DynamicMnist => "mnist",
            Self::Omniglot => "omniglot",
            Self::Caltech => "caltech101-silhouettes",
            Self::Frey => "frey-faces",
            Self::Histopathology => "histopathology",
            Self::Folder(folder) => return folder,
        }
        .as_ref()
    }

    /// Whether it has so few images that its replay buffer is small, too.
    pub(crate) fn is_small(&self) -> bool {
        matches!(self, Self::Caltech | Self::Frey | Self::Histopathology)
    }

    /// Whether its pixels are grays by definition, not by an option.
    pub(crate) fn has_grays(&self) -> bool {
        matches!(self, Self::Frey | Self::Histopathology)
    }

    /// Reads it from a folder that has its folder. With `levels`, the grays of a folder without a
    /// name become so many values; a named set has its own.
    pub fn load(&self, data: &Path, levels: Option<usize>) -> Result<Split, DataError> {
        let folder = self.find(data)?;
        let image = |names: &[&str]| self.images(&folder, names);
        let needed = |names: &[&str]| {
            image(names)?.ok_or_else(|| DataError::Missing(self.missing(&folder, names)))
        };
        let (parts, values) = match self {
            Self::StaticMnist | Self::Caltech | Self::Histopathology => {
                let parts = Parts {
                    training: needed(&["train"])?,
                    validation: Some(needed(&["valid"])?),
                    test: Some(needed(&["test"])?),
                };
                let values = match self {
                    Self::StaticMnist => Values::Bits,
                    Self::Caltech => Values::OppositeBits,
                    _ => Values::Levels(256),
                };
                (parts, values)
            }
            Self::DynamicMnist => {
                let mut training = needed(&["train"])?;
                let validation = take_last(&mut training, |count| count / 6);
                (Parts { training, validation, test: Some(needed(&["t10k"])?) }, Values::Drawn)
            }
            Self::Omniglot => {
                let mut training = needed(&["train"])?;
                append(&mut training, needed(&["test"])?, &folder)?;
                (split(training, 1345, 8070), Values::Drawn)
            }
            Self::Frey => (split(needed(&[""])?, 200, 200), Values::Levels(256)),
            Self::Folder(_) => {
                let training = needed(&["train", ""])?;
                let values = match levels {
                    None | Some(2) if is_bits(&training) => Values::Bits,
                    None | Some(2) => Values::Drawn,
                    Some(levels) => Values::Levels(levels),
                };
                let (validation, test) = (image(&["valid"])?, image(&["test", "t10k"])?);
                (Parts { training, validation, test }, values)
            }
        };
        parts.into_examples(&values, &folder)
    }

    /// The folder of its files.
    fn find(&self, data: &Path) -> Result<PathBuf, DataError> {
        let own = data.join(self.folder());
        let candidates = match self {
            // A folder may also be given from where the program runs.
            Self::Folder(folder) => [own.clone(), folder.clone()],
            _ => [own.clone(), data.to_path_buf()],
        };
        let has_images = |folder: &PathBuf| {
            let names = ["train-", ""].iter();
            names
                .flat_map(|part| ENDINGS.map(|ending| folder.join(format!("{part}{ending}"))))
                .any(|path| path.is_file())
        };
        candidates.into_iter().find(has_images).ok_or_else(|| match self {
            Self::Folder(folder) if !folder.is_dir() && !own.is_dir() => {
                let known = Self::NAMED;
                let sentence =
                    unknown("dataset", self.name(), known.iter().map(|dataset| dataset.name()));
                DataError::Missing(format!(
                    "{sentence}, and there is no folder {} either",
                    own.display()
                ))
            }
            _ => DataError::Missing(self.missing(&own, &["train"])),
        })
    }

    /// The images of the first of these parts that is there.
    fn images(&self, folder: &Path, parts: &[&str]) -> Result<Option<Images>, DataError> {
        let names = parts.iter().flat_map(|part| ENDINGS.map(|ending| file_name(part, ending)));
        let path = names.map(|name| folder.join(name)).find(|path| path.is_file());
        path.map(read_images).transpose()
    }

    /// What belongs where.
    fn missing(&self, folder: &Path, parts: &[&str]) -> String {
        let files = match self {
            Self::StaticMnist | Self::Caltech | Self::Histopathology => {
                &["train", "valid", "test"][..]
            }
            Self::DynamicMnist => &["train", "t10k"],
            Self::Omniglot => &["train", "test"],
            Self::Frey => &[""],
            Self::Folder(_) => &["train"],
        };
        let named = |part: &&str| file_name(part, ENDINGS[0]);
        let files: Vec<String> = files.iter().map(named).collect();
        let origin = match self {
            Self::StaticMnist => "Larochelle's binarized MNIST, rows of 28×28 bits",
            Self::DynamicMnist => "the files of MNIST as they are published",
            Self::Omniglot => "28×28 grays, ink 255",
            Self::Caltech => "the 28×28 silhouettes of split 1 as they are published, object 0",
            Self::Frey => "the 1965 faces of 28×20 grays",
            Self::Histopathology => "28×28 grays, 0 to 255",
            Self::Folder(_) => "grays, or bits; valid- and test- files beside it are used too",
        };
        format!(
            "no {} of {} in {}: {} {} there (IDX, or without .gz), {origin}",
            file_name(parts[0], ENDINGS[1]),
            self.name(),
            folder.display(),
            files.join(", "),
            if files.len() == 1 { "belongs" } else { "belong" }
        )
    }
}

impl fmt::Display for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

fn file_name(part: &str, ending: &str) -> String {
    if part.is_empty() { ending.to_owned() } else { format!("{part}-{ending}") }
}

#[cfg(test)]
mod tests;
