//! Model files out: what was read in one format, written in another.

mod forms;
mod numpy;

use forms::TOO_WIDE;
pub(crate) use forms::{Forms, tables_of};
pub use numpy::{Npy, npz};

use super::read::{Body, Format, ModelFile, Spins};
use crate::model::factor::Factor;
use crate::model::polynomial::Variables;
use crate::tensor_file::Tensor;
use serde_json::json;
use std::fmt::Write;

/// The formats that models are written in.
pub const WRITTEN: [Format; 10] = [
    Format::Uai,
    Format::Dca,
    Format::Coo,
    Format::Poly,
    Format::Json,
    Format::Bqm,
    Format::Qubo,
    Format::MatrixMarket,
    Format::Gset,
    Format::Numpy,
];

/// The bytes of a file in another format, if the format has room for such a model.
///
/// What the format cannot say (names, constants of formats that have none) is lost; what it can say is written with all
/// digits.
///
/// ```
/// use saltus::zoo::read::Format;
/// use saltus::zoo::write::write;
/// let coin = Format::Uai.read(b"MARKOV 1 2 1 1 0 2 0.25 0.75")?;
/// let again = Format::Uai.read(&write(&coin, Format::Uai)?)?;
/// assert_eq!(again.body, coin.body);
/// # Ok::<(), String>(())
/// ```
pub fn write(file: &ModelFile, format: Format) -> Result<Vec<u8>, String> {
    let forms = Forms(&file.body);
    let text = match format {
        Format::Uai => uai(&forms.tables()?),
        Format::Dca => dca(&forms.pair_tables()?, file)?,
        Format::Coo => coo(&forms.spins()?),
        Format::Poly => poly(&forms)?,
        Format::Json => bqm_json(&forms.spins()?, file),
        Format::Bqm => return Ok(bqm(&forms.spins()?, file)),
        Format::Qubo => qubo(&forms.spins()?),
        Format::MatrixMarket => matrix_market(&forms.spins()?),
        Format::Gset => gset(&forms.spins()?)?,
        Format::Numpy => return numpy::of_body(&file.body),
        Format::Tensors => return tensors(&file.body),
        Format::Bif => {
            let known: Vec<&str> = WRITTEN.iter().map(|format| format.name()).collect();
            return Err(format!("{format} is read, but not written: write {}", known.join(", ")));
        }
    };
    Ok(text.into_bytes())
}

/// How much larger log π was before a model was written, if its format has no place for a constant.
pub fn constant_lost(file: &ModelFile, written: &ModelFile) -> Option<f64> {
    let lost = of_zeros(&file.body)? - of_zeros(&written.body)?;
    (lost.abs() > 1e-6).then_some(lost)
}

/// log π of the state of zeros, unless that is impossible or an RBM's.
fn of_zeros(body: &Body) -> Option<f64> {
    let log_prob = match body {
        Body::Factors { factors, .. } => {
            factors.iter().filter_map(|factor| factor.log_values().first()).sum()
        }
        Body::Spins(Spins { fields, couplings, constant }) => {
            let couplings: f64 = couplings.iter().map(|pair| pair.2).sum();
            constant - fields.iter().sum::<f64>() + couplings
        }
        Body::Polynomial(terms) => {
            let of_term = |(scope, coefficient): &(Vec<u32>, f64)| match terms.variables {
                Variables::Spins if scope.len() % 2 == 1 => -coefficient,
                Variables::Spins => *coefficient,
                Variables::Bits if scope.is_empty() => *coefficient,
                Variables::Bits => 0.0,
            };
            terms.terms.iter().map(of_term).sum()
        }
        Body::Rbm(_) => return None,
    };
    log_prob.is_finite().then_some(log_prob)
}

fn list(numbers: impl Iterator<Item = String>) -> String {
    numbers.collect::<Vec<_>>().join(" ")
}

/// Numbers are written so that they are read as the same.
fn uai((cardinalities, factors): &(Vec<usize>, Vec<Factor>)) -> String {
    let mut text = format!("MARKOV\n{}\n", cardinalities.len());
    let _ = writeln!(text, "{}", list(cardinalities.iter().map(usize::to_string)));
    let _ = writeln!(text, "{}", factors.len());
    for factor in factors {
        let scope = list(factor.scope().iter().map(u32::to_string));
        let _ = writeln!(text, "{} {scope}", factor.scope().len());
    }
    for factor in factors {
        let entries = list(factor.log_values().iter().map(|log| potential(*log)));
        let _ = writeln!(text, "\n{}\n{entries}", factor.log_values().len());
    }
    text
}

/// The shortest number whose logarithm is that one.
fn potential(log: f64) -> String {
    let value = log.exp();
    let nearby = [value, value.next_up(), value.next_down()];
    let exact = nearby.into_iter().find(|value| value.ln() == log);
    // A number with few digits is likely what it was made of.
    let short: f64 = format!("{value:.12e}").parse().unwrap_or(value);
    if short.ln() == log { short.to_string() } else { exact.unwrap_or(value).to_string() }
}

/// Couplings and fields, in the letters that the file has for its values. Every site has a line, so that their number is
/// kept.
fn dca(
    (cardinalities, factors): &(Vec<usize>, Vec<Factor>),
    file: &ModelFile,
) -> Result<String, String> {
    let values = cardinalities.first().copied().unwrap_or(2);
    let letters = file.names.first().map(|names| names.values.clone()).unwrap_or_default();
    let is_alphabet = letters.len() == values
        && letters.iter().all(|letter| letter.chars().count() == 1)
        && file.names.iter().all(|names| names.values == letters);
    let letter = |value: usize| match is_alphabet {
        true => letters[value].clone(),
        false => value.to_string(),
    };
    let mut text = String::new();
    let mut fields = vec![vec![0.0; values]; cardinalities.len()];
    for factor in factors {
        match *factor.scope() {
            [site] => {
                let field = fields[site as usize].iter_mut().zip(factor.log_values());
                field.for_each(|(field, log)| *field += log);
            }
            [i, j] => {
                for (place, log) in factor.log_values().iter().enumerate() {
                    let (a, b) = (letter(place / values), letter(place % values));
                    let _ = writeln!(text, "J {i} {j} {a} {b} {log}");
                }
            }
            // A constant, which such files have no place for.
            [] => {}
            [_, _, _, ..] => return Err(TOO_WIDE.to_owned()),
        }
    }
    for (site, field) in fields.iter().enumerate() {
        for (value, log) in field.iter().enumerate() {
            let _ = writeln!(text, "h {site} {} {log}", letter(value));
        }
    }
    Ok(text)
}

/// Energies are −log π; the constant is lost, which COO files have no place for.
fn coo(spins: &Spins) -> String {
    let mut text = "# vartype=SPIN\n".to_owned();
    for (site, field) in spins.fields.iter().enumerate() {
        // The last one is written in any case, so that the number of variables is kept.
        if *field != 0.0 || site + 1 == spins.fields.len() {
            let _ = writeln!(text, "{site} {site} {}", -field);
        }
    }
    for (one, other, weight) in &spins.couplings {
        let _ = writeln!(text, "{one} {other} {}", -weight);
    }
    text
}

/// Energies are −log π.
fn poly(forms: &Forms<'_>) -> Result<String, String> {
    let terms = forms.polynomial()?;
    let vartype = match terms.variables {
        Variables::Spins => "SPIN",
        Variables::Bits => "BINARY",
    };
    let mut text = format!("# vartype={vartype}\n");
    let last = terms.sites.saturating_sub(1) as u32;
    if !terms.terms.iter().any(|(scope, _)| scope.contains(&last)) {
        let _ = writeln!(text, "{last} 0");
    }
    for (scope, coefficient) in &terms.terms {
        let sites = list(scope.iter().map(u32::to_string));
        let _ = writeln!(text, "{sites} {}", -coefficient);
    }
    Ok(text)
}

/// What variables are called: as the file has it, or by their numbers.
fn labels(spins: &Spins, file: &ModelFile) -> Vec<serde_json::Value> {
    match file.names.len() == spins.fields.len() {
        true => file.names.iter().map(|names| json!(names.site)).collect(),
        false => (0..spins.fields.len()).map(|site| json!(site)).collect(),
    }
}

/// dimod's JSON, schema 3.0.0.
fn bqm_json(spins: &Spins, file: &ModelFile) -> String {
    let numbers = |numbers: &mut dyn Iterator<Item = f64>| numbers.collect::<Vec<f64>>();
    let ends = |end: fn(&(u32, u32, f64)) -> u32| spins.couplings.iter().map(end).collect();
    let (heads, tails): (Vec<u32>, Vec<u32>) = (ends(|pair| pair.0), ends(|pair| pair.1));
    json!({
        "type": "BinaryQuadraticModel",
        "version": { "bqm_schema": "3.0.0" },
        "use_bytes": false,
        "index_type": "uint32",
        "bias_type": "float64",
        "num_variables": spins.fields.len(),
        "num_interactions": spins.couplings.len(),
        "variable_labels": labels(spins, file),
        "variable_type": "SPIN",
        "offset": -spins.constant,
        "info": {},
        "linear_biases": numbers(&mut spins.fields.iter().map(|field| -field)),
        "quadratic_biases": numbers(&mut spins.couplings.iter().map(|pair| -pair.2)),
        "quadratic_head": heads,
        "quadratic_tail": tails,
    })
    .to_string()
}

/// dimod's `.bqm`, version 1: every pair stands in the rows of both variables.
fn bqm(spins: &Spins, file: &ModelFile) -> Vec<u8> {
    let variables = spins.fields.len();
    let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); variables];
    for (one, other, weight) in &spins.couplings {
        rows[*one as usize].push((*other, -weight));
        rows[*other as usize].push((*one, -weight));
    }
    // What a pair says several times adds up.
    for row in &mut rows {
        row.sort_by_key(|(other, _)| *other);
        row.dedup_by(|next, first| {
            let same = next.0 == first.0;
            if same {
                first.1 += next.1;
            }
            same
        });
    }
    let pairs = rows.iter().map(Vec::len).sum::<usize>() / 2;
    let header = json!({
        "dtype": "float64", "itype": "uint32", "ntype": "uint64", "shape": [variables, pairs],
        "type": "AdjVectorBQM", "variables": labels(spins, file), "vartype": "SPIN",
    });
    let mut header = header.to_string().into_bytes();
    header.push(b'\n');
    header.resize((14 + header.len()).next_multiple_of(64) - 14, b' ');
    let mut bytes =
        [b"DIMODBQM\x01\x00", &(header.len() as u32).to_le_bytes()[..], &header].concat();
    bytes.extend((-spins.constant).to_le_bytes());
    let mut start = 0u64;
    for (row, field) in rows.iter().zip(&spins.fields) {
        bytes.extend(start.to_le_bytes());
        bytes.extend((-field).to_le_bytes());
        start += row.len() as u64;
    }
    for (other, bias) in rows.iter().flatten() {
        bytes.extend(other.to_le_bytes());
        bytes.extend(bias.to_le_bytes());
    }
    bytes
}

/// qbsolv's energies of bits, s = 2x − 1; the constant is lost.
fn qubo(spins: &Spins) -> String {
    let variables = spins.fields.len();
    let mut linear: Vec<f64> = spins.fields.iter().map(|field| -2.0 * field).collect();
    for (one, other, weight) in &spins.couplings {
        linear[*one as usize] += 2.0 * weight;
        linear[*other as usize] += 2.0 * weight;
    }
    let mut text = format!("p qubo 0 {variables} {variables} {}\n", spins.couplings.len());
    for (site, bias) in linear.iter().enumerate() {
        let _ = writeln!(text, "{site} {site} {bias}");
    }
    for (one, other, weight) in &spins.couplings {
        let _ = writeln!(text, "{one} {other} {}", -4.0 * weight);
    }
    text
}

/// A symmetric matrix of couplings, its lower half; the diagonal are the fields. The constant is lost.
fn matrix_market(spins: &Spins) -> String {
    let fields = || spins.fields.iter().enumerate().filter(|(_, field)| **field != 0.0);
    let (sites, entries) = (spins.fields.len(), fields().count() + spins.couplings.len());
    let mut text = "%%MatrixMarket matrix coordinate real symmetric\n".to_owned();
    let _ = writeln!(text, "{sites} {sites} {entries}");
    for (site, field) in fields() {
        let _ = writeln!(text, "{} {} {field}", site + 1, site + 1);
    }
    for (one, other, weight) in &spins.couplings {
        let _ = writeln!(text, "{} {} {weight}", one.max(other) + 1, one.min(other) + 1);
    }
    text
}

/// A graph to be cut: E = −cut, so J = −w/2.
fn gset(spins: &Spins) -> Result<String, String> {
    if let Some(site) = spins.fields.iter().position(|field| *field != 0.0) {
        return Err(format!("site {site} has a field, which a graph to be cut has no place for"));
    }
    let mut text = format!("{} {}\n", spins.fields.len(), spins.couplings.len());
    for (one, other, weight) in &spins.couplings {
        let _ = writeln!(text, "{} {} {}", one + 1, other + 1, -2.0 * weight);
    }
    Ok(text)
}

/// The weights of an RBM.
fn tensors(body: &Body) -> Result<Vec<u8>, String> {
    let Body::Rbm(rbm) = body else {
        return Err("only RBMs are written as safetensors".to_owned());
    };
    let (hidden, values) = (rbm.hidden_bias.len(), rbm.values);
    let visible = match values {
        2 => vec![rbm.visible_bias.len()],
        values => vec![rbm.visible_bias.len() / values, values],
    };
    let shape = [&[hidden], &visible[..]].concat();
    let mut all = vec![
        ("weight", Tensor::floats(&rbm.weight, shape)),
        ("hidden_bias", Tensor::floats(&rbm.hidden_bias, vec![hidden])),
        ("visible_bias", Tensor::floats(&rbm.visible_bias, visible.clone())),
    ];
    if let Some(mean) = &rbm.data_mean {
        all.push(("data_mean", Tensor::floats(mean, visible)));
    }
    safetensors::serialize(all, None).map_err(|error| error.to_string())
}
