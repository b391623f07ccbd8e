//! Models of any type as one type: for those who build a model at run time and cannot name what it is.

use super::couplings::Couplings;
use super::factor::Factor;
use super::fixed_sum::FixedSum;
use super::rbm::Rbm;
use super::{Differences, Model, SweptChains, Work};
use crate::adjacency::Adjacency;
use crate::base::Base;
use crate::error::ModelError;
use crate::rng::ChainRng;
use crate::space::{Space, States};
use std::any::Any;
use std::sync::Arc;

/// A model whose type is forgotten. It evaluates as the model inside does, to the last bit; a call costs
/// an indirection more, which is noticed where single sites are followed and nowhere else.
///
/// ```
/// use saltus::model::erased::Erased;
/// use saltus::model::independent::Independent;
/// use saltus::{Clamped, Model};
/// let models = [
///     Erased::new(Independent::bernoulli(vec![0.0; 5])?),
///     Erased::new(Clamped::new(Independent::bernoulli(vec![0.0; 5])?, &[(2, 1)])?),
/// ];
/// assert_eq!(models.map(|model| model.space().sites()), [5, 4]);
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone)]
pub struct Erased(Arc<dyn AnyModel>);

/// What [`Erased`] keeps of a block of chains: what its model keeps.
pub struct ErasedCache(Box<dyn Any + Send>);

impl Erased {
    /// Forgets the type of a model.
    pub fn new(model: impl Model + 'static) -> Self {
        Self(Arc::new(model))
    }
}

impl std::fmt::Debug for Erased {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Erased").field("space", AnyModel::space(&*self.0)).finish_non_exhaustive()
    }
}

/// The cache as its model knows it.
fn own<M: Model + 'static>(cache: &mut ErasedCache) -> &mut M::Cache {
    cache.0.downcast_mut().expect("a cache goes with the model that made it")
}

/// Everything that a model does, one line each: a trait without the type of its cache, which every model
/// has, and [`Erased`] on top of it. Where a cache is handed over, `;` stands in its place.
macro_rules! forwarded {
    (
        alone: $(fn $alone:ident($($what:ident: $kind:ty),*) $(-> $out:ty)?;)*
        cached: $(fn $cached:ident($($before:ident: $of:ty),*; $($after:ident: $to:ty),*) $(-> $result:ty)?;)*
    ) => {
        trait AnyModel: Send + Sync {
            fn new_cache(&self, chains: usize) -> ErasedCache;
            $(fn $alone(&self, $($what: $kind),*) $(-> $out)?;)*
            $(fn $cached(&self, $($before: $of,)* cache: &mut ErasedCache, $($after: $to),*) $(-> $result)?;)*
        }

        impl<M: Model + 'static> AnyModel for M {
            fn new_cache(&self, chains: usize) -> ErasedCache {
                ErasedCache(Box::new(Model::new_cache(self, chains)))
            }
            $(fn $alone(&self, $($what: $kind),*) $(-> $out)? {
                Model::$alone(self, $($what),*)
            })*
            $(fn $cached(&self, $($before: $of,)* cache: &mut ErasedCache, $($after: $to),*) $(-> $result)? {
                Model::$cached(self, $($before,)* own::<M>(cache), $($after),*)
            })*
        }

        impl Model for Erased {
            type Cache = ErasedCache;

            fn new_cache(&self, chains: usize) -> ErasedCache {
                AnyModel::new_cache(&*self.0, chains)
            }
            $(fn $alone(&self, $($what: $kind),*) $(-> $out)? {
                AnyModel::$alone(&*self.0, $($what),*)
            })*
            $(fn $cached(&self, $($before: $of,)* cache: &mut ErasedCache, $($after: $to),*) $(-> $result)? {
                AnyModel::$cached(&*self.0, $($before,)* cache, $($after),*)
            })*
        }
    };
}

forwarded! {
    alone:
        fn space() -> &Space;
        fn taylor_is_exact() -> bool;
        fn is_incremental() -> bool;
        fn is_symmetric() -> bool;
        fn adjacency() -> Option<&Adjacency>;
        fn sums() -> &[FixedSum];
        fn sweep_block_size(chains: usize) -> usize;
        fn work() -> Work;
        fn initial_state(rng: &mut ChainRng, state: &mut [u8]);
        fn places(rng: &mut ChainRng) -> Vec<Vec<u8>>;
        fn complete(rng: &mut ChainRng, known: &[Option<u8>], state: &mut [u8]);
        fn factors() -> Option<Vec<Factor>>;
        fn couplings() -> Result<Arc<Couplings>, ModelError>;
        fn rbm() -> Option<&Rbm>;
        fn base() -> Base;
        fn shown_space() -> &Space;
        fn show(state: &[u8], shown: &mut [u8]);
        fn block_size(chains: usize) -> usize;
    cached:
        fn log_prob(states: States<'_>; log_prob: &mut [f64]) -> Result<(), ModelError>;
        fn log_prob_and_diff(
            kind: Differences, states: States<'_>; log_prob: &mut [f64], diff: &mut [f32]
        ) -> Result<(), ModelError>;
        fn follow(state: &[u8], chain: usize;) -> Result<f64, ModelError>;
        fn site_diff(
            state: &[u8], chain: usize; site: usize, diff: &mut [f64]
        ) -> Result<(), ModelError>;
        fn exchange_diff(
            state: &mut [u8], chain: usize; sites: (usize, usize), diff: &mut [f64]
        ) -> Result<(), ModelError>;
        fn set_site(state: &mut [u8], chain: usize; site: usize, value: u8);
        fn sweep(chains: SweptChains<'_>;) -> bool;
}
