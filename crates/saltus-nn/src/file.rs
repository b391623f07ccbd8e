//! Deep models in safetensors files, and why a file is not one.

use crate::architecture::Architecture;
use crate::frequencies::Frequencies;
use crate::layout::Layer;
use crate::model::DeepModel;
use crate::network::Network;
use crate::parameters::Parameters;
use saltus::ModelError;
use saltus::tensor_file::{self, Tensor, Tensors};
use std::path::Path;

/// The frequencies of the base, as [row, column] or [row, column, value].
const MEAN: &str = "base_mean";
/// The key of the metadata.
pub const ABOUT: &str = "about";

impl<N: Network> DeepModel<N> {
    /// Writes it as a safetensors file of 32-bit floats that [`load`](Self::load) reads, with `about`
    /// in its metadata: `base_mean` [rows, columns] or, with more than two values, [rows, columns,
    /// values]; and for every layer of the network `NAME.weight` [outputs, inputs, side, side] and
    /// `NAME.bias` \[outputs\]. The file appears whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>, about: &str) -> Result<(), ModelError> {
        let path = path.as_ref();
        let architecture = self.parameters().architecture();
        let layout = architecture.layout();
        let numbers = self.parameters().numbers();
        let mut tensors: Vec<(String, Tensor)> = Vec::new();
        for (name, layer) in layout.layers() {
            let (weight, bias) = (&numbers[layer.weight.clone()], &numbers[layer.bias.clone()]);
            tensors.push((weight_name(&name), Tensor::floats(weight, weight_shape(layer))));
            tensors.push((bias_name(&name), Tensor::floats(bias, vec![layer.outputs])));
        }
        let mut shape = vec![architecture.rows(), architecture.columns()];
        if architecture.values() > 2 {
            shape.push(architecture.values());
        }
        tensors.push((MEAN.to_owned(), Tensor::floats(self.frequencies().numbers(), shape)));
        let named = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor.clone()));
        tensor_file::write(path, named, (ABOUT, about)).map_err(|reason| file_error(path, reason))
    }

    /// Reads a model that was [saved](Self::save).
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        let path = path.as_ref();
        read(path).map_err(|reason| file_error(path, reason))
    }
}

pub fn file_error(path: &Path, reason: String) -> ModelError {
    ModelError::File { path: path.display().to_string(), reason }
}

fn weight_name(layer: &str) -> String {
    format!("{layer}.weight")
}

fn bias_name(layer: &str) -> String {
    format!("{layer}.bias")
}

fn weight_shape(layer: &Layer) -> Vec<usize> {
    vec![layer.outputs, layer.inputs, layer.side, layer.side]
}

fn read<N: Network>(path: &Path) -> Result<DeepModel<N>, String> {
    let bytes = tensor_file::read(path)?;
    let file = Tensors::new(&bytes)?;
    let (mean, architecture) = describe(&file)?;
    let layout = architecture.layout();
    let mut numbers = vec![0.0; layout.parameters()];
    for (name, layer) in layout.layers() {
        let weight = file.floats_of_shape(&weight_name(&name), &weight_shape(layer))?;
        numbers[layer.weight.clone()].copy_from_slice(&weight);
        let bias = file.floats_of_shape(&bias_name(&name), &[layer.outputs])?;
        numbers[layer.bias.clone()].copy_from_slice(&bias);
    }
    let reason = |error: ModelError| error.to_string();
    let parameters = Parameters::new(architecture, numbers).map_err(reason)?;
    let base = Frequencies::new(architecture.space(), mean).map_err(reason)?;
    DeepModel::new(parameters, base).map_err(reason)
}

/// The frequencies, and the network that the shapes of the tensors speak of.
fn describe(file: &Tensors<'_>) -> Result<(Vec<f32>, Architecture), String> {
    let (mean, shape) = file.floats(MEAN)?;
    let (rows, columns, values) = match shape[..] {
        [rows, columns] => (rows, columns, 2),
        [rows, columns, values] if values != 2 => (rows, columns, values),
        _ => {
            return Err(format!(
                "tensor {MEAN} has shape {shape:?}, expected [rows, columns] for two values or \
                 [rows, columns, values] for more"
            ));
        }
    };
    let (_, shape) = file.floats(&weight_name("first"))?;
    let [width, channels, ..] = shape[..] else {
        return Err(format!(
            "tensor first.weight has shape {shape:?}, expected [outputs, inputs, 3, 3]"
        ));
    };
    let all = (0..).take_while(|block| file.contains(&bias_name(&format!("block{block}.first"))));
    let blocks = all.count().checked_sub(2).ok_or_else(|| {
        "has fewer than the two residual blocks that halve the image (block0, block1)".to_owned()
    })?;
    let architecture = Architecture::new(rows, columns, values, width)
        .and_then(|architecture| architecture.with_blocks(blocks))
        .and_then(|architecture| match values {
            2 => Ok(architecture),
            _ => architecture.with_projection(channels),
        })
        .map_err(|error| error.to_string())?;
    Ok((mean, architecture))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::Cpu;

    fn model(values: usize) -> DeepModel {
        let architecture = Architecture::new(4, 3, values, 5)
            .and_then(|architecture| architecture.with_blocks(1))
            .and_then(|architecture| architecture.with_projection(2))
            .unwrap();
        let mean = vec![0.25; architecture.space().diff_len()];
        let base = Frequencies::new(architecture.space(), mean).unwrap();
        DeepModel::new(Parameters::random(architecture, 4), base).unwrap()
    }

    #[test]
    fn a_saved_model_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        for values in [2, 4] {
            let model = model(values);
            model.save(&path, "a test").unwrap();
            let found: DeepModel = DeepModel::load(&path).unwrap();
            assert_eq!(found.parameters(), model.parameters());
            assert_eq!(found.frequencies().numbers(), model.frequencies().numbers());
            let bytes = std::fs::read(&path).unwrap();
            assert_eq!(Tensors::new(&bytes).unwrap().metadata(ABOUT).as_deref(), Some("a test"));
            assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing else is left");
        }
        let sentence = model(2).save("/nowhere/at/all", "").unwrap_err().to_string();
        assert!(sentence.starts_with("/nowhere/at/all: cannot be written: "), "{sentence}");
    }

    #[test]
    fn a_bad_file_is_refused_in_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        let reason = || match DeepModel::<Cpu>::load(&path).unwrap_err() {
            ModelError::File { reason, .. } => {
                assert!(!reason.contains('\n'), "{reason}");
                reason
            }
            other => panic!("{other:?}"),
        };
        assert!(reason().starts_with("cannot be read: "));
        model(2).save(&path, "").unwrap();
        let whole = std::fs::read(&path).unwrap();
        for length in [0, 7, 50, whole.len() - 1] {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(reason().starts_with("is not a whole safetensors file"));
        }
        // Every tensor with that name and shape, all of one number.
        let write = |tensors: &[(&str, &[usize], f32)]| {
            let named = tensors.iter().map(|(name, shape, number)| {
                let count = shape.iter().product();
                (*name, Tensor::floats(&vec![*number; count], shape.to_vec()))
            });
            tensor_file::write(&path, named, (ABOUT, "")).unwrap();
        };
        let mut tensors: Vec<(&str, &[usize], f32)> = vec![("first.weight", &[1, 1, 3, 3], 0.0)];
        write(&tensors);
        assert_eq!(reason(), "has no tensor base_mean; it has first.weight");
        tensors.push(("base_mean", &[2, 2], 0.5));
        write(&tensors);
        assert!(reason().starts_with("has fewer than the two residual blocks"));
        tensors.extend([
            ("first.bias", &[1][..], 0.0),
            ("block0.first.weight", &[1, 1, 3, 3], 0.0),
            ("block0.first.bias", &[1], 0.0),
            ("block0.second.weight", &[1, 1, 3, 3], 0.0),
            ("block0.second.bias", &[1], 0.0),
            ("block0.skip.weight", &[1, 1, 1, 1], 0.0),
            ("block0.skip.bias", &[1], 0.0),
            ("block1.first.weight", &[1, 1, 3, 3], 0.0),
            ("block1.first.bias", &[1], 0.0),
            ("block1.second.weight", &[1, 1, 3, 3], 0.0),
            ("block1.second.bias", &[1], 0.0),
            ("block1.skip.weight", &[1, 1, 1, 1], 0.0),
            ("block1.skip.bias", &[1], 0.0),
            ("last.weight", &[1, 1, 1, 1], 0.0),
            ("last.bias", &[1], 0.0),
        ]);
        write(&tensors);
        assert!(DeepModel::<Cpu>::load(&path).is_ok());
        let with = |name: &'static str, shape: &'static [usize], number: f32| {
            let mut changed = tensors.clone();
            let tensor = changed.iter_mut().find(|tensor| tensor.0 == name).unwrap();
            *tensor = (name, shape, number);
            write(&changed);
            reason()
        };
        let found = with("block1.skip.weight", &[1, 1, 3, 3], 0.0);
        assert_eq!(
            found,
            "tensor block1.skip.weight has shape [1, 1, 3, 3], expected [1, 1, 1, 1]"
        );
        let found = with("first.weight", &[0, 1, 3, 3], 0.0);
        assert_eq!(found, "a network needs at least one channel, got 0");
        assert!(with("first.weight", &[9], 0.0).contains("expected [outputs, inputs, 3, 3]"));
        assert!(with("base_mean", &[4], 0.5).contains("expected [rows, columns] for two values"));
        assert!(with("base_mean", &[2, 2], 1.0).starts_with("frequencies[0] is 1, but must lie"));
        assert!(with("last.bias", &[1], f32::NAN).contains("is NaN, not a number"));
    }
}
