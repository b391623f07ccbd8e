//! The nets of an autoencoder: which layers there are, in what order, and what goes into which.

use super::VaeSizes;
use super::convolution::Convolution;
use std::ops::Range;

/// A layer of weights: its size, and where its weights [output, input] and biases are among the parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layer {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) weight: Range<usize>,
    pub(super) bias: Range<usize>,
}

impl Layer {
    /// Its weights, then its biases.
    pub(super) fn parameters(&self) -> Range<usize> {
        self.weight.start..self.bias.end
    }
}

/// What a node of a net does with what comes into it. Nothing goes into two nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// What goes into the net; whether the gradient there is asked for.
    Input { is_asked: bool },
    /// A fully connected layer, by its number.
    Dense { layer: usize, from: usize },
    /// A layer for every place of a map, by its number.
    Convolve { layer: usize, from: usize, shape: Convolution },
    /// Units of numbers and gates, which come in groups of so many numbers and then their gates.
    Gate { from: usize, group: usize },
    /// Two rows become one.
    Join { from: [usize; 2] },
}

/// A node, and numbers per row that come out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) op: Op,
    pub(super) width: usize,
}

/// A net: its inputs come first, what comes out of it last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) nodes: Vec<Node>,
}

/// All layers with their names, in the order of their parameters, and the nets they make up.
#[derive(Clone, Debug, Default)]
pub(super) struct Plans {
    pub(super) layers: Vec<(String, Layer)>,
    pub(super) nets: Vec<Plan>,
}

impl Plans {
    /// The nets of an autoencoder: with one level of latent numbers encoder and decoder; with two, the encoders of the upper
    /// and the lower, the prior of the lower given the upper, and the decoder.
    pub(super) fn new(sizes: &VaeSizes) -> Self {
        let mut plans = Self::default();
        match (sizes.levels(), sizes.channels()) {
            (1, _) => plans.one_level(sizes),
            (_, None) => plans.two_levels(sizes),
            (_, Some(channels)) => plans.convolutional(sizes, channels),
        }
        plans
    }

    fn one_level(&mut self, sizes: &VaeSizes) {
        let (hidden, latent) = (sizes.hidden(), sizes.latent());
        self.perceptron("encoder", (sizes.pixels(), false), hidden, 2 * latent);
        self.perceptron("decoder", (latent, true), hidden, sizes.decoded());
    }

    /// After Tomczak and Welling (2018).
    fn two_levels(&mut self, sizes: &VaeSizes) {
        let (pixels, hidden, latent) = (sizes.pixels(), sizes.hidden(), sizes.latent());
        self.perceptron("upper.encoder", (pixels, false), hidden, 2 * latent);
        let mut net = self.net("lower.encoder");
        let (image, upper) = (net.input(pixels, false), net.input(latent, true));
        let image = net.gated("of_image", image, hidden);
        net.together(image, upper, hidden, 2 * latent);
        self.perceptron("lower.prior", (latent, true), hidden, 2 * latent);
        let mut net = self.net("decoder");
        let (lower, upper) = (net.input(latent, true), net.input(latent, true));
        let lower = net.gated("of_lower", lower, hidden);
        net.together(lower, upper, hidden, sizes.decoded());
    }

    /// The same authors' form for images, with so many channels where they have 32.
    fn convolutional(&mut self, sizes: &VaeSizes, channels: usize) {
        let (hidden, latent) = (sizes.hidden(), sizes.latent());
        let map = (sizes.rows(), sizes.columns());
        let mut net = self.net("upper.encoder");
        let image = net.input(sizes.pixels(), false);
        let image = net.narrowing(image, map, channels, [7, 3, 5, 3]);
        net.dense("last", image, 2 * latent);
        net.finish();
        let mut net = self.net("lower.encoder");
        let (image, upper) = (net.input(sizes.pixels(), false), net.input(latent, true));
        let image = net.narrowing(image, map, channels, [3; 4]);
        net.together(image, upper, hidden, 2 * latent);
        self.perceptron("lower.prior", (latent, true), hidden, 2 * latent);
        let mut net = self.net("decoder");
        let (lower, upper) = (net.input(latent, true), net.input(latent, true));
        let lower = net.gated("of_lower", lower, hidden);
        let upper = net.gated("of_upper", upper, hidden);
        let both = net.join(lower, upper);
        let mut image = net.gated("both", both, sizes.pixels());
        let mut shape = Convolution::new(map, 1, 2 * channels, 3, 1);
        for name in ["first", "second", "third", "fourth"] {
            image = net.convolved(name, image, shape);
            shape = shape.then(2 * channels, 3, 1);
        }
        net.convolve("last", image, shape.with_outputs(sizes.decoded() / sizes.pixels(), 1));
        net.finish();
    }

    /// Two gated layers and a linear one.
    fn perceptron(
        &mut self,
        name: &'static str,
        (inputs, is_asked): (usize, bool),
        hidden: usize,
        outputs: usize,
    ) {
        let mut net = self.net(name);
        let input = net.input(inputs, is_asked);
        let first = net.gated("first", input, hidden);
        let second = net.gated("second", first, hidden);
        net.dense("last", second, outputs);
        net.finish();
    }

    fn net(&mut self, name: &'static str) -> Building<'_> {
        Building { plans: self, name, plan: Plan::default() }
    }

    /// Number of parameters.
    pub(super) fn parameters(&self) -> usize {
        self.layers.last().map_or(0, |(_, layer)| layer.bias.end)
    }
}

/// A net that is being put together.
struct Building<'p> {
    plans: &'p mut Plans,
    name: &'static str,
    plan: Plan,
}

impl Building<'_> {
    fn node(&mut self, op: Op, width: usize) -> usize {
        self.plan.nodes.push(Node { op, width });
        self.plan.nodes.len() - 1
    }

    fn width(&self, node: usize) -> usize {
        self.plan.nodes[node].width
    }

    fn input(&mut self, width: usize, is_asked: bool) -> usize {
        self.node(Op::Input { is_asked }, width)
    }

    /// A layer's number.
    fn layer(&mut self, name: &str, inputs: usize, outputs: usize) -> usize {
        let used = self.plans.parameters();
        let weight = used..used + inputs * outputs;
        let bias = weight.end..weight.end + outputs;
        let layer = Layer { inputs, outputs, weight, bias };
        self.plans.layers.push((format!("{}.{name}", self.name), layer));
        self.plans.layers.len() - 1
    }

    fn dense(&mut self, name: &str, from: usize, outputs: usize) -> usize {
        let layer = self.layer(name, self.width(from), outputs);
        self.node(Op::Dense { layer, from }, outputs)
    }

    fn gated(&mut self, name: &str, from: usize, units: usize) -> usize {
        let from = self.dense(name, from, 2 * units);
        self.node(Op::Gate { from, group: units }, units)
    }

    fn convolve(&mut self, name: &str, from: usize, shape: Convolution) -> usize {
        let layer = self.layer(name, shape.inputs(), shape.outputs());
        self.node(Op::Convolve { layer, from, shape }, shape.places() * shape.outputs())
    }

    /// A convolution to pairs, and their units.
    fn convolved(&mut self, name: &str, from: usize, shape: Convolution) -> usize {
        let pairs = shape.with_outputs(2 * shape.outputs(), shape.kernel());
        let from = self.convolve(name, from, pairs);
        self.node(Op::Gate { from, group: shape.outputs() }, shape.places() * shape.outputs())
    }

    /// Five convolutions, of which the second and the fourth halve the map; six channels are left.
    fn narrowing(
        &mut self,
        from: usize,
        map: (usize, usize),
        channels: usize,
        kernels: [usize; 4],
    ) -> usize {
        let [first, second, third, fourth] = kernels;
        let mut shape = Convolution::new(map, 1, channels, first, 1);
        let mut image = self.convolved("first", from, shape);
        for (name, channels, kernel, stride) in [
            ("second", channels, second, 2),
            ("third", 2 * channels, third, 1),
            ("fourth", 2 * channels, fourth, 2),
            ("fifth", 6, 3, 1),
        ] {
            shape = shape.then(channels, kernel, stride);
            image = self.convolved(name, image, shape);
        }
        image
    }

    fn join(&mut self, one: usize, other: usize) -> usize {
        let width = self.width(one) + self.width(other);
        self.node(Op::Join { from: [one, other] }, width)
    }

    /// What was made of an image or of lower numbers, and the upper numbers through a layer of their own, through one
    /// more; then what comes out of the net.
    fn together(mut self, one: usize, upper: usize, hidden: usize, outputs: usize) {
        let upper = self.gated("of_upper", upper, hidden);
        let both = self.join(one, upper);
        let both = self.gated("both", both, hidden);
        self.dense("last", both, outputs);
        self.finish();
    }

    fn finish(self) {
        let Self { plans, plan, .. } = self;
        plans.nets.push(plan);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_form() -> Vec<VaeSizes> {
        let sizes = VaeSizes::new(5, 7, 6, 3).unwrap();
        let two = sizes.with_levels(2, None).unwrap();
        let convolutional = sizes.with_levels(2, Some(2)).unwrap();
        vec![sizes, two, convolutional, two.with_values(4).unwrap()]
    }

    #[test]
    fn layers_follow_each_other_without_gaps() {
        for sizes in every_form() {
            let plans = Plans::new(&sizes);
            let mut end = 0;
            for (name, layer) in &plans.layers {
                assert_eq!(
                    (layer.weight.start, layer.weight.end),
                    (end, layer.bias.start),
                    "{name}"
                );
                assert_eq!(layer.weight.len(), layer.outputs * layer.inputs, "{name}");
                assert_eq!(layer.bias.len(), layer.outputs, "{name}");
                end = layer.bias.end;
            }
            assert_eq!((end, plans.parameters()), (sizes.parameters(), sizes.parameters()));
        }
    }

    #[test]
    fn whatever_goes_out_goes_into_one_node_and_the_last_is_what_comes_out() {
        for sizes in every_form() {
            let (latent, plans) = (sizes.latent(), Plans::new(&sizes));
            for plan in &plans.nets {
                let mut taken = vec![0; plan.nodes.len()];
                for (number, node) in plan.nodes.iter().enumerate() {
                    let from = match &node.op {
                        Op::Input { .. } => vec![],
                        Op::Dense { from, .. } | Op::Convolve { from, .. } => vec![*from],
                        Op::Gate { from, .. } => vec![*from],
                        Op::Join { from } => from.to_vec(),
                    };
                    assert!(from.iter().all(|from| *from < number));
                    from.iter().for_each(|from| taken[*from] += 1);
                }
                let (last, others) = taken.split_last().unwrap();
                assert!(*last == 0 && others.iter().all(|times| *times == 1), "{taken:?}");
            }
            let widths: Vec<usize> =
                plans.nets.iter().map(|plan| plan.nodes.last().unwrap().width).collect();
            let (decoder, encoders) = widths.split_last().unwrap();
            assert_eq!(*decoder, sizes.decoded());
            assert!(encoders.iter().all(|width| *width == 2 * latent), "{widths:?}");
        }
    }
}
