//! Everything from which a stopped run goes on as if it had never stopped.

use crate::kernel::StepReport;
use crate::model::Model;
use crate::rng::{ChainRng, Stream};
use crate::run::{RunError, Seconds, Settings, SiteRecord};
use crate::space::States;
use crate::tune::Round;
use serde::{Deserialize, Serialize};

/// The state of a run at a step where all its chains were evaluated afresh, so that states, random
/// streams and counts are all there is to know.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    pub(crate) fingerprint: Fingerprint,
    pub(crate) seconds: Seconds,
    pub(crate) rounds: Vec<Round>,
    pub(crate) steps: usize,
    pub(crate) chains: Vec<ChainSnapshot>,
}

/// One chain at a checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ChainSnapshot {
    pub(crate) state: Vec<u8>,
    pub(crate) rng: ChainRng,
    pub(crate) sums: Sums,
    /// Of the steps since the last kept draw.
    pub(crate) since_kept: Sums,
    pub(crate) sites: SiteRecord,
}

/// Sums of step reports of one chain.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sums {
    pub(crate) steps: usize,
    pub(crate) acceptance: f64,
    pub(crate) changed: f64,
    pub(crate) evaluations: f64,
}

impl Sums {
    pub(crate) fn add(&mut self, report: &StepReport) {
        self.steps += 1;
        self.acceptance += report.acceptance;
        self.changed += f64::from(report.changed);
        self.evaluations += f64::from(report.evaluations);
    }
}

/// By what a checkpoint knows the model and the settings it belongs to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Fingerprint {
    settings: Settings,
    sites: usize,
    values: usize,
    /// log π at a few random states.
    log_probs: [f64; 3],
}

/// Larger relative differences of log π mean another model; smaller ones another processor.
const SAME_LOG_PROB: f64 = 1e-9;

impl Fingerprint {
    /// What a run of a model with these settings is known by.
    pub(crate) fn of<M: Model>(model: &M, settings: &Settings) -> Self {
        let space = model.space();
        let log_probs = probe(model, settings.seed);
        let settings = settings.of_the_chains();
        Self { settings, sites: space.sites(), values: space.values(), log_probs }
    }

    /// Says in what another run differs.
    fn difference(&self, other: &Self) -> Option<String> {
        if (self.sites, self.values) != (other.sites, other.values) {
            return Some(format!(
                "it is of a model of {} sites × {} values, this one has {} × {}",
                self.sites, self.values, other.sites, other.values
            ));
        }
        if self.settings != other.settings {
            return Some("it is of a run with other settings".to_owned());
        }
        other_model(&self.log_probs, &other.log_probs)
    }
}

/// Evaluates a model at a few random states; where it cannot be, log π is not a number.
pub(crate) fn probe<M: Model>(model: &M, seed: u64) -> [f64; 3] {
    let space = model.space();
    let mut rng = ChainRng::new(seed, Stream::Fingerprint);
    let mut states = vec![0; 3 * space.sites()];
    states.iter_mut().for_each(|value| *value = rng.below(space.values()) as u8);
    let mut log_probs = [0.0; 3];
    let mut cache = model.new_cache(1);
    for (state, log_prob) in states.chunks_exact(space.sites()).zip(&mut log_probs) {
        let log_prob = std::slice::from_mut(log_prob);
        let states = States::new(state, space.sites());
        if model.log_prob(states, &mut cache, log_prob).is_err() {
            log_prob[0] = f64::NAN;
        }
    }
    log_probs
}

/// Says by which log π of a few states two models differ, if they do.
pub(crate) fn other_model(there: &[f64], here: &[f64]) -> Option<String> {
    let mut others = there.iter().zip(here).filter(|(one, other)| {
        let same = one.to_bits() == other.to_bits();
        // NaN is close to nothing.
        let close = (*one - *other).abs() <= SAME_LOG_PROB * one.abs().max(1.0);
        !same && !close
    });
    let (one, other) = others.next()?;
    Some(format!("it is of another model: log π of a state was {one} there and is {other} here"))
}

impl Checkpoint {
    /// Steps made by each chain, warm-up included.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Draws of each chain that were kept before; later ones are made again.
    pub fn draws(&self) -> usize {
        let settings = &self.fingerprint.settings;
        self.steps.saturating_sub(settings.warmup) / settings.thin
    }

    /// Fails with the reason if a run like this one cannot go on from here.
    pub(crate) fn check(&self, here: &Fingerprint) -> Result<(), RunError> {
        if let Some(difference) = self.fingerprint.difference(here) {
            return Err(RunError::Checkpoint(difference));
        }
        let sound = |chain: &ChainSnapshot| {
            let last = self.fingerprint.values - 1;
            chain.rng.is_sound()
                && chain.state.len() == self.fingerprint.sites
                && chain.state.iter().all(|value| usize::from(*value) <= last)
                && chain.sites.is_sound(self.fingerprint.sites)
        };
        let chains = self.fingerprint.settings.chains;
        if self.chains.len() != chains || !self.chains.iter().all(sound) {
            return Err(RunError::Checkpoint("its chains are not whole".to_owned()));
        }
        Ok(())
    }
}
