//! NAME (SHORT; Author year, eq. N): what a step does in one sentence, with the formula, here one site
//! redrawn blindly and accepted with probability min(1, f(x′)/f(x)).
//!
//! A skeleton: copy it to `crates/saltus/src/kernel/`, replace what stands in capitals and what a step
//! does. As it stands it is a correct kernel, and the tests run it.

use crate::error::StepError;
use crate::kernel::options::{Options, WithKernel};
use crate::kernel::{
    ChainMut, Chains, Kernel, KernelTraits, Kind, StepReport, accept, check_log_prob, check_start,
};
use crate::model::Model;
use crate::space::{Space, States};

/// What NAME says of itself. Used by the command line, stores, tuning and verdicts, so that nothing
/// about a sampler stands anywhere else.
pub fn traits(space: &Space) -> KernelTraits {
    // Often a number of the space decides what a step is charged; here none does.
    let _ = space;
    KernelTraits {
        name: "skeleton",
        summary: "NAME: what a step does, for `saltus list`",
        reference: "Authors year, Title, Journal or conference",
        kind: Kind::WithoutDifferences,
        // Whether `Options::balancing` and `Options::closeness` mean something.
        is_balanced: false,
        has_solver: false,
        // `Some(ScaleTraits::step_size(…))` or `Some(ScaleTraits::radius(…))` if there is one to tune.
        scale: None,
        // As the literature counts, where nothing is kept from step to step.
        evaluations_charged: 2.0,
        is_weighted: false,
        // Whether `--sampler auto` tries it where it suits.
        is_tried: false,
    }
}

/// Builds the kernel; the line in the table of `sampler.rs` finds this function by the file's name.
pub(crate) fn with_kernel<'a, M: Model + 'a, W: WithKernel<'a, M>>(
    _options: &Options,
    _model: &M,
    then: W,
) -> W::Output {
    // A sampler that draws from differences and tests is `Metropolis(YourProposal { .. })`, one that
    // redraws sites from conditionals `Conditional(YourRedraw)`; neither needs the code below.
    then.with(Skeleton)
}

/// Redraws one random site uniformly, and tests. It holds parameters and no state.
#[derive(Clone, Copy, Debug)]
pub struct Skeleton;

/// What [`Skeleton`] keeps of a block of chains, all of which can be computed anew from their states.
pub struct SkeletonScratch<M: Model> {
    cache: M::Cache,
    proposed: Vec<u8>,
}

impl<M: Model> Kernel<M> for Skeleton {
    type Scratch = SkeletonScratch<M>;
    /// What cannot be computed anew; checkpoints keep it.
    type Own = ();

    fn traits(&self, model: &M) -> KernelTraits {
        traits(model.space())
    }

    fn new_scratch(&self, model: &M, chains: usize) -> Self::Scratch {
        SkeletonScratch { cache: model.new_cache(chains), proposed: vec![0; model.space().sites()] }
    }

    fn start(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        let states = States::new(&chains.states, chains.space().sites());
        let evaluated = model.log_prob(states, &mut scratch.cache, &mut chains.log_prob);
        evaluated.map_err(StepError::at(0))?;
        for (chain, log_prob) in chains.log_prob.iter().enumerate() {
            check_start(chain, *log_prob)?;
        }
        chains.evaluate_base();
        Ok(())
    }

    // `adjust` as well, where a change of scale or temperature costs less than `start`.

    fn step(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        (0..chains.len()).try_for_each(|chain| step(model, chains.chain(chain), scratch))
    }
}

/// One step of one chain. Every random decision goes through `chain.rng` (`flip`, `below`, `index`), so
/// that `exactness.rs` can enumerate the transitions.
fn step<M: Model>(
    model: &M,
    chain: ChainMut<'_>,
    scratch: &mut SkeletonScratch<M>,
) -> Result<(), StepError> {
    let (space, sites) = (model.space(), chain.state.len());
    let SkeletonScratch { cache, proposed } = scratch;
    let site = space.free_site(chain.rng.below(space.free_sites()));
    proposed.copy_from_slice(chain.state);
    proposed[site] = chain.rng.below(space.values_at(site)) as u8;

    let mut there = [0.0];
    let evaluated = model.log_prob(States::new(proposed, sites), cache, &mut there);
    evaluated.map_err(StepError::at(chain.number))?;
    let log_prob = check_log_prob(chain.number, there[0])?;
    // On a path of temperatures the density is p^(1−β) π^β; without a base it is π.
    let log_base = chain.rung.base.map_or(0.0, |base| base.log_prob(proposed));
    let here = chain.rung.mix(*chain.log_prob, *chain.log_base);
    let ratio = chain.rung.mix(log_prob, log_base) - here;
    let (acceptance, accepted) = accept(chain.number, ratio, chain.rng)?;
    let changed = u32::from(accepted && proposed[site] != chain.state[site]);
    if changed > 0 {
        chain.journal.record(site, chain.state[site], proposed[site]);
        chain.state[site] = proposed[site];
        (*chain.log_prob, *chain.log_base) = (log_prob, log_base);
    }
    *chain.report = StepReport { acceptance, changed, evaluations: 1 };
    Ok(())
}
