//! Which arrays a store has: their groups, shapes, chunks and metadata.

use super::StoreError;
use super::description::Keep;
use super::folder::Folder;
use crate::draws::sink::STATISTICS;
use crate::draws::trace::{LOG_PROB, WEIGHT};
use crate::space::Space;
use serde_json::{Map, Value, json};
use std::num::NonZeroU64;
use std::sync::Arc;
use zarrs::array::codec::Crc32cCodec;
use zarrs::array::{Array, ArrayBuilder, ArrayMetadata, CodecOptions, data_type};

pub(super) const POSTERIOR: &str = "posterior";
pub(super) const SAMPLE_STATS: &str = "sample_stats";
pub(super) const WARMUP: &str = "warmup";
pub(super) const SITES: &str = "sites";
/// Every group of a store.
pub(super) const GROUPS: [&str; 4] = [POSTERIOR, SAMPLE_STATS, WARMUP, SITES];
/// Mean values of the sites, once a run has ended.
pub(super) const SITE_MEANS: &str = "sites/mean";
/// Groups that have chains and draws.
pub(super) const DRAWN: [&str; 2] = [POSTERIOR, SAMPLE_STATS];

/// Columns of the group of warm-up.
pub(super) const ROUNDS: [&str; 3] = ["steps", "scale", "acceptance"];

/// Numbers in a chunk of one observable, about. Chunks depend on the shapes of a run and not on its
/// length or pace, so that a run that was stopped or extended has the files of one that was not.
const CHUNK_NUMBERS: usize = 1 << 14;
/// Bytes in a chunk of states, about.
const CHUNK_BYTES: usize = 1 << 22;
/// Most draws in a chunk, however few the chains.
const CHUNK_DRAWS: usize = 1 << 10;
/// Draws in a chunk of the coordinate.
pub(super) const COORDINATE_CHUNK: usize = 1 << 12;
/// More rounds than a warm-up has.
pub(super) const ROUNDS_CHUNK: usize = 128;

/// Chains and draws in one chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Chunk {
    pub(super) chains: usize,
    pub(super) draws: usize,
}

impl Chunk {
    pub(super) fn of_numbers(chains: usize) -> Self {
        Self { chains, draws: draws_in(CHUNK_NUMBERS / chains) }
    }

    /// Of states that take that many bytes.
    pub(super) fn of_states(chains: usize, bytes: usize) -> Self {
        let chains = (CHUNK_BYTES / bytes).clamp(1, chains);
        Self { chains, draws: draws_in(CHUNK_BYTES / (chains * bytes)) }
    }
}

/// A power of two, so that few draws more or less do not change it.
fn draws_in(most: usize) -> usize {
    match most.min(CHUNK_DRAWS) {
        0 => 1,
        most => 1 << most.ilog2(),
    }
}

/// Where an observable or statistic is kept.
pub(super) fn path_of(name: &str) -> String {
    if name == LOG_PROB {
        format!("{SAMPLE_STATS}/lp")
    } else if STATISTICS.contains(&name) || name == WEIGHT {
        format!("{SAMPLE_STATS}/{name}")
    } else {
        format!("{POSTERIOR}/{name}")
    }
}

/// Where states are kept, and how many bytes each takes.
pub(super) fn states(keep: Keep, space: &Space) -> Option<(String, usize)> {
    match keep {
        Keep::None => None,
        Keep::States => Some((format!("{POSTERIOR}/state"), space.sites())),
        Keep::Bits => Some((format!("{POSTERIOR}/state_bits"), super::bits::bytes(space.sites()))),
    }
}

/// Fails if an observable cannot name an array.
pub(super) fn check_name(name: &str) -> Result<(), StoreError> {
    let taken = ["chain", "draw", "site", "byte", "state", "state_bits"].contains(&name);
    let odd = name.is_empty() || name.starts_with(['.', '_']) || name.contains(['/', '\\', '\0']);
    if taken || odd {
        return Err(StoreError::Missing(format!(
            "an observable of a store cannot be named '{name}'"
        )));
    }
    Ok(())
}

/// Numbers by chain and draw.
pub(super) fn numbers(
    folder: &Arc<Folder>,
    name: &str,
    chains: usize,
) -> Result<Array<Folder>, StoreError> {
    let chunk = Chunk::of_numbers(chains);
    let builder = builder(
        &[chains, 0],
        &[chunk.chains, chunk.draws],
        data_type::float64(),
        f64::NAN,
        &["chain", "draw"],
    );
    build(builder, folder, &path_of(name))
}

/// States by chain and draw.
pub(super) fn state_rows(
    folder: &Arc<Folder>,
    path: &str,
    chains: usize,
    bytes: usize,
    space: &Space,
) -> Result<Array<Folder>, StoreError> {
    let chunk = Chunk::of_states(chains, bytes);
    let packed = path.ends_with("bits");
    let dimension = if packed { "byte" } else { "site" };
    let mut builder = builder(
        &[chains, 0, bytes],
        &[chunk.chains, chunk.draws, bytes],
        data_type::uint8(),
        0u8,
        &["chain", "draw", dimension],
    );
    if packed {
        let attributes = builder.attributes_mut();
        attributes.insert("sites".to_owned(), json!(space.sites()));
        attributes.insert(
            "packing".to_owned(),
            json!("numpy.packbits(state, axis=-1): the first site of a byte is its highest bit"),
        );
    }
    build(builder, folder, path)
}

/// A coordinate, or a column of whole numbers.
pub(super) fn whole_numbers(
    folder: &Arc<Folder>,
    path: &str,
    dimension: &str,
    length: usize,
    chunk: usize,
) -> Result<Array<Folder>, StoreError> {
    build(builder(&[length], &[chunk], data_type::int64(), 0i64, &[dimension]), folder, path)
}

/// A column of numbers.
pub(super) fn column(
    folder: &Arc<Folder>,
    path: &str,
    dimension: &str,
    length: usize,
    chunk: usize,
) -> Result<Array<Folder>, StoreError> {
    build(builder(&[length], &[chunk], data_type::float64(), f64::NAN, &[dimension]), folder, path)
}

fn builder(
    shape: &[usize],
    chunk: &[usize],
    data_type: zarrs::array::DataType,
    empty: impl Into<zarrs::array::builder::ArrayBuilderFillValue>,
    dimensions: &[&str],
) -> ArrayBuilder {
    let shape: Vec<u64> = shape.iter().map(|length| *length as u64).collect();
    let at_least_one = |length: &usize| NonZeroU64::new(*length as u64).unwrap_or(NonZeroU64::MIN);
    let chunk: Vec<NonZeroU64> = chunk.iter().map(at_least_one).collect();
    let mut builder = ArrayBuilder::new(shape, chunk, data_type, empty);
    builder
        .dimension_names(Some(dimensions.iter().copied()))
        .bytes_to_bytes_codecs(vec![Arc::new(Crc32cCodec::new())]);
    builder
}

fn build(
    builder: ArrayBuilder,
    folder: &Arc<Folder>,
    path: &str,
) -> Result<Array<Folder>, StoreError> {
    builder.build(folder.clone(), &format!("/{path}")).map_err(|error| damaged(path, error))
}

/// A file for every chunk, also where it holds nothing but zeros: one that is missing is missing.
pub(super) fn every_chunk() -> CodecOptions {
    CodecOptions::default().with_store_empty_chunks(true)
}

/// An array of a store as its metadata has it.
pub(super) fn open(
    folder: &Arc<Folder>,
    path: &str,
    metadata: &Value,
) -> Result<Array<Folder>, StoreError> {
    let metadata: ArrayMetadata =
        serde_json::from_value(metadata.clone()).map_err(|error| damaged(path, error))?;
    Array::new_with_metadata(folder.clone(), &format!("/{path}"), metadata)
        .map_err(|error| damaged(path, error))
}

/// Chains and draws in a chunk of an array as its metadata has it, and numbers in a row.
pub(super) fn chunk_of(path: &str, metadata: &Value) -> Result<(Chunk, usize), StoreError> {
    let lengths = metadata["chunk_grid"]["configuration"]["chunk_shape"].as_array();
    let lengths: Vec<usize> = lengths
        .into_iter()
        .flatten()
        .filter_map(|length| Some(length.as_u64()? as usize).filter(|length| *length > 0))
        .collect();
    match lengths[..] {
        [chains, draws] => Ok((Chunk { chains, draws }, 1)),
        [chains, draws, row] => Ok((Chunk { chains, draws }, row)),
        _ => Err(damaged(path, "its chunks are not over chains and draws")),
    }
}

pub(super) fn damaged(path: &str, error: impl std::fmt::Display) -> StoreError {
    StoreError::Damaged { path: path.to_owned(), reason: error.to_string() }
}

/// Metadata of a group.
pub(super) fn group(attributes: Map<String, Value>) -> Value {
    json!({ "zarr_format": 3, "node_type": "group", "attributes": attributes })
}

/// The metadata of everything below a group, which zarr-python wants to see marked in every group.
pub(super) fn consolidated(arrays: &Map<String, Value>) -> Value {
    let mut all = arrays.clone();
    for metadata in all.values_mut().filter(|metadata| metadata["node_type"] == "group") {
        metadata["consolidated_metadata"] = inline(Map::new());
    }
    inline(all)
}

fn inline(metadata: Map<String, Value>) -> Value {
    json!({ "kind": "inline", "must_understand": false, "metadata": metadata })
}

/// What ArviZ likes to know of every group.
pub(super) fn library() -> Map<String, Value> {
    let entries = [
        ("inference_library".to_owned(), json!("saltus")),
        ("inference_library_version".to_owned(), json!(env!("CARGO_PKG_VERSION"))),
    ];
    Map::from_iter(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_follow_the_shapes() {
        assert_eq!(Chunk::of_numbers(100), Chunk { chains: 100, draws: 128 });
        assert_eq!(Chunk::of_numbers(1), Chunk { chains: 1, draws: 1024 });
        assert_eq!(Chunk::of_numbers(1 << 20), Chunk { chains: 1 << 20, draws: 1 });
        assert_eq!(Chunk::of_states(100, 2500), Chunk { chains: 100, draws: 16 });
        assert_eq!(Chunk::of_states(100, 1 << 20), Chunk { chains: 4, draws: 1 });
        assert_eq!(Chunk::of_states(2, 1 << 30), Chunk { chains: 1, draws: 1 });
    }
}
