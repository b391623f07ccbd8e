//! The files that a training leaves: the model, and pictures beside it.

use super::kept::beside;
use crate::failure::Failure;
use saltus::files::check_writable;
use std::path::{Path, PathBuf};

/// Where a training puts what it leaves.
pub struct Files<const PICTURES: usize> {
    pub model: PathBuf,
    pub pictures: [PathBuf; PICTURES],
}

impl<const PICTURES: usize> Files<PICTURES> {
    /// A model of that name, and pictures of these things beside it.
    pub fn beside(model: &Path, pictures: [&str; PICTURES]) -> Result<Self, Failure> {
        let found = pictures.map(|what| beside(model, &format!("-{what}.png")));
        let mut pictures = std::array::from_fn(|_| PathBuf::new());
        for (picture, found) in pictures.iter_mut().zip(found) {
            *picture = found?;
        }
        Ok(Self { model: model.to_path_buf(), pictures })
    }

    /// All of them, the model first.
    pub fn all(&self) -> Vec<&Path> {
        std::iter::once(&self.model).chain(&self.pictures).map(PathBuf::as_path).collect()
    }

    /// Fails before the work, not after it, if the files could not be put there.
    pub fn check(&self, force: bool) -> Result<(), Failure> {
        let failed = |path: &Path, reason: &str| {
            Err(Failure::Failed(format!("{}: {reason}", path.display())))
        };
        let folder = match self.model.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            return failed(&self.model, "cannot be written: its folder does not exist");
        }
        for path in self.all() {
            if path.is_dir() {
                return failed(path, "is a folder");
            }
            if path.exists() && !force {
                return failed(path, "exists already; --force replaces it");
            }
        }
        // A folder that is there may take no files all the same, or none of these names.
        for path in self.all() {
            let tried = check_writable(path);
            tried.or_else(|error| failed(path, &format!("cannot be written: {error}")))?;
        }
        Ok(())
    }
}
