//! The study on disk: one small file per cell that is done, so that an interrupted study goes on.

use super::cell::{Cell, Protocol};
use super::measure::Row;
use crate::study::SAMPLERS;
use saltus::Balancing;
use saltus::files::{Durability, atomic_write};
use saltus_cli::failure::Failure;
use std::path::{Path, PathBuf};

/// The folder of a study.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Opens it, or makes it.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        for folder in [path.to_path_buf(), path.join("cells"), path.join("machines")] {
            std::fs::create_dir_all(&folder).map_err(|error| {
                Failure::Failed(format!("cannot make the folder {}: {error}", folder.display()))
            })?;
        }
        Ok(Self { path: path.to_path_buf() })
    }

    /// A file or folder in it.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The file of a cell; studies of different seeds do not get in each other's way.
    fn cell(&self, cell: &Cell, study_seed: u64) -> PathBuf {
        let seed = if study_seed == 0 { String::new() } else { format!("-seed-{study_seed}") };
        self.path.join("cells").join(format!("{}{seed}.json", cell.name()))
    }

    /// The result of a cell, if it is there, of the same study and target, and worth as many steps.
    pub fn find(
        &self,
        cell: &Cell,
        protocol: Protocol,
        machine: Option<&str>,
    ) -> Result<Option<Row>, Failure> {
        let path = self.cell(cell, protocol.seed);
        if !path.exists() {
            return Ok(None);
        }
        let row = read(&path)?;
        let same = row.study_seed == protocol.seed && row.machine.as_deref() == machine;
        let enough = row.steps >= protocol.steps_of(cell) && row.chains >= protocol.chains && same;
        Ok(enough.then_some(row))
    }

    /// Everything that is there of the study with that seed, in the order of the study.
    pub fn rows(&self, study_seed: u64) -> Result<Vec<Row>, Failure> {
        let folder = self.path.join("cells");
        let failed = |error: std::io::Error| {
            Failure::Failed(format!("cannot read the folder {}: {error}", folder.display()))
        };
        let mut rows = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.extension().is_some_and(|ending| ending == "json") {
                rows.push(read(&path)?);
            }
        }
        rows.retain(|row| row.study_seed == study_seed);
        let place = |row: &Row| {
            let sampler = SAMPLERS.iter().position(|sampler| *sampler == row.sampler);
            let weight = Balancing::ALL.iter().position(|weight| Some(*weight) == row.weight);
            let fixed = row.fixed_scale.map(f64::to_bits);
            // Gibbs sweeps are not among the study's samplers and come after them.
            let sampler = sampler.unwrap_or(SAMPLERS.len());
            (row.target(), row.model_seed, fixed.is_some(), sampler, weight, fixed)
        };
        rows.sort_by_key(place);
        Ok(rows)
    }

    /// Keeps the result of a cell: whole, or not at all.
    pub fn keep(&self, cell: &Cell, row: &Row) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(row)?;
        self.write(&self.cell(cell, row.study_seed), format!("{text}\n").as_bytes())
    }

    /// Writes a file beside its place and moves it there.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        atomic_write(path, bytes, Durability::Now)
            .map_err(|error| Failure::Failed(format!("cannot write {}: {error}", path.display())))
    }
}

fn read(path: &Path) -> Result<Row, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::Failed(format!("cannot read {}: {error}", path.display())))?;
    serde_json::from_str(&text).map_err(|error| {
        Failure::Failed(format!(
            "{} is not the result of a cell ({error}): delete it to run the cell again",
            path.display()
        ))
    })
}
