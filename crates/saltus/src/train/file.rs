//! Files of trained machines.

use super::TrainError;
use crate::model::rbm::file;
use safetensors::{Dtype, View};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// Writes tensors, and in words how they came about. The file appears whole or not at all.
pub(super) fn write(
    path: &Path,
    tensors: Vec<(String, Tensor)>,
    training: String,
) -> Result<(), TrainError> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    put(partial.as_ref(), tensors, training)
        .and_then(|()| fs::rename(&partial, path).map_err(|error| error.to_string()))
        .map_err(|reason| {
            // It may not even have come into being.
            let _ = fs::remove_file(&partial);
            failed(path, format!("cannot be written: {reason}"))
        })
}

fn put(path: &Path, tensors: Vec<(String, Tensor)>, training: String) -> Result<(), String> {
    // One entry: several would come in an order of their own in every file.
    let metadata = HashMap::from([("training".to_owned(), training)]);
    let bytes =
        safetensors::serialize(tensors, Some(metadata)).map_err(|error| error.to_string())?;
    // Not by the crate's own function, whose files nobody but their owner may read.
    let mut file = File::create(path).map_err(|error| error.to_string())?;
    file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(|error| error.to_string())
}

/// The tensors of a machine's file as they are, by names with a prefix.
pub(super) fn copy(path: &Path, prefix: &str) -> Result<Vec<(String, Tensor)>, TrainError> {
    let bytes = file::bytes(path).map_err(|reason| failed(path, reason))?;
    let tensors = file::open(&bytes).map_err(|reason| failed(path, reason))?;
    // What the file has besides is not part of the machine.
    file::machine(&tensors, "").map_err(|reason| failed(path, reason))?;
    let of_machine = ["weight", "hidden_bias", "visible_bias", "data_mean"];
    let found = of_machine.iter().filter_map(|name| Some((name, tensors.tensor(name).ok()?)));
    let copied = found.map(|(name, tensor)| {
        let copy = Tensor { bytes: tensor.data().to_vec(), shape: tensor.shape().to_vec() };
        (format!("{prefix}{name}"), copy)
    });
    Ok(copied.collect())
}

fn failed(path: &Path, reason: String) -> TrainError {
    TrainError::File { path: path.display().to_string(), reason }
}

/// A tensor on its way into a file.
pub(super) struct Tensor {
    bytes: Vec<u8>,
    shape: Vec<usize>,
}

impl Tensor {
    pub(super) fn new(numbers: &[f32], shape: Vec<usize>) -> Self {
        Self { bytes: numbers.iter().flat_map(|number| number.to_le_bytes()).collect(), shape }
    }
}

impl View for Tensor {
    fn dtype(&self) -> Dtype {
        Dtype::F32
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
