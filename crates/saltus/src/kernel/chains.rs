//! A block of chains: everything that differs between one chain and another.

use super::journal::Journal;
use crate::base::Base;
use crate::model::{Rung, Sweep, SweptChains};
use crate::rng::ChainRng;
use crate::space::{Space, States};
use std::sync::Arc;

/// The chains of a block, field by field.
///
/// `Own` is what a kernel must carry on of a chain and cannot compute from its state; `()` for most.
#[derive(Clone, Debug)]
pub struct Chains<Own = ()> {
    space: Space,
    base: Option<Arc<Base>>,
    /// One row of bytes per chain.
    pub states: Vec<u8>,
    /// log π of each state, whatever the rung.
    pub log_prob: Vec<f64>,
    /// log p of each state, where chains stand on the path from a base; else empty.
    pub log_base: Vec<f64>,
    /// The random stream of each.
    pub rngs: Vec<ChainRng>,
    /// The inverse temperature of each.
    pub betas: Vec<f64>,
    /// The scale of each.
    pub scales: Vec<f64>,
    /// What the last step of each did.
    pub reports: Vec<StepReport>,
    /// What the kernel carries on of each.
    pub own: Vec<Own>,
    /// Where a kernel that changes few sites records which.
    pub journals: Vec<Journal>,
    /// Steps that each has made.
    pub step: usize,
    /// Stands for log p where there is no base.
    unused: f64,
}

/// One chain of a block.
#[derive(Debug)]
pub struct ChainMut<'a, Own = ()> {
    /// Its number within the block.
    pub number: usize,
    /// Its state.
    pub state: &'a mut [u8],
    /// log π of its state, whatever the rung.
    pub log_prob: &'a mut f64,
    /// log p of its state; not read where there is no base.
    pub log_base: &'a mut f64,
    /// Its random stream.
    pub rng: &'a mut ChainRng,
    /// Where it stands on the path from the base to the model.
    pub rung: Rung<'a>,
    /// Its scale.
    pub scale: f64,
    /// What its last step did.
    pub report: &'a mut StepReport,
    /// What the kernel carries on.
    pub own: &'a mut Own,
    /// Where a kernel that changes few sites records which.
    pub journal: &'a mut Journal,
}

/// What one transition of one chain did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Probability with which the proposal was accepted; one for samplers that never reject.
    pub acceptance: f64,
    /// Number of sites that hold another value than before.
    pub changed: u32,
    /// Evaluations made: of value and differences together, or of the value at one state.
    pub evaluations: u32,
}

impl<Own: Clone + Default> Chains<Own> {
    /// Chains at these states, one after the other; their log π is filled in when a kernel starts.
    ///
    /// # Panics
    /// If there are not as many states as streams.
    pub fn new(space: &Space, states: Vec<u8>, rngs: Vec<ChainRng>) -> Self {
        let chains = rngs.len();
        assert_eq!(states.len(), chains * space.sites(), "a state for every chain");
        Self {
            space: space.clone(),
            base: None,
            states,
            log_prob: vec![f64::NAN; chains],
            log_base: Vec::new(),
            rngs,
            betas: vec![1.0; chains],
            scales: vec![1.0; chains],
            reports: vec![StepReport::default(); chains],
            own: vec![Own::default(); chains],
            journals: vec![Journal::default(); chains],
            step: 0,
            unused: 0.0,
        }
    }
}

impl<Own> Chains<Own> {
    /// The same chains on the path from these independent sites to the model.
    pub fn on_path_from(mut self, base: Arc<Base>) -> Self {
        self.log_base = vec![f64::NAN; self.len()];
        self.base = Some(base);
        self
    }

    /// Number of chains.
    pub fn len(&self) -> usize {
        self.rngs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rngs.is_empty()
    }

    /// The space of the states.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The independent sites at β = 0, if the chains are on a path from some.
    pub fn base(&self) -> Option<&Base> {
        self.base.as_deref()
    }

    /// All states.
    pub fn states(&self) -> States<'_> {
        States::new(&self.states, self.space.sites())
    }

    /// The state of one chain.
    #[inline]
    pub fn state(&self, chain: usize) -> &[u8] {
        let sites = self.space.sites();
        &self.states[chain * sites..(chain + 1) * sites]
    }

    /// The state of one chain, to change.
    #[inline]
    pub fn state_mut(&mut self, chain: usize) -> &mut [u8] {
        let sites = self.space.sites();
        &mut self.states[chain * sites..(chain + 1) * sites]
    }

    /// Where a chain stands on the path.
    #[inline]
    pub fn rung(&self, chain: usize) -> Rung<'_> {
        Rung { beta: self.betas[chain], base: self.base.as_deref() }
    }

    /// The logarithm of the density that a chain samples, at its state: log π, or on a path
    /// (1 − β) log p + β log π.
    #[inline]
    pub fn log_density(&self, chain: usize) -> f64 {
        match self.base {
            None => self.log_prob[chain],
            Some(_) => self.rung(chain).mix(self.log_prob[chain], self.log_base[chain]),
        }
    }

    /// One chain.
    #[inline]
    pub fn chain(&mut self, number: usize) -> ChainMut<'_, Own> {
        let sites = self.space.sites();
        ChainMut {
            number,
            state: &mut self.states[number * sites..(number + 1) * sites],
            log_prob: &mut self.log_prob[number],
            log_base: match self.log_base.get_mut(number) {
                Some(log_base) => log_base,
                // Written to and never read.
                None => &mut self.unused,
            },
            rng: &mut self.rngs[number],
            rung: Rung { beta: self.betas[number], base: self.base.as_deref() },
            scale: self.scales[number],
            report: &mut self.reports[number],
            own: &mut self.own[number],
            journal: &mut self.journals[number],
        }
    }

    /// What a model needs to redraw all chains together.
    pub(crate) fn sweepable<'a>(&'a mut self, done: &'a mut [Sweep]) -> SweptChains<'a> {
        let done = &mut done[..self.rngs.len()];
        let Self { states, betas, base, rngs, .. } = self;
        SweptChains { states, betas, base: base.as_deref(), rngs, done }
    }

    /// log p of every state, where the chains are on a path.
    pub fn evaluate_base(&mut self) {
        if let Some(base) = &self.base {
            let states = self.states.chunks_exact(self.space.sites());
            for (log_base, state) in self.log_base.iter_mut().zip(states) {
                *log_base = base.log_prob(state);
            }
        }
    }
}
