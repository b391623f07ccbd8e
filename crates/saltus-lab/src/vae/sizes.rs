//! The sizes and the form of a variational autoencoder.

use super::pixels::Pixels;
use super::plan::Plans;
use saltus::{ModelError, Space};

/// Images of rows × columns pixels of so many values; hidden layers of so many gated units in encoders and decoder; so many
/// latent numbers between them, on one level or two.
///
/// ```
/// use saltus_lab::vae::VaeSizes;
/// let usual = VaeSizes::new(28, 28, VaeSizes::HIDDEN, VaeSizes::LATENT)?;
/// assert_eq!(usual.parameters(), 1_116_864);
/// let two = usual.with_levels(2, None)?;
/// assert_eq!((two.levels(), two.parameters() > 2 * usual.parameters()), (2, true));
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VaeSizes {
    rows: usize,
    columns: usize,
    values: usize,
    hidden: usize,
    latent: usize,
    levels: usize,
    channels: Option<usize>,
}

/// More channels than anybody wants.
const MOST_CHANNELS: usize = 1024;

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
        // At most fourteen layers with biases, none with more than this.
        if widest.saturating_add(1).saturating_mul(widest).saturating_mul(14) > most {
            return Err(ModelError::Invalid(format!(
                "{hidden} hidden units and {latent} latent numbers for {rows}×{columns} pixels are \
                 more than saltus can index"
            )));
        }
        Ok(Self { rows, columns, values: 2, hidden, latent, levels: 1, channels: None })
    }

    /// With one level of latent numbers or two; of two, with convolutions of so many channels (and twice as many) if there are any.
    pub fn with_levels(self, levels: usize, channels: Option<usize>) -> Result<Self, ModelError> {
        let wrong = |sentence: String| Err(ModelError::Invalid(sentence));
        match (levels, channels) {
            (1 | 2, None) | (2, Some(1..=MOST_CHANNELS)) => Ok(Self { levels, channels, ..self }),
            (1, Some(_)) => wrong("convolutions are for two levels of latent numbers".to_owned()),
            (2, Some(channels)) => wrong(format!(
                "convolutions have between 1 and {MOST_CHANNELS} channels, got {channels}"
            )),
            _ => wrong(format!("latent numbers have one level or two, got {levels}")),
        }
    }

    /// With pixels of so many values: bits, or levels of gray.
    pub fn with_values(self, values: usize) -> Result<Self, ModelError> {
        Space::new(self.pixels(), values)?;
        if values < 2 {
            return Err(ModelError::Invalid(format!("pixels need two values, got {values}")));
        }
        Ok(Self { values, ..self })
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

    /// Values of a pixel.
    pub fn values(&self) -> usize {
        self.values
    }

    /// Units of each hidden layer.
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// Latent numbers of a level.
    pub fn latent(&self) -> usize {
        self.latent
    }

    /// Levels of latent numbers.
    pub fn levels(&self) -> usize {
        self.levels
    }

    /// Channels of the first convolutions, if there are any.
    pub fn channels(&self) -> Option<usize> {
        self.channels
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        Plans::new(self).parameters()
    }

    /// Numbers that the decoder gives to an image.
    pub(super) fn decoded(&self) -> usize {
        if self.values == 2 { self.pixels() } else { 2 * self.pixels() }
    }

    /// What these mean.
    pub(super) fn decoded_pixels(&self) -> Pixels {
        if self.values == 2 { Pixels::Bits } else { Pixels::Grays(self.values) }
    }

    /// Noise that an image takes.
    pub(super) fn noise(&self) -> usize {
        self.levels * self.latent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_those_of_the_layers() {
        let sizes = VaeSizes::new(2, 3, 5, 4).unwrap();
        // 10·6 + 10, 10·5 + 10, 8·5 + 8, 10·4 + 10, 10·5 + 10, 6·5 + 6.
        assert_eq!(sizes.parameters(), 324);
        // Twelve numbers for six pixels: 6·5 + 6 more.
        assert_eq!(sizes.with_values(9).unwrap().parameters(), 360);
        // Upper encoder 70 + 60 + 48; lower encoder 70 of the image, 50 of the upper, 10·10 + 10 of both, 48; prior 50 + 60 + 48;
        // decoder 50 and 50, 110, 36.
        assert_eq!(sizes.with_levels(2, None).unwrap().parameters(), 860);
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
        let sizes = VaeSizes::new(4, 4, 3, 2).unwrap();
        let refused =
            |levels, channels| sizes.with_levels(levels, channels).unwrap_err().to_string();
        assert!(refused(3, None).contains("one level or two, got 3"));
        assert!(refused(1, Some(4)).contains("are for two levels"));
        assert!(refused(2, Some(0)).contains("between 1 and 1024 channels, got 0"));
        assert!(sizes.with_values(1).is_err() && sizes.with_values(0).is_err());
    }
}
