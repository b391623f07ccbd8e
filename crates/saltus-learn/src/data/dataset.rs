//! Sets of images: where their files are, how they are split, and how their grays become values.

use super::parts::{Parts, Values, append, is_bits, split, take_last};
use super::{Binarisation, DataError, Examples, Images, read_images};
use saltus::names::unknown;
use std::fmt;
use std::path::{Path, PathBuf};

/// What files of images are called after the name of their part, compressed and plain.
const ENDINGS: [&str; 2] = ["images-idx3-ubyte.gz", "images-idx3-ubyte"];
/// Names of the parts of a set.
const TRAINING: &[&str] = &["train", ""];
const VALIDATION: &[&str] = &["valid"];
const TEST: &[&str] = &["test", "t10k"];

/// A set of images by name, or any folder of IDX files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dataset {
    /// Handwritten digits (LeCun, Cortes and Burges), all of them to learn from.
    Mnist,
    /// Articles of clothing (Xiao, Rasul and Vollgraf 2017).
    FashionMnist,
    /// MNIST with bits drawn once and published (Larochelle and Murray 2011).
    StaticMnist,
    /// MNIST with bits drawn whenever an image is looked at; the last sixth validates.
    DynamicMnist,
    /// Handwritten characters (Lake et al. 2015), bits drawn whenever an image is looked at.
    Omniglot,
    /// Silhouettes of the objects of Caltech-101 (Marlin et al. 2010).
    Caltech,
    /// Frames of a film of one face (Roweis), 256 levels.
    Frey,
    /// Patches of tissue (Tomczak and Welling 2016), 256 levels.
    Histopathology,
    /// The files of a folder, found under the folder of all sets or from where the program runs.
    Folder(PathBuf),
}

/// How grays become values, where a set leaves that open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coding {
    /// Values of a pixel: two, unless others are asked for.
    pub values: Option<usize>,
    /// How grays become two values; pixels of two values stay as they are.
    pub binarisation: Binarisation,
}

impl Coding {
    /// Two values, drawn with the gray as probability.
    pub const DRAWN: Self = Self { values: None, binarisation: Binarisation::Stochastic };
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
    pub const NAMED: [Self; 8] = [
        Self::Mnist,
        Self::FashionMnist,
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
            Self::Mnist => "mnist",
            Self::FashionMnist => "fashion-mnist",
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
            Self::Mnist | Self::DynamicMnist => "mnist",
            Self::FashionMnist => "fashion-mnist",
            Self::StaticMnist => "mnist-static-binarized",
            Self::Omniglot => "omniglot",
            Self::Caltech => "caltech101-silhouettes",
            Self::Frey => "frey-faces",
            Self::Histopathology => "histopathology",
            Self::Folder(folder) => return folder,
        }
        .as_ref()
    }

    /// Whether it has so few images that a replay buffer is small, too.
    pub fn is_small(&self) -> bool {
        matches!(self, Self::Caltech | Self::Frey | Self::Histopathology)
    }

    /// Whether its pixels are grays by definition, not by an option.
    pub fn has_grays(&self) -> bool {
        matches!(self, Self::Frey | Self::Histopathology)
    }

    /// Whether how its grays become values is for the user to say.
    pub fn has_open_values(&self) -> bool {
        matches!(self, Self::Mnist | Self::FashionMnist | Self::Folder(_))
    }

    /// Reads it from a folder that has its folder, or its files. `coding` is for those sets that leave
    /// it open.
    pub fn load(&self, data: &Path, coding: Coding) -> Result<Split, DataError> {
        let folder = self.find(data)?;
        let image = |names: &[&str]| self.images(&folder, names);
        let needed = |names: &[&str]| {
            image(names)?.ok_or_else(|| DataError::Missing(self.missing(&folder, names)))
        };
        let parts = match self {
            Self::StaticMnist | Self::Caltech | Self::Histopathology => Parts {
                training: needed(TRAINING)?,
                validation: Some(needed(VALIDATION)?),
                test: Some(needed(TEST)?),
            },
            Self::DynamicMnist => {
                let mut training = needed(TRAINING)?;
                let validation = take_last(&mut training, |count| count / 6);
                Parts { training, validation, test: Some(needed(TEST)?) }
            }
            Self::Omniglot => {
                let mut training = needed(TRAINING)?;
                append(&mut training, needed(TEST)?, &folder)?;
                split(training, 1345, 8070)
            }
            Self::Frey => split(needed(TRAINING)?, 200, 200),
            Self::Mnist | Self::FashionMnist | Self::Folder(_) => Parts {
                training: needed(TRAINING)?,
                validation: image(VALIDATION)?,
                test: image(TEST)?,
            },
        };
        let values = self.values(&parts.training, coding);
        parts.into_examples(&values, &folder)
    }

    /// Reads its training images alone, from the same places.
    pub fn training(&self, data: &Path, coding: Coding) -> Result<Split, DataError> {
        self.alone(data, coding, TRAINING)
    }

    /// Reads its test images alone, as those to learn from.
    pub fn test(&self, data: &Path, coding: Coding) -> Result<Split, DataError> {
        if let Self::Omniglot | Self::Frey = self {
            let split = self.load(data, coding)?;
            let training = split.test.unwrap_or(split.training);
            return Ok(Split { training, validation: None, test: None, ..split });
        }
        self.alone(data, coding, TEST)
    }

    fn alone(&self, data: &Path, coding: Coding, names: &[&str]) -> Result<Split, DataError> {
        if let Self::Omniglot | Self::Frey | Self::DynamicMnist = self
            && names == TRAINING
        {
            let split = self.load(data, coding)?;
            return Ok(Split { validation: None, test: None, ..split });
        }
        let folder = self.find(data)?;
        let training = self
            .images(&folder, names)?
            .ok_or_else(|| DataError::Missing(self.missing(&folder, names)))?;
        let values = self.values(&training, coding);
        Parts { training, validation: None, test: None }.into_examples(&values, &folder)
    }

    /// Its training images as they are in their file.
    pub fn training_images(&self, data: impl AsRef<Path>) -> Result<Images, DataError> {
        let folder = self.find(data.as_ref())?;
        self.images(&folder, TRAINING)?
            .ok_or_else(|| DataError::Missing(self.missing(&folder, TRAINING)))
    }

    /// How its grays become values.
    fn values(&self, training: &Images, coding: Coding) -> Values {
        match self {
            Self::StaticMnist => Values::Bits,
            Self::Caltech => Values::OppositeBits,
            Self::DynamicMnist | Self::Omniglot => Values::Drawn,
            Self::Frey | Self::Histopathology => Values::Levels(256),
            Self::Mnist | Self::FashionMnist | Self::Folder(_) => match coding.values {
                None | Some(2) if is_bits(training) => Values::Bits,
                None | Some(2) => match coding.binarisation {
                    Binarisation::Threshold => Values::Levels(2),
                    Binarisation::Stochastic => Values::Drawn,
                },
                Some(levels) => Values::Levels(levels),
            },
        }
    }

    /// The folder of its files.
    fn find(&self, data: &Path) -> Result<PathBuf, DataError> {
        let own = data.join(self.folder());
        let candidates = match self {
            // A folder may also be given from where the program runs.
            Self::Folder(folder) => [own.clone(), folder.clone()],
            // Its own first: beside it there may be files of another one.
            _ => [own.clone(), data.to_path_buf()],
        };
        let has_images = |folder: &PathBuf| {
            let parts = [TRAINING, VALIDATION, TEST].concat();
            let names = parts.iter().flat_map(|part| ENDINGS.map(|ending| file_name(part, ending)));
            names.map(|name| folder.join(name)).any(|path| path.is_file())
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
            _ => DataError::Missing(self.missing(data, &["train"])),
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
            Self::Mnist | Self::FashionMnist | Self::DynamicMnist => &["train", "t10k"],
            Self::Omniglot => &["train", "test"],
            Self::Frey => &[""],
            Self::Folder(_) => &["train"],
        };
        let named = |part: &&str| file_name(part, ENDINGS[0]);
        let files: Vec<String> = files.iter().map(named).collect();
        let origin = match self {
            Self::Mnist | Self::DynamicMnist => "the files of MNIST as they are published",
            Self::FashionMnist => {
                "Debian's package dataset-fashion-mnist is one source, which installs them in \
                 /usr/share/datasets/fashion-mnist"
            }
            Self::StaticMnist => "Larochelle's binarized MNIST, rows of 28×28 bits",
            Self::Omniglot => "28×28 grays, ink 255",
            Self::Caltech => "the 28×28 silhouettes of split 1 as they are published, object 0",
            Self::Frey => "the 1965 faces of 28×20 grays",
            Self::Histopathology => "28×28 grays, 0 to 255",
            Self::Folder(_) => "grays, or bits; valid- and test- files beside it are used too",
        };
        let exists = if folder.is_dir() { "" } else { ", which is no folder" };
        format!(
            "no images of {self} in {}{exists}: {} is missing; {} {} there (IDX, or without .gz) or \
             in its folder {}, {origin}",
            folder.display(),
            file_name(if self == &Self::Frey { "" } else { parts[0] }, ENDINGS[1]),
            files.join(", "),
            if files.len() == 1 { "belongs" } else { "belong" },
            self.folder().display(),
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
