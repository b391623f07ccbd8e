//! The parts of a set of images: cut from one another, and their grays made into values.

use super::{Binarisation, DataError, Examples, Images, Split};
use saltus::rng::{ChainRng, Stream};
use saltus::{ModelError, Space};
use std::path::Path;

/// Seed of splits and of bits that are drawn once for all.
const SEED: u64 = 777;

/// The parts of a set before their grays become values.
pub(super) struct Parts {
    pub(super) training: Images,
    pub(super) validation: Option<Images>,
    pub(super) test: Option<Images>,
}

/// How grays become values.
pub(super) enum Values {
    /// They are bits already.
    Bits,
    /// They are bits already, the wrong way round.
    OppositeBits,
    /// Bits with the gray as probability: drawn anew to learn from, once to judge by.
    Drawn,
    /// So many levels.
    Levels(usize),
}

/// Takes some images from the end; none if that would be none.
pub(super) fn take_last(images: &mut Images, how_many: impl Fn(usize) -> usize) -> Option<Images> {
    let (size, count) = (images.rows * images.columns, images.count());
    let taken = how_many(count).min(count - 1);
    let pixels = images.pixels.split_off((count - taken) * size);
    (taken > 0).then_some(Images { pixels, ..*images })
}

pub(super) fn append(images: &mut Images, others: Images, folder: &Path) -> Result<(), DataError> {
    let sizes = [(images.rows, images.columns), (others.rows, others.columns)];
    if sizes[0] != sizes[1] {
        let [(rows, columns), (other_rows, other_columns)] = sizes;
        return Err(DataError::File {
            path: folder.display().to_string(),
            reason: format!(
                "has images of {rows}×{columns} and of {other_rows}×{other_columns} pixels"
            ),
        });
    }
    images.pixels.extend(others.pixels);
    Ok(())
}

/// Shuffles images and takes so many from the end, but at most an eighth to validate and a quarter to
/// test.
pub(super) fn split(mut images: Images, validation: usize, test: usize) -> Parts {
    let size = images.rows * images.columns;
    let mut rng = ChainRng::new(SEED, Stream::Data(0));
    for index in (1..images.count()).rev() {
        let other = rng.below(index + 1);
        let (low, high) = images.pixels.split_at_mut(index * size);
        if other < index {
            low[other * size..(other + 1) * size].swap_with_slice(&mut high[..size]);
        }
    }
    let all = images.count();
    let test = take_last(&mut images, |_| test.min(all / 4));
    let validation = take_last(&mut images, |_| validation.min(all / 8));
    Parts { training: images, validation, test }
}

/// Whether all pixels have one of two values, one of which is zero.
pub(super) fn is_bits(images: &Images) -> bool {
    let ink = images.pixels.iter().copied().max().unwrap_or(0);
    matches!(ink, 0 | 1 | 255) && images.pixels.iter().all(|pixel| *pixel == 0 || *pixel == ink)
}

impl Parts {
    pub(super) fn into_examples(self, values: &Values, folder: &Path) -> Result<Split, DataError> {
        let (rows, columns) = (self.training.rows, self.training.columns);
        for part in [&self.validation, &self.test].into_iter().flatten() {
            append(&mut Images { rows, columns, pixels: Vec::new() }, part.clone(), folder)?;
        }
        let mut rng = ChainRng::new(SEED, Stream::Data(1));
        let mut judge = |part: Option<Images>| {
            part.map(|images| {
                let examples = examples(images, values, folder)?;
                drawn_once(&examples, &mut rng)
            })
            .transpose()
        };
        let (validation, test) = (judge(self.validation)?, judge(self.test)?);
        Ok(Split {
            rows,
            columns,
            training: examples(self.training, values, folder)?,
            validation,
            test,
        })
    }
}

fn examples(images: Images, values: &Values, folder: &Path) -> Result<Examples, DataError> {
    let opposite = matches!(values, Values::OppositeBits);
    match values {
        Values::Bits | Values::OppositeBits => {
            if !is_bits(&images) {
                return Err(DataError::File {
                    path: folder.display().to_string(),
                    reason: "has images whose pixels are not all 0 and 1, or 0 and 255".to_owned(),
                });
            }
            let space = Space::new(images.rows * images.columns, 2)
                .map_err(|error: ModelError| DataError::Invalid(error.to_string()))?;
            let bits = images.pixels.iter().map(|pixel| u8::from((*pixel > 0) != opposite));
            Examples::new(space, bits.collect())
        }
        Values::Drawn => Examples::from_images(images, 2, Binarisation::Stochastic),
        Values::Levels(levels) => Examples::from_images(images, *levels, Binarisation::Threshold),
    }
}

/// The same examples as states that do not change from look to look.
fn drawn_once(examples: &Examples, rng: &mut ChainRng) -> Result<Examples, DataError> {
    let sites = examples.space().sites();
    let mut states = vec![0; examples.count() * sites];
    for (index, state) in states.chunks_exact_mut(sites).enumerate() {
        examples.fill(index, rng, state);
    }
    Examples::new(examples.space().clone(), states)
}
