//! Files of trained RBMs.

use crate::pcd::TrainError;
use saltus::Rbm;
use saltus::tensor_file::{self, Tensor, Tensors};
use std::path::Path;

/// Writes tensors, and in words how they came about. The file appears whole or not at all.
pub(super) fn write(
    path: &Path,
    tensors: Vec<(String, Tensor)>,
    training: &str,
) -> Result<(), TrainError> {
    tensor_file::write(path, tensors, ("training", training)).map_err(|reason| failed(path, reason))
}

/// The tensors in the bytes of an RBM's file as they are, by names with a prefix; the error is the
/// reason alone.
pub(super) fn copy(bytes: &[u8], prefix: &str) -> Result<Vec<(String, Tensor)>, String> {
    let tensors = Tensors::new(bytes)?;
    // What the file has besides is not part of the RBM.
    Rbm::from_tensors(&tensors, "")?;
    let of_rbm = ["weight", "hidden_bias", "visible_bias", "data_mean"];
    let found = of_rbm.into_iter().filter_map(|name| Some((name, tensors.floats(name).ok()?)));
    let copied = found.map(|(name, (numbers, shape))| {
        (format!("{prefix}{name}"), Tensor::floats(&numbers, shape))
    });
    Ok(copied.collect())
}

pub(super) fn failed(path: &Path, reason: String) -> TrainError {
    TrainError::File { path: path.display().to_string(), reason }
}
