//! `saltus export`: the numbers of a stored run for people who have neither Zarr nor Python.

use crate::arguments::{ExportArguments, existing};
use crate::failure::{Failure, Finish};
use crate::job::Config;
use crate::model::rows_and_columns;
use crate::out;
use crate::states::{StateTable, write_states};
use saltus::draws::sink::STATISTICS;
use saltus::files::{self, Draft, Durability};
use saltus::store::{StoreError, Stored};
use std::io::{BufWriter, ErrorKind, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// The name of stdout.
const STDOUT: &str = "-";
/// Numbers that are in memory at once, about.
const AT_ONCE: usize = 1 << 24;

/// Writes the files that were asked for.
pub fn run(arguments: &ExportArguments) -> Result<Finish, Failure> {
    let ExportArguments { run, csv, npz, states, force, .. } = arguments;
    if csv.is_none() && npz.is_none() && states.is_none() {
        return Err(Failure::Usage(
            "as what? --csv FILE writes a line per draw (--csv - prints them), --npz FILE arrays for numpy, \
             --states FILE whole states"
                .to_owned(),
        ));
    }
    let is_stdout = |path: &&Path| *path == Path::new(STDOUT);
    if npz.as_deref().is_some_and(|path| is_stdout(&path)) {
        return Err(Failure::Usage("--npz needs a file: only --csv can be printed".to_owned()));
    }
    if [csv, states].iter().all(|path| path.as_deref().is_some_and(|path| is_stdout(&path))) {
        return Err(Failure::Usage(
            "--csv - and --states - cannot both be printed: name a file for one of them".to_owned(),
        ));
    }
    for path in [csv, npz, states].into_iter().flatten() {
        if !is_stdout(&path.as_path()) {
            check_free(path, *force)?;
        }
    }
    let stored = Stored::open(run)?;
    let columns = Columns::of(&stored);
    let printed = csv.as_deref().filter(is_stdout);
    let prints_csv = printed.is_some();
    let printed = printed.or(states.as_deref().filter(is_stdout));
    out::goes_elsewhere(printed.is_none());
    if prints_csv {
        write_csv(out::stdout(), &columns)?;
    }
    if let Some(path) = csv.as_deref().filter(|path| !is_stdout(path)) {
        whole(path, *force, |file| write_csv(file, &columns))?;
        say_done(path, &stored, printed.is_some())?;
    }
    if let Some(path) = npz {
        whole(path, *force, |file| write_npz(file, &columns))?;
        say_done(path, &stored, printed.is_some())?;
    }
    if let Some(path) = states {
        export_states(&stored, path, arguments)?;
        if !is_stdout(&path.as_path()) {
            say_done(path, &stored, printed.is_some())?;
        }
    }
    Ok(Finish::Complete)
}

/// Writes whole states, which the run must have kept.
fn export_states(stored: &Stored, path: &Path, arguments: &ExportArguments) -> Result<(), Failure> {
    let &ExportArguments { spins, force, .. } = arguments;
    let (chains, draws) = (stored.chains(), stored.draws());
    let Some(states) = stored.states_of(0..chains, 0..draws)? else {
        return Err(Failure::Usage(
            "the run kept no states: `saltus sample … --out DIR --keep states` does".to_owned(),
        ));
    };
    let states = states.concat();
    let log_prob = stored.series("log_prob")?.concat();
    let config: Config = serde_json::from_value(stored.description().config.clone())
        .map_err(|error| Failure::Failed(format!("was not made by this command: {error}")))?;
    if spins && states.iter().any(|value| *value > 1) {
        return Err(Failure::Usage("--spins is about sites of two values".to_owned()));
    }
    let sites = states.len() / (chains * draws).max(1);
    let space = stored.space();
    let picture = rows_and_columns(space).map(|size| (size, space.values()));
    let log_prob = Some(&log_prob[..]);
    let table = StateTable { states: &states, log_prob, sites, chains, draws, spins, picture };
    write_states(&table, path, force, &config.model)
}

/// Says what a file holds, where that does not get among the numbers.
fn say_done(path: &Path, stored: &Stored, among_numbers: bool) -> Result<(), Failure> {
    let (chains, draws) = (stored.chains(), stored.draws());
    let line = format!("{}: {chains} chains of {draws} draws", path.display());
    if among_numbers {
        crate::say(&line);
        return Ok(());
    }
    Ok(writeln!(out::stdout(), "{line}")?)
}

/// Why numbers could not be exported.
enum ExportError {
    Store(StoreError),
    File(std::io::Error),
}

impl From<StoreError> for ExportError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<std::io::Error> for ExportError {
    fn from(error: std::io::Error) -> Self {
        Self::File(error)
    }
}

impl From<csv::Error> for ExportError {
    fn from(error: csv::Error) -> Self {
        Self::File(error.into())
    }
}

impl From<zip::result::ZipError> for ExportError {
    fn from(error: zip::result::ZipError) -> Self {
        Self::File(error.into())
    }
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Store(error) => error.into(),
            ExportError::File(error) => error.into(),
        }
    }
}

/// Fails before the work if something is in the way of a file, or if none could be written there.
pub fn check_free(path: &Path, force: bool) -> Result<(), Failure> {
    if path == Path::new(STDOUT) {
        return Err(Failure::Usage("- is stdout, and a file is needed here: name one".to_owned()));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        let (path, folder) = (path.display(), folder.display());
        return Err(Failure::Usage(format!("cannot write {path}: there is no folder {folder}")));
    }
    files::check_free(path, existing(force)).map_err(|error| cannot_write(path, &error))
}

/// The same of files that may also be stdout.
pub fn check_free_or_stdout(path: &Path, force: bool) -> Result<(), Failure> {
    if path == Path::new(STDOUT) { Ok(()) } else { check_free(path, force) }
}

/// Why a file could not be written, in a sentence.
pub fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    let path = path.display();
    Failure::Failed(match error.kind() {
        ErrorKind::AlreadyExists => format!("{path} exists already: --force replaces it"),
        _ => format!("cannot write {path}: {error}"),
    })
}

/// Whether one of these files is stdout, which then has room for nothing else.
pub fn prints_a_file<'a>(
    files: impl IntoIterator<Item = &'a PathBuf>,
    json: bool,
) -> Result<bool, Failure> {
    let printed = files.into_iter().filter(|path| **path == Path::new(STDOUT)).count();
    match printed + usize::from(json) {
        0 | 1 => Ok(printed == 1),
        _ => Err(Failure::Usage(
            "- is stdout, which has room for one answer: give a file, or leave out --json"
                .to_owned(),
        )),
    }
}

/// Writes text as a file, or on stdout if that is its name.
pub fn put(path: &Path, force: bool, text: &str) -> Result<(), Failure> {
    if path == Path::new(STDOUT) {
        let mut out = out::stdout();
        out.write_all(text.as_bytes())?;
        return Ok(out.flush()?);
    }
    to_file(path, force, |file| file.write_all(text.as_bytes()))
}

/// Writes a file that appears whole or not at all.
pub fn to_file(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut Draft) -> std::io::Result<()>,
) -> Result<(), Failure> {
    whole(path, force, |file| Ok(write(file)?))
}

fn whole(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut Draft) -> Result<(), ExportError>,
) -> Result<(), Failure> {
    let cannot = |error: std::io::Error| cannot_write(path, &error);
    // Whoever works before checks its folder before, too: what is gone since is nobody's usage.
    files::check_free(path, existing(force)).map_err(cannot)?;
    let mut draft = Draft::new(path).map_err(cannot)?;
    match write(&mut draft) {
        Err(ExportError::File(error)) => return Err(cannot(error)),
        written => written?,
    }
    draft.put(Durability::Now, existing(force)).map_err(cannot)
}

/// What is exported, read as it is written.
struct Columns<'a> {
    stored: &'a Stored,
    names: Vec<&'a str>,
}

impl<'a> Columns<'a> {
    fn of(stored: &'a Stored) -> Self {
        let names = stored.names().iter().map(String::as_str).chain(STATISTICS).collect();
        Self { stored, names }
    }

    /// Chains and draws, part by part in their order, so that so many columns of a part fit in memory.
    fn parts(&self, columns: usize) -> Vec<(Range<usize>, Range<usize>)> {
        parts(self.stored.chains(), self.stored.draws(), AT_ONCE / columns.max(1))
    }
}

/// Parts of at most so many numbers, chain by chain.
fn parts(chains: usize, draws: usize, most: usize) -> Vec<(Range<usize>, Range<usize>)> {
    let together = (most / draws.max(1)).max(1);
    let at_once = if draws > most { most } else { draws.max(1) };
    let groups = (0..chains).step_by(together);
    let pieces = || (0..draws).step_by(at_once).map(|first| first..draws.min(first + at_once));
    groups
        .flat_map(|first| pieces().map(move |draws| (first..chains.min(first + together), draws)))
        .collect()
}

/// A line per chain and draw.
fn write_csv(file: impl Write, columns: &Columns<'_>) -> Result<(), ExportError> {
    let mut writer = csv::Writer::from_writer(BufWriter::new(file));
    writer.write_record(["chain", "draw"].into_iter().chain(columns.names.iter().copied()))?;
    for (chains, draws) in columns.parts(columns.names.len()) {
        let read = |name: &&str| columns.stored.numbers(name, chains.clone(), draws.clone());
        let series = columns.names.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        for (place, chain) in chains.clone().enumerate() {
            for (at, draw) in draws.clone().enumerate() {
                writer.write_field(chain.to_string())?;
                writer.write_field(draw.to_string())?;
                for column in &series {
                    writer.write_field(column[place][at].to_string())?;
                }
                writer.write_record(None::<&[u8]>)?;
            }
        }
    }
    writer.flush()?;
    Ok(())
}

/// A zip file of one array per name, as `numpy.savez` writes it.
fn write_npz(file: impl Write + Seek, columns: &Columns<'_>) -> Result<(), ExportError> {
    let mut archive = ZipWriter::new(BufWriter::new(file));
    let (chains, draws) = (columns.stored.chains(), columns.stored.draws());
    for name in &columns.names {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            // The same draws give the same file.
            .last_modified_time(DateTime::default())
            .large_file(8 * chains * draws > u32::MAX as usize / 2);
        archive.start_file(format!("{name}.npy"), options)?;
        archive.write_all(&npy_header("<f8", &format!("{chains}, {draws}")))?;
        for (chains, draws) in columns.parts(1) {
            for number in columns.stored.numbers(name, chains, draws)?.iter().flatten() {
                archive.write_all(&number.to_le_bytes())?;
            }
        }
    }
    archive.finish()?.flush()?;
    Ok(())
}

/// The header of an array of a type and shape, version 1.0 of the NPY format.
pub fn npy_header(kind: &str, shape: &str) -> Vec<u8> {
    let text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Magic, version and length take ten bytes; the whole is a multiple of 64 and ends a line.
    let padded = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((padded as u16).to_le_bytes());
    header.extend(format!("{text:<width$}\n", width = padded - 1).into_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_everything_once_and_in_order() {
        for (chains, draws, most) in [(3, 10, 100), (3, 10, 20), (3, 10, 10), (2, 10, 4), (4, 0, 5)]
        {
            let parts = parts(chains, draws, most);
            let all: Vec<(usize, usize)> = parts
                .iter()
                .flat_map(|(chains, draws)| {
                    let draws = draws.clone();
                    chains
                        .clone()
                        .flat_map(move |chain| draws.clone().map(move |draw| (chain, draw)))
                })
                .collect();
            let whole = (0..chains).flat_map(|chain| (0..draws).map(move |draw| (chain, draw)));
            assert_eq!(all, whole.collect::<Vec<_>>());
            assert!(parts.iter().all(|(chains, draws)| chains.len() * draws.len() <= most));
        }
    }
}
