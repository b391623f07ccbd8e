//! The network on processors: convolutions of images of channels, directly or by tiles, with the
//! instructions that the machine has.
//!
//! A thread computes one image after the other, so that threads live where the library has them:
//! across blocks of chains. A state's numbers do not depend on the block that it is in.

mod block;
mod convolve;
mod entrance;
mod exit;
#[cfg(test)]
mod instructions;
mod layer;
mod narrow;
mod network;
mod outer;
mod packed;
mod plan;
mod plane;
mod swish;
#[cfg(test)]
mod tests;
mod tiles;

use crate::network::Network;
use crate::parameters::Parameters;
use saltus::{ModelError, States};

/// States that a thread takes at a time: few, so that threads share a hundred evenly; more than one,
/// because each block has memory of its own that has to come back into the cache.
const BLOCK: usize = 5;

/// A network of the family, computed by this crate's own loops.
///
/// ```
/// use saltus::States;
/// use saltus_nn::{Architecture, Cpu, Network, Parameters};
/// let architecture = Architecture::new(4, 4, 2, 8)?.with_blocks(1)?;
/// let network = Cpu::new(&Parameters::random(architecture, 0))?;
/// let (mut work, mut values, mut gradients) = (network.new_workspace(1), [0.0], [0.0; 16]);
/// let state = [1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1];
/// network.values_and_gradients(States::new(&state, 16), &mut work, &mut values, &mut gradients)?;
/// assert!(values[0].is_finite() && gradients.iter().any(|gradient| *gradient != 0.0));
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cpu {
    network: network::Network,
}

/// Memory of [`Cpu`] for one image at a time.
#[derive(Clone, Debug)]
pub struct CpuWorkspace(network::Workspace);

impl Network for Cpu {
    type Workspace = CpuWorkspace;

    fn new(parameters: &Parameters) -> Result<Self, ModelError> {
        let mut network = network::Network::new(parameters.architecture());
        network.set(parameters.numbers());
        Ok(Self { network })
    }

    fn set_parameters(&mut self, parameters: &Parameters) {
        self.network.set(parameters.numbers());
    }

    fn new_workspace(&self, _states: usize) -> CpuWorkspace {
        CpuWorkspace(self.network.new_workspace())
    }

    fn values(
        &self,
        states: States<'_>,
        CpuWorkspace(work): &mut CpuWorkspace,
        values: &mut [f64],
    ) -> Result<(), ModelError> {
        for (state, value) in states.rows().zip(values) {
            *value = self.network.value(state, work);
        }
        Ok(())
    }

    fn values_and_gradients(
        &self,
        states: States<'_>,
        CpuWorkspace(work): &mut CpuWorkspace,
        values: &mut [f64],
        gradients: &mut [f32],
    ) -> Result<(), ModelError> {
        let length = gradients.len() / states.chains();
        for ((state, value), gradient) in
            states.rows().zip(values).zip(gradients.chunks_exact_mut(length))
        {
            *value = self.network.value(state, work);
            self.network.gradient(work, gradient);
        }
        Ok(())
    }

    fn add_parameter_gradient(
        &self,
        states: States<'_>,
        CpuWorkspace(work): &mut CpuWorkspace,
        values: &mut [f64],
        gradient: &mut [f32],
    ) -> Result<(), ModelError> {
        for (state, value) in states.rows().zip(values) {
            *value = self.network.value(state, work);
            self.network.learn(state, work, gradient);
        }
        self.network.hand_over(work, gradient);
        Ok(())
    }

    fn block_size(&self, _states: usize) -> usize {
        BLOCK
    }
}
