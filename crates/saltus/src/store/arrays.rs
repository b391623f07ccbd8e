//! The arrays of a store while draws come in: what is on disk, what waits in memory, and what readers
//! are told of them.

use super::description::Keep;
use super::folder::Folder;
use super::layout::{
    self, COORDINATE_CHUNK, Chunk, ENERGY, MARGINALS, POSTERIOR, ROUNDS, ROUNDS_CHUNK, SITE_MEANS,
    SITES, WARMUP, damaged,
};
use super::shard::{Chunks, Encode};
use super::strip::Strip;
use super::{StoreError, bits};
use crate::draws::observers::MarginalTable;
use crate::draws::sink::{ChainDraws, Plan, STATISTICS};
use crate::draws::sites::Sites;
use crate::space::Space;
use crate::tune::Round;
use serde_json::{Map, Value};
use std::ops::Range;
use std::sync::Arc;
use zarrs::array::Array;

/// An array of whole numbers, and these.
type Coordinate = (Array<Folder>, Vec<i64>);

/// Every array, once a run has begun.
pub(super) struct Arrays {
    space: Space,
    keep: Keep,
    chains: usize,
    pub(super) names: Vec<String>,
    /// Observables, then [`STATISTICS`].
    numbers: Vec<Strip<f64>>,
    /// −log π, which is the first observable.
    energy: Strip<f64>,
    states: Option<Strip<u8>>,
    /// Draws that were taken.
    pub(super) draws: usize,
    /// Draws that readers were told of.
    pub(super) draws_saved: usize,
    /// Draws whose coordinates are in files that are full.
    counted: usize,
}

impl Arrays {
    /// Empty arrays for what is going to be drawn.
    pub(super) fn new(
        folder: &Arc<Folder>,
        keep: Keep,
        plan: &Plan<'_>,
    ) -> Result<Self, StoreError> {
        let Plan { space, chains, names, .. } = *plan;
        let columns = names.iter().map(String::as_str).chain(STATISTICS);
        let strip = |path: &str| {
            let array = layout::numbers(folder, path, chains)?;
            Ok(Strip::new(folder, array, chains, 1, Chunk::of_numbers(chains), f64::NAN))
        };
        let numbers = columns.map(|name| {
            layout::check_name(name)?;
            strip(&layout::path_of(name))
        });
        let states = layout::states(keep, space).map(|(path, bytes)| {
            let array = layout::state_rows(folder, &path, chains, bytes, space)?;
            let chunk = Chunk::of_states(chains, bytes);
            Ok(Strip::new(folder, array, chains, bytes, chunk, 0))
        });
        Ok(Self {
            space: space.clone(),
            keep,
            chains,
            names: names.to_vec(),
            numbers: numbers.collect::<Result<_, StoreError>>()?,
            energy: strip(ENERGY)?,
            states: states.transpose()?,
            draws: 0,
            draws_saved: 0,
            counted: 0,
        })
    }

    /// Goes back to the first draws, which are on disk.
    pub(super) fn rewind(&mut self, draws: usize) -> Result<(), StoreError> {
        self.draws = draws;
        self.numbers.iter_mut().try_for_each(|strip| strip.rewind(draws))?;
        self.energy.rewind(draws)?;
        self.states.iter_mut().try_for_each(|strip| strip.rewind(draws))
    }

    /// Writes the chunks that are not full yet.
    pub(super) fn flush(&mut self) -> Result<(), StoreError> {
        self.numbers.iter_mut().try_for_each(Strip::flush)?;
        self.energy.flush()?;
        self.states.iter_mut().try_for_each(Strip::flush)
    }

    /// Draws of which every array has whole files on disk.
    pub(super) fn written(&self) -> usize {
        let written = self.numbers.iter().chain([&self.energy]).map(Strip::written);
        written.chain(self.states.iter().map(Strip::written)).min().unwrap_or(0)
    }

    /// Takes draws a chunk at a time, so that all arrays come to the same length should the disk be
    /// full.
    pub(super) fn take(&mut self, draws: &[ChainDraws]) -> Result<(), StoreError> {
        let count = draws.first().map_or(0, ChainDraws::draws);
        let at_once = Chunk::of_numbers(self.chains).draws;
        for first in (0..count).step_by(at_once) {
            let part = first..count.min(first + at_once);
            self.take_part(draws, part)?;
        }
        Ok(())
    }

    fn take_part(&mut self, draws: &[ChainDraws], part: Range<usize>) -> Result<(), StoreError> {
        for (number, strip) in self.numbers.iter_mut().enumerate() {
            let of_chain = |chain: &ChainDraws| -> Vec<f64> {
                chain.column(number).skip(part.start).take(part.len()).collect()
            };
            let mut columns: Vec<Vec<f64>> = draws.iter().map(of_chain).collect();
            strip.push(part.len(), |chain| &columns[chain][..])?;
            if number == 0 {
                columns.iter_mut().flatten().for_each(|log_prob| *log_prob = -*log_prob);
                self.energy.push(part.len(), |chain| &columns[chain][..])?;
            }
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

    /// Writes the coordinates of all draws. Their chunks are full from the start: what lies behind
    /// the last draw is not read.
    fn count(&mut self, folder: &Arc<Folder>) -> Result<(), StoreError> {
        let (length, in_file) = COORDINATE_CHUNK;
        let chunks = self.draws.div_ceil(length);
        for file in self.counted / (length * in_file)..chunks.div_ceil(in_file) {
            let mut content = Chunks::default();
            for chunk in file * in_file..chunks.min((file + 1) * in_file) {
                let first = (chunk * length) as i64;
                content.push(&(first..first + length as i64).collect::<Vec<_>>());
            }
            for group in layout::drawn(self.keep) {
                let array = self.coordinate(folder, group, self.draws)?;
                put(folder, &array, file, &content, in_file)?;
            }
        }
        self.counted = self.draws;
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
        layout::whole_numbers(folder, &path, "chain", self.chains, (self.chains, 1))
    }

    /// Writes what chains are called.
    pub(super) fn write_chain_coordinates(&self, folder: &Arc<Folder>) -> Result<(), StoreError> {
        let numbers: Vec<i64> = (0..self.chains as i64).collect();
        for group in layout::drawn(self.keep) {
            store(folder, &self.chain_coordinate(folder, group)?, &numbers)?;
        }
        if self.keep == Keep::States {
            for (array, numbers) in self.site_coordinates(folder, POSTERIOR)? {
                store(folder, &array, &numbers)?;
            }
        }
        Ok(())
    }

    /// What the sites of a group are called, and where they stand.
    fn site_coordinates(
        &self,
        folder: &Arc<Folder>,
        group: &str,
    ) -> Result<Vec<Coordinate>, StoreError> {
        let sites = self.space.sites();
        let array = |(name, numbers): (String, Vec<i64>)| {
            let path = format!("{group}/{name}");
            Ok((layout::whole_numbers(folder, &path, "site", sites, (sites, 1))?, numbers))
        };
        layout::site_coordinates(&self.space).into_iter().map(array).collect()
    }

    /// Writes marginals, if there are any: by site and value, NaN where a site has no such value.
    fn write_marginals(
        &self,
        folder: &Arc<Folder>,
        marginals: Option<&MarginalTable>,
    ) -> Result<Vec<Array<Folder>>, StoreError> {
        let Some(marginals) = marginals else {
            return Ok(Vec::new());
        };
        let values = self.space.values();
        let mut arrays = Vec::new();
        for (path, table) in [(MARGINALS[0], &marginals.mean), (MARGINALS[1], &marginals.spread)] {
            let entry = |site: usize, value: usize| match value < self.space.values_at(site) {
                true => table[site].get(value).copied().unwrap_or(f64::NAN),
                false => f64::NAN,
            };
            let sites = 0..self.space.sites();
            let numbers: Vec<f64> =
                sites.flat_map(|site| (0..values).map(move |value| entry(site, value))).collect();
            let array = layout::site_values(folder, path, &self.space)?;
            let mut chunks = Chunks::default();
            chunks.push(&numbers);
            let key = array.chunk_key(&[0, 0]);
            folder.write_sealed(key.as_str(), [&chunks.index(1), chunks.bytes()])?;
            arrays.push(array);
        }
        let path = format!("{SITES}/value");
        let array = layout::whole_numbers(folder, &path, "value", values, (values, 1))?;
        store(folder, &array, &(0..values as i64).collect::<Vec<_>>())?;
        arrays.push(array);
        Ok(arrays)
    }

    /// Metadata of every group and array by path, with what was taken so far; coordinates and the
    /// columns of the warm-up and of the sites are written along.
    pub(super) fn metadata(
        &mut self,
        folder: &Arc<Folder>,
        rounds: &[Round],
        sites: Option<&Sites>,
        marginals: Option<&MarginalTable>,
    ) -> Result<Map<String, Value>, StoreError> {
        self.count(folder)?;
        let mut all = Map::new();
        for group in layout::groups(self.keep) {
            all.insert((*group).to_owned(), layout::group(layout::library()));
        }
        if self.keep == Keep::States {
            for (array, _) in self.site_coordinates(folder, POSTERIOR)? {
                insert(&mut all, &array)?;
            }
        }
        // Before a run has ended its sites have no means, and the group no sites.
        if sites.is_some_and(|sites| !sites.means.is_empty()) || marginals.is_some() {
            for (array, numbers) in self.site_coordinates(folder, SITES)? {
                store(folder, &array, &numbers)?;
                insert(&mut all, &array)?;
            }
        }
        for array in self.write_marginals(folder, marginals)? {
            insert(&mut all, &array)?;
        }
        for group in layout::drawn(self.keep) {
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
        all.insert(ENERGY.to_owned(), self.energy.metadata(self.draws)?);
        if let Some(states) = &mut self.states {
            let name = states.name().to_owned();
            all.insert(name, states.metadata(self.draws)?);
        }
        for array in write_rounds(folder, rounds)? {
            insert(&mut all, &array)?;
        }
        if marginals.is_none() || sites.is_some_and(|sites| !sites.means.is_empty()) {
            insert(&mut all, &write_site_means(folder, sites, self.space.sites())?)?;
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
            store(folder, &array, &column)?;
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
        store(folder, &array, means)?;
    }
    Ok(array)
}

fn insert(all: &mut Map<String, Value>, array: &Array<Folder>) -> Result<(), StoreError> {
    let name = array.path().as_str().trim_start_matches('/').to_owned();
    let metadata = serde_json::to_value(array.metadata()).map_err(|error| damaged(&name, error))?;
    all.insert(name, metadata);
    Ok(())
}

/// Writes the only chunk of an array of one dimension.
fn store<T: Encode>(
    folder: &Folder,
    array: &Array<Folder>,
    content: &[T],
) -> Result<(), StoreError> {
    let mut chunks = Chunks::default();
    chunks.push(content);
    put(folder, array, 0, &chunks, 1)
}

/// Writes a file of an array of one dimension, with room for so many chunks.
fn put(
    folder: &Folder,
    array: &Array<Folder>,
    number: usize,
    chunks: &Chunks,
    room: usize,
) -> Result<(), StoreError> {
    let key = array.chunk_key(&[number as u64]);
    folder.write_sealed(key.as_str(), [&chunks.index(room), chunks.bytes()])
}
