//! Gibbs sampling: sites drawn from their conditional distributions, all in turn or one per step.

use super::conditional::{Followed, Redraw, Redrawn};
use super::{StepError, StepFailure};
use crate::math::sigmoid;
use crate::model::Model;
use crate::model::checkerboard::Sweep;
use crate::rng::ChainRng;

/// Redraws sites one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Gibbs(pub Scan);

/// The sites that a step of [`Gibbs`] redraws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    log_probs: Vec<f64>,
    weights: Vec<f64>,
}

impl Redraw for Gibbs {
    type Scratch = GibbsScratch;

    fn new_scratch<M: Model>(&self, model: &M) -> GibbsScratch {
        let order = match model.graph() {
            Some(graph) => graph.colours().concat(),
            None => (0..model.space().sites() as u32).collect(),
        };
        GibbsScratch { order, log_probs: vec![0.0; model.space().values()], weights: Vec::new() }
    }

    fn redraw<M: Model>(
        &self,
        chain: &mut Followed<'_, M>,
        GibbsScratch { order, log_probs, weights }: &mut GibbsScratch,
        rng: &mut ChainRng,
    ) -> Result<Redrawn, StepError> {
        let one;
        let order = match self.0 {
            Scan::Sweep => &order[..],
            Scan::One => {
                one = [rng.below(chain.state.len()) as u32];
                &one
            }
        };
        let evaluations = order.len() * (log_probs.len() - 1);
        if self.0 == Scan::Sweep
            && let Some(sweep) = whole_sweep(chain, rng)
        {
            chain.log_prob = sweep.log_prob;
            return Ok(Redrawn { evaluations, changed: sweep.changed as usize });
        }
        let mut changed = 0;
        for site in order {
            let site = *site as usize;
            let before = chain.state[site];
            if log_probs.len() == 2 && chain.log_prob > f64::NEG_INFINITY {
                flip_site(chain, site, log_probs, rng)?;
            } else {
                chain.log_probs(site, log_probs)?;
                let value = chain.draw(log_probs, weights, rng)?;
                chain.set(site, value as u8, log_probs[value]);
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
    let number = chain.chain;
    let diffs = chain.model.site_diff(chain.state, number, chain.cache, site, diff);
    diffs.map_err(StepError::at(number))?;
    let other = 1 - chain.state[site];
    let change = diff[usize::from(other)];
    if change.is_nan() {
        return Err(StepError { chain: number, cause: StepFailure::Difference });
    }
    if rng.flip(sigmoid(change)) {
        chain.set(site, other, chain.log_prob + change);
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
    chain.model.sweep(chain.state, chain.cache, rng)
}
