//! Ensembles of replicas side by side: to a run they are chains at the highest rung, and a step of
//! theirs is a scan of the whole ladder.
//!
//! Inverse temperatures and scales move between chains; states never do. Only the chain next to the base
//! takes a state, when it swaps with the base's fresh draw.

use super::ensemble::{Ensemble, Swapped, decide};
use super::rungs::Rungs;
use crate::base::Base;
use crate::engine::{ChainBlock, ChainSnapshot, Failed, SamplerBlock, block_ranges};
use crate::error::StepFailure;
use crate::kernel::{SiteChange, StepReport, check_log_prob};
use crate::math::bytes::count_differences;
use crate::model::Model;
use crate::rng::{ChainRng, Stream};
use crate::space::States;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Makes a block of chains from the number of the first, their states and their streams; on the path
/// from a base, if there is one.
pub(crate) type NewBlock<'a, M> = dyn Fn(&M, usize, Vec<u8>, Vec<ChainRng>, Option<Arc<Base>>) -> SamplerBlock<'a, M>
    + Send
    + Sync
    + 'a;

/// What a ladder is made from.
pub(crate) struct LadderParts<'a, M: Model> {
    pub(crate) new_block: Arc<NewBlock<'a, M>>,
    /// Chains per block.
    pub(crate) block_size: usize,
    pub(crate) base: Arc<Base>,
    pub(crate) seed: u64,
    pub(crate) first_ensemble: usize,
    /// A state of every ensemble to start from, and the stream of its draws from the base.
    pub(crate) states: Vec<u8>,
    pub(crate) rngs: Vec<ChainRng>,
}

/// Some ensembles of a run.
pub(crate) struct Ladder<'a, M: Model> {
    new_block: Arc<NewBlock<'a, M>>,
    block_size: usize,
    base: Arc<Base>,
    seed: u64,
    first_ensemble: usize,
    sites: usize,
    rungs: Arc<Rungs>,
    ensembles: Vec<Ensemble>,
    /// The streams of the draws from the base.
    rngs: Vec<ChainRng>,
    /// The chains of all ensembles, one ensemble after the other, in blocks that suit the model.
    blocks: Vec<SamplerBlock<'a, M>>,
    steps: usize,
    /// Draws from the base, and V of each.
    drawn: Vec<u8>,
    drawn_v: Vec<f64>,
    cache: M::Cache,
    /// V of every chain, before and after it explored.
    before: Vec<f64>,
    after: Vec<f64>,
    /// The draws at the highest rung.
    states: Vec<u8>,
    log_prob: Vec<f64>,
    reports: Vec<StepReport>,
    history: Option<Vec<RungDraw>>,
    observe: Arc<RungNumbers<'a>>,
}

/// Numbers of a state, taken on every rung.
pub(crate) type RungNumbers<'a> = dyn Fn(&[u8]) -> Box<[f64]> + Send + Sync + 'a;

/// What is kept of the chain on a rung at a scan, if that was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct RungDraw {
    /// log π.
    pub log_prob: f64,
    /// log p.
    pub log_base: f64,
    /// What was observed, in the order of the observables.
    pub observed: Box<[f64]>,
}

/// What a checkpoint keeps of an ensemble besides its draw at the highest rung.
#[derive(Serialize, Deserialize)]
struct EnsembleRecord {
    rungs: Rungs,
    ensemble: Ensemble,
    chains: Vec<ChainSnapshot>,
}

impl<'a, M: Model> Ladder<'a, M> {
    /// Ensembles on these rungs, all chains of each at one state.
    pub(crate) fn new(model: &M, rungs: Arc<Rungs>, parts: LadderParts<'a, M>) -> Self {
        let LadderParts { new_block, block_size, base, seed, first_ensemble, states, rngs } = parts;
        let (sites, ensembles) = (model.space().sites(), rngs.len());
        let mut ladder = Self {
            new_block,
            block_size,
            base,
            seed,
            first_ensemble,
            sites,
            ensembles: (0..ensembles).map(|_| Ensemble::new(rungs.betas.len())).collect(),
            rungs,
            rngs,
            blocks: Vec::new(),
            steps: 0,
            drawn: vec![0; ensembles * sites],
            drawn_v: vec![0.0; ensembles],
            cache: model.new_cache(ensembles),
            before: Vec::new(),
            after: Vec::new(),
            log_prob: vec![f64::NAN; ensembles],
            reports: vec![StepReport::default(); ensembles],
            states,
            history: None,
            observe: Arc::new(|_: &[u8]| Box::default()),
        };
        let chains = ladder.rungs.intervals();
        let states: Vec<u8> = (ladder.states.chunks_exact(sites))
            .flat_map(|state| std::iter::repeat_n(state, chains).flatten().copied())
            .collect();
        let rngs = (0..ensembles).flat_map(|ensemble| ladder.streams(ensemble, 0, chains));
        let rngs = rngs.collect();
        ladder.rebuild(model, states, rngs);
        ladder
    }

    /// New streams for chains of an ensemble.
    fn streams(&self, ensemble: usize, first: u64, count: usize) -> Vec<ChainRng> {
        let stream = |chain| Stream::Tempering((self.first_ensemble + ensemble) as u64, chain);
        (first..first + count as u64).map(|chain| ChainRng::new(self.seed, stream(chain))).collect()
    }

    /// Blocks of these chains.
    fn rebuild(&mut self, model: &M, states: Vec<u8>, rngs: Vec<ChainRng>) {
        let mut rngs = rngs.into_iter();
        let block = |numbers: std::ops::Range<usize>| {
            let states = states[numbers.start * self.sites..numbers.end * self.sites].to_vec();
            let rngs = rngs.by_ref().take(numbers.len()).collect();
            let base = Some(self.base.clone());
            let mut block = (self.new_block)(model, numbers.start, states, rngs, base);
            block.set_steps(self.steps);
            block
        };
        let chains = self.ensembles.len() * self.rungs.intervals();
        self.blocks = block_ranges(self.block_size, chains).map(block).collect();
        (self.before, self.after) = (vec![0.0; chains], vec![0.0; chains]);
    }

    /// Counts from here on, on these rungs. If there are more or fewer than before, chains start where one
    /// stood at the nearest inverse temperature.
    pub(crate) fn begin(&mut self, model: &M, rungs: &Arc<Rungs>) {
        let old = std::mem::replace(&mut self.rungs, rungs.clone());
        if old.intervals() != rungs.intervals() {
            let (mut states, mut streams) = (Vec::new(), Vec::new());
            let mut rngs = self.blocks.iter_mut().flat_map(|block| block.rngs_mut().to_vec());
            let mut kept: Vec<Vec<ChainRng>> = (0..self.ensembles.len())
                .map(|_| rngs.by_ref().take(old.intervals()).collect())
                .collect();
            drop(rngs);
            for number in 0..self.ensembles.len() {
                let ensemble = &self.ensembles[number];
                for beta in &rungs.betas[1..] {
                    let chain = ensemble.chain_at[old.nearest(*beta) - 1] as usize;
                    states.extend_from_slice(self.state_of(number * old.intervals() + chain));
                }
                let more = rungs.intervals().saturating_sub(old.intervals());
                let new = self.streams(number, ensemble.born, more);
                kept[number].truncate(rungs.intervals());
                streams.extend(std::mem::take(&mut kept[number]).into_iter().chain(new));
                self.ensembles[number].born += more as u64;
            }
            self.rebuild(model, states, streams);
        }
        let count = rungs.betas.len();
        self.ensembles.iter_mut().for_each(|ensemble| ensemble.begin(count));
        if let Some(history) = &mut self.history {
            history.clear();
        }
    }

    /// From now on keeps log π, log p and some numbers of the chain on every rung.
    pub(crate) fn keep_rungs(&mut self, observe: Arc<RungNumbers<'a>>) {
        self.history = Some(Vec::new());
        self.observe = observe;
    }

    /// What was kept: by scan, ensemble and rung.
    pub(crate) fn take_history(&mut self) -> Option<Vec<RungDraw>> {
        self.history.as_mut().map(std::mem::take)
    }

    /// The state of a chain, whichever block it is in.
    fn state_of(&self, chain: usize) -> &[u8] {
        let (block, at) = self.place(chain);
        self.blocks[block].states().row(at)
    }

    /// The block of a chain and its number there: all blocks but the last are of one size.
    fn place(&self, chain: usize) -> (usize, usize) {
        let size = self.blocks[0].states().chains();
        (chain / size, chain % size)
    }

    pub(crate) fn rungs(&self) -> &Rungs {
        &self.rungs
    }

    pub(crate) fn ensembles(&self) -> &[Ensemble] {
        &self.ensembles
    }

    /// V of the chain on the highest rung of every ensemble.
    pub(crate) fn highest_v(&self) -> impl Iterator<Item = f64> + '_ {
        let chains = self.rungs.intervals();
        let highest = move |(number, ensemble): (usize, &Ensemble)| {
            self.after[number * chains + ensemble.chain_at[chains - 1] as usize]
        };
        self.ensembles.iter().enumerate().map(highest)
    }

    /// A failure in the numbers of the run.
    fn failed(&self, failed: Failed) -> Failed {
        let ensemble = failed.chain / self.rungs.intervals();
        Failed { chain: self.first_ensemble + ensemble, step: self.steps, ..failed }
    }

    /// Does the same with every block of chains.
    fn each(
        &mut self,
        work: impl Fn(&mut SamplerBlock<'a, M>) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let done = self.blocks.iter_mut().try_for_each(work);
        done.map_err(|failed| self.failed(failed))
    }

    /// Draws every ensemble's state at the base, and evaluates it.
    fn draw_from_base(&mut self, model: &M) -> Result<(), Failed> {
        for (state, rng) in self.drawn.chunks_exact_mut(self.sites).zip(&mut self.rngs) {
            self.base.draw(rng, state);
        }
        let failed = |ensemble: usize, cause| Failed {
            chain: self.first_ensemble + ensemble,
            step: self.steps,
            cause,
        };
        let states = States::new(&self.drawn, self.sites);
        let evaluated = model.log_prob(states, &mut self.cache, &mut self.drawn_v);
        evaluated.map_err(|error| failed(0, StepFailure::Model(error)))?;
        for (ensemble, (v, state)) in self.drawn_v.iter_mut().zip(states.rows()).enumerate() {
            let log_prob =
                check_log_prob(ensemble, *v).map_err(|error| failed(ensemble, error.cause))?;
            *v = log_prob - self.base.log_prob(state);
        }
        Ok(())
    }

    /// Measures and swaps, and tells which chains take a draw of the base.
    fn swap(&mut self) -> Vec<usize> {
        let Self { ensembles, rungs, rngs, blocks, before, after, drawn_v, .. } = self;
        let chains = rungs.intervals();
        let size = blocks[0].states().chains();
        let mut refreshed = Vec::new();
        let mut v = vec![0.0; chains + 1];
        for (number, (ensemble, rng)) in ensembles.iter_mut().zip(rngs).enumerate() {
            v[0] = drawn_v[number];
            ensemble.explored(0, 1.0, v[0], v[0]);
            for rung in 1..=chains {
                let chain = number * chains + ensemble.chain_at[rung - 1] as usize;
                let report = blocks[chain / size].reports()[chain % size];
                v[rung] = after[chain];
                ensemble.explored(rung, report.acceptance, before[chain], after[chain]);
            }
            let swapped = ensemble.swap(rungs, &mut v, |chain, probability| match chain {
                None => decide(rng, probability),
                Some(chain) => {
                    let chain = number * chains + chain;
                    decide(&mut blocks[chain / size].rngs_mut()[chain % size], probability)
                }
            });
            if swapped == Swapped::Refreshed {
                refreshed.push(number);
            }
        }
        refreshed
    }

    /// Tells every chain its rung.
    fn set_chains(&mut self) {
        let chains = self.rungs.intervals();
        for number in 0..self.ensembles.len() {
            for (chain, rung) in self.ensembles[number].rung_of().into_iter().enumerate() {
                let (block, at) = self.place(number * chains + chain);
                self.blocks[block].set_chain(at, self.rungs.betas[rung], self.rungs.scales[rung]);
            }
        }
    }

    /// Gives chains the draws of the base that they swapped with, and gets ready for the next scan.
    fn settle(&mut self, model: &M, refreshed: &[usize]) -> Result<(), Failed> {
        self.set_chains();
        let mut stale = vec![false; self.blocks.len()];
        for number in refreshed {
            let chain = self.ensembles[*number].chain_at[0] as usize;
            let (block, at) = self.place(number * self.rungs.intervals() + chain);
            let (sites, drawn) = (self.sites, &self.drawn[number * self.sites..][..self.sites]);
            self.blocks[block].states_mut()[at * sites..][..sites].copy_from_slice(drawn);
            stale[block] = true;
        }
        let mut blocks = self.blocks.iter_mut().zip(stale);
        let settled = blocks.try_for_each(|(block, stale)| match stale {
            true => block.start(model),
            false => block.adjust(model),
        });
        settled.map_err(|failed| self.failed(failed))
    }

    fn gather(blocks: &[SamplerBlock<'a, M>], into: &mut [f64]) {
        let both = blocks.iter().flat_map(|block| block.log_prob().iter().zip(block.log_base()));
        for (v, (log_prob, log_base)) in into.iter_mut().zip(both) {
            *v = log_prob - log_base;
        }
    }

    /// Takes the draws at the highest rung; `evaluations` of each ensemble led there.
    fn take_highest(&mut self) {
        let chains = self.rungs.intervals();
        for number in 0..self.ensembles.len() {
            let highest = self.ensembles[number].chain_at[chains - 1] as usize;
            let (block, at) = self.place(number * chains + highest);
            let block = &self.blocks[block];
            let (sites, state) = (self.sites, block.states().row(at));
            let own = &mut self.states[number * sites..(number + 1) * sites];
            let changed = count_differences(own, state);
            own.copy_from_slice(state);
            self.log_prob[number] = block.log_prob()[at];
            let reports = (0..chains).map(|chain| {
                let chain = number * chains + chain;
                let size = self.blocks[0].states().chains();
                self.blocks[chain / size].reports()[chain % size].evaluations
            });
            let acceptance = block.reports()[at].acceptance;
            // One for the draw of the base.
            let evaluations = 1 + reports.sum::<u32>();
            self.reports[number] = StepReport { acceptance, changed, evaluations };
        }
    }

    fn keep_history(&mut self) {
        let Some(mut history) = self.history.take() else { return };
        let chains = self.rungs.intervals();
        for (number, ensemble) in self.ensembles.iter().enumerate() {
            let drawn = &self.drawn[number * self.sites..][..self.sites];
            let log_base = self.base.log_prob(drawn);
            let log_prob = self.drawn_v[number] + log_base;
            history.push(RungDraw { log_prob, log_base, observed: (self.observe)(drawn) });
            for chain in &ensemble.chain_at {
                let (block, at) = self.place(number * chains + *chain as usize);
                let block = &self.blocks[block];
                history.push(RungDraw {
                    log_prob: block.log_prob()[at],
                    log_base: block.log_base()[at],
                    observed: (self.observe)(block.states().row(at)),
                });
            }
        }
        self.history = Some(history);
    }
}

impl<M: Model> ChainBlock<M> for Ladder<'_, M> {
    fn first_chain(&self) -> usize {
        self.first_ensemble
    }

    fn steps(&self) -> usize {
        self.steps
    }

    fn set_steps(&mut self, steps: usize) {
        self.steps = steps;
    }

    fn states(&self) -> States<'_> {
        States::new(&self.states, self.sites)
    }

    fn states_mut(&mut self) -> &mut [u8] {
        &mut self.states
    }

    fn log_prob(&self) -> &[f64] {
        &self.log_prob
    }

    fn log_base(&self) -> &[f64] {
        &[]
    }

    fn reports(&self) -> &[StepReport] {
        &self.reports
    }

    fn rngs_mut(&mut self) -> &mut [ChainRng] {
        &mut self.rngs
    }

    /// Scales are those of the rungs, and so are inverse temperatures.
    fn set_scale(&mut self, _scale: f64) {}

    fn set_scales(&mut self, _scales: &[f64]) {}

    fn set_beta(&mut self, _beta: f64) {}

    fn set_chain(&mut self, _chain: usize, _beta: f64, _scale: f64) {}

    fn start(&mut self, model: &M) -> Result<(), Failed> {
        self.set_chains();
        self.each(|block| block.start(model))?;
        self.take_highest();
        Ok(())
    }

    fn adjust(&mut self, model: &M) -> Result<(), Failed> {
        self.set_chains();
        self.each(|block| block.adjust(model))
    }

    /// One scan: every chain explores, the base is drawn from, and neighbours swap.
    fn step(&mut self, model: &M) -> Result<(), Failed> {
        Self::gather(&self.blocks, &mut self.before);
        self.each(|block| block.step(model))?;
        Self::gather(&self.blocks, &mut self.after);
        self.draw_from_base(model)?;
        if self.history.is_some() {
            self.keep_history();
        }
        let refreshed = self.swap();
        self.settle(model, &refreshed)?;
        self.take_highest();
        self.steps += 1;
        Ok(())
    }

    /// The draws of a ladder jump between chains: nothing is followed.
    fn remember_changes(&mut self, _most: usize) {}

    fn changes(&self, _chain: usize) -> Option<&[SiteChange]> {
        None
    }

    fn forget_changes(&mut self) {}

    fn holding_time(&self, _chain: usize) -> f64 {
        1.0
    }

    /// The highest rung stays where it is.
    fn add_log_gains(
        &mut self,
        _model: &M,
        _path: (f64, f64),
        _sums: &mut [f64],
    ) -> Result<(), Failed> {
        Ok(())
    }

    fn snapshots(&self) -> Vec<ChainSnapshot> {
        let mut chains = self.blocks.iter().flat_map(|block| block.snapshots());
        let ensembles = self.ensembles.iter().zip(&self.rngs).enumerate();
        let snapshot = |(number, (ensemble, rng)): (usize, (&Ensemble, &ChainRng))| {
            let record = EnsembleRecord {
                rungs: (*self.rungs).clone(),
                ensemble: ensemble.clone(),
                chains: chains.by_ref().take(self.rungs.intervals()).collect(),
            };
            let state = &self.states[number * self.sites..(number + 1) * self.sites];
            ChainSnapshot::new(state, rng, &record)
        };
        ensembles.map(snapshot).collect()
    }

    fn restore(&mut self, steps: usize, snapshots: &[ChainSnapshot]) -> Result<(), String> {
        let _ = (steps, snapshots);
        Err("a ladder is restored with its model".to_owned())
    }
}

impl<M: Model> Ladder<'_, M> {
    /// Goes back to snapshots.
    pub(crate) fn restore_with(
        &mut self,
        model: &M,
        steps: usize,
        snapshots: &[ChainSnapshot],
    ) -> Result<(), String> {
        let whole = |record: &EnsembleRecord| {
            record.rungs.are_sound() && record.chains.len() == record.rungs.intervals()
        };
        let mut records = Vec::with_capacity(snapshots.len());
        for snapshot in snapshots {
            let record: EnsembleRecord = snapshot.own()?;
            if !whole(&record) || !record.ensemble.is_sound(record.rungs.betas.len()) {
                return Err("its ensembles are not whole".to_owned());
            }
            records.push(record);
        }
        self.steps = steps;
        for (number, (record, snapshot)) in records.iter().zip(snapshots).enumerate() {
            self.rungs = Arc::new(record.rungs.clone());
            self.ensembles[number] = record.ensemble.clone();
            self.rngs[number] = snapshot.rng.clone();
            self.states[number * self.sites..(number + 1) * self.sites]
                .copy_from_slice(&snapshot.state);
        }
        let chains: Vec<ChainSnapshot> =
            records.into_iter().flat_map(|record| record.chains).collect();
        let states = chains.iter().flat_map(|chain| chain.state.iter().copied()).collect();
        let rngs = chains.iter().map(|chain| chain.rng.clone()).collect();
        self.rebuild(model, states, rngs);
        let mut chains = &chains[..];
        for block in &mut self.blocks {
            let (own, others) = chains.split_at(block.states().chains());
            block.restore(steps, own)?;
            chains = others;
        }
        Ok(())
    }
}
