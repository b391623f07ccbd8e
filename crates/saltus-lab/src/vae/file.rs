//! Autoencoders in safetensors files, and why a file is not one.

use super::sizes::Layer;
use super::{Vae, VaeSizes};
use saltus::ModelError;
use saltus::tensor_file::{self, Tensor, Tensors};
use saltus_nn::file::{ABOUT, file_error};
use std::path::Path;

/// The biases of the pixels, whose shape is that of an image.
const PIXELS: &str = "decoder.last.bias";

impl Vae {
    /// Writes it as a safetensors file of 32-bit floats that [`load`](Self::load) reads, with `about`
    /// in its metadata: for the layers `first`, `second` and `last` of `encoder` and `decoder`,
    /// `NAME.weight` [outputs, inputs] and `NAME.bias` \[outputs\], but `decoder.last.bias` [rows,
    /// columns]. The file appears whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>, about: &str) -> Result<(), ModelError> {
        let path = path.as_ref();
        let layers = self.sizes.layers();
        let tensors: Vec<(String, Tensor)> = layers
            .iter()
            .flat_map(|(name, layer)| tensors(&self.sizes, name, layer))
            .map(|(name, shape, numbers)| (name, Tensor::floats(&self.parameters[numbers], shape)))
            .collect();
        let named = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor.clone()));
        tensor_file::write(path, named, (ABOUT, about)).map_err(|reason| file_error(path, reason))
    }

    /// Reads an autoencoder that was [saved](Self::save).
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        let path = path.as_ref();
        read(path).map_err(|reason| file_error(path, reason))
    }
}

/// The tensors of a layer: their names, their shapes, and where their numbers are among the parameters.
fn tensors(
    sizes: &VaeSizes,
    name: &str,
    layer: &Layer,
) -> [(String, Vec<usize>, std::ops::Range<usize>); 2] {
    let (weight, bias) = (format!("{name}.weight"), format!("{name}.bias"));
    let outputs =
        if bias == PIXELS { vec![sizes.rows(), sizes.columns()] } else { vec![layer.outputs] };
    [
        (weight, vec![layer.outputs, layer.inputs], layer.weight.clone()),
        (bias, outputs, layer.bias.clone()),
    ]
}

fn read(path: &Path) -> Result<Vae, String> {
    let bytes = tensor_file::read(path)?;
    let file = Tensors::new(&bytes)?;
    let sizes = describe(&file)?;
    let mut parameters = vec![0.0; sizes.parameters()];
    for (name, layer) in sizes.layers() {
        for (name, shape, numbers) in tensors(&sizes, name, &layer) {
            parameters[numbers].copy_from_slice(&file.floats_of_shape(&name, &shape)?);
        }
    }
    Vae::new(sizes, parameters).map_err(|error| error.to_string())
}

/// The sizes that the shapes of the tensors speak of.
fn describe(file: &Tensors<'_>) -> Result<VaeSizes, String> {
    let (_, shape) = file.floats(PIXELS)?;
    let [rows, columns] = shape[..] else {
        return Err(format!("tensor {PIXELS} has shape {shape:?}, expected [rows, columns]"));
    };
    let name = "decoder.first.weight";
    let (_, shape) = file.floats(name)?;
    match shape[..] {
        [pairs, latent] if pairs.is_multiple_of(2) => {
            VaeSizes::new(rows, columns, pairs / 2, latent).map_err(|error| error.to_string())
        }
        _ => Err(format!(
            "tensor {name} has shape {shape:?}, expected [twice the hidden units, latent numbers]"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vae() -> Vae {
        Vae::random(VaeSizes::new(2, 3, 5, 4).unwrap(), 8)
    }

    #[test]
    fn a_saved_autoencoder_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vae.safetensors");
        let vae = vae();
        vae.save(&path, "a test").unwrap();
        let found = Vae::load(&path).unwrap();
        assert_eq!((found.sizes(), found.parameters()), (vae.sizes(), vae.parameters()));
        assert_eq!(found.samples(20, 3), vae.samples(20, 3));
        let bytes = std::fs::read(&path).unwrap();
        let file = Tensors::new(&bytes).unwrap();
        assert_eq!(file.metadata(ABOUT).as_deref(), Some("a test"));
        assert_eq!(file.floats("encoder.last.weight").unwrap().1, [8, 5]);
        assert_eq!(file.floats(PIXELS).unwrap().1, [2, 3]);
        let sentence = vae.save("/nowhere/at/all", "").unwrap_err().to_string();
        assert!(sentence.starts_with("/nowhere/at/all: cannot be written: "), "{sentence}");
    }

    #[test]
    fn a_bad_file_is_refused_in_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vae.safetensors");
        let reason = || match Vae::load(&path).unwrap_err() {
            ModelError::File { reason, .. } => {
                assert!(!reason.contains('\n'), "{reason}");
                reason
            }
            other => panic!("{other:?}"),
        };
        assert!(reason().starts_with("cannot be read: "));
        let vae = vae();
        vae.save(&path, "").unwrap();
        let whole = std::fs::read(&path).unwrap();
        for length in [0, 7, 50, whole.len() - 1] {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(reason().starts_with("is not a whole safetensors file"));
        }
        // The file of this autoencoder with one tensor left out, or another in its place.
        let (sizes, layers) = (vae.sizes, vae.sizes.layers());
        let all = || layers.iter().flat_map(move |(name, layer)| tensors(&sizes, name, layer));
        let without = |left_out: &str, instead: Option<(&str, Vec<usize>, f32)>| {
            let kept = all().filter(|(name, ..)| name != left_out);
            let kept: Vec<(String, Tensor)> = kept
                .map(|(name, shape, numbers)| {
                    (name, Tensor::floats(&vae.parameters[numbers], shape))
                })
                .collect();
            let instead = instead.map(|(name, shape, number)| {
                (name, Tensor::floats(&vec![number; shape.iter().product()], shape))
            });
            let named = kept.iter().map(|(name, tensor)| (name.as_str(), tensor.clone()));
            tensor_file::write(&path, named.chain(instead), (ABOUT, "")).unwrap();
            reason()
        };
        let with = |name: &str, shape: &[usize], number: f32| {
            without(name, Some((name, shape.to_vec(), number)))
        };
        for (name, ..) in all() {
            assert!(without(&name, None).starts_with(&format!("has no tensor {name}; it has ")));
        }
        assert_eq!(
            with("encoder.second.weight", &[10, 4], 0.0),
            "tensor encoder.second.weight has shape [10, 4], expected [10, 5]"
        );
        assert!(with(PIXELS, &[6], 0.0).ends_with("has shape [6], expected [rows, columns]"));
        assert!(with(PIXELS, &[0, 3], 0.0).contains("at least one site"));
        assert!(with(PIXELS, &[2, 4], 0.0).starts_with("tensor encoder.first.weight has shape"));
        assert!(with("decoder.first.weight", &[9, 4], 0.0).contains("expected [twice the hidden"));
        assert!(with("decoder.first.weight", &[0, 4], 0.0).contains("one hidden unit, got 0"));
        assert!(with("encoder.last.bias", &[8], f32::NAN).contains("is NaN, not a number"));
    }
}
