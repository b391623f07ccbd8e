//! Ising and Potts models on any sparse graph, with the rectangular lattice as the fast path.

use super::graph::{Edge, Graph};
use super::independent::transpose;
use super::lattice::Lattice;
use super::{Differences, Model, ModelError, check_finite, check_length};
use crate::math::vectorised;
use crate::space::{Space, States};

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
}

/// A lattice whose couplings are all equal: neighbours stand at fixed offsets.
#[derive(Clone, Copy, Debug)]
struct Stencil {
    lattice: Lattice,
    coupling: f32,
}

/// Scratch of a [`Pairwise`] model: one bordered state, and the weights at the current values.
#[derive(Clone, Debug)]
pub struct PairwiseCache {
    bordered_spins: Vec<i8>,
    bordered_values: Vec<i16>,
    here: Vec<f32>,
}

impl Pairwise {
    /// An Ising model on any graph; `field` has one entry per site.
    pub fn ising(edges: &[Edge], field: Vec<f32>) -> Result<Self, ModelError> {
        let space = Space::new(field.len(), 2)?;
        check_finite("field", &field)?;
        let graph = Graph::new(field.len(), edges)?;
        Ok(Self { space, graph, field, constant: 0.0, stencil: None })
    }

    /// An Ising model on a lattice with equal couplings.
    pub fn ising_lattice(
        lattice: Lattice,
        coupling: f32,
        field: Vec<f32>,
    ) -> Result<Self, ModelError> {
        check_length("the field", field.len(), lattice.sites())?;
        check_finite("coupling", &[coupling])?;
        let model = Self::ising(&lattice.edges(coupling), field)?;
        Ok(model.with_stencil(lattice, coupling))
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
        Ok(Self {
            space,
            graph,
            field: transpose(field, sites, values),
            constant: 0.0,
            stencil: None,
        })
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
        Ok(model.with_stencil(lattice, coupling))
    }

    fn with_stencil(self, lattice: Lattice, coupling: f32) -> Self {
        let stencil = lattice.has_stencil().then_some(Stencil { lattice, coupling });
        Self { stencil, ..self }
    }

    /// The field acting on one value of one site.
    fn field_of(&self, site: usize, value: u8) -> f32 {
        if self.space.is_binary() {
            self.field[site] * spin(value)
        } else {
            self.field[usize::from(value) * self.space.sites() + site]
        }
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
    /// Differences and log π of a lattice of spins.
    #[inline(always)]
    fn ising(&self, field: &[f32], state: &[u8], spins: &mut [i8], diff: &mut [f32]) -> f64 {
        self.lattice.border(state, spins, 0, |value| 2 * value as i8 - 1);
        let columns = self.lattice.shape().1;
        let stride = self.lattice.stride();
        let mut fields = 0.0;
        let mut twice_pairs = 0i64;
        let lines = field.chunks_exact(columns).zip(diff.chunks_exact_mut(columns));
        for (row, (field, diff)) in lines.enumerate() {
            let line = (row + 1) * stride;
            let above = &spins[line + 1 - stride..][..columns];
            let below = &spins[line + 1 + stride..][..columns];
            let left = &spins[line..][..columns];
            let right = &spins[line + 2..][..columns];
            let here = &spins[line + 1..][..columns];
            let mut pairs = 0i32;
            for column in 0..columns {
                let sum = above[column] + below[column] + left[column] + right[column];
                let s = f32::from(here[column]);
                pairs += i32::from(here[column] * sum);
                diff[column] = -2.0 * s * (self.coupling * f32::from(sum) + field[column]);
            }
            twice_pairs += i64::from(pairs);
            fields += aligned_field(field, here);
        }
        0.5 * f64::from(self.coupling) * twice_pairs as f64 + fields
    }

    /// Differences and log π of a lattice of Potts values.
    #[inline(always)]
    fn potts(
        &self,
        field: &[f32],
        state: &[u8],
        cache: &mut PairwiseCache,
        diff: &mut [f32],
    ) -> f64 {
        let sites = state.len();
        let PairwiseCache { bordered_values, here, .. } = cache;
        self.lattice.border(state, bordered_values, -1, i16::from);
        let columns = self.lattice.shape().1;
        let stride = self.lattice.stride();
        here.fill(0.0);
        let mut twice_pairs = 0i64;
        let mut fields = 0.0;
        for (value, (diff, field)) in
            diff.chunks_exact_mut(sites).zip(field.chunks_exact(sites)).enumerate()
        {
            let value = value as i16;
            let lines = diff.chunks_exact_mut(columns).zip(field.chunks_exact(columns));
            for (row, ((diff, field), here)) in
                lines.zip(here.chunks_exact_mut(columns)).enumerate()
            {
                let line = (row + 1) * stride;
                let above = &bordered_values[line + 1 - stride..][..columns];
                let below = &bordered_values[line + 1 + stride..][..columns];
                let left = &bordered_values[line..][..columns];
                let right = &bordered_values[line + 2..][..columns];
                let own = &bordered_values[line + 1..][..columns];
                let mut pairs = 0i32;
                for column in 0..columns {
                    let equal = i16::from(above[column] == value)
                        + i16::from(below[column] == value)
                        + i16::from(left[column] == value)
                        + i16::from(right[column] == value);
                    let weight = field[column] + self.coupling * f32::from(equal);
                    diff[column] = weight;
                    let is_own = own[column] == value;
                    here[column] += if is_own { weight } else { 0.0 };
                    pairs += i32::from(if is_own { equal } else { 0 });
                }
                twice_pairs += i64::from(pairs);
            }
        }
        for diff in diff.chunks_exact_mut(sites) {
            for (diff, here) in diff.iter_mut().zip(here.iter()) {
                *diff -= here;
            }
        }
        for (site, value) in state.iter().enumerate() {
            fields += f64::from(field[usize::from(*value) * sites + site]);
        }
        0.5 * f64::from(self.coupling) * twice_pairs as f64 + fields
    }
}

/// Σ b s of one line, in eight running sums so that it vectorises.
#[inline(always)]
fn aligned_field(field: &[f32], spins: &[i8]) -> f64 {
    let mut sums = [0.0f64; 8];
    let (field, field_tail) = field.as_chunks::<8>();
    let (spins, spins_tail) = spins.as_chunks::<8>();
    for (field, spins) in field.iter().zip(spins) {
        for lane in 0..8 {
            sums[lane] += f64::from(field[lane] * f32::from(spins[lane]));
        }
    }
    let tail: f64 =
        field_tail.iter().zip(spins_tail).map(|(b, s)| f64::from(b * f32::from(*s))).sum();
    sums.iter().sum::<f64>() + tail
}

/// 0 and 1 as −1 and +1.
#[inline(always)]
fn spin(value: u8) -> f32 {
    2.0 * f32::from(value) - 1.0
}

impl Model for Pairwise {
    type Cache = PairwiseCache;

    fn space(&self) -> &Space {
        &self.space
    }

    fn new_cache(&self, _chains: usize) -> PairwiseCache {
        let bordered = self.stencil.map_or(0, |stencil| stencil.lattice.bordered_len());
        let binary = self.space.is_binary();
        PairwiseCache {
            bordered_spins: vec![0; if binary { bordered } else { 0 }],
            bordered_values: vec![0; if binary { 0 } else { bordered }],
            here: vec![0.0; if binary { 0 } else { self.space.sites() }],
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
        let rows = states.rows().zip(diff.chunks_exact_mut(self.space.diff_len()));
        for ((state, diff), log_prob) in rows.zip(log_prob) {
            let variable = match (self.stencil, self.space.is_binary()) {
                (Some(stencil), true) => vectorised(
                    #[inline(always)]
                    || stencil.ising(&self.field, state, &mut cache.bordered_spins, diff),
                ),
                (Some(stencil), false) => vectorised(
                    #[inline(always)]
                    || stencil.potts(&self.field, state, cache, diff),
                ),
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

    fn graph(&self) -> Option<&Graph> {
        Some(&self.graph)
    }
}
