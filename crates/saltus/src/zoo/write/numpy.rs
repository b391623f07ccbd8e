//! Arrays for numpy: `h` and `J`, or `W` and its biases.

use super::{Forms, TOO_WIDE};
use crate::zoo::read::Body;
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Arrays of more numbers than this are not written.
const MOST_NUMBERS: usize = 1 << 28;

/// An array of numbers in double precision, the last index fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Npy {
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its numbers.
    pub numbers: Vec<f64>,
}

impl Npy {
    /// Zeros.
    fn zeros(shape: &[usize]) -> Result<Self, String> {
        let count = shape.iter().try_fold(1usize, |all, length| all.checked_mul(*length));
        match count {
            Some(count) if count <= MOST_NUMBERS => {
                Ok(Self { shape: shape.to_vec(), numbers: vec![0.0; count] })
            }
            _ => Err(format!("an array of shape {shape:?} would be too large")),
        }
    }

    fn at(&mut self, indices: &[usize]) -> &mut f64 {
        let place =
            indices.iter().zip(&self.shape).fold(0, |sum, (index, length)| sum * length + index);
        &mut self.numbers[place]
    }

    /// As a `.npy` file.
    fn bytes(&self) -> Vec<u8> {
        let shape: String = self.shape.iter().map(|length| format!("{length}, ")).collect();
        let mut header = format!(
            "{{'descr': '<f8', 'fortran_order': False, 'shape': ({}), }}",
            if self.shape.len() == 1 { shape.trim_end() } else { shape.trim_end_matches(", ") }
        );
        let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
        header.extend(std::iter::repeat_n(' ', length - 1 - header.len()));
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        self.numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes
    }
}

/// An archive of named arrays, as `numpy.savez` writes it.
pub fn npz<'a>(arrays: impl IntoIterator<Item = (&'a str, &'a Npy)>) -> Result<Vec<u8>, String> {
    let failed = |error: zip::result::ZipError| error.to_string();
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, array) in arrays {
        let bytes = array.bytes();
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(DateTime::default())
            .large_file(bytes.len() > u32::MAX as usize / 2);
        archive.start_file(format!("{name}.npy"), options).map_err(failed)?;
        archive.write_all(&bytes).map_err(|error| error.to_string())?;
    }
    Ok(archive.finish().map_err(failed)?.into_inner())
}

/// The arrays of a model.
pub(super) fn of_body(body: &Body) -> Result<Vec<u8>, String> {
    let arrays = match body {
        Body::Rbm(rbm) => {
            let (hidden, values) = (rbm.hidden_bias.len(), rbm.values);
            let visible = match values {
                2 => vec![rbm.visible_bias.len()],
                values => vec![rbm.visible_bias.len() / values, values],
            };
            let array = |shape: Vec<usize>, numbers: &[f32]| Npy {
                shape,
                numbers: numbers.iter().copied().map(f64::from).collect(),
            };
            let mut arrays = vec![
                ("weight", array([&[hidden], &visible[..]].concat(), &rbm.weight)),
                ("hidden_bias", array(vec![hidden], &rbm.hidden_bias)),
                ("visible_bias", array(visible.clone(), &rbm.visible_bias)),
            ];
            if let Some(mean) = &rbm.data_mean {
                arrays.push(("data_mean", array(visible, mean)));
            }
            arrays
        }
        Body::Factors { cardinalities, .. } if cardinalities.iter().any(|values| *values != 2) => {
            let (cardinalities, factors) = Forms(body).pair_tables()?;
            let (sites, values) = (cardinalities.len(), cardinalities[0]);
            let mut fields = Npy::zeros(&[sites, values])?;
            let mut couplings = Npy::zeros(&[sites, sites, values, values])?;
            for factor in &factors {
                for (place, log) in factor.log_values().iter().enumerate() {
                    let (a, b) = (place / values, place % values);
                    match *factor.scope() {
                        [site] => *fields.at(&[site as usize, b]) += log,
                        [i, j] => {
                            *couplings.at(&[i as usize, j as usize, a, b]) += log;
                            *couplings.at(&[j as usize, i as usize, b, a]) += log;
                        }
                        // A constant, which there is no array for.
                        [] => {}
                        [_, _, _, ..] => return Err(TOO_WIDE.to_owned()),
                    }
                }
            }
            vec![("h", fields), ("J", couplings)]
        }
        body => {
            let spins = Forms(body).spins()?;
            let sites = spins.fields.len();
            let mut couplings = Npy::zeros(&[sites, sites])?;
            for (one, other, weight) in &spins.couplings {
                *couplings.at(&[*one as usize, *other as usize]) += weight;
                *couplings.at(&[*other as usize, *one as usize]) += weight;
            }
            vec![("h", Npy { shape: vec![sites], numbers: spins.fields }), ("J", couplings)]
        }
    };
    npz(arrays.iter().map(|(name, array)| (*name, array)))
}
