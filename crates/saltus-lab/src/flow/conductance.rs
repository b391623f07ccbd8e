//! The flow as steepest descent: conductances, the Laplacian form of the velocity, and what the
//! divergence loses by it.

use super::Flow;
use nalgebra::{DMatrix, DVector};

/// The logarithmic mean (a − b)/(log a − log b): a where they are equal, 0 where one is.
pub fn logarithmic_mean(a: f64, b: f64) -> f64 {
    if a <= 0.0 || b <= 0.0 {
        return 0.0;
    }
    b * exponential_mean((a / b).ln())[0]
}

/// f(u) = (eᵘ − 1)/u and its first two derivatives, also where u is small.
pub(super) fn exponential_mean(u: f64) -> [f64; 3] {
    if u.abs() > 0.5 {
        let e = u.exp();
        return [
            u.exp_m1() / u,
            (e * (u - 1.0) + 1.0) / (u * u),
            (e * (u * u - 2.0 * u + 2.0) - 2.0) / (u * u * u),
        ];
    }
    // Σ uᵏ/(k + 1)!, differentiated term by term.
    let mut sums = [0.0; 3];
    let mut term = 1.0;
    for k in 0..20 {
        let k = f64::from(k);
        // term is uᵏ/(k + 1)! with u⁰ = 1, kept apart from the powers that derivatives take away.
        sums[0] += term * u.powi(k as i32);
        if k >= 1.0 {
            sums[1] += term * k * u.powi(k as i32 - 1);
        }
        if k >= 2.0 {
            sums[2] += term * k * (k - 1.0) * u.powi(k as i32 - 2);
        }
        term /= k + 2.0;
    }
    sums
}

impl Flow {
    /// c_ij(ρ): the logarithmic mean of what flows from i to j and back, with m_ij = ρᵢQ_ij.
    pub fn conductance(&self, rho: &[f64]) -> DMatrix<f64> {
        DMatrix::from_fn(self.states(), self.states(), |i, j| {
            if i == j {
                return 0.0;
            }
            logarithmic_mean(rho[i] * self.rates()[(i, j)], rho[j] * self.rates()[(j, i)])
        })
    }

    /// ψ = log(ρ/π), the derivative of KL(ρ‖π) up to a constant; −∞ where ρ is 0.
    pub fn potential(&self, rho: &[f64]) -> Vec<f64> {
        rho.iter().zip(&self.log_target).map(|(rho, log_target)| rho.ln() - log_target).collect()
    }

    /// dρ/dt in the gradient form, −L_c ψ. Only inside the simplex: where a probability is 0 there is
    /// no potential, and [`velocity`](Flow::velocity) is the form to use.
    pub fn gradient_velocity(&self, rho: &[f64]) -> Vec<f64> {
        let (c, psi) = (self.conductance(rho), self.potential(rho));
        let inflow = |j: usize| (0..self.states()).map(|i| c[(i, j)] * (psi[i] - psi[j])).sum();
        (0..self.states()).map(inflow).collect()
    }

    /// −dKL(ρ‖π)/dt along the flow, ½ Σ c_ij(ψᵢ − ψⱼ)², which is also its squared speed; infinite
    /// where a probability is 0 beside one that is not.
    pub fn dissipation(&self, rho: &[f64]) -> f64 {
        let mut sum = 0.0;
        for i in 0..self.states() {
            for j in (0..i).filter(|j| self.neighbours()[(i, *j)] > 0.0) {
                // c(ψᵢ − ψⱼ)² = (m_ij − m_ji)(log m_ij − log m_ji) needs no mean of nearly equal
                // numbers.
                let (there, back) = (rho[i] * self.rates()[(i, j)], rho[j] * self.rates()[(j, i)]);
                if there != back {
                    sum += (there - back) * (there.ln() - back.ln());
                }
            }
        }
        sum
    }

    /// The squared length of a change of ρ in the metric of the flow: σᵀΦ with L_cΦ = σ.
    ///
    /// ```
    /// use saltus::Balancing;
    /// use saltus_lab::flow::{Flow, Graph};
    /// let flow = Flow::new(&[0.5, 0.3, 0.2], &Graph::Path, Balancing::Ratio)?;
    /// let rho = [0.2, 0.3, 0.5];
    /// // The speed of the flow is what it dissipates.
    /// let speed = flow.squared_length(&rho, &flow.velocity(&rho)).unwrap();
    /// assert!((speed - flow.dissipation(&rho)).abs() < 1e-12);
    /// # Ok::<(), saltus_lab::flow::FlowError>(())
    /// ```
    pub fn squared_length(&self, rho: &[f64], change: &[f64]) -> Option<f64> {
        let last = self.states() - 1;
        let laplacian = laplacian(&self.conductance(rho)).remove_row(last).remove_column(last);
        let sigma = DVector::from_column_slice(&change[..last]);
        // The last potential is 0: only differences matter.
        let phi = laplacian.cholesky()?.solve(&sigma);
        Some(sigma.dot(&phi))
    }
}

/// The Laplacian of a weighted graph.
pub(super) fn laplacian(conductance: &DMatrix<f64>) -> DMatrix<f64> {
    let mut laplacian = -conductance;
    for i in 0..laplacian.nrows() {
        laplacian[(i, i)] = conductance.row(i).sum() - conductance[(i, i)];
    }
    laplacian
}
