//! What a training goes on from, beside the file of its model: a checkpoint, and the history up to it.

use crate::failure::Failure;
use saltus::files::{Durability, atomic_write};
use saltus_learn::{Checkpoint, Learnable, Training};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Display;
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
        let checkpoint = Checkpoint::read(&self.checkpoint)?;
        let failed = |error: csv::Error| {
            Failure::Failed(format!("{}: cannot be read: {error}", self.history.display()))
        };
        let mut reader = csv::Reader::from_path(&self.history).map_err(failed)?;
        let history = reader.deserialize().collect::<Result<_, _>>().map_err(failed)?;
        Ok((checkpoint, history))
    }

    /// Saves both.
    pub fn save<'a, R: Serialize, M: Learnable + 'a>(
        &self,
        history: &[R],
        learner: &Training<'a, M>,
        command: &str,
    ) -> Result<(), Failure> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for report in history {
            writer.serialize(report).map_err(|error| not_written(&self.history, error))?;
        }
        let bytes = writer.into_inner().map_err(|error| not_written(&self.history, error))?;
        write(&self.history, &bytes)?;
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
    atomic_write(path, bytes, Durability::Now).map_err(|error| not_written(path, error))
}

fn not_written(path: &Path, error: impl Display) -> Failure {
    Failure::Failed(format!("{}: cannot be written: {error}", path.display()))
}
