//! Independent sites: Bernoulli and categorical distributions.

use super::factor::Factor;
use super::graph::Graph;
use super::lanes::potts::PottsLanes;
use super::lanes::transposed::Transposed;
use super::lanes::{self, by_groups};
use super::{Differences, Model, Sweep, SweptChains, Work, check_finite, check_length};
use crate::adjacency::Adjacency;
use crate::base::{Base, flips, sum_where_one, transpose};
use crate::error::ModelError;
use crate::math::vectorised;
use crate::parts::{self, PART, is_large};
use crate::rng::ChainRng;
use crate::space::{Space, States};

/// log π(x) = Σₙ θₙ(xₙ), every site on its own.
///
/// ```
/// use saltus::model::independent::Independent;
/// use saltus::{Model, States};
/// let coin = Independent::bernoulli(vec![3f32.ln()])?; // P(1) = 3/4
/// let mut log_prob = [0.0, 0.0];
/// coin.log_prob(States::new(&[0, 1], 1), &mut coin.new_cache(2), &mut log_prob)?;
/// assert!((log_prob[1] - log_prob[0] - 3f64.ln()).abs() < 1e-6);
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Independent {
    base: Base,
    /// No site sees another.
    adjacency: Adjacency,
    redrawn: Redrawn,
}

/// How all sites are drawn afresh.
#[derive(Clone, Debug)]
enum Redrawn {
    /// Of every bit the rarer value and its probability, at most a half: numbers near zero are fine enough for it.
    Bits(Vec<u8>, Vec<f32>),
    /// Sixteen chains at once.
    Values(Box<PottsLanes>),
    /// Site by site, where sites have different numbers of values.
    OneByOne,
}

impl Redrawn {
    fn new(base: &Base) -> Self {
        let (space, logits) = (base.space(), base.log_weights());
        if space.is_binary() {
            let rarer = logits.iter().map(|logit| u8::from(*logit < 0.0)).collect();
            let probability = |logit: &f32| (1.0 / (1.0 + f64::from(logit.abs()).exp())) as f32;
            return Self::Bits(rarer, logits.iter().map(probability).collect());
        }
        match Graph::new(space.sites(), &[]) {
            Ok(graph) if space.is_uniform() => {
                Self::Values(Box::new(PottsLanes::new(&graph, logits, space.values())))
            }
            _ => Self::OneByOne,
        }
    }
}

/// Memory of a block of chains of [`Independent`] sites.
#[derive(Clone, Debug, Default)]
pub struct IndependentCache {
    /// The log-weights of the current values.
    here: Vec<f32>,
    words: Vec<u32>,
    uniforms: Vec<f32>,
    turned: Transposed,
}

impl IndependentCache {
    /// Draws bits afresh; returns how many are others than before.
    fn draw_bits(
        &mut self,
        rarer: &[u8],
        probability: &[f32],
        rng: &mut ChainRng,
        state: &mut [u8],
    ) -> u32 {
        self.words.resize(state.len(), 0);
        self.uniforms.resize(state.len(), 0.0);
        let Self { words, uniforms, .. } = self;
        vectorised(
            #[inline(always)]
            || {
                rng.fill_uniform(words, uniforms);
                let sites = state.len();
                let (uniforms, rarer) = (&uniforms[..sites], &rarer[..sites]);
                let probability = &probability[..sites];
                let mut changed = 0;
                for site in 0..sites {
                    let value = rarer[site] ^ u8::from(uniforms[site] >= probability[site]);
                    changed += u32::from(value ^ state[site]);
                    state[site] = value;
                }
                changed
            },
        )
    }
}

impl Independent {
    /// Two values per site; `logits[n]` = log P(1)/P(0) at site n.
    pub fn bernoulli(logits: Vec<f32>) -> Result<Self, ModelError> {
        check_finite("logits", &logits)?;
        Ok(Base::new(Space::new(logits.len(), 2)?, logits)?.into())
    }

    /// `values` values per site; `log_weights[n·values + j]` = log-weight of value j at site n.
    pub fn categorical(values: usize, log_weights: &[f32]) -> Result<Self, ModelError> {
        let sites = log_weights.len() / values.max(1);
        let space = Space::new(sites, values)?;
        check_length("the table of log-weights", log_weights.len(), sites * values)?;
        check_finite("log_weights", log_weights)?;
        let table = if space.is_binary() {
            log_weights.chunks_exact(2).map(|pair| pair[1] - pair[0]).collect()
        } else {
            transpose(log_weights, sites, values)
        };
        Ok(Base::new(space, table)?.into())
    }
}

/// Differences and log π of many bits.
fn bits_in_parts(logits: &[f32], state: &[u8], diff: &mut [f32]) -> f64 {
    let known = logits.chunks(PART).zip(state.chunks(PART));
    let parts = parts::each(known.zip(diff.chunks_mut(PART)).collect(), |_, (known, diff)| {
        let (logits, state) = known;
        flips(logits, state, diff);
        vectorised(
            #[inline(always)]
            || sum_where_one(logits, state),
        )
    });
    parts.into_iter().sum()
}

impl From<Base> for Independent {
    fn from(base: Base) -> Self {
        let redrawn = Redrawn::new(&base);
        Self { adjacency: Adjacency::none(base.space().sites()), redrawn, base }
    }
}

impl Model for Independent {
    type Cache = IndependentCache;

    fn space(&self) -> &Space {
        self.base.space()
    }

    fn new_cache(&self, _chains: usize) -> IndependentCache {
        IndependentCache::default()
    }

    fn log_prob(
        &self,
        states: States<'_>,
        _cache: &mut IndependentCache,
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        for (state, log_prob) in states.rows().zip(log_prob) {
            *log_prob = self.base.log_weight(state);
        }
        Ok(())
    }

    fn log_prob_and_diff(
        &self,
        _kind: Differences,
        states: States<'_>,
        cache: &mut IndependentCache,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        let length = self.space().diff_len();
        let tables = diff.chunks_exact_mut(length).zip(log_prob);
        for (state, (diff, log_prob)) in states.rows().zip(tables) {
            if self.space().is_binary() && is_large(length) {
                *log_prob = bits_in_parts(self.base.log_weights(), state, diff);
                continue;
            }
            self.base.diff(state, &mut cache.here, diff);
            // With more than two values the weights of the state have just been looked up.
            *log_prob = match self.space().is_binary() {
                true => self.base.log_weight(state),
                false => cache.here.iter().map(|weight| f64::from(*weight)).sum(),
            };
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
        _cache: &mut IndependentCache,
        site: usize,
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        for (value, diff) in diff.iter_mut().enumerate() {
            *diff = self.base.change(site, state[site], value as u8);
        }
        Ok(())
    }

    fn work(&self) -> Work {
        let (entries, values) = (self.space().diff_len() as f64, self.space().values() as f64);
        let sites = self.space().sites() as f64;
        let sweep = match &self.redrawn {
            Redrawn::Bits(..) => Some(0.6 * sites),
            Redrawn::Values(_) => Some((0.5 + 0.4 * values) * sites),
            _ => None,
        };
        Work {
            evaluation: 0.1 * entries,
            site: 5.0 + 9.0 * values,
            sweep,
            far: 0.0,
            is_known: true,
        }
    }

    fn factors(&self) -> Option<Vec<Factor>> {
        let of_site = |site: usize| {
            let values = 0..self.space().values_at(site);
            let logs = values.map(|value| f64::from(self.base.weight(site, value as u8)));
            Factor::new([site as u32], logs.collect::<Box<[f64]>>()).ok()
        };
        (0..self.space().sites()).map(of_site).collect()
    }

    fn adjacency(&self) -> Option<&Adjacency> {
        Some(&self.adjacency)
    }

    fn sweep(&self, chains: SweptChains<'_>, cache: &mut IndependentCache) -> bool {
        match &self.redrawn {
            // On other rungs probabilities are others.
            Redrawn::Bits(rarer, probability) if chains.base.is_none() => {
                chains.one_by_one(|state, _, rng| {
                    let changed = cache.draw_bits(rarer, probability, rng, state);
                    Sweep { changed, log_prob: self.base.log_weight(state) }
                });
                true
            }
            Redrawn::Values(lanes) if chains.is_multiple_of_model() => {
                let sites = self.space().sites();
                by_groups(chains, sites, |group| lanes.sweep(group, &mut cache.turned, 0.0));
                true
            }
            _ => false,
        }
    }

    fn sweep_block_size(&self, chains: usize) -> usize {
        match self.redrawn {
            Redrawn::Values(_) => lanes::CHAINS,
            _ => self.block_size(chains),
        }
    }
}
