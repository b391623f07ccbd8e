//! Swendsen–Wang: bonds between satisfied pairs, then every cluster of bonded sites is redrawn
//! (Swendsen and Wang 1987; Edwards and Sokal 1988).
//!
//! A cluster C takes a value v with probability proportional to exp Σ_C θᵢ(v), spins that like to differ turn
//! together. The bonds to a ghost site by which fields are often put (Coniglio et al. 1989) are thereby summed over.

use super::cluster::{Bonds, Clusters, field_change, has_field, is_satisfied};
use super::options::{Options, WithKernel};
use super::{Chains, Kernel, KernelTraits, Kind, StepReport};
use crate::error::{ModelError, StepError};
use crate::math::bytes::count_differences;
use crate::math::sigmoid;
use crate::model::couplings::Couplings;
use crate::model::{Model, Rung};
use crate::rng::ChainRng;
use crate::space::Space;

/// What Swendsen–Wang says of itself.
pub fn traits(_space: &Space) -> KernelTraits {
    KernelTraits {
        name: "sw",
        summary: "Swendsen–Wang: redraws all clusters of pairs without frustration",
        reference: "Swendsen and Wang 1987, PRL 58; Edwards and Sokal 1988, PRD 38",
        kind: Kind::Structure,
        is_balanced: false,
        has_solver: false,
        scale: None,
        evaluations_charged: 2.0,
        is_weighted: false,
        is_tried: true,
    }
}

pub(crate) fn with_kernel<'a, M: Model + 'a, W: WithKernel<'a, M>>(
    _options: &Options,
    model: &M,
    then: W,
) -> W::Output {
    then.with(SwendsenWang(Clusters::of(model)))
}

/// Redraws all clusters.
#[derive(Clone, Debug)]
pub struct SwendsenWang(pub Clusters);

/// What [`SwendsenWang`] works with.
pub struct SwendsenWangScratch {
    bonds: Bonds,
    /// Of every site another one of its cluster; the first is its own.
    parents: Vec<u32>,
    words: Vec<u32>,
    /// What fields say to each move of a cluster, at its first site: to every value it can take, or with
    /// two values to staying and to turning.
    gains: Vec<f64>,
    weights: Vec<f64>,
    /// The move of every cluster, at its first site.
    moves: Vec<u8>,
    before: Vec<u8>,
}

impl SwendsenWangScratch {
    fn find(&mut self, site: u32) -> u32 {
        let parents = &mut self.parents;
        let mut site = site as usize;
        while parents[site] as usize != site {
            parents[site] = parents[parents[site] as usize];
            site = parents[site] as usize;
        }
        site as u32
    }

    fn join(&mut self, one: u32, other: u32) {
        let (one, other) = (self.find(one), self.find(other));
        self.parents[one.max(other) as usize] = one.min(other);
    }

    /// Puts bonds between satisfied pairs.
    fn bind(&mut self, couplings: &Couplings, state: &[u8], rng: &mut ChainRng) {
        self.parents.clear();
        self.parents.extend(0..state.len() as u32);
        #[cfg(test)]
        if rng.is_scripted() {
            for ((one, other), kind) in couplings.pairs().iter().zip(couplings.kinds()) {
                let (values, kind) =
                    ((state[*one as usize], state[*other as usize]), *kind as usize);
                if is_satisfied(couplings.weights()[kind], values.0, values.1)
                    && rng.flip(self.bonds.probabilities[kind])
                {
                    self.join(*one, *other);
                }
            }
            return;
        }
        // A word for every pair, so that they come from a vector loop. Where one does not decide, which happens once in
        // 2³², another does.
        let mut words = std::mem::take(&mut self.words);
        words.resize(couplings.pairs().len(), 0);
        rng.fill(&mut words);
        let limit = |probability: &f64| probability * 4_294_967_296.0;
        let limits: Vec<f64> = self.bonds.probabilities.iter().map(limit).collect();
        let pairs = couplings.pairs().iter().zip(couplings.kinds());
        for (((one, other), kind), word) in pairs.zip(&words) {
            let (kind, word) = (*kind as usize, f64::from(*word));
            let limit = limits[kind];
            if word < limit
                && is_satisfied(
                    couplings.weights()[kind],
                    state[*one as usize],
                    state[*other as usize],
                )
                && (word + 1.0 <= limit || word + rng.uniform() < limit)
            {
                self.join(*one, *other);
            }
        }
        self.words = words;
    }

    /// Adds up what fields say to the moves of clusters.
    fn add_fields(&mut self, couplings: &Couplings, rung: Rung<'_>, state: &[u8]) {
        let space = couplings.space();
        self.gains.clear();
        self.gains.resize(state.len() * space.values(), 0.0);
        for (site, own) in state.iter().enumerate() {
            let first = self.find(site as u32) as usize * space.values();
            if space.values_at(site) == 2 {
                self.gains[first + 1] += field_change(couplings, rung, site, (*own, 1 - own));
                continue;
            }
            for value in 0..space.values_at(site) {
                let change = field_change(couplings, rung, site, (*own, value as u8));
                self.gains[first + value] += change;
            }
        }
    }

    /// Draws the move of a cluster.
    fn draw(&mut self, space: &Space, first: usize, by_fields: bool, rng: &mut ChainRng) -> u8 {
        let values = space.values_at(first);
        if !by_fields {
            return match values {
                2 => u8::from(rng.flip(0.5)),
                _ => rng.below(values) as u8,
            };
        }
        let gains = &self.gains[first * space.values()..][..values];
        if values == 2 {
            return u8::from(rng.flip(sigmoid(gains[1])));
        }
        let largest = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.weights.clear();
        self.weights.extend(gains.iter().map(|gain| (gain - largest).exp()));
        rng.index(&self.weights, self.weights.iter().sum()) as u8
    }

    /// Moves all clusters.
    fn redraw(
        &mut self,
        couplings: &Couplings,
        rung: Rung<'_>,
        state: &mut [u8],
        rng: &mut ChainRng,
    ) {
        let space = couplings.space();
        let by_fields = has_field(couplings, rung);
        if by_fields {
            self.add_fields(couplings, rung, state);
        }
        self.moves.resize(state.len(), 0);
        for site in 0..state.len() {
            let first = self.find(site as u32) as usize;
            if first == site && space.values_at(site) > 1 {
                self.moves[site] = self.draw(space, site, by_fields, rng);
            }
            state[site] = match space.values_at(site) {
                1 => 0,
                2 => state[site] ^ self.moves[first],
                _ => self.moves[first],
            };
        }
    }
}

impl<M: Model> Kernel<M> for SwendsenWang {
    type Scratch = SwendsenWangScratch;
    type Own = ();

    fn traits(&self, model: &M) -> KernelTraits {
        traits(model.space())
    }

    fn suits(&self, _model: &M) -> Result<(), ModelError> {
        self.0.suits()
    }

    fn work(&self, model: &M) -> f64 {
        let space = model.space();
        let pairs = self.0.pairs() as f64;
        let of_values = if space.is_binary() { 0.0 } else { 3.3 * space.values() as f64 };
        3.3 * pairs + (4.5 + of_values) * space.sites() as f64
    }

    fn is_likely(&self, _model: &M) -> bool {
        self.0.grow()
    }

    fn block_size(&self, _model: &M, _chains: usize) -> usize {
        1
    }

    fn new_scratch(&self, model: &M, _chains: usize) -> SwendsenWangScratch {
        SwendsenWangScratch {
            bonds: Bonds::default(),
            parents: Vec::new(),
            words: Vec::new(),
            gains: Vec::new(),
            weights: Vec::new(),
            moves: Vec::new(),
            before: vec![0; model.space().sites()],
        }
    }

    fn start(
        &self,
        _model: &M,
        chains: &mut Chains,
        _scratch: &mut SwendsenWangScratch,
    ) -> Result<(), StepError> {
        self.0.start(chains)
    }

    /// What is kept does not depend on the rung.
    fn adjust(
        &self,
        _model: &M,
        _chains: &mut Chains,
        _scratch: &mut SwendsenWangScratch,
    ) -> Result<(), StepError> {
        Ok(())
    }

    fn step(
        &self,
        _model: &M,
        chains: &mut Chains,
        scratch: &mut SwendsenWangScratch,
    ) -> Result<(), StepError> {
        let couplings = self.0.couplings()?;
        for number in 0..chains.len() {
            let chain = chains.chain(number);
            scratch.before.copy_from_slice(chain.state);
            scratch.bonds.set(couplings, chain.rung);
            scratch.bind(couplings, chain.state, chain.rng);
            scratch.redraw(couplings, chain.rung, chain.state, chain.rng);
            *chain.log_prob = couplings.log_prob(chain.state);
            let changed = count_differences(&scratch.before, chain.state);
            *chain.report = StepReport { acceptance: 1.0, changed, evaluations: 1 };
        }
        chains.evaluate_base();
        Ok(())
    }
}
