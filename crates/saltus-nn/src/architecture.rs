//! The family of networks: a first convolution, two residual blocks that halve the image, more that
//! do not, a mean over pixels and one number.

use crate::layout::{Block, Layer, Layout};
use saltus::{ModelError, Space};
use serde::{Deserialize, Serialize};

/// Residual blocks that halve the image.
const HALVINGS: usize = 2;
/// Side of the windows of most convolutions.
const SIDE: usize = 3;

/// A network of the family that Grathwohl et al. (2021) and the paper train: a function of an image of
/// pixels with two values, or with more, each of which is then replaced by a few trained numbers.
///
/// ```
/// use saltus_nn::Architecture;
/// let paper = Architecture::new(28, 28, 2, 64)?;
/// assert_eq!(paper.parameters(), 599_873);
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Sizes", try_from = "Sizes")]
pub struct Architecture {
    rows: usize,
    columns: usize,
    values: usize,
    width: usize,
    blocks: usize,
    projection: usize,
}

impl Architecture {
    /// Residual blocks after those that halve the image, unless others are asked for.
    pub const BLOCKS: usize = 6;
    /// Numbers that a value is replaced by where there are more than two, unless others are asked
    /// for.
    pub const PROJECTION: usize = 4;

    /// The network for images of that size with so many values per pixel and channels in every
    /// layer.
    pub fn new(
        rows: usize,
        columns: usize,
        values: usize,
        width: usize,
    ) -> Result<Self, ModelError> {
        let sites = rows.checked_mul(columns).ok_or_else(|| {
            ModelError::Invalid(format!("{rows}×{columns} pixels are more than can be counted"))
        })?;
        Space::new(sites, values)?;
        if width == 0 {
            return Err(ModelError::Invalid("a network needs at least one channel, got 0".into()));
        }
        let new = Self {
            rows,
            columns,
            values,
            width,
            blocks: Self::BLOCKS,
            projection: Self::PROJECTION,
        };
        new.check()
    }

    /// The same with so many residual blocks after the two that halve the image.
    pub fn with_blocks(self, blocks: usize) -> Result<Self, ModelError> {
        Self { blocks, ..self }.check()
    }

    /// The same with so many numbers in the place of a value; for more than two values.
    pub fn with_projection(self, projection: usize) -> Result<Self, ModelError> {
        if projection == 0 {
            return Err(ModelError::Invalid(
                "a value must be projected to at least one number, got 0".into(),
            ));
        }
        Self { projection, ..self }.check()
    }

    /// Fails if the numbers of such a network could not be counted.
    fn check(self) -> Result<Self, ModelError> {
        const MOST: u128 = u32::MAX as u128;
        let [width, blocks, pixels, values, projection] =
            [self.width, self.blocks, self.rows * self.columns, self.values, self.projection]
                .map(|number| number as u128);
        let squares = width.saturating_mul(18 * width).saturating_mul(blocks + HALVINGS as u128);
        let projected = (values + 9 * width).saturating_mul(projection);
        if squares > MOST || projected > MOST || width * pixels > MOST {
            return Err(ModelError::Invalid(format!(
                "{} channels in {} blocks for {}×{} pixels are more than saltus can index",
                self.width, self.blocks, self.rows, self.columns
            )));
        }
        // Two values are not projected.
        let projection = if self.values == 2 { Self::PROJECTION } else { self.projection };
        Ok(Self { projection, ..self })
    }

    /// The space of its states: a site per pixel.
    pub fn space(&self) -> Space {
        Space::new(self.rows * self.columns, self.values).expect("checked when it was made")
    }

    /// Rows of an image.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns of an image.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Values of a pixel.
    pub fn values(&self) -> usize {
        self.values
    }

    /// Channels of every layer.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Residual blocks after those that halve the image.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Numbers that the network sees of a pixel.
    pub fn channels(&self) -> usize {
        if self.values == 2 { 1 } else { self.projection }
    }

    /// Number of its parameters.
    pub fn parameters(&self) -> usize {
        self.layout().parameters()
    }

    /// Where each of its parameters is.
    pub fn layout(&self) -> Layout {
        let mut used = 0;
        let mut layer = |inputs: usize, outputs: usize, side: usize, stride: usize| {
            let weight = used..used + outputs * inputs * side * side;
            let bias = weight.end..weight.end + outputs;
            used = bias.end;
            Layer { inputs, outputs, side, stride, weight, bias }
        };
        let width = self.width;
        Layout {
            projection: (self.values > 2).then(|| layer(self.values, self.projection, 1, 1)),
            first: layer(self.channels(), width, SIDE, 1),
            blocks: (0..HALVINGS + self.blocks)
                .map(|number| {
                    let stride = if number < HALVINGS { 2 } else { 1 };
                    Block {
                        first: layer(width, width, SIDE, stride),
                        second: layer(width, width, SIDE, 1),
                        skip: (stride > 1).then(|| layer(width, width, 1, stride)),
                    }
                })
                .collect(),
            last: layer(width, 1, 1, 1),
        }
    }
}

/// The numbers of an architecture in a file, where they may be any.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sizes {
    rows: usize,
    columns: usize,
    values: usize,
    width: usize,
    blocks: usize,
    projection: usize,
}

impl From<Architecture> for Sizes {
    fn from(architecture: Architecture) -> Self {
        let Architecture { rows, columns, values, width, blocks, projection } = architecture;
        Self { rows, columns, values, width, blocks, projection }
    }
}

impl TryFrom<Sizes> for Architecture {
    type Error = ModelError;

    fn try_from(sizes: Sizes) -> Result<Self, ModelError> {
        let Sizes { rows, columns, values, width, blocks, projection } = sizes;
        Self::new(rows, columns, values, width)?.with_blocks(blocks)?.with_projection(projection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_network_has_the_papers_parameters() {
        let paper = Architecture::new(28, 28, 2, 64).unwrap();
        assert_eq!(paper.parameters(), 640 + 2 * 78_016 + 6 * 73_856 + 65);
        // 256 levels: 256·4 + 4 for the projection, and 4 in place of 1 input of the first layer.
        let gray = Architecture::new(28, 20, 256, 64).unwrap();
        assert_eq!(gray.parameters(), paper.parameters() + 1028 + 3 * 9 * 64);
    }

    #[test]
    fn what_is_no_network_is_refused() {
        let refused = |found: Result<Architecture, ModelError>| found.unwrap_err().to_string();
        assert!(refused(Architecture::new(0, 4, 2, 4)).contains("at least one site"));
        assert!(refused(Architecture::new(4, 4, 1, 4)).contains("between 2 and 256 values, got 1"));
        assert!(refused(Architecture::new(4, 4, 2, 0)).contains("at least one channel"));
        assert!(
            refused(Architecture::new(4, 4, 2, 1 << 20)).contains("more than saltus can index")
        );
        assert!(
            refused(Architecture::new(usize::MAX, 2, 2, 1)).contains("more than can be counted")
        );
        let good = Architecture::new(4, 4, 3, 4).unwrap();
        assert!(refused(good.with_projection(0)).contains("at least one number, got 0"));
    }
}
