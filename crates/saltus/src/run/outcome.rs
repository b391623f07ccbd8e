//! What a run leaves: its draws, what it chose, how it went and how it ended.

use super::Settings;
use super::scouted::Scouts;
use crate::control::{Ended, Seconds};
use crate::draws::observer::{Observed, Observer};
use crate::draws::sites::{SiteRecord, Sites};
use crate::draws::trace::Trace;
use crate::kernel::KernelTraits;
use crate::space::Space;
use crate::temper::{RungDraw, TemperReport};
use crate::tune::Round;
use std::collections::BTreeMap;
use std::time::Instant;

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The settings it ran with.
    pub settings: Settings,
    /// The space of the states as they are shown.
    pub space: Space,
    /// What the kernel says of itself.
    pub traits: KernelTraits,
    /// Threads that were used.
    pub threads: usize,
    /// The kept draws, if they were kept in memory.
    pub trace: Trace,
    /// The last state of each chain; after a failure, that of the failed chain may be half of a
    /// move.
    pub last_states: Vec<Vec<u8>>,
    /// The same as the model itself has them, where it shows more than that, unless they come from a store.
    pub(crate) own_states: Vec<Vec<u8>>,
    /// The scale that the draws were made with, if the sampler has one.
    pub scale: Option<f64>,
    /// Mean acceptance over the kept draws, or over the warm-up if it ended there.
    pub acceptance: f64,
    /// The rounds of warm-up.
    pub warmup: Vec<Round>,
    /// Chains in which no site changed during the kept draws.
    pub stuck: Vec<usize>,
    /// Mean number of sites that changed in a step.
    pub sites_changed_per_step: f64,
    /// Evaluations made per step and chain: of value and differences together, or of the value at
    /// one state.
    pub evaluations_performed_per_step: f64,
    /// What every site did, if that was asked.
    pub sites: Option<Sites>,
    /// What they were summed up from, chain by chain, if this is a part of a run.
    pub(crate) site_records: Vec<SiteRecord>,
    /// What the ladder showed, if the run was tempered and drew.
    pub tempering: Option<TemperReport>,
    /// The chains on all rungs, by ensemble, scan and rung, if they were kept.
    pub rung_draws: Option<Vec<Vec<RungDraw>>>,
    /// Whether the model says that it is the same with its values exchanged; false if nobody asked it.
    pub symmetric: bool,
    /// What scouts came to, of a stored run to which they were sent.
    pub scouts: Option<Scouts>,
    /// The exact means of observables, where they were looked for and could be had.
    pub exact: BTreeMap<String, f64>,
    /// Wall time.
    pub seconds: Seconds,
    /// When the time that it was given is over, if it was given any.
    pub(crate) deadline: Option<Instant>,
    /// How it ended.
    pub ended: Ended,
    /// What the observers came to, by name.
    pub(crate) observed: BTreeMap<String, Observed>,
}

impl Outcome {
    /// What an observer of that name and type came to.
    pub fn observed<O: Observer>(&self, name: &str) -> Option<&O::Output> {
        self.observed.get(name)?.downcast_ref()
    }
}
