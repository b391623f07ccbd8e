//! Autoencoders in safetensors files, and why a file is not one.

use super::plan::{Layer, Plans};
use super::{Vae, VaeSizes};
use saltus::ModelError;
use saltus::tensor_file::{self, Tensor, Tensors};
use saltus_nn::file::{ABOUT, file_error};
use std::ops::Range;
use std::path::Path;

/// The tensor of its sizes: rows, columns, values, hidden units, latent numbers, their levels, channels (0 without).
const SIZES: &str = "sizes";

impl Vae {
    /// Writes it as a safetensors file of 32-bit floats that [`load`](Self::load) reads, with `about`
    /// in its metadata: `sizes`, and for every layer of every net, such as `first`, `second` and `last` of `encoder` and
    /// `decoder`, `NAME.weight` [outputs, inputs] and `NAME.bias` \[outputs\]. The file appears whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>, about: &str) -> Result<(), ModelError> {
        let path = path.as_ref();
        let mut tensors = vec![(SIZES.to_owned(), Tensor::floats(&numbers(&self.sizes), vec![7]))];
        for (name, layer) in Plans::new(&self.sizes).layers {
            tensors.extend(tensors_of(&name, &layer).map(|(name, shape, numbers)| {
                (name, Tensor::floats(&self.parameters[numbers], shape))
            }));
        }
        let named = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor.clone()));
        tensor_file::write(path, named, (ABOUT, about)).map_err(|reason| file_error(path, reason))
    }

    /// Reads an autoencoder that was [saved](Self::save).
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        let path = path.as_ref();
        read(path).map_err(|reason| file_error(path, reason))
    }
}

/// Its sizes as numbers.
fn numbers(sizes: &VaeSizes) -> [f32; 7] {
    let channels = sizes.channels().unwrap_or(0);
    let (rows, columns, values) = (sizes.rows(), sizes.columns(), sizes.values());
    [rows, columns, values, sizes.hidden(), sizes.latent(), sizes.levels(), channels]
        .map(|number| number as f32)
}

/// The tensors of a layer: their names, their shapes, and where their numbers are among the parameters.
fn tensors_of(name: &str, layer: &Layer) -> [(String, Vec<usize>, Range<usize>); 2] {
    [
        (format!("{name}.weight"), vec![layer.outputs, layer.inputs], layer.weight.clone()),
        (format!("{name}.bias"), vec![layer.outputs], layer.bias.clone()),
    ]
}

fn read(path: &Path) -> Result<Vae, String> {
    let bytes = tensor_file::read(path)?;
    let file = Tensors::new(&bytes)?;
    let sizes = describe(&file.floats_of_shape(SIZES, &[7])?)?;
    let plans = Plans::new(&sizes);
    let mut parameters = vec![0.0; plans.parameters()];
    for (name, layer) in plans.layers {
        for (name, shape, numbers) in tensors_of(&name, &layer) {
            parameters[numbers].copy_from_slice(&file.floats_of_shape(&name, &shape)?);
        }
    }
    Vae::new(sizes, parameters).map_err(|error| error.to_string())
}

/// The sizes that seven numbers are.
fn describe(found: &[f32]) -> Result<VaeSizes, String> {
    if let Some(number) = found.iter().find(|number| !(0.0..1e6).contains(*number)) {
        return Err(format!("tensor {SIZES} has {number}, which is no size"));
    }
    let number = |at: usize| found[at] as usize;
    let channels = (number(6) > 0).then(|| number(6));
    VaeSizes::new(number(0), number(1), number(3), number(4))
        .and_then(|sizes| sizes.with_values(number(2)))
        .and_then(|sizes| sizes.with_levels(number(5), channels))
        .map_err(|error| error.to_string())
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
        let sizes = *vae().sizes();
        let two = sizes.with_levels(2, None).unwrap();
        let gray = two.with_values(9).unwrap();
        let convolutional = gray.with_levels(2, Some(3)).unwrap();
        for sizes in [sizes, two, gray, convolutional] {
            let vae = Vae::random(sizes, 8);
            vae.save(&path, "a test").unwrap();
            let found = Vae::load(&path).unwrap();
            assert_eq!((found.sizes(), found.parameters()), (vae.sizes(), vae.parameters()));
            assert_eq!(found.samples(20, 3), vae.samples(20, 3));
        }
        vae().save(&path, "a test").unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let file = Tensors::new(&bytes).unwrap();
        assert_eq!(file.metadata(ABOUT).as_deref(), Some("a test"));
        assert_eq!(file.floats("encoder.last.weight").unwrap().1, [8, 5]);
        assert_eq!(file.floats("decoder.last.bias").unwrap().1, [6]);
        let sentence = vae().save("/nowhere/at/all", "").unwrap_err().to_string();
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
        let mut all = vec![(SIZES.to_owned(), Tensor::floats(&numbers(&vae.sizes), vec![7]))];
        for (name, layer) in Plans::new(&vae.sizes).layers {
            all.extend(tensors_of(&name, &layer).map(|(name, shape, numbers)| {
                (name, Tensor::floats(&vae.parameters[numbers], shape))
            }));
        }
        let without = |left_out: &str, instead: Option<(&str, Tensor)>| {
            let kept = all.iter().filter(|(name, _)| name != left_out);
            let kept = kept.map(|(name, tensor)| (name.as_str(), tensor.clone()));
            tensor_file::write(&path, kept.chain(instead), (ABOUT, "")).unwrap();
            reason()
        };
        for (name, _) in &all {
            assert!(without(name, None).starts_with(&format!("has no tensor {name}; it has ")));
        }
        let with = |name: &str, shape: &[usize], number: f32| {
            let numbers = vec![number; shape.iter().product()];
            without(name, Some((name, Tensor::floats(&numbers, shape.to_vec()))))
        };
        assert_eq!(
            with("encoder.second.weight", &[10, 4], 0.0),
            "tensor encoder.second.weight has shape [10, 4], expected [10, 5]"
        );
        assert!(with("encoder.last.bias", &[8], f32::NAN).contains("is NaN, not a number"));
        let with_sizes =
            |changed: [f32; 7]| without(SIZES, Some((SIZES, Tensor::floats(&changed, vec![7]))));
        for (changed, sentence) in [
            ([0.0, 3.0, 2.0, 5.0, 4.0, 1.0, 0.0], "at least one site"),
            ([2.0, 3.0, 2.0, 0.0, 4.0, 1.0, 0.0], "one hidden unit, got 0"),
            ([2.0, 3.0, 2.0, 5.0, 4.0, 3.0, 0.0], "one level or two, got 3"),
            ([2.0, -3.0, 2.0, 5.0, 4.0, 1.0, 0.0], "tensor sizes has -3, which is no size"),
            ([2.0, f32::NAN, 2.0, 5.0, 4.0, 1.0, 0.0], "which is no size"),
            ([2.0, 3.0, 2.0, 6.0, 4.0, 1.0, 0.0], "tensor encoder.first.weight has shape"),
            ([2.0, 3.0, 2.0, 5.0, 4.0, 2.0, 0.0], "has no tensor upper.encoder.first.weight"),
        ] {
            let found = with_sizes(changed);
            assert!(found.contains(sentence), "{found}");
        }
    }
}
