//! Numbers of the library as numpy arrays.

use numpy::ndarray::{Array2, Array3};
use numpy::{IntoPyArray, PyArray2, PyArray3, PyReadonlyArray2};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Rows of one length as an array.
pub fn of_rows<'py>(py: Python<'py>, rows: &[Vec<f64>]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let columns = rows.iter().map(Vec::len).min().unwrap_or(0);
    let mut numbers = Vec::with_capacity(rows.len() * columns);
    rows.iter().for_each(|row| numbers.extend_from_slice(&row[..columns]));
    let array = Array2::from_shape_vec((rows.len(), columns), numbers).map_err(shape)?;
    Ok(array.into_pyarray(py))
}

/// States of all chains, row after row.
pub fn of_states(
    py: Python<'_>,
    chains: usize,
    sites: usize,
    states: Vec<u8>,
) -> PyResult<Bound<'_, PyArray2<u8>>> {
    Ok(Array2::from_shape_vec((chains, sites), states).map_err(shape)?.into_pyarray(py))
}

/// States of all draws by chain, draw and site.
pub fn of_draws<'py>(
    py: Python<'py>,
    chains: &[&[u8]],
    draws: usize,
    sites: usize,
) -> PyResult<Bound<'py, PyArray3<u8>>> {
    let mut bytes = Vec::with_capacity(chains.len() * draws * sites);
    chains.iter().for_each(|chain| bytes.extend_from_slice(&chain[..draws * sites]));
    let array = Array3::from_shape_vec((chains.len(), draws, sites), bytes).map_err(shape)?;
    Ok(array.into_pyarray(py))
}

fn shape(error: numpy::ndarray::ShapeError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// Rows of states without the sites that are fixed.
pub fn free_sites(rows: &PyReadonlyArray2<'_, u8>, fixed: &[(usize, u8)]) -> Vec<u8> {
    let rows = rows.as_array();
    let is_free = |site: usize| !fixed.iter().any(|(one, _)| *one == site);
    let free = |row: numpy::ndarray::ArrayView1<'_, u8>| -> Vec<u8> {
        row.iter().enumerate().filter(|(site, _)| is_free(*site)).map(|(_, x)| *x).collect()
    };
    rows.rows().into_iter().flat_map(free).collect()
}
