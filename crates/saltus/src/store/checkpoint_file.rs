//! The file a run is resumed from: a checkpoint between a header and a checksum.

use super::StoreError;
use super::folder::Folder;
use crate::checkpoint::Checkpoint;

/// Its name in a store.
pub(super) const CHECKPOINT: &str = "checkpoint";
/// With what it begins.
const MAGIC: &[u8; 18] = b"saltus checkpoint\n";
/// Counts up with every change of what follows.
const VERSION: u32 = 1;
/// Magic, version and the number of bytes between header and checksum.
const HEADER: usize = MAGIC.len() + 4 + 8;
const CHECKSUM: usize = 4;

/// Puts a checkpoint in the place of the last.
pub(super) fn write(folder: &Folder, checkpoint: &Checkpoint) -> Result<(), StoreError> {
    let mut bytes = Vec::from(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend([0; 8]);
    let mut bytes = postcard::to_extend(checkpoint, bytes)
        .map_err(|error| damaged(folder, format!("it cannot be written down: {error}")))?;
    let length = (bytes.len() - HEADER) as u64;
    bytes[HEADER - 8..HEADER].copy_from_slice(&length.to_le_bytes());
    bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
    folder.write(CHECKPOINT, &bytes)
}

/// The checkpoint of a store, if it has one.
pub(super) fn read(folder: &Folder) -> Result<Option<Checkpoint>, StoreError> {
    match folder.read(CHECKPOINT)? {
        None => Ok(None),
        Some(bytes) => parse(&bytes).map(Some).map_err(|reason| damaged(folder, reason)),
    }
}

fn damaged(folder: &Folder, reason: String) -> StoreError {
    StoreError::Damaged { path: folder.path(CHECKPOINT).display().to_string(), reason }
}

fn parse(bytes: &[u8]) -> Result<Checkpoint, String> {
    if !bytes.starts_with(&MAGIC[..MAGIC.len().min(bytes.len())]) {
        return Err("it is not a checkpoint of saltus".to_owned());
    }
    if bytes.len() < HEADER + CHECKSUM {
        return Err(format!("it is cut off after {} bytes", bytes.len()));
    }
    let (version, length) = bytes[MAGIC.len()..HEADER].split_at(4);
    let version = u32::from_le_bytes(version.try_into().expect("four bytes"));
    if version != VERSION {
        return Err(format!("it has version {version}, this saltus reads version {VERSION}"));
    }
    let length = u64::from_le_bytes(length.try_into().expect("eight bytes"));
    let whole = length.saturating_add((HEADER + CHECKSUM) as u64);
    if bytes.len() as u64 != whole {
        return Err(format!("it has {} bytes of {whole}", bytes.len()));
    }
    let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
    if crc32c::crc32c(content).to_le_bytes() != *checksum {
        return Err("its checksum does not match its content".to_owned());
    }
    postcard::from_bytes(&content[HEADER..]).map_err(|error| format!("it cannot be read: {error}"))
}
