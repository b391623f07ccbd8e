//! The file annealing is resumed from.

use super::AisCheckpoint;
use crate::store::StoreError;
use crate::store::folder::Folder;
use crate::store::framed::Frame;
use std::path::Path;

const FRAME: Frame =
    Frame { magic: b"saltus annealing\n", version: 3, name: "a checkpoint of saltus ais" };

impl AisCheckpoint {
    /// Writes it to a file, which appears whole or stays as it was.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), StoreError> {
        let path = path.as_ref();
        let bytes = FRAME.encode(self).map_err(|reason| damaged(path, reason))?;
        let (folder, name) = split(path)?;
        folder.write(&name, &bytes)
    }

    /// Reads it from a file, if there is one.
    pub fn load(path: impl AsRef<Path>) -> Result<Option<Self>, StoreError> {
        let path = path.as_ref();
        let (folder, name) = split(path)?;
        match folder.read(&name)? {
            None => Ok(None),
            Some(bytes) => FRAME.decode(&bytes).map(Some).map_err(|reason| damaged(path, reason)),
        }
    }
}

/// The folder and the name of a file.
fn split(path: &Path) -> Result<(Folder, String), StoreError> {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| StoreError::Files {
        what: "write",
        path: path.display().to_string(),
        reason: "it is not the name of a file".to_owned(),
    })?;
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    Ok((Folder::new(folder.unwrap_or(Path::new("."))), name.to_owned()))
}

fn damaged(path: &Path, reason: String) -> StoreError {
    StoreError::Damaged { path: path.display().to_string(), reason }
}
