//! `saltus convert`: a model's file in another format.

use crate::arguments::ConvertArguments;
use crate::export::{check_free_or_stdout, to_file};
use crate::failure::{Failure, Finish};
use saltus::zoo::read::{Format, read_as};
use saltus::zoo::write::{WRITTEN, constant_lost, write};
use std::io::Write;
use std::path::Path;

/// Reads, writes and says what was assumed.
pub fn run(arguments: &ConvertArguments) -> Result<Finish, Failure> {
    let ConvertArguments { file, out, format, map, to, force } = arguments;
    check_free_or_stdout(out, *force)?;
    let (from, model) = read_as(file, *format, map)?;
    let to = to.map_or_else(|| format_of(out), Ok)?;
    let bytes = write(&model, to)
        .map_err(|reason| Failure::Usage(format!("{}: {reason}", file.display())))?;
    if out == Path::new("-") {
        let mut stdout = crate::out::stdout();
        stdout.write_all(&bytes)?;
        stdout.flush()?;
        return Ok(Finish::Complete);
    }
    crate::out::goes_elsewhere(true);
    to_file(out, *force, |file| file.write_all(&bytes))?;
    let lost = to.read(&bytes).ok().and_then(|written| constant_lost(&model, &written));
    let mut stdout = crate::out::stdout();
    writeln!(stdout, "{}: {} ({from} to {to})", out.display(), model.words)?;
    for assumed in model.assumed {
        writeln!(stdout, "  {assumed}")?;
    }
    if let Some(constant) = lost {
        writeln!(
            stdout,
            "  {to} has no place for a constant: log π and log Z are {constant} less"
        )?;
    }
    Ok(Finish::Complete)
}

/// The format that a name ends in.
fn format_of(path: &Path) -> Result<Format, Failure> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    ending.parse().map_err(|_| {
        let known: Vec<String> = WRITTEN.iter().map(|format| format!(".{format}")).collect();
        Failure::Usage(format!(
            "{} must end in {} or .safetensors, or --to names the format",
            path.display(),
            known.join(", ")
        ))
    })
}
