//! `saltus export`: the numbers of a stored run for people who have neither Zarr nor Python.

use crate::arguments::ExportArguments;
use crate::failure::{Failure, Finish};
use saltus::draws::sink::STATISTICS;
use saltus::store::Stored;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Writes the files that were asked for.
pub fn run(arguments: &ExportArguments) -> Result<Finish, Failure> {
    let stored = Stored::open(&arguments.run)?;
    let names = stored.names().iter().map(String::as_str).chain(STATISTICS);
    let mut columns = Vec::new();
    for name in names {
        columns.push((name, stored.series(name)?));
    }
    let force = arguments.force;
    let mut out = std::io::stdout().lock();
    let mut done = |path: &Path| {
        let (chains, draws) = (stored.chains(), stored.draws());
        writeln!(out, "{}: {chains} chains of {draws} draws", path.display())
    };
    if let Some(path) = &arguments.csv {
        to_file(path, force, |file| csv(file, &columns).map_err(std::io::Error::other))?;
        done(path)?;
    }
    if let Some(path) = &arguments.npz {
        to_file(path, force, |file| npz(file, &columns).map_err(std::io::Error::other))?;
        done(path)?;
    }
    Ok(Finish::Complete)
}

/// A name and its numbers by chain and draw.
type Column<'a> = (&'a str, Vec<Vec<f64>>);

fn to_file(
    path: &Path,
    replace: bool,
    write: impl FnOnce(File) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let opened = if replace { File::create(path) } else { File::create_new(path) };
    let written = opened.and_then(write);
    written.map_err(|error| {
        let hint = match error.kind() {
            std::io::ErrorKind::AlreadyExists => "; --force replaces it",
            _ => "",
        };
        Failure::Failed(format!("cannot write {}: {error}{hint}", path.display()))
    })
}

/// A line per chain and draw.
fn csv(file: File, columns: &[Column<'_>]) -> Result<(), csv::Error> {
    let mut writer = csv::Writer::from_writer(BufWriter::new(file));
    let names = columns.iter().map(|(name, _)| *name);
    writer.write_record(["chain", "draw"].into_iter().chain(names))?;
    let Some((_, first)) = columns.first() else {
        return Ok(());
    };
    for (chain, draws) in first.iter().enumerate() {
        for draw in 0..draws.len() {
            writer.write_field(chain.to_string())?;
            writer.write_field(draw.to_string())?;
            for (_, series) in columns {
                writer.write_field(series[chain][draw].to_string())?;
            }
            writer.write_record(None::<&[u8]>)?;
        }
    }
    writer.flush()?;
    Ok(())
}

/// A zip file of one array per name, as `numpy.savez` writes it.
fn npz(file: File, columns: &[Column<'_>]) -> zip::result::ZipResult<()> {
    let mut archive = ZipWriter::new(BufWriter::new(file));
    for (name, series) in columns {
        let (chains, draws) = (series.len(), series.first().map_or(0, Vec::len));
        let header = npy_header(chains, draws);
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            // The same draws give the same file.
            .last_modified_time(DateTime::default())
            .large_file(8 * chains * draws > u32::MAX as usize / 2);
        archive.start_file(format!("{name}.npy"), options)?;
        archive.write_all(&header)?;
        for chain in series {
            for number in chain {
                archive.write_all(&number.to_le_bytes())?;
            }
        }
    }
    archive.finish()?.flush()?;
    Ok(())
}

/// The header of an array of doubles, version 1.0 of the NPY format.
fn npy_header(chains: usize, draws: usize) -> Vec<u8> {
    let text =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({chains}, {draws}), }}");
    // Magic, version and length take ten bytes; the whole is a multiple of 64 and ends a line.
    let padded = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((padded as u16).to_le_bytes());
    header.extend(format!("{text:<width$}\n", width = padded - 1).into_bytes());
    header
}
