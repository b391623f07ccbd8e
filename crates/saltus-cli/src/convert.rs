//! `saltus convert`: a model's file in another format.

use crate::arguments::ConvertArguments;
use crate::export::to_file;
use crate::failure::{Failure, Finish};
use saltus::zoo::read::{Format, read};
use saltus::zoo::write::write;
use std::io::Write;
use std::path::Path;

/// Reads, writes and says what was assumed.
pub fn run(arguments: &ConvertArguments) -> Result<Finish, Failure> {
    let ConvertArguments { file, out, format, to, force } = arguments;
    let (from, model) = read(file, *format)?;
    let to = to.map_or_else(|| format_of(out), Ok)?;
    let text = write(&model, to)
        .map_err(|reason| Failure::Usage(format!("{}: {reason}", file.display())))?;
    if out == Path::new("-") {
        let mut stdout = crate::out::stdout();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()?;
        return Ok(Finish::Complete);
    }
    to_file(out, *force, |file| file.write_all(text.as_bytes()))?;
    let mut stdout = crate::out::stdout();
    writeln!(stdout, "{}: {} ({from} to {to})", out.display(), model.words)?;
    for assumed in model.assumed {
        writeln!(stdout, "  {assumed}")?;
    }
    Ok(Finish::Complete)
}

/// The format that a name ends in.
fn format_of(path: &Path) -> Result<Format, Failure> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    ending.parse().map_err(|_| {
        Failure::Usage(format!(
            "{} must end in .uai or .coo, or --to names the format",
            path.display()
        ))
    })
}
