//! The whole network, one image at a time, there and back.

use super::entrance::Entrance;
use super::layer::{Convolution, Gradient, WayBack};
use super::plane::Plane;
use super::swish::{multiply, swish};
use crate::architecture::{Architecture, Layer};

/// A network ready to be evaluated.
#[derive(Clone, Debug)]
pub(super) struct Network {
    entrance: Entrance,
    blocks: Vec<Block>,
    exit: Exit,
}

#[derive(Clone, Debug)]
struct Block {
    first: TwoWay,
    second: TwoWay,
    skip: Option<TwoWay>,
}

/// A convolution and the way back through it.
#[derive(Clone, Debug)]
struct TwoWay {
    there: Convolution,
    back: WayBack,
}

/// From the last channels to one number.
#[derive(Clone, Debug)]
struct Exit {
    layer: Layer,
    plane: Plane,
    weights: Vec<f32>,
    bias: f32,
}

/// Memory for one image.
#[derive(Clone, Debug)]
pub(super) struct Workspace {
    input: Vec<f32>,
    first: Vec<f32>,
    blocks: Vec<Activations>,
    /// One for every size of image, from the largest.
    gradients: Vec<Gradients>,
    /// Gradients at what is seen of the pixels, in planes.
    seen: Vec<f32>,
    /// Mean of every last channel.
    means: Vec<f32>,
    /// Sums for the gradient of the parameters, if they were ever asked for.
    sums: Vec<Gradient>,
}

/// What a block made of an image.
#[derive(Clone, Debug)]
struct Activations {
    inner: Vec<f32>,
    inner_slopes: Vec<f32>,
    outer: Vec<f32>,
    outer_slopes: Vec<f32>,
}

/// Gradients on their way back through images of one size.
#[derive(Clone, Debug)]
struct Gradients {
    inner: Vec<f32>,
    outer: Vec<f32>,
}

impl Gradients {
    fn new(plane: Plane) -> Self {
        Self { inner: plane.zeros(), outer: plane.zeros() }
    }
}

impl Network {
    pub(super) fn new(architecture: &Architecture) -> Self {
        let layout = architecture.layout();
        let entrance = Entrance::new(architecture);
        let mut plane = entrance.first.output;
        let blocks = layout
            .blocks
            .iter()
            .map(|block| {
                let first = TwoWay::new(&block.first, plane);
                let skip = block.skip.as_ref().map(|layer| TwoWay::new(layer, plane));
                plane = first.there.output;
                Block { first, second: TwoWay::new(&block.second, plane), skip }
            })
            .collect();
        let weights = vec![0.0; plane.channels];
        let exit = Exit { layer: layout.last, plane, weights, bias: 0.0 };
        Self { entrance, blocks, exit }
    }

    /// Takes over parameters.
    pub(super) fn set(&mut self, parameters: &[f32]) {
        self.entrance.set(parameters);
        for Block { first, second, skip } in &mut self.blocks {
            first.set(parameters);
            second.set(parameters);
            if let Some(skip) = skip {
                skip.set(parameters);
                second.there.add_bias(&skip.there);
            }
        }
        let Exit { layer, weights, bias, .. } = &mut self.exit;
        weights[..layer.inputs].copy_from_slice(&parameters[layer.weight.clone()]);
        *bias = parameters[layer.bias.start];
    }

    pub(super) fn new_workspace(&self) -> Workspace {
        let first = self.entrance.first.output;
        Workspace {
            input: self.entrance.input.zeros(),
            first: first.zeros(),
            blocks: self
                .blocks
                .iter()
                .map(|block| {
                    let zeros = || block.first.there.output.zeros();
                    Activations {
                        inner: zeros(),
                        inner_slopes: zeros(),
                        outer: zeros(),
                        outer_slopes: zeros(),
                    }
                })
                .collect(),
            gradients: std::iter::once(first)
                .chain(
                    self.blocks
                        .iter()
                        .filter_map(|block| block.skip.as_ref().map(|skip| skip.there.output)),
                )
                .map(Gradients::new)
                .collect(),
            seen: vec![0.0; self.entrance.input.pixels() * self.entrance.input.channels],
            means: vec![0.0; self.exit.plane.channels],
            sums: Vec::new(),
        }
    }

    /// The value at a state.
    pub(super) fn value(&self, state: &[u8], work: &mut Workspace) -> f64 {
        let Workspace { input, first, blocks, means, .. } = work;
        self.entrance.fill(state, input);
        self.entrance.first.apply(input, first);
        let mut before: &[f32] = first;
        for (block, activations) in self.blocks.iter().zip(blocks) {
            block.apply(before, activations);
            before = &activations.outer;
        }
        self.exit.value(before, means)
    }

    /// The gradient at the values of the state evaluated last.
    pub(super) fn gradient(&self, work: &mut Workspace, gradient: &mut [f32]) {
        self.back(1.0, work, None);
        self.entrance.back(&work.gradients[0].outer, &mut work.seen);
        self.entrance.at_values(&work.seen, gradient);
    }

    /// Adds `factor` times the gradient of the parameters at the state evaluated last: the rest to
    /// the sums, what is quickly done to `parameters`.
    pub(super) fn learn(
        &self,
        state: &[u8],
        factor: f32,
        work: &mut Workspace,
        parameters: &mut [f32],
    ) {
        if work.sums.is_empty() {
            work.sums = self.convolutions().map(Convolution::new_gradient).collect();
        }
        let mut sums = std::mem::take(&mut work.sums);
        let (first, others) = sums.split_at_mut(1);
        self.back(factor, work, Some(others));
        let gradient = &work.gradients[0].outer;
        self.entrance.back(gradient, &mut work.seen);
        self.entrance.learn(
            state,
            &work.input,
            (gradient, &work.seen),
            (&mut first[0], parameters),
        );
        work.sums = sums;
        let layer = &self.exit.layer;
        for (sum, mean) in parameters[layer.weight.clone()].iter_mut().zip(&work.means) {
            *sum += factor * mean;
        }
        parameters[layer.bias.start] += factor;
    }

    /// Adds the sums to the gradient of the parameters.
    pub(super) fn hand_over(&self, work: &mut Workspace, parameters: &mut [f32]) {
        for (convolution, sums) in self.convolutions().zip(&mut work.sums) {
            convolution.hand_over(sums, parameters);
        }
    }

    /// All convolutions, in the order of their sums.
    fn convolutions(&self) -> impl Iterator<Item = &Convolution> {
        let blocks = self.blocks.iter().flat_map(Block::convolutions);
        std::iter::once(&self.entrance.first).chain(blocks)
    }

    /// Takes the gradient back to the first channels.
    fn back(&self, factor: f32, work: &mut Workspace, mut sums: Option<&mut [Gradient]>) {
        let Workspace { first, blocks, gradients, .. } = work;
        let mut size = gradients.len() - 1;
        self.exit.back(factor, &mut gradients[size].outer);
        let mut end = sums.as_ref().map_or(0, |sums| sums.len());
        for (number, block) in self.blocks.iter().enumerate().rev() {
            let before = number.checked_sub(1).map_or(&*first, |before| &blocks[before].outer);
            let (larger, own) = gradients.split_at_mut(size);
            let own_sums = sums.as_deref_mut().map(|sums| {
                let start = end - block.convolutions().count();
                let own = &mut sums[start..end];
                end = start;
                own
            });
            block.back_inside(before, &blocks[number], &mut own[0], own_sums);
            block.back_to_input(&mut own[0], larger.last_mut());
            if block.skip.is_some() {
                size -= 1;
            }
        }
    }
}

impl TwoWay {
    fn new(layer: &Layer, input: Plane) -> Self {
        Self { there: Convolution::new(layer, input), back: WayBack::new(layer, input) }
    }

    fn set(&mut self, parameters: &[f32]) {
        self.there.set(parameters);
        self.back.set(parameters);
    }
}

impl Block {
    fn convolutions(&self) -> impl Iterator<Item = &Convolution> {
        [&self.first, &self.second].into_iter().chain(&self.skip).map(|layer| &layer.there)
    }

    fn apply(&self, before: &[f32], activations: &mut Activations) {
        let Activations { inner, inner_slopes, outer, outer_slopes, .. } = activations;
        let plane = self.first.there.output;
        self.first.there.apply(before, inner);
        swish(plane, None, inner, inner_slopes);
        self.second.there.apply(inner, outer);
        match &self.skip {
            // Its biases are among those of the second convolution.
            Some(skip) => {
                skip.there.add(before, outer);
                swish(plane, None, outer, outer_slopes);
            }
            None => swish(plane, Some(before), outer, outer_slopes),
        }
    }

    /// From the gradient at its output to those at its sums, and from there to its parameters.
    fn back_inside(
        &self,
        before: &[f32],
        activations: &Activations,
        Gradients { inner, outer }: &mut Gradients,
        sums: Option<&mut [Gradient]>,
    ) {
        let plane = self.first.there.output;
        multiply(plane, &activations.outer_slopes, outer);
        self.second.back.apply(outer, inner);
        multiply(plane, &activations.inner_slopes, inner);
        if let Some([first, second, rest @ ..]) = sums {
            self.first.there.learn(before, inner, first);
            self.second.there.learn(&activations.inner, outer, second);
            if let (Some(skip), [sums]) = (&self.skip, rest) {
                skip.there.learn(before, outer, sums);
            }
        }
    }

    /// From the gradients at its sums to that at its input, which takes the place of the one at its
    /// output if the sizes are the same.
    fn back_to_input(&self, own: &mut Gradients, larger: Option<&mut Gradients>) {
        match (&self.skip, larger) {
            (Some(skip), Some(larger)) => {
                self.first.back.apply(&own.inner, &mut larger.outer);
                skip.back.add(&own.outer, &mut larger.outer);
            }
            _ => self.first.back.add(&own.inner, &mut own.outer),
        }
    }
}

impl Exit {
    /// The value, and the means of the channels that it is made of.
    fn value(&self, last: &[f32], means: &mut [f32]) -> f64 {
        means.fill(0.0);
        for row in self.plane.row_ranges() {
            for pixel in last[row].chunks_exact(self.plane.channels) {
                means.iter_mut().zip(pixel).for_each(|(mean, number)| *mean += number);
            }
        }
        let share = 1.0 / self.plane.pixels() as f32;
        means.iter_mut().for_each(|mean| *mean *= share);
        let products = means.iter().zip(&self.weights);
        f64::from(self.bias)
            + products.map(|(mean, weight)| f64::from(*mean) * f64::from(*weight)).sum::<f64>()
    }

    /// The gradient at the last channels, the same at every pixel.
    fn back(&self, factor: f32, gradient: &mut [f32]) {
        let share = factor / self.plane.pixels() as f32;
        for row in self.plane.row_ranges() {
            for pixel in gradient[row].chunks_exact_mut(self.plane.channels) {
                for (number, weight) in pixel.iter_mut().zip(&self.weights) {
                    *number = share * weight;
                }
            }
        }
    }
}
