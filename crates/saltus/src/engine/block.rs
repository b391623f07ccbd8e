//! A block of chains and the kernel that moves them, whatever its type.

use super::checkpoint::ChainSnapshot;
use crate::base::Base;
use crate::error::{StepError, StepFailure};
use crate::kernel::options::WithKernel;
use crate::kernel::{Chains, Journal, Kernel, SiteChange, StepReport};
use crate::model::Model;
use crate::rng::ChainRng;
use crate::sampler::Sampler;
use crate::space::States;
use crate::workers::Workers;
use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A block of chains under some kernel.
///
/// The model comes with every call, because whoever trains it changes it in between.
pub trait ChainBlock<M: Model>: Send {
    /// Number of the first chain in its run.
    fn first_chain(&self) -> usize;
    /// Steps that its chains have made.
    fn steps(&self) -> usize;
    /// Counts steps from there on.
    fn set_steps(&mut self, steps: usize);
    /// The states of its chains.
    fn states(&self) -> States<'_>;
    /// The same, to change: the block must be started afterwards.
    fn states_mut(&mut self) -> &mut [u8];
    /// log π of each state, whatever the temperature.
    fn log_prob(&self) -> &[f64];
    /// log p of each state, where chains stand on the path from a base; else empty.
    fn log_base(&self) -> &[f64];
    /// What the last step of each chain did.
    fn reports(&self) -> &[StepReport];
    /// The random streams of its chains.
    fn rngs_mut(&mut self) -> &mut [ChainRng];
    /// Gives all chains a scale; the block must be started or adjusted afterwards.
    fn set_scale(&mut self, scale: f64);
    /// Gives every chain a scale of its own; the block must be started or adjusted afterwards.
    fn set_scales(&mut self, scales: &[f64]);
    /// Gives all chains an inverse temperature; the block must be started or adjusted afterwards.
    fn set_beta(&mut self, beta: f64);
    /// Gives one chain an inverse temperature and a scale; the same must be done afterwards.
    fn set_chain(&mut self, chain: usize, beta: f64, scale: f64);
    /// Evaluates the chains afresh.
    fn start(&mut self, model: &M) -> Result<(), Failed>;
    /// Gets ready for another scale or temperature of the same states.
    fn adjust(&mut self, model: &M) -> Result<(), Failed>;
    /// Makes one step of every chain.
    fn step(&mut self, model: &M) -> Result<(), Failed>;
    /// From now on remembers which sites change, where the kernel says so, for at most that many.
    fn remember_changes(&mut self, most: usize);
    /// The changes of a chain since they were last forgotten; none if not all are known.
    fn changes(&self, chain: usize) -> Option<&[SiteChange]>;
    /// Forgets the changes of all chains.
    fn forget_changes(&mut self);
    /// By what the current state of a chain counts as a draw.
    fn holding_time(&self, chain: usize) -> f64;
    /// Adds log f(to) − log f(from) of every chain, at its state, to a sum.
    fn add_log_gains(
        &mut self,
        model: &M,
        path: (f64, f64),
        sums: &mut [f64],
    ) -> Result<(), Failed>;
    /// Everything from which its chains go on once they are evaluated afresh.
    fn snapshots(&self) -> Vec<ChainSnapshot>;
    /// Goes back to such snapshots; the error is a sentence.
    fn restore(&mut self, steps: usize, chains: &[ChainSnapshot]) -> Result<(), String>;
}

/// A block of unknown kernel.
pub type SamplerBlock<'a, M> = Box<dyn ChainBlock<M> + 'a>;

/// A step that could not be made, with the chain's number in its run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("chain {chain} at step {step}: {cause}")]
pub struct Failed {
    /// The chain.
    pub chain: usize,
    /// Steps it had made before.
    pub step: usize,
    /// What went wrong.
    #[source]
    pub cause: StepFailure,
}

/// Does the same with every block. Of several failures the earliest counts, and the first chain
/// among those, so that the threads do not decide which one is told.
pub fn each<B: Send, T: Send>(
    workers: &Workers,
    blocks: &mut [B],
    work: impl Fn(&mut B) -> Result<T, Failed> + Sync + Send,
) -> Result<Vec<T>, Failed> {
    let mut done = Vec::with_capacity(blocks.len());
    let mut failures = Vec::new();
    for result in workers.map(blocks, work) {
        match result {
            Ok(result) => done.push(result),
            Err(failed) => failures.push(failed),
        }
    }
    match failures.into_iter().min_by_key(|failed| (failed.step, failed.chain)) {
        None => Ok(done),
        Some(failed) => Err(failed),
    }
}

/// Which chains make up each block, of so many at most.
pub fn block_ranges(size: usize, chains: usize) -> impl Iterator<Item = Range<usize>> {
    let size = size.clamp(1, chains.max(1));
    (0..chains).step_by(size).map(move |first| first..(first + size).min(chains))
}

/// A block of chains that a named sampler moves; on a path of temperatures if there is a base.
pub fn sampler_block<'a, M: Model + 'a>(
    model: &M,
    sampler: &Sampler,
    first_chain: usize,
    states: Vec<u8>,
    rngs: Vec<ChainRng>,
    base: Option<Arc<Base>>,
) -> SamplerBlock<'a, M> {
    let user = NewBlock { model, first_chain, states, rngs, base };
    sampler.with_kernel(model, user)
}

struct NewBlock<'m, M> {
    model: &'m M,
    first_chain: usize,
    states: Vec<u8>,
    rngs: Vec<ChainRng>,
    base: Option<Arc<Base>>,
}

impl<'a, M: Model + 'a> WithKernel<'a, M> for NewBlock<'_, M> {
    type Output = SamplerBlock<'a, M>;

    fn with<K>(self, kernel: K) -> Self::Output
    where
        K: Kernel<M> + 'a,
        K::Scratch: 'a,
        K::Own: 'a,
    {
        let Self { model, first_chain, states, rngs, base } = self;
        kernel_block(model, Arc::new(kernel), first_chain, states, rngs, base)
    }
}

/// A block of chains that a kernel moves.
pub fn kernel_block<'a, M: Model + 'a, K>(
    model: &M,
    kernel: Arc<K>,
    first_chain: usize,
    states: Vec<u8>,
    rngs: Vec<ChainRng>,
    base: Option<Arc<Base>>,
) -> SamplerBlock<'a, M>
where
    K: Kernel<M> + 'a,
    K::Scratch: 'a,
    K::Own: 'a,
{
    let chains = Chains::new(model.space(), states, rngs);
    let chains = match base {
        Some(base) => chains.on_path_from(base),
        None => chains,
    };
    Box::new(Block {
        scratch: kernel.new_scratch(model, chains.len()),
        is_weighted: kernel.traits(model).is_weighted,
        kernel,
        chains,
        first_chain,
        remembers: false,
    })
}

struct Block<M: Model, K: Kernel<M>> {
    kernel: Arc<K>,
    chains: Chains<K::Own>,
    scratch: K::Scratch,
    first_chain: usize,
    is_weighted: bool,
    remembers: bool,
}

impl<M: Model, K: Kernel<M>> Block<M, K> {
    /// Does something with kernel and chains. A panic in the code of a user is a failure at the
    /// step; the first chain stands for all that the kernel moves together.
    fn guarded<T>(
        &mut self,
        work: impl FnOnce(&K, &mut Chains<K::Own>, &mut K::Scratch) -> Result<T, StepError>,
    ) -> Result<T, Failed> {
        let Self { kernel, chains, scratch, first_chain, .. } = self;
        let done = catch_unwind(AssertUnwindSafe(|| work(kernel, chains, scratch)));
        let (chain, cause) = match done {
            Ok(Ok(done)) => return Ok(done),
            Ok(Err(StepError { chain, cause })) => (chain, cause),
            Err(panic) => (0, StepFailure::Panic(panic_words(&*panic))),
        };
        Err(Failed { chain: *first_chain + chain, step: chains.step, cause })
    }
}

/// What a panic said.
pub(crate) fn panic_words(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<&str>().map(ToString::to_string);
    words.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no reason".into())
}

impl<M: Model, K: Kernel<M>> ChainBlock<M> for Block<M, K> {
    fn first_chain(&self) -> usize {
        self.first_chain
    }

    fn steps(&self) -> usize {
        self.chains.step
    }

    fn set_steps(&mut self, steps: usize) {
        self.chains.step = steps;
    }

    fn states(&self) -> States<'_> {
        self.chains.states()
    }

    fn states_mut(&mut self) -> &mut [u8] {
        &mut self.chains.states
    }

    fn log_prob(&self) -> &[f64] {
        &self.chains.log_prob
    }

    fn log_base(&self) -> &[f64] {
        &self.chains.log_base
    }

    fn reports(&self) -> &[StepReport] {
        &self.chains.reports
    }

    fn rngs_mut(&mut self) -> &mut [ChainRng] {
        &mut self.chains.rngs
    }

    fn set_scale(&mut self, scale: f64) {
        self.chains.scales.fill(scale);
    }

    fn set_scales(&mut self, scales: &[f64]) {
        self.chains.scales.copy_from_slice(scales);
    }

    fn set_beta(&mut self, beta: f64) {
        self.chains.betas.fill(beta);
    }

    fn set_chain(&mut self, chain: usize, beta: f64, scale: f64) {
        self.chains.betas[chain] = beta;
        self.chains.scales[chain] = scale;
    }

    fn start(&mut self, model: &M) -> Result<(), Failed> {
        self.guarded(|kernel, chains, scratch| kernel.start(model, chains, scratch))
    }

    fn adjust(&mut self, model: &M) -> Result<(), Failed> {
        self.guarded(|kernel, chains, scratch| kernel.adjust(model, chains, scratch))
    }

    fn step(&mut self, model: &M) -> Result<(), Failed> {
        self.guarded(|kernel, chains, scratch| kernel.step(model, chains, scratch))?;
        self.chains.step += 1;
        if self.remembers {
            for (journal, report) in self.chains.journals.iter_mut().zip(&self.chains.reports) {
                journal.end_step(report.changed);
            }
        }
        Ok(())
    }

    fn remember_changes(&mut self, most: usize) {
        self.remembers = most > 0;
        self.chains.journals.fill(Journal::of_at_most(most));
    }

    fn changes(&self, chain: usize) -> Option<&[SiteChange]> {
        self.chains.journals[chain].changes().filter(|_| self.remembers)
    }

    fn forget_changes(&mut self) {
        self.chains.journals.iter_mut().for_each(Journal::clear);
    }

    fn holding_time(&self, chain: usize) -> f64 {
        if !self.is_weighted {
            return 1.0;
        }
        self.kernel.holding_time(&self.scratch, chain).unwrap_or(1.0)
    }

    fn add_log_gains(
        &mut self,
        model: &M,
        path: (f64, f64),
        sums: &mut [f64],
    ) -> Result<(), Failed> {
        self.guarded(|kernel, chains, scratch| {
            for (chain, sum) in sums.iter_mut().enumerate() {
                *sum += kernel.log_gain(model, chains, scratch, chain, path);
                crate::kernel::check_start(chain, *sum)?;
            }
            Ok(())
        })
    }

    fn snapshots(&self) -> Vec<ChainSnapshot> {
        let chains = self.chains.rngs.iter().zip(&self.chains.own).enumerate();
        let snapshot = |(chain, (rng, own)): (usize, (&ChainRng, &K::Own))| {
            ChainSnapshot::new(self.chains.state(chain), rng, own)
        };
        chains.map(snapshot).collect()
    }

    fn restore(&mut self, steps: usize, chains: &[ChainSnapshot]) -> Result<(), String> {
        self.chains.step = steps;
        for (number, chain) in chains.iter().enumerate() {
            self.chains.state_mut(number).copy_from_slice(&chain.state);
            self.chains.rngs[number] = chain.rng.clone();
            self.chains.own[number] = chain.own()?;
        }
        Ok(())
    }
}
