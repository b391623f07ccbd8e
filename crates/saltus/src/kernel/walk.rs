//! Chains that someone else owns, moved by a named sampler: what training needs, where the model
//! changes between one walk and the next.

use super::transition::{Transition, WithKernel};
use super::{Kernel, Position, StepError, StepReport};
use crate::model::Model;
use crate::rng::ChainRng;

/// Moves a block of chains.
///
/// ```
/// use saltus::kernel::transition::Transition;
/// use saltus::kernel::walk::walker;
/// use saltus::model::independent::Independent;
/// use saltus::rng::{ChainRng, Stream};
/// let model = Independent::bernoulli(vec![0.0; 50])?;
/// let mut walker = walker(&model, Transition::default(), 2);
/// let mut states = vec![0; 100];
/// let mut rngs = [0, 1].map(|chain| ChainRng::new(3, Stream::Chain(chain)));
/// let walked = walker.walk(&model, 0.5, 10, &mut states, &mut rngs).unwrap();
/// assert_eq!(walked.steps, 20); // ten of each chain
/// assert!(walked.changed > 0.0 && states.contains(&1));
/// # Ok::<(), saltus::ModelError>(())
/// ```
pub trait Walk<M: Model>: Send {
    /// Makes so many steps of every chain from these states, and leaves theirs in their place.
    ///
    /// The model may be another one than at the last walk, of the same space and with the same kind
    /// of cache.
    fn walk(
        &mut self,
        model: &M,
        scale: f64,
        steps: usize,
        states: &mut [u8],
        rngs: &mut [ChainRng],
    ) -> Result<Walked, StepError>;
}

/// What the steps of some chains did, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Walked {
    /// Steps of all chains together.
    pub steps: usize,
    /// Probabilities of acceptance.
    pub acceptance: f64,
    /// Sites that hold another value than before their step.
    pub changed: f64,
}

impl Walked {
    /// Adds what other chains did.
    pub fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.acceptance += other.acceptance;
        self.changed += other.changed;
    }
}

/// A walker for blocks of so many chains of a model.
pub fn walker<'a, M: Model + 'a>(
    model: &M,
    transition: Transition,
    chains: usize,
) -> Box<dyn Walk<M> + 'a> {
    transition.with_kernel(model, NewWalker { model, chains })
}

struct NewWalker<'m, M> {
    model: &'m M,
    chains: usize,
}

impl<'a, M: Model + 'a> WithKernel<'a, M> for NewWalker<'_, M> {
    type Output = Box<dyn Walk<M> + 'a>;

    fn with<K>(self, kernel: K) -> Self::Output
    where
        K: Kernel<M> + 'a,
        K::Memory: 'a,
    {
        let memory = kernel.new_memory(self.model, self.chains);
        Box::new(Walker { kernel, memory, reports: vec![StepReport::default(); self.chains] })
    }
}

struct Walker<K, Memory> {
    kernel: K,
    memory: Memory,
    reports: Vec<StepReport>,
}

impl<M: Model, K: Kernel<M>> Walk<M> for Walker<K, K::Memory> {
    fn walk(
        &mut self,
        model: &M,
        scale: f64,
        steps: usize,
        states: &mut [u8],
        rngs: &mut [ChainRng],
    ) -> Result<Walked, StepError> {
        let Self { kernel, memory, reports } = self;
        let mut position = Position::new(states.to_vec(), model.space().sites());
        kernel.start(scale, model, &mut position, memory)?;
        let mut walked = Walked::default();
        for _ in 0..steps {
            kernel.step(scale, model, &mut position, memory, rngs, reports)?;
            walked.steps += reports.len();
            for report in reports.iter() {
                walked.acceptance += report.acceptance;
                walked.changed += f64::from(report.changed);
            }
        }
        states.copy_from_slice(&position.states);
        Ok(walked)
    }
}
