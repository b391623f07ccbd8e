//! The datasets known by name, and where in a folder their files are.

use super::{DataError, Images, read_images};
use crate::names::unknown;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A published set of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dataset {
    /// Handwritten digits (LeCun, Cortes and Burges).
    Mnist,
    /// The same digits, every pixel drawn once with its gray as probability (Larochelle, after
    /// Salakhutdinov and Murray 2008): files of zeros and ones.
    StaticMnist,
    /// Articles of clothing (Xiao, Rasul and Vollgraf 2017).
    FashionMnist,
}

/// A part of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Training,
    Test,
}

impl Dataset {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Mnist, Self::StaticMnist, Self::FashionMnist];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mnist => "mnist",
            Self::StaticMnist => "static-mnist",
            Self::FashionMnist => "fashion-mnist",
        }
    }

    /// The name of its folder among those of other sets.
    fn folder(self) -> &'static str {
        match self {
            Self::StaticMnist => "mnist-static-binarized",
            _ => self.name(),
        }
    }

    /// Reads its training images from `folder`, which either holds the files themselves or has a
    /// folder of the dataset's name that does.
    pub fn training_images(self, folder: impl AsRef<Path>) -> Result<Images, DataError> {
        self.images(folder.as_ref(), Part::Training)
    }

    /// Reads its test images, from the same places.
    pub fn test_images(self, folder: impl AsRef<Path>) -> Result<Images, DataError> {
        self.images(folder.as_ref(), Part::Test)
    }

    fn images(self, folder: &Path, part: Part) -> Result<Images, DataError> {
        let path = self.find(folder, part)?;
        let mut images = read_images(&path)?;
        if self == Self::StaticMnist {
            let refused = |pixel: &u8| DataError::File {
                path: path.display().to_string(),
                reason: format!("has a pixel of {pixel}, but those of {self} are 0 or 1"),
            };
            if let Some(pixel) = images.pixels.iter().find(|pixel| **pixel > 1) {
                return Err(refused(pixel));
            }
            // Black and white, like the grays of the others.
            images.pixels.iter_mut().for_each(|pixel| *pixel *= 255);
        }
        Ok(images)
    }

    /// The name of a file of images, as it is published, and unpacked.
    fn files(self, part: Part) -> [String; 2] {
        let part = match (part, self) {
            (Part::Training, _) => "train",
            (Part::Test, Self::StaticMnist) => "test",
            (Part::Test, _) => "t10k",
        };
        [format!("{part}-images-idx3-ubyte.gz"), format!("{part}-images-idx3-ubyte")]
    }

    fn find(self, folder: &Path, part: Part) -> Result<PathBuf, DataError> {
        // The dataset's own folder first: beside it there may be files of another one.
        [folder.join(self.folder()), folder.to_path_buf()]
            .iter()
            .flat_map(|folder| self.files(part).map(|name| folder.join(name)))
            .find(|path| path.is_file())
            .ok_or_else(|| DataError::Missing(self.missing(folder, part)))
    }

    fn missing(self, folder: &Path, part: Part) -> String {
        let source = match self {
            Self::Mnist => {
                "the four files of MNIST are published by its authors and mirrored widely"
            }
            Self::StaticMnist => {
                "Larochelle published it as text (binarized_mnist_*.amat); as IDX files its pixels \
                 are bytes 0 and 1"
            }
            Self::FashionMnist => {
                "Debian's package dataset-fashion-mnist is one source, which installs them in \
                 /usr/share/datasets/fashion-mnist"
            }
        };
        let [compressed, plain] = self.files(part);
        let exists = if folder.is_dir() { "" } else { ", which is no folder" };
        format!(
            "no images of {self} in {}{exists}: {compressed} (or {plain}) belongs there or in its \
             folder {}; {source}",
            folder.display(),
            self.folder(),
        )
    }
}

impl fmt::Display for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Dataset {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|dataset| dataset.name() == name)
            .ok_or_else(|| unknown("dataset", name, Self::ALL.map(Self::name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One image of one pixel.
    fn image(pixel: u8) -> Vec<u8> {
        let mut bytes = vec![0, 0, 8, 3];
        bytes.extend([1u32; 3].iter().flat_map(|size| size.to_be_bytes()));
        bytes.push(pixel);
        bytes
    }

    #[test]
    fn files_are_found_in_either_place_under_either_name() {
        let folder = tempfile::tempdir().unwrap();
        let pixel =
            |dataset: Dataset| dataset.training_images(folder.path()).map(|images| images.pixels);
        let sentence = pixel(Dataset::FashionMnist).unwrap_err().to_string();
        for part in ["fashion-mnist", "train-images-idx3-ubyte.gz", "dataset-fashion-mnist"] {
            assert!(sentence.contains(part), "{sentence}");
        }
        std::fs::write(folder.path().join("train-images-idx3-ubyte"), image(1)).unwrap();
        assert_eq!(pixel(Dataset::Mnist), Ok(vec![1]));
        assert_eq!(pixel(Dataset::FashionMnist), Ok(vec![1]));
        let own = folder.path().join("fashion-mnist");
        std::fs::create_dir(&own).unwrap();
        std::fs::write(own.join("train-images-idx3-ubyte.gz"), image(2)).unwrap();
        assert_eq!(pixel(Dataset::Mnist), Ok(vec![1]));
        assert_eq!(pixel(Dataset::FashionMnist), Ok(vec![2]));
    }

    #[test]
    fn static_bits_are_black_and_white_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let dataset = Dataset::StaticMnist;
        std::fs::write(folder.path().join("test-images-idx3-ubyte"), image(1)).unwrap();
        assert_eq!(dataset.test_images(folder.path()).unwrap().pixels, [255]);
        std::fs::write(folder.path().join("train-images-idx3-ubyte"), image(200)).unwrap();
        let sentence = dataset.training_images(folder.path()).unwrap_err().to_string();
        assert!(sentence.contains("train-images-idx3-ubyte: has a pixel of 200"), "{sentence}");
        let sentence = Dataset::Mnist.test_images(folder.path()).unwrap_err().to_string();
        assert!(sentence.contains("t10k-images-idx3-ubyte.gz (or "), "{sentence}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let sentence = Dataset::Mnist.training_images("/nowhere").unwrap_err().to_string();
        assert!(sentence.contains("in /nowhere, which is no folder"), "{sentence}");
    }

    #[test]
    fn names_are_read_back() {
        for dataset in Dataset::ALL {
            assert_eq!(dataset.name().parse(), Ok(dataset));
        }
        assert!("fashion".parse::<Dataset>().unwrap_err().contains("fashion-mnist"));
    }
}
