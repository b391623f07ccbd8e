//! Folders of stores: where tests put them, and whether two hold the same.

// Each file of tests uses its own part of this one.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder that goes away, in memory where that is possible: stores insist on being written to disk,
/// and tests write many.
pub fn temporary() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir()
        && let Ok(folder) = tempfile::tempdir_in(memory)
    {
        return folder;
    }
    tempfile::tempdir().unwrap()
}

/// Every file of a store and its content, but for the one that tells of time.
pub fn content(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name != Path::new("timing.json") {
                files.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// Fails unless two stores hold the same bytes.
pub fn assert_same(one: impl AsRef<Path>, other: impl AsRef<Path>, what: &str) {
    let (one, other) = (content(one.as_ref()), content(other.as_ref()));
    let names = |files: &BTreeMap<PathBuf, _>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&one), names(&other), "{what}");
    for (name, bytes) in &one {
        assert!(bytes == &other[name], "{what}: {} differs", name.display());
    }
}
