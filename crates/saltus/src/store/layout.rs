//! Which arrays a store has: their groups, shapes, chunks and metadata.

use super::StoreError;
use super::description::Keep;
use super::folder::Folder;
use super::shard::MOST_CHUNKS;
use crate::draws::sink::STATISTICS;
use crate::draws::trace::{LOG_PROB, WEIGHT};
use crate::space::Space;
use serde_json::{Map, Value, json};
use std::num::NonZeroU64;
use std::sync::Arc;
use zarrs::array::codec::{Crc32cCodec, ShardingCodecBuilder, ShardingIndexLocation};
use zarrs::array::{Array, ArrayBuilder, ArrayMetadata, data_type};

pub(super) const POSTERIOR: &str = "posterior";
pub(super) const SAMPLE_STATS: &str = "sample_stats";
pub(super) const WARMUP: &str = "warmup";
pub(super) const SITES: &str = "sites";
/// States of two values as bits: not among what is judged, because their bytes are nobody's numbers.
pub(super) const PACKED: &str = "packed";
/// Every group that a store may have.
pub(super) const GROUPS: [&str; 5] = [POSTERIOR, SAMPLE_STATS, WARMUP, SITES, PACKED];
/// Mean values of the sites, once a run has ended.
pub(super) const SITE_MEANS: &str = "sites/mean";
/// Probabilities of the values of sites, and their standard errors.
pub(super) const MARGINALS: [&str; 2] = ["sites/marginal", "sites/marginal_se"];
/// Where −log π is kept, by the name that ArviZ knows.
pub(super) const ENERGY: &str = "sample_stats/energy";

/// Counts up with every change of what files hold and how they are sealed. Stores of 0.1 have none.
pub(super) const FORMAT: u32 = 5;
/// The one before, whose seals do not tell runs apart.
pub(super) const WITHOUT_RUN: u32 = 4;

/// Columns of the group of warm-up.
pub(super) const ROUNDS: [&str; 3] = ["steps", "scale", "acceptance"];

/// Numbers in a chunk of one observable, about. Chunks depend on the shapes of a run and not on its
/// length or pace, so that a run that was stopped or extended has the files of one that was not.
const CHUNK_NUMBERS: usize = 1 << 14;
/// Bytes in a chunk of states, about.
const CHUNK_BYTES: usize = 1 << 22;
/// Numbers in a shard of one observable, about.
const SHARD_NUMBERS: usize = 1 << 19;
/// Bytes in a shard of states, about.
const SHARD_BYTES: usize = 1 << 24;
/// Most draws in a chunk, however few the chains.
const CHUNK_DRAWS: usize = 1 << 10;
/// Draws in a chunk of the coordinate, and chunks in a file.
pub(super) const COORDINATE_CHUNK: (usize, usize) = (1 << 12, MOST_CHUNKS);
/// More rounds than a warm-up has.
pub(super) const ROUNDS_CHUNK: usize = 128;

/// Chains and draws in one chunk, and chunks in one file, which follow each other by draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Chunk {
    pub(super) chains: usize,
    pub(super) draws: usize,
    pub(super) in_shard: usize,
}

impl Chunk {
    pub(super) fn of_numbers(chains: usize) -> Self {
        let draws = draws_in(CHUNK_NUMBERS / chains);
        Self { chains, draws, in_shard: chunks_in(SHARD_NUMBERS / (chains * draws)) }
    }

    /// Of states that take that many bytes.
    pub(super) fn of_states(all_chains: usize, bytes: usize) -> Self {
        let chains = (CHUNK_BYTES / bytes).clamp(1, all_chains);
        let draws = draws_in(CHUNK_BYTES / (chains * bytes));
        let at_once = all_chains.saturating_mul(draws).saturating_mul(bytes);
        Self { chains, draws, in_shard: chunks_in(SHARD_BYTES / at_once) }
    }

    /// Draws in a file.
    pub(super) fn shard_draws(self) -> usize {
        self.draws * self.in_shard
    }
}

/// Chunks in a file; a power of two as well.
fn chunks_in(most: usize) -> usize {
    match most.min(MOST_CHUNKS) {
        0 => 1,
        most => 1 << most.ilog2(),
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
        Keep::Bits => Some((format!("{PACKED}/state_bits"), super::bits::bytes(space.sites()))),
    }
}

/// Groups of a store that keeps this of states.
pub(super) fn groups(keep: Keep) -> &'static [&'static str] {
    if keep == Keep::Bits { &GROUPS } else { &GROUPS[..4] }
}

/// Groups that have chains and draws.
pub(super) fn drawn(keep: Keep) -> &'static [&'static str] {
    if keep == Keep::Bits { &[POSTERIOR, SAMPLE_STATS, PACKED] } else { &[POSTERIOR, SAMPLE_STATS] }
}

/// What sites are called in each dimension, and the numbers of every site: its own, and where it stands.
pub(super) fn site_coordinates(space: &Space) -> Vec<(String, Vec<i64>)> {
    let sites = space.sites() as i64;
    let mut all = vec![("site".to_owned(), (0..sites).collect())];
    let shape = space.shape().unwrap_or_default();
    let name = |axis: usize| match (shape.len(), axis) {
        (2, 0) => "row".to_owned(),
        (2, _) => "column".to_owned(),
        _ => format!("axis_{axis}"),
    };
    let mut step = sites;
    for (axis, length) in shape.iter().enumerate().filter(|_| shape.len() > 1) {
        let (length, outer) = (*length as i64, step);
        step /= length.max(1);
        let inner = step.max(1);
        all.push((name(axis), (0..sites).map(|site| site % outer.max(1) / inner).collect()));
    }
    all
}

/// Fails if an observable cannot name an array.
pub(super) fn check_name(name: &str) -> Result<(), StoreError> {
    let taken = ["chain", "draw", "site", "byte", "state", "state_bits", "row", "column"];
    let taken = taken.contains(&name) || name.starts_with("axis_");
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
    path: &str,
    chains: usize,
) -> Result<Array<Folder>, StoreError> {
    let chunk = Chunk::of_numbers(chains);
    let builder = builder(
        &[chains, 0],
        &[chunk.chains, chunk.draws],
        chunk.in_shard,
        data_type::float64(),
        f64::NAN,
        &["chain", "draw"],
    );
    build(builder, folder, path)
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
        chunk.in_shard,
        data_type::uint8(),
        0u8,
        &["chain", "draw", dimension],
    );
    let places: Vec<String> = match packed {
        true => Vec::new(),
        false => site_coordinates(space).into_iter().skip(1).map(|(name, _)| name).collect(),
    };
    if !places.is_empty() {
        // As CF conventions have it, so that xarray takes them for coordinates.
        builder.attributes_mut().insert("coordinates".to_owned(), json!(places.join(" ")));
    }
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
    (chunk, in_shard): (usize, usize),
) -> Result<Array<Folder>, StoreError> {
    let builder = builder(&[length], &[chunk], in_shard, data_type::int64(), 0i64, &[dimension]);
    build(builder, folder, path)
}

/// A column of numbers.
pub(super) fn column(
    folder: &Arc<Folder>,
    path: &str,
    dimension: &str,
    length: usize,
    chunk: usize,
) -> Result<Array<Folder>, StoreError> {
    let builder = builder(&[length], &[chunk], 1, data_type::float64(), f64::NAN, &[dimension]);
    build(builder, folder, path)
}

/// Numbers by site and value.
pub(super) fn site_values(
    folder: &Arc<Folder>,
    path: &str,
    space: &Space,
) -> Result<Array<Folder>, StoreError> {
    let shape = [space.sites(), space.values()];
    let mut builder =
        builder(&shape, &shape, 1, data_type::float64(), f64::NAN, &["site", "value"]);
    let places = site_coordinates(space).into_iter().skip(1).map(|(name, _)| name);
    let places: Vec<String> = places.collect();
    if !places.is_empty() {
        builder.attributes_mut().insert("coordinates".to_owned(), json!(places.join(" ")));
    }
    build(builder, folder, path)
}

fn builder(
    shape: &[usize],
    chunk: &[usize],
    in_shard: usize,
    data_type: zarrs::array::DataType,
    empty: impl Into<zarrs::array::builder::ArrayBuilderFillValue>,
    dimensions: &[&str],
) -> ArrayBuilder {
    let shape: Vec<u64> = shape.iter().map(|length| *length as u64).collect();
    let at_least_one = |length: usize| NonZeroU64::new(length as u64).unwrap_or(NonZeroU64::MIN);
    // Draws are the second dimension, or the only one.
    let grows = usize::from(chunk.len() > 1);
    let shard = chunk.iter().enumerate().map(|(dimension, length)| {
        at_least_one(if dimension == grows { length * in_shard } else { *length })
    });
    let shard: Vec<NonZeroU64> = shard.collect();
    let chunk: Vec<NonZeroU64> = chunk.iter().copied().map(at_least_one).collect();
    let mut codec = ShardingCodecBuilder::new(chunk, &data_type);
    codec
        .bytes_to_bytes_codecs(vec![Arc::new(Crc32cCodec::new())])
        // At the start, so that what stands behind the chunks is nobody's business but ours.
        .index_location(ShardingIndexLocation::Start);
    let mut builder = ArrayBuilder::new(shape, shard, data_type, empty);
    builder
        .dimension_names(Some(dimensions.iter().copied()))
        .array_to_bytes_codec(codec.build_arc());
    builder
}

fn build(
    builder: ArrayBuilder,
    folder: &Arc<Folder>,
    path: &str,
) -> Result<Array<Folder>, StoreError> {
    builder.build(folder.clone(), &format!("/{path}")).map_err(|error| damaged(path, error))
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

/// Chains, draws and numbers in a row of a file of an array, as its metadata has it.
pub(super) fn file_of(path: &str, metadata: &Value) -> Result<FileShape, StoreError> {
    let lengths = metadata["chunk_grid"]["configuration"]["chunk_shape"].as_array();
    let lengths: Vec<usize> = lengths
        .into_iter()
        .flatten()
        .filter_map(|length| Some(length.as_u64()? as usize).filter(|length| *length > 0))
        .collect();
    match lengths[..] {
        [chains, draws] => Ok(FileShape { chains, draws, row: 1 }),
        [chains, draws, row] => Ok(FileShape { chains, draws, row }),
        _ => Err(damaged(path, "its chunks are not over chains and draws")),
    }
}

/// Chains and draws in one file of an array, and numbers in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FileShape {
    pub(super) chains: usize,
    pub(super) draws: usize,
    pub(super) row: usize,
}

impl FileShape {
    /// How many numbers a file has; fails if that cannot be.
    pub(super) fn numbers(self, path: &str) -> Result<usize, StoreError> {
        let numbers = self.chains.checked_mul(self.draws).and_then(|n| n.checked_mul(self.row));
        numbers.ok_or_else(|| damaged(path, "its chunks are larger than anything"))
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
        let chunk = |chains, draws, in_shard| Chunk { chains, draws, in_shard };
        assert_eq!(Chunk::of_numbers(100), chunk(100, 128, 32));
        assert_eq!(Chunk::of_numbers(4), chunk(4, 1024, 128));
        assert_eq!(Chunk::of_numbers(1), chunk(1, 1024, 128));
        assert_eq!(Chunk::of_numbers(1 << 20), chunk(1 << 20, 1, 1));
        assert_eq!(Chunk::of_states(100, 2500), chunk(100, 16, 4));
        assert_eq!(Chunk::of_states(100, 1 << 20), chunk(4, 1, 1));
        assert_eq!(Chunk::of_states(2, 1 << 30), chunk(1, 1, 1));
        assert_eq!(Chunk::of_states(4, 16), chunk(4, 1024, 128));
    }
}
