//! Random-walk Metropolis (RWM): change some sites, chosen blindly, and accept or reject (Metropolis et
//! al. 1953). Tuned to the acceptance of random walks in many dimensions (Roberts, Gelman and Gilks 1997).

use super::options::{Options, WithKernel};
use super::pas::fresh_share;
use super::path::draw_radius;
use super::{
    ChainMut, Chains, Kernel, KernelTraits, Kind, ScaleTraits, StepReport, accept, check_log_prob,
    check_start, follow_all, local_steps_per_sweep,
};
use crate::error::StepError;
use crate::math::bytes::count_differences;
use crate::model::Model;
use crate::rng::ChainRng;
use crate::space::{Space, States};

/// Acceptance of random walks at their best.
const ACCEPTANCE: f64 = 0.234;

/// What the random walk says of itself.
pub fn traits(space: &Space) -> KernelTraits {
    KernelTraits {
        name: "rwm",
        summary: "random-walk Metropolis: changes a tuned number of sites blindly",
        reference: "Metropolis et al. 1953, J. Chem. Phys. 21; Roberts, Gelman and Gilks 1997",
        kind: Kind::WithoutDifferences,
        is_balanced: false,
        has_solver: false,
        scale: Some(ScaleTraits::radius(space.free_sites(), fresh_share(space), ACCEPTANCE)),
        evaluations_charged: 2.0,
        is_weighted: false,
        is_tried: false,
    }
}

pub(crate) fn with_kernel<'a, M: Model + 'a, W: WithKernel<'a, M>>(
    _options: &Options,
    _model: &M,
    then: W,
) -> W::Output {
    then.with(RandomWalk)
}

/// Changes `scale` distinct sites or one fewer (`draw_radius`), each to another value chosen uniformly.
#[derive(Clone, Copy, Debug)]
pub struct RandomWalk;

/// Changed sites beyond which a model whose sites see all others is evaluated once, instead of following them one by
/// one.
const MOST_FOLLOWED: f64 = 4.0;

/// Whether the proposals of a block are evaluated as a whole.
fn is_at_once<M: Model>(model: &M, chains: &Chains) -> bool {
    let is_dense = model.adjacency().is_none();
    let is_far = || chains.scales.iter().any(|scale| *scale > MOST_FOLLOWED);
    !model.is_incremental() || is_dense && is_far()
}

/// What [`RandomWalk`] keeps of a block of chains.
pub struct RandomWalkScratch<M: Model> {
    cache: M::Cache,
    /// Whether proposals are evaluated as a whole; else the cache follows the chains.
    at_once: bool,
    picked: Vec<u32>,
    /// The values that the picked sites had before.
    before: Vec<u8>,
    diff: Vec<f64>,
    proposed: Vec<u8>,
    log_prob: Vec<f64>,
}

impl<M: Model> Kernel<M> for RandomWalk {
    type Scratch = RandomWalkScratch<M>;
    type Own = ();

    fn traits(&self, model: &M) -> KernelTraits {
        traits(model.space())
    }

    /// At its smallest scale, which tuning may leave.
    fn steps_per_sweep(&self, model: &M) -> usize {
        local_steps_per_sweep(model, 1)
    }

    fn new_scratch(&self, model: &M, chains: usize) -> Self::Scratch {
        let space = model.space();
        let is_local = model.is_incremental() && model.adjacency().is_some();
        let dense = if is_local { 0 } else { chains };
        RandomWalkScratch {
            cache: model.new_cache(chains),
            at_once: false,
            picked: Vec::new(),
            before: Vec::new(),
            diff: vec![0.0; space.values()],
            proposed: vec![0; dense * space.sites()],
            log_prob: vec![0.0; dense],
        }
    }

    fn start(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        scratch.at_once = is_at_once(model, chains);
        if !scratch.at_once {
            return follow_all(model, chains, &mut scratch.cache);
        }
        let states = States::new(&chains.states, chains.space().sites());
        model
            .log_prob(states, &mut scratch.cache, &mut chains.log_prob)
            .map_err(StepError::at(0))?;
        for (chain, log_prob) in chains.log_prob.iter().enumerate() {
            check_start(chain, *log_prob)?;
        }
        chains.evaluate_base();
        Ok(())
    }

    /// Nothing is kept that depends on the rung; of the scale only whether chains are followed.
    fn adjust(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        if is_at_once(model, chains) == scratch.at_once {
            return Ok(());
        }
        self.start(model, chains, scratch)
    }

    fn step(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        if scratch.at_once {
            return walk_at_once(model, chains, scratch);
        }
        for number in 0..chains.len() {
            walk_along(model, chains.chain(number), scratch)?;
        }
        Ok(())
    }
}

/// Picks sites and a new value for each.
fn pick(
    scale: f64,
    space: &Space,
    state: &[u8],
    picked: &mut Vec<u32>,
    rng: &mut ChainRng,
    mut change: impl FnMut(usize, u8),
) {
    let count = draw_radius(scale, space.free_sites(), rng);
    picked.resize(count, 0);
    rng.distinct(space.free_sites(), picked);
    for site in picked.iter_mut() {
        *site = space.free_site(*site as usize) as u32;
        let site = *site as usize;
        let values = space.values_at(site);
        let shift = 1 + rng.below(values - 1);
        change(site, ((usize::from(state[site]) + shift) % values) as u8);
    }
}

/// One chain, site by site, touching nothing but the changed sites.
fn walk_along<M: Model>(
    model: &M,
    chain: ChainMut<'_>,
    scratch: &mut RandomWalkScratch<M>,
) -> Result<(), StepError> {
    let RandomWalkScratch { cache, picked, before, diff, .. } = scratch;
    let ChainMut { number, state, log_prob, log_base, rng, rung, scale, report, journal, .. } =
        chain;
    let space = model.space();
    let failed = StepError::at(number);
    let mut targets = std::mem::take(before);
    targets.clear();
    pick(scale, space, state, picked, rng, |_, value| targets.push(value));
    let (mut change, mut of_base) = (0.0, 0.0);
    for (site, value) in picked.iter().zip(&mut targets) {
        let site = *site as usize;
        let old = state[site];
        if change > f64::NEG_INFINITY {
            let diff = &mut diff[..space.values_at(site)];
            model.site_diff(state, number, cache, site, diff).map_err(&failed)?;
            change += diff[usize::from(*value)];
        }
        if let Some(base) = rung.base {
            of_base += base.change(site, old, *value);
        }
        model.set_site(state, number, cache, site, *value);
        *value = old;
    }
    if change == f64::NEG_INFINITY {
        // The way led through a forbidden state, out of which no difference leads.
        change = model.follow(state, number, cache).map_err(&failed)? - *log_prob;
    }
    check_log_prob(number, change)?;
    let log_ratio = match rung.base {
        Some(_) if change > f64::NEG_INFINITY => rung.mix(change, of_base),
        _ => change,
    };
    let (acceptance, accepted) = accept(number, log_ratio, rng)?;
    let mut changed = picked.len() as u32;
    if accepted {
        *log_prob += change;
        *log_base += of_base;
        for (site, old) in picked.iter().zip(&targets) {
            journal.record(*site as usize, *old, state[*site as usize]);
        }
    } else {
        for (site, old) in picked.iter().zip(&targets) {
            model.set_site(state, number, cache, *site as usize, *old);
        }
        if change == f64::NEG_INFINITY {
            model.follow(state, number, cache).map_err(failed)?;
        }
        changed = 0;
    }
    *before = targets;
    *report = StepReport { acceptance, changed, evaluations: 1 };
    Ok(())
}

/// The whole block with one evaluation.
fn walk_at_once<M: Model>(
    model: &M,
    chains: &mut Chains,
    scratch: &mut RandomWalkScratch<M>,
) -> Result<(), StepError> {
    let RandomWalkScratch { cache, picked, proposed, log_prob, .. } = scratch;
    let space = model.space();
    let sites = space.sites();
    for (number, proposed) in proposed.chunks_exact_mut(sites).enumerate() {
        let chain = chains.chain(number);
        proposed.copy_from_slice(chain.state);
        let change = |site, value| proposed[site] = value;
        pick(chain.scale, space, chain.state, picked, chain.rng, change);
    }
    model.log_prob(States::new(proposed, sites), cache, log_prob).map_err(StepError::at(0))?;
    for (number, proposed) in proposed.chunks_exact(sites).enumerate() {
        let there = check_log_prob(number, log_prob[number])?;
        let log_density = chains.log_density(number);
        let ChainMut { state, log_prob, log_base, rng, rung, report, .. } = chains.chain(number);
        let of_base = rung.base.map_or(0.0, |base| base.log_prob(proposed));
        let log_ratio = match rung.base {
            Some(_) if there > f64::NEG_INFINITY => rung.mix(there, of_base) - log_density,
            _ => there - log_density,
        };
        let (acceptance, accepted) = accept(number, log_ratio, rng)?;
        *report = StepReport { acceptance, changed: 0, evaluations: 1 };
        if accepted {
            report.changed = count_differences(state, proposed);
            state.copy_from_slice(proposed);
            (*log_prob, *log_base) = (there, of_base);
        }
    }
    Ok(())
}
