//! Whole states out of a run: NPZ, CSV, FASTA, PNG, text, or stdout.

use crate::arguments::{ModelArguments, existing};
use crate::export::to_file;
use crate::failure::Failure;
use crate::parse::Size;
use crate::plot::mosaic::Mosaic;
use std::io::{BufWriter, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// The states of some chains, chain after chain and draw after draw.
pub struct StateTable<'a> {
    pub states: &'a [u8],
    /// log π of each, where it is known.
    pub log_prob: Option<&'a [f64]>,
    pub sites: usize,
    pub chains: usize,
    pub draws: usize,
    /// Two values as −1 and +1.
    pub spins: bool,
    /// Rows, columns and values, if states are pictures.
    pub picture: Option<(Size, usize)>,
}

/// Pictures in one file at most: more are shown by every second, third, … state.
const MOST_PICTURES: usize = 2500;

impl StateTable<'_> {
    /// A value as it is written.
    fn number(&self, value: u8) -> i16 {
        if self.spins { 2 * i16::from(value) - 1 } else { i16::from(value) }
    }

    fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.states.chunks(self.sites.max(1))
    }
}

/// In what states are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Npz,
    Csv,
    Fasta,
    Png,
    Text,
}

/// Writes states in the form that the file's name ends in; `-` is text on stdout.
pub fn write_states(
    table: &StateTable<'_>,
    path: &Path,
    replace: bool,
    model: &ModelArguments,
) -> Result<(), Failure> {
    let form = form_of(path)?;
    if form == Form::Png {
        return png(table, path, replace);
    }
    let letters = if form == Form::Fasta { letters_of(model)? } else { Vec::new() };
    if path == Path::new("-") {
        let mut out = crate::out::stdout();
        return Ok(text(&mut out, table)?);
    }
    to_file(path, replace, |file| {
        let mut out = BufWriter::new(file);
        match form {
            Form::Npz => npz(&mut out, table).map_err(std::io::Error::other)?,
            Form::Csv => csv(&mut out, table)?,
            Form::Fasta => fasta(&mut out, table, &letters)?,
            Form::Text | Form::Png => text(&mut out, table)?,
        }
        out.flush()
    })
}

fn form_of(path: &Path) -> Result<Form, Failure> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    match ending.as_str() {
        "npz" => Ok(Form::Npz),
        "csv" => Ok(Form::Csv),
        "fasta" | "fa" => Ok(Form::Fasta),
        "png" => Ok(Form::Png),
        "txt" => Ok(Form::Text),
        "" if path == Path::new("-") => Ok(Form::Text),
        _ => Err(Failure::Usage(format!(
            "{} must end in .npz, .csv, .fasta, .png or .txt",
            path.display()
        ))),
    }
}

/// States side by side, with the first chain first.
fn png(table: &StateTable<'_>, path: &Path, replace: bool) -> Result<(), Failure> {
    let Some((Size { rows, columns }, values)) = table.picture else {
        return Err(Failure::Usage(
            "PNG needs states with rows and columns, which this model's have not: use .csv or .npz"
                .to_owned(),
        ));
    };
    let all = table.rows().count();
    let every = all.div_ceil(MOST_PICTURES).max(1);
    let shown: Vec<u8> = table.rows().step_by(every).flatten().copied().collect();
    if every > 1 {
        crate::say(&format!(
            "saltus: {}: one of {every} states, so that it can be looked at",
            path.display()
        ));
    }
    Mosaic { rows, columns }.of_states(&shown, values).write(path, existing(replace))
}

/// The letters of the values of every site, as a model's file names them.
fn letters_of(model: &ModelArguments) -> Result<Vec<Vec<String>>, Failure> {
    let names = match model {
        ModelArguments::Zoo(spec) => spec.names()?.sites,
        _ => Vec::new(),
    };
    let letters: Vec<Vec<String>> = names.into_iter().map(|name| name.values).collect();
    let is_letter = |letter: &String| letter.chars().count() == 1;
    let are_letters = |site: &Vec<String>| !site.is_empty() && site.iter().all(is_letter);
    if letters.is_empty() || !letters.iter().all(are_letters) {
        return Err(Failure::Usage(
            "FASTA needs values that are letters, which this model's are not: use .csv or .npz"
                .to_owned(),
        ));
    }
    Ok(letters)
}

/// One line of values per state.
fn text(out: &mut impl Write, table: &StateTable<'_>) -> std::io::Result<()> {
    for state in table.rows() {
        let values: Vec<String> =
            state.iter().map(|value| table.number(*value).to_string()).collect();
        writeln!(out, "{}", values.join(" "))?;
    }
    out.flush()
}

/// A line per chain and draw, a column per site.
fn csv(out: &mut impl Write, table: &StateTable<'_>) -> std::io::Result<()> {
    write!(out, "chain,draw")?;
    for site in 0..table.sites {
        write!(out, ",site_{site}")?;
    }
    writeln!(out)?;
    for (number, state) in table.rows().enumerate() {
        let draws = table.draws.max(1);
        write!(out, "{},{}", number / draws, number % draws)?;
        for value in state {
            write!(out, ",{}", table.number(*value))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// A sequence per state, with its energy as adabmDCA has it.
fn fasta(
    out: &mut impl Write,
    table: &StateTable<'_>,
    letters: &[Vec<String>],
) -> std::io::Result<()> {
    for (number, state) in table.rows().enumerate() {
        write!(out, ">sequence {}", number + 1)?;
        match table.log_prob.and_then(|log_prob| log_prob.get(number)) {
            Some(log_prob) => writeln!(out, " | DCAenergy: {:.3}", -log_prob)?,
            None => writeln!(out)?,
        }
        let letter = |(value, site): (&u8, &Vec<String>)| {
            site.get(usize::from(*value)).cloned().unwrap_or_else(|| "?".to_owned())
        };
        writeln!(out, "{}", state.iter().zip(letters).map(letter).collect::<String>())?;
    }
    Ok(())
}

/// One array `state` of bytes over chain, draw and site, as `numpy.savez` writes it.
fn npz(
    out: &mut (impl Write + std::io::Seek),
    table: &StateTable<'_>,
) -> zip::result::ZipResult<()> {
    let mut archive = ZipWriter::new(out);
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .large_file(table.states.len() > u32::MAX as usize / 2);
    archive.start_file("state.npy", options)?;
    let shape = format!("{}, {}, {}", table.chains, table.draws, table.sites);
    let kind = if table.spins { "|i1" } else { "|u1" };
    archive.write_all(&crate::export::npy_header(kind, &shape))?;
    for state in table.rows() {
        let bytes: Vec<u8> = state.iter().map(|value| table.number(*value) as u8).collect();
        archive.write_all(&bytes)?;
    }
    archive.finish()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_in_every_form() {
        let states = [0, 1, 2, 1, 1, 0, 2, 2, 2, 0, 0, 1];
        let table = StateTable {
            states: &states,
            log_prob: Some(&[1.5, -2.0, 0.25, 0.0]),
            sites: 3,
            chains: 2,
            draws: 2,
            spins: false,
            picture: None,
        };
        let written = |write: &dyn Fn(&mut Vec<u8>) -> std::io::Result<()>| {
            let mut out = Vec::new();
            write(&mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(&|out| text(out, &table)), "0 1 2\n1 1 0\n2 2 2\n0 0 1\n");
        let spins = StateTable {
            states: &[0, 1],
            log_prob: None,
            sites: 2,
            chains: 1,
            draws: 1,
            spins: true,
            picture: None,
        };
        assert_eq!(written(&|out| text(out, &spins)), "-1 1\n");
        let lines = written(&|out| csv(out, &table));
        assert!(lines.starts_with("chain,draw,site_0,site_1,site_2\n0,0,0,1,2\n0,1,1,1,0\n1,0,"));
        let letters = ["-", "A", "C"].map(str::to_owned);
        let letters = vec![letters.to_vec(); table.sites];
        let sequences = written(&|out| fasta(out, &table, &letters));
        let expected =
            ">sequence 1 | DCAenergy: -1.500\n-AC\n>sequence 2 | DCAenergy: 2.000\nAA-\n";
        assert!(sequences.starts_with(expected), "{sequences}");
        assert!(form_of(Path::new("a.gif")).is_err() && form_of(Path::new("-")).is_ok());
    }
}
