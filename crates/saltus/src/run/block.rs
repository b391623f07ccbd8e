//! A block of chains of a run: moved by its kernel, and observed at every kept draw.

use super::checkpoint::{BlockRecord, Sums};
use super::restraint::Restraint;
use super::{ModelRef, RunError};
use crate::draws::observable::{Count, Hamming, Observable};
use crate::draws::observer::{BlockState, Draws};
use crate::draws::sink::{ChainDraws, STATISTICS};
use crate::draws::sites::worth_following;
use crate::engine::{ChainBlock, ChainSnapshot, Failed, SamplerBlock, panic_words};
use crate::error::StepFailure;
use crate::kernel::SiteChange;
use crate::model::Model;
use crate::rng::ChainRng;
use crate::space::{Space, States};
use crate::stats::Running;
use crate::temper::{Ladder, Rungs};
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Steps after which the current states are evaluated afresh: samplers that follow log π by adding
/// up changes would otherwise carry rounding along for ever. Counted from the start of a run, so
/// that it falls on the same steps however the run is cut into pieces. A fresh evaluation looks at every
/// site, so kernels that try few sites per step are evaluated in proportion to the sites they tried.
pub(super) fn refresh(steps_per_sweep: usize) -> usize {
    steps_per_sweep.saturating_mul(4).max(1000)
}

/// What is taken from every kept state.
pub(super) struct Taken<'a> {
    pub(super) references: Vec<Hamming>,
    pub(super) own: Vec<Box<dyn Observable + 'a>>,
    /// Whether draws count by weights, which come last.
    pub(super) weighted: bool,
    /// Observables that are followed by running accumulators.
    pub(super) tracked: Vec<usize>,
    /// Whether chains must be able to go on from a checkpoint.
    pub(super) keep_snapshots: bool,
    pub(super) keep_states: bool,
    pub(super) thin: usize,
    /// Steps from one fresh evaluation to the next.
    pub(super) refresh: usize,
    /// Whether rounds of warm-up begin with one, too: where a scale is tuned and a step looks at every site, another
    /// scale costs as much.
    pub(super) fresh_rounds: bool,
}

impl Taken<'_> {
    /// Numbers that are kept of a draw, without the statistics of its steps.
    pub(super) fn count(&self) -> usize {
        1 + self.references.len() + self.own.len() + usize::from(self.weighted)
    }
}

/// What moves: plain chains, or ensembles of replicas whose highest rungs are the chains.
pub(super) enum Moved<'a, M: Model> {
    Chains(SamplerBlock<'a, M>),
    Ladder(Box<Ladder<'a, M>>),
}

impl<'a, M: Model + 'a> Deref for Moved<'a, M> {
    type Target = dyn ChainBlock<M> + 'a;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Chains(block) => &**block,
            Self::Ladder(ladder) => &**ladder,
        }
    }
}

impl<'a, M: Model + 'a> DerefMut for Moved<'a, M> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::Chains(block) => &mut **block,
            Self::Ladder(ladder) => &mut **ladder,
        }
    }
}

/// A block of chains with everything it needs to go on.
pub(super) struct RunBlock<'a, M: Model> {
    model: ModelRef<'a, M>,
    block: Moved<'a, M>,
    taken: Arc<Taken<'a>>,
    chains: usize,
    /// Steps made when the current states were last evaluated afresh, if they ever were.
    evaluated_at: Option<usize>,
    sums: Vec<Sums>,
    /// Of the steps since the last kept draw.
    since_kept: Vec<Sums>,
    restraints: Vec<Restraint>,
    scales: Vec<f64>,
    draws: Vec<ChainDraws>,
    running: Vec<Vec<Running>>,
    observers: Vec<Box<dyn BlockState>>,
    /// Observables that are counts, by chain, as of the last kept draw; empty if that is not known.
    counts: Vec<i64>,
    weights: Vec<f64>,
    /// Whole states, where the model leaves out sites that are known.
    shown: Vec<u8>,
    /// The row of numbers of one draw.
    row: Vec<f64>,
    snapshot: Option<Snapshot>,
}

/// The chains of a block at the last fresh evaluation.
struct Snapshot {
    chains: Vec<ChainSnapshot>,
    sums: Vec<Sums>,
    since_kept: Vec<Sums>,
    restraints: Vec<Restraint>,
    running: Vec<Vec<Running>>,
    observers: Vec<Box<dyn BlockState>>,
}

/// What a chain did over its kept draws, and where it stands.
pub(super) struct ChainResult {
    pub(super) state: Vec<u8>,
    /// The state as the model has it, if that is not what it shows.
    pub(super) own: Vec<u8>,
    pub(super) sums: Sums,
}

impl<'a, M: Model + 'a> RunBlock<'a, M> {
    pub(super) fn new(
        model: ModelRef<'a, M>,
        block: Moved<'a, M>,
        taken: Arc<Taken<'a>>,
        observers: Vec<Box<dyn BlockState>>,
    ) -> Self {
        let chains = block.states().chains();
        let shown = match expands(&*model) {
            true => chains * model.shown_space().sites(),
            false => 0,
        };
        Self {
            block,
            chains,
            evaluated_at: None,
            sums: vec![Sums::default(); chains],
            since_kept: vec![Sums::default(); chains],
            restraints: vec![Restraint::default(); chains],
            scales: Vec::new(),
            draws: vec![ChainDraws::new(taken.count()); chains],
            running: vec![vec![Running::default(); chains]; taken.tracked.len()],
            observers,
            counts: Vec::new(),
            weights: Vec::new(),
            shown: vec![0; shown],
            row: Vec::new(),
            snapshot: None,
            taken,
            model,
        }
    }

    pub(super) fn chains(&self) -> usize {
        self.chains
    }

    fn evaluate(&mut self) -> Result<(), Failed> {
        self.evaluated_at = Some(self.block.steps());
        if self.taken.keep_snapshots {
            // From here on the chains depend on nothing but what this holds: what kernel and model
            // keep of them is about to be computed from their states.
            self.snapshot = Some(Snapshot {
                chains: self.block.snapshots(),
                sums: self.sums.clone(),
                since_kept: self.since_kept.clone(),
                restraints: self.restraints.clone(),
                running: self.running.clone(),
                observers: self.observers.iter().map(|observer| observer.cloned()).collect(),
            });
        }
        self.block.start(&self.model)
    }

    /// Evaluates the current states for steps of a scale or on these rungs, whose sums begin anew.
    pub(super) fn start(&mut self, scale: f64, rungs: Option<&Arc<Rungs>>) -> Result<(), Failed> {
        if let (Moved::Ladder(ladder), Some(rungs)) = (&mut self.block, rungs) {
            ladder.begin(&self.model, rungs);
        }
        self.sums.fill(Sums::default());
        self.since_kept.fill(Sums::default());
        self.go_on(scale)
    }

    /// Gets ready for a round of warm-up: only what the scale decides is made anew, unless a fresh
    /// evaluation is due or the rungs are others.
    pub(super) fn start_round(
        &mut self,
        scale: f64,
        rungs: Option<&Arc<Rungs>>,
    ) -> Result<(), Failed> {
        let is_fresh = self.taken.fresh_rounds || rungs.is_some();
        if self.evaluated_at.is_none() || self.is_due() || is_fresh {
            return self.start(scale, rungs);
        }
        self.sums.fill(Sums::default());
        self.since_kept.fill(Sums::default());
        if self.set_scale(scale) { self.block.adjust(&self.model) } else { Ok(()) }
    }

    /// Evaluates the current states afresh, with the scale of steps that go on.
    pub(super) fn go_on(&mut self, scale: f64) -> Result<(), Failed> {
        self.set_scale(scale);
        self.evaluate()
    }

    /// Gives every chain the scale, or a smaller one if it is held back; returns whether any has another
    /// than before.
    fn set_scale(&mut self, scale: f64) -> bool {
        let held_back = self.restraints.iter().map(|restraint| restraint.scale(scale));
        let scales: Vec<f64> = held_back.collect();
        let changed = scales != self.scales;
        self.block.set_scales(&scales);
        self.scales = scales;
        changed
    }

    /// Whether it is time for a fresh evaluation.
    fn is_due(&self) -> bool {
        let steps = self.block.steps();
        steps.is_multiple_of(self.taken.refresh) && self.evaluated_at != Some(steps)
    }

    fn step(&mut self) -> Result<(), Failed> {
        if self.is_due() {
            self.evaluate()?;
        }
        self.block.step(&self.model)?;
        for (sums, report) in self.since_kept.iter_mut().zip(self.block.reports()) {
            sums.add(report);
        }
        Ok(())
    }

    /// Steps of which nothing is kept but the acceptance.
    pub(super) fn warm_up(&mut self, steps: usize) -> Result<(), Failed> {
        (0..steps).try_for_each(|_| self.step())
    }

    /// Steps of which every so many are kept.
    pub(super) fn draw(&mut self, steps: usize) -> Result<(), Failed> {
        for _ in 0..steps {
            self.step()?;
            if self.since_kept[0].steps == self.taken.thin {
                self.keep()?;
            }
        }
        Ok(())
    }

    /// From now on draws are kept.
    pub(super) fn prepare_to_draw(&mut self) {
        self.block.remember_changes(worth_following(self.model.space().sites()));
        self.counts.clear();
    }

    fn keep(&mut self) -> Result<(), Failed> {
        let mut chain = 0;
        let kept = catch_unwind(AssertUnwindSafe(|| self.take(&mut chain)));
        self.block.forget_changes();
        kept.map_err(|panic| Failed {
            chain: self.block.first_chain() + chain,
            step: self.block.steps(),
            cause: StepFailure::Panic(panic_words(&*panic)),
        })
    }

    /// Takes everything from the current states; `at` is the chain that is being looked at.
    fn take(&mut self, at: &mut usize) {
        let Self { model, block, taken, counts, shown, row, .. } = self;
        let block: &dyn ChainBlock<M> = &**block;
        let states = if shown.is_empty() {
            block.states()
        } else {
            let sites = model.shown_space().sites();
            for (state, shown) in block.states().rows().zip(shown.chunks_exact_mut(sites)) {
                model.show(state, shown);
            }
            States::new(shown, sites)
        };
        let counted = taken.references.len() + taken.own.len();
        let is_known = !counts.is_empty() && shown.is_empty();
        // Before the first draw there is nothing that changes could be missing from.
        let is_first = self.sums[0].steps == 0 && shown.is_empty();
        counts.resize(self.chains * counted, 0);
        self.weights.clear();
        for chain in 0..self.chains {
            *at = chain;
            let state = states.row(chain);
            let changes = if is_known { block.changes(chain) } else { None };
            let weight = if taken.weighted { block.holding_time(chain) } else { 1.0 };
            let counts = &mut counts[chain * counted..(chain + 1) * counted];
            row.clear();
            row.push(block.log_prob()[chain]);
            for (reference, count) in taken.references.iter().zip(&mut *counts) {
                follow(reference, state, changes, count);
                row.push(*count as f64);
            }
            let own = taken.own.iter().zip(&mut counts[taken.references.len()..]);
            for (observable, count) in own {
                row.push(match observable.as_count() {
                    None => observable.value(state),
                    Some(observable) => {
                        follow(observable, state, changes, count);
                        observable.value_of(*count)
                    }
                });
            }
            if taken.weighted {
                row.push(weight);
                self.weights.push(weight);
            }
            for (running, column) in self.running.iter_mut().zip(&taken.tracked) {
                running[chain].push(row[*column], weight);
            }
            let since_kept = std::mem::take(&mut self.since_kept[chain]);
            self.sums[chain].add_all(&since_kept);
            let Sums { steps, acceptance, changed, evaluations } = since_kept;
            let statistics: [f64; STATISTICS.len()] =
                [acceptance / steps as f64, changed, evaluations];
            row.extend(statistics);
            let draws = &mut self.draws[chain];
            draws.numbers.extend_from_slice(row);
            if taken.keep_states {
                draws.states.extend_from_slice(state);
            }
        }
        if !self.observers.is_empty() {
            *at = 0;
            // Most blocks of samplers that change few sites have one chain, which needs no list.
            let one: [Option<&[SiteChange]>; 1];
            let several: Vec<Option<&[SiteChange]>>;
            let changes = match (is_known || is_first, self.chains) {
                (false, _) => &[][..],
                (true, 1) => {
                    one = [block.changes(0)];
                    &one[..]
                }
                (true, _) => {
                    several = (0..self.chains).map(|chain| block.changes(chain)).collect();
                    &several[..]
                }
            };
            let draws = Draws {
                first_chain: block.first_chain(),
                states,
                log_prob: block.log_prob(),
                weights: &self.weights,
                changes,
            };
            self.observers.iter_mut().for_each(|observer| observer.see(&draws));
        }
    }

    /// The summed acceptance of a round of warm-up for each chain, and whether it was free. Chains that stood
    /// still are held back in the next one, if scales are tuned.
    pub(super) fn end_round(&mut self, tunes: bool) -> Vec<(f64, bool)> {
        let chains = self.since_kept.iter_mut().zip(&mut self.restraints);
        let end = |(sums, restraint): (&mut Sums, &mut Restraint)| {
            let Sums { steps, acceptance, changed, .. } = std::mem::take(sums);
            let was_free = restraint.is_free();
            if tunes {
                restraint.end_round(steps, changed > 0.0);
            }
            (acceptance, was_free)
        };
        chains.map(end).collect()
    }

    /// From now on no chain is held back.
    pub(super) fn free_all(&mut self) {
        self.restraints.fill(Restraint::default());
    }

    /// Steps and summed acceptance of all chains since they were started.
    pub(super) fn progress(&self) -> (usize, f64) {
        let sums = self.sums.iter().chain(&self.since_kept);
        sums.fold((0, 0.0), |(steps, sum), sums| (steps + sums.steps, sum + sums.acceptance))
    }

    /// The draws kept since the last call, chain by chain.
    pub(super) fn take_draws(&mut self) -> Vec<ChainDraws> {
        let empty = ChainDraws::new(self.taken.count());
        self.draws.iter_mut().map(|draws| std::mem::replace(draws, empty.clone())).collect()
    }

    /// The running accumulators of one of the followed observables, chain by chain.
    pub(super) fn running(&self, tracked: usize) -> &[Running] {
        &self.running[tracked]
    }

    /// Steps made at the last fresh evaluation.
    pub(super) fn evaluated_at(&self) -> Option<usize> {
        self.evaluated_at
    }

    /// Steps made, the chains, and what is known of them, at the last fresh evaluation.
    pub(super) fn snapshot(&self) -> Option<(usize, Vec<ChainSnapshot>, BlockRecord)> {
        let Snapshot { chains, sums, since_kept, restraints, running, observers } =
            self.snapshot.as_ref()?;
        let record = BlockRecord {
            sums: sums.clone(),
            since_kept: since_kept.clone(),
            restraints: restraints.clone(),
            running: running.clone(),
            observers: observers.iter().map(|observer| observer.bytes()).collect(),
        };
        Some((self.evaluated_at?, chains.clone(), record))
    }

    /// Goes back to such a snapshot.
    pub(super) fn restore(
        &mut self,
        steps: usize,
        chains: &[ChainSnapshot],
        record: &BlockRecord,
    ) -> Result<(), RunError> {
        let restored = match &mut self.block {
            Moved::Chains(block) => block.restore(steps, chains),
            Moved::Ladder(ladder) => ladder.restore_with(&self.model, steps, chains),
        };
        restored.map_err(RunError::Checkpoint)?;
        self.sums.clone_from(&record.sums);
        self.since_kept.clone_from(&record.since_kept);
        self.restraints.clone_from(&record.restraints);
        // Whoever follows other observables than before begins to do so here.
        if record.running.len() == self.running.len() {
            self.running.clone_from(&record.running);
        }
        if record.observers.len() != self.observers.len() {
            return Err(RunError::Checkpoint("it was watched by other observers".to_owned()));
        }
        for (observer, bytes) in self.observers.iter_mut().zip(&record.observers) {
            observer.restore(bytes).map_err(RunError::Checkpoint)?;
        }
        Ok(())
    }

    /// The ensembles of replicas, if the run is tempered.
    pub(super) fn ladder(&self) -> Option<&Ladder<'a, M>> {
        match &self.block {
            Moved::Chains(_) => None,
            Moved::Ladder(ladder) => Some(ladder),
        }
    }

    /// The same, to change.
    pub(super) fn ladder_mut(&mut self) -> Option<&mut Ladder<'a, M>> {
        match &mut self.block {
            Moved::Chains(_) => None,
            Moved::Ladder(ladder) => Some(ladder),
        }
    }

    /// What one of the observers knows.
    pub(super) fn observer(&self, number: usize) -> Box<dyn BlockState> {
        self.observers[number].cloned()
    }

    /// What each chain did since the last start, and its state as it is shown.
    pub(super) fn results(&self) -> Vec<ChainResult> {
        let sums = self.sums.iter().zip(&self.since_kept);
        let results = self.block.states().rows().zip(sums).map(|(state, (kept, since_kept))| {
            let mut shown = vec![0; self.model.shown_space().sites()];
            self.model.show(state, &mut shown);
            let mut sums = *kept;
            sums.add_all(since_kept);
            let own = if expands(&*self.model) { state.to_vec() } else { Vec::new() };
            ChainResult { state: shown, own, sums }
        });
        results.collect()
    }
}

/// Brings a count to the current state: along the changes, if all are known.
#[inline]
fn follow<C: Count + ?Sized>(
    observable: &C,
    state: &[u8],
    changes: Option<&[SiteChange]>,
    count: &mut i64,
) {
    match changes {
        None => *count = observable.count(state),
        Some(changes) => {
            for &SiteChange { site, from, to } in changes {
                *count += observable.change(site as usize, from, to);
            }
        }
    }
}

/// Whether a model shows more than its states.
fn expands<M: Model>(model: &M) -> bool {
    !std::ptr::eq(model.space(), model.shown_space())
}

/// Draws a state to start from, and sees that it is one.
pub(super) fn draw_initial_state<M: Model>(
    model: &M,
    rng: &mut ChainRng,
    state: &mut [u8],
) -> Result<(), RunError> {
    let drawn = catch_unwind(AssertUnwindSafe(|| model.initial_state(rng, state)));
    drawn.map_err(|panic| RunError::Panic(panic_words(&*panic)))?;
    check_state(model.space(), state)
}

/// Sees that a state is one of the space.
pub(super) fn check_state(space: &Space, state: &[u8]) -> Result<(), RunError> {
    match space.misplaced(state) {
        None => Ok(()),
        Some(site) => Err(RunError::InitialState {
            site,
            value: state[site],
            last: space.values_at(site) - 1,
        }),
    }
}
