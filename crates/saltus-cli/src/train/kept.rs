//! What a training goes on from, beside the file of its model: a checkpoint, and the history up to it.

use super::history;
use crate::failure::Failure;
use saltus::files::{Durability, atomic_write};
use saltus_learn::{Checkpoint, Learnable, Training};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// The two files.
pub struct Kept {
    pub history: PathBuf,
    pub checkpoint: PathBuf,
}

impl Kept {
    /// Beside a file.
    pub fn beside(model: &Path) -> Result<Self, Failure> {
        Ok(Self {
            history: beside(model, "-history.csv")?,
            checkpoint: beside(model, "-checkpoint.safetensors")?,
        })
    }

    /// What was saved.
    pub fn read<R: DeserializeOwned>(&self) -> Result<(Checkpoint, Vec<R>), Failure> {
        Ok((Checkpoint::read(&self.checkpoint)?, history::read(&self.history)?))
    }

    /// Saves both.
    pub fn save<'a, R: Serialize, M: Learnable + 'a>(
        &self,
        history: &[R],
        learner: &Training<'a, M>,
        command: &str,
    ) -> Result<(), Failure> {
        history::write(&self.history, history)?;
        // Last, because the history is cut back to it.
        Ok(learner.save(&self.checkpoint, command)?)
    }
}

/// A file beside a model's, with its name and this behind it.
pub fn beside(model: &Path, what: &str) -> Result<PathBuf, Failure> {
    let Some(stem) = model.file_stem() else {
        return Err(Failure::Usage(format!("--out {} is not a file", model.display())));
    };
    let mut name = stem.to_owned();
    name.push(what);
    Ok(model.with_file_name(name))
}

/// Writes a file whole.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let written = atomic_write(path, bytes, Durability::Now);
    written
        .map_err(|error| Failure::Failed(format!("{}: cannot be written: {error}", path.display())))
}
