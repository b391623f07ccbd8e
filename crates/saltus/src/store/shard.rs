//! Shards: files of many chunks each, as Zarr's codec `sharding_indexed` has them, so that a store of
//! many draws is one of few files.
//!
//! A shard is an index of where its chunks are, with a checksum, and then the chunks, each with a
//! checksum of its own. Chunks that are not there yet are marked in the index, so a shard grows by
//! being written anew with more of them. Here shards are written; `zarrs` reads them.

/// Chunks in a shard, at most.
pub(super) const MOST_CHUNKS: usize = 128;
/// Where the index has a chunk that is not there.
const NOWHERE: u64 = u64::MAX;

/// A number as it stands in a chunk.
pub(super) trait Encode: Copy {
    /// Appends the bytes of some.
    fn put(numbers: &[Self], bytes: &mut Vec<u8>);
}

impl Encode for f64 {
    fn put(numbers: &[Self], bytes: &mut Vec<u8>) {
        bytes.reserve(size_of_val(numbers));
        numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    }
}

impl Encode for i64 {
    fn put(numbers: &[Self], bytes: &mut Vec<u8>) {
        bytes.reserve(size_of_val(numbers));
        numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    }
}

impl Encode for u8 {
    fn put(numbers: &[Self], bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(numbers);
    }
}

/// The chunks of a shard that is being filled, in order, as they will be written.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunks {
    bytes: Vec<u8>,
    count: usize,
}

impl Chunks {
    /// Adds a chunk; all are of one length.
    pub(super) fn push<T: Encode>(&mut self, content: &[T]) {
        let start = self.bytes.len();
        T::put(content, &mut self.bytes);
        let checksum = crc32c::crc32c(&self.bytes[start..]);
        self.bytes.extend(checksum.to_le_bytes());
        self.count += 1;
    }

    /// Forgets the last.
    pub(super) fn pop(&mut self) {
        let length = self.bytes.len().checked_div(self.count).unwrap_or(0);
        self.bytes.truncate(self.bytes.len() - length);
        self.count = self.count.saturating_sub(1);
    }

    /// Forgets them all.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.count = 0;
    }

    /// What stands in the file of a shard of that many chunks before these, which are its first.
    pub(super) fn index(&self, chunks: usize) -> Vec<u8> {
        let first = 16 * chunks + 4;
        let length = self.bytes.len().checked_div(self.count).unwrap_or(0);
        let mut index = Vec::with_capacity(first);
        for chunk in 0..chunks {
            let place = match chunk < self.count {
                true => [(first + chunk * length) as u64, length as u64],
                false => [NOWHERE, NOWHERE],
            };
            index.extend(place.into_iter().flat_map(u64::to_le_bytes));
        }
        index.extend(crc32c::crc32c(&index).to_le_bytes());
        index
    }

    /// The chunks as they stand there.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
