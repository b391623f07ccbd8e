//! What a deep model and its training ask of a network, however it is computed.

use crate::parameters::Parameters;
use saltus::{ModelError, States};

/// A network with its parameters: a number for every state, its gradient at the values, its gradient
/// at the parameters.
pub trait Network: Send + Sync + Sized {
    /// Memory of one block of states.
    type Workspace: Send;

    /// A network with these parameters.
    fn new(parameters: &Parameters) -> Result<Self, ModelError>;

    /// Takes over other parameters of the same architecture.
    fn set_parameters(&mut self, parameters: &Parameters);

    /// Memory for blocks of at most that many states.
    fn new_workspace(&self, states: usize) -> Self::Workspace;

    /// The value at every state.
    fn values(
        &self,
        states: States<'_>,
        work: &mut Self::Workspace,
        values: &mut [f64],
    ) -> Result<(), ModelError>;

    /// The value at every state, and its gradient: with two values per site, at the sites coded as
    /// 0 and 1; with more, at the indicators of all values, plane after plane. Gradients of
    /// parameters are not computed.
    fn values_and_gradients(
        &self,
        states: States<'_>,
        work: &mut Self::Workspace,
        values: &mut [f64],
        gradients: &mut [f32],
    ) -> Result<(), ModelError>;

    /// The value at every state; adds the sum of its gradients at the parameters to `gradient`.
    fn add_parameter_gradient(
        &self,
        states: States<'_>,
        work: &mut Self::Workspace,
        values: &mut [f64],
        gradient: &mut [f32],
    ) -> Result<(), ModelError>;

    /// How many of so many states it likes to see per call.
    fn block_size(&self, states: usize) -> usize;
}
