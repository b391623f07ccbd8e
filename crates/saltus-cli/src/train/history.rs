//! Histories of trainings: files of lines with commas, whose columns are the fields of a row.

use crate::failure::Failure;
use saltus::files::{Durability, atomic_write};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Display;
use std::path::Path;

/// All rows of a file; a last line that was cut off by a kill is left out.
pub fn read<R: DeserializeOwned>(path: &Path) -> Result<Vec<R>, Failure> {
    let failed =
        |error: csv::Error| Failure::Failed(format!("{}: cannot be read: {error}", path.display()));
    let mut rows: Vec<_> =
        csv::Reader::from_path(path).map_err(failed)?.into_deserialize().collect();
    rows.pop_if(|last| last.is_err());
    rows.into_iter().collect::<Result<_, _>>().map_err(failed)
}

/// Replaces a file by these rows.
pub fn write<R: Serialize>(path: &Path, rows: &[R]) -> Result<(), Failure> {
    let lines = lines(rows, true).map_err(|error| not_written(path, error))?;
    atomic_write(path, &lines, Durability::Now).map_err(|error| not_written(path, error))
}

/// Adds rows to a file, which gets a heading with its first.
#[cfg(any(test, feature = "deep"))]
pub fn append<R: Serialize>(path: &Path, rows: &[R]) -> Result<(), Failure> {
    use std::io::Write;
    let failed = |error: &dyn Display| not_written(path, error);
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .map_err(|error| failed(&error))?;
    let is_new = file.metadata().map_err(|error| failed(&error))?.len() == 0;
    let lines = lines(rows, is_new).map_err(|error| failed(&error))?;
    file.write_all(&lines).map_err(|error| failed(&error))
}

fn lines<R: Serialize>(rows: &[R], heading: bool) -> csv::Result<Vec<u8>> {
    let mut lines = csv::WriterBuilder::new().has_headers(heading).from_writer(Vec::new());
    for row in rows {
        lines.serialize(row)?;
    }
    lines.into_inner().map_err(|error| error.into_error().into())
}

fn not_written(path: &Path, error: impl Display) -> Failure {
    Failure::Failed(format!("{}: cannot be written: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_last_line_may_be_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.csv");
        append(&path, &[Row { step: 1, gap: 0.5 }]).unwrap();
        append(&path, &[Row { step: 2, gap: 0.25 }]).unwrap();
        let rows = [Row { step: 1, gap: 0.5 }, Row { step: 2, gap: 0.25 }];
        assert_eq!(read::<Row>(&path).unwrap(), rows);
        let whole = std::fs::read_to_string(&path).unwrap();
        assert_eq!(whole, "step,gap\n1,0.5\n2,0.25\n");
        std::fs::write(&path, format!("{whole}3,")).unwrap();
        assert_eq!(read::<Row>(&path).unwrap(), rows);
        std::fs::write(&path, whole.replace("1,0.5", "1,")).unwrap();
        assert!(read::<Row>(&path).is_err());
    }

    #[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize)]
    struct Row {
        step: usize,
        gap: f64,
    }
}
