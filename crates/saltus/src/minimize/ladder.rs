//! The best states that the coldest rungs of some ladders come to.

use super::{FoundState, Minimize, MinimizeProgress, Minimum};
use crate::control::Ended;
use crate::draws::observer::{Draws, Observer};
use crate::draws::observers::{Best, BestState};
use crate::draws::sink::{ChainDraws, Plan, Sink, SinkError};
use crate::model::Model;
use crate::run::{BEST, Run, RunError, Settings};
use crate::space::Space;
use crate::temper::Temper;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// More scans than any time allows.
const UNTIL_STOPPED: usize = usize::MAX >> 16;

/// The best log π so far, and when it was found.
type Shared = Arc<Mutex<(f64, Duration)>>;

fn best_of(shared: &Shared) -> (f64, Duration) {
    *shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the best states, and tells whoever looks.
struct Watched {
    best: Best,
    began: Instant,
    shared: Shared,
}

impl Observer for Watched {
    type State = Vec<BestState>;
    type Output = Vec<BestState>;

    fn new_state(&self, space: &Space, chains: usize) -> Vec<BestState> {
        self.best.new_state(space, chains)
    }

    fn see(&self, state: &mut Vec<BestState>, draws: &Draws<'_>) {
        self.best.see(state, draws);
        if let Some(first) = state.first()
            && first.draws == 1
        {
            let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
            if first.log_prob > shared.0 {
                *shared = (first.log_prob, self.began.elapsed());
            }
        }
    }

    fn finish(&self, blocks: Vec<Vec<BestState>>) -> Vec<BestState> {
        self.best.finish(blocks)
    }
}

/// Where draws go that nobody looks at again.
struct Nowhere;

impl Sink for Nowhere {
    fn begin(&mut self, _plan: &Plan<'_>) -> Result<(), SinkError> {
        Ok(())
    }

    fn take(&mut self, _draws: Vec<ChainDraws>) -> Result<(), SinkError> {
        Ok(())
    }
}

impl<M: Model> Minimize<'_, M> {
    pub(super) fn by_ladder(
        &mut self,
        began: Instant,
        found: &mut Minimum,
    ) -> Result<(), RunError> {
        let settings = self.settings.clone();
        found.betas.0 = 0.0;
        let run = Settings {
            chains: settings.chains,
            warmup: settings.sweeps,
            draws: settings.time_limit.map_or(settings.sweeps, |_| UNTIL_STOPPED),
            seed: settings.seed,
            threads: settings.threads,
            time_limit: settings.time_limit,
            temper: Some(Temper::default()),
            beta: Some(found.betas.1),
            ..settings.sampler.into()
        };
        let shared = Shared::new(Mutex::new((f64::NEG_INFINITY, Duration::ZERO)));
        let best = Best { states: settings.states.max(1) };
        let watched = Watched { best, began, shared: shared.clone() };
        let monitor = &mut self.monitor;
        let outcome = Run::new(self.model, run)
            .observer(BEST, watched)
            .monitor(|progress| {
                let done = (progress.steps, progress.total_steps);
                let cooling = usize::from(!progress.warming_up);
                monitor(MinimizeProgress { cooling, done, best: best_of(&shared).0 })
            })
            .go_into(&mut Nowhere)?;
        let states = outcome.observed::<Watched>(BEST).into_iter().flatten();
        found.states = states
            .map(|BestState { log_prob, state, draws }| FoundState {
                log_prob: *log_prob,
                energy: 0.0 - log_prob,
                count: *draws as usize,
                state: state.clone(),
            })
            .collect();
        found.seconds_to_best = best_of(&shared).1.as_secs_f64();
        if found.states.is_empty() {
            // The time was over before the ladder was found: where its chains are is better than nothing.
            let own = outcome.own_states.iter().zip(&outcome.last_states);
            let own = own.map(|(own, shown)| if own.is_empty() { shown } else { own });
            self.take(own.map(Vec::as_slice), found)?;
            found.seconds_to_best = began.elapsed().as_secs_f64();
        }
        let scans = outcome.tempering.as_ref().map_or(0, |ladder| ladder.scans as usize);
        found.sweeps = outcome.warmup.iter().map(|round| round.steps).sum::<usize>() + scans;
        found.ended = match outcome.ended {
            // Time that was given was used as it should be.
            Ended::TimeLimit => Ended::Complete,
            ended => ended,
        };
        Ok(())
    }
}
