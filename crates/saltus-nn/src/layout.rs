//! The layers of a network, and where each of its parameters is in one list of numbers.

use std::ops::Range;

/// A convolution: its size, and where its weights [output, input, row, column] and biases are among
/// the parameters of its network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Channels it reads.
    pub inputs: usize,
    /// Channels it writes.
    pub outputs: usize,
    /// Rows and columns of its window, 1 or 3.
    pub side: usize,
    /// Pixels between two windows.
    pub stride: usize,
    /// Its weights.
    pub weight: Range<usize>,
    /// Its biases.
    pub bias: Range<usize>,
}

impl Layer {
    /// Numbers that go into one of its outputs.
    pub fn fan_in(&self) -> usize {
        self.inputs * self.side * self.side
    }

    /// Pixels along a side of its output that has so many in its input.
    pub fn output_side(&self, input: usize) -> usize {
        input.div_ceil(self.stride)
    }
}

/// A residual block: convolution, swish, convolution, plus the block's input, swish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The first convolution.
    pub first: Layer,
    /// The second.
    pub second: Layer,
    /// What the block's input goes through where the sizes differ.
    pub skip: Option<Layer>,
}

/// All layers of a network in the order of their parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// What a value is replaced by, if there are more than two.
    pub projection: Option<Layer>,
    /// From what is seen of the pixels to the channels.
    pub first: Layer,
    /// The residual blocks.
    pub blocks: Vec<Block>,
    /// From the means of the channels to one number.
    pub last: Layer,
}

impl Layout {
    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        self.last.bias.end
    }

    /// Every layer with its name, in order.
    pub fn layers(&self) -> Vec<(String, &Layer)> {
        let mut all = Vec::new();
        all.extend(self.projection.iter().map(|layer| ("projection".to_owned(), layer)));
        all.push(("first".to_owned(), &self.first));
        for (number, block) in self.blocks.iter().enumerate() {
            all.push((format!("block{number}.first"), &block.first));
            all.push((format!("block{number}.second"), &block.second));
            all.extend(block.skip.iter().map(|layer| (format!("block{number}.skip"), layer)));
        }
        all.push(("last".to_owned(), &self.last));
        all
    }
}

#[cfg(test)]
mod tests {
    use crate::architecture::Architecture;

    #[test]
    fn layers_follow_each_other_without_gaps() {
        let architecture = Architecture::new(5, 4, 3, 6).unwrap().with_blocks(1).unwrap();
        let layout = architecture.layout();
        let mut end = 0;
        for (name, layer) in layout.layers() {
            assert_eq!((layer.weight.start, layer.weight.end), (end, layer.bias.start), "{name}");
            assert_eq!(layer.weight.len(), layer.outputs * layer.fan_in(), "{name}");
            end = layer.bias.end;
        }
        assert_eq!(end, layout.parameters());
    }
}
