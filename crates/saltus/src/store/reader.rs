//! Reads a store, also one whose run is still going on or was cut off.

use super::description::{Description, EndRecord, Keep, Timing};
use super::folder::Folder;
use super::layout::{
    self, FORMAT, FileShape, POSTERIOR, ROUNDS, ROUNDS_CHUNK, WARMUP, WITHOUT_RUN, damaged,
};
use super::strip::Number;
use super::{StoreError, bits, checkpoint_file, digest, outcome, strip, tally_file};
use crate::control::Ended;
use crate::draws::sink::STATISTICS;
use crate::draws::sites::{SiteCounts, Sites};
use crate::draws::trace::{MOST_JUDGED, Trace};
use crate::run::Scouts;
use crate::run::{Checkpoint, Outcome};
use crate::space::Space;
use crate::stats::Overlap;
use crate::temper::{Tally, TemperReport};
use crate::tune::Round;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use zarrs::array::FromArrayBytes;

/// The file that describes a store.
pub(super) const ROOT: &str = "zarr.json";
/// The file of what differs between two runs of the same draws.
pub(super) const TIMING: &str = "timing.json";
/// What scouts of the ended run came to.
pub(super) const SCOUTS: &str = "scouts.json";
/// The exact means of what it observes.
pub(super) const EXACT: &str = "exact.json";

/// A run on disk.
///
/// [`series`](Stored::series) gives numbers, [`states`](Stored::states) whole states, and
/// [`outcome`](Stored::outcome) what the run itself left.
#[derive(Debug)]
pub struct Stored {
    folder: Arc<Folder>,
    attributes: Map<String, Value>,
    known: Attributes,
    metadata: Map<String, Value>,
    space: Space,
    draws: usize,
}

/// The attributes that are read again.
#[derive(Debug, Deserialize)]
struct Attributes {
    saltus_version: String,
    #[serde(default)]
    saltus_format: Option<u32>,
    #[serde(default)]
    saltus_run: Option<String>,
    observables: Option<Vec<String>>,
    scale: Option<f64>,
    ended: Option<EndRecord>,
    #[serde(default)]
    site_counts: Option<SiteCounts>,
    #[serde(default)]
    overlap: Option<Overlap>,
    #[serde(default)]
    tempering: Option<TemperReport>,
    #[serde(default)]
    symmetric: u8,
    run: Description,
}

/// What was found after a run, and of which run.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct OfRun<T> {
    #[serde(flatten)]
    pub(super) told: T,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) saltus_run: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) saltus_digest: Option<String>,
}

/// Exact means by name.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct ExactMeans {
    pub(super) exact: BTreeMap<String, f64>,
}

/// Attributes that were written as JSON, as what they are.
fn unfold(attributes: &mut Map<String, Value>) {
    for key in ["sampler", "ended", "site_counts", "overlap", "tempering", "run"] {
        if let Some(Value::String(text)) = attributes.get(key)
            && let Ok(value @ Value::Object(_)) = serde_json::from_str(text)
        {
            attributes.insert(key.to_owned(), value);
        }
    }
}

impl Stored {
    /// Whether a folder is a run, perhaps a damaged one.
    pub fn is_store(path: impl AsRef<Path>) -> bool {
        let root = Folder::new(path.as_ref()).read(ROOT);
        let root =
            root.ok().flatten().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        root.is_some_and(|root| root["attributes"]["saltus_version"].is_string())
    }

    /// Opens the run in a folder.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let folder = Folder::new(path.as_ref());
        let root = folder.read(ROOT)?.ok_or_else(|| StoreError::NotAStore(folder.name()))?;
        let file = folder.path(ROOT).display().to_string();
        let unchanged = digest::is_right(&root);
        let mut root: Value =
            serde_json::from_slice(&root).map_err(|error| damaged(&file, error))?;
        // Not by index, which panics where something else than an object stands.
        let mut part = |path: &str| root.pointer_mut(path).map(Value::take);
        let mut attributes = match part("/attributes") {
            Some(Value::Object(attributes)) if attributes.contains_key("saltus_version") => {
                attributes
            }
            _ => return Err(StoreError::NotAStore(folder.name())),
        };
        unfold(&mut attributes);
        let known: Attributes = serde_json::from_value(Value::Object(attributes.clone()))
            .map_err(|error| damaged(&file, error))?;
        let folder = match (known.saltus_format, known.saltus_version.starts_with("0.1.")) {
            (Some(FORMAT), _) if unchanged && known.saltus_run.is_some() => {
                folder.of_run(known.saltus_run.clone())
            }
            (Some(WITHOUT_RUN), _) if unchanged => folder,
            (Some(FORMAT | WITHOUT_RUN), _) => {
                return Err(damaged(&file, "it was changed after saltus wrote it"));
            }
            (None, true) => folder.unsealed(),
            _ => return Err(damaged(&file, "its format is not one that this saltus reads")),
        };
        let metadata = match part("/consolidated_metadata/metadata") {
            Some(Value::Object(metadata)) => metadata,
            _ => return Err(damaged(&file, "it does not list its arrays")),
        };
        let space = known.run.space().map_err(|error| damaged(&file, error))?;
        let folder = Arc::new(folder);
        let mut stored = Self { folder, attributes, known, metadata, space, draws: 0 };
        // A run that was cut off before it began has no arrays yet.
        if stored.known.observables.is_some() {
            stored.draws = stored.draws_of_all()?;
        }
        Ok(stored)
    }

    /// The number of draws, on which all arrays must agree.
    fn draws_of_all(&self) -> Result<usize, StoreError> {
        let chain_numbers = format!("{POSTERIOR}/chain/c/0");
        if (self.folder.length(&chain_numbers) as usize) / 8 < self.chains() {
            return Err(damaged(&chain_numbers, "it has fewer chains than the run"));
        }
        let mut agreed = None;
        for (path, row) in self.drawn() {
            let shape = self.array(&path)?.shape().to_vec();
            let draws = match shape[..] {
                [chains, draws] if chains == self.chains() as u64 && row == 1 => draws,
                [chains, draws, length]
                    if chains == self.chains() as u64 && length == row as u64 =>
                {
                    draws
                }
                _ => return Err(damaged(&path, "it is not over the chains and draws of its run")),
            };
            if agreed.is_some_and(|agreed| agreed != draws) {
                return Err(damaged(&path, "it has another number of draws than the rest"));
            }
            agreed = Some(draws);
        }
        let draws = usize::try_from(agreed.unwrap_or(0)).ok();
        // More could not even be counted over all chains and sites.
        let sites = self.space.sites().max(self.chains()).saturating_mul(self.chains().max(1));
        let draws =
            draws.filter(|draws| draws.checked_mul(sites.max(1).saturating_mul(8)).is_some());
        draws.ok_or_else(|| damaged(&self.folder.name(), "it announces more draws than can be"))
    }

    /// Every array over chain and draw by its path, and numbers in a row of it.
    fn drawn(&self) -> Vec<(String, usize)> {
        let names = self.names().iter().map(String::as_str).chain(STATISTICS);
        let mut all: Vec<_> = names.map(|name| (layout::path_of(name), 1)).collect();
        if self.folder.is_sealed() {
            all.push((layout::ENERGY.to_owned(), 1));
        }
        all.extend(self.states_path());
        all
    }

    /// Where states are kept, and how many bytes each takes. Those of 0.1 are all in one group.
    fn states_path(&self) -> Option<(String, usize)> {
        let (path, bytes) = layout::states(self.known.run.keep, &self.space)?;
        let path = match self.folder.is_sealed() {
            true => path,
            false => path.replace(layout::PACKED, POSTERIOR),
        };
        Some((path, bytes))
    }

    /// Whether a run can go on in it.
    pub(super) fn can_grow(&self) -> bool {
        self.folder.is_sealed()
    }

    /// Fails unless every file of draws is whole and in its place.
    pub(super) fn check_files(&self) -> Result<(), StoreError> {
        for (path, _) in self.drawn() {
            if self.draws > 0 {
                let (array, file) = (self.array(&path)?, self.file_of(&path)?);
                strip::check_files(&self.folder, &array, file, self.chains(), self.draws)?;
            }
        }
        Ok(())
    }

    fn file_of(&self, path: &str) -> Result<FileShape, StoreError> {
        layout::file_of(path, self.metadata.get(path).unwrap_or(&Value::Null))
    }

    /// What was sampled, and how.
    pub fn description(&self) -> &Description {
        &self.known.run
    }

    /// All root attributes.
    pub fn attributes(&self) -> &Map<String, Value> {
        &self.attributes
    }

    /// The version of saltus that wrote it.
    pub fn version(&self) -> &str {
        &self.known.saltus_version
    }

    /// The space of its states.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Number of chains.
    pub fn chains(&self) -> usize {
        self.known.run.settings.chains
    }

    /// Draws of each chain.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// Names of the observables, log π first.
    pub fn names(&self) -> &[String] {
        self.known.observables.as_deref().unwrap_or(&[])
    }

    /// The scale of the draws, once it was found.
    pub fn scale(&self) -> Option<f64> {
        self.known.scale
    }

    /// How the run ended; none if it is still going on, or was cut off.
    pub fn ended(&self) -> Option<Ended> {
        self.known.ended.as_ref().map(EndRecord::ended)
    }

    /// Some draws of some chains of an array.
    fn read<T: Number>(
        &self,
        path: &str,
        chains: Range<usize>,
        draws: Range<usize>,
    ) -> Result<Vec<Vec<T>>, StoreError>
    where
        Vec<T>: FromArrayBytes,
    {
        self.array(path)?;
        let mut series = vec![Vec::new(); chains.len()];
        let first = chains.start;
        self.read_each(path, chains, draws, |chain, _, rows: &[T]| {
            series[chain - first].extend_from_slice(rows);
        })?;
        Ok(series)
    }

    /// Hands out some draws of some chains of an array, a file at a time: the chain, the first draw,
    /// and rows of numbers.
    fn read_each<T: Number>(
        &self,
        path: &str,
        chains: Range<usize>,
        draws: Range<usize>,
        take: impl FnMut(usize, usize, &[T]),
    ) -> Result<(), StoreError>
    where
        Vec<T>: FromArrayBytes,
    {
        let (array, file) = (self.array(path)?, self.file_of(path)?);
        strip::read_each(&self.folder, &array, file, chains, draws, take)
    }

    fn array(&self, path: &str) -> Result<zarrs::array::Array<Folder>, StoreError> {
        match self.metadata.get(path) {
            Some(metadata) => layout::open(&self.folder, path, metadata),
            None if self.names().is_empty() => {
                Err(StoreError::Missing(format!("{} has no draws yet", self.folder.name())))
            }
            None => Err(StoreError::Missing(format!("{} has no {path}", self.folder.name()))),
        }
    }

    /// The draws of an observable or of one of the [`STATISTICS`], chain by chain.
    pub fn series(&self, name: &str) -> Result<Vec<Vec<f64>>, StoreError> {
        self.read(&layout::path_of(name), 0..self.chains(), 0..self.draws)
    }

    /// Some draws of some chains of an observable or of one of the [`STATISTICS`].
    pub fn numbers(
        &self,
        name: &str,
        chains: Range<usize>,
        draws: Range<usize>,
    ) -> Result<Vec<Vec<f64>>, StoreError> {
        if chains.end > self.chains() || draws.end > self.draws {
            return Err(StoreError::Missing(format!(
                "there are {} chains of {} draws, not draw {} of chain {}",
                self.chains(),
                self.draws,
                draws.end.saturating_sub(1),
                chains.end.saturating_sub(1)
            )));
        }
        self.read(&layout::path_of(name), chains, draws)
    }

    /// Where it is.
    pub(super) fn folder_name(&self) -> String {
        self.folder.name()
    }

    /// The states of some draws of a chain, a row of bytes for each; none if they were not kept.
    pub fn states(&self, chain: usize, draws: Range<usize>) -> Result<Option<Vec<u8>>, StoreError> {
        let states = self.states_of(chain..chain + 1, draws)?;
        Ok(states.map(|states| states.into_iter().next().unwrap_or_default()))
    }

    /// The same of several chains, which stand in the same files: faster than one after the other.
    pub fn states_of(
        &self,
        chains: Range<usize>,
        draws: Range<usize>,
    ) -> Result<Option<Vec<Vec<u8>>>, StoreError> {
        let keep = self.known.run.keep;
        let Some((path, _)) = self.states_path() else {
            return Ok(None);
        };
        if chains.end > self.chains() || draws.end > self.draws {
            return Err(StoreError::Missing(format!(
                "there are {} chains of {} draws, not draw {} of chain {}",
                self.chains(),
                self.draws,
                draws.end.saturating_sub(1),
                chains.end.saturating_sub(1)
            )));
        }
        let mut states = self.read(&path, chains, draws)?;
        if keep == Keep::Bits {
            for rows in &mut states {
                *rows = bits::unpack(rows, self.space.sites());
            }
        }
        Ok(Some(states))
    }

    /// The same of every chain. Files hold many chains, and each is read once.
    pub fn states_of_all(&self, draws: Range<usize>) -> Result<Option<Vec<Vec<u8>>>, StoreError> {
        let Some((path, _)) = self.states_path() else {
            return Ok(None);
        };
        if draws.end > self.draws {
            return Err(StoreError::Missing(format!(
                "there are {} draws, not draw {}",
                self.draws,
                draws.end.saturating_sub(1)
            )));
        }
        let mut all: Vec<Vec<u8>> = self.read(&path, 0..self.chains(), draws)?;
        if self.known.run.keep == Keep::Bits {
            all.iter_mut().for_each(|rows| *rows = bits::unpack(rows, self.space.sites()));
        }
        Ok(Some(all))
    }

    /// Bytes that a draw of all chains takes in memory.
    pub(super) fn bytes_of_draw(&self) -> usize {
        let states = self.states_path().map_or(0, |_| self.space.sites());
        let numbers = self.names().len() + STATISTICS.len();
        self.chains().saturating_mul(states + numbers * size_of::<f64>())
    }

    /// The rounds of warm-up.
    pub fn warmup(&self) -> Result<Vec<Round>, StoreError> {
        let [steps, scale, acceptance] = ROUNDS.map(|name| -> Result<Vec<f64>, StoreError> {
            let array = self.array(&format!("{WARMUP}/{name}"))?;
            strip::read_column(&self.folder, &array, ROUNDS_CHUNK)
        });
        let columns = steps?.into_iter().zip(scale?).zip(acceptance?);
        Ok(columns
            .map(|((steps, scale), acceptance)| Round {
                steps: steps as usize,
                scale: (!scale.is_nan()).then_some(scale),
                acceptance,
            })
            .collect())
    }

    /// What the sites did; none unless they were watched and the run has ended.
    pub fn sites(&self) -> Result<Option<Sites>, StoreError> {
        let Some(counts) = self.known.site_counts else {
            return Ok(None);
        };
        let array = self.array(layout::SITE_MEANS)?;
        let means = strip::read_column(&self.folder, &array, self.space.sites())?;
        Ok(Some(Sites { counts, overlap: self.known.overlap, means }))
    }

    /// Where the run can be resumed; none if it ended before the first checkpoint.
    pub fn checkpoint(&self) -> Result<Option<Checkpoint>, StoreError> {
        checkpoint_file::read(&self.folder)
    }

    /// What the ladder of a tempered run showed.
    pub(super) fn tempering(&self) -> Option<TemperReport> {
        self.known.tempering.clone()
    }

    /// What the ladders of a part of a run counted.
    /// What the ladders of a part of a run showed; none where there are none.
    #[doc(hidden)]
    pub fn ladders(&self) -> Result<Option<TemperReport>, StoreError> {
        Ok(self.tally()?.and_then(|tally| Tally::joined(vec![tally])).map(TemperReport::new))
    }

    pub(super) fn tally(&self) -> Result<Option<Tally>, StoreError> {
        tally_file::read(&self.folder)
    }

    /// Wall time and threads.
    pub fn timing(&self) -> Result<Timing, StoreError> {
        match self.folder.read(TIMING)? {
            None => Ok(Timing::default()),
            Some(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| damaged(&self.folder.path(TIMING).display().to_string(), error)),
        }
    }

    /// All numbers in memory.
    pub fn trace(&self) -> Result<Trace, StoreError> {
        let names = self.names().iter().map(String::as_str).chain(STATISTICS);
        let series = names.map(|name| self.series(name)).collect::<Result<_, _>>()?;
        Ok(Trace::of_series(self.names().to_vec(), series, self.draws, 1))
    }

    /// The numbers in memory that does not grow with the draws: all of them, or every second, fourth, …
    /// draw if there are more than `most` in all chains together.
    pub fn thinned_trace(&self, most: usize) -> Result<Trace, StoreError> {
        outcome::trace_of(std::slice::from_ref(self), most)
    }

    pub(super) fn thinned(&self, name: &str, every: usize) -> Result<Vec<Vec<f64>>, StoreError> {
        let path = layout::path_of(name);
        self.array(&path)?;
        let mut series = vec![Vec::new(); self.chains()];
        let (chains, draws) = (0..self.chains(), 0..self.draws);
        self.read_each(&path, chains, draws, |chain, first, rows: &[f64]| {
            let kept = rows.iter().skip((every - first % every) % every).step_by(every);
            series[chain].extend(kept);
        })?;
        Ok(series)
    }

    /// What scouts came to that were sent after the run, if they were.
    pub fn scouts(&self) -> Result<Option<Scouts>, StoreError> {
        self.found_after(SCOUTS)
    }

    /// The exact means of observables, where they could be had.
    pub fn exact(&self) -> Result<BTreeMap<String, f64>, StoreError> {
        let found: Option<ExactMeans> = self.found_after(EXACT)?;
        Ok(found.unwrap_or_default().exact)
    }

    /// What a file says that was written after the run, if there is one.
    fn found_after<T: DeserializeOwned>(&self, file: &str) -> Result<Option<T>, StoreError> {
        let Some(bytes) = self.folder.read(file)? else {
            return Ok(None);
        };
        let name = self.folder.path(file).display().to_string();
        let told: OfRun<T> =
            serde_json::from_slice(&bytes).map_err(|error| damaged(&name, error))?;
        // Those of format 4 had no digest.
        let is_old = self.folder.run().is_none() && told.saltus_digest.is_none();
        if told.saltus_run.as_deref() != self.folder.run() || !(is_old || digest::is_right(&bytes))
        {
            return Err(damaged(&name, "its checksum does not match its run and content"));
        }
        Ok(Some(told.told))
    }

    /// Of which run its files are, if they know.
    pub(super) fn run(&self) -> Option<&str> {
        self.folder.run()
    }

    /// Whether the model said that it is the same with its values exchanged.
    pub(super) fn is_symmetric(&self) -> bool {
        self.known.symmetric != 0
    }

    /// The sums of a statistic over all draws, chain by chain.
    pub(super) fn sums(&self, name: &str) -> Result<Vec<f64>, StoreError> {
        let path = layout::path_of(name);
        self.array(&path)?;
        let mut sums = vec![0.0; self.chains()];
        let (chains, draws) = (0..self.chains(), 0..self.draws);
        self.read_each(&path, chains, draws, |chain, _, rows: &[f64]| {
            // One after the other, so that the sum does not depend on how files are cut.
            rows.iter().for_each(|number| sums[chain] += number);
        })?;
        Ok(sums)
    }

    /// What the run left, as if it had just ended. One that was cut off counts as interrupted. Last
    /// states are known if states were kept. Of a long run the trace is thinned to
    /// [`MOST_JUDGED`](crate::draws::trace::MOST_JUDGED).
    pub fn outcome(&self) -> Result<Outcome, StoreError> {
        outcome::outcome_of(std::slice::from_ref(self), MOST_JUDGED)
    }
}
