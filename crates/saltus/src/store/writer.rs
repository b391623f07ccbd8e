//! Writes a store while a run draws.

use super::description::{Description, EndRecord, Keep, Timing};
use super::folder::{Folder, Lock, failed};
use super::layout::{
    self, COORDINATE_CHUNK, Chunk, DRAWN, GROUPS, ROUNDS, ROUNDS_CHUNK, SITE_MEANS, WARMUP, damaged,
};
use super::reader::{ROOT, Stored, TIMING};
use super::strip::{Strip, write_failed};
use super::{StoreError, bits, checkpoint_file};
use crate::checkpoint::Checkpoint;
use crate::run::{Ended, Sites};
use crate::sink::{ChainDraws, Plan, STATISTICS, Saved, Sink, SinkError};
use crate::space::Space;
use crate::trace::Trace;
use crate::tune::Round;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use zarrs::array::Array;

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
    begun: Option<Begun>,
}

/// What is known once a run begins.
struct Begun {
    space: Space,
    keep: Keep,
    chains: usize,
    names: Vec<String>,
    numbers: Vec<Strip<f64>>,
    states: Option<Strip<u8>>,
    draws: usize,
    /// Draws that readers were told of.
    draws_saved: usize,
    /// Draws whose coordinates are written.
    counted: usize,
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
        let folder = Folder::new(path);
        let there = match fs::read_dir(path) {
            Ok(mut entries) => entries.next().is_some(),
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
            begun: None,
        };
        writer.write_root(&Map::new(), None)?;
        Ok(writer)
    }

    /// The store of a run that is to go on, and from where; from the beginning if there is no
    /// checkpoint yet. What is described anew takes the place of the old description.
    pub fn resume(
        path: impl AsRef<Path>,
        description: Description,
    ) -> Result<(Self, Option<Checkpoint>), StoreError> {
        let folder = Folder::new(path.as_ref());
        let lock = folder.lock()?;
        let stored = Stored::open(path)?;
        let writer = Self {
            folder: Arc::new(folder),
            _lock: lock,
            description,
            found: stored.draws(),
            rounds: Vec::new(),
            scale: stored.scale(),
            sites: None,
            begun: None,
        };
        Ok((writer, stored.checkpoint()?))
    }

    fn begun(&mut self) -> Result<&mut Begun, StoreError> {
        self.begun.as_mut().ok_or_else(|| StoreError::Missing("the run has not begun".to_owned()))
    }

    /// Writes everything that was taken, and then what tells readers of it.
    fn publish(&mut self, ended: Option<&Ended>) -> Result<(), StoreError> {
        let begun = self.begun()?;
        begun.numbers.iter_mut().try_for_each(Strip::flush)?;
        begun.states.iter_mut().try_for_each(Strip::flush)?;
        self.announce(ended)
    }

    /// Tells readers what there is.
    fn announce(&mut self, ended: Option<&Ended>) -> Result<(), StoreError> {
        let folder = self.folder.clone();
        let rounds = std::mem::take(&mut self.rounds);
        let arrays = self.begun()?.metadata(&folder, &rounds);
        self.rounds = rounds;
        let mut arrays = arrays?;
        let number = self.description.sites;
        insert(&mut arrays, &write_site_means(&folder, self.sites.as_ref(), number)?)?;
        self.write_root(&arrays, ended)?;
        for (path, metadata) in &arrays {
            write_json(&folder, &format!("{path}/zarr.json"), metadata)?;
        }
        Ok(())
    }

    /// When draws cannot be written any more: tells readers of the whole chunks that could be. There
    /// may be no room for that either; then they see what was saved last.
    fn rescue(&mut self) {
        let found = self.found;
        if let Some(begun) = &mut self.begun {
            let whole = begun.numbers.iter().map(Strip::written);
            let whole = whole.chain(begun.states.iter().map(Strip::written)).min().unwrap_or(0);
            if whole > begun.draws_saved.max(found) {
                begun.draws = whole;
                let _ = self.announce(None);
            }
        }
    }

    /// The metadata of everything in one file, so that readers see one moment of the run.
    fn write_root(
        &self,
        arrays: &Map<String, Value>,
        ended: Option<&Ended>,
    ) -> Result<(), StoreError> {
        let mut attributes = layout::library();
        let settings = &self.description.settings;
        let entries = json!({
            "saltus_version": env!("CARGO_PKG_VERSION"),
            "sampler": settings.sampler,
            "seed": settings.seed,
            "observables": self.begun.as_ref().map(|begun| &begun.names),
            "scale": self.scale,
            "ended": ended.map(EndRecord::new),
            "site_counts": self.sites.as_ref().map(|sites| sites.counts),
            "overlap": self.sites.as_ref().map(|sites| sites.overlap),
            "run": self.description,
        });
        if let Value::Object(entries) = entries {
            attributes.extend(entries);
        }
        let mut root = layout::group(attributes);
        root["consolidated_metadata"] = layout::consolidated(arrays);
        write_json(&self.folder, ROOT, &root)
    }
}

fn write_json(folder: &Folder, key: &str, value: &Value) -> Result<(), StoreError> {
    let bytes = serde_json::to_vec_pretty(value).map_err(|error| damaged(key, error))?;
    folder.write(key, &bytes)
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
    for file in [checkpoint_file::CHECKPOINT, TIMING, ROOT] {
        let file = path.join(file);
        if file.exists() {
            fs::remove_file(&file).map_err(|error| failed("remove", &file, &error))?;
        }
    }
    Ok(())
}

impl Begun {
    fn new(folder: &Arc<Folder>, keep: Keep, plan: &Plan<'_>) -> Result<Self, StoreError> {
        let Plan { space, chains, names, .. } = *plan;
        let columns = names.iter().map(String::as_str).chain(STATISTICS);
        let numbers = columns.map(|name| {
            layout::check_name(name)?;
            let array = layout::numbers(folder, name, chains)?;
            Ok(Strip::new(array, chains, 1, Chunk::of_numbers(chains), f64::NAN))
        });
        let states = layout::states(keep, &space).map(|(path, bytes)| {
            let array = layout::state_rows(folder, &path, chains, bytes, &space)?;
            Ok(Strip::new(array, chains, bytes, Chunk::of_states(chains, bytes), 0))
        });
        Ok(Self {
            space,
            keep,
            chains,
            names: names.to_vec(),
            numbers: numbers.collect::<Result<_, StoreError>>()?,
            states: states.transpose()?,
            draws: 0,
            draws_saved: 0,
            counted: 0,
        })
    }

    fn rewind(&mut self, draws: usize) -> Result<(), StoreError> {
        self.draws = draws;
        self.numbers.iter_mut().try_for_each(|strip| strip.rewind(draws))?;
        self.states.iter_mut().try_for_each(|strip| strip.rewind(draws))
    }

    /// Takes draws a chunk at a time, so that all arrays come to the same length should the disk be
    /// full.
    fn take(&mut self, folder: &Arc<Folder>, draws: &[ChainDraws]) -> Result<(), StoreError> {
        let count = draws.first().map_or(0, |chain| chain.draws);
        let at_once = Chunk::of_numbers(self.chains).draws;
        for first in (0..count).step_by(at_once) {
            let part = first..count.min(first + at_once);
            self.count(folder, self.draws + part.len())?;
            self.take_part(draws, part)?;
        }
        Ok(())
    }

    fn take_part(&mut self, draws: &[ChainDraws], part: Range<usize>) -> Result<(), StoreError> {
        let observables = self.names.len();
        for (number, strip) in self.numbers.iter_mut().enumerate() {
            strip.push(part.len(), |chain| match number.checked_sub(observables) {
                None => &draws[chain].series[number][part.clone()],
                Some(statistic) => &draws[chain].statistics[statistic][part.clone()],
            })?;
        }
        if let Some(states) = &mut self.states {
            let sites = self.space.sites();
            let rows = |chain: usize| &draws[chain].states[part.start * sites..part.end * sites];
            if self.keep == Keep::States {
                states.push(part.len(), rows)?;
            } else {
                let packed: Vec<Vec<u8>> =
                    (0..self.chains).map(|chain| bits::pack(rows(chain), sites)).collect();
                states.push(part.len(), |chain| &packed[chain][..])?;
            }
        }
        self.draws += part.len();
        Ok(())
    }

    /// Writes the coordinates of so many draws. Their chunks are full from the start: what lies behind
    /// the last draw is not read.
    fn count(&mut self, folder: &Arc<Folder>, draws: usize) -> Result<(), StoreError> {
        let chunks = self.counted.div_ceil(COORDINATE_CHUNK)..draws.div_ceil(COORDINATE_CHUNK);
        for group in DRAWN {
            let array = self.coordinate(folder, group, draws)?;
            for chunk in chunks.clone() {
                let first = (chunk * COORDINATE_CHUNK) as i64;
                let content: Vec<i64> = (first..first + COORDINATE_CHUNK as i64).collect();
                store(&array, chunk, &content[..])?;
            }
        }
        self.counted = self.counted.max(draws);
        Ok(())
    }

    fn coordinate(
        &self,
        folder: &Arc<Folder>,
        group: &str,
        draws: usize,
    ) -> Result<Array<Folder>, StoreError> {
        let path = format!("{group}/draw");
        layout::whole_numbers(folder, &path, "draw", draws, COORDINATE_CHUNK)
    }

    fn chain_coordinate(
        &self,
        folder: &Arc<Folder>,
        group: &str,
    ) -> Result<Array<Folder>, StoreError> {
        let path = format!("{group}/chain");
        layout::whole_numbers(folder, &path, "chain", self.chains, self.chains)
    }

    fn write_chain_coordinates(&self, folder: &Arc<Folder>) -> Result<(), StoreError> {
        let numbers: Vec<i64> = (0..self.chains as i64).collect();
        for group in DRAWN {
            store(&self.chain_coordinate(folder, group)?, 0, &numbers[..])?;
        }
        Ok(())
    }

    /// Metadata of every group and array by path, with what was taken so far; the columns of the
    /// warm-up are written along.
    fn metadata(
        &mut self,
        folder: &Arc<Folder>,
        rounds: &[Round],
    ) -> Result<Map<String, Value>, StoreError> {
        let mut all = Map::new();
        for group in GROUPS {
            all.insert(group.to_owned(), layout::group(layout::library()));
        }
        for group in DRAWN {
            for array in
                [self.chain_coordinate(folder, group)?, self.coordinate(folder, group, self.draws)?]
            {
                insert(&mut all, &array)?;
            }
        }
        let columns = self.names.iter().map(String::as_str).chain(STATISTICS);
        for (name, strip) in columns.zip(&mut self.numbers) {
            all.insert(layout::path_of(name), strip.metadata(self.draws)?);
        }
        if let Some(states) = &mut self.states {
            let name = states.name().to_owned();
            all.insert(name, states.metadata(self.draws)?);
        }
        for array in write_rounds(folder, rounds)? {
            insert(&mut all, &array)?;
        }
        // Readers want the members of a group beside each other.
        all.sort_keys();
        Ok(all)
    }
}

/// The columns of the warm-up.
fn write_rounds(folder: &Arc<Folder>, rounds: &[Round]) -> Result<Vec<Array<Folder>>, StoreError> {
    let number = |value: fn(&Round) -> f64| {
        let mut column: Vec<f64> = rounds.iter().map(value).collect();
        column.resize(ROUNDS_CHUNK, f64::NAN);
        column
    };
    let columns = [
        number(|round| round.steps as f64),
        number(|round| round.scale.unwrap_or(f64::NAN)),
        number(|round| round.acceptance),
    ];
    let mut arrays = Vec::new();
    for (name, column) in ROUNDS.into_iter().zip(columns) {
        let path = format!("{WARMUP}/{name}");
        let array = layout::column(folder, &path, "round", rounds.len(), ROUNDS_CHUNK)?;
        if !rounds.is_empty() {
            store(&array, 0, &column[..])?;
        }
        arrays.push(array);
    }
    Ok(arrays)
}

/// The means of all sites, none before the end of a run or if they were not watched.
fn write_site_means(
    folder: &Arc<Folder>,
    sites: Option<&Sites>,
    number: usize,
) -> Result<Array<Folder>, StoreError> {
    let means = sites.map_or(&[][..], |sites| &sites.means);
    let array = layout::column(folder, SITE_MEANS, "site", means.len(), number)?;
    if !means.is_empty() {
        store(&array, 0, means)?;
    }
    Ok(array)
}

fn insert(all: &mut Map<String, Value>, array: &Array<Folder>) -> Result<(), StoreError> {
    let name = array.path().as_str().trim_start_matches('/').to_owned();
    let metadata = serde_json::to_value(array.metadata()).map_err(|error| damaged(&name, error))?;
    all.insert(name, metadata);
    Ok(())
}

/// Writes a chunk of an array of one dimension.
fn store<'a>(
    array: &Array<Folder>,
    chunk: usize,
    content: impl zarrs::array::IntoArrayBytes<'a>,
) -> Result<(), StoreError> {
    let stored = array.store_chunk_opt(&[chunk as u64], content, &layout::every_chunk());
    stored.map_err(|error| write_failed(array, error))
}

impl Sink for StoreWriter {
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
        let mut begun = Begun::new(&self.folder, self.description.keep, plan)?;
        if let Some(checkpoint) = plan.resumed {
            begun.rewind(checkpoint.draws())?;
            self.rounds.clone_from(&checkpoint.rounds);
        }
        begun.write_chain_coordinates(&self.folder)?;
        self.begun = Some(begun);
        // Draws that are on disk already stay in sight.
        if self.found == 0 {
            self.publish(None)?;
        }
        Ok(())
    }

    fn take(&mut self, draws: Vec<ChainDraws>) -> Result<(), SinkError> {
        let folder = self.folder.clone();
        let taken = self.begun()?.take(&folder, &draws);
        if taken.is_err() {
            self.rescue();
        }
        Ok(taken?)
    }

    fn series(&mut self, observable: usize) -> Result<Cow<'_, [Vec<f64>]>, SinkError> {
        Ok(Cow::Owned(self.begun()?.numbers[observable].series()?))
    }

    fn save(&mut self, saved: &Saved<'_>) -> Result<(), SinkError> {
        // While a resumed run makes draws again that are on disk already, the store stays as it is.
        if self.begun()?.draws < self.found {
            return Ok(());
        }
        self.found = 0;
        self.rounds = saved.rounds.to_vec();
        self.scale = saved.scale;
        self.sites = saved.sites.cloned();
        self.publish(saved.ended)?;
        let begun = self.begun()?;
        begun.draws_saved = begun.draws;
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

    fn trace(&mut self) -> Result<Trace, SinkError> {
        let begun = self.begun()?;
        let series = begun.numbers.iter().map(Strip::series).collect::<Result<_, _>>()?;
        Ok(Trace::of_series(begun.names.clone(), series))
    }
}
