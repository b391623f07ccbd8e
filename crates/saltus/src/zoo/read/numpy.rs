//! Models as arrays of numpy: fields `h` and couplings `J`, a matrix `Q` of bits, or the weights `W` of an RBM.

use super::arrays::{Array, Arrays, ONLY, is_numpy};
use super::pairs::Halves;
use super::quadratic::{Quadratic, Vartype};
use super::{Body, ModelFile, Spins};
use crate::model::factor::Factor;
use crate::model::polynomial::Variables;
use crate::model::rbm::RbmParameters;
use crate::tensor_file::NamedTensors;
use std::collections::BTreeMap;

const COUPLINGS: [&str; 5] = ["J", "couplings", "coupling", "coupling_matrix", ONLY];
const FIELDS: [&str; 5] = ["h", "fields", "field", "b", "bias"];

pub(super) fn detect(bytes: &[u8]) -> bool {
    is_numpy(bytes)
}

pub(super) fn read(bytes: &[u8]) -> Result<ModelFile, String> {
    read_as(bytes, &[])
}

/// The same, with names of the arrays of an RBM.
pub(super) fn read_as(bytes: &[u8], names: &[(String, String)]) -> Result<ModelFile, String> {
    let arrays = Arrays::new(bytes)?;
    if names.is_empty() {
        if let Some((name, matrix)) = arrays.first(&["Q"])? {
            return quadratic(name, matrix);
        }
        if let Some((name, couplings)) = arrays.first(&COUPLINGS)? {
            return pairwise(name, couplings, arrays.first(&FIELDS)?.map(|(_, fields)| fields));
        }
        if is_sparse(&arrays) {
            return sparse(&arrays);
        }
        if !RbmParameters::has_weights(&arrays) {
            return Err(format!(
                "has no array J (couplings), Q (a QUBO) or W (weights of an RBM); it has {}",
                arrays.names().join(", ")
            ));
        }
    }
    let (parameters, assumed) = RbmParameters::of(&arrays, names)?;
    Ok(super::tensors::file(parameters, assumed))
}

/// Couplings of spins, or tables of pairs.
fn pairwise(
    name: &str,
    couplings: &Array<'_>,
    fields: Option<&Array<'_>>,
) -> Result<ModelFile, String> {
    match (&couplings.shape[..], fields.map(|fields| &fields.shape[..])) {
        ([rows, columns], None | Some([_] | [1, _] | [_, 1])) if rows == columns => {
            spins(name, couplings, fields)
        }
        ([_, _, _, _], None | Some([_, _])) => tables(name, couplings, fields),
        (shape, fields) => Err(format!(
            "has {name} of shape {shape:?}{}; couplings are (sites, sites) with fields (sites), or \
             (sites, sites, values, values) with fields (sites, values)",
            fields.map_or(String::new(), |shape| format!(" and fields of shape {shape:?}"))
        )),
    }
}

/// Whether these are the parts of a matrix that scipy has saved.
fn is_sparse(arrays: &Arrays<'_>) -> bool {
    let has = |names: &[&str]| names.iter().all(|name| arrays.contains(name));
    has(&["data", "shape"]) && (has(&["row", "col"]) || has(&["indices", "indptr"]))
}

/// A sparse matrix of couplings, as `scipy.sparse.save_npz` writes it: log π = Σ_{i<j} J s s′ + Σ J_ii s, as in MatrixMarket.
fn sparse(arrays: &Arrays<'_>) -> Result<ModelFile, String> {
    let whole = |name: &str| -> Result<Vec<usize>, String> {
        let array = arrays.named(name)?;
        let numbers = (0..array.shape.iter().product()).map(|at| array.nth(at));
        let place = |number: f64| {
            let fits = number >= 0.0 && number.fract() == 0.0 && number < f64::from(u32::MAX);
            if fits { Ok(number as usize) } else { Err(format!("holds {number} in {name}")) }
        };
        numbers.map(place).collect()
    };
    let sites = match whole("shape")?[..] {
        [rows, columns] if rows == columns => sites_of("a matrix", rows)?,
        ref shape => return Err(format!("has a matrix of shape {shape:?}, not a square")),
    };
    let data = arrays.named("data")?;
    let entries = data.shape.iter().product::<usize>();
    // Rows or columns that are pointed to say the same of couplings.
    let (rows, columns) = match arrays.contains("row") {
        true => (whole("row")?, whole("col")?),
        false => {
            let (ends, columns) = (whole("indptr")?, whole("indices")?);
            let mut rows = Vec::with_capacity(entries);
            for (row, ends) in ends.windows(2).enumerate() {
                if ends[0] > ends[1] || ends[1] > entries {
                    return Err("has an indptr that does not fit its data".to_owned());
                }
                rows.resize(ends[1], row);
            }
            (rows, columns)
        }
    };
    // Sites without a coupling take memory as well.
    if rows.len() != entries || columns.len() != entries || sites > 64 + 8 * entries {
        return Err(format!(
            "has a sparse matrix of {sites} sites with {} rows, {} columns and {entries} numbers",
            rows.len(),
            columns.len()
        ));
    }
    let mut matrix = BTreeMap::new();
    for (at, (row, column)) in rows.into_iter().zip(columns).enumerate() {
        if row.max(column) >= sites {
            return Err(format!("has an entry {row} {column} in a matrix of {sites} sites"));
        }
        // Entries that are given several times add up in such matrices.
        *matrix.entry((row as u32, column as u32)).or_insert(0.0) += check("data", data.nth(at))?;
    }
    let (spins, halves) = super::matrix_market::spins_of(&matrix, sites)?;
    Ok(ModelFile {
        variables: Some(Variables::Spins),
        words: format!("Ising model of {sites} spins and {} couplings", spins.couplings.len()),
        body: Body::Spins(spins),
        assumed: vec![
            "a sparse matrix of scipy is J".to_owned(),
            halves.words("J"),
            "log π = Σ_{i<j} J s s′ + Σ J_ii s".to_owned(),
        ],
        names: Vec::new(),
    })
}

fn check(name: &str, number: f64) -> Result<f64, String> {
    match (number as f32).is_finite() {
        true => Ok(number),
        false => Err(format!("holds {number} in {name}, which cannot be used")),
    }
}

/// All pairs of sites, the first the smaller.
fn pairs(sites: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    (0..sites).flat_map(move |i| (i + 1..sites).map(move |j| (i, j)))
}

fn sites_of(name: &str, sites: usize) -> Result<usize, String> {
    match sites {
        0 => Err(format!("has {name} of no sites")),
        sites if sites > u32::MAX as usize => Err(format!("has {name} of {sites} sites")),
        sites => Ok(sites),
    }
}

/// log π = Σ_{i<j} J s s′ + Σ h s.
fn spins(
    name: &str,
    couplings: &Array<'_>,
    fields: Option<&Array<'_>>,
) -> Result<ModelFile, String> {
    let sites = sites_of(name, couplings.shape[0])?;
    let both = |i: usize, j: usize| (couplings.at(&[i, j]), couplings.at(&[j, i]));
    if let Some(site) = (0..sites).find(|site| couplings.at(&[*site, *site]) != 0.0) {
        return Err(format!("couples site {site} with itself in {name}: that belongs to h"));
    }
    let halves = Halves::of(name, pairs(sites).map(|(i, j)| both(i, j)))?;
    let mut spins = Spins { fields: vec![0.0; sites], ..Spins::default() };
    if let Some(fields) = fields {
        let found: usize = fields.shape.iter().product();
        if found != sites {
            return Err(format!("has {found} fields, but couplings of {sites} sites"));
        }
        for site in 0..sites {
            spins.fields[site] = check("the fields", fields.nth(site))?;
        }
    }
    for (i, j) in pairs(sites) {
        let weight = check(name, halves.joined(both(i, j)))?;
        if weight != 0.0 {
            spins.couplings.push((i as u32, j as u32, weight));
        }
    }
    Ok(ModelFile {
        variables: Some(Variables::Spins),
        words: format!("Ising model of {sites} spins and {} couplings", spins.couplings.len()),
        body: Body::Spins(spins),
        assumed: vec![halves.words(name), "log π = Σ_{i<j} J s s′ + Σ h s".to_owned()],
        names: Vec::new(),
    })
}

/// E = xᵀ Q x over bits: both halves add up.
fn quadratic(name: &str, matrix: &Array<'_>) -> Result<ModelFile, String> {
    let [rows, columns] = matrix.shape[..] else {
        return Err(format!("has {name} of shape {:?}, not a matrix", matrix.shape));
    };
    if rows != columns {
        return Err(format!("has {name} of shape {:?}, not a square", matrix.shape));
    }
    let sites = sites_of(name, rows)?;
    let mut model = Quadratic::new(Vartype::Binary, sites);
    for site in 0..sites {
        model.linear[site] = check(name, matrix.at(&[site, site]))?;
    }
    for (i, j) in pairs(sites) {
        let bias = check(name, matrix.at(&[i, j]) + matrix.at(&[j, i]))?;
        if bias != 0.0 {
            model.add(i as u32, j as u32, bias);
        }
    }
    Ok(model.file("quadratic energy", vec!["E = xᵀ Q x".to_owned()]))
}

/// The order of the indices of tables of pairs that is preferred.
const BY_SITES: &str = "(sites, sites, values, values)";

/// log π = Σ_{i<j} J_ij(a, b) + Σ h_i(a).
fn tables(
    name: &str,
    couplings: &Array<'_>,
    fields: Option<&Array<'_>>,
) -> Result<ModelFile, String> {
    let shape = &couplings.shape[..];
    // Which index is which: sites first, or sites and values in turn, as adabmDCA has them.
    let by_sites = shape[0] == shape[1] && shape[2] == shape[3];
    let in_turn = shape[0] == shape[2] && shape[1] == shape[3];
    let fits = |sites: usize, values: usize| {
        fields.is_none_or(|fields| fields.shape[..] == [sites, values])
    };
    let by_sites = by_sites && fits(shape[0], shape[2]);
    let in_turn = in_turn && fits(shape[0], shape[1]);
    let (sites, values) = match (by_sites, in_turn) {
        (true, _) => (shape[0], shape[2]),
        (false, true) => (shape[0], shape[1]),
        (false, false) => {
            return Err(format!(
                "has {name} of shape {shape:?}{}, neither (sites, sites, values, values) nor (sites, \
                 values, sites, values)",
                fields.map_or(String::new(), |one| format!(" and fields of shape {:?}", one.shape))
            ));
        }
    };
    let sites = sites_of(name, sites)?;
    if !(2..=256).contains(&values) {
        return Err(format!("has {values} values per site; between 2 and 256 can be sampled"));
    }
    let entry = |i: usize, j: usize, a: usize, b: usize| match by_sites {
        true => couplings.at(&[i, j, a, b]),
        false => couplings.at(&[i, a, j, b]),
    };
    let squares = move || (0..values).flat_map(move |a| (0..values).map(move |b| (a, b)));
    let both = |i, j, a, b| (entry(i, j, a, b), entry(j, i, b, a));
    let all = pairs(sites).flat_map(|(i, j)| squares().map(move |(a, b)| (i, j, a, b)));
    let order = if by_sites { BY_SITES } else { "(sites, values, sites, values)" };
    // As many sites as values: the shape does not tell the order.
    let as_read = |reason: String| match sites == values {
        true => format!("{reason}, read as {order}; with as many values as sites it must be that"),
        false => reason,
    };
    let halves = Halves::of(name, all.map(|(i, j, a, b)| both(i, j, a, b))).map_err(as_read)?;
    let mut factors = Vec::new();
    let failed = |error: crate::error::ModelError| error.to_string();
    if let Some(fields) = fields {
        for site in 0..sites {
            let logs = (0..values).map(|value| check("the fields", fields.at(&[site, value])));
            let logs: Vec<f64> = logs.collect::<Result<_, _>>()?;
            factors.push(Factor::new([site as u32], logs).map_err(failed)?);
        }
    }
    let mut coupled = 0;
    for (i, j) in pairs(sites) {
        let logs = squares().map(|(a, b)| check(name, halves.joined(both(i, j, a, b))));
        let logs: Vec<f64> = logs.collect::<Result<_, _>>()?;
        if logs.iter().any(|log| *log != 0.0) {
            coupled += 1;
            factors.push(Factor::new([i as u32, j as u32], logs).map_err(failed)?);
        }
    }
    Ok(ModelFile {
        variables: None,
        body: Body::Factors { cardinalities: vec![values; sites], factors },
        words: format!("Potts model of {sites} sites and {coupled} coupled pairs"),
        assumed: vec![
            format!("{name} is {order}"),
            halves.words(name),
            "log p = Σ h + Σ J".to_owned(),
        ],
        names: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zoo::write;

    fn array(shape: &[usize], numbers: &[f64]) -> write::Npy {
        write::Npy { shape: shape.to_vec(), numbers: numbers.to_vec() }
    }

    fn npz(arrays: &[(&str, write::Npy)]) -> Vec<u8> {
        write::npz(arrays.iter().map(|(name, array)| (*name, array))).unwrap()
    }

    #[test]
    fn symmetric_and_triangular_couplings_say_the_same() {
        let h = || array(&[3], &[0.5, 0.0, -1.0]);
        let whole = array(&[3, 3], &[0.0, 1.0, 2.0, 1.0, 0.0, -3.0, 2.0, -3.0, 0.0]);
        let lower = array(&[3, 3], &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0, -3.0, 0.0]);
        let read_body = |j| read(&npz(&[("J", j), ("h", h())])).unwrap().body;
        let Body::Spins(spins) = read_body(whole.clone()) else { panic!("spins") };
        assert_eq!(spins.couplings, [(0, 1, 1.0), (0, 2, 2.0), (1, 2, -3.0)]);
        assert_eq!(spins.fields, [0.5, 0.0, -1.0]);
        assert_eq!(Body::Spins(spins), read_body(lower));
        let reason = |arrays: &[(&str, write::Npy)]| read(&npz(arrays)).unwrap_err();
        let uneven = array(&[2, 2], &[0.0, 1.0, 2.0, 0.0]);
        assert!(reason(&[("J", uneven)]).contains("neither symmetric nor triangular"));
        assert!(reason(&[("J", array(&[1, 1], &[2.0]))]).contains("site 0 with itself"));
        assert!(reason(&[("J", whole), ("h", array(&[2], &[0.0; 2]))]).contains("has 2 fields"));
        assert!(reason(&[("x", h())]).contains("has no array J"));
        assert!(reason(&[("J", array(&[2, 3], &[0.0; 6]))]).contains("[2, 3]"));
    }

    #[test]
    fn bits_have_the_energies_of_their_matrix() {
        let q = array(&[2, 2], &[1.0, 3.0, -0.5, 2.0]);
        let Body::Spins(spins) = read(&npz(&[("Q", q)])).unwrap().body else { panic!("spins") };
        for (state, energy) in [([0, 0], 0.0), ([1, 0], 1.0), ([0, 1], 2.0), ([1, 1], 5.5)] {
            assert!((super::super::quadratic::energy(&spins, &state) - energy).abs() < 1e-12);
        }
    }

    #[test]
    fn tables_in_either_order() {
        // J_01(a, b) = 10 a + b; three values, two sites.
        let (mut by_sites, mut in_turn) = (vec![0.0; 36], vec![0.0; 36]);
        for a in 0..3 {
            for b in 0..3 {
                let log = (10 * a + b) as f64;
                by_sites[(a * 3) + b + 9] = log;
                by_sites[18 + b * 3 + a] = log;
                in_turn[a * 6 + 3 + b] = log;
                in_turn[18 + b * 6 + a] = log;
            }
        }
        let h = || array(&[2, 3], &[0.0, 1.0, 2.0, 0.5, 0.0, 0.0]);
        let one = read(&npz(&[("J", array(&[2, 2, 3, 3], &by_sites)), ("h", h())])).unwrap();
        let other = read(&npz(&[("J", array(&[2, 3, 2, 3], &in_turn)), ("h", h())])).unwrap();
        assert_eq!(one.body, other.body);
        let Body::Factors { factors, .. } = one.body else { panic!("tables") };
        assert_eq!(factors[2].log_values(), [0.0, 1.0, 2.0, 10.0, 11.0, 12.0, 20.0, 21.0, 22.0]);
    }

    /// What scipy.sparse.save_npz writes of [[2, 0.5, 0], [0.5, 0, 0], [0, -1, 0]], by rows and by entries.
    #[test]
    fn sparse_matrices_of_scipy_are_couplings() {
        let data = || array(&[4], &[2.0, 0.5, 0.5, -1.0]);
        let shape = || array(&[2], &[3.0, 3.0]);
        let column = array(&[4], &[0.0, 1.0, 0.0, 1.0]);
        let ends = |ends: &[f64]| array(&[4], ends);
        let by_rows = |ends: write::Npy| {
            let indices = ("indices", column.clone());
            read(&npz(&[("data", data()), ("shape", shape()), indices, ("indptr", ends)]))
        };
        let row = ("row", array(&[4], &[0.0, 0.0, 1.0, 2.0]));
        let col = ("col", column.clone());
        let by_entries = read(&npz(&[("data", data()), ("shape", shape()), row, col]));
        // Neither symmetric nor triangular: 1 2 is missing.
        assert!(by_entries.unwrap_err().contains("neither symmetric nor triangular"));
        let reason = by_rows(ends(&[0.0, 2.0, 3.0, 9.0])).unwrap_err();
        assert!(reason.contains("indptr that does not fit"));
        let upper = [
            ("data", array(&[3], &[2.0, 0.5, -1.0])),
            ("shape", shape()),
            ("indices", array(&[3], &[0.0, 1.0, 2.0])),
            ("indptr", ends(&[0.0, 2.0, 3.0, 3.0])),
        ];
        let file = read(&npz(&upper)).unwrap();
        let Body::Spins(spins) = file.body else { panic!("spins") };
        assert_eq!(spins.couplings, [(0, 1, 0.5), (1, 2, -1.0)]);
        assert_eq!(spins.fields, [2.0, 0.0, 0.0]);
        assert!(file.assumed[0].contains("scipy"));
    }

    #[test]
    fn arrays_that_nobody_asks_for_do_not_matter() {
        let labels = super::super::arrays::tests::npy("<U1", false, "(1,)", &[97, 0, 0, 0]);
        let j = super::super::arrays::tests::npy("<f4", false, "(2, 2)", &[0; 16]);
        let h = super::super::arrays::tests::npy("<f4", false, "(1, 2)", &[0; 8]);
        let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, bytes) in [("names.npy", labels), ("J.npy", j), ("h.npy", h)] {
            let options = zip::write::SimpleFileOptions::default();
            archive.start_file(name, options).unwrap();
            std::io::Write::write_all(&mut archive, &bytes).unwrap();
        }
        let bytes = archive.finish().unwrap().into_inner();
        assert!(matches!(read(&bytes).unwrap().body, Body::Spins(_)));
        let map = [("weight", "names"), ("hidden_bias", "h"), ("visible_bias", "h")];
        let map = map.map(|(own, name)| (own.to_owned(), name.to_owned()));
        assert!(read_as(&bytes, &map).unwrap_err().contains("names: holds numbers of type '<U1'"));
    }

    #[test]
    fn weights_are_an_rbm() {
        let arrays = [
            ("W", array(&[3, 2], &[0.5, 1.0, 1.5, 2.0, 2.5, 3.0])),
            ("a", array(&[3], &[0.1, 0.2, 0.3])),
            ("c", array(&[2], &[-1.0, 1.0])),
        ];
        let file = read(&npz(&arrays)).unwrap();
        let Body::Rbm(rbm) = file.body else { panic!("an RBM") };
        assert_eq!(rbm.weight, [0.5, 1.5, 2.5, 1.0, 2.0, 3.0]);
        assert_eq!((rbm.values, rbm.hidden_bias), (2, vec![-1.0, 1.0]));
        assert!(file.assumed.contains(&"W is transposed".to_owned()), "{:?}", file.assumed);
    }
}
