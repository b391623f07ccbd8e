//! Wolff: the one cluster that grows from a random site is moved (Wolff 1989).
//!
//! Without fields the move is always made: spins turn, Potts sites take another value. With fields it is accepted
//! with probability min(1, e^Δ), where Δ is by how much the fields of the cluster change.

use super::cluster::{Bonds, Clusters, field_change, is_satisfied};
use super::options::{Options, WithKernel};
use super::{ChainMut, Chains, Kernel, KernelTraits, Kind, StepReport, accept};
use crate::error::{ModelError, StepError};
use crate::model::Model;
use crate::model::couplings::Couplings;
use crate::rng::ChainRng;
use crate::space::Space;

/// What Wolff's algorithm says of itself.
pub fn traits(_space: &Space) -> KernelTraits {
    KernelTraits {
        name: "wolff",
        summary: "Wolff: moves one cluster of pairs without frustration",
        reference: "Wolff 1989, PRL 62",
        kind: Kind::Structure,
        is_balanced: false,
        has_solver: false,
        scale: None,
        evaluations_charged: 2.0,
        is_weighted: false,
        is_tried: false,
    }
}

pub(crate) fn with_kernel<'a, M: Model + 'a, W: WithKernel<'a, M>>(
    _options: &Options,
    model: &M,
    then: W,
) -> W::Output {
    then.with(Wolff(Clusters::of(model)))
}

/// Moves one cluster.
#[derive(Clone, Debug)]
pub struct Wolff(pub Clusters);

/// What [`Wolff`] works with.
#[derive(Debug, Default)]
pub struct WolffScratch {
    bonds: Bonds,
    /// Sites of the cluster in the order in which they joined it.
    cluster: Vec<u32>,
    /// In the growth of which cluster a site was last reached.
    reached: Vec<u64>,
    grown: u64,
}

impl WolffScratch {
    /// Grows a cluster from a site.
    fn grow(&mut self, couplings: &Couplings, state: &[u8], from: usize, rng: &mut ChainRng) {
        self.reached.resize(state.len(), 0);
        self.grown += 1;
        self.cluster.clear();
        self.cluster.push(from as u32);
        self.reached[from] = self.grown;
        let mut next = 0;
        while let Some(site) = self.cluster.get(next) {
            let site = *site as usize;
            for (other, kind) in couplings.around(site) {
                if self.reached[other] != self.grown
                    && is_satisfied(couplings.weights()[kind], state[site], state[other])
                    && rng.flip(self.bonds.probabilities[kind])
                {
                    self.reached[other] = self.grown;
                    self.cluster.push(other as u32);
                }
            }
            next += 1;
        }
    }

    /// By how much log π of the pairs around the cluster changes if its sites take the values that `moved` gives them.
    fn pair_change(&self, couplings: &Couplings, state: &[u8], moved: impl Fn(u8) -> u8) -> f64 {
        let mut change = 0.0;
        for site in &self.cluster {
            let (own, new) = (state[*site as usize], moved(state[*site as usize]));
            for (other, kind) in couplings.around(*site as usize) {
                if self.reached[other] != self.grown {
                    let equal = |value: u8| f64::from(u8::from(value == state[other]));
                    change += couplings.weights()[kind] * (equal(new) - equal(own));
                }
            }
        }
        change
    }

    fn step_chain(&mut self, couplings: &Couplings, chain: ChainMut<'_>) -> Result<(), StepError> {
        let ChainMut { number, state, log_prob, log_base, rng, rung, report, journal, .. } = chain;
        let space = couplings.space();
        // One place more than there are sites: without it spins that hardly see each other would come by half of all
        // states at odd steps only.
        let place = rng.below(space.free_sites() + 1);
        if place == space.free_sites() {
            *report = StepReport { acceptance: 1.0, changed: 0, evaluations: 1 };
            return Ok(());
        }
        let first = space.free_site(place);
        self.bonds.set(couplings, rung);
        self.grow(couplings, state, first, rng);
        let taken = match space.values_at(first) {
            2 => None,
            values => Some(another(values, state[first], rng)),
        };
        let moved = |own: u8| taken.unwrap_or(1 - own.min(1));
        let (mut on_rung, mut of_model, mut of_base) = (0.0, 0.0, 0.0);
        for site in self.cluster.iter().map(|site| *site as usize) {
            let change = (state[site], moved(state[site]));
            on_rung += field_change(couplings, rung, site, change);
            of_model += couplings.field(site, change.1) - couplings.field(site, change.0);
            of_base += rung.base.map_or(0.0, |base| base.change(site, change.0, change.1));
        }
        let (acceptance, accepted) = match on_rung {
            0.0 => (1.0, true),
            change => accept(number, change, rng)?,
        };
        *report = StepReport { acceptance, changed: 0, evaluations: 1 };
        if accepted {
            *log_prob += of_model + self.pair_change(couplings, state, moved);
            *log_base += of_base;
            for site in self.cluster.iter().map(|site| *site as usize) {
                journal.record(site, state[site], moved(state[site]));
                state[site] = moved(state[site]);
            }
            report.changed = self.cluster.len() as u32;
        }
        Ok(())
    }
}

/// Another value than a site's own.
fn another(values: usize, own: u8, rng: &mut ChainRng) -> u8 {
    let value = rng.below(values - 1) as u8;
    if value < own { value } else { value + 1 }
}

impl<M: Model> Kernel<M> for Wolff {
    type Scratch = WolffScratch;
    type Own = ();

    fn traits(&self, model: &M) -> KernelTraits {
        traits(model.space())
    }

    fn suits(&self, _model: &M) -> Result<(), ModelError> {
        self.0.suits()
    }

    /// A guess, half of what all clusters take: one may be anything from a site to all of them.
    fn work(&self, model: &M) -> f64 {
        3.0 * self.0.pairs() as f64 + 4.0 * model.space().sites() as f64
    }

    fn block_size(&self, _model: &M, _chains: usize) -> usize {
        1
    }

    fn new_scratch(&self, _model: &M, _chains: usize) -> WolffScratch {
        WolffScratch::default()
    }

    fn start(
        &self,
        _model: &M,
        chains: &mut Chains,
        _scratch: &mut WolffScratch,
    ) -> Result<(), StepError> {
        self.0.start(chains)
    }

    /// What is kept does not depend on the rung.
    fn adjust(
        &self,
        _model: &M,
        _chains: &mut Chains,
        _scratch: &mut WolffScratch,
    ) -> Result<(), StepError> {
        Ok(())
    }

    fn step(
        &self,
        _model: &M,
        chains: &mut Chains,
        scratch: &mut WolffScratch,
    ) -> Result<(), StepError> {
        let couplings = self.0.couplings()?;
        (0..chains.len()).try_for_each(|number| scratch.step_chain(couplings, chains.chain(number)))
    }
}
