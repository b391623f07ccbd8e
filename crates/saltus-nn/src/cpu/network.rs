//! The whole network, one image at a time, there and back.

use super::block::{Activations, Block, Gradients};
use super::entrance::Entrance;
use super::exit::Exit;
use super::layer::{Convolution, Gradient};
use super::tiles::Coordinates;
use crate::architecture::Architecture;

/// A network ready to be evaluated.
#[derive(Clone, Debug)]
pub(super) struct Network {
    entrance: Entrance,
    blocks: Vec<Block>,
    exit: Exit,
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
    coordinates: Coordinates,
}

impl Network {
    pub(super) fn new(architecture: &Architecture) -> Self {
        let layout = architecture.layout();
        let entrance = Entrance::new(architecture);
        let mut plane = entrance.first.output;
        let blocks = layout
            .blocks
            .iter()
            .map(|layers| {
                let block = Block::new(layers, plane);
                plane = block.output();
                block
            })
            .collect();
        Self { entrance, blocks, exit: Exit::new(&layout.last, plane) }
    }

    /// Takes over parameters.
    pub(super) fn set(&mut self, parameters: &[f32]) {
        self.entrance.set(parameters);
        self.blocks.iter_mut().for_each(|block| block.set(parameters));
        self.exit.set(parameters);
    }

    pub(super) fn new_workspace(&self) -> Workspace {
        let first = self.entrance.first.output;
        Workspace {
            input: self.entrance.input.zeros(),
            first: first.zeros(),
            blocks: self.blocks.iter().map(Block::new_activations).collect(),
            gradients: std::iter::once(first)
                .chain(self.blocks.iter().filter(|block| block.shrinks()).map(Block::output))
                .map(Gradients::new)
                .collect(),
            seen: vec![0.0; self.entrance.input.pixels() * self.entrance.input.channels],
            means: self.exit.new_means(),
            sums: Vec::new(),
            coordinates: Coordinates::default(),
        }
    }

    /// The value at a state.
    pub(super) fn value(&self, state: &[u8], work: &mut Workspace) -> f64 {
        let Workspace { input, first, blocks, means, coordinates, .. } = work;
        self.entrance.fill(state, input);
        self.entrance.first.apply(input, first, coordinates);
        let mut before: &[f32] = first;
        for (block, activations) in self.blocks.iter().zip(blocks) {
            block.apply(before, activations, coordinates);
            before = &activations.outer;
        }
        self.exit.value(before, means)
    }

    /// The gradient at the values of the state evaluated last.
    pub(super) fn gradient(&self, work: &mut Workspace, gradient: &mut [f32]) {
        self.back(work, None);
        self.entrance.back(&work.gradients[0].outer, &mut work.seen);
        self.entrance.at_values(&work.seen, gradient);
    }

    /// Adds the gradient of the parameters at the state evaluated last: what is quickly done to
    /// `parameters`, the rest to the sums.
    pub(super) fn learn(&self, state: &[u8], work: &mut Workspace, parameters: &mut [f32]) {
        if work.sums.is_empty() {
            work.sums = self.convolutions().map(Convolution::new_gradient).collect();
        }
        let mut sums = std::mem::take(&mut work.sums);
        let (first, others) = sums.split_at_mut(1);
        self.back(work, Some(others));
        let gradient = &work.gradients[0].outer;
        self.entrance.back(gradient, &mut work.seen);
        self.entrance.learn(
            state,
            &work.input,
            (gradient, &work.seen),
            (&mut first[0], parameters),
        );
        work.sums = sums;
        self.exit.learn(&work.means, parameters);
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
    fn back(&self, work: &mut Workspace, mut sums: Option<&mut [Gradient]>) {
        let Workspace { first, blocks, gradients, coordinates, .. } = work;
        let mut size = gradients.len() - 1;
        self.exit.back(&mut gradients[size].outer);
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
            block.back_inside(before, &blocks[number], &mut own[0], coordinates, own_sums);
            block.back_to_input(&mut own[0], larger.last_mut(), coordinates);
            if block.shrinks() {
                size -= 1;
            }
        }
    }
}
