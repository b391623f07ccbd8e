//! An array that grows by draws: chunks gather in memory until a file of them is full.

use super::StoreError;
use super::folder::Folder;
use super::layout::{Chunk, FileShape, damaged};
use super::shard::{Chunks, Encode, MOST_CHUNKS};
use serde_json::Value;
use std::ops::Range;
use std::sync::Arc;
use zarrs::array::{Array, ElementOwned, FromArrayBytes};

/// What an array can hold.
pub(super) trait Number: Encode + ElementOwned {}
impl Number for f64 {}
impl Number for u8 {}

/// A growing array over chain and draw, with a row of numbers for each.
pub(super) struct Strip<T> {
    folder: Arc<Folder>,
    array: Array<Folder>,
    chains: usize,
    row: usize,
    chunk: Chunk,
    empty: T,
    draws: usize,
    /// Draws in whole files on disk.
    written: usize,
    /// The chunks that are being filled, one per group of chains.
    buffer: Vec<T>,
    /// The whole chunks of the files that are being filled, one file per group of chains.
    files: Vec<Chunks>,
}

impl<T: Number> Strip<T>
where
    Vec<T>: FromArrayBytes,
{
    pub(super) fn new(
        folder: &Arc<Folder>,
        array: Array<Folder>,
        chains: usize,
        row: usize,
        chunk: Chunk,
        empty: T,
    ) -> Self {
        let groups = chains.div_ceil(chunk.chains);
        Self {
            folder: folder.clone(),
            array,
            chains,
            row,
            chunk,
            empty,
            draws: 0,
            written: 0,
            buffer: vec![empty; groups * chunk.chains * chunk.draws * row],
            files: vec![Chunks::default(); groups],
        }
    }

    /// Its path in the store.
    pub(super) fn name(&self) -> &str {
        name_of(&self.array)
    }

    /// Draws in whole files on disk.
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
                self.next_chunk()?;
            }
        }
        Ok(())
    }

    /// Puts full chunks away, and their files to disk if these are full, too.
    fn next_chunk(&mut self) -> Result<(), StoreError> {
        self.add_chunks();
        self.buffer.fill(self.empty);
        if self.draws.is_multiple_of(self.chunk.shard_draws()) {
            self.write(self.draws / self.chunk.shard_draws() - 1)?;
            self.written = self.draws;
            self.files.iter_mut().for_each(Chunks::clear);
        }
        Ok(())
    }

    /// Writes the files that are not full yet.
    pub(super) fn flush(&mut self) -> Result<(), StoreError> {
        if self.draws.is_multiple_of(self.chunk.shard_draws()) {
            return Ok(());
        }
        let begun = !self.draws.is_multiple_of(self.chunk.draws);
        if begun {
            self.add_chunks();
        }
        let written = self.write(self.draws / self.chunk.shard_draws());
        if begun {
            self.files.iter_mut().for_each(Chunks::pop);
        }
        written
    }

    /// Adds the chunks that are being filled to their files.
    fn add_chunks(&mut self) {
        let length = self.chunk_length();
        for (file, content) in self.files.iter_mut().zip(self.buffer.chunks_exact(length)) {
            file.push(content);
        }
    }

    /// Numbers in a chunk.
    fn chunk_length(&self) -> usize {
        self.chunk.chains * self.chunk.draws * self.row
    }

    fn write(&mut self, number: usize) -> Result<(), StoreError> {
        for (group, chunks) in self.files.iter().enumerate() {
            let key = self.array.chunk_key(&self.index(group, number));
            let index = chunks.index(self.chunk.in_shard);
            self.folder.write_sealed(key.as_str(), [&index, chunks.bytes()])?;
        }
        Ok(())
    }

    /// The index of a file.
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
        let (width, in_file) = (self.chunk.draws, self.chunk.shard_draws());
        self.set_draws(draws.next_multiple_of(in_file))?;
        self.draws = draws;
        self.written = draws / in_file * in_file;
        self.buffer.fill(self.empty);
        self.files.iter_mut().for_each(Chunks::clear);
        if self.written == draws {
            return Ok(());
        }
        let length = self.chunk_length();
        let shape = FileShape { chains: self.chunk.chains, draws: in_file, row: self.row };
        for group in 0..self.files.len() {
            let index = self.index(group, draws / in_file);
            let content = read_file::<T>(&self.folder, &self.array, &index, shape)?;
            let buffer = &mut self.buffer[group * length..(group + 1) * length];
            let chunk = |first: usize, draws: usize, buffer: &mut [T]| {
                let rows = buffer.chunks_exact_mut(width * self.row);
                for (row, content) in rows.zip(content.chunks_exact(in_file * self.row)) {
                    let from = &content[first * self.row..(first + draws) * self.row];
                    row[..from.len()].copy_from_slice(from);
                }
            };
            let inside = draws % in_file;
            for whole in 0..inside / width {
                chunk(whole * width, width, &mut *buffer);
                self.files[group].push(&*buffer);
            }
            buffer.fill(self.empty);
            chunk(inside / width * width, inside % width, buffer);
        }
        Ok(())
    }
}

fn name_of(array: &Array<Folder>) -> &str {
    array.path().as_str().trim_start_matches('/')
}

/// One file, which has to be there.
fn read_file<T: Number>(
    folder: &Folder,
    array: &Array<Folder>,
    index: &[u64],
    shape: FileShape,
) -> Result<Vec<T>, StoreError>
where
    Vec<T>: FromArrayBytes,
{
    let name = name_of(array);
    let key = array.chunk_key(index).to_string();
    let wrong = |what: &str| Err(damaged(name, format!("the file {key} {what}")));
    let numbers = shape.numbers(name)?;
    // What is going to be made of a file is bounded by its length.
    let most = if folder.is_sealed() { MOST_CHUNKS } else { 1 };
    let length = folder.length(&key);
    if length == 0 {
        return wrong("is missing");
    }
    if (numbers as u64).saturating_mul(size_of::<T>() as u64) > length.saturating_mul(most as u64) {
        return wrong("is of another shape");
    }
    match array.retrieve_chunk_if_exists::<Vec<T>>(index) {
        Ok(Some(content)) if content.len() == numbers => Ok(content),
        Ok(Some(_)) => wrong("is of another shape"),
        Ok(None) => wrong("is missing"),
        Err(error) => wrong(&format!("cannot be read: {error}")),
    }
}

/// Hands out some draws of some chains of an array over chain and draw, a file at a time: the chain,
/// the first draw, and rows of numbers.
pub(super) fn read_each<T: Number>(
    folder: &Folder,
    array: &Array<Folder>,
    file: FileShape,
    chains: Range<usize>,
    draws: Range<usize>,
    mut take: impl FnMut(usize, usize, &[T]),
) -> Result<(), StoreError>
where
    Vec<T>: FromArrayBytes,
{
    if draws.is_empty() || chains.is_empty() {
        return Ok(());
    }
    let dimensions = array.dimensionality();
    for number in draws.start / file.draws..=(draws.end - 1) / file.draws {
        let first = number * file.draws;
        let within = draws.start.max(first)..draws.end.min(first.saturating_add(file.draws));
        for group in chains.start / file.chains..=(chains.end - 1) / file.chains {
            let index = [group as u64, number as u64, 0];
            let content = read_file::<T>(folder, array, &index[..dimensions], file)?;
            let first_chain = group * file.chains;
            let last = chains.end.min(first_chain.saturating_add(file.chains));
            for chain in chains.start.max(first_chain)..last {
                let own = &content[(chain - first_chain) * file.draws * file.row..];
                let rows = (within.start - first) * file.row..(within.end - first) * file.row;
                take(chain, within.start, &own[rows]);
            }
        }
    }
    Ok(())
}

/// Fails unless all files of that many chains and draws are whole and in their place.
pub(super) fn check_files(
    folder: &Folder,
    array: &Array<Folder>,
    file: FileShape,
    chains: usize,
    draws: usize,
) -> Result<(), StoreError> {
    for number in 0..draws.div_ceil(file.draws) {
        for group in 0..chains.div_ceil(file.chains) {
            let index = [group as u64, number as u64, 0];
            let key = array.chunk_key(&index[..array.dimensionality()]).to_string();
            if folder.read_sealed(&key)?.is_none() {
                return Err(damaged(name_of(array), format!("the file {key} is missing")));
            }
        }
    }
    Ok(())
}

/// An array of one dimension and one chunk.
pub(super) fn read_column(
    folder: &Folder,
    array: &Array<Folder>,
    chunk: usize,
) -> Result<Vec<f64>, StoreError> {
    let length = array.shape()[0] as usize;
    if length == 0 {
        return Ok(Vec::new());
    }
    let shape = FileShape { chains: 1, draws: chunk, row: 1 };
    let mut column = read_file::<f64>(folder, array, &[0], shape)?;
    column.truncate(length);
    Ok(column)
}
