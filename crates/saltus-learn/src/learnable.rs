//! What the learner asks of a model with parameters.

use rayon::prelude::*;
use saltus::engine::SamplerBlock;
use saltus::{ChainRng, Model, ModelError, States};

/// States whose gradients one task adds up. Does not depend on threads, so that sums do not either.
const PART: usize = 32;

/// A [`Model`] whose parameters can be learnt.
///
/// Parameters are numbers in an order that is the model's own. What is required is how log π of a
/// state changes with them; what is provided may be overridden where it can be faster.
///
/// ```
/// use saltus::{Model, ModelError, Space, States};
/// use saltus_learn::Learnable;
///
/// /// Bits with a field each, log π = Σ θₙ xₙ.
/// struct Fields {
///     space: Space,
///     fields: Vec<f32>,
/// }
///
/// impl Model for Fields {
///     type Cache = ();
///     fn space(&self) -> &Space {
///         &self.space
///     }
///     fn new_cache(&self, _chains: usize) {}
///     fn log_prob(
///         &self,
///         states: States<'_>,
///         _cache: &mut (),
///         log_prob: &mut [f64],
///     ) -> Result<(), ModelError> {
///         for (state, log_prob) in states.rows().zip(log_prob) {
///             let on = state.iter().zip(&self.fields).filter(|(value, _)| **value == 1);
///             *log_prob = on.map(|(_, field)| f64::from(*field)).sum();
///         }
///         Ok(())
///     }
/// }
///
/// impl Learnable for Fields {
///     type Work = ();
///     fn new_work(&self, _batch: usize) {}
///     fn parameters(&self) -> Vec<f32> {
///         self.fields.clone()
///     }
///     fn set_parameters(&mut self, parameters: &[f32]) -> Result<(), ModelError> {
///         self.fields.copy_from_slice(parameters);
///         Ok(())
///     }
///     fn add_gradient(
///         &self,
///         state: &[u8],
///         share: f32,
///         gradient: &mut [f32],
///     ) -> Result<(), ModelError> {
///         for (gradient, value) in gradient.iter_mut().zip(state) {
///             *gradient += share * f32::from(*value);
///         }
///         Ok(())
///     }
/// }
/// ```
pub trait Learnable: Model + Sized {
    /// Memory of a batch between gradients; `()` if there is nothing to keep.
    type Work: Send;

    /// Memory for batches of so many examples and as many chains.
    fn new_work(&self, batch: usize) -> Self::Work;

    /// The parameters as they are.
    fn parameters(&self) -> Vec<f32>;

    /// Takes over other parameters, of the same number. What it keeps of chains in its
    /// [`Cache`](Model::Cache) must not outlive them.
    fn set_parameters(&mut self, parameters: &[f32]) -> Result<(), ModelError>;

    /// Adds `share` times the gradient of log π of a state at the parameters.
    fn add_gradient(
        &self,
        state: &[u8],
        share: f32,
        gradient: &mut [f32],
    ) -> Result<(), ModelError>;

    /// Adds `share` times the mean gradient of log π over states; returns the mean of log π.
    ///
    /// Called on the learner's threads.
    fn add_mean_gradient(
        &self,
        states: States<'_>,
        share: f32,
        _work: &mut Self::Work,
        gradient: &mut [f32],
    ) -> Result<f64, ModelError> {
        let sites = self.space().sites();
        let each = share / states.chains() as f32;
        let part = |states: &[u8]| -> Result<(f64, Vec<f32>), ModelError> {
            let mut sums = vec![0.0; gradient.len()];
            let states = States::new(states, sites);
            let mut log_prob = vec![0.0; states.chains()];
            let mut cache = self.new_cache(states.chains());
            self.log_prob(states, &mut cache, &mut log_prob)?;
            for state in states.rows() {
                self.add_gradient(state, each, &mut sums)?;
            }
            Ok((log_prob.iter().sum(), sums))
        };
        let all = states.bytes().par_chunks(PART * sites).map(part);
        let parts = all.collect::<Result<Vec<_>, _>>()?;
        for (_, sums) in &parts {
            gradient.iter_mut().zip(sums).for_each(|(gradient, sum)| *gradient += sum);
        }
        Ok(parts.iter().map(|(log_prob, _)| log_prob).sum::<f64>() / states.chains() as f64)
    }

    /// Sets `gradient` to that of the loss, mean log π over the chains − mean log π over the data.
    fn loss_gradient(
        &self,
        data: States<'_>,
        chains: States<'_>,
        work: &mut Self::Work,
        gradient: &mut [f32],
    ) -> Result<Means, ModelError> {
        gradient.fill(0.0);
        Ok(Means {
            data: self.add_mean_gradient(data, -1.0, work, gradient)?,
            chains: self.add_mean_gradient(chains, 1.0, work, gradient)?,
        })
    }

    /// A block of chains under a kernel that only this model has, if there is one.
    fn own_block<'a>(
        &self,
        _first_chain: usize,
        _states: Vec<u8>,
        _rngs: Vec<ChainRng>,
    ) -> Option<SamplerBlock<'a, Self>>
    where
        Self: 'a,
    {
        None
    }
}

/// Means of log π over the states of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Means {
    /// Of the examples.
    pub data: f64,
    /// Of the chains.
    pub chains: f64,
}
