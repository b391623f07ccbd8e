//! Files of named tensors (safetensors): written whole or not at all, and read with a sentence for
//! what is wrong with them.

use crate::files::{Durability, atomic_write};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors, View};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Display;
use std::fs;
use std::path::Path;

/// A tensor on its way into a file.
#[derive(Clone, Debug)]
pub struct Tensor {
    dtype: Dtype,
    bytes: Vec<u8>,
    shape: Vec<usize>,
}

impl Tensor {
    /// 32-bit floats.
    pub fn floats(numbers: &[f32], shape: Vec<usize>) -> Self {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        Self { dtype: Dtype::F32, bytes, shape }
    }

    /// Bytes.
    pub fn bytes(bytes: Vec<u8>, shape: Vec<usize>) -> Self {
        Self { dtype: Dtype::U8, bytes, shape }
    }
}

impl View for Tensor {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// Writes tensors and one entry of metadata; the error is the reason alone. The file appears whole or
/// not at all.
///
/// One entry, because several would come in an order of their own in every file.
///
/// ```
/// use saltus::tensor_file::{Tensor, Tensors, write};
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("a.safetensors");
/// write(&path, [("x", Tensor::floats(&[1.0, 2.0], vec![2]))], ("why", "an example"))?;
/// let bytes = std::fs::read(&path).unwrap();
/// let file = Tensors::new(&bytes)?;
/// assert_eq!(file.floats("x")?, (vec![1.0, 2.0], vec![2]));
/// assert_eq!(file.metadata("why").as_deref(), Some("an example"));
/// # Ok::<(), String>(())
/// ```
pub fn write<Name: AsRef<str> + Ord + Display>(
    path: &Path,
    tensors: impl IntoIterator<Item = (Name, Tensor)>,
    (key, words): (&str, &str),
) -> Result<(), String> {
    let metadata = HashMap::from([(key.to_owned(), words.to_owned())]);
    safetensors::serialize(tensors, Some(metadata))
        .map_err(|error| error.to_string())
        // Not by the crate's own function, whose files nobody but their owner may read.
        .and_then(|bytes| {
            atomic_write(path, &bytes, Durability::Now).map_err(|error| error.to_string())
        })
        .map_err(|reason| format!("cannot be written: {reason}"))
}

/// The bytes of a file; the error is the reason alone.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("cannot be read: {error}"))
}

/// The tensors in the bytes of a file. Errors are reasons alone.
pub struct Tensors<'b> {
    bytes: &'b [u8],
    tensors: SafeTensors<'b>,
}

/// Arrays of floats by name, from a file of any kind. Errors are reasons alone.
pub(crate) trait NamedTensors {
    /// The names of all.
    fn names(&self) -> Vec<&str>;

    /// Whether there is one of that name.
    fn contains(&self, name: &str) -> bool {
        self.names().contains(&name)
    }

    /// The numbers and the shape of one, of 32 bits or turned into such.
    fn floats(&self, name: &str) -> Result<(Vec<f32>, Vec<usize>), String>;

    /// The numbers of one that must have this shape.
    fn floats_of_shape(&self, name: &str, expected: &[usize]) -> Result<Vec<f32>, String> {
        let (numbers, shape) = self.floats(name)?;
        expect_shape(name, &shape, expected)?;
        Ok(numbers)
    }
}

impl NamedTensors for Tensors<'_> {
    fn names(&self) -> Vec<&str> {
        self.tensors.names()
    }

    fn floats(&self, name: &str) -> Result<(Vec<f32>, Vec<usize>), String> {
        self.floats(name)
    }
}

impl<'b> Tensors<'b> {
    /// Fails unless these are the bytes of a whole file.
    pub fn new(bytes: &'b [u8]) -> Result<Self, String> {
        let tensors = SafeTensors::deserialize(bytes)
            .map_err(|error| format!("is not a whole safetensors file: {error}"))?;
        Ok(Self { bytes, tensors })
    }

    /// Whether there is a tensor of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.tensors.names().contains(&name)
    }

    /// The numbers and the shape of a tensor of floats, of 32 bits or turned into such.
    pub fn floats(&self, name: &str) -> Result<(Vec<f32>, Vec<usize>), String> {
        let tensor = self.named(name)?;
        let (bytes, shape) = (tensor.data(), tensor.shape().to_vec());
        let halves = || bytes.as_chunks::<2>().0.iter().map(|half| u16::from_le_bytes(*half));
        let words = || bytes.as_chunks::<4>().0.iter();
        let doubles = || bytes.as_chunks::<8>().0.iter();
        let numbers = match tensor.dtype() {
            Dtype::F32 => words().map(|word| f32::from_le_bytes(*word)).collect(),
            Dtype::F64 => doubles().map(|word| f64::from_le_bytes(*word) as f32).collect(),
            Dtype::BF16 => halves().map(|half| f32::from_bits(u32::from(half) << 16)).collect(),
            Dtype::F16 => halves().map(half_to_single).collect(),
            found => return Err(format!("tensor {name} has type {found:?}, expected F32")),
        };
        Ok((numbers, shape))
    }

    /// The numbers of a tensor of 32-bit floats that must have this shape.
    pub fn floats_of_shape(&self, name: &str, expected: &[usize]) -> Result<Vec<f32>, String> {
        let (numbers, shape) = self.floats(name)?;
        expect_shape(name, &shape, expected)?;
        Ok(numbers)
    }

    /// The numbers of a tensor of bytes that must have this shape.
    pub fn bytes_of_shape(&self, name: &str, expected: &[usize]) -> Result<Vec<u8>, String> {
        let (bytes, shape) = self.tensor(name, Dtype::U8)?;
        expect_shape(name, &shape, expected)?;
        Ok(bytes.to_vec())
    }

    /// An entry of the metadata.
    pub fn metadata(&self, key: &str) -> Option<String> {
        let (_, header) = SafeTensors::read_metadata(self.bytes).ok()?;
        header.metadata().as_ref()?.get(key).cloned()
    }

    fn named(&self, name: &str) -> Result<TensorView<'b>, String> {
        self.tensors.tensor(name).map_err(|_| {
            let mut names = self.tensors.names();
            names.sort_unstable();
            format!("has no tensor {name}; it has {}", names.join(", "))
        })
    }

    fn tensor(&self, name: &str, dtype: Dtype) -> Result<(&'b [u8], Vec<usize>), String> {
        let tensor = self.named(name)?;
        if tensor.dtype() != dtype {
            let found = tensor.dtype();
            return Err(format!("tensor {name} has type {found:?}, expected {dtype:?}"));
        }
        Ok((tensor.data(), tensor.shape().to_vec()))
    }
}

/// A float of 16 bits (IEEE 754 binary16): a sign, five bits of exponent, ten of fraction.
pub(crate) fn half_to_single(half: u16) -> f32 {
    let sign = if half >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(half >> 10 & 31), f32::from(half & 1023) / 1024.0);
    sign * match exponent {
        0 => fraction * 2f32.powi(-14),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        exponent => (1.0 + fraction) * 2f32.powi(exponent - 15),
    }
}

fn expect_shape(name: &str, found: &[usize], expected: &[usize]) -> Result<(), String> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("tensor {name} has shape {found:?}, expected {expected:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::half_to_single;

    #[test]
    fn halves_are_the_numbers_of_the_standard() {
        // IEEE 754-2019, as in the table of examples of binary16.
        let cases = [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65504.0),
        ];
        for (bits, expected) in cases {
            assert_eq!(half_to_single(bits), expected);
        }
        assert_eq!(half_to_single(0x0001), 2f32.powi(-24));
        assert_eq!(half_to_single(0x7c00), f32::INFINITY);
        assert!(half_to_single(0x7c01).is_nan());
    }
}
