//! Restricted Boltzmann machines with their hidden units summed out, random or read from a file.

mod draws;
mod enumerate;
mod exact;
mod file;
mod inputs;
mod places;
mod units;

pub(crate) use draws::Draws;
pub use enumerate::{Enumerated, MOST_HIDDEN};
pub use file::RbmParameters;
pub(crate) use units::softplus_gain;

use super::{Differences, Model, Work, check_finite, check_length};
use crate::base::{Base, sum_where_one};
use crate::error::ModelError;
use crate::math::matrix::{PackedMatrix, TILE_ROWS};
use crate::math::short_matrix::ShortMatrix;
use crate::math::{self, mixture, vectorised};
use crate::rng::{ChainRng, Stream};
use crate::space::{Space, States};
use crate::tensor_file::Tensors;
use exact::{ExactDiff, Followed};
use inputs::{Inputs, Sums};
use rand_distr::{Distribution, StandardNormal};
use std::path::Path;
use std::sync::OnceLock;

/// Rows of hidden units are filled up to whole groups of this many, so that loops have no rest.
const LANES: usize = mixture::STEP;
/// Bias of the units that fill a row up: they are off for certain and change nothing.
const FILLER_BIAS: f32 = -1000.0;
/// Largest weight for which exponentials of weights are multiplied instead of logarithms added.
const LARGEST_WEIGHT: f64 = 5.0;
/// A product whose logarithm stays within this bound fits in single precision.
const LARGEST_EXPONENT: f64 = 80.0;
/// With fewer hidden units the product is not what takes the time, and stays in single precision.
const LEAST_SHORT: usize = 64;
/// Rows of weights are numbered with 32 bits.
const MOST_WEIGHTS: usize = u32::MAX as usize;

/// A restricted Boltzmann machine with binary hidden units, as a distribution of its visible sites.
///
/// log π(v) = Σₙ bₙ(vₙ) + Σₘ softplus(cₘ + Σₙ Wₘₙ(vₙ)). With two values the coding is scalar: value
/// 0 contributes nothing, so there is one bias per site and one weight per pair.
///
/// ```
/// use saltus::model::rbm::Rbm;
/// use saltus::{Model, States};
/// // One hidden unit that wants both sites on: weights [hidden, visible], biases.
/// let rbm = Rbm::new(2, &[2.0, 2.0], &[-3.0], &[0.0, 0.0], None)?;
/// let mut log_prob = [0.0, 0.0];
/// let states = States::new(&[0, 0, 1, 1], 2);
/// rbm.log_prob(states, &mut rbm.new_cache(2), &mut log_prob)?;
/// assert!((log_prob[1] - (1.0 + 1f64.exp()).ln()).abs() < 1e-6);
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rbm {
    space: Space,
    hidden: usize,
    /// Hidden units including the filling.
    stride: usize,
    /// In double precision because every evaluation starts its sums from them.
    hidden_bias: Vec<f64>,
    /// Planes as in the table of differences.
    visible_bias: Vec<f32>,
    /// One row of hidden units per site and value; with two values, per site for value 1, and one
    /// row of zeros at the end for value 0.
    weights: Vec<f32>,
    /// The same rows, ready to be added up.
    inputs: Inputs,
    /// e^W in the same layout, once somebody asks for exact differences; empty if a weight exceeds
    /// [`LARGEST_WEIGHT`].
    exponentials: OnceLock<Vec<f32>>,
    largest: f64,
    /// Σₘ W of every row.
    row_sums: Vec<f64>,
    /// So many factors e^W can be multiplied without leaving the range of single precision.
    group: usize,
    /// The weights again, hidden units by planes of sites, for the inputs of the sites of a block of chains.
    to_sites: PackedMatrix,
    /// The same in 16 bits, once somebody asks for a gradient: what proposes may be rough.
    gradient: OnceLock<ShortMatrix>,
    /// What chains start from: with two values, probability of 1 per site; with more, a row of
    /// weights per site.
    data_mean: Option<Vec<f32>>,
}

/// Memory of a block of chains of an [`Rbm`].
#[derive(Clone, Debug)]
pub struct RbmCache {
    /// Input, probability of on and of off of every hidden unit of the followed chains.
    followed: Vec<Followed>,
    activations: Vec<f64>,
    /// What is known of the inputs of each chain.
    sums: Vec<Sums>,
    /// Probability of on of the hidden units of the whole block, and of off of one chain.
    on: Vec<f32>,
    off: Vec<f32>,
    logs: Vec<f32>,
    shares: Vec<i32>,
}

impl Rbm {
    /// An RBM with those parameters.
    ///
    /// Two values: `weight` is [hidden, visible] row after row, `visible_bias` the bias of value 1
    /// per site, `data_mean` the probability of 1 per site. More values: `weight` is
    /// [hidden, visible, values], `visible_bias` and `data_mean` are [visible, values]. Chains
    /// start from the product of the `data_mean`, or from uniform values without one.
    ///
    /// Weights are rounded to multiples of a power of two, such that the input of every hidden unit
    /// fits in 30 bits: of 2⁻²² if inputs reach 256. That is as fine as adding them up in single
    /// precision would be, and makes sums exact in any order.
    pub fn new(
        values: usize,
        weight: &[f32],
        hidden_bias: &[f32],
        visible_bias: &[f32],
        data_mean: Option<&[f32]>,
    ) -> Result<Self, ModelError> {
        let planes = if values == 2 { 1 } else { values.max(1) };
        let sites = visible_bias.len() / planes;
        let space = Space::new(sites, values)?;
        let hidden = hidden_bias.len();
        if hidden == 0 {
            return Err(ModelError::invalid("an RBM needs at least one hidden unit, got 0"));
        }
        let table = sites * planes;
        check_length("visible_bias", visible_bias.len(), table)?;
        check_length("weight", weight.len(), hidden.saturating_mul(table))?;
        if weight.len() > MOST_WEIGHTS {
            return Err(ModelError::invalid(format!(
                "{} weights are more than the {MOST_WEIGHTS} saltus can index",
                weight.len()
            )));
        }
        check_finite("visible_bias", visible_bias)?;
        check_finite("hidden_bias", hidden_bias)?;
        check_finite("weight", weight)?;
        if let Some(mean) = data_mean {
            check_length("data_mean", mean.len(), table)?;
            check_finite("data_mean", mean)?;
            check_mean(mean, planes)?;
        }

        let (heaviest, largest, reach) = extent(weight, sites, planes);
        let quantum = inputs::quantum(reach);
        let rounded: Vec<f32> = match quantum {
            Some(quantum) => weight.iter().map(|w| round_to(*w, quantum)).collect(),
            None => weight.to_vec(),
        };
        let weight = &rounded[..];
        let stride = hidden.next_multiple_of(LANES);
        let rows = table + usize::from(space.is_binary());
        let mut weights = vec![0.0; rows * stride];
        for (unit, weight) in weight.chunks_exact(table).enumerate() {
            for (row, weight) in weight.iter().enumerate() {
                weights[row * stride + unit] = *weight;
            }
        }
        let group = if heaviest <= LARGEST_EXPONENT {
            stride
        } else {
            (LARGEST_EXPONENT / largest) as usize / LANES * LANES
        };
        let row_sums = weights
            .chunks_exact(stride)
            .map(|row| row.iter().map(|w| f64::from(*w)).sum())
            .collect();
        let mut padded_bias = vec![f64::from(FILLER_BIAS); stride];
        for (padded, bias) in padded_bias.iter_mut().zip(hidden_bias) {
            *padded = f64::from(*bias);
        }
        let from_plane = |column: usize| column % sites * planes + column / sites;
        Ok(Self {
            space,
            hidden,
            stride,
            hidden_bias: padded_bias,
            visible_bias: (0..table).map(|column| visible_bias[from_plane(column)]).collect(),
            inputs: Inputs::new(values, &weights, stride, quantum),
            weights,
            exponentials: OnceLock::new(),
            largest,
            row_sums,
            group,
            to_sites: PackedMatrix::new(hidden, table, |unit, column| {
                weight[unit * table + from_plane(column)]
            }),
            gradient: OnceLock::new(),
            data_mean: data_mean.map(<[f32]>::to_vec),
        })
    }

    /// An RBM with random weights, for trying out samplers.
    ///
    /// With two values the weights are normal with standard deviation 3 / (√visible + √hidden),
    /// with C > 2 values 1.5·√C / (√((C−1)·visible) + √hidden): three quarters of where, by a
    /// mean-field estimate, the sites would start to freeze together. The biases centre it: at
    /// uniform values every hidden unit is on half the time and no value is preferred on average.
    pub fn random(
        visible: usize,
        hidden: usize,
        values: usize,
        seed: u64,
    ) -> Result<Self, ModelError> {
        let space = Space::new(visible, values)?;
        let table = space.diff_len();
        let length = table
            .checked_mul(hidden)
            .filter(|length| *length <= MOST_WEIGHTS)
            .ok_or_else(|| {
                ModelError::invalid(format!(
                    "{visible} sites of {values} values and {hidden} hidden units need more than \
                     the {MOST_WEIGHTS} weights saltus can index"
                ))
            })?;
        let free = (visible * (values - 1)) as f64;
        let scale = 1.5 / (free.sqrt() + (hidden as f64).sqrt())
            * if space.is_binary() { 2.0 } else { (values as f64).sqrt() };
        let mut rng = ChainRng::new(seed, Stream::Model);
        let weight: Vec<f32> = (0..length)
            .map(|_| {
                let normal: f64 = StandardNormal.sample(&mut rng);
                (scale * normal) as f32
            })
            .collect();
        let mut hidden_bias = vec![0.0; hidden];
        let mut visible_bias = vec![0.0; table];
        for (bias, weight) in hidden_bias.iter_mut().zip(weight.chunks_exact(table)) {
            *bias = -weight.iter().sum::<f32>() / values as f32;
            for (bias, weight) in visible_bias.iter_mut().zip(weight) {
                *bias -= 0.5 * weight;
            }
        }
        Self::new(values, &weight, &hidden_bias, &visible_bias, None)
    }

    /// Reads an RBM from a safetensors file of 32-bit floats: `weight`, `hidden_bias`,
    /// `visible_bias` and, if chains are to start from it, `data_mean`, in the layouts of
    /// [`new`](Self::new).
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        Ok(Self::load_as(path, &[])?.0)
    }

    /// The same from a file whose tensors have other names: pairs of ours and theirs, `.T` behind a name of weights
    /// that are kept as [visible, hidden]. Names that are common elsewhere are known, and so are floats of 16
    /// and 64 bits; what was assumed comes with it.
    pub fn load_as(
        path: impl AsRef<Path>,
        names: &[(String, String)],
    ) -> Result<(Self, Vec<String>), ModelError> {
        let path = path.as_ref();
        file::read(path, names)
            .map_err(|reason| ModelError::File { path: path.display().to_string(), reason })
    }

    /// The RBM whose tensors in a file have names with that prefix; the error is the reason alone.
    #[doc(hidden)]
    pub fn from_tensors(file: &Tensors<'_>, prefix: &str) -> Result<Self, String> {
        file::rbm(file, prefix)
    }

    /// What chains start from, in the layout of [`new`](Self::new).
    pub fn data_mean(&self) -> Option<&[f32]> {
        self.data_mean.as_deref()
    }

    /// Number of hidden units.
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// The weight between a hidden unit and a value of a site.
    ///
    /// # Panics
    /// If there is no such unit, site or value.
    pub fn weight(&self, unit: usize, site: usize, value: u8) -> f32 {
        assert!(unit < self.hidden && site < self.space.sites());
        assert!(usize::from(value) < self.space.values());
        self.weights[self.row(site, value) * self.stride + unit]
    }

    /// The bias of a hidden unit.
    ///
    /// # Panics
    /// If there is no such unit.
    pub fn hidden_bias(&self, unit: usize) -> f32 {
        assert!(unit < self.hidden);
        self.hidden_bias[unit] as f32
    }

    fn exponentials(&self) -> &[f32] {
        self.exponentials.get_or_init(|| match self.largest <= LARGEST_WEIGHT {
            true => self.weights.iter().map(|w| f64::from(*w).exp() as f32).collect(),
            false => Vec::new(),
        })
    }

    fn gradient(&self) -> &ShortMatrix {
        self.gradient.get_or_init(|| {
            let sites = self.space.sites();
            ShortMatrix::new(self.hidden, self.space.diff_len(), |unit, column| {
                let value = if self.space.is_binary() { 1 } else { (column / sites) as u8 };
                self.weights[self.row(column % sites, value) * self.stride + unit]
            })
        })
    }

    /// Which row of the tables belongs to a value of a site.
    #[inline(always)]
    fn row(&self, site: usize, value: u8) -> usize {
        if !self.space.is_binary() {
            site * self.space.values() + usize::from(value)
        } else if value == 0 {
            self.space.sites()
        } else {
            site
        }
    }

    #[inline(always)]
    fn slice<'a>(&self, table: &'a [f32], row: usize) -> &'a [f32] {
        &table[row * self.stride..(row + 1) * self.stride]
    }

    fn bias(&self, site: usize, value: u8) -> f64 {
        let sites = self.space.sites();
        f64::from(if self.space.is_binary() {
            self.visible_bias[site] * f32::from(value)
        } else {
            self.visible_bias[usize::from(value) * sites + site]
        })
    }

    fn visible_part(&self, state: &[u8]) -> f64 {
        if self.space.is_binary() {
            vectorised(
                #[inline(always)]
                || sum_where_one(&self.visible_bias, state),
            )
        } else {
            (0..state.len()).map(|site| self.bias(site, state[site])).sum()
        }
    }

    /// Input of every hidden unit of a chain.
    fn fill_activations(&self, state: &[u8], sums: &mut Sums, activations: &mut [f64]) {
        activations.copy_from_slice(&self.hidden_bias);
        self.inputs.add(state, sums, activations);
    }

    /// log π of a state given the input of its hidden units, whose probabilities it fills in.
    fn log_prob_of(
        &self,
        state: &[u8],
        activations: &[f64],
        on: &mut [f32],
        (off, logs): (&mut [f32], &mut [f32]),
    ) -> f64 {
        self.visible_part(state)
            + vectorised(
                #[inline(always)]
                || hidden_part(activations, on, off, logs),
            )
    }

    /// First-order differences from the gradient of Σ softplus, in place.
    fn finish_gradient(&self, state: &[u8], diff: &mut [f32]) {
        let sites = self.space.sites();
        vectorised(
            #[inline(always)]
            || {
                for (diff, bias) in diff.iter_mut().zip(&self.visible_bias) {
                    *diff += bias;
                }
                if self.space.is_binary() {
                    for (diff, value) in diff.iter_mut().zip(state) {
                        *diff *= 1.0 - 2.0 * f32::from(*value);
                    }
                }
            },
        );
        if !self.space.is_binary() {
            for (site, value) in state.iter().enumerate() {
                let here = diff[usize::from(*value) * sites + site];
                for plane in diff.chunks_exact_mut(sites) {
                    plane[site] -= here;
                }
            }
        }
    }

    /// The values of a site other than its own.
    fn others(&self, value: u8) -> impl Iterator<Item = u8> {
        (0..self.space.values()).map(|other| other as u8).filter(move |other| *other != value)
    }

    /// Where the table of differences holds a value of a site.
    #[inline(always)]
    fn place(&self, site: usize, value: u8) -> usize {
        if self.space.is_binary() { site } else { usize::from(value) * self.space.sites() + site }
    }
}

/// Σ softplus of the inputs, and the probabilities of on and off.
///
/// Single precision is enough for log(1 + e^−|a|) ≤ ln 2, not for a itself.
#[inline(always)]
fn hidden_part(activations: &[f64], on: &mut [f32], off: &mut [f32], logs: &mut [f32]) -> f64 {
    for (log, activation) in logs.iter_mut().zip(activations) {
        *log = *activation as f32;
    }
    for ((log, on), off) in logs.iter_mut().zip(on).zip(off) {
        (*log, *on, *off) = math::logistic(*log);
    }
    let mut sums = [0.0f64; LANES];
    let chunks = activations.as_chunks::<LANES>().0.iter();
    for (activations, logs) in chunks.zip(logs.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            sums[lane] += activations[lane].max(0.0) + f64::from(logs[lane]);
        }
    }
    sums.iter().sum()
}

/// The largest Σₘ |W| of a site, taking the largest weight of its values; the largest |W|; and how
/// far the input of a hidden unit can reach.
fn extent(weight: &[f32], sites: usize, planes: usize) -> (f64, f64, f64) {
    let mut sums = vec![0.0; sites];
    let (mut largest, mut reach) = (0.0f64, 0.0f64);
    for weight in weight.chunks_exact(sites * planes) {
        let mut input = 0.0;
        for (sum, weight) in sums.iter_mut().zip(weight.chunks_exact(planes)) {
            let size = f64::from(weight.iter().fold(0.0f32, |most, w| most.max(w.abs())));
            largest = largest.max(size);
            *sum += size;
            input += size;
        }
        reach = reach.max(input);
    }
    (sums.into_iter().fold(0.0, f64::max), largest, reach)
}

/// The nearest multiple of a power of two; single precision holds it, because whatever is too large
/// for that is a multiple already.
fn round_to(weight: f32, quantum: f64) -> f32 {
    ((f64::from(weight) / quantum).round_ties_even() * quantum) as f32
}

/// Fails with a sentence if a table does not hold probabilities that can be drawn from.
fn check_mean(mean: &[f32], planes: usize) -> Result<(), ModelError> {
    // An average of ones may round to slightly more than one.
    if let Some(at) = mean.iter().position(|p| !(0.0..=1.0001).contains(p)) {
        return Err(ModelError::invalid(format!(
            "data_mean[{at}] is {}, not a probability",
            mean[at]
        )));
    }
    match mean.chunks_exact(planes).position(|row| planes > 1 && row.iter().sum::<f32>() <= 0.0) {
        None => Ok(()),
        Some(site) => Err(ModelError::invalid(format!(
            "data_mean gives every value of site {site} probability 0"
        ))),
    }
}

impl Model for Rbm {
    type Cache = RbmCache;

    fn space(&self) -> &Space {
        &self.space
    }

    fn rbm(&self) -> Option<&Rbm> {
        Some(self)
    }

    fn new_cache(&self, chains: usize) -> RbmCache {
        let stride = self.stride;
        let units = Followed {
            activations: vec![0.0; stride],
            on: vec![0.0; stride],
            off: vec![0.0; stride],
        };
        RbmCache {
            followed: vec![units; chains],
            activations: vec![0.0; stride],
            sums: vec![self.inputs.nothing(self.space.sites(), stride); chains.max(1)],
            on: vec![0.0; chains.max(1) * stride],
            off: vec![0.0; stride],
            logs: vec![0.0; stride],
            shares: Vec::new(),
        }
    }

    fn log_prob(
        &self,
        states: States<'_>,
        cache: &mut RbmCache,
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        for (chain, (state, log_prob)) in states.rows().zip(log_prob).enumerate() {
            self.fill_activations(state, &mut cache.sums[chain], &mut cache.activations);
            let on = &mut cache.on[..self.stride];
            *log_prob =
                self.log_prob_of(state, &cache.activations, on, (&mut cache.off, &mut cache.logs));
        }
        Ok(())
    }

    fn log_prob_and_diff(
        &self,
        kind: Differences,
        states: States<'_>,
        cache: &mut RbmCache,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        let table = self.space.diff_len();
        for (chain, (state, log_prob)) in states.rows().zip(log_prob).enumerate() {
            self.fill_activations(state, &mut cache.sums[chain], &mut cache.activations);
            let on = &mut cache.on[chain * self.stride..(chain + 1) * self.stride];
            *log_prob =
                self.log_prob_of(state, &cache.activations, on, (&mut cache.off, &mut cache.logs));
            if kind == Differences::Exact {
                let diff = &mut diff[chain * table..(chain + 1) * table];
                if self.exponentials().is_empty() {
                    self.exact_diff_by_logarithms(state, &cache.activations, diff);
                } else {
                    pulp::Arch::new().dispatch(ExactDiff {
                        model: self,
                        state,
                        on,
                        off: &cache.off,
                        diff,
                    });
                }
            }
        }
        if kind == Differences::Taylor {
            let chains = states.chains();
            let on = &cache.on[..chains * self.stride];
            let diff = &mut diff[..chains * table];
            if self.hidden < LEAST_SHORT {
                self.to_sites.multiply(on, self.stride, diff);
            } else {
                self.gradient().multiply(on, self.stride, &mut cache.shares, diff);
            }
            for (state, diff) in states.rows().zip(diff.chunks_exact_mut(table)) {
                self.finish_gradient(state, diff);
            }
        }
        Ok(())
    }

    fn work(&self) -> Work {
        let (hidden, entries) = (self.hidden() as f64, self.space.diff_len() as f64);
        let values = self.space.values() as f64;
        // Of two values differences are products in 16 bits, and flips cost next to nothing beside them.
        let (product, far) = if values == 2.0 { (0.0106, 0.0) } else { (0.015, 0.035) };
        Work {
            evaluation: product * hidden * entries + 5.0 * hidden,
            site: 50.0 + 0.65 * hidden * (values - 1.0),
            sweep: None,
            far: far * hidden * entries,
            is_known: true,
        }
    }

    fn is_incremental(&self) -> bool {
        true
    }

    fn follow(&self, state: &[u8], chain: usize, cache: &mut RbmCache) -> Result<f64, ModelError> {
        let units = &mut cache.followed[chain];
        self.fill_activations(state, &mut cache.sums[chain], &mut units.activations);
        units.refresh();
        let on = &mut cache.on[..self.stride];
        Ok(self.log_prob_of(state, &units.activations, on, (&mut cache.off, &mut cache.logs)))
    }

    fn site_diff(
        &self,
        state: &[u8],
        chain: usize,
        cache: &mut RbmCache,
        site: usize,
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        diff[usize::from(state[site])] = 0.0;
        for other in self.others(state[site]) {
            diff[usize::from(other)] =
                self.change(&cache.followed[chain], site, state[site], other);
        }
        Ok(())
    }

    fn set_site(
        &self,
        state: &mut [u8],
        chain: usize,
        cache: &mut RbmCache,
        site: usize,
        value: u8,
    ) {
        let units = &mut cache.followed[chain];
        let from = self.slice(&self.weights, self.row(site, state[site]));
        let to = self.slice(&self.weights, self.row(site, value));
        for ((activation, from), to) in units.activations.iter_mut().zip(from).zip(to) {
            *activation += f64::from(*to) - f64::from(*from);
        }
        units.refresh();
        state[site] = value;
    }

    fn places(&self, rng: &mut ChainRng) -> Vec<Vec<u8>> {
        places::of(self, rng)
    }

    fn initial_state(&self, rng: &mut ChainRng, state: &mut [u8]) {
        let values = self.space.values();
        match &self.data_mean {
            None => {
                for value in state {
                    *value = rng.below(values) as u8;
                }
            }
            Some(mean) if self.space.is_binary() => {
                for (value, mean) in state.iter_mut().zip(mean) {
                    *value = u8::from(rng.uniform() < f64::from(*mean));
                }
            }
            Some(mean) => {
                let mut weights = vec![0.0; values];
                for (value, mean) in state.iter_mut().zip(mean.chunks_exact(values)) {
                    for (weight, mean) in weights.iter_mut().zip(mean) {
                        *weight = f64::from(*mean);
                    }
                    *value = rng.index(&weights, weights.iter().sum()) as u8;
                }
            }
        }
    }

    fn base(&self) -> Base {
        let known = self.data_mean.as_deref().map(|mean| {
            Base::with_frequencies(self.space.values(), mean)
                .expect("frequencies that were checked")
        });
        known.unwrap_or_else(|| Base::uniform(&self.space))
    }

    /// Few enough that a hundred chains keep every thread busy, and whole tiles of the product.
    fn block_size(&self, chains: usize) -> usize {
        chains.clamp(1, 2 * TILE_ROWS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::softplus;

    fn log_prob(model: &Rbm, state: &[u8]) -> f64 {
        let mut out = [0.0];
        model.log_prob(States::new(state, state.len()), &mut model.new_cache(1), &mut out).unwrap();
        out[0]
    }

    #[test]
    fn log_prob_agrees_with_double_precision() {
        for (visible, hidden, values) in [(784, 200, 2), (784, 50, 4), (30, 7, 3)] {
            let model = Rbm::random(visible, hidden, values, 5).unwrap();
            let mut rng = ChainRng::new(5, Stream::Chain(0));
            let mut state = vec![0; visible];
            for _ in 0..20 {
                model.initial_state(&mut rng, &mut state);
                let mut exact: f64 = (0..visible).map(|n| model.bias(n, state[n])).sum();
                for unit in 0..hidden {
                    exact += softplus(
                        model.hidden_bias[unit]
                            + (0..visible)
                                .map(|n| f64::from(model.weight(unit, n, state[n])))
                                .sum::<f64>(),
                    );
                }
                assert!((log_prob(&model, &state) - exact).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn a_random_machine_is_centred_and_reproducible() {
        let model = Rbm::random(100, 20, 3, 1).unwrap();
        assert_eq!((model.hidden(), model.space().sites()), (20, 100));
        assert_eq!(Rbm::random(100, 20, 3, 1).unwrap().weight(3, 99, 2), model.weight(3, 99, 2));
        for unit in 0..20 {
            let sum: f64 =
                (0..300).map(|i| f64::from(model.weight(unit, i / 3, (i % 3) as u8))).sum();
            assert!((model.hidden_bias[unit] + sum / 3.0).abs() < 1e-4);
        }
    }

    #[test]
    fn chains_start_from_the_data_mean() {
        let mut rng = ChainRng::new(2, Stream::Chain(0));
        let binary = Rbm::new(2, &[0.0; 3], &[0.0], &[0.0; 3], Some(&[0.0, 1.0, 0.25])).unwrap();
        let rows = [0.0, 0.0, 1.0, 0.5, 0.5, 0.0];
        let levels = Rbm::new(3, &[0.0; 6], &[0.0], &[0.0; 6], Some(&rows)).unwrap();
        let (mut ones, mut halves) = (0, 0);
        for _ in 0..4000 {
            let mut state = [9; 3];
            binary.initial_state(&mut rng, &mut state);
            assert_eq!(state[..2], [0, 1]);
            ones += u32::from(state[2]);
            let mut state = [9; 2];
            levels.initial_state(&mut rng, &mut state);
            assert_eq!(state[0], 2);
            assert!(state[1] < 2);
            halves += u32::from(state[1]);
        }
        assert!(ones.abs_diff(1000) < 150, "{ones}");
        assert!(halves.abs_diff(2000) < 170, "{halves}");
    }

    #[test]
    fn impossible_parameters_are_refused_in_a_sentence() {
        let reason = |values, weight: &[f32], bias: &[f32], mean: Option<&[f32]>| {
            Rbm::new(values, weight, &[0.0], bias, mean).unwrap_err().to_string()
        };
        assert_eq!(reason(2, &[0.0; 3], &[0.0; 2], None), "weight has 3 entries, expected 2");
        assert!(reason(3, &[0.0; 4], &[0.0; 4], None).contains("visible_bias has 4"));
        assert!(reason(2, &[0.0, f32::NAN], &[0.0; 2], None).contains("weight[1] is NaN"));
        assert!(reason(2, &[0.0; 2], &[0.0; 2], Some(&[0.5, 1.5])).contains("data_mean[1]"));
        assert!(reason(2, &[0.0; 2], &[0.0; 2], Some(&[0.5])).contains("expected 2"));
        assert!(reason(3, &[0.0; 3], &[0.0; 3], Some(&[0.0; 3])).contains("site 0"));
        assert!(reason(2, &[], &[], None).contains("at least one site"));
        assert!(Rbm::new(2, &[], &[], &[0.0], None).is_err());
        assert!(Rbm::random(1 << 20, 1 << 20, 2, 0).is_err());
    }
}
