//! The matrix exponential of the flow at every time, from the eigenvalues of its symmetric form.

use super::Flow;
use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// exp(tQ) for every t.
#[derive(Clone, Debug)]
pub struct Semigroup {
    /// √π.
    root: Vec<f64>,
    eigenvalues: DVector<f64>,
    eigenvectors: DMatrix<f64>,
}

impl Semigroup {
    pub(super) fn new(flow: &Flow) -> Self {
        let root: Vec<f64> = flow.target().iter().map(|p| p.sqrt()).collect();
        let size = flow.states();
        // √π Q 1/√π is symmetric because the flow is reversible.
        let symmetric = DMatrix::from_fn(size, size, |i, j| {
            let entry = |i: usize, j: usize| flow.rates()[(i, j)] * root[i] / root[j];
            if i == j { flow.rates()[(i, i)] } else { 0.5 * (entry(i, j) + entry(j, i)) }
        });
        let SymmetricEigen { eigenvalues, eigenvectors } = symmetric.symmetric_eigen();
        Self { root, eigenvalues, eigenvectors }
    }

    /// ρ(t) from ρ(0).
    pub fn at(&self, rho: &[f64], time: f64) -> Vec<f64> {
        let start: DVector<f64> =
            DVector::from_iterator(rho.len(), rho.iter().zip(&self.root).map(|(p, s)| p / s));
        let mut parts = self.eigenvectors.tr_mul(&start);
        for (part, eigenvalue) in parts.iter_mut().zip(&self.eigenvalues) {
            // The largest eigenvalue is 0, which rounding may make positive.
            *part *= (time * eigenvalue.min(0.0)).exp();
        }
        let end = &self.eigenvectors * parts;
        let positive = end.iter().zip(&self.root).map(|(part, root)| (part * root).max(0.0));
        let rho: Vec<f64> = positive.collect();
        let sum: f64 = rho.iter().sum();
        rho.into_iter().map(|p| p / sum).collect()
    }

    /// The rate at which the slowest deviation from π decays.
    pub fn spectral_gap(&self) -> f64 {
        let mut decays: Vec<f64> = self.eigenvalues.iter().map(|eigenvalue| -eigenvalue).collect();
        decays.sort_by(f64::total_cmp);
        decays[1]
    }
}
