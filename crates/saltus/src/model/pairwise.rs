//! Ising and Potts models on any sparse graph, with the rectangular lattice as the fast path.

use super::checkerboard::{Checkerboard, CheckerboardCache};
use super::couplings::Couplings;
use super::factor::Factor;
use super::graph::{Edge, Graph};
use super::lanes::CHAINS;
use super::lattice::Lattice;
use super::sweeper::{Sweeper, SweeperCache};
use super::{Differences, Model, Sweep, SweptChains, Work, check_finite, check_length};
use crate::adjacency::Adjacency;
use crate::base::transpose;
use crate::error::ModelError;
use crate::math::vectorised;
use crate::parts::{self, PART, is_large};
use crate::space::{Space, States};
use std::sync::{Arc, OnceLock};

/// Sites that interact in pairs.
///
/// * Two values (Ising): spins s = 2x − 1, log π = Σ Jᵢⱼ sᵢ sⱼ + Σ bᵢ sᵢ.
/// * More values (Potts): log π = Σ Jᵢⱼ δ(xᵢ, xⱼ) + Σ θᵢ(xᵢ).
///
/// ```
/// use saltus::model::lattice::Lattice;
/// use saltus::model::pairwise::Pairwise;
/// use saltus::{Model, States};
/// let model = Pairwise::ising_lattice(Lattice::periodic(16, 16)?, 0.3, vec![0.0; 256])?;
/// let all_up = [1; 256];
/// let mut log_prob = [0.0];
/// model.log_prob(States::new(&all_up, 256), &mut model.new_cache(1), &mut log_prob)?;
/// assert!((log_prob[0] - 512.0 * 0.3).abs() < 1e-4); // 512 satisfied edges
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pairwise {
    space: Space,
    graph: Graph,
    /// Two values: b at each site. More: one plane of θ per value.
    field: Vec<f32>,
    /// Added to log π: what a Potts model of two values loses when it is written with spins.
    constant: f64,
    stencil: Option<Stencil>,
    checkerboard: Option<Checkerboard>,
    /// What sweeps of many chains go by, made when it is first asked for.
    sweeper: OnceLock<Sweeper>,
    /// What cluster moves go by, the same.
    couplings: OnceLock<Result<Arc<Couplings>, ModelError>>,
}

/// A lattice whose couplings are all equal: neighbours stand at fixed offsets.
#[derive(Clone, Copy, Debug)]
struct Stencil {
    lattice: Lattice,
    coupling: f32,
}

/// Scratch of a [`Pairwise`] model: one bordered state, and what is found of its sites.
#[derive(Clone, Debug)]
pub struct PairwiseCache {
    bordered_spins: Vec<i8>,
    /// What the neighbours of each spin add up to, with and without the border of its row.
    bordered_sums: Vec<i8>,
    sums: Vec<i8>,
    bordered_values: Vec<u8>,
    /// Of every part of the lattice.
    tiles: Vec<PottsTile>,
    checkerboard: CheckerboardCache,
    sweeper: SweeperCache,
}

impl Pairwise {
    /// An Ising model on any graph; `field` has one entry per site.
    pub fn ising(edges: &[Edge], field: Vec<f32>) -> Result<Self, ModelError> {
        let space = Space::new(field.len(), 2)?;
        check_finite("field", &field)?;
        let graph = Graph::new(field.len(), edges)?;
        Ok(Self::on_graph(space, graph, field))
    }

    /// An Ising model on a lattice with equal couplings.
    pub fn ising_lattice(
        lattice: Lattice,
        coupling: f32,
        field: Vec<f32>,
    ) -> Result<Self, ModelError> {
        check_length("the field", field.len(), lattice.sites())?;
        check_finite("coupling", &[coupling])?;
        Self::ising(&lattice.edges(coupling), field)?.with_stencil(lattice, coupling)
    }

    /// A Potts model on any graph; `field[n·values + j]` = θ of value j at site n.
    pub fn potts(values: usize, edges: &[Edge], field: &[f32]) -> Result<Self, ModelError> {
        let sites = field.len() / values.max(1);
        let space = Space::new(sites, values)?;
        check_length("the field", field.len(), sites * values)?;
        check_finite("field", field)?;
        if space.is_binary() {
            // δ(x, y) = (1 + s t)/2: a Potts model of two values is an Ising model of half the
            // couplings and fields, and a constant.
            let pairs: f64 = edges.iter().map(|edge| f64::from(edge.weight)).sum();
            let fields: f64 = field.iter().copied().map(f64::from).sum();
            let edges: Vec<Edge> =
                edges.iter().map(|edge| Edge { weight: edge.weight / 2.0, ..*edge }).collect();
            let field = field.chunks_exact(2).map(|pair| (pair[1] - pair[0]) / 2.0).collect();
            let ising = Self::ising(&edges, field)?;
            return Ok(Self { constant: 0.5 * (pairs + fields), ..ising });
        }
        let graph = Graph::new(sites, edges)?;
        Ok(Self::on_graph(space, graph, transpose(field, sites, values)))
    }

    fn on_graph(space: Space, graph: Graph, field: Vec<f32>) -> Self {
        Self {
            space,
            graph,
            field,
            constant: 0.0,
            stencil: None,
            checkerboard: None,
            sweeper: OnceLock::new(),
            couplings: OnceLock::new(),
        }
    }

    /// A Potts model on a lattice with equal couplings.
    pub fn potts_lattice(
        lattice: Lattice,
        values: usize,
        coupling: f32,
        field: &[f32],
    ) -> Result<Self, ModelError> {
        check_length("the field", field.len(), lattice.sites() * values)?;
        check_finite("coupling", &[coupling])?;
        let model = Self::potts(values, &lattice.edges(coupling), field)?;
        let coupling = if model.space.is_binary() { coupling / 2.0 } else { coupling };
        model.with_stencil(lattice, coupling)
    }

    /// The same as a lattice, if the graph is one with equal couplings and its sites are numbered row after row: sweeps
    /// and differences are faster then. The lattice is told; the space keeps its shape.
    pub fn seen_as_lattice(self) -> Result<(Self, Option<Lattice>), ModelError> {
        let sites = self.space.sites();
        let Some((lattice, coupling)) = Lattice::of_edges(sites, &self.graph.edges()) else {
            return Ok((self, None));
        };
        let space = self.space.clone();
        Ok((Self { space, ..self.with_stencil(lattice, coupling)? }, Some(lattice)))
    }

    fn with_stencil(self, lattice: Lattice, coupling: f32) -> Result<Self, ModelError> {
        let fits = lattice.has_stencil() && self.space.values() <= usize::from(OUTSIDE);
        let stencil = fits.then_some(Stencil { lattice, coupling });
        let spins = self.space.is_binary();
        let checkerboard =
            spins.then(|| Checkerboard::new(lattice, coupling, &self.field)).flatten();
        let (rows, columns) = lattice.shape();
        Ok(Self { stencil, checkerboard, space: self.space.with_shape(&[rows, columns])?, ..self })
    }

    /// The same with sweeps of a certain kind.
    #[cfg(test)]
    pub(crate) fn swept_by(mut self, sweeper: Sweeper) -> Self {
        self.sweeper = OnceLock::from(sweeper);
        self
    }

    fn sweeper(&self) -> &Sweeper {
        self.sweeper.get_or_init(|| Sweeper::new(&self.space, &self.graph, &self.field))
    }

    /// The same with its sites arranged in any number of dimensions.
    pub fn with_shape(self, shape: &[usize]) -> Result<Self, ModelError> {
        Ok(Self { space: self.space.with_shape(shape)?, ..self })
    }

    /// The same with that much more log π everywhere.
    pub fn with_constant(self, constant: f64) -> Self {
        Self { constant: self.constant + constant, couplings: OnceLock::new(), ..self }
    }

    /// A table per edge and per site.
    fn tables(&self) -> Result<Vec<Factor>, ModelError> {
        let values = || (0..self.space.values()).map(|value| value as u8);
        let of_pair = |weight: f32, one: u8, other: u8| match self.space.is_binary() {
            true => f64::from(weight * spin(one) * spin(other)),
            false => f64::from(if one == other { weight } else { 0.0 }),
        };
        let mut tables = vec![Factor::new([], [self.constant])?];
        for site in 0..self.space.sites() {
            let field = values().map(|value| f64::from(self.field_of(site, value)));
            tables.push(Factor::new([site as u32], field.collect::<Box<[f64]>>())?);
            for (other, weight) in self.graph.neighbours(site).filter(|(other, _)| *other > site) {
                let pairs = values().flat_map(|a| values().map(move |b| (a, b)));
                let logs: Box<[f64]> = pairs.map(|(a, b)| of_pair(weight, a, b)).collect();
                tables.push(Factor::new([site as u32, other as u32], logs)?);
            }
        }
        Ok(tables)
    }

    /// The field acting on one value of one site.
    fn field_of(&self, site: usize, value: u8) -> f32 {
        if self.space.is_binary() {
            self.field[site] * spin(value)
        } else {
            self.field[usize::from(value) * self.space.sites() + site]
        }
    }

    fn adjacency_of(&self, site: usize) -> &[u32] {
        self.graph.adjacency().neighbours(site)
    }

    /// Σⱼ Jᵢⱼ sⱼ, what the neighbours of a spin pull it with.
    fn pull(&self, state: &[u8], site: usize) -> f64 {
        let pulls = self.graph.neighbours(site).map(|(other, weight)| weight * spin(state[other]));
        pulls.map(f64::from).sum()
    }

    /// log π on any graph: every edge is met from both ends.
    fn log_prob_on_graph(&self, state: &[u8]) -> f64 {
        let mut twice_pairs = 0.0;
        let mut fields = 0.0;
        for (site, value) in state.iter().enumerate() {
            fields += f64::from(self.field_of(site, *value));
            twice_pairs += if self.space.is_binary() {
                f64::from(spin(*value)) * self.pull(state, site)
            } else {
                let equal =
                    self.graph.neighbours(site).filter(|(other, _)| state[*other] == *value);
                equal.map(|(_, weight)| f64::from(weight)).sum()
            };
        }
        0.5 * twice_pairs + fields
    }

    fn ising_diff_on_graph(&self, state: &[u8], diff: &mut [f32]) -> f64 {
        let mut log_prob = 0.0;
        for (site, (value, diff)) in state.iter().zip(diff).enumerate() {
            let s = f64::from(spin(*value));
            let (pull, field) = (self.pull(state, site), f64::from(self.field[site]));
            *diff = (-2.0 * s * (pull + field)) as f32;
            log_prob += s * (0.5 * pull + field);
        }
        log_prob
    }

    fn potts_diff_on_graph(&self, state: &[u8], diff: &mut [f32]) -> f64 {
        let sites = self.space.sites();
        diff.copy_from_slice(&self.field);
        for site in 0..sites {
            for (other, weight) in self.graph.neighbours(site) {
                diff[usize::from(state[other]) * sites + site] += weight;
            }
        }
        for (site, value) in state.iter().enumerate() {
            let here = diff[usize::from(*value) * sites + site];
            for plane in diff.chunks_exact_mut(sites) {
                plane[site] -= here;
            }
        }
        self.log_prob_on_graph(state)
    }
}

impl Stencil {
    /// How many rows of the lattice are looked at together, by one thread.
    fn rows_of_part(&self) -> usize {
        let (rows, columns) = self.lattice.shape();
        if is_large(rows * columns) { PART.div_ceil(columns).min(rows) } else { rows }
    }

    /// Differences and log π of a lattice of spins.
    fn ising(
        &self,
        field: &[f32],
        state: &[u8],
        cache: &mut PairwiseCache,
        diff: &mut [f32],
    ) -> f64 {
        let PairwiseCache { bordered_spins, bordered_sums, sums, .. } = cache;
        vectorised(
            #[inline(always)]
            || self.lattice.border(state, bordered_spins, 0, |value| 2 * value as i8 - 1),
        );
        let (stride, columns, rows) =
            (self.lattice.stride(), self.lattice.shape().1, self.rows_of_part());
        let whole = IsingRows { field, state, bordered: bordered_spins, bordered_sums, sums, diff };
        let found = |part: IsingRows<'_>| {
            vectorised(
                #[inline(always)]
                || part.fill(self.coupling, stride, columns),
            )
        };
        let (twice_pairs, fields) = if rows == self.lattice.shape().0 {
            found(whole)
        } else {
            let parts = parts::each(whole.parts(rows, stride, columns), |_, part| found(part));
            parts.into_iter().fold((0, 0.0), |sums, part| (sums.0 + part.0, sums.1 + part.1))
        };
        0.5 * f64::from(self.coupling) * twice_pairs as f64 + fields
    }

    /// Differences and log π of a lattice of Potts values.
    fn potts(
        &self,
        field: &[f32],
        state: &[u8],
        cache: &mut PairwiseCache,
        diff: &mut [f32],
    ) -> f64 {
        let sites = state.len();
        let PairwiseCache { bordered_values, tiles, .. } = cache;
        vectorised(
            #[inline(always)]
            || self.lattice.border(state, bordered_values, OUTSIDE, |value| value),
        );
        let ((_, columns), rows) = (self.lattice.shape(), self.rows_of_part());
        let (stride, of_part) = (self.lattice.stride(), rows * columns);
        let mut parts = Vec::with_capacity(sites.div_ceil(of_part));
        let planes = parts::of_planes(diff, sites, of_part).into_iter();
        tiles.resize_with(sites.div_ceil(of_part), PottsTile::default);
        for (number, (diff, tile)) in planes.zip(tiles).enumerate() {
            let state = &state[number * of_part..];
            let state = &state[..of_part.min(state.len())];
            let bordered = &bordered_values[number * rows * stride..];
            parts.push(PottsRows {
                first: number * of_part,
                sites,
                field,
                state,
                bordered,
                tile,
                diff,
            });
        }
        let found = parts::each(parts, |_, mut part| {
            vectorised(
                #[inline(always)]
                || part.fill(self.coupling, stride, columns),
            )
        });
        let (twice_pairs, fields) =
            found.into_iter().fold((0, 0.0), |sums, part| (sums.0 + part.0, sums.1 + part.1));
        0.5 * f64::from(self.coupling) * twice_pairs as f64 + fields
    }
}

/// Some rows of a lattice of spins, with a row of border above and below.
struct IsingRows<'a> {
    field: &'a [f32],
    state: &'a [u8],
    bordered: &'a [i8],
    bordered_sums: &'a mut [i8],
    sums: &'a mut [i8],
    diff: &'a mut [f32],
}

impl<'a> IsingRows<'a> {
    /// The same in parts of so many rows.
    fn parts(self, rows: usize, stride: usize, columns: usize) -> Vec<Self> {
        let Self { field, state, bordered, bordered_sums, sums, diff } = self;
        let of_part = rows * columns;
        let sites = field.chunks(of_part).zip(state.chunks(of_part));
        let found = sums.chunks_mut(of_part).zip(diff.chunks_mut(of_part));
        let sums = bordered_sums.chunks_mut(rows * stride).enumerate();
        let parts = sites.zip(found).zip(sums).map(|(((field, state), (sums, diff)), own)| {
            let (number, bordered_sums) = own;
            let bordered = &bordered[number * rows * stride..];
            Self { field, state, bordered, bordered_sums, sums, diff }
        });
        parts.collect()
    }

    /// Fills in the differences; returns what all neighbours add up to in the direction of their spins, and what fields
    /// do.
    #[inline(always)]
    fn fill(self, coupling: f32, stride: usize, columns: usize) -> (i64, f64) {
        let Self { field, state, bordered, bordered_sums, sums, diff } = self;
        let length = bordered_sums.len();
        let above = &bordered[..length];
        let below = &bordered[2 * stride..][..length];
        let left = &bordered[stride - 1..][..length];
        let right = &bordered[stride + 1..][..length];
        for at in 0..length {
            bordered_sums[at] = above[at] + below[at] + left[at] + right[at];
        }
        without_border(bordered_sums, stride, columns, sums);
        let mut twice_pairs = 0i32;
        for (((diff, field), value), sum) in diff.iter_mut().zip(field).zip(state).zip(&*sums) {
            let s = 2 * *value as i8 - 1;
            *diff = -2.0 * f32::from(s) * (coupling * f32::from(*sum) + field);
            twice_pairs += i32::from(s * sum);
        }
        (i64::from(twice_pairs), aligned_field(field, state))
    }
}

/// Some rows of a lattice of Potts values.
struct PottsRows<'a> {
    /// The first site, and how many the lattice has.
    first: usize,
    sites: usize,
    /// Of the whole lattice.
    field: &'a [f32],
    state: &'a [u8],
    /// With a row of border above and below.
    bordered: &'a [u8],
    tile: &'a mut PottsTile,
    diff: Vec<&'a mut [f32]>,
}

/// What is found of rows that are looked at together.
#[derive(Clone, Debug, Default)]
struct PottsTile {
    /// Equal neighbours of each site, with and without the border of its row.
    counts: Vec<u8>,
    equal: Vec<u8>,
    /// The weights at the current values.
    here: Vec<f32>,
}

impl PottsRows<'_> {
    /// Fills in the differences; returns twice the number of equal pairs, and what fields add.
    #[inline(always)]
    fn fill(&mut self, coupling: f32, stride: usize, columns: usize) -> (i64, f64) {
        let Self { first: first_site, sites, field, state, bordered, tile, diff } = self;
        let rows = state.len() / columns;
        // Some rows at a time, so that the planes of these stay in the processor's cache until they are done.
        let at_once = (MOST_ENTRIES / diff.len() / columns).clamp(1, rows);
        let PottsTile { counts, equal, here } = &mut **tile;
        counts.resize(at_once * stride + AT_A_TIME, 0);
        equal.resize(at_once * columns + AT_A_TIME, 0);
        here.resize(at_once * columns, 0.0);
        let (mut twice_pairs, mut fields) = (0i64, [0.0; 4]);
        for first in (0..rows).step_by(at_once) {
            let rows = at_once.min(rows - first);
            let (start, count, length) = (first * columns, rows * columns, rows * stride);
            let bordered = &bordered[first * stride..][..(rows + 2) * stride];
            let above = &bordered[..length];
            let own = &bordered[stride..][..length];
            let below = &bordered[2 * stride..][..length];
            let left = &bordered[stride - 1..][..length];
            let right = &bordered[stride + 1..][..length];
            let here = &mut here[..count];
            // Whole rows with their borders are compared byte by byte; then the borders are left out.
            for (value, (diff, field)) in
                diff.iter_mut().zip(field.chunks_exact(*sites)).enumerate()
            {
                let (value, counted) = (value as u8, &mut counts[..length]);
                for at in 0..length {
                    counted[at] = u8::from(above[at] == value)
                        + u8::from(below[at] == value)
                        + u8::from(left[at] == value)
                        + u8::from(right[at] == value);
                }
                without_borders(counts, stride, columns, rows, equal);
                let field = &field[*first_site + start..][..count];
                let diff = &mut diff[start..][..count];
                for ((diff, field), equal) in diff.iter_mut().zip(field).zip(equal.iter()) {
                    *diff = field + coupling * f32::from(*equal);
                }
            }
            let counted = &mut counts[..length];
            for at in 0..length {
                counted[at] = u8::from(above[at] == own[at])
                    + u8::from(below[at] == own[at])
                    + u8::from(left[at] == own[at])
                    + u8::from(right[at] == own[at]);
            }
            without_borders(counts, stride, columns, rows, equal);
            twice_pairs +=
                i64::from(equal[..count].iter().map(|equal| u32::from(*equal)).sum::<u32>());
            // What stands in the planes at the current values, found without looking there.
            let values = state[start..].iter().zip(here.iter_mut());
            for (site, (value, here)) in (*first_site + start..).zip(values) {
                *here = field[usize::from(*value) * *sites + site];
                fields[(site - *first_site) % 4] += f64::from(*here);
            }
            for (here, equal) in here.iter_mut().zip(equal.iter()) {
                *here += coupling * f32::from(*equal);
            }
            for diff in diff.iter_mut() {
                for (diff, here) in diff[start..].iter_mut().zip(here.iter()) {
                    *diff -= here;
                }
            }
        }
        (twice_pairs, fields.iter().sum())
    }
}

/// Differences of a Potts model that are made together.
const MOST_ENTRIES: usize = 1 << 14;

/// What stands around a lattice that ends; no site has this value.
const OUTSIDE: u8 = u8::MAX;

/// Copies rows without the first and last entry that their border takes.
#[inline(always)]
fn without_border<T: Copy>(bordered: &[T], stride: usize, columns: usize, inner: &mut [T]) {
    for (inner, bordered) in inner.chunks_exact_mut(columns).zip(bordered.chunks_exact(stride)) {
        inner.copy_from_slice(&bordered[1..=columns]);
    }
}

/// Σ b s, in eight running sums so that it vectorises.
#[inline(always)]
pub(super) fn aligned_field(field: &[f32], state: &[u8]) -> f64 {
    let mut sums = [0.0f64; 8];
    let (fields, fields_tail) = field.as_chunks::<8>();
    let (values, values_tail) = state.as_chunks::<8>();
    for (field, values) in fields.iter().zip(values) {
        for lane in 0..8 {
            sums[lane] += f64::from(field[lane] * spin(values[lane]));
        }
    }
    let tail = fields_tail.iter().zip(values_tail).map(|(b, value)| f64::from(b * spin(*value)));
    sums.iter().sum::<f64>() + tail.sum::<f64>()
}

/// 0 and 1 as −1 and +1.
#[inline(always)]
fn spin(value: u8) -> f32 {
    2.0 * f32::from(value) - 1.0
}

/// Bytes that are copied at once, whatever their number.
const AT_A_TIME: usize = 32;

/// The same with so many rows, in steps that reach beyond the end of a row, where the next one is written or nobody looks.
#[inline(always)]
fn without_borders(bordered: &[u8], stride: usize, columns: usize, rows: usize, inner: &mut [u8]) {
    for row in 0..rows {
        for column in (0..columns).step_by(AT_A_TIME) {
            let from = &bordered[row * stride + 1 + column..][..AT_A_TIME];
            inner[row * columns + column..][..AT_A_TIME].copy_from_slice(from);
        }
    }
}

impl Model for Pairwise {
    type Cache = PairwiseCache;

    fn space(&self) -> &Space {
        &self.space
    }

    fn new_cache(&self, _chains: usize) -> PairwiseCache {
        let binary = self.space.is_binary();
        let lattice = self.stencil.map(|stencil| stencil.lattice);
        let bordered = lattice.map_or(0, |lattice| lattice.bordered_len());
        let rows = lattice.map_or(0, |lattice| lattice.shape().0 * lattice.stride());
        let only = |wanted: bool, length: usize| if wanted { length } else { 0 };
        PairwiseCache {
            bordered_spins: vec![0; only(binary, bordered)],
            bordered_sums: vec![0; only(binary, rows)],
            sums: vec![0; only(binary && lattice.is_some(), self.space.sites())],
            bordered_values: vec![0; only(!binary, bordered)],
            tiles: Vec::new(),
            checkerboard: CheckerboardCache::default(),
            sweeper: SweeperCache::default(),
        }
    }

    fn log_prob(
        &self,
        states: States<'_>,
        _cache: &mut PairwiseCache,
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        for (state, log_prob) in states.rows().zip(log_prob) {
            *log_prob = self.constant + self.log_prob_on_graph(state);
        }
        Ok(())
    }

    fn log_prob_and_diff(
        &self,
        _kind: Differences,
        states: States<'_>,
        cache: &mut PairwiseCache,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        if self.stencil.is_none() && self.space.is_binary() {
            let graph = (&self.graph, &self.field[..]);
            let bytes = states.bytes();
            if self.sweeper().differences(graph, bytes, &mut cache.sweeper, log_prob, diff) {
                log_prob.iter_mut().for_each(|log_prob| *log_prob += self.constant);
                return Ok(());
            }
        }
        let rows = states.rows().zip(diff.chunks_exact_mut(self.space.diff_len()));
        for ((state, diff), log_prob) in rows.zip(log_prob) {
            let variable = match (self.stencil, self.space.is_binary()) {
                (Some(stencil), true) => stencil.ising(&self.field, state, cache, diff),
                (Some(stencil), false) => stencil.potts(&self.field, state, cache, diff),
                (None, true) => self.ising_diff_on_graph(state, diff),
                (None, false) => self.potts_diff_on_graph(state, diff),
            };
            *log_prob = self.constant + variable;
        }
        Ok(())
    }

    fn taylor_is_exact(&self) -> bool {
        true
    }

    fn is_incremental(&self) -> bool {
        true
    }

    /// Without fields, or with fields that are the same for every value.
    fn is_symmetric(&self) -> bool {
        let sites = self.space.sites();
        match self.space.is_binary() {
            true => self.field.iter().all(|field| *field == 0.0),
            false => self.field.iter().zip(&self.field[sites..]).all(|(one, next)| one == next),
        }
    }

    fn site_diff(
        &self,
        state: &[u8],
        _chain: usize,
        _cache: &mut PairwiseCache,
        site: usize,
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        if self.space.is_binary() {
            let s = f64::from(spin(state[site]));
            let flip = -2.0 * s * (self.pull(state, site) + f64::from(self.field[site]));
            diff[usize::from(state[site])] = 0.0;
            diff[usize::from(1 - state[site])] = flip;
        } else {
            for (value, diff) in diff.iter_mut().enumerate() {
                *diff = f64::from(self.field_of(site, value as u8));
            }
            for (other, weight) in self.graph.neighbours(site) {
                diff[usize::from(state[other])] += f64::from(weight);
            }
            let here = diff[usize::from(state[site])];
            for diff in diff {
                *diff -= here;
            }
        }
        Ok(())
    }

    fn adjacency(&self) -> Option<&Adjacency> {
        Some(self.graph.adjacency())
    }

    fn factors(&self) -> Option<Vec<Factor>> {
        self.tables().ok()
    }

    fn couplings(&self) -> Result<Arc<Couplings>, ModelError> {
        let make = || Couplings::new(&self.space, &self.tables()?).map(Arc::new);
        self.couplings.get_or_init(make).clone()
    }

    fn sweep(&self, chains: SweptChains<'_>, cache: &mut PairwiseCache) -> bool {
        if !chains.is_multiple_of_model() {
            return false;
        }
        if let Some(board) = &self.checkerboard {
            chains.one_by_one(|state, rung, rng| {
                let sweep = board.sweep(rung.factor(), state, &mut cache.checkerboard, rng);
                Sweep { log_prob: sweep.log_prob + self.constant, ..sweep }
            });
            return true;
        }
        let to_add = (self.space.sites(), self.constant);
        self.sweeper().sweep(chains, to_add, &mut cache.sweeper)
    }

    fn work(&self) -> Work {
        let (sites, entries) = (self.space.sites() as f64, self.space.diff_len() as f64);
        let ends: usize = (0..self.space.sites()).map(|site| self.adjacency_of(site).len()).sum();
        let around = ends as f64 / sites;
        Work {
            evaluation: match self.stencil {
                Some(_) => 0.3 * entries,
                None => 0.5 * entries + 0.6 * ends as f64,
            },
            site: 15.0 + 3.0 * around,
            sweep: match &self.checkerboard {
                Some(_) => Some(sites + 500.0),
                None => self
                    .sweeper()
                    .work_of_site(around, self.space.values())
                    .map(|site| sites * site),
            },
            far: 0.0,
            is_known: true,
        }
    }

    /// Spins on a graph are evaluated sixteen chains at once.
    fn block_size(&self, _chains: usize) -> usize {
        match self.stencil.is_none() && self.space.is_binary() {
            true => CHAINS,
            false => 1,
        }
    }

    fn sweep_block_size(&self, _chains: usize) -> usize {
        if self.checkerboard.is_some() { 1 } else { self.sweeper().block_size() }
    }
}
