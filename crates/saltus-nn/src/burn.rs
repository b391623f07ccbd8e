//! The network by burn's tensors: portable, the reference of the faster way, and the way to a GPU.
//!
//! Parameters are plain tensors, so that nothing is differentiated but what is asked for; every
//! backward pass has a forward pass of its own.

use crate::architecture::Architecture;
use crate::layout::Layer;
use crate::network::Network;
use crate::parameters::Parameters;
use burn_tensor::activation::silu;
use burn_tensor::module::conv2d;
use burn_tensor::ops::ConvOptions;
use burn_tensor::{Device, Tensor, TensorData};
use saltus::{ModelError, States};

/// A network of the family on the first device there is: CUDA, wgpu (each if its feature is on), or
/// the processor.
///
/// ```
/// use saltus::States;
/// use saltus_nn::{Architecture, Burn, Network, Parameters};
/// let architecture = Architecture::new(4, 4, 2, 8)?.with_blocks(0)?;
/// let network = Burn::new(&Parameters::random(architecture, 0))?;
/// let mut values = [0.0];
/// network.values(States::new(&[0; 16], 16), &mut (), &mut values)?;
/// assert!(values[0].is_finite());
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Debug)]
pub struct Burn {
    architecture: Architecture,
    device: Device,
    weights: Vec<Weights>,
}

/// The parameters of a layer.
#[derive(Clone, Debug)]
struct Weights {
    layer: Layer,
    weight: Tensor<4>,
    bias: Tensor<1>,
}

impl Weights {
    fn new(layer: &Layer, parameters: &[f32], device: &Device) -> Self {
        let Layer { inputs, outputs, side, .. } = *layer;
        let numbers = |range: &std::ops::Range<usize>| parameters[range.clone()].to_vec();
        let weight = TensorData::new(numbers(&layer.weight), [outputs, inputs, side, side]);
        let bias = TensorData::new(numbers(&layer.bias), [outputs]);
        Self {
            layer: layer.clone(),
            weight: Tensor::from_data(weight, device),
            bias: Tensor::from_data(bias, device),
        }
    }

    /// The same, but so that their gradients are kept.
    fn tracked(&self) -> Self {
        Self {
            layer: self.layer.clone(),
            weight: self.weight.clone().autodiff().require_grad(),
            bias: self.bias.clone().autodiff().require_grad(),
        }
    }

    fn apply(&self, input: Tensor<4>) -> Tensor<4> {
        let Layer { side, stride, .. } = self.layer;
        let options = ConvOptions::new([stride; 2], [side / 2; 2], [1; 2], 1);
        conv2d(input, self.weight.clone(), Some(self.bias.clone()), options)
    }
}

impl Burn {
    /// What the network sees of states: [state, channel, row, column], with two values the value,
    /// with more the indicators of all.
    fn input(&self, states: States<'_>) -> Tensor<4> {
        let (count, sites) = (states.chains(), states.sites());
        let values = self.architecture.values();
        let planes = self.architecture.space().planes();
        let mut numbers = vec![0.0f32; count * planes * sites];
        for (state, numbers) in states.rows().zip(numbers.chunks_exact_mut(planes * sites)) {
            for (site, value) in state.iter().enumerate() {
                if values == 2 {
                    numbers[site] = f32::from(*value);
                } else {
                    numbers[usize::from(*value) * sites + site] = 1.0;
                }
            }
        }
        let shape = [count, planes, self.architecture.rows(), self.architecture.columns()];
        Tensor::from_data(TensorData::new(numbers, shape), &self.device)
    }

    /// The value at every state of an input.
    fn forward(&self, weights: &[Weights], input: Tensor<4>) -> Tensor<1> {
        let [count, ..] = input.dims();
        let mut weights = weights.iter();
        let mut next = || weights.next().expect("the layers of the architecture");
        let layout = self.architecture.layout();
        let mut image = input;
        if layout.projection.is_some() {
            image = next().apply(image);
        }
        image = next().apply(image);
        for block in &layout.blocks {
            let inner = silu(next().apply(image.clone()));
            let outer = next().apply(inner);
            let skipped = if block.skip.is_some() { next().apply(image) } else { image };
            image = silu(outer.add(skipped));
        }
        next().apply(image.mean_dims(&[2, 3])).reshape([count])
    }
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f32>, ModelError> {
    tensor.into_data().try_to_vec().map_err(|error| ModelError::Evaluation(error.to_string()))
}

fn fill(values: &mut [f64], tensor: Tensor<1>) -> Result<(), ModelError> {
    let found = numbers(tensor)?;
    values.iter_mut().zip(found).for_each(|(value, found)| *value = f64::from(found));
    Ok(())
}

fn untracked() -> ModelError {
    ModelError::Evaluation("burn kept no gradient of a tensor that requires one".to_owned())
}

impl Network for Burn {
    type Workspace = ();

    fn new(parameters: &Parameters) -> Result<Self, ModelError> {
        let mut network = Self {
            architecture: *parameters.architecture(),
            device: Device::default(),
            weights: Vec::new(),
        };
        network.set_parameters(parameters);
        Ok(network)
    }

    fn set_parameters(&mut self, parameters: &Parameters) {
        let layout = self.architecture.layout();
        let layers = layout.layers();
        let weights =
            layers.iter().map(|(_, layer)| Weights::new(layer, parameters.numbers(), &self.device));
        self.weights = weights.collect();
    }

    fn new_workspace(&self, _states: usize) {}

    fn values(
        &self,
        states: States<'_>,
        _work: &mut (),
        values: &mut [f64],
    ) -> Result<(), ModelError> {
        fill(values, self.forward(&self.weights, self.input(states)))
    }

    fn values_and_gradients(
        &self,
        states: States<'_>,
        _work: &mut (),
        values: &mut [f64],
        gradients: &mut [f32],
    ) -> Result<(), ModelError> {
        let input = self.input(states).autodiff().require_grad();
        let found = self.forward(&self.weights, input.clone());
        let mut kept = found.clone().sum().backward();
        let gradient = input.grad_remove(&mut kept).ok_or_else(untracked)?;
        gradients.copy_from_slice(&numbers(gradient)?);
        fill(values, found.inner())
    }

    fn add_parameter_gradient(
        &self,
        states: States<'_>,
        _work: &mut (),
        values: &mut [f64],
        gradient: &mut [f32],
    ) -> Result<(), ModelError> {
        let weights: Vec<Weights> = self.weights.iter().map(Weights::tracked).collect();
        let found = self.forward(&weights, self.input(states));
        let mut kept = found.clone().sum().backward();
        for Weights { layer, weight, bias } in &weights {
            let weight = numbers(weight.grad_remove(&mut kept).ok_or_else(untracked)?)?;
            let bias = numbers(bias.grad_remove(&mut kept).ok_or_else(untracked)?)?;
            for (range, found) in [(&layer.weight, weight), (&layer.bias, bias)] {
                let sums = gradient[range.clone()].iter_mut();
                sums.zip(found).for_each(|(sum, found)| *sum += found);
            }
        }
        fill(values, found.inner())
    }

    /// All at once: a device wants many, and burn has threads of its own.
    fn block_size(&self, states: usize) -> usize {
        states
    }
}
