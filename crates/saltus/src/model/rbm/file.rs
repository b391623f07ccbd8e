//! Machines from safetensors files, and why a file is not one.

use super::Rbm;
use crate::tensor_file::{self, Tensors};
use std::path::Path;

/// Reads a machine from a file; the error is the reason alone.
pub(super) fn read(path: &Path) -> Result<Rbm, String> {
    machine(&Tensors::new(&tensor_file::read(path)?)?, "")
}

/// The machine whose tensors have names with that prefix.
pub(crate) fn machine(file: &Tensors<'_>, prefix: &str) -> Result<Rbm, String> {
    let name = |name: &str| format!("{prefix}{name}");
    let (hidden_bias, shape) = file.floats(&name("hidden_bias"))?;
    let [hidden] = shape[..] else {
        return Err(format!("tensor {prefix}hidden_bias has shape {shape:?}, expected [hidden]"));
    };
    let (visible_bias, visible_shape) = file.floats(&name("visible_bias"))?;
    let values = match visible_shape[..] {
        [_] => 2,
        [_, values] if values != 2 => values,
        _ => {
            return Err(format!(
                "tensor {prefix}visible_bias has shape {visible_shape:?}, expected [visible] for \
                 two values or [visible, values] for more"
            ));
        }
    };
    let shape = [&[hidden], &visible_shape[..]].concat();
    let weight = file.floats_of_shape(&name("weight"), &shape)?;
    let data_mean = match file.contains(&name("data_mean")) {
        true => Some(file.floats_of_shape(&name("data_mean"), &visible_shape)?),
        false => None,
    };
    Rbm::new(values, &weight, &hidden_bias, &visible_bias, data_mean.as_deref())
        .map_err(|error| format!("{prefix}{error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Model, ModelError};
    use safetensors::Dtype;
    use safetensors::tensor::{TensorView, serialize_to_file};

    /// Writes tensors of zeros with the given shapes, after `change` has had its way with them.
    fn file(
        folder: &tempfile::TempDir,
        tensors: &[(&str, Dtype, &[usize])],
        change: impl Fn(&str, &mut Vec<u8>),
    ) -> String {
        let data: Vec<Vec<u8>> = tensors
            .iter()
            .map(|(name, dtype, shape)| {
                let size = dtype.bitsize() / 8 * shape.iter().product::<usize>();
                let mut bytes = vec![0; size];
                change(name, &mut bytes);
                bytes
            })
            .collect();
        let views = tensors.iter().zip(&data).map(|((name, dtype, shape), data)| {
            let view = TensorView::new(*dtype, shape.to_vec(), data).unwrap();
            (*name, view)
        });
        let path = folder.path().join("machine.safetensors");
        serialize_to_file(views, None, &path).unwrap();
        path.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_bad_file_is_refused_in_a_sentence() {
        const F32: Dtype = Dtype::F32;
        let folder = tempfile::tempdir().unwrap();
        let reason = |path: &str| match Rbm::load(path).unwrap_err() {
            ModelError::File { path: of, reason } => {
                assert_eq!(of, path);
                assert!(!reason.contains('\n'), "{reason}");
                reason
            }
            other => panic!("{other:?}"),
        };
        let bias = [("hidden_bias", F32, &[2][..]), ("visible_bias", F32, &[3])];
        let with = |weight: (&'static str, Dtype, &'static [usize])| [bias[0], bias[1], weight];
        let same = |_: &str, _: &mut Vec<u8>| {};

        let path = file(&folder, &with(("weight", F32, &[2, 3])), same);
        let model = Rbm::load(&path).unwrap();
        assert_eq!((model.hidden(), model.space().sites()), (2, 3));
        let whole = std::fs::read(&path).unwrap();
        for length in [0, 5, 20, whole.len() - 1] {
            std::fs::write(&path, &whole[..length]).unwrap();
            let found = reason(&path);
            assert!(found.starts_with("is not a whole safetensors file"), "{found}");
        }
        std::fs::write(&path, b"P5 28 28 255 and so on, a picture").unwrap();
        assert!(reason(&path).starts_with("is not a whole safetensors file"));

        assert!(reason("/nowhere/at/all").starts_with("cannot be read: "));
        let path = file(&folder, &bias, same);
        assert_eq!(reason(&path), "has no tensor weight; it has hidden_bias, visible_bias");
        let path = file(&folder, &with(("weight", Dtype::F64, &[2, 3])), same);
        assert_eq!(reason(&path), "tensor weight has type F64, expected F32");
        let path = file(&folder, &with(("weight", F32, &[3, 2])), same);
        assert_eq!(reason(&path), "tensor weight has shape [3, 2], expected [2, 3]");
        let mut tensors = with(("weight", F32, &[2, 3])).to_vec();
        tensors.push(("data_mean", F32, &[4]));
        let path = file(&folder, &tensors, same);
        assert_eq!(reason(&path), "tensor data_mean has shape [4], expected [3]");
        let path = file(
            &folder,
            &[bias[0], ("visible_bias", F32, &[3, 2]), ("weight", F32, &[2, 3, 2])],
            same,
        );
        assert!(reason(&path).contains("[3, 2], expected [visible] for two values"));
        let path = file(&folder, &with(("weight", F32, &[2, 3])), |name, bytes| {
            if name == "weight" {
                bytes[16..20].copy_from_slice(&f32::INFINITY.to_le_bytes());
            }
        });
        assert_eq!(reason(&path), "weight[4] is inf, not a number a model can use");
    }
}
