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
    /// Articles of clothing (Xiao, Rasul and Vollgraf 2017).
    FashionMnist,
}

/// The file of training images, as it is published, and unpacked.
const TRAINING_IMAGES: [&str; 2] = ["train-images-idx3-ubyte.gz", "train-images-idx3-ubyte"];

impl Dataset {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Mnist, Self::FashionMnist];

    /// Its name on the command line, which is also that of its folder.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mnist => "mnist",
            Self::FashionMnist => "fashion-mnist",
        }
    }

    /// Reads its training images from `folder`, which either holds the files themselves or has a
    /// folder of the dataset's name that does.
    pub fn training_images(self, folder: impl AsRef<Path>) -> Result<Images, DataError> {
        let images = read_images(self.find(folder.as_ref())?)?;
        Ok(images)
    }

    fn find(self, folder: &Path) -> Result<PathBuf, DataError> {
        // The dataset's own folder first: beside it there may be files of another one.
        [folder.join(self.name()), folder.to_path_buf()]
            .iter()
            .flat_map(|folder| TRAINING_IMAGES.map(|name| folder.join(name)))
            .find(|path| path.is_file())
            .ok_or_else(|| DataError::Missing(self.missing(folder)))
    }

    fn missing(self, folder: &Path) -> String {
        let source = match self {
            Self::Mnist => {
                "the four files of MNIST are published by its authors and mirrored widely"
            }
            Self::FashionMnist => {
                "Debian's package dataset-fashion-mnist is one source, which installs them in \
                 /usr/share/datasets/fashion-mnist"
            }
        };
        let [compressed, plain] = TRAINING_IMAGES;
        let exists = if folder.is_dir() { "" } else { ", which is no folder" };
        format!(
            "no images of {self} in {}{exists}: {compressed} (or {plain}) belongs there or in its \
             folder {self}; {source}",
            folder.display(),
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
