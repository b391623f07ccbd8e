//! A folder of files that are never seen half-written: each is written under another name and renamed.

use super::StoreError;
use crate::files::{Durability, PARTIAL, RANDOM, atomic_write_parts, sync_folder};
use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use zarrs::storage::byte_range::{ByteRangeIterator, InvalidByteRangeError};
use zarrs::storage::{
    Bytes, MaybeBytes, MaybeBytesIterator, ReadableStorageTraits, StorageError, StoreKey,
};

/// The folder of a store.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    /// Whether files of arrays are sealed: behind what Zarr reads stands a checksum of it, of the run and of the
    /// file's place, so that a file in the place of another is noticed. Stores of 0.1 have none.
    sealed: bool,
    /// Of which run its files are, which is part of their seals; stores of format 4 have no such thing.
    run: Option<String>,
    /// Files that a power failure could still take away, since when.
    unsynced: Mutex<(Vec<PathBuf>, Instant)>,
    /// The file that was locked, once one was.
    locked: Mutex<Option<Identity>>,
}

/// What tells a file from another that later has its name.
type Identity = (u64, u64);

/// Less than this is not worth waiting for the disk.
const WORTH_KEEPING: Duration = Duration::from_secs(1);

/// Held while a process writes to a store; the system lets go of it however the process ends.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Folder {
    pub(crate) fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            sealed: true,
            run: None,
            unsynced: Mutex::new((Vec::new(), Instant::now())),
            locked: Mutex::new(None),
        }
    }

    /// The same folder with files as 0.1 wrote them.
    pub(super) fn unsealed(self) -> Self {
        Self { sealed: false, ..self }
    }

    /// The same folder with files of a run.
    pub(super) fn of_run(self, run: Option<String>) -> Self {
        Self { run, ..self }
    }

    /// Of which run its files are.
    pub(super) fn run(&self) -> Option<&str> {
        self.run.as_deref()
    }

    pub(super) fn is_sealed(&self) -> bool {
        self.sealed
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

    /// Puts a file in place at once. A folder that was moved or deleted since it was locked is not made
    /// again: it would have lost its beginning.
    pub(crate) fn write(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.write_parts(key, &[bytes])
    }

    fn write_parts(&self, key: &str, parts: &[&[u8]]) -> Result<(), StoreError> {
        self.check_place()?;
        let path = self.path(key);
        let write = || atomic_write_parts(&path, parts, Durability::Later);
        let written = match write() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.make_folders(key).and_then(|()| write())
            }
            written => written,
        };
        if let Err(error) = written {
            // It may have gone away since it was looked for.
            self.check_place()?;
            return Err(failed("write", &path, &error));
        }
        self.unsynced().0.push(path);
        Ok(())
    }

    /// Makes the folders that a file stands in, but never the store's own.
    fn make_folders(&self, key: &str) -> std::io::Result<()> {
        let mut path = self.root.clone();
        for name in Path::new(key).parent().into_iter().flatten() {
            path.push(name);
            match fs::create_dir(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => (),
                made => made?,
            }
        }
        Ok(())
    }

    /// Puts a file of an array, which stands in two places, where it belongs, with its seal.
    pub(super) fn write_sealed(
        &self,
        key: &str,
        [first, rest]: [&[u8]; 2],
    ) -> Result<(), StoreError> {
        self.write_parts(key, &[first, rest, &self.seal(key, &[first, rest])])
    }

    /// A file of an array without its seal, or nothing if there is no such file.
    pub(super) fn read_sealed(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(mut bytes) = self.read(key)? else {
            return Ok(None);
        };
        if self.sealed {
            let length = bytes.len().saturating_sub(SEAL);
            if bytes.len() < SEAL || bytes[length..] != self.seal(key, &[&bytes[..length]]) {
                let path = self.path(key).display().to_string();
                let reason = "its checksum does not match its run, place and content".to_owned();
                return Err(StoreError::Damaged { path, reason });
            }
            bytes.truncate(length);
        }
        Ok(Some(bytes))
    }

    /// The checksum of a file's run, place and content.
    fn seal(&self, key: &str, parts: &[&[u8]]) -> [u8; SEAL] {
        let run = self.run.as_deref().unwrap_or_default();
        let place = crc32c::crc32c_append(crc32c::crc32c(run.as_bytes()), key.as_bytes());
        parts.iter().fold(place, |sum, part| crc32c::crc32c_append(sum, part)).to_le_bytes()
    }

    /// The length of a file, 0 if there is none.
    pub(super) fn length(&self, key: &str) -> u64 {
        fs::metadata(self.path(key)).map_or(0, |metadata| metadata.len())
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
        let mut folders = BTreeSet::new();
        for path in &files {
            let synced = File::open(path).and_then(|file| file.sync_data());
            synced.map_err(|error| failed("write", path, &error))?;
            folders.extend(path.parent());
        }
        for folder in folders {
            sync_folder(folder).map_err(|error| failed("write", folder, &error))?;
        }
        unsynced.1 = Instant::now();
        Ok(())
    }

    /// Keeps other processes from writing here.
    pub(super) fn lock(&self) -> Result<Lock, StoreError> {
        let path = self.path(LOCK);
        let cannot = |error| failed("write", &path, &error);
        if path.is_symlink() {
            return Err(StoreError::Foreign(path.display().to_string()));
        }
        // Not emptied: whatever it holds is not ours.
        let opened = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let file = opened.map_err(cannot)?;
        // On a file system without locks nobody is kept away.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(StoreError::Busy(self.name()));
        }
        *self.locked() = file.metadata().ok().map(|metadata| identity(&metadata));
        Ok(Lock { _file: file })
    }

    fn locked(&self) -> MutexGuard<'_, Option<Identity>> {
        self.locked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails if the folder is not the one that was locked any more.
    fn check_place(&self) -> Result<(), StoreError> {
        let Some(locked) = *self.locked() else {
            return Ok(());
        };
        let now = fs::symlink_metadata(self.path(LOCK)).ok().map(|now| identity(&now));
        if now == Some(locked) { Ok(()) } else { Err(StoreError::Gone(self.name())) }
    }

    /// Removes a file if it is there.
    pub(super) fn remove(&self, key: &str) -> Result<(), StoreError> {
        let path = self.path(key);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(failed("remove", &path, &error))
            }
            _ => Ok(()),
        }
    }

    /// Removes what a process that was killed did not come to put in place.
    pub(super) fn remove_partial(&self) -> Result<(), StoreError> {
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder).map_err(|error| failed("read", &folder, &error))?;
            for entry in entries.flatten() {
                let path = entry.path();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(path);
                } else if is_partial(&path) {
                    fs::remove_file(&path).map_err(|error| failed("remove", &path, &error))?;
                }
            }
        }
        Ok(())
    }
}

/// Whether a file has the name of one that is not in place yet.
fn is_partial(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let random = name.strip_prefix('.').and_then(|name| name.strip_suffix(PARTIAL));
    random.is_some_and(|random| {
        random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Whether nothing is in a folder, or only what is left if a process is killed before it wrote there.
pub(super) fn is_empty(path: &Path) -> std::io::Result<bool> {
    for entry in fs::read_dir(path)? {
        let path = entry?.path();
        if path.file_name() != Some(LOCK.as_ref()) && !is_partial(&path) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Elsewhere a lock that is there is the one that was.
#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {
    (0, 0)
}

/// Bytes of a seal.
const SEAL: usize = 4;

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
        Ok(self.read_sealed(key.as_str()).map_err(storage_error)?.map(Bytes::from))
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
    fn a_file_in_the_place_of_another_is_noticed() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path());
        for (key, content) in [("a/c/0", b"one"), ("a/c/1", b"two")] {
            folder.write_sealed(key, [content, &[]]).unwrap();
            assert_eq!(folder.read_sealed(key).unwrap().unwrap(), content);
        }
        fs::copy(folder.path("a/c/0"), folder.path("a/c/1")).unwrap();
        let error = folder.read_sealed("a/c/1").unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        folder.write("a/c/1", b"").unwrap();
        assert!(folder.read_sealed("a/c/1").is_err());
    }

    #[test]
    fn a_file_of_another_run_is_noticed() {
        let temporary = tempfile::tempdir().unwrap();
        let of = |run: &str| Folder::new(temporary.path()).of_run(Some(run.to_owned()));
        of("one").write_sealed("a/c/0", [b"1", &[]]).unwrap();
        assert_eq!(of("one").read_sealed("a/c/0").unwrap().unwrap(), b"1");
        assert!(of("two").read_sealed("a/c/0").is_err());
        assert!(Folder::new(temporary.path()).read_sealed("a/c/0").is_err());
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

    #[test]
    #[cfg(unix)]
    fn a_folder_that_went_away_is_not_made_again() {
        let temporary = tempfile::tempdir().unwrap();
        let [here, there] = ["here", "there"].map(|name| temporary.path().join(name));
        fs::create_dir(&here).unwrap();
        let folder = Folder::new(&here);
        let _lock = folder.lock().unwrap();
        folder.write("a/b", b"1").unwrap();
        fs::rename(&here, &there).unwrap();
        assert!(matches!(folder.write("a/c", b"2"), Err(StoreError::Gone(_))));
        // Not even by a process that had just seen it there.
        assert!(folder.make_folders("a/c").is_err());
        assert!(!here.exists());
        // Nor is one written to that came in its place.
        fs::create_dir(&here).unwrap();
        let _other = Folder::new(&here).lock().unwrap();
        assert!(matches!(folder.write("a/c", b"2"), Err(StoreError::Gone(_))));
        assert_eq!(fs::read_dir(&here).unwrap().count(), 1);
        fs::remove_dir_all(&here).unwrap();
        fs::rename(&there, &here).unwrap();
        folder.write("a/c", b"2").unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn a_lock_is_not_followed_elsewhere() {
        let temporary = tempfile::tempdir().unwrap();
        let elsewhere = temporary.path().join("elsewhere");
        std::os::unix::fs::symlink(&elsewhere, temporary.path().join(LOCK)).unwrap();
        assert!(Folder::new(temporary.path()).lock().is_err());
        assert!(!elsewhere.exists());
    }
}
