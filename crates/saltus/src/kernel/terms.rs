//! On what terms a kernel moves chains of a model: everything it decides about the two before it starts.

use super::Kernel;
use super::options::WithKernel;
use crate::error::ModelError;
use crate::model::Model;

/// What a kernel says of a model.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Chains in a block.
    pub block_size: usize,
    /// Steps that try about as many sites as there are.
    pub steps_per_sweep: usize,
    /// Why it cannot move chains of that model, if so.
    pub suits: Result<(), ModelError>,
    /// Why it cannot go along the path of temperatures to that model, if so.
    pub suits_path: Result<(), ModelError>,
    /// Nanoseconds that a step of a chain is counted as.
    pub work: f64,
    /// Whether it is likely to be the best for that model.
    pub is_likely: bool,
}

impl Terms {
    /// Those of a kernel for `chains` chains of a model.
    pub fn of<M: Model, K: Kernel<M>>(kernel: &K, model: &M, chains: usize) -> Self {
        Self {
            block_size: kernel.block_size(model, chains),
            steps_per_sweep: kernel.steps_per_sweep(model),
            suits: kernel.suits(model),
            suits_path: kernel.suits(model).and_then(|()| kernel.suits_path(model)),
            work: kernel.work(model),
            is_likely: kernel.is_likely(model),
        }
    }
}

/// Asks whichever kernel for its terms, for that many chains of a model.
pub struct AskTerms<'m, M>(pub &'m M, pub usize);

impl<'a, M: Model + 'a> WithKernel<'a, M> for AskTerms<'_, M> {
    type Output = Terms;

    fn with<K>(self, kernel: K) -> Terms
    where
        K: Kernel<M> + 'a,
        K::Scratch: 'a,
        K::Own: 'a,
    {
        Terms::of(&kernel, self.0, self.1)
    }
}
