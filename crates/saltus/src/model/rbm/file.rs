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

    /// Whether one of the tensors has a name that weights have.
    pub(crate) fn has_weights(file: &impl NamedTensors) -> bool {
        file.names().iter().any(|name| is_called(name, 0))
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

/// The parts of an RBM, and what others call them: letters alone, as [`plain`] leaves them.
const PARTS: [(&str, &[&str]); 4] = [
    ("weight", &["w", "weight", "weightmatrix", "component", "wvh", "whv"]),
    (
        "hidden_bias",
        &[
            "c",
            "h",
            "hb",
            "bh",
            "hbias",
            "biash",
            "hiddenbias",
            "biashidden",
            "hidbias",
            "bhid",
            "intercepthidden",
        ],
    ),
    (
        "visible_bias",
        &[
            "b",
            "a",
            "v",
            "vb",
            "bv",
            "vbias",
            "biasv",
            "visiblebias",
            "biasvisible",
            "visbias",
            "bvis",
            "interceptvisible",
        ],
    ),
    ("data_mean", &[]),
];

/// A name without signs, and in the singular: `h_biases` is `hbias`.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    let name: String = letters.flat_map(char::to_lowercase).collect();
    match name.as_str() {
        "weights" | "components" => name[..name.len() - 1].to_owned(),
        biases if biases.ends_with("biases") => name[..name.len() - 2].to_owned(),
        _ => name,
    }
}

/// Whether a tensor may be a part by its name, whatever modules it stands in: `model.rbm.h_bias` is `h_bias` of a part of a model.
fn is_called(name: &str, part: usize) -> bool {
    let starts = name.match_indices('.').map(|(dot, _)| dot + 1);
    let mut names = [0].into_iter().chain(starts).map(|start| plain(&name[start..]));
    names.any(|name| PARTS[part].1.contains(&name.as_str()))
}

/// The tensor that is a part: the one that was named, our own name, or the only one of those that others use.
fn tensor_of(
    file: &impl NamedTensors,
    part: usize,
    names: &[(String, String)],
    assumed: &mut Vec<String>,
) -> String {
    let own = PARTS[part].0;
    if let Some((_, name)) = names.iter().find(|(named, _)| named == own) {
        return name.clone();
    }
    if file.contains(own) {
        return own.to_owned();
    }
    let called = |part: usize| {
        let mut found = file.names();
        found.retain(|name| is_called(name, part));
        found
    };
    // Hinton's letters, of which the second is others' first.
    let hintons = called(1).is_empty() && ["a", "b"].iter().all(|name| file.contains(name));
    let name = match (own, &called(part)[..]) {
        ("visible_bias", _) if hintons => "a",
        ("hidden_bias", _) if hintons => "b",
        (_, [name]) => name,
        _ => return own.to_owned(),
    };
    assumed.push(format!("{own} is {name}"));
    name.to_owned()
}

/// The numbers of a bias and its shape; of one row or one column of a matrix, as a list.
fn bias_of(file: &impl NamedTensors, name: &str) -> Result<(Vec<f32>, Vec<usize>), String> {
    let (numbers, shape) = file.floats(name)?;
    match shape[..] {
        [1, _] | [_, 1] => Ok((numbers.clone(), vec![numbers.len()])),
        _ => Ok((numbers, shape)),
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
    let name = |part: usize| match prefix {
        "" => tensor_of(file, part, names, assumed),
        prefix => format!("{prefix}{}", PARTS[part].0),
    };
    let [weight, hidden_bias, visible_bias, data_mean] = [0, 1, 2, 3].map(name);
    let (hidden_bias, shape) = bias_of(file, &hidden_bias)?;
    let [hidden] = shape[..] else {
        return Err(format!("tensor {prefix}hidden_bias has shape {shape:?}, expected [hidden]"));
    };
    let (visible_bias, visible_shape) = bias_of(file, &visible_bias)?;
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
        let turned = [("hidden_bias", F32, &[1, 2][..]), ("visible_bias", F32, &[3, 1])];
        let path = file(&folder, &[turned[0], turned[1], ("weight", F32, &[2, 3])], same);
        assert_eq!(Rbm::load(&path).unwrap().hidden(), 2);
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
        // Other names, biases that are a row or a column, and modules that they stand in.
        for names in [
            ["model.rbm.W", "model.rbm.h_biases", "model.rbm.v_biases"],
            ["Weights", "hb", "vb"],
            ["components_", "intercept_hidden_", "intercept_visible_"],
            ["W", "hidden.bias", "visible.bias"],
            ["w", "b", "a"],
        ] {
            let path = write(names, (&weight, &[2, 3]));
            let (rbm, assumed) = read(&path, &[]).unwrap();
            assert_eq!(log_prob(&rbm), log_prob(&expected), "{names:?}");
            assert_eq!(assumed[1], format!("hidden_bias is {}", names[1]));
        }
        let map = [("weight", "x.T"), ("hidden_bias", "y"), ("visible_bias", "z")];
        let map = map.map(|(own, name)| (own.to_owned(), name.to_owned()));
        let path = write(["x", "y", "z"], (&flipped, &[3, 2]));
        assert_eq!(log_prob(&read(&path, &map).unwrap().0), log_prob(&expected));
    }
}
