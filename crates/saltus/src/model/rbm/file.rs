//! RBMs from safetensors files, and why a file is not one.

use super::Rbm;
use crate::error::ModelError;
use crate::names::unknown;
use crate::tensor_file::{self, NamedTensors, Tensors};
use std::path::Path;

/// What an [`Rbm`] is made of, as [`Rbm::new`] takes it.
#[derive(Clone, Debug, PartialEq)]
pub struct RbmParameters {
    /// Values per site.
    pub values: usize,
    /// `[hidden, visible]`, or `[hidden, visible, values]` with more than two values.
    pub weight: Vec<f32>,
    /// One per hidden unit.
    pub hidden_bias: Vec<f32>,
    /// One per visible site, or `[visible, values]`.
    pub visible_bias: Vec<f32>,
    /// What chains start from, if anything.
    pub data_mean: Option<Vec<f32>>,
}

impl RbmParameters {
    /// From named tensors, which may have other names than ours; with it comes what was assumed.
    pub(crate) fn of(
        file: &impl NamedTensors,
        names: &[(String, String)],
    ) -> Result<(Self, Vec<String>), String> {
        if let Some((own, _)) = names.iter().find(|(own, _)| PARTS.iter().all(|part| part.0 != own))
        {
            let known = PARTS.iter().map(|(part, _)| *part);
            return Err(format!("--map: {}", unknown("part of an RBM", own, known)));
        }
        let mut assumed = Vec::new();
        let parameters = mapped(file, "", names, &mut assumed)?;
        Ok((parameters, assumed))
    }

    /// The model.
    pub fn rbm(&self) -> Result<Rbm, ModelError> {
        let Self { values, weight, hidden_bias, visible_bias, data_mean } = self;
        Rbm::new(*values, weight, hidden_bias, visible_bias, data_mean.as_deref())
    }
}

/// Reads an RBM from a file whose tensors may have other names; the error is the reason alone. With it comes
/// what was assumed.
pub(super) fn read(path: &Path, names: &[(String, String)]) -> Result<(Rbm, Vec<String>), String> {
    let bytes = tensor_file::read(path)?;
    let (parameters, assumed) = RbmParameters::of(&Tensors::new(&bytes)?, names)?;
    Ok((parameters.rbm().map_err(|error| error.to_string())?, assumed))
}

/// The parts of an RBM, and what others call them.
const PARTS: [(&str, &[&str]); 4] = [
    ("weight", &["W", "w", "weights", "rbm.W", "components_"]),
    (
        "hidden_bias",
        &["c", "h_bias", "hbias", "bh", "bias_h", "hidden.bias", "rbm.h_bias", "intercept_hidden_"],
    ),
    (
        "visible_bias",
        &[
            "b",
            "a",
            "v_bias",
            "vbias",
            "bv",
            "bias_v",
            "visible.bias",
            "rbm.v_bias",
            "intercept_visible_",
        ],
    ),
    ("data_mean", &[]),
];

/// The tensor that is a part: the one that was named, our own name, or the only one of those that others use.
fn tensor_of(
    file: &impl NamedTensors,
    part: &str,
    names: &[(String, String)],
    assumed: &mut Vec<String>,
) -> String {
    if let Some((_, name)) = names.iter().find(|(own, _)| own == part) {
        return name.clone();
    }
    // Hinton's letters, of which the second is others' first.
    let hintons = ["hidden_bias", "visible_bias"].iter().all(|part| !file.contains(part))
        && ["a", "b"].iter().all(|name| file.contains(name))
        && !PARTS[1].1.iter().any(|name| file.contains(name));
    let letter = match part {
        "visible_bias" if hintons => Some("a"),
        "hidden_bias" if hintons => Some("b"),
        _ => None,
    };
    if let Some(letter) = letter {
        assumed.push(format!("{part} is {letter}"));
        return letter.to_owned();
    }
    let others = PARTS.iter().find(|(own, _)| *own == part).map_or(&[][..], |(_, others)| *others);
    let found: Vec<&&str> = others.iter().filter(|name| file.contains(name)).collect();
    match found[..] {
        [name] if !file.contains(part) => {
            assumed.push(format!("{part} is {name}"));
            (*name).to_string()
        }
        _ => part.to_owned(),
    }
}

/// The RBM whose tensors have names with that prefix.
pub(super) fn rbm(file: &Tensors<'_>, prefix: &str) -> Result<Rbm, String> {
    let parameters = mapped(file, prefix, &[], &mut Vec::new())?;
    parameters.rbm().map_err(|error| format!("{prefix}{error}"))
}

fn mapped(
    file: &impl NamedTensors,
    prefix: &str,
    names: &[(String, String)],
    assumed: &mut Vec<String>,
) -> Result<RbmParameters, String> {
    let mut name = |part: &str| match prefix {
        "" => tensor_of(file, part, names, assumed),
        prefix => format!("{prefix}{part}"),
    };
    let [weight, hidden_bias, visible_bias, data_mean] = PARTS.map(|(part, _)| name(part));
    let (hidden_bias, shape) = file.floats(&hidden_bias)?;
    let [hidden] = shape[..] else {
        return Err(format!("tensor {prefix}hidden_bias has shape {shape:?}, expected [hidden]"));
    };
    let (visible_bias, visible_shape) = file.floats(&visible_bias)?;
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
    let weight = match weight.strip_suffix(".T") {
        // Named as transposed, unless that is the tensor's own name.
        Some(name) if !file.contains(&weight) => transposed(file, name, &shape)?,
        _ if file.floats(&weight)?.1 != shape && is_transposed(file, &weight, &shape) => {
            assumed.push(format!("{weight} is transposed"));
            transposed(file, &weight, &shape)?
        }
        _ => {
            if prefix.is_empty() && shape.len() == 2 && hidden == visible_shape[0] {
                assumed.push(format!("{weight} is square, and read as [hidden, visible]"));
            }
            file.floats_of_shape(&weight, &shape)?
        }
    };
    let data_mean = match file.contains(&data_mean) {
        true => Some(file.floats_of_shape(&data_mean, &visible_shape)?),
        false => None,
    };
    Ok(RbmParameters { values, weight, hidden_bias, visible_bias, data_mean })
}

fn is_transposed(file: &impl NamedTensors, name: &str, shape: &[usize]) -> bool {
    let reversed: Vec<usize> = shape.iter().rev().copied().collect();
    shape.len() == 2 && file.floats(name).is_ok_and(|(_, found)| found == reversed)
}

/// Weights that are kept as [visible, hidden].
fn transposed(file: &impl NamedTensors, name: &str, shape: &[usize]) -> Result<Vec<f32>, String> {
    let &[hidden, visible] = shape else {
        return Err(format!(
            "tensor {name} has {} dimensions: only two are transposed",
            shape.len()
        ));
    };
    let numbers = file.floats_of_shape(name, &[visible, hidden])?;
    Ok((0..hidden)
        .flat_map(|h| (0..visible).map(move |v| (h, v)))
        .map(|(h, v)| numbers[v * hidden + h])
        .collect())
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
        let path = folder.path().join("rbm.safetensors");
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
        let path = file(&folder, &with(("weight", Dtype::I32, &[2, 3])), same);
        assert_eq!(reason(&path), "tensor weight has type I32, expected F32");
        let path = file(&folder, &with(("weight", F32, &[3, 3])), same);
        assert_eq!(reason(&path), "tensor weight has shape [3, 3], expected [2, 3]");
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

    /// The same weights under other names, transposed, and in other types.
    #[test]
    fn weights_of_others_are_read_and_what_was_assumed_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let weight = [0.5, -1.0, 0.25, 2.0, 1.5, -0.125f32];
        let (hidden_bias, visible_bias) = ([0.5, -0.25], [1.0, 0.5, -2.0f32]);
        let expected = Rbm::new(2, &weight, &hidden_bias, &visible_bias, None).unwrap();
        let flipped: Vec<f32> = (0..6).map(|at| weight[at % 2 * 3 + at / 2]).collect();
        let doubles = |numbers: &[f32]| -> Vec<u8> {
            numbers.iter().flat_map(|number| f64::from(*number).to_le_bytes()).collect()
        };
        let write = |names: [&str; 3], weight: (&[f32], &[usize])| {
            let data = [doubles(weight.0), doubles(&hidden_bias), doubles(&visible_bias)];
            let shapes = [weight.1.to_vec(), vec![2], vec![3]];
            let views = names.iter().zip(&data).zip(shapes).map(|((name, data), shape)| {
                (*name, TensorView::new(Dtype::F64, shape, data).unwrap())
            });
            let path = folder.path().join("other.safetensors");
            serialize_to_file(views, None, &path).unwrap();
            path
        };
        let log_prob = |rbm: &Rbm| {
            let mut out = [0.0; 2];
            let states = crate::space::States::new(&[1, 0, 1, 0, 1, 1], 3);
            rbm.log_prob(states, &mut rbm.new_cache(2), &mut out).unwrap();
            out
        };
        let path = write(["W", "c", "b"], (&flipped, &[3, 2]));
        let (rbm, assumed) = read(&path, &[]).unwrap();
        assert_eq!(log_prob(&rbm), log_prob(&expected));
        assert_eq!(
            assumed,
            ["weight is W", "hidden_bias is c", "visible_bias is b", "W is transposed"]
        );
        let map = [("weight", "x.T"), ("hidden_bias", "y"), ("visible_bias", "z")];
        let map = map.map(|(own, name)| (own.to_owned(), name.to_owned()));
        let path = write(["x", "y", "z"], (&flipped, &[3, 2]));
        assert_eq!(log_prob(&read(&path, &map).unwrap().0), log_prob(&expected));
    }
}
