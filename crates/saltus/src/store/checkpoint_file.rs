//! The file a run is resumed from.

use super::StoreError;
use super::folder::Folder;
use super::framed::Frame;
use crate::run::Checkpoint;

/// Its name in a store.
pub(super) const CHECKPOINT: &str = "checkpoint";
const FRAME: Frame =
    Frame { magic: b"saltus checkpoint\n", version: 2, name: "a checkpoint of saltus" };

/// Puts a checkpoint in the place of the last.
pub(super) fn write(folder: &Folder, checkpoint: &[u8]) -> Result<(), StoreError> {
    folder.write(CHECKPOINT, &FRAME.enclose(checkpoint))
}

/// The checkpoint of a store, if it has one.
pub(super) fn read(folder: &Folder) -> Result<Option<Checkpoint>, StoreError> {
    match folder.read(CHECKPOINT)? {
        None => Ok(None),
        Some(bytes) => FRAME.decode(&bytes).map(Some).map_err(|reason| damaged(folder, reason)),
    }
}

fn damaged(folder: &Folder, reason: String) -> StoreError {
    StoreError::Damaged { path: folder.path(CHECKPOINT).display().to_string(), reason }
}
