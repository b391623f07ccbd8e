//! The sizes of a variational autoencoder, and where each of its parameters is.

use saltus::{ModelError, Space};
use std::ops::Range;

/// Images of rows × columns pixels; two hidden layers of so many gated units in the encoder and as many
/// in the decoder; so many latent numbers between them.
///
/// ```
/// use saltus_lab::vae::VaeSizes;
/// let usual = VaeSizes::new(28, 28, VaeSizes::HIDDEN, VaeSizes::LATENT)?;
/// assert_eq!(usual.parameters(), 1_116_864);
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VaeSizes {
    rows: usize,
    columns: usize,
    hidden: usize,
    latent: usize,
}

/// A fully connected layer: its size, and where its weights [output, input] and biases are among the
/// parameters.
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

impl VaeSizes {
    /// Hidden units of a layer, unless others are asked for.
    pub const HIDDEN: usize = 300;
    /// Latent numbers, unless others are asked for.
    pub const LATENT: usize = 40;

    /// Fails if there is nothing of something, or more than can be counted.
    pub fn new(
        rows: usize,
        columns: usize,
        hidden: usize,
        latent: usize,
    ) -> Result<Self, ModelError> {
        let pixels = rows.checked_mul(columns).ok_or_else(|| {
            ModelError::Invalid(format!("{rows}×{columns} pixels are more than can be counted"))
        })?;
        Space::new(pixels, 2)?;
        for (what, number) in [("hidden unit", hidden), ("latent number", latent)] {
            if number == 0 {
                return Err(ModelError::Invalid(format!(
                    "an autoencoder needs at least one {what}, got 0"
                )));
            }
        }
        let most = u32::MAX as usize;
        let widest = hidden.saturating_mul(2).max(latent.saturating_mul(2)).max(pixels);
        // Six layers with biases, none with more than this.
        if widest.saturating_add(1).saturating_mul(widest).saturating_mul(6) > most {
            return Err(ModelError::Invalid(format!(
                "{hidden} hidden units and {latent} latent numbers for {rows}×{columns} pixels are \
                 more than saltus can index"
            )));
        }
        Ok(Self { rows, columns, hidden, latent })
    }

    /// Rows of an image.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns of an image.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Pixels of an image.
    pub fn pixels(&self) -> usize {
        self.rows * self.columns
    }

    /// Hidden units of each of the four layers.
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// Latent numbers.
    pub fn latent(&self) -> usize {
        self.latent
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        self.layers()[5].1.bias.end
    }

    /// Every layer with its name, in the order of their parameters. A gated layer has two outputs per
    /// unit: all numbers, then all gates. The encoder ends in all means, then all logarithms of
    /// variances.
    pub(super) fn layers(&self) -> [(&'static str, Layer); 6] {
        let (pixels, pairs) = (self.pixels(), 2 * self.hidden);
        let mut used = 0;
        [
            ("encoder.first", pixels, pairs),
            ("encoder.second", self.hidden, pairs),
            ("encoder.last", self.hidden, 2 * self.latent),
            ("decoder.first", self.latent, pairs),
            ("decoder.second", self.hidden, pairs),
            ("decoder.last", self.hidden, pixels),
        ]
        .map(|(name, inputs, outputs)| {
            let weight = used..used + inputs * outputs;
            let bias = weight.end..weight.end + outputs;
            used = bias.end;
            (name, Layer { inputs, outputs, weight, bias })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_follow_each_other_without_gaps() {
        let sizes = VaeSizes::new(2, 3, 5, 4).unwrap();
        let mut end = 0;
        for (name, layer) in sizes.layers() {
            assert_eq!((layer.weight.start, layer.weight.end), (end, layer.bias.start), "{name}");
            assert_eq!(layer.weight.len(), layer.outputs * layer.inputs, "{name}");
            assert_eq!(layer.bias.len(), layer.outputs, "{name}");
            end = layer.bias.end;
        }
        // 10·6 + 10, 10·5 + 10, 8·5 + 8, 10·4 + 10, 10·5 + 10, 6·5 + 6.
        assert_eq!((end, sizes.parameters()), (324, 324));
    }

    #[test]
    fn what_is_no_autoencoder_is_refused() {
        let refused = |rows, columns, hidden, latent| {
            VaeSizes::new(rows, columns, hidden, latent).unwrap_err().to_string()
        };
        assert!(refused(0, 4, 3, 2).contains("at least one site"));
        assert!(refused(2, 4, 0, 2).contains("at least one hidden unit, got 0"));
        assert!(refused(2, 4, 3, 0).contains("at least one latent number, got 0"));
        assert!(refused(usize::MAX, 2, 3, 2).contains("more than can be counted"));
        assert!(refused(28, 28, 1 << 40, 2).contains("more than saltus can index"));
        assert!(refused(28, 28, usize::MAX, 2).contains("more than saltus can index"));
    }
}
