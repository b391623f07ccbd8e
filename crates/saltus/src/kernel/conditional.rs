//! Samplers that redraw sites from their conditional distribution: every chain on its own, no
//! proposal, no acceptance test.

pub(super) mod exchange;

use super::{
    ChainMut, Chains, Journal, Kernel, KernelTraits, StepReport, follow_all, local_steps_per_sweep,
};
use crate::error::{ModelError, StepError, StepFailure};
use crate::model::{Model, Rung, Sweep, SweptChains};
use crate::rng::ChainRng;
use crate::space::Space;

/// Redraws some sites of one chain from their distribution given all others.
pub trait Redraw: Send + Sync {
    /// What it needs to work with.
    type Scratch: Send;

    /// What the sampler that it makes says of itself.
    fn traits(&self, space: &Space) -> KernelTraits;

    /// Sites that a step tries, if not all.
    fn tried(&self) -> Option<usize>;

    /// Scratch space for a model.
    fn new_scratch<M: Model>(&self, model: &M) -> Self::Scratch;

    /// Makes one transition of all chains of a block, if the model can do that at once; returns the
    /// states of each that were evaluated.
    fn redraw_all<M: Model>(
        &self,
        model: &M,
        chains: SweptChains<'_>,
        cache: &mut M::Cache,
    ) -> Option<usize> {
        let _ = (model, chains, cache);
        None
    }

    /// How many of `chains` chains should stand in a block.
    fn block_size<M: Model>(&self, model: &M, chains: usize) -> usize {
        model.block_size(chains)
    }

    /// Makes one transition.
    fn redraw<M: Model>(
        &self,
        chain: &mut Followed<'_, M>,
        scratch: &mut Self::Scratch,
        rng: &mut ChainRng,
    ) -> Result<Redrawn, StepError>;
}

/// What a transition did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Redrawn {
    /// States that were evaluated.
    pub evaluations: usize,
    /// Sites that hold another value than before.
    pub changed: usize,
}

/// One chain, followed site by site through its model on its rung.
pub struct Followed<'a, M: Model> {
    /// The model.
    pub model: &'a M,
    /// The chain's state.
    pub state: &'a mut [u8],
    /// The logarithm of the density of that state on the rung.
    pub log_density: f64,
    /// Where the chain stands on the path from the base to the model.
    pub rung: Rung<'a>,
    /// log π and log p of the state, which are followed beside the density where there is a base.
    log_prob: f64,
    log_base: f64,
    /// The model's own changes of a site's values.
    changes: &'a mut Vec<f64>,
    /// What the model keeps of the block.
    pub cache: &'a mut M::Cache,
    /// The chain's number within its block.
    pub chain: usize,
    /// Where it is recorded which sites changed, if they are few.
    pub journal: &'a mut Journal,
}

impl<M: Model> Followed<'_, M> {
    /// The logarithm of the density with each value of one site; as many as the site has.
    pub fn log_densities(
        &mut self,
        site: usize,
        log_densities: &mut [f64],
    ) -> Result<(), StepError> {
        if self.log_density > f64::NEG_INFINITY {
            self.changes_of(site, log_densities)?;
            log_densities.iter_mut().for_each(|change| *change += self.log_density);
            return Ok(());
        }
        // No difference leads out of a forbidden state: evaluate each value on its own.
        let failed = StepError::at(self.chain);
        let own = self.state[site];
        for (value, log_density) in log_densities.iter_mut().enumerate() {
            self.state[site] = value as u8;
            let followed = self.model.follow(self.state, self.chain, self.cache);
            *log_density = self.density(followed.map_err(&failed)?);
        }
        self.state[site] = own;
        self.model.follow(self.state, self.chain, self.cache).map_err(failed)?;
        Ok(())
    }

    /// By how much the logarithm of the density would change with each value of one site.
    pub fn changes_of(&mut self, site: usize, changes: &mut [f64]) -> Result<(), StepError> {
        let Self { model, state, cache, chain, rung, .. } = self;
        let diffs = model.site_diff(state, *chain, cache, site, changes);
        diffs.map_err(StepError::at(*chain))?;
        rung.mix_changes(site, state[site], changes);
        Ok(())
    }

    fn density(&self, log_prob: f64) -> f64 {
        match self.rung.base {
            Some(base) if log_prob > f64::NEG_INFINITY => {
                self.rung.mix(log_prob, base.log_prob(self.state))
            }
            _ => log_prob,
        }
    }

    /// Gives a site a value, where the density is known.
    pub fn set(&mut self, site: usize, value: u8, log_density: f64) -> Result<(), StepError> {
        if self.state[site] != value {
            let before = self.state[site];
            if let Some(base) = self.rung.base {
                self.follow_both(base.change(site, before, value), site, value)?;
            }
            self.model.set_site(self.state, self.chain, self.cache, site, value);
            if self.log_prob.is_nan() {
                let followed = self.model.follow(self.state, self.chain, self.cache);
                self.log_prob = followed.map_err(StepError::at(self.chain))?;
            }
        }
        self.log_density = log_density;
        Ok(())
    }

    /// Follows log π and log p through a change of a site. Out of a forbidden state log π must be
    /// evaluated afresh.
    fn follow_both(&mut self, of_base: f64, site: usize, value: u8) -> Result<(), StepError> {
        self.log_base += of_base;
        if self.log_prob == f64::NEG_INFINITY {
            self.log_prob = f64::NAN;
            return Ok(());
        }
        let Self { model, state, chain, cache, changes, .. } = self;
        changes.resize(model.space().values_at(site), 0.0);
        let diffs = model.site_diff(state, *chain, cache, site, changes);
        diffs.map_err(StepError::at(*chain))?;
        self.log_prob += self.changes[usize::from(value)];
        Ok(())
    }

    /// Records that a site has changed since the step began, if it has; returns whether.
    pub fn record(&mut self, site: usize, before: u8) -> bool {
        let now = self.state[site];
        if now != before {
            self.journal.record(site, before, now);
        }
        now != before
    }

    /// Draws an index with probability proportional to e^log; `weights` is scratch space.
    pub fn draw(
        &self,
        logs: &[f64],
        weights: &mut Vec<f64>,
        rng: &mut ChainRng,
    ) -> Result<usize, StepError> {
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        weights.clear();
        weights.extend(logs.iter().map(|log| (log - largest).exp()));
        let total: f64 = weights.iter().sum();
        if !total.is_finite() {
            return Err(StepError { chain: self.chain, cause: StepFailure::Difference });
        }
        Ok(rng.index(&*weights, total))
    }
}

/// A sweep that costs no more than so many of these is likely to be worth its work.
const SWEPT: f64 = 8.0;

/// The kernel that redraws every chain of a block in turn.
#[derive(Clone, Copy, Debug)]
pub struct Conditional<R>(pub R);

/// What [`Conditional`] keeps of a block of chains.
pub struct ConditionalScratch<M: Model, R: Redraw> {
    cache: M::Cache,
    scratch: R::Scratch,
    changes: Vec<f64>,
    swept: Vec<Sweep>,
}

impl<M: Model, R: Redraw> ConditionalScratch<M, R> {
    /// Redraws all chains at once, if sampler and model can; returns whether.
    fn redraw_all(&mut self, redraw: &R, model: &M, chains: &mut Chains) -> bool {
        let swept = chains.sweepable(&mut self.swept);
        let Some(evaluations) = redraw.redraw_all(model, swept, &mut self.cache) else {
            return false;
        };
        for (chain, sweep) in self.swept.iter().enumerate() {
            chains.log_prob[chain] = sweep.log_prob;
            chains.reports[chain] = StepReport {
                acceptance: 1.0,
                changed: sweep.changed,
                evaluations: evaluations as u32,
            };
        }
        chains.evaluate_base();
        true
    }
}

impl<M: Model, R: Redraw> Kernel<M> for Conditional<R> {
    type Scratch = ConditionalScratch<M, R>;
    type Own = ();

    fn traits(&self, model: &M) -> KernelTraits {
        self.0.traits(model.space())
    }

    /// Any: where single sites cannot change, it draws two at once.
    fn suits(&self, _model: &M) -> Result<(), ModelError> {
        Ok(())
    }

    fn work(&self, model: &M) -> f64 {
        let (work, sites) = (model.work(), model.space().sites() as f64);
        match self.0.tried() {
            None => work.sweep.unwrap_or(sites * work.site),
            Some(tried) => tried as f64 * work.site,
        }
    }

    /// Where a sweep costs no more than some steps of a sampler that looks at all differences, or single sites cannot change.
    fn is_likely(&self, model: &M) -> bool {
        let step = model.work().evaluation + model.space().diff_len() as f64;
        Kernel::<M>::work(self, model) <= SWEPT * step || !model.sums().is_empty()
    }

    fn block_size(&self, model: &M, chains: usize) -> usize {
        self.0.block_size(model, chains)
    }

    fn steps_per_sweep(&self, model: &M) -> usize {
        self.0.tried().map_or(1, |tried| local_steps_per_sweep(model, tried))
    }

    fn new_scratch(&self, model: &M, chains: usize) -> Self::Scratch {
        ConditionalScratch {
            cache: model.new_cache(chains),
            scratch: self.0.new_scratch(model),
            changes: Vec::new(),
            swept: vec![Sweep::default(); chains],
        }
    }

    fn start(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        follow_all(model, chains, &mut scratch.cache)
    }

    /// What is followed does not depend on the rung.
    fn adjust(
        &self,
        _model: &M,
        _chains: &mut Chains,
        _scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        Ok(())
    }

    fn step(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        if scratch.redraw_all(&self.0, model, chains) {
            return Ok(());
        }
        let ConditionalScratch { cache, scratch, changes, .. } = scratch;
        for number in 0..chains.len() {
            let log_density = chains.log_density(number);
            let ChainMut { state, log_prob, log_base, rng, rung, report, journal, .. } =
                chains.chain(number);
            let mut followed = Followed {
                model,
                state,
                log_density,
                rung,
                log_prob: *log_prob,
                log_base: *log_base,
                changes,
                cache,
                chain: number,
                journal,
            };
            let redrawn = self.0.redraw(&mut followed, scratch, rng)?;
            if rung.base.is_some() {
                (*log_prob, *log_base) = (followed.log_prob, followed.log_base);
            } else {
                *log_prob = followed.log_density;
            }
            *report = StepReport {
                acceptance: 1.0,
                changed: redrawn.changed as u32,
                evaluations: redrawn.evaluations as u32,
            };
        }
        Ok(())
    }
}
