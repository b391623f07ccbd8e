//! Gibbs sampling: sites drawn from their conditional distributions, all in turn or one per step
//! (Geman and Geman 1984); colour by colour on sparse graphs (Gonzalez et al. 2011).

use super::conditional::{Conditional, Followed, Redraw, Redrawn};
use super::options::{Options, WithKernel};
use super::{KernelTraits, Kind};
use crate::error::{StepError, StepFailure};
use crate::math::sigmoid;
use crate::model::{Model, Sweep};
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
        scale: None,
        evaluations_charged: space.sites() as f64 * space.values() as f64,
        is_weighted: false,
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
}

impl Redraw for Gibbs {
    type Scratch = GibbsScratch;

    fn traits(&self, space: &Space) -> KernelTraits {
        traits(space)
    }

    fn new_scratch<M: Model>(&self, model: &M) -> GibbsScratch {
        let space = model.space();
        let mut order = match model.adjacency() {
            Some(adjacency) => adjacency.colours().concat(),
            None => (0..space.sites() as u32).collect(),
        };
        order.retain(|site| space.values_at(*site as usize) > 1);
        let logs = Vec::with_capacity(space.values());
        GibbsScratch { order, logs, weights: Vec::new() }
    }

    fn redraw<M: Model>(
        &self,
        chain: &mut Followed<'_, M>,
        GibbsScratch { order, logs, weights }: &mut GibbsScratch,
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
        if self.0 == Scan::Sweep
            && let Some(sweep) = whole_sweep(chain, rng)
        {
            chain.swept(sweep.log_prob);
            return Ok(Redrawn { evaluations, changed: sweep.changed as usize });
        }
        let mut changed = 0;
        for site in order {
            let site = *site as usize;
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

/// A sweep by the model itself, if it has one.
fn whole_sweep<M: Model>(chain: &mut Followed<'_, M>, rng: &mut ChainRng) -> Option<Sweep> {
    // Decisions of a vector loop cannot be enumerated; tests compare the two ways instead.
    #[cfg(test)]
    if rng.is_scripted() {
        return None;
    }
    chain.model.sweep(chain.state, chain.chain, chain.cache, chain.rung, rng)
}
