//! Pictures of many small images side by side, as PNG files.

use crate::export::cannot_write;
use crate::failure::Failure;
use saltus::files::{Durability, Existing, put_bytes};
use std::path::Path;

/// Side of the square that a pixel is drawn as.
const ZOOM: usize = 2;
/// Pixels between images, before zooming.
const GAP: usize = 1;
/// Gray between images.
const BACKGROUND: u8 = 128;

/// The size of the images.
#[derive(Clone, Copy, Debug)]
pub struct Mosaic {
    pub rows: usize,
    pub columns: usize,
}

/// A gray picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Mosaic {
    /// States of that many values, the last one white.
    pub fn of_states(self, states: &[u8], values: usize) -> Picture {
        let gray = |value: &u8| (usize::from(*value) * 255 / (values - 1)) as u8;
        self.arrange(&states.iter().map(gray).collect::<Vec<_>>())
    }

    /// The weights of every hidden unit, gray where they are zero, each unit on its own scale.
    /// With more than two values, how steeply a weight grows with the value.
    pub fn of_filters(self, weight: &[f32], values: usize) -> Picture {
        let slopes: Vec<f32> = if values == 2 {
            weight.to_vec()
        } else {
            weight.chunks_exact(values).map(slope).collect()
        };
        let grays: Vec<u8> = slopes
            .chunks_exact(self.rows * self.columns)
            .flat_map(|unit| {
                let largest = unit.iter().fold(f32::MIN_POSITIVE, |most, w| most.max(w.abs()));
                unit.iter().map(move |weight| (127.5 + 127.5 * weight / largest).round() as u8)
            })
            .collect();
        self.arrange(&grays)
    }

    /// Images in rows of a square, or nearly so.
    fn arrange(self, images: &[u8]) -> Picture {
        let size = self.rows * self.columns;
        let count = images.len() / size;
        let across = (count as f64).sqrt().ceil() as usize;
        let down = count.div_ceil(across);
        let (step_down, step_across) = (self.rows + GAP, self.columns + GAP);
        let width = (across * step_across + GAP) * ZOOM;
        let height = (down * step_down + GAP) * ZOOM;
        let mut pixels = vec![BACKGROUND; width * height];
        for (number, image) in images.chunks_exact(size).enumerate() {
            let top = number / across * step_down + GAP;
            let left = number % across * step_across + GAP;
            for (row, line) in image.chunks_exact(self.columns).enumerate() {
                for y in (top + row) * ZOOM..(top + row + 1) * ZOOM {
                    let start = y * width + left * ZOOM;
                    let target = &mut pixels[start..start + self.columns * ZOOM];
                    for (zoomed, pixel) in target.chunks_exact_mut(ZOOM).zip(line) {
                        zoomed.fill(*pixel);
                    }
                }
            }
        }
        Picture { width, height, pixels }
    }
}

/// The slope of the straight line nearest to weights at values 0, 1, 2, …
fn slope(weights: &[f32]) -> f32 {
    let middle = (weights.len() - 1) as f32 / 2.0;
    let (mut products, mut squares) = (0.0, 0.0);
    for (value, weight) in weights.iter().enumerate() {
        let distance = value as f32 - middle;
        products += distance * weight;
        squares += distance * distance;
    }
    products / squares
}

impl Picture {
    /// Writes it as a PNG file.
    pub fn write(&self, path: &Path, existing: Existing) -> Result<(), Failure> {
        let bytes = self.png().map_err(std::io::Error::other);
        bytes
            .and_then(|bytes| put_bytes(path, &bytes, Durability::Now, existing))
            .map_err(|error| cannot_write(path, &error))
    }

    /// Its bytes as a PNG file.
    fn png(&self) -> Result<Vec<u8>, png::EncodingError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header()?.write_image_data(&self.pixels)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_stand_side_by_side() {
        // Three images of one row and two columns: two above, one below.
        let picture = Mosaic { rows: 1, columns: 2 }.of_states(&[0, 1, 2, 0, 1, 1], 3);
        assert_eq!((picture.width, picture.height), (14, 10));
        let line = |y: usize| &picture.pixels[y * 14..(y + 1) * 14];
        let b = BACKGROUND;
        assert_eq!(line(1), [b; 14]);
        assert_eq!(line(2), [b, b, 0, 0, 127, 127, b, b, 255, 255, 0, 0, b, b]);
        assert_eq!(line(3), line(2));
        assert_eq!(line(6), [b, b, 127, 127, 127, 127, b, b, b, b, b, b, b, b]);
    }

    #[test]
    fn filters_are_gray_at_zero() {
        let mosaic = Mosaic { rows: 1, columns: 2 };
        let at = |picture: &Picture, x: usize| picture.pixels[2 * picture.width + x];
        let picture = mosaic.of_filters(&[0.5, -1.0], 2);
        assert_eq!((at(&picture, 2), at(&picture, 4)), (191, 0));
        // Slopes 1 and 0.
        let picture = mosaic.of_filters(&[-1.0, 0.0, 1.0, 2.0, 2.0, 2.0], 3);
        assert_eq!((at(&picture, 2), at(&picture, 4)), (255, 128));
        // A unit without weights has no scale.
        let picture = mosaic.of_filters(&[0.0, 0.0], 2);
        assert_eq!((at(&picture, 2), at(&picture, 4)), (128, 128));
    }

    #[test]
    fn a_png_file_holds_the_picture() {
        let picture = Mosaic { rows: 2, columns: 2 }.of_states(&[0, 1, 1, 0], 2);
        let bytes = picture.png().unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (8, 8));
        assert_eq!(pixels, picture.pixels);
    }
}
