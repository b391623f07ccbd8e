//! The gradient flow behind the samplers, made executable on spaces small enough to enumerate.
//!
//! On states 1…M with a target π, symmetric weights w and a locally balanced g, the discrete
//! Wasserstein gradient flow of KL(ρ‖π) moves a distribution ρ by
//! dρ/dt = ρQ, Q_ij = w_ij·g(πⱼ/πᵢ). The same motion is a steepest descent: with the conductance c
//! of [`conductance`] and ψ = log(ρ/π), dρ/dt = −L_c ψ, L_c the Laplacian of the graph. [`semigroup`]
//! and [`integrate`] follow ρ in time, [`jumps`] simulates the particles whose law it is,
//! [`distance`] measures how far apart two distributions are in the metric of the flow.
//!
//! ```
//! use saltus::Balancing;
//! use saltus_lab::flow::{Flow, Graph};
//! let flow = Flow::new(&[0.5, 0.3, 0.2], &Graph::Complete, Balancing::Sqrt)?;
//! let semigroup = flow.semigroup();
//! let start = [0.2, 0.3, 0.5];
//! let later = semigroup.at(&start, 0.7);
//! assert!(flow.divergence(&later) < flow.divergence(&start));
//! # Ok::<(), saltus_lab::flow::FlowError>(())
//! ```
//!
//! # Where the paper differs
//!
//! Read literally, some lines of the paper do not give this flow; the tests of this module hold the
//! corrected ones. Its free energy has the wrong sign before Σρ log ρ and lacks log Z. With
//! (∇Φ)_ij = Φᵢ − Φⱼ its divergence gives −L_cΦ where the metric needs +L_cΦ. Its divergence conserves
//! mass only for antisymmetric fields. The rate in its equation of the jump process is a derivative at
//! time zero between different states, not at every time.

pub mod conductance;
pub mod distance;
pub mod integrate;
pub mod jumps;
pub mod semigroup;

use nalgebra::DMatrix;
use saltus::Balancing;
use semigroup::Semigroup;

/// Why there is no such flow, in a sentence for its user.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FlowError {
    /// The numbers are not a distribution.
    #[error("{0}")]
    Distribution(String),
    /// The graph cannot carry the flow.
    #[error("{0}")]
    Graph(String),
    /// A numerical method did not come to an end.
    #[error("{0}")]
    Numerical(String),
}

/// Which states are neighbours.
#[derive(Clone, Debug, PartialEq)]
pub enum Graph {
    /// All of each other, with weight one: the samplers' site.
    Complete,
    /// Each of the next, with weight one.
    Path,
    /// These pairs, with these weights.
    Edges(Vec<(usize, usize, f64)>),
}

/// The most states that a flow is made for: everything about it is dense.
pub const MOST_STATES: usize = 128;

/// How far from one a sum may be that was meant to be one.
const ROUNDED: f64 = 0.01;

/// The gradient flow of KL(·‖π) on a graph.
#[derive(Clone, Debug)]
pub struct Flow {
    target: Vec<f64>,
    log_target: Vec<f64>,
    weight: Balancing,
    neighbours: DMatrix<f64>,
    rates: DMatrix<f64>,
}

impl Flow {
    /// The flow towards a target, which must be positive everywhere.
    pub fn new(target: &[f64], graph: &Graph, weight: Balancing) -> Result<Self, FlowError> {
        let target = distribution("the target", target)?;
        if let Some(state) = target.iter().position(|p| *p == 0.0) {
            return Err(FlowError::Distribution(format!(
                "the target has probability 0 at state {state}: a flow needs it positive everywhere"
            )));
        }
        if target.len() > MOST_STATES {
            return Err(FlowError::Distribution(format!(
                "a flow is made for at most {MOST_STATES} states, got {}",
                target.len()
            )));
        }
        let neighbours = graph.matrix(target.len())?;
        let log_target: Vec<f64> = target.iter().map(|p| p.ln()).collect();
        let mut rates = DMatrix::zeros(target.len(), target.len());
        for i in 0..target.len() {
            for j in (0..target.len()).filter(|j| *j != i) {
                let rate = neighbours[(i, j)] * weight.log(log_target[j] - log_target[i]).exp();
                rates[(i, j)] = rate;
                rates[(i, i)] -= rate;
            }
        }
        Ok(Self { target, log_target, weight, neighbours, rates })
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.target.len()
    }

    /// π.
    pub fn target(&self) -> &[f64] {
        &self.target
    }

    /// g.
    pub fn weight(&self) -> Balancing {
        self.weight
    }

    /// w.
    pub fn neighbours(&self) -> &DMatrix<f64> {
        &self.neighbours
    }

    /// Q, whose rows sum to zero.
    pub fn rates(&self) -> &DMatrix<f64> {
        &self.rates
    }

    /// KL(ρ‖π), accurate also where ρ is nearly π.
    pub fn divergence(&self, rho: &[f64]) -> f64 {
        // Σ ρ log(ρ/π) = Σ π·φ(ρ/π − 1) with φ(x) = (1 + x) log(1 + x) − x, a sum of terms that are
        // not negative.
        let terms = rho.iter().zip(&self.target).map(|(rho, p)| p * excess((rho - p) / p));
        terms.sum()
    }

    /// dρ/dt in the linear form, ρQ.
    pub fn velocity(&self, rho: &[f64]) -> Vec<f64> {
        let column = |j| rho.iter().enumerate().map(|(i, rho)| rho * self.rates[(i, j)]).sum();
        (0..self.states()).map(column).collect()
    }

    /// The law of the flow at every time, by the eigenvalues of Q.
    pub fn semigroup(&self) -> Semigroup {
        Semigroup::new(self)
    }
}

/// (1 + x) log(1 + x) − x, which is x²/2 for small x.
fn excess(x: f64) -> f64 {
    if x.abs() > 0.1 {
        return if x > -1.0 { (1.0 + x) * x.ln_1p() - x } else { 1.0 };
    }
    // Σ (−x)ᵏ/(k(k − 1)) from k = 2 on.
    (2..20).rev().fold(0.0, |sum, k| {
        let k = f64::from(k);
        1.0 / (k * (k - 1.0)) - x * sum
    }) * x
        * x
}

/// Probabilities from numbers that somebody wrote down, with a sum of about one.
pub fn distribution(name: &str, numbers: &[f64]) -> Result<Vec<f64>, FlowError> {
    let invalid = |reason: String| Err(FlowError::Distribution(format!("{name} {reason}")));
    if numbers.len() < 2 {
        return invalid(format!("needs at least two states, got {}", numbers.len()));
    }
    if let Some(number) = numbers.iter().find(|number| !(number.is_finite() && **number >= 0.0)) {
        return invalid(format!("has {number} among its probabilities"));
    }
    let sum: f64 = numbers.iter().sum();
    if (sum - 1.0).abs() > ROUNDED {
        return invalid(format!("sums to {sum}, not to 1"));
    }
    Ok(numbers.iter().map(|number| number / sum).collect())
}

impl Graph {
    fn matrix(&self, states: usize) -> Result<DMatrix<f64>, FlowError> {
        let mut matrix = DMatrix::zeros(states, states);
        let mut join = |i: usize, j: usize, weight: f64| {
            matrix[(i, j)] = weight;
            matrix[(j, i)] = weight;
        };
        match self {
            Self::Complete => {
                (0..states).for_each(|i| (0..i).for_each(|j| join(i, j, 1.0)));
            }
            Self::Path => (1..states).for_each(|i| join(i - 1, i, 1.0)),
            Self::Edges(edges) => {
                for &(i, j, weight) in edges {
                    if i >= states || j >= states {
                        return Err(FlowError::Graph(format!(
                            "the graph joins states {i} and {j}, but there are {states}, \
                             counted from 0"
                        )));
                    }
                    if i == j || !(weight.is_finite() && weight > 0.0) {
                        return Err(FlowError::Graph(format!(
                            "the graph joins states {i} and {j} with weight {weight}; edges join \
                             two states with a positive weight"
                        )));
                    }
                    join(i, j, weight);
                }
            }
        }
        let mut reached = vec![false; states];
        let mut frontier = vec![0];
        while let Some(state) = frontier.pop() {
            if !std::mem::replace(&mut reached[state], true) {
                frontier.extend((0..states).filter(|other| matrix[(state, *other)] > 0.0));
            }
        }
        match reached.iter().position(|reached| !reached) {
            Some(state) => Err(FlowError::Graph(format!(
                "the graph does not lead from state 0 to state {state}"
            ))),
            None => Ok(matrix),
        }
    }
}

#[cfg(test)]
mod tests;
