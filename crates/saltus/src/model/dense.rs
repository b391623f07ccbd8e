//! Sweeps and differences of spins that nearly all see each other: the field at every site is followed, so that a
//! draw reads one number and a flip adds one row of couplings.

use super::lanes::SHARPEST;
use super::{Sweep, SweptChains};
use crate::math::bytes::count_differences;
use crate::math::{Arithmetic, FusedLoop, exp, larger, smaller, vectorised, vectorised_and_fused};
use crate::model::graph::Graph;

/// Couplings of all pairs, as whole multiples of a power of two: sums are exact in any order, so fields
/// that are followed never drift.
#[derive(Clone, Debug)]
pub(crate) struct DenseSpins {
    sites: usize,
    unit: f64,
    /// Sites in the order of a sweep.
    order: Vec<u32>,
    /// Twice the couplings of each site.
    rows: Vec<i32>,
    fields: Vec<i32>,
}

/// The chains of a block with their fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct DenseCache {
    /// The states that the fields belong to.
    states: Vec<u8>,
    /// Σⱼ Jᵢⱼ sⱼ + bᵢ.
    inputs: Vec<i32>,
    words: Vec<u32>,
    uniforms: Vec<f32>,
}

/// Chains that share a row of couplings while it is in the processor's cache.
pub(crate) const BLOCK: usize = 32;
/// More numbers than this are too many for a table of all pairs.
const LARGEST: usize = 1 << 28;

impl DenseSpins {
    /// Whether a table of all pairs is worth while: each site sees a fifth of the others, and many.
    pub(crate) fn suits(graph: &Graph) -> bool {
        let sites = graph.adjacency().sites();
        let ends: usize = (0..sites).map(|site| graph.adjacency().neighbours(site).len()).sum();
        let pairs = sites.saturating_mul(sites);
        pairs <= LARGEST && 5 * ends >= pairs && ends >= 24 * sites
    }

    /// The table of all pairs.
    pub(crate) fn new(graph: &Graph, fields: &[f32]) -> Self {
        let sites = fields.len();
        let sum = |site: usize| {
            let weights = graph.neighbours(site).map(|(_, weight)| f64::from(weight.abs()));
            weights.sum::<f64>() + f64::from(fields[site].abs())
        };
        let largest = (0..sites).map(sum).fold(f64::MIN_POSITIVE, f64::max);
        // No field is larger than 2^30 units.
        let unit = (largest.log2().ceil() - 30.0).exp2();
        let whole = |number: f64| (number / unit).round() as i32;
        let mut rows = vec![0; sites * sites];
        for site in 0..sites {
            for (other, weight) in graph.neighbours(site) {
                rows[site * sites + other] += 2 * whole(f64::from(weight));
            }
        }
        let fields = fields.iter().map(|field| whole(f64::from(*field))).collect();
        let order = graph.adjacency().colours().concat();
        Self { sites, unit, order, rows, fields }
    }

    /// Draws every spin of all chains from its conditional distribution.
    pub(crate) fn sweep(&self, chains: SweptChains<'_>, constant: f64, cache: &mut DenseCache) {
        let SweptChains { states, betas, base, rngs, done } = chains;
        let sites = self.sites;
        self.follow(states, cache);
        cache.words.resize(sites, 0);
        cache.uniforms.resize(states.len(), 0.0);
        for (rng, uniforms) in rngs.iter_mut().zip(cache.uniforms.chunks_exact_mut(sites)) {
            rng.fill_uniform(&mut cache.words, uniforms);
        }
        let factor = |beta: &f64| if base.is_some() { *beta } else { 1.0 };
        let twice: Vec<f32> =
            betas.iter().map(|beta| (2.0 * self.unit * factor(beta)) as f32).collect();
        let uniforms = &cache.uniforms;
        vectorised_and_fused(SweepLoop {
            dense: self,
            states,
            twice: &twice,
            uniforms,
            inputs: &mut cache.inputs,
        });
        let rows = states.chunks_exact(sites).zip(cache.states.chunks_exact(sites));
        for ((row, before), (inputs, done)) in rows.zip(cache.inputs.chunks_exact(sites).zip(done))
        {
            let log_prob = constant + self.unit * self.energy(row, inputs);
            *done = Sweep { changed: count_differences(row, before), log_prob };
        }
        cache.states.copy_from_slice(states);
    }

    /// Fills in log π without its constant, and the differences of all chains.
    pub(crate) fn differences(
        &self,
        states: &[u8],
        cache: &mut DenseCache,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) {
        let sites = self.sites;
        self.follow(states, cache);
        let rows = states.chunks_exact(sites).zip(cache.inputs.chunks_exact(sites));
        let answers = log_prob.iter_mut().zip(diff.chunks_exact_mut(sites));
        for ((row, inputs), (log_prob, diff)) in rows.zip(answers) {
            *log_prob = self.unit * self.energy(row, inputs);
            let factor = -2.0 * self.unit;
            vectorised(
                #[inline(always)]
                || {
                    for ((diff, value), input) in diff.iter_mut().zip(row).zip(inputs) {
                        let spin = 2.0 * f64::from(*value) - 1.0;
                        *diff = (factor * spin * f64::from(*input)) as f32;
                    }
                },
            );
        }
    }

    /// Brings the fields to the states, along the sites that differ if they are few.
    fn follow(&self, states: &[u8], cache: &mut DenseCache) {
        let sites = self.sites;
        if cache.states.len() != states.len() {
            cache.states = vec![0; states.len()];
            cache.inputs = vec![0; states.len()];
            for inputs in cache.inputs.chunks_exact_mut(sites) {
                self.fill(inputs);
            }
        }
        let rows = states.chunks_exact(sites).zip(cache.states.chunks_exact_mut(sites));
        for ((row, known), inputs) in rows.zip(cache.inputs.chunks_exact_mut(sites)) {
            if row != known {
                for (site, (value, known)) in row.iter().zip(known).enumerate() {
                    if value != known {
                        let row = &self.rows[site * sites..(site + 1) * sites];
                        vectorised(
                            #[inline(always)]
                            || add_row(inputs, row, *value),
                        );
                        *known = *value;
                    }
                }
            }
        }
    }

    /// The fields where all values are zero.
    fn fill(&self, inputs: &mut [i32]) {
        for (site, input) in inputs.iter_mut().enumerate() {
            let twice: i64 = self.rows[site * self.sites..(site + 1) * self.sites]
                .iter()
                .map(|w| i64::from(*w))
                .sum();
            *input = self.fields[site] - (twice / 2) as i32;
        }
    }

    /// log π in units: every pair is met from both ends.
    fn energy(&self, state: &[u8], inputs: &[i32]) -> f64 {
        let terms = state.iter().zip(inputs).zip(&self.fields);
        let twice: i64 = terms
            .map(|((value, input), field)| {
                (2 * i64::from(*value) - 1) * (i64::from(*input) + i64::from(*field))
            })
            .sum();
        0.5 * twice as f64
    }
}

/// What a spin that has flipped to a value does to all fields.
#[inline(always)]
fn add_row(inputs: &mut [i32], row: &[i32], value: u8) {
    let row = &row[..inputs.len()];
    if value == 1 {
        inputs.iter_mut().zip(row).for_each(|(input, twice)| *input += twice);
    } else {
        inputs.iter_mut().zip(row).for_each(|(input, twice)| *input -= twice);
    }
}

struct SweepLoop<'a> {
    dense: &'a DenseSpins,
    states: &'a mut [u8],
    /// Twice what multiplies log π in units on the rung of each chain.
    twice: &'a [f32],
    uniforms: &'a [f32],
    inputs: &'a mut [i32],
}

impl FusedLoop for SweepLoop<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { dense, states, twice, uniforms, inputs } = self;
        let sites = dense.sites;
        for site in &dense.order {
            let site = *site as usize;
            let row = &dense.rows[site * sites..(site + 1) * sites];
            for (chain, twice) in twice.iter().enumerate() {
                let at = chain * sites + site;
                let spin = 2.0 * f32::from(states[at]) - 1.0;
                let logit = twice * inputs[at] as f32 * spin;
                let odds_to_stay = exp::<A>(larger(smaller(logit, SHARPEST), -SHARPEST));
                if A::mul_add(uniforms[at], odds_to_stay, uniforms[at]) < 1.0 {
                    states[at] ^= 1;
                    add_row(&mut inputs[chain * sites..(chain + 1) * sites], row, states[at]);
                }
            }
        }
    }
}
