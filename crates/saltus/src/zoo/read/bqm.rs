//! dimod's binary quadratic models: `.bqm` files of versions 1 and 2, and JSON of schema 3.0.0.

use super::ModelFile;
use super::quadratic::{Quadratic, Vartype, finite};
use super::text::decode;
use serde_json::Value;

const MAGIC: &[u8] = b"DIMODBQM";
/// dimod's other models, which begin alike.
const OTHERS: [(&[u8], &str); 3] = [
    (
        b"DIMODCQM",
        "a constrained quadratic model (constraints are --one-hot, --fixed-sum and --clamp here)",
    ),
    (b"DIMODDQM", "a discrete quadratic model"),
    (b"DIMODQM", "a quadratic model of variables of several types"),
];

pub(super) fn detect(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) || other(bytes).is_some()
}

/// What dimod calls a file that is none of these.
fn other(bytes: &[u8]) -> Option<&'static str> {
    OTHERS.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, what)| *what)
}

pub(super) fn detect_json(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 16)]).into_owned();
    head.trim_start_matches('\u{feff}').trim_start().starts_with('{')
        && head.contains("\"BinaryQuadraticModel\"")
}

/// Little-endian numbers, one after the other.
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn take(&mut self, length: usize) -> Result<&'b [u8], String> {
        let taken = self.0.split_at_checked(length).ok_or("ends before its last number")?;
        self.0 = taken.1;
        Ok(taken.0)
    }

    fn whole(&mut self, size: usize) -> Result<u64, String> {
        let bytes = self.take(size)?;
        Ok(bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }

    fn float(&mut self, size: usize) -> Result<f64, String> {
        let bits = self.whole(size)?;
        let number =
            if size == 4 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) };
        finite(number, 0).map_err(|_| format!("holds the bias {number}"))
    }
}

pub(super) fn read(bytes: &[u8]) -> Result<ModelFile, String> {
    if let Some(what) = other(bytes) {
        return Err(format!(
            "is dimod's file of {what}, which is not read; binary quadratic models are"
        ));
    }
    let mut rest = Bytes(bytes.strip_prefix(MAGIC).ok_or("does not begin with DIMODBQM")?);
    let version = (rest.whole(1)?, rest.whole(1)?);
    if !matches!(version.0, 1 | 2) {
        return Err(format!("is of version {}.{}; 1 and 2 are known", version.0, version.1));
    }
    let length = rest.whole(4)? as usize;
    let header: Value = serde_json::from_slice(rest.take(length)?)
        .map_err(|error| format!("has a header that is not JSON: {error}"))?;
    let text = |key: &str| header[key].as_str().unwrap_or_default().to_owned();
    let size = |key: &str| match text(key).as_str() {
        "float64" | "uint64" | "int64" => Ok(8),
        "float32" | "uint32" | "int32" => Ok(4),
        "uint16" | "int16" => Ok(2),
        other => Err(format!("has a header whose {key} is '{other}'")),
    };
    let (bias_size, index_size, start_size) = (size("dtype")?, size("itype")?, size("ntype")?);
    let vartype = Vartype::named(&text("vartype"))
        .ok_or_else(|| format!("has a header whose vartype is '{}'", text("vartype")))?;
    let shape = |at: usize| header["shape"][at].as_u64().ok_or("has a header without a shape");
    let (variables, pairs) = (shape(0)? as usize, shape(1)? as usize);
    let offset = rest.float(bias_size)?;
    let needed = variables
        .checked_mul(start_size + bias_size)
        .zip(pairs.checked_mul(2 * (index_size + bias_size)))
        .and_then(|(one, other)| one.checked_add(other));
    if needed.is_none_or(|needed| needed > rest.0.len()) || variables == 0 {
        return Err(format!(
            "announces {variables} variables and {pairs} pairs, which it does not hold"
        ));
    }
    let mut model = Quadratic::new(vartype, variables);
    model.offset = offset;
    let mut starts = Vec::with_capacity(variables);
    for site in 0..variables {
        starts.push(rest.whole(start_size)? as usize);
        model.linear[site] = rest.float(bias_size)?;
    }
    model.quadratic.reserve(pairs);
    let mut site = 0;
    for entry in 0..2 * pairs {
        while site + 1 < variables && starts[site + 1] <= entry {
            site += 1;
        }
        let (other, bias) = (rest.whole(index_size)? as usize, rest.float(bias_size)?);
        if other >= variables || other == site {
            return Err(format!("joins variable {site} to variable {other} of {variables}"));
        }
        // Every pair stands in the rows of both.
        if other < site {
            model.quadratic.push((other as u32, site as u32, bias));
        }
    }
    if model.quadratic.len() != pairs {
        return Err(format!("has {} pairs in its rows, not {pairs}", model.quadratic.len()));
    }
    let mut file = model.file("binary quadratic model", Vec::new());
    // Version 1 has the labels in its header.
    if version.0 == 1 {
        name_sites(&mut file, &header["variables"], variables);
    }
    if version.0 > 1
        && header["variables"] == true
        && rest.take(4).is_ok_and(|name| name == b"VARS")
    {
        let length = rest.whole(4)? as usize;
        let labels: Value = serde_json::from_slice(rest.take(length)?)
            .map_err(|error| format!("has labels that are not JSON: {error}"))?;
        name_sites(&mut file, &labels, variables);
    }
    Ok(file)
}

/// Takes over what a file calls its variables, if there is one name for each.
fn name_sites(file: &mut ModelFile, labels: &Value, variables: usize) {
    let Some(labels) = labels.as_array().filter(|labels| labels.len() == variables) else {
        return;
    };
    if labels.iter().enumerate().all(|(place, label)| label.as_u64() == Some(place as u64)) {
        return;
    }
    let name = |label: &Value| super::SiteNames {
        site: label.as_str().map_or_else(|| label.to_string(), str::to_owned),
        values: Vec::new(),
    };
    // Names that are numbers would be taken for places.
    if labels.iter().all(Value::is_string) {
        file.names = labels.iter().map(name).collect();
    } else {
        file.assumed.push("variables are numbered from 0 in the order of the file".to_owned());
    }
}

pub(super) fn read_json(bytes: &[u8]) -> Result<ModelFile, String> {
    let json: Value = serde_json::from_str(&decode(bytes)?)
        .map_err(|error| format!("is not whole JSON: {error}"))?;
    if json["type"] != "BinaryQuadraticModel" {
        return Err("is JSON, but its type is not BinaryQuadraticModel".to_owned());
    }
    if json["use_bytes"] == true {
        return Err(
            "keeps its numbers as bytes inside JSON (use_bytes): write it without them, or as .bqm"
                .to_owned(),
        );
    }
    let named = json["variable_type"].as_str().unwrap_or_default();
    let vartype = Vartype::named(named).ok_or_else(|| format!("has variable_type '{named}'"))?;
    let numbers = |key: &str| -> Result<Vec<f64>, String> {
        let list = json[key].as_array().ok_or_else(|| format!("has no list {key}"))?;
        let number = |value: &Value| {
            value.as_f64().ok_or_else(|| format!("has an entry of {key} that is no number"))
        };
        list.iter().map(|value| finite(number(value)?, 1)).collect()
    };
    let (linear, biases) = (numbers("linear_biases")?, numbers("quadratic_biases")?);
    let (head, tail) = (numbers("quadratic_head")?, numbers("quadratic_tail")?);
    if linear.is_empty() || head.len() != biases.len() || tail.len() != biases.len() {
        return Err(format!(
            "has {} linear biases, and lists of {}, {} and {} for its pairs",
            linear.len(),
            head.len(),
            tail.len(),
            biases.len()
        ));
    }
    let variables = linear.len();
    let mut model = Quadratic { linear, ..Quadratic::new(vartype, 0) };
    model.offset = json["offset"].as_f64().unwrap_or(0.0);
    for ((one, other), bias) in head.iter().zip(&tail).zip(biases) {
        let fits = |site: f64| site >= 0.0 && site < variables as f64 && site.fract() == 0.0;
        if !fits(*one) || !fits(*other) || one == other {
            return Err(format!("joins variable {one} to variable {other} of {variables}"));
        }
        model.quadratic.push((*one as u32, *other as u32, bias));
    }
    let mut file = model.file("binary quadratic model", Vec::new());
    name_sites(&mut file, &json["variable_labels"], variables);
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::super::Body;
    use super::super::quadratic::energy;
    use super::*;

    /// Two bits of biases 1 and 2, joined by 4, at an offset of 8.
    fn binary(version: u8, vartype: &str) -> Vec<u8> {
        let mut header = format!(
            "{{\"dtype\": \"float64\", \"itype\": \"uint32\", \"ntype\": \"uint64\", \"shape\": [2, 1], \
             \"type\": \"AdjVectorBQM\", \"vartype\": \"{vartype}\"}}"
        )
        .into_bytes();
        header.resize((14 + header.len()).next_multiple_of(64) - 14, b' ');
        let mut bytes =
            [MAGIC, &[version, 0], &(header.len() as u32).to_le_bytes(), &header].concat();
        bytes.extend(8f64.to_le_bytes());
        for (start, bias) in [(0u64, 1f64), (1, 2.0)] {
            bytes.extend(start.to_le_bytes());
            bytes.extend(bias.to_le_bytes());
        }
        for (other, bias) in [(1u32, 4f64), (0, 4.0)] {
            bytes.extend(other.to_le_bytes());
            bytes.extend(bias.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn both_forms_have_the_energies_they_were_made_of() {
        let json = r#"{"type": "BinaryQuadraticModel", "version": {"bqm_schema": "3.0.0"}, "use_bytes": false,
            "variable_labels": ["a", "b"], "variable_type": "BINARY", "offset": 8, "linear_biases": [1, 2],
            "quadratic_biases": [4], "quadratic_head": [0], "quadratic_tail": [1]}"#;
        assert!(detect_json(json.as_bytes()) && detect(&binary(1, "BINARY")));
        let files = [
            read(&binary(1, "BINARY")).unwrap(),
            read(&binary(2, "BINARY")).unwrap(),
            read_json(json.as_bytes()).unwrap(),
        ];
        assert_eq!(files[2].names[1].site, "b");
        let marked = format!("\u{feff}{json}");
        assert!(detect_json(marked.as_bytes()));
        assert_eq!(read_json(marked.as_bytes()).unwrap(), files[2]);
        for file in files {
            let Body::Spins(spins) = file.body else { panic!("spins") };
            for (state, expected) in [([0, 0], 8.0), ([1, 0], 9.0), ([0, 1], 10.0), ([1, 1], 15.0)]
            {
                assert!((energy(&spins, &state) - expected).abs() < 1e-12, "{state:?}");
            }
        }
    }

    #[test]
    fn labels_of_version_1_stand_in_the_header() {
        let file = read(&binary(1, "SPIN\", \"variables\": [\"a\", \"b\"], \"more\": \"")).unwrap();
        assert_eq!(file.names[1].site, "b");
    }

    #[test]
    fn labels_of_version_2_are_names() {
        let labelled = |labels: &str| {
            let mut bytes = binary(2, "SPIN\", \"variables\": true, \"more\": \"");
            bytes.extend(b"VARS");
            bytes.extend((labels.len() as u32).to_le_bytes());
            bytes.extend(labels.as_bytes());
            read(&bytes)
        };
        assert_eq!(labelled("[\"a\", \"b\"]").unwrap().names[1].site, "b");
        let numbered = labelled("[0, 1]").unwrap();
        assert!(numbered.names.is_empty() && numbered.assumed.len() == 2);
        let others = labelled("[3, 7]").unwrap();
        assert!(others.names.is_empty() && others.assumed[2].contains("in the order of the file"));
        assert!(labelled("[").unwrap_err().contains("labels that are not JSON"));
    }

    #[test]
    fn what_is_broken_is_refused() {
        let whole = binary(1, "BINARY");
        for length in 0..whole.len() {
            assert!(read(&whole[..length]).is_err(), "{length} bytes");
        }
        assert!(read(&binary(3, "BINARY")).unwrap_err().contains("version 3"));
        assert!(read(&binary(1, "POTTS")).unwrap_err().contains("vartype is 'POTTS'"));
        assert!(read_json(b"{}").unwrap_err().contains("not BinaryQuadraticModel"));
        assert!(detect(b"DIMODCQM\x01\x03") && !detect(b"DIMOD"));
        assert!(read(b"DIMODCQM\x01\x03").unwrap_err().contains("a constrained quadratic model"));
    }
}
