//! An array that grows by draws: whole chunks go to disk as they fill up, the last waits in memory.

use super::StoreError;
use super::folder::Folder;
use super::layout::{Chunk, damaged, every_chunk};
use serde_json::Value;
use std::ops::Range;
use zarrs::array::{Array, ArrayError, ElementOwned, FromArrayBytes, IntoArrayBytes};

/// What an array can hold.
pub(super) trait Number: Copy + ElementOwned {}
impl Number for f64 {}
impl Number for u8 {}

/// A growing array over chain and draw, with a row of numbers for each.
pub(super) struct Strip<T> {
    array: Array<Folder>,
    chains: usize,
    row: usize,
    chunk: Chunk,
    empty: T,
    draws: usize,
    /// Draws in whole chunks on disk.
    written: usize,
    /// The chunks that are being filled, one per group of chains, as they will be written.
    buffer: Vec<T>,
}

impl<T: Number> Strip<T>
where
    Vec<T>: FromArrayBytes,
    for<'a> &'a [T]: IntoArrayBytes<'a>,
{
    pub(super) fn new(
        array: Array<Folder>,
        chains: usize,
        row: usize,
        chunk: Chunk,
        empty: T,
    ) -> Self {
        let buffer = vec![empty; chains.next_multiple_of(chunk.chains) * chunk.draws * row];
        Self { array, chains, row, chunk, empty, draws: 0, written: 0, buffer }
    }

    /// Its path in the store.
    pub(super) fn name(&self) -> &str {
        name_of(&self.array)
    }

    /// Draws in whole chunks on disk.
    pub(super) fn written(&self) -> usize {
        self.written
    }

    /// Takes the next draws: `rows` gives those of a chain.
    pub(super) fn push<'r>(
        &mut self,
        count: usize,
        rows: impl Fn(usize) -> &'r [T],
    ) -> Result<(), StoreError>
    where
        T: 'r,
    {
        let (row, width) = (self.row, self.chunk.draws);
        let mut taken = 0;
        while taken < count {
            let at = self.draws % width;
            let fitting = (count - taken).min(width - at);
            for chain in 0..self.chains {
                let own = &rows(chain)[taken * row..(taken + fitting) * row];
                self.buffer[(chain * width + at) * row..][..own.len()].copy_from_slice(own);
            }
            taken += fitting;
            self.draws += fitting;
            if self.draws.is_multiple_of(width) {
                self.write(self.draws / width - 1)?;
                self.written = self.draws;
                self.buffer.fill(self.empty);
            }
        }
        Ok(())
    }

    /// Writes the chunks that are not full yet.
    pub(super) fn flush(&mut self) -> Result<(), StoreError> {
        if self.draws.is_multiple_of(self.chunk.draws) {
            return Ok(());
        }
        self.write(self.draws / self.chunk.draws)
    }

    fn group_length(&self) -> usize {
        self.chunk.chains * self.chunk.draws * self.row
    }

    fn write(&mut self, number: usize) -> Result<(), StoreError> {
        self.set_draws((number + 1) * self.chunk.draws)?;
        for (group, content) in self.buffer.chunks_exact(self.group_length()).enumerate() {
            let index = self.index(group, number);
            let stored = self.array.store_chunk_opt(&index, content, &every_chunk());
            stored.map_err(|error| write_failed(&self.array, error))?;
        }
        Ok(())
    }

    /// The index of a chunk.
    fn index(&self, group: usize, number: usize) -> Vec<u64> {
        let index = [group as u64, number as u64, 0];
        index[..self.array.dimensionality()].to_vec()
    }

    /// Its metadata with that many draws.
    pub(super) fn metadata(&mut self, draws: usize) -> Result<Value, StoreError> {
        self.set_draws(draws)?;
        serde_json::to_value(self.array.metadata()).map_err(|error| damaged(self.name(), error))
    }

    fn set_draws(&mut self, draws: usize) -> Result<(), StoreError> {
        let mut shape = self.array.shape().to_vec();
        shape[1] = draws as u64;
        let path = self.array.path().to_string();
        self.array.set_shape(shape).map(|_| ()).map_err(|error| damaged(&path, error))
    }

    /// Goes back to the first draws, which are on disk.
    pub(super) fn rewind(&mut self, draws: usize) -> Result<(), StoreError> {
        let width = self.chunk.draws;
        self.set_draws(draws.next_multiple_of(width))?;
        self.draws = draws;
        self.written = draws / width * width;
        self.buffer.fill(self.empty);
        let kept = draws % width * self.row;
        if kept > 0 {
            let length = self.group_length();
            for group in 0..self.buffer.len() / length {
                let index = self.index(group, draws / width);
                let content = read_chunk::<T>(&self.array, &index, length)?;
                let buffer = &mut self.buffer[group * length..(group + 1) * length];
                let rows = buffer.chunks_exact_mut(width * self.row);
                for (row, content) in rows.zip(content.chunks_exact(width * self.row)) {
                    row[..kept].copy_from_slice(&content[..kept]);
                }
            }
        }
        Ok(())
    }
}

fn name_of(array: &Array<Folder>) -> &str {
    array.path().as_str().trim_start_matches('/')
}

/// Why a chunk was not written.
pub(super) fn write_failed(array: &Array<Folder>, error: ArrayError) -> StoreError {
    match error {
        // What the file system said is a sentence already.
        ArrayError::StorageError(error) => StoreError::Missing(error.to_string()),
        error => damaged(name_of(array), error),
    }
}

/// One chunk, which has to be there.
fn read_chunk<T: Number>(
    array: &Array<Folder>,
    index: &[u64],
    length: usize,
) -> Result<Vec<T>, StoreError>
where
    Vec<T>: FromArrayBytes,
{
    let name = name_of(array);
    let file = || array.chunk_key(index).to_string();
    match array.retrieve_chunk_if_exists::<Vec<T>>(index) {
        Ok(Some(content)) if content.len() == length => Ok(content),
        Ok(Some(_)) => Err(damaged(name, format!("the file {} is of another shape", file()))),
        Ok(None) => Err(damaged(name, format!("the file {} is missing", file()))),
        Err(error) => Err(damaged(name, format!("the file {} cannot be read: {error}", file()))),
    }
}

/// Some draws of some chains of an array over chain and draw, chain by chain, one chunk at a time.
pub(super) fn read<T: Number>(
    array: &Array<Folder>,
    chunk: Chunk,
    row: usize,
    chains: Range<usize>,
    draws: Range<usize>,
) -> Result<Vec<Vec<T>>, StoreError>
where
    Vec<T>: FromArrayBytes,
{
    let mut series = vec![Vec::with_capacity(draws.len() * row); chains.len()];
    if draws.is_empty() || chains.is_empty() {
        return Ok(series);
    }
    let dimensions = array.dimensionality();
    let whole = chunk.chains * chunk.draws * row;
    for number in draws.start / chunk.draws..=(draws.end - 1) / chunk.draws {
        let first = number * chunk.draws;
        let within = draws.start.max(first) - first..draws.end.min(first + chunk.draws) - first;
        for group in chains.start / chunk.chains..=(chains.end - 1) / chunk.chains {
            let index = [group as u64, number as u64, 0];
            let content = read_chunk::<T>(array, &index[..dimensions], whole)?;
            let first = group * chunk.chains;
            for chain in chains.start.max(first)..chains.end.min(first + chunk.chains) {
                let own = &content[(chain - first) * chunk.draws * row..];
                series[chain - chains.start]
                    .extend_from_slice(&own[within.start * row..within.end * row]);
            }
        }
    }
    Ok(series)
}

/// An array of one dimension and one chunk.
pub(super) fn read_column(array: &Array<Folder>, chunk: usize) -> Result<Vec<f64>, StoreError> {
    let length = array.shape()[0] as usize;
    if length == 0 {
        return Ok(Vec::new());
    }
    let mut column = read_chunk::<f64>(array, &[0], chunk)?;
    column.truncate(length);
    Ok(column)
}
