//! The flow followed in time by an adaptive Runge–Kutta method, in its gradient form: independent of
//! the matrix exponential, and the way for flows that have none.

use super::{Flow, FlowError};
use differential_equations::prelude::{ExplicitRungeKutta, IVP, ODE};

/// Local error per step, absolute and relative.
const TOLERANCE: f64 = 1e-12;

struct GradientForm<'a>(&'a Flow);

impl ODE<f64, Vec<f64>> for GradientForm<'_> {
    fn diff(&self, _: f64, rho: &Vec<f64>, velocity: &mut Vec<f64>) {
        // On the rim of the simplex there is no potential, and the linear form takes its place.
        let inside = rho.iter().all(|p| *p > 0.0);
        let found = if inside { self.0.gradient_velocity(rho) } else { self.0.velocity(rho) };
        velocity.clone_from(&found);
    }
}

impl Flow {
    /// ρ at these times, which must not fall.
    pub fn integrate(&self, rho: &[f64], times: &[f64]) -> Result<Vec<Vec<f64>>, FlowError> {
        let mut rho = rho.to_vec();
        let mut now = 0.0;
        let mut path = Vec::with_capacity(times.len());
        for &time in times {
            if !(time >= now && time.is_finite()) {
                return Err(FlowError::Numerical(format!("time {time} does not follow {now}")));
            }
            if time > now {
                let ode = GradientForm(self);
                let method = ExplicitRungeKutta::dop853().rtol(TOLERANCE).atol(TOLERANCE);
                let solution = IVP::ode(&ode, now, time, rho).method(method).solve();
                let solution = solution.map_err(|error| {
                    FlowError::Numerical(format!("the flow could not be integrated: {error:?}"))
                })?;
                rho = solution.y.last().cloned().unwrap_or_default();
                now = time;
            }
            path.push(rho.clone());
        }
        Ok(path)
    }
}
