//! Files that are never seen half-written.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// When a file that was put in place must be on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Before it is put there.
    Now,
    /// Later: whoever writes many files waits for all of them together.
    Later,
}

/// Puts a file in place at once: it is written under another name in the same folder and renamed. A
/// failure leaves what was there before and nothing else.
///
/// ```
/// use saltus::files::{Durability, atomic_write};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("numbers.txt");
/// atomic_write(&path, b"1 2 3", Durability::Now)?;
/// assert_eq!(std::fs::read(&path)?, b"1 2 3");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn atomic_write(path: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    let partial = partial(path);
    let written = put(path, &partial, bytes, durability);
    if written.is_err() {
        // It may not even have come into being. Whatever room there is shall be left to others.
        let _ = fs::remove_file(&partial);
    }
    written
}

/// Fails if no file could be put there.
pub fn check_writable(path: &Path) -> io::Result<()> {
    let partial = partial(path);
    let tried = File::create(&partial).map(drop);
    let _ = fs::remove_file(&partial);
    tried
}

/// The name under which a file is written before it is renamed.
fn partial(path: &Path) -> PathBuf {
    let mut partial: OsString = path.as_os_str().to_owned();
    partial.push(".partial");
    partial.into()
}

fn put(path: &Path, partial: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    let mut file = File::create(partial)?;
    file.write_all(bytes)?;
    if durability == Durability::Now {
        file.sync_all()?;
    }
    fs::rename(partial, path)
}
