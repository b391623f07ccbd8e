//! A folder of files that are never seen half-written: each is written under another name and renamed.

use super::StoreError;
use crate::files::{Durability, atomic_write};
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use zarrs::storage::byte_range::{ByteRangeIterator, InvalidByteRangeError};
use zarrs::storage::{
    Bytes, MaybeBytes, MaybeBytesIterator, OffsetBytesIterator, ReadableStorageTraits,
    StorageError, StoreKey, StorePrefix, WritableStorageTraits,
};

/// The folder of a store.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    /// Files that a power failure could still take away, since when.
    unsynced: Mutex<(Vec<PathBuf>, Instant)>,
}

/// Less than this is not worth waiting for the disk.
const WORTH_KEEPING: Duration = Duration::from_secs(1);

/// Held while a process writes to a store; the system lets go of it however the process ends.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Folder {
    pub(crate) fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), unsynced: Mutex::new((Vec::new(), Instant::now())) }
    }

    pub(super) fn name(&self) -> String {
        self.root.display().to_string()
    }

    pub(crate) fn path(&self, key: &str) -> PathBuf {
        self.root.join(key)
    }

    /// A file's content, or nothing if there is no such file.
    pub(crate) fn read(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.path(key);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Ok(None)
            }
            Err(error) => Err(failed("read", &path, &error)),
        }
    }

    /// Puts a file in place at once.
    pub(crate) fn write(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.path(key);
        let written = match atomic_write(&path, bytes, Durability::Later) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                fs::create_dir_all(path.parent().unwrap_or(&self.root))
                    .and_then(|()| atomic_write(&path, bytes, Durability::Later))
            }
            written => written,
        };
        written.map_err(|error| failed("write", &path, &error))?;
        self.unsynced().0.push(path);
        Ok(())
    }

    fn unsynced(&self) -> MutexGuard<'_, (Vec<PathBuf>, Instant)> {
        self.unsynced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the disk has everything that was written since the last time, unless that was a
    /// moment ago: waiting for every file would take longer than many a run.
    pub(super) fn sync(&self) -> Result<(), StoreError> {
        let mut unsynced = self.unsynced();
        if unsynced.1.elapsed() < WORTH_KEEPING {
            return Ok(());
        }
        let mut files = std::mem::take(&mut unsynced.0);
        files.sort_unstable();
        files.dedup();
        for path in files {
            let synced = File::open(&path).and_then(|file| file.sync_data());
            synced.map_err(|error| failed("write", &path, &error))?;
        }
        unsynced.1 = Instant::now();
        Ok(())
    }

    /// Keeps other processes from writing here.
    pub(super) fn lock(&self) -> Result<Lock, StoreError> {
        let path = self.path(LOCK);
        let file = File::create(&path).map_err(|error| failed("write", &path, &error))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Busy(self.name())),
            // A file system without locks: then nobody is kept away.
            Err(TryLockError::Error(_)) => Ok(Lock { _file: file }),
        }
    }
}

/// The file that is locked.
pub(super) const LOCK: &str = ".lock";

pub(super) fn failed(what: &'static str, path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Files { what, path: path.display().to_string(), reason: error.to_string() }
}

fn storage_error(error: StoreError) -> StorageError {
    StorageError::Other(error.to_string())
}

impl ReadableStorageTraits for Folder {
    fn get(&self, key: &StoreKey) -> Result<MaybeBytes, StorageError> {
        Ok(self.read(key.as_str()).map_err(storage_error)?.map(Bytes::from))
    }

    fn get_partial_many<'a>(
        &'a self,
        key: &StoreKey,
        byte_ranges: ByteRangeIterator<'a>,
    ) -> Result<MaybeBytesIterator<'a>, StorageError> {
        let Some(bytes) = self.get(key)? else {
            return Ok(None);
        };
        let size = bytes.len() as u64;
        Ok(Some(Box::new(byte_ranges.map(move |range| {
            if range.end(size) > size {
                return Err(InvalidByteRangeError::new(range, size).into());
            }
            Ok(bytes.slice(range.to_range_usize(size)))
        }))))
    }

    fn size_key(&self, key: &StoreKey) -> Result<Option<u64>, StorageError> {
        Ok(self.get(key)?.map(|bytes| bytes.len() as u64))
    }

    fn supports_get_partial(&self) -> bool {
        false
    }
}

impl WritableStorageTraits for Folder {
    fn set(&self, key: &StoreKey, value: Bytes) -> Result<(), StorageError> {
        self.write(key.as_str(), &value).map_err(storage_error)
    }

    fn set_partial_many(
        &self,
        _key: &StoreKey,
        _offset_values: OffsetBytesIterator<'_>,
    ) -> Result<(), StorageError> {
        Err(StorageError::Unsupported("files are written whole".to_owned()))
    }

    fn erase(&self, _key: &StoreKey) -> Result<(), StorageError> {
        Err(StorageError::Unsupported("draws are never erased".to_owned()))
    }

    fn erase_prefix(&self, _prefix: &StorePrefix) -> Result<(), StorageError> {
        Err(StorageError::Unsupported("draws are never erased".to_owned()))
    }

    fn supports_set_partial(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_whole_and_failures_leave_no_trace() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path());
        assert_eq!(folder.read("a/b/c").unwrap(), None);
        folder.write("a/b/c", b"first, and longer").unwrap();
        folder.write("a/b/c", b"second").unwrap();
        assert_eq!(folder.read("a/b/c").unwrap().unwrap(), b"second");
        // A file stands where a folder would have to be.
        let sentence = folder.write("a/b/c/d", b"third").unwrap_err().to_string();
        assert!(sentence.starts_with("cannot write ") && sentence.contains("a/b/c/d: "));
        assert_eq!(fs::read_dir(temporary.path().join("a/b")).unwrap().count(), 1);
    }

    #[test]
    fn only_one_process_writes() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path());
        let lock = folder.lock().unwrap();
        assert!(matches!(folder.lock(), Err(StoreError::Busy(_))));
        drop(lock);
        folder.lock().unwrap();
    }
}
