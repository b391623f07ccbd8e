//! Gibbs sampling: sites drawn from their conditional distributions, all in turn or one per step
//! (Geman and Geman 1984); colour by colour on sparse graphs (Gonzalez et al. 2011).

use super::conditional::exchange::Partners;
use super::conditional::{Conditional, Followed, Redraw, Redrawn};
use super::options::{Options, WithKernel};
use super::{KernelTraits, Kind};
use crate::error::{StepError, StepFailure};
use crate::math::sigmoid;
use crate::model::{Model, SweptChains};
use crate::rng::ChainRng;
use crate::space::Space;
use serde::{Deserialize, Serialize};

/// What Gibbs sampling says of itself. A sweep is charged by the same rule as block Gibbs: every value
/// of every site.
pub fn traits(space: &Space) -> KernelTraits {
    KernelTraits {
        name: "gibbs",
        summary: "Gibbs: a step is one sweep over all sites, by colours on sparse graphs",
        reference: "Geman and Geman 1984, IEEE TPAMI 6; Gonzalez et al. 2011, AISTATS",
        kind: Kind::WithoutDifferences,
        is_balanced: false,
        has_solver: false,
        scale: None,
        evaluations_charged: space.sites() as f64 * space.values() as f64,
        is_weighted: false,
        is_tried: true,
    }
}

pub(crate) fn with_kernel<'a, M: Model + 'a, W: WithKernel<'a, M>>(
    options: &Options,
    _model: &M,
    then: W,
) -> W::Output {
    then.with(Conditional(Gibbs(options.scan)))
}

/// Redraws sites one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Gibbs(pub Scan);

/// The sites that a step of [`Gibbs`] redraws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scan {
    /// All of them; on a sparse graph colour by colour, because sites of one colour do not see each
    /// other.
    #[default]
    Sweep,
    /// One at random: what is affordable where every value of a site costs an evaluation.
    One,
}

/// What [`Gibbs`] works with.
pub struct GibbsScratch {
    order: Vec<u32>,
    /// Of the values of one site.
    logs: Vec<f64>,
    weights: Vec<f64>,
    /// Sites that can only change two at a time, if there are any.
    partners: Option<Partners>,
    /// The state before a step, where a site may change more than once.
    before: Vec<u8>,
}

impl Redraw for Gibbs {
    type Scratch = GibbsScratch;

    fn traits(&self, space: &Space) -> KernelTraits {
        traits(space)
    }

    fn tried(&self) -> Option<usize> {
        match self.0 {
            Scan::Sweep => None,
            Scan::One => Some(1),
        }
    }

    fn new_scratch<M: Model>(&self, model: &M) -> GibbsScratch {
        let space = model.space();
        let mut order = match model.adjacency() {
            Some(adjacency) => adjacency.colours().concat(),
            None => (0..space.sites() as u32).collect(),
        };
        order.retain(|site| space.values_at(*site as usize) > 1);
        let logs = Vec::with_capacity(space.values());
        let (weights, before) = (Vec::new(), Vec::new());
        GibbsScratch { order, logs, weights, partners: Partners::of(model), before }
    }

    fn redraw_all<M: Model>(
        &self,
        model: &M,
        chains: SweptChains<'_>,
        cache: &mut M::Cache,
    ) -> Option<usize> {
        // Decisions of a vector loop cannot be enumerated; tests compare the two ways instead.
        #[cfg(test)]
        if chains.rngs.iter().any(ChainRng::is_scripted) {
            return None;
        }
        let swept = self.0 == Scan::Sweep && model.sweep(chains, cache);
        swept.then(|| model.space().changes())
    }

    fn block_size<M: Model>(&self, model: &M, chains: usize) -> usize {
        match self.0 {
            Scan::Sweep => model.sweep_block_size(chains),
            Scan::One => model.block_size(chains),
        }
    }

    fn redraw<M: Model>(
        &self,
        chain: &mut Followed<'_, M>,
        GibbsScratch { order, logs, weights, partners, before: all_before }: &mut GibbsScratch,
        rng: &mut ChainRng,
    ) -> Result<Redrawn, StepError> {
        let space = chain.model.space();
        let one;
        let (order, evaluations) = match self.0 {
            Scan::Sweep => (&order[..], space.changes()),
            Scan::One => {
                let site = space.free_site(rng.below(space.free_sites()));
                one = [site as u32];
                (&one[..], space.values_at(site) - 1)
            }
        };
        if partners.is_some() {
            all_before.clear();
            all_before.extend_from_slice(chain.state);
        }
        let mut changed = 0;
        for site in order {
            let site = *site as usize;
            if let Some(partners) = partners.as_ref().filter(|partners| partners.binds(site)) {
                if let Some(other) = partners.draw(site, rng) {
                    chain.exchange((site, other), logs, weights, rng)?;
                }
                continue;
            }
            let before = chain.state[site];
            logs.resize(space.values_at(site), 0.0);
            if logs.len() == 2 && chain.log_density > f64::NEG_INFINITY {
                flip_site(chain, site, logs, rng)?;
            } else {
                chain.log_densities(site, logs)?;
                let value = chain.draw(logs, weights, rng)?;
                chain.set(site, value as u8, logs[value])?;
            }
            changed += usize::from(chain.state[site] != before);
        }
        if partners.is_some() {
            let sites = chain.state.iter().zip(&*all_before);
            changed = sites.filter(|(now, before)| now != before).count();
        }
        Ok(Redrawn { evaluations, changed })
    }
}

/// Redraws a site of two values: one exponential, not two and a sum.
fn flip_site<M: Model>(
    chain: &mut Followed<'_, M>,
    site: usize,
    diff: &mut [f64],
    rng: &mut ChainRng,
) -> Result<(), StepError> {
    chain.changes_of(site, diff)?;
    let other = 1 - chain.state[site];
    let change = diff[usize::from(other)];
    if change.is_nan() {
        return Err(StepError { chain: chain.chain, cause: StepFailure::Difference });
    }
    if rng.flip(sigmoid(change)) {
        chain.set(site, other, chain.log_density + change)?;
    }
    Ok(())
}
