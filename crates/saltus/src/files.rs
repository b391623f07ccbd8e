//! Files that are never seen half-written.

use std::fs::{FileType, OpenOptions, Permissions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// When a file that was put in place must be on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Before it is put there.
    Now,
    /// Later: whoever writes many files waits for all of them together.
    Later,
}

/// What happens to a file that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It gives way.
    Replace,
    /// It stays, and putting another there fails.
    Keep,
}

/// What stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occupant {
    Nothing,
    File,
    /// A pipe or a device of characters, which is written to and never replaced; also behind a link.
    Stream,
}

/// What stands there, without following links; fails with a sentence where nothing can be written.
fn occupant(path: &Path) -> io::Result<Occupant> {
    let found = match path.symlink_metadata() {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Occupant::Nothing),
        Err(error) => return Err(error),
    };
    // A link that leads nowhere is still a link.
    let behind = path.metadata().map_or(found, |metadata| metadata.file_type());
    let refused = |what: &str| Err(io::Error::other(format!("it is {what}: name a file")));
    if is_stream(behind) {
        return Ok(Occupant::Stream);
    }
    match found {
        found if found.is_file() => Ok(Occupant::File),
        found if found.is_symlink() => refused("a link"),
        found if found.is_dir() => refused("a folder"),
        _ => refused("neither a file nor a pipe"),
    }
}

#[cfg(unix)]
fn is_stream(kind: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.is_fifo() || kind.is_char_device()
}

#[cfg(not(unix))]
fn is_stream(_: FileType) -> bool {
    false
}

/// Fails if something is in the way of a file, or if none could be put there. Only files are ever replaced; what leads to a
/// pipe or a device of characters is written to.
///
/// ```
/// use saltus::files::{Existing, check_free};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("numbers.txt");
/// check_free(&path, Existing::Keep)?;
/// std::fs::write(&path, "1 2 3")?;
/// assert_eq!(check_free(&path, Existing::Keep).unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
/// check_free(&path, Existing::Replace)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn check_free(path: &Path, existing: Existing) -> io::Result<()> {
    match occupant(path)? {
        Occupant::Stream => Ok(()),
        Occupant::File if existing == Existing::Keep => Err(io::ErrorKind::AlreadyExists.into()),
        Occupant::File | Occupant::Nothing => Draft::new(path).map(drop),
    }
}

/// How the names of files end that are not in place yet.
pub(crate) const PARTIAL: &str = ".partial";
/// Random letters in their names.
pub(crate) const RANDOM: usize = 12;

/// A file that is being written, beside the place it is for and under a name that nobody can guess.
/// Unless it is put in place it goes away.
///
/// ```
/// use saltus::files::{Draft, Durability, Existing};
/// use std::io::Write;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("numbers.txt");
/// let mut draft = Draft::new(&path)?;
/// draft.write_all(b"1 2 3")?;
/// assert!(!path.exists());
/// draft.put(Durability::Now, Existing::Keep)?;
/// assert_eq!(std::fs::read(&path)?, b"1 2 3");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Draft {
    file: NamedTempFile,
    target: PathBuf,
    occupant: Occupant,
}

impl Draft {
    /// A file that is going to be put there.
    pub fn new(path: &Path) -> io::Result<Self> {
        let mut builder = Builder::new();
        builder.prefix(".").suffix(PARTIAL).rand_bytes(RANDOM);
        if let Some(permissions) = permissions() {
            builder.permissions(permissions);
        }
        let occupant = occupant(path)?;
        let file = match occupant {
            // Beside a pipe nothing need be writable.
            Occupant::Stream => builder.tempfile()?,
            Occupant::File | Occupant::Nothing => builder.tempfile_in(folder_of(path))?,
        };
        Ok(Self { file, target: path.to_owned(), occupant })
    }

    /// Puts it in place, or into the pipe that is there.
    pub fn put(self, durability: Durability, existing: Existing) -> io::Result<()> {
        let Self { mut file, target, occupant } = self;
        if occupant == Occupant::Stream {
            file.rewind()?;
            let mut stream = OpenOptions::new().write(true).open(&target)?;
            return io::copy(&mut file, &mut stream).map(drop);
        }
        if durability == Durability::Now {
            file.as_file().sync_all()?;
        }
        match existing {
            Existing::Replace => file.persist(&target)?,
            Existing::Keep => file.persist_noclobber(&target)?,
        };
        match durability {
            Durability::Now => sync_folder(folder_of(&target)),
            Durability::Later => Ok(()),
        }
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Draft {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
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
    put_bytes(path, bytes, durability, Existing::Replace)
}

/// The same of content that stands in several places.
#[cfg(feature = "zarr")]
pub(crate) fn atomic_write_parts(
    path: &Path,
    parts: &[&[u8]],
    durability: Durability,
) -> io::Result<()> {
    let mut draft = Draft::new(path)?;
    parts.iter().try_for_each(|part| draft.write_all(part))?;
    draft.put(durability, Existing::Replace)
}

/// The same for a file that may not be there yet, or may.
pub fn put_bytes(
    path: &Path,
    bytes: &[u8],
    durability: Durability,
    existing: Existing,
) -> io::Result<()> {
    let mut draft = Draft::new(path)?;
    draft.write_all(bytes)?;
    draft.put(durability, existing)
}

/// Fails if no file could be put there.
pub fn check_writable(path: &Path) -> io::Result<()> {
    check_free(path, Existing::Replace)
}

/// Waits until the disk knows which files a folder has.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    // Elsewhere a folder cannot be opened like a file.
    if cfg!(unix) { std::fs::File::open(folder)?.sync_all() } else { Ok(()) }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

/// Those of any other new file, which the user's mask narrows.
#[cfg(unix)]
fn permissions() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn permissions() -> Option<Permissions> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn nobody_elses_file_is_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let [precious, path] = ["precious", "x"].map(|name| folder.path().join(name));
        fs::write(&precious, "mine").unwrap();
        // Where a file of a name that can be guessed would be written.
        symlink(&precious, folder.path().join("x.partial")).unwrap();
        fs::write(folder.path().join("y.partial"), "also mine").unwrap();
        atomic_write(&path, b"1", Durability::Now).unwrap();
        atomic_write(&folder.path().join("y"), b"2", Durability::Now).unwrap();
        check_writable(&path).unwrap();
        assert_eq!(fs::read(&precious).unwrap(), b"mine");
        assert_eq!(fs::read(folder.path().join("y.partial")).unwrap(), b"also mine");
        assert!(folder.path().join("x.partial").is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5);
    }

    #[test]
    fn only_files_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let [link, file, pipe] = ["link", "file", "pipe"].map(|name| folder.path().join(name));
        // A link that leads nowhere, and one that leads to a file.
        for target in ["nowhere", "file"] {
            fs::write(&file, "mine").unwrap();
            symlink(target, &link).unwrap();
            for existing in [Existing::Keep, Existing::Replace] {
                assert!(check_free(&link, existing).is_err());
                assert!(put_bytes(&link, b"1", Durability::Now, existing).is_err());
            }
            assert!(link.is_symlink() && fs::read(&file).unwrap() == b"mine");
            fs::remove_file(&link).unwrap();
        }
        assert!(check_free(folder.path(), Existing::Replace).is_err());
        // What leads to a device is written to, and stays.
        symlink("/dev/null", &link).unwrap();
        for place in [&link, Path::new("/dev/null")] {
            check_free(place, Existing::Keep).unwrap();
            put_bytes(place, b"1", Durability::Now, Existing::Replace).unwrap();
            assert!(is_stream(fs::metadata(place).unwrap().file_type()));
        }
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let read = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        atomic_write(&pipe, b"1 2 3", Durability::Now).unwrap();
        assert_eq!(read.join().unwrap(), b"1 2 3");
        assert!(is_stream(fs::symlink_metadata(&pipe).unwrap().file_type()));
    }

    #[test]
    fn a_file_that_is_there_stays_if_it_shall() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        put_bytes(&path, b"1", Durability::Now, Existing::Keep).unwrap();
        let error = put_bytes(&path, b"2", Durability::Now, Existing::Keep).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"1");
        put_bytes(&path, b"3", Durability::Later, Existing::Replace).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"3");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_can_be_read_by_whom_others_can() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        let [plain, ours] = ["plain", "ours"].map(|name| folder.path().join(name));
        fs::write(&plain, "").unwrap();
        atomic_write(&ours, b"", Durability::Now).unwrap();
        assert_eq!(mode(&ours), mode(&plain));
    }
}
