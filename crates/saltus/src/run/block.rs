//! A block of chains with everything it needs to go on: states, kernel, memory, random streams
//! and what was kept so far.

use super::driver::Failed;
use super::{Observable, RunError, Settings, SiteRecord};
use crate::checkpoint::{ChainSnapshot, Sums};
use crate::kernel::transition::WithKernel;
use crate::kernel::{Kernel, Position, StepReport};
use crate::math::bytes::count_differences;
use crate::model::Model;
use crate::rng::{ChainRng, Stream};
use crate::sink::ChainDraws;
use std::ops::Range;

/// Steps after which the current states are evaluated afresh: samplers that follow log π by adding
/// up changes would otherwise carry rounding along for ever. Counted from the start of a run, so
/// that it falls on the same steps however the run is cut into pieces.
const REFRESH: usize = 1000;

/// What is taken from every kept state.
pub(super) struct Observables<'a> {
    pub(super) references: Vec<Vec<u8>>,
    pub(super) own: Vec<Observable<'a>>,
    /// Whether draws count by weights, which come last.
    pub(super) weighted: bool,
    pub(super) watch_sites: bool,
    /// Whether chains must be able to go on from a checkpoint.
    pub(super) keep_snapshots: bool,
    pub(super) keep_states: bool,
}

impl Observables<'_> {
    /// Numbers that are kept of a draw.
    fn count(&self) -> usize {
        1 + self.references.len() + self.own.len() + usize::from(self.weighted)
    }
}

/// A block of chains, whatever its model and kernel: one virtual call per many steps.
pub(super) trait ChainBlock: Send {
    fn chains(&self) -> usize;
    /// Evaluates the current states for steps of a scale.
    fn start(&mut self, scale: f64) -> Result<(), Failed>;
    /// Steps of which nothing is kept but the acceptance.
    fn warm_up(&mut self, steps: usize) -> Result<(), Failed>;
    /// Steps of which every so many are kept.
    fn draw(&mut self, steps: usize) -> Result<(), Failed>;
    /// Sum over the steps of warm-up since the last call, for each chain.
    fn take_acceptance(&mut self) -> Vec<f64>;
    /// Sum over chains of the mean acceptance of the last piece of steps.
    fn recent_acceptance(&self) -> f64;
    /// The draws kept since the last call, chain by chain.
    fn take_draws(&mut self) -> Vec<ChainDraws>;
    /// Steps made, and the chains as they were, at the last fresh evaluation.
    fn snapshot(&self) -> (usize, &[ChainSnapshot]);
    /// Goes back to such a snapshot.
    fn restore(&mut self, steps: usize, chains: &[ChainSnapshot]);
    /// Evaluates the current states afresh, with the scale of steps that go on.
    fn go_on(&mut self, scale: f64) -> Result<(), Failed>;
    /// What is remembered of the sites of each chain.
    fn sites(&self) -> &[SiteRecord];
    /// What each chain did since the last start, and its state.
    fn results(&self) -> Vec<ChainResult>;
}

/// What a chain did over its kept draws, and where it stands.
pub(super) struct ChainResult {
    pub(super) state: Vec<u8>,
    pub(super) sums: Sums,
}

struct Block<'a, M: Model, K: Kernel<M>> {
    model: &'a M,
    kernel: K,
    observables: &'a Observables<'a>,
    first_chain: usize,
    thin: usize,
    scale: f64,
    steps: usize,
    /// Steps made when the current states were last evaluated afresh.
    evaluated_at: usize,
    position: Position,
    memory: K::Memory,
    rngs: Vec<ChainRng>,
    reports: Vec<StepReport>,
    sums: Vec<Sums>,
    /// Of the steps since the last kept draw.
    since_kept: Vec<Sums>,
    recent: f64,
    draws: Vec<ChainDraws>,
    /// Empty unless sites are watched.
    sites: Vec<SiteRecord>,
    snapshot: Vec<ChainSnapshot>,
}

/// The block of these chains, at their initial states.
pub(super) fn new_block<'a, M: Model>(
    model: &'a M,
    settings: &Settings,
    chains: Range<usize>,
    observables: &'a Observables<'a>,
) -> Result<Box<dyn ChainBlock + 'a>, RunError> {
    let user = NewBlock { model, settings, chains, observables };
    settings.transition().with_kernel(model, user)
}

struct NewBlock<'a, 's, M> {
    model: &'a M,
    settings: &'s Settings,
    chains: Range<usize>,
    observables: &'a Observables<'a>,
}

impl<'a, M: Model> WithKernel<'a, M> for NewBlock<'a, '_, M> {
    type Output = Result<Box<dyn ChainBlock + 'a>, RunError>;

    fn with<K>(self, kernel: K) -> Self::Output
    where
        K: Kernel<M> + 'a,
        K::Memory: 'a,
    {
        boxed(self.model, kernel, self.settings, self.chains, self.observables)
    }
}

fn boxed<'a, M: Model, K: Kernel<M> + 'a>(
    model: &'a M,
    kernel: K,
    settings: &Settings,
    chains: Range<usize>,
    observables: &'a Observables<'a>,
) -> Result<Box<dyn ChainBlock + 'a>, RunError>
where
    K::Memory: 'a,
{
    let sites = model.space().sites();
    let count = chains.len();
    let first_chain = chains.start;
    let mut rngs: Vec<_> =
        chains.map(|chain| ChainRng::new(settings.seed, Stream::Chain(chain as u64))).collect();
    let mut states = vec![0; count * sites];
    for (state, rng) in states.chunks_exact_mut(sites).zip(&mut rngs) {
        draw_initial_state(model, rng, state)?;
    }
    Ok(Box::new(Block {
        memory: kernel.new_memory(model, count),
        model,
        kernel,
        observables,
        first_chain,
        thin: settings.thin,
        scale: 1.0,
        steps: 0,
        evaluated_at: 0,
        position: Position::new(states, sites),
        rngs,
        reports: vec![StepReport::default(); count],
        sums: vec![Sums::default(); count],
        since_kept: vec![Sums::default(); count],
        recent: 0.0,
        draws: vec![ChainDraws::new(observables.count()); count],
        sites: vec![SiteRecord::default(); count],
        snapshot: Vec::new(),
    }))
}

/// Draws a state to start from, and sees that it is one.
pub(super) fn draw_initial_state<M: Model>(
    model: &M,
    rng: &mut ChainRng,
    state: &mut [u8],
) -> Result<(), RunError> {
    model.initial_state(rng, state);
    let last = model.space().values() - 1;
    match state.iter().position(|value| usize::from(*value) > last) {
        None => Ok(()),
        Some(site) => Err(RunError::InitialState { site, value: state[site], last }),
    }
}

impl<M: Model, K: Kernel<M>> Block<'_, M, K> {
    fn evaluate(&mut self) -> Result<(), Failed> {
        self.evaluated_at = self.steps;
        if self.observables.keep_snapshots {
            self.take_snapshot();
        }
        self.kernel
            .start(self.scale, self.model, &mut self.position, &mut self.memory)
            .map_err(|error| Failed::new(error, self.first_chain, self.steps))
    }

    /// From here on the chains depend on nothing but what this holds: what kernel and model keep of
    /// them is about to be computed from their states.
    fn take_snapshot(&mut self) {
        let chains = self.rngs.iter().zip(self.sums.iter().zip(&self.since_kept)).enumerate();
        let snapshot = chains.map(|(chain, (rng, (sums, since_kept)))| ChainSnapshot {
            state: self.position.state(chain).to_vec(),
            rng: rng.clone(),
            sums: *sums,
            since_kept: *since_kept,
            sites: self.sites[chain].clone(),
        });
        self.snapshot = snapshot.collect();
    }

    fn step(&mut self) -> Result<(), Failed> {
        if self.steps.is_multiple_of(REFRESH) && self.evaluated_at != self.steps {
            self.evaluate()?;
        }
        self.kernel
            .step(
                self.scale,
                self.model,
                &mut self.position,
                &mut self.memory,
                &mut self.rngs,
                &mut self.reports,
            )
            .map_err(|error| Failed::new(error, self.first_chain, self.steps))?;
        self.steps += 1;
        let sums = self.sums.iter_mut().zip(&mut self.since_kept);
        for ((sums, since_kept), report) in sums.zip(&self.reports) {
            sums.add(report);
            since_kept.add(report);
            self.recent += report.acceptance;
        }
        Ok(())
    }

    fn keep(&mut self) {
        let Observables { references, own, weighted, watch_sites, keep_states, .. } =
            self.observables;
        let values = self.model.space().values();
        let chains = self.draws.iter_mut().zip(&mut self.since_kept).enumerate();
        for (chain, (draws, since_kept)) in chains {
            let state = self.position.state(chain);
            draws.series[0].push(self.position.log_prob[chain]);
            let (distances, others) = draws.series[1..].split_at_mut(references.len());
            for (series, reference) in distances.iter_mut().zip(references) {
                series.push(f64::from(count_differences(state, reference)));
            }
            for (series, observable) in others.iter_mut().zip(own) {
                series.push((observable.value)(state));
            }
            if *weighted {
                let time = self.kernel.holding_time(&self.memory, chain).unwrap_or(1.0);
                draws.series[1 + references.len() + own.len()].push(time);
            }
            if *watch_sites {
                self.sites[chain].take(state, values);
            }
            let Sums { steps, acceptance, changed, evaluations } = std::mem::take(since_kept);
            let statistics = [acceptance / steps as f64, changed, evaluations];
            for (series, statistic) in draws.statistics.iter_mut().zip(statistics) {
                series.push(statistic);
            }
            if *keep_states {
                draws.states.extend_from_slice(state);
            }
            draws.draws += 1;
        }
    }
}

impl<M: Model, K: Kernel<M>> ChainBlock for Block<'_, M, K> {
    fn chains(&self) -> usize {
        self.position.chains()
    }

    fn start(&mut self, scale: f64) -> Result<(), Failed> {
        self.scale = scale;
        self.sums.fill(Sums::default());
        self.since_kept.fill(Sums::default());
        self.evaluate()
    }

    fn go_on(&mut self, scale: f64) -> Result<(), Failed> {
        self.scale = scale;
        self.evaluate()
    }

    fn warm_up(&mut self, steps: usize) -> Result<(), Failed> {
        self.recent = 0.0;
        for _ in 0..steps {
            self.step()?;
        }
        self.recent /= steps as f64;
        Ok(())
    }

    fn draw(&mut self, steps: usize) -> Result<(), Failed> {
        self.recent = 0.0;
        for _ in 0..steps {
            self.step()?;
            if self.since_kept[0].steps == self.thin {
                self.keep();
            }
        }
        self.recent /= steps as f64;
        Ok(())
    }

    fn take_acceptance(&mut self) -> Vec<f64> {
        let taken = self.sums.iter().map(|sums| sums.acceptance).collect();
        self.sums.fill(Sums::default());
        taken
    }

    fn recent_acceptance(&self) -> f64 {
        self.recent
    }

    fn take_draws(&mut self) -> Vec<ChainDraws> {
        let empty = ChainDraws::new(self.observables.count());
        self.draws.iter_mut().map(|draws| std::mem::replace(draws, empty.clone())).collect()
    }

    fn snapshot(&self) -> (usize, &[ChainSnapshot]) {
        (self.evaluated_at, &self.snapshot)
    }

    fn restore(&mut self, steps: usize, chains: &[ChainSnapshot]) {
        self.steps = steps;
        for (number, chain) in chains.iter().enumerate() {
            self.position.state_mut(number).copy_from_slice(&chain.state);
            self.rngs[number] = chain.rng.clone();
            self.sums[number] = chain.sums;
            self.since_kept[number] = chain.since_kept;
            self.sites[number].clone_from(&chain.sites);
        }
    }

    fn sites(&self) -> &[SiteRecord] {
        &self.sites
    }

    fn results(&self) -> Vec<ChainResult> {
        let chains = self.sums.iter().enumerate();
        chains
            .map(|(chain, sums)| ChainResult {
                state: self.position.state(chain).to_vec(),
                sums: *sums,
            })
            .collect()
    }
}
