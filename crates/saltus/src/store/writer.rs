//! Writes a store while a run draws.

use super::arrays::Arrays;
use super::description::{Description, EndRecord, Keep, Timing};
use super::folder::{self, Folder, Lock, failed};
use super::layout::{self, FORMAT, GROUPS, WITHOUT_RUN, damaged};
use super::reader::{EXACT, ExactMeans, OfRun, ROOT, SCOUTS, Stored, TIMING};
use super::{StoreError, checkpoint_file, digest, tally_file};
use crate::control::{Ended, Seconds};
use crate::draws::observers::MarginalTable;
use crate::draws::sink::{ChainDraws, Plan, Saved, Sink, SinkError};
use crate::draws::sites::Sites;
use crate::run::Checkpoint;
use crate::run::Scouts;
use crate::temper::TemperReport;
use crate::tune::Round;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// A [`Sink`] that writes a store.
pub struct StoreWriter {
    folder: Arc<Folder>,
    _lock: Lock,
    description: Description,
    /// Draws that were on disk when a run was resumed.
    found: usize,
    /// The warm-up as it was saved last, and the scale it came to.
    rounds: Vec<Round>,
    scale: Option<f64>,
    /// What the sites did, once the run has ended.
    sites: Option<Sites>,
    /// What the ladder of a tempered run showed, once it has ended.
    tempering: Option<TemperReport>,
    symmetric: bool,
    /// Of a run that has ended, if anyone wants them kept.
    marginals: Option<MarginalTable>,
    ended: Option<Ended>,
    /// Known once the run has begun.
    arrays: Option<Arrays>,
}

impl StoreWriter {
    /// A new store in a folder that does not exist or is empty. With `replace`, a run that is there
    /// goes away; anything else is left alone.
    pub fn create(
        path: impl AsRef<Path>,
        description: Description,
        replace: bool,
    ) -> Result<Self, StoreError> {
        let path = path.as_ref();
        if path.as_os_str().is_empty() {
            return Err(StoreError::Missing("the folder of a run has no name".to_owned()));
        }
        let folder = Folder::new(path).of_run(Some(description.identity()));
        let there = match folder::is_empty(path) {
            Ok(empty) => !empty,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            Err(error) => return Err(failed("read", path, &error)),
        };
        if there && !Stored::is_store(path) {
            return Err(StoreError::Foreign(folder.name()));
        }
        if there && !replace {
            return Err(StoreError::Exists(folder.name()));
        }
        fs::create_dir_all(path).map_err(|error| failed("create", path, &error))?;
        let lock = folder.lock()?;
        folder.remove_partial()?;
        if there {
            clear(path)?;
        }
        // Whoever finds the folder shall know what it is, however early this ends.
        let writer = Self {
            folder: Arc::new(folder),
            _lock: lock,
            description,
            found: 0,
            rounds: Vec::new(),
            scale: None,
            sites: None,
            tempering: None,
            symmetric: false,
            marginals: None,
            ended: None,
            arrays: None,
        };
        writer.write_root(&Map::new(), None)?;
        Ok(writer)
    }

    /// The store of a run that is to go on, from where, and the wall time it took so far; from the
    /// beginning if there is no checkpoint yet. What is described anew takes the place of the old description.
    pub fn resume(
        path: impl AsRef<Path>,
        description: Description,
    ) -> Result<(Self, Option<Checkpoint>, Seconds), StoreError> {
        let folder = Folder::new(path.as_ref());
        // Nothing is left behind in a folder that is not a store.
        if !Stored::is_store(path.as_ref()) {
            return Err(StoreError::NotAStore(folder.name()));
        }
        let lock = folder.lock()?;
        folder.remove_partial()?;
        let stored = Stored::open(path)?;
        if !stored.can_grow() {
            return Err(StoreError::Missing(format!(
                "{} was written by saltus {}: it can be read, but not gone on with",
                folder.name(),
                stored.version()
            )));
        }
        stored.check_files()?;
        let folder = folder.of_run(stored.run().map(str::to_owned));
        // They tell of the run as it was.
        folder.remove(SCOUTS)?;
        folder.remove(EXACT)?;
        let writer = Self {
            folder: Arc::new(folder),
            _lock: lock,
            description,
            found: stored.draws(),
            rounds: stored.checkpoint()?.map_or(Vec::new(), |one| one.rounds().to_vec()),
            scale: stored.scale(),
            sites: None,
            tempering: None,
            symmetric: false,
            marginals: None,
            ended: None,
            arrays: None,
        };
        Ok((writer, stored.checkpoint()?, stored.timing()?.seconds))
    }

    /// Adds what scouts of a run that has ended came to, so that whoever reads it later is told as well.
    pub fn put_scouts(path: impl AsRef<Path>, scouts: &Scouts) -> Result<(), StoreError> {
        put_after(path.as_ref(), SCOUTS, scouts.clone())
    }

    /// Adds the exact means of what a run that has ended observes ([`Outcome::exact`](crate::Outcome)), if there are any.
    pub fn put_exact(
        path: impl AsRef<Path>,
        exact: &BTreeMap<String, f64>,
    ) -> Result<(), StoreError> {
        if exact.is_empty() {
            return Ok(());
        }
        put_after(path.as_ref(), EXACT, ExactMeans { exact: exact.clone() })
    }

    /// Adds the marginals of a run that has ended: `sites/marginal` and their standard errors `sites/marginal_se`, by site
    /// and value.
    pub fn put_marginals(&mut self, table: &MarginalTable) -> Result<(), StoreError> {
        self.marginals = Some(table.clone());
        let ended = self.ended.clone();
        self.announce(ended.as_ref())
    }

    fn arrays(&mut self) -> Result<&mut Arrays, StoreError> {
        self.arrays.as_mut().ok_or_else(|| StoreError::Missing("the run has not begun".to_owned()))
    }

    /// Writes everything that was taken, and then what tells readers of it.
    fn publish(&mut self, ended: Option<&Ended>) -> Result<(), StoreError> {
        self.arrays()?.flush()?;
        self.announce(ended)
    }

    /// Tells readers what there is.
    fn announce(&mut self, ended: Option<&Ended>) -> Result<(), StoreError> {
        let folder = self.folder.clone();
        let Self { arrays: Some(arrays), rounds, sites, marginals, .. } = self else {
            return Ok(());
        };
        let metadata = arrays.metadata(&folder, rounds, sites.as_ref(), marginals.as_ref())?;
        self.write_root(&metadata, ended)?;
        for (path, metadata) in &metadata {
            write_json(&folder, &format!("{path}/zarr.json"), metadata)?;
        }
        Ok(())
    }

    /// When draws cannot be written any more: tells readers of the whole files that could be. There
    /// may be no room for that either; then they see what was saved last.
    fn rescue(&mut self) {
        let found = self.found;
        if let Some(arrays) = &mut self.arrays
            && arrays.written() > arrays.draws_saved.max(found)
        {
            arrays.draws = arrays.written();
            let _ = self.announce(None);
        }
    }

    /// The metadata of everything in one file, so that readers see one moment of the run.
    fn write_root(
        &self,
        metadata: &Map<String, Value>,
        ended: Option<&Ended>,
    ) -> Result<(), StoreError> {
        let mut attributes = layout::library();
        let settings = &self.description.settings;
        let entries = json!({
            "saltus_version": env!("CARGO_PKG_VERSION"),
            "saltus_format": if self.folder.run().is_some() { FORMAT } else { WITHOUT_RUN },
            "saltus_run": self.folder.run(),
            "saltus_digest": digest::BLANK,
            "sampler": settings.sampler,
            "seed": settings.seed,
            "observables": self.arrays.as_ref().map(|arrays| &arrays.names),
            "scale": self.scale,
            "ended": ended.map(EndRecord::new),
            "site_counts": self.sites.as_ref().map(|sites| sites.counts),
            "overlap": self.sites.as_ref().map(|sites| sites.overlap),
            "run": self.description,
        });
        if let Value::Object(entries) = entries {
            attributes.extend(entries);
        }
        if let Some(tempering) = &self.tempering {
            attributes.insert("tempering".to_owned(), json!(tempering));
        }
        if self.symmetric {
            // A number, because netCDF knows no truth.
            attributes.insert("symmetric".to_owned(), json!(1));
        }
        plain_attributes(&mut attributes);
        let mut root = layout::group(attributes);
        root["consolidated_metadata"] = layout::consolidated(metadata);
        let mut bytes = json_bytes(ROOT, &root)?;
        digest::insert(&mut bytes);
        self.folder.write(ROOT, &bytes)
    }
}

/// Attributes that every format of files has: numbers and text, what has parts as JSON, and nothing for nothing.
fn plain_attributes(attributes: &mut Map<String, Value>) {
    attributes.retain(|_, value| !value.is_null());
    for value in attributes.values_mut().filter(|value| value.is_object()) {
        *value = Value::String(value.to_string());
    }
}

fn json_bytes(key: &str, value: &Value) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec_pretty(value).map_err(|error| damaged(key, error))
}

fn write_json(folder: &Folder, key: &str, value: &Value) -> Result<(), StoreError> {
    folder.write(key, &json_bytes(key, value)?)
}

/// Removes a run, and nothing else that may be in its folder.
fn clear(path: &Path) -> Result<(), StoreError> {
    for group in GROUPS {
        let group = path.join(group);
        if group.exists() {
            fs::remove_dir_all(&group).map_err(|error| failed("remove", &group, &error))?;
        }
    }
    // What makes it a store goes last.
    for file in [checkpoint_file::CHECKPOINT, tally_file::TALLY, TIMING, SCOUTS, EXACT, ROOT] {
        let file = path.join(file);
        if file.exists() {
            fs::remove_file(&file).map_err(|error| failed("remove", &file, &error))?;
        }
    }
    Ok(())
}

impl Sink for StoreWriter {
    fn wants_checkpoints(&self) -> bool {
        true
    }

    fn wants_states(&self) -> bool {
        self.description.keep != Keep::None
    }

    fn begin(&mut self, plan: &Plan<'_>) -> Result<(), SinkError> {
        if self.description.keep == Keep::Bits && !plan.space.is_binary() {
            let sentence = format!(
                "states of {} values per site do not fit into bits; keep them as bytes",
                plan.space.values()
            );
            return Err(SinkError(sentence));
        }
        let mut arrays = Arrays::new(&self.folder, self.description.keep, plan)?;
        if let Some(draws) = plan.resumed {
            arrays.rewind(draws)?;
        }
        arrays.write_chain_coordinates(&self.folder)?;
        self.arrays = Some(arrays);
        // Draws that are on disk already stay in sight.
        if self.found == 0 {
            self.publish(None)?;
        }
        Ok(())
    }

    fn take(&mut self, draws: Vec<ChainDraws>) -> Result<(), SinkError> {
        let taken = self.arrays()?.take(&draws);
        if taken.is_err() {
            self.rescue();
        }
        Ok(taken?)
    }

    fn save(&mut self, saved: &Saved<'_>) -> Result<(), SinkError> {
        // While a resumed run makes draws again that are on disk already, the store stays as it is.
        if self.arrays()?.draws < self.found {
            return Ok(());
        }
        self.found = 0;
        self.rounds = saved.rounds.to_vec();
        self.scale = saved.scale;
        self.sites = saved.sites.cloned();
        self.tempering = saved.tempering.cloned();
        self.symmetric = saved.symmetric;
        self.ended = saved.ended.cloned();
        self.publish(saved.ended)?;
        // Of a part of a run, what that of the whole follows from.
        let is_part =
            self.description.settings.temper.as_ref().is_some_and(|temper| temper.ladder.is_some());
        if let Some(tally) = saved.tempering.and_then(|report| report.tally.as_ref())
            && is_part
        {
            tally_file::write(&self.folder, tally)?;
        }
        let arrays = self.arrays()?;
        arrays.draws_saved = arrays.draws;
        let timing = Timing { threads: saved.threads, seconds: saved.seconds };
        write_json(&self.folder, TIMING, &json!(timing))?;
        if let Some(checkpoint) = saved.checkpoint {
            // A long run shall survive a loss of power: the draws come before what speaks of them.
            if saved.ended.is_none() {
                self.folder.sync()?;
            }
            checkpoint_file::write(&self.folder, checkpoint)?;
        }
        Ok(())
    }
}

/// Writes what was found after the run in a folder, sealed as a part of it.
fn put_after<T: Serialize>(path: &Path, file: &str, told: T) -> Result<(), StoreError> {
    let stored = Stored::open(path)?;
    let told = OfRun {
        told,
        saltus_run: stored.run().map(str::to_owned),
        saltus_digest: Some(digest::BLANK.to_owned()),
    };
    let mut bytes = json_bytes(file, &json!(told))?;
    digest::insert(&mut bytes);
    Folder::new(path).write(file, &bytes)
}
