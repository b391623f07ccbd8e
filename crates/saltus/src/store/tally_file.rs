//! What the ladders of a part of a run counted, from which merging tells that of the whole.

use super::StoreError;
use super::folder::Folder;
use super::framed::Frame;
use crate::temper::Tally;

/// Its name in a store.
pub(super) const TALLY: &str = "ladders";
const FRAME: Frame =
    Frame { magic: b"saltus ladders\n", version: 1, name: "a count of ladders of saltus" };

/// Puts a tally in the place of the last.
pub(super) fn write(folder: &Folder, tally: &Tally) -> Result<(), StoreError> {
    let bytes = FRAME.encode(tally).map_err(|reason| damaged(folder, reason))?;
    folder.write(TALLY, &bytes)
}

/// The tally of a store, if it has one.
pub(super) fn read(folder: &Folder) -> Result<Option<Tally>, StoreError> {
    match folder.read(TALLY)? {
        None => Ok(None),
        Some(bytes) => FRAME.decode(&bytes).map(Some).map_err(|reason| damaged(folder, reason)),
    }
}

fn damaged(folder: &Folder, reason: String) -> StoreError {
    StoreError::Damaged { path: folder.path(TALLY).display().to_string(), reason }
}
