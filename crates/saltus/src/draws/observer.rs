//! Observers with a state of their own, which see all chains of a block at every kept draw.

use crate::kernel::SiteChange;
use crate::space::{Space, States};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::Any;
use std::sync::Arc;

/// Sees every kept draw and sums it up in a memory that need not grow with the draws.
///
/// A run has one state per block of chains, which is part of its checkpoints; in the end all states,
/// in the order of the chains, become the result. So results do not depend on threads, stops or
/// pieces.
pub trait Observer: Send + Sync {
    /// What it keeps of a block of chains.
    type State: Clone + Send + Serialize + DeserializeOwned + 'static;
    /// What it comes to.
    type Output: Send + Sync + 'static;

    /// The state before the first draw of so many chains.
    fn new_state(&self, space: &Space, chains: usize) -> Self::State;

    /// Takes in a draw of every chain of the block.
    fn see(&self, state: &mut Self::State, draws: &Draws<'_>);

    /// The result, from the states of all blocks.
    fn finish(&self, blocks: Vec<Self::State>) -> Self::Output;

    /// Whether a state that was read from a checkpoint could be one of so many chains.
    fn is_sound(&self, state: &Self::State, space: &Space, chains: usize) -> bool {
        let _ = (state, space, chains);
        true
    }
}

/// A kept draw of every chain of a block.
#[derive(Clone, Copy)]
pub struct Draws<'a> {
    pub(crate) first_chain: usize,
    pub(crate) states: States<'a>,
    pub(crate) log_prob: &'a [f64],
    pub(crate) weights: &'a [f64],
    pub(crate) changes: &'a [Option<&'a [SiteChange]>],
}

impl<'a> Draws<'a> {
    /// Number of chains.
    pub fn chains(&self) -> usize {
        self.log_prob.len()
    }

    /// Number of the first chain in its run.
    pub fn first_chain(&self) -> usize {
        self.first_chain
    }

    /// The state of a chain of the block.
    pub fn state(&self, chain: usize) -> &'a [u8] {
        self.states.row(chain)
    }

    /// log π of the state of a chain.
    pub fn log_prob(&self, chain: usize) -> f64 {
        self.log_prob[chain]
    }

    /// By what the draw of a chain counts; one for most samplers.
    pub fn weight(&self, chain: usize) -> f64 {
        self.weights.get(chain).copied().unwrap_or(1.0)
    }

    /// What changed in a chain since its last draw, in order, if the sampler says so.
    pub fn changes(&self, chain: usize) -> Option<&'a [SiteChange]> {
        self.changes.get(chain).copied().flatten()
    }
}

/// An observer whatever its type.
pub(crate) trait AnyObserver: Send + Sync {
    fn new_block(&self, space: &Space, chains: usize) -> Box<dyn BlockState>;
    fn finish(&self, blocks: Vec<Box<dyn BlockState>>) -> Option<Observed>;
}

/// What an observer came to.
pub(crate) type Observed = Arc<dyn Any + Send + Sync>;

/// The state of an observer for one block, whatever its type.
pub(crate) trait BlockState: Send {
    fn see(&mut self, draws: &Draws<'_>);
    /// The state as bytes, for a checkpoint.
    fn bytes(&self) -> Vec<u8>;
    /// Goes back to such bytes; the error is a sentence.
    fn restore(&mut self, bytes: &[u8]) -> Result<(), String>;
    /// The same state beside this one.
    fn cloned(&self) -> Box<dyn BlockState>;
    /// The state itself.
    fn copied(&self) -> Box<dyn Any>;
}

struct Held<O: Observer> {
    observer: Arc<O>,
    state: O::State,
    space: Space,
    chains: usize,
}

/// An observer that is shared by the blocks of a run.
pub(crate) struct Shared<O>(pub(crate) Arc<O>);

impl<O: Observer + 'static> AnyObserver for Shared<O> {
    fn new_block(&self, space: &Space, chains: usize) -> Box<dyn BlockState> {
        let state = self.0.new_state(space, chains);
        Box::new(Held { observer: self.0.clone(), state, space: space.clone(), chains })
    }

    fn finish(&self, blocks: Vec<Box<dyn BlockState>>) -> Option<Observed> {
        let states = blocks.iter().map(|block| Some(*block.copied().downcast::<O::State>().ok()?));
        Some(Arc::new(self.0.finish(states.collect::<Option<_>>()?)))
    }
}

impl<O: Observer + 'static> BlockState for Held<O> {
    fn cloned(&self) -> Box<dyn BlockState> {
        let Self { observer, state, space, chains } = self;
        let (observer, state, space) = (observer.clone(), state.clone(), space.clone());
        Box::new(Self { observer, state, space, chains: *chains })
    }

    fn see(&mut self, draws: &Draws<'_>) {
        self.observer.see(&mut self.state, draws);
    }

    fn bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.state).unwrap_or_default()
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), String> {
        let failed = |error| format!("what an observer kept cannot be read: {error}");
        let state = postcard::from_bytes(bytes).map_err(failed)?;
        if !self.observer.is_sound(&state, &self.space, self.chains) {
            return Err("what an observer kept is not whole".to_owned());
        }
        self.state = state;
        Ok(())
    }

    fn copied(&self) -> Box<dyn Any> {
        Box::new(self.state.clone())
    }
}
