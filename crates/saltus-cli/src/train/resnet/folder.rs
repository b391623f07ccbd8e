//! The folder of a training: its files, and what is in it when it is stopped, resumed or diverges.

use crate::failure::Failure;
use crate::train::history;
use saltus_learn::{Checkpoint, Report, Validation};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// An iteration in the history; its fields are the columns of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Iteration {
    pub iteration: usize,
    pub data_log_prob: f64,
    pub chain_log_prob: f64,
    pub energy_gap: f64,
    pub acceptance: f64,
    pub sites_changed_per_step: f64,
    pub scale: Option<f64>,
    /// Not in histories of before it could change.
    #[serde(default)]
    pub steps: usize,
    pub learning_rate: f64,
    pub seconds: f64,
    /// Not in histories of before it was counted.
    #[serde(default)]
    pub processor_seconds: f64,
}

impl From<&Report> for Iteration {
    fn from(report: &Report) -> Self {
        Self {
            iteration: report.iteration,
            data_log_prob: report.data_log_prob,
            chain_log_prob: report.chain_log_prob,
            energy_gap: report.energy_gap(),
            acceptance: report.acceptance,
            sites_changed_per_step: report.changed,
            scale: report.scale,
            steps: report.steps,
            learning_rate: report.learning_rate,
            seconds: report.spent.seconds,
            processor_seconds: report.spent.processor_seconds,
        }
    }
}

/// Where a training is kept.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_path_buf() }
    }

    /// The average of the parameters, to sample from.
    pub fn model(&self) -> PathBuf {
        self.path.join("model.safetensors")
    }

    /// What the training goes on from.
    pub fn checkpoint(&self) -> PathBuf {
        self.path.join("checkpoint.safetensors")
    }

    /// One line per iteration.
    pub fn history_file(&self) -> PathBuf {
        self.path.join("history.csv")
    }

    /// Its course as a picture.
    pub fn curves(&self) -> PathBuf {
        self.path.join("curves.svg")
    }

    /// The average that did best on the validation images.
    pub fn best(&self) -> PathBuf {
        self.path.join("best.safetensors")
    }

    /// One line per look at the validation images.
    pub fn validation_file(&self) -> PathBuf {
        self.path.join("validation.csv")
    }

    /// Nats against minutes as a picture.
    pub fn learning(&self) -> PathBuf {
        self.path.join("learning.svg")
    }

    /// All looks at the validation images; none if there were none.
    pub fn validations(&self) -> Result<Vec<Validation>, Failure> {
        let file = self.validation_file();
        if file.exists() { history::read(&file) } else { Ok(Vec::new()) }
    }

    /// Keeps these looks.
    pub fn write_validations(&self, looks: &[Validation]) -> Result<(), Failure> {
        history::write(&self.validation_file(), looks)
    }

    /// A picture of the chains at an iteration.
    pub fn samples(&self, iteration: usize) -> PathBuf {
        self.path.join(format!("samples-{iteration:06}.png"))
    }

    /// Fails before the work, not after it, if a training is there already.
    pub fn check_empty(&self, force: bool) -> Result<(), Failure> {
        if self.path.exists() && !self.path.is_dir() {
            return Err(self.failed("is no folder"));
        }
        if force || self.files().is_empty() {
            return Ok(());
        }
        Err(self.failed(if self.checkpoint().exists() {
            "has a training already: --resume goes on with it, --force replaces it"
        } else {
            "has files of a training that cannot be resumed: --force replaces them"
        }))
    }

    /// The files of a training that are there.
    fn files(&self) -> Vec<PathBuf> {
        let named = [
            self.checkpoint(),
            self.model(),
            self.history_file(),
            self.curves(),
            self.best(),
            self.validation_file(),
            self.learning(),
        ];
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let samples = entries.map(|entry| entry.path()).filter(|path| is_of_samples(path));
        named.into_iter().filter(|path| path.exists()).chain(samples).collect()
    }

    /// Makes it, with an empty history and nothing of a training that is replaced.
    pub fn begin(&self) -> Result<(), Failure> {
        let cannot = |error: std::io::Error| self.failed(&format!("cannot be written: {error}"));
        fs::create_dir_all(&self.path).map_err(cannot)?;
        for file in self.files() {
            fs::remove_file(file).map_err(cannot)?;
        }
        history::write::<Iteration>(&self.history_file(), &[])
    }

    /// Adds iterations to the history.
    pub fn append(&self, reports: &[Report]) -> Result<(), Failure> {
        let rows: Vec<Iteration> = reports.iter().map(Iteration::from).collect();
        history::append(&self.history_file(), &rows)
    }

    /// Cuts the history back to an iteration: a training that was killed may have written on.
    pub fn forget_after(&self, iteration: usize) -> Result<(), Failure> {
        let mut rows = self.history()?;
        rows.retain(|row| row.iteration <= iteration);
        let mut looks = self.validations()?;
        if looks.iter().any(|look| look.iteration > iteration) {
            looks.retain(|look| look.iteration <= iteration);
            self.write_validations(&looks)?;
        }
        history::write(&self.history_file(), &rows)
    }

    /// All iterations.
    pub fn history(&self) -> Result<Vec<Iteration>, Failure> {
        history::read(&self.history_file())
    }

    /// Adds to a failure what it left in place.
    pub fn explain(&self, failure: Failure) -> Failure {
        match (failure, Checkpoint::read(self.checkpoint())) {
            (Failure::Failed(sentence), Ok(kept)) => Failure::Failed(format!(
                "{sentence}. The checkpoint of iteration {} is kept in {}",
                kept.iteration(),
                self.path.display()
            )),
            (failure, _) => failure,
        }
    }

    fn failed(&self, reason: &str) -> Failure {
        Failure::Failed(format!("{}: {reason}", self.path.display()))
    }
}

/// Whether a file has the name of a picture of samples.
fn is_of_samples(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let number = name.and_then(|name| name.strip_prefix("samples-")?.strip_suffix(".png"));
    number.is_some_and(|number| number.parse::<usize>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_training_is_replaced_whole_and_only_by_force() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path());
        let put = |path: PathBuf| fs::write(path, "precious").unwrap();
        folder.check_empty(false).unwrap();
        put(temporary.path().join("samples-of-mine.png"));
        folder.check_empty(false).unwrap();
        for file in [folder.model(), folder.history_file(), folder.curves(), folder.samples(500)] {
            put(file.clone());
            let sentence = folder.check_empty(false).unwrap_err();
            let sentence = sentence.sentence().unwrap().to_owned();
            assert!(sentence.ends_with("cannot be resumed: --force replaces them"), "{sentence}");
            fs::remove_file(file).unwrap();
        }
        put(folder.checkpoint());
        let sentence = folder.check_empty(false).unwrap_err();
        assert!(sentence.sentence().unwrap().contains("--resume goes on with it"));
        put(folder.model());
        put(folder.curves());
        put(folder.samples(500));
        put(folder.samples(1_000_000));
        folder.check_empty(true).unwrap();
        folder.begin().unwrap();
        let mut left: Vec<_> =
            fs::read_dir(temporary.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        left.sort();
        assert_eq!(left, [folder.history_file(), temporary.path().join("samples-of-mine.png")]);
        assert!(folder.history().unwrap().is_empty());
    }
}
