//! Weights of an RBM in a safetensors file.

use super::{Body, ModelFile};
use crate::model::rbm::RbmParameters;
use crate::tensor_file::Tensors;

/// The length of a header of JSON, and its first letter.
pub(super) fn detect(bytes: &[u8]) -> bool {
    let Some((length, rest)) = bytes.split_first_chunk::<8>() else { return false };
    u64::from_le_bytes(*length) <= rest.len() as u64 && rest.first() == Some(&b'{')
}

pub(super) fn read(bytes: &[u8]) -> Result<ModelFile, String> {
    read_as(bytes, &[])
}

/// The same, with names of the tensors.
pub(super) fn read_as(bytes: &[u8], names: &[(String, String)]) -> Result<ModelFile, String> {
    let (parameters, assumed) = RbmParameters::of(&Tensors::new(bytes)?, names)?;
    Ok(file(parameters, assumed))
}

/// What a file says that holds an RBM.
pub(super) fn file(parameters: RbmParameters, assumed: Vec<String>) -> ModelFile {
    let hidden = parameters.hidden_bias.len();
    ModelFile {
        variables: None,
        words: format!("restricted Boltzmann machine of {hidden} hidden units"),
        body: Body::Rbm(parameters),
        assumed,
        names: Vec::new(),
    }
}
