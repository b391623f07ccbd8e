//! A net with its weights: what rows become in it, and the way back.

use super::dense::{Dense, Rows};
use super::gate;
use super::plan::{Layer, Op, Plan};

/// An encoder, a prior or a decoder.
#[derive(Clone, Debug)]
pub(super) struct Net {
    plan: Plan,
    /// The layers of its nodes, where they have one.
    layers: Vec<Option<Dense>>,
}

/// What a block of rows became at every node, and on the way back the gradients there.
#[derive(Clone, Debug, Default)]
pub(super) struct Activations {
    values: Vec<Vec<f32>>,
    gradients: Vec<Vec<f32>>,
}

/// A node with a layer of weights.
pub(super) struct Weighted<'n> {
    /// Its layer's number.
    pub(super) layer: usize,
    /// The node itself.
    pub(super) op: &'n Op,
    /// What goes into it, and after the way back the gradient at what came out.
    pub(super) rows: Rows<'n>,
}

impl Net {
    /// Without weights yet.
    pub(super) fn new(plan: Plan, layers: &[(String, Layer)]) -> Self {
        let dense = |op: &Op| match op {
            Op::Dense { layer, .. } | Op::Convolve { layer, .. } => {
                Some(Dense::new(layers[*layer].1.clone()))
            }
            _ => None,
        };
        Self { layers: plan.nodes.iter().map(|node| dense(&node.op)).collect(), plan }
    }

    pub(super) fn layers_mut(&mut self) -> impl Iterator<Item = &mut Dense> {
        self.layers.iter_mut().flatten()
    }

    /// Memory for so many rows.
    pub(super) fn new_activations(&self, rows: usize) -> Activations {
        let mut activations = Activations::default();
        self.resize(&mut activations, rows);
        activations
    }

    /// Keeps room for so many rows, whose content is left to the next call.
    pub(super) fn resize(&self, activations: &mut Activations, rows: usize) {
        let Activations { values, gradients } = activations;
        for numbers in [values, gradients] {
            numbers.resize_with(self.plan.nodes.len(), Vec::new);
            for (numbers, node) in numbers.iter_mut().zip(&self.plan.nodes) {
                numbers.resize(rows * node.width, 0.0);
            }
        }
    }

    /// Takes rows from what goes in to what comes out.
    pub(super) fn forward(&self, activations: &mut Activations) {
        for (number, node) in self.plan.nodes.iter().enumerate() {
            let (before, here) = activations.values.split_at_mut(number);
            let here = &mut here[0];
            match (&node.op, &self.layers[number]) {
                (Op::Dense { from, .. }, Some(dense)) => dense.forward(&before[*from], here),
                (Op::Convolve { from, shape, .. }, Some(dense)) => {
                    shape.forward(dense, &before[*from], here);
                }
                (Op::Gate { from, group }, _) => gate::forward(&mut before[*from], here, *group),
                (Op::Join { from: [one, other] }, _) => {
                    let (left, right) =
                        (self.plan.nodes[*one].width, self.plan.nodes[*other].width);
                    let rows =
                        before[*one].chunks_exact(left).zip(before[*other].chunks_exact(right));
                    for (here, (one, other)) in here.chunks_exact_mut(node.width).zip(rows) {
                        here[..left].copy_from_slice(one);
                        here[left..].copy_from_slice(other);
                    }
                }
                _ => {}
            }
        }
    }

    /// Takes the gradient at what came out, which stands in its place, back to the layers, and to the inputs where it is
    /// asked for. Numbers and gates are lost on the way.
    pub(super) fn back(&self, activations: &mut Activations) {
        let Activations { values, gradients } = activations;
        if let (Some(output), Some(gradient)) = (values.last_mut(), gradients.last_mut()) {
            std::mem::swap(output, gradient);
        }
        for (number, node) in self.plan.nodes.iter().enumerate().rev() {
            let (before, here) = gradients.split_at_mut(number);
            let here = &here[0];
            let is_asked = |from: usize| self.plan.nodes[from].op != Op::Input { is_asked: false };
            match (&node.op, &self.layers[number]) {
                (Op::Dense { from, .. }, Some(dense)) if is_asked(*from) => {
                    dense.back(here, &mut before[*from]);
                }
                (Op::Convolve { from, shape, .. }, Some(dense)) if is_asked(*from) => {
                    shape.back(dense, here, &mut before[*from]);
                }
                (Op::Gate { from, group }, _) => {
                    gate::back(here, &mut values[*from], *group);
                    std::mem::swap(&mut values[*from], &mut before[*from]);
                }
                (Op::Join { from: [one, other] }, _) => {
                    let left = self.plan.nodes[*one].width;
                    let right = node.width - left;
                    for (row, here) in here.chunks_exact(node.width).enumerate() {
                        before[*one][row * left..][..left].copy_from_slice(&here[..left]);
                        before[*other][row * right..][..right].copy_from_slice(&here[left..]);
                    }
                }
                _ => {}
            }
        }
    }

    /// After the way back: its layers.
    pub(super) fn weighted<'n>(
        &'n self,
        activations: &'n Activations,
    ) -> impl Iterator<Item = Weighted<'n>> {
        let Activations { values, gradients } = activations;
        self.plan.nodes.iter().enumerate().filter_map(move |(number, node)| match &node.op {
            Op::Dense { layer, from } | Op::Convolve { layer, from, .. } => Some(Weighted {
                layer: *layer,
                op: &node.op,
                rows: (&values[*from][..], &gradients[number][..]),
            }),
            _ => None,
        })
    }
}

impl Activations {
    /// What goes in, by the number of the input.
    pub(super) fn input(&self, number: usize) -> &[f32] {
        &self.values[number]
    }

    /// The same, to be filled.
    pub(super) fn input_mut(&mut self, number: usize) -> &mut [f32] {
        &mut self.values[number]
    }

    /// What comes out.
    pub(super) fn output(&self) -> &[f32] {
        self.values.last().map_or(&[], Vec::as_slice)
    }

    /// What came out, before the way back to be replaced by the gradient there.
    pub(super) fn output_mut(&mut self) -> &mut [f32] {
        self.values.last_mut().map_or(&mut [], Vec::as_mut_slice)
    }

    /// After the way back: the gradient at an input.
    pub(super) fn gradient(&self, input: usize) -> &[f32] {
        &self.gradients[input]
    }
}
