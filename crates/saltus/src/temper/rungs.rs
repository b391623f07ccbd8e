//! The rungs of a ladder: where they stand, and with which scale their chains move.

use super::barrier::spread;
use super::cubic::hermite;
use serde::{Deserialize, Serialize};

/// Rungs from the base at b = 0 to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rungs {
    /// Inverse temperatures, rising from 0.
    pub betas: Vec<f64>,
    /// The kernel's scale on each; that of the lowest is not used.
    pub scales: Vec<f64>,
    /// About log Z of each rung less that of the one below; any number keeps log Z right, and one that is
    /// close keeps its error small.
    pub shifts: Vec<f64>,
}

impl Rungs {
    /// Evenly spaced ones up to that inverse temperature.
    pub(super) fn even(intervals: usize, top: f64, scale: f64) -> Self {
        Self {
            betas: (0..=intervals).map(|i| top * i as f64 / intervals as f64).collect(),
            scales: vec![scale; intervals + 1],
            shifts: vec![0.0; intervals],
        }
    }

    /// Steps between rungs.
    pub(crate) fn intervals(&self) -> usize {
        self.betas.len() - 1
    }

    /// The highest one's scale.
    pub(crate) fn last_scale(&self) -> f64 {
        self.scales[self.scales.len() - 1]
    }

    /// Others of equal barriers, from what is known of these: the barrier and log Z up to each, and the
    /// mean of V on each.
    pub(super) fn respread(
        &self,
        barrier: &[f64],
        log_z: &[f64],
        means: &[f64],
        intervals: usize,
    ) -> Self {
        let betas = spread(&self.betas, barrier, intervals);
        let log_z_at = |beta: f64| {
            let (i, t, h) = self.place(beta);
            if means[i].is_finite() && means[i + 1].is_finite() {
                hermite(t, h, (log_z[i], means[i]), (log_z[i + 1], means[i + 1]))
            } else {
                log_z[i] + t * (log_z[i + 1] - log_z[i])
            }
        };
        let scale_at = |beta: &f64| {
            let (i, t, _) = self.place(*beta);
            // Nothing moves at the base.
            let from = if i == 0 { self.scales[1] } else { self.scales[i] };
            ((1.0 - t) * from.ln() + t * self.scales[i + 1].ln()).exp()
        };
        let log_zs: Vec<f64> = betas.iter().map(|beta| log_z_at(*beta)).collect();
        Self {
            scales: betas.iter().map(scale_at).collect(),
            shifts: log_zs.windows(2).map(|pair| pair[1] - pair[0]).collect(),
            betas,
        }
    }

    /// The interval that an inverse temperature lies in, where in it, and how long that is.
    fn place(&self, beta: f64) -> (usize, f64, f64) {
        let last = self.intervals() - 1;
        let i = self.betas[1..].iter().position(|b| *b >= beta).unwrap_or(last);
        let h = self.betas[i + 1] - self.betas[i];
        (i, ((beta - self.betas[i]) / h).clamp(0.0, 1.0), h)
    }

    /// The rung nearest to an inverse temperature, the lowest left out.
    pub(super) fn nearest(&self, beta: f64) -> usize {
        let distance = |rung: &usize| (self.betas[*rung] - beta).abs();
        let rungs = 1..self.betas.len();
        rungs.min_by(|one, other| distance(one).total_cmp(&distance(other))).unwrap_or(1)
    }

    /// Whether the highest stands at that inverse temperature, but for rounding.
    pub(crate) fn leads_to(&self, beta: f64) -> bool {
        self.betas.last().is_some_and(|top| (top - beta).abs() <= 1e-9 * beta)
    }

    /// Whether rungs that were read from a file could be any.
    pub(crate) fn are_sound(&self) -> bool {
        let rungs = self.betas.len();
        rungs >= 2
            && self.scales.len() == rungs
            && self.shifts.len() == rungs - 1
            && self.betas[0] == 0.0
            && self.betas.windows(2).all(|pair| pair[0] < pair[1])
            && self.scales.iter().all(|scale| *scale > 0.0 && scale.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_and_scales_follow_the_rungs() {
        // log Z = b² has the slope 2b, which a cubic meets exactly; scales fall as e^(−b).
        let mut rungs = Rungs::even(4, 1.0, 1.0);
        rungs.scales = rungs.betas.iter().map(|b| (-b).exp()).collect();
        let log_z: Vec<f64> = rungs.betas.iter().map(|b| b * b).collect();
        let means: Vec<f64> = rungs.betas.iter().map(|b| 2.0 * b).collect();
        let barrier: Vec<f64> = rungs.betas.clone();
        let other = rungs.respread(&barrier, &log_z, &means, 6);
        for (i, pair) in other.betas.windows(2).enumerate() {
            let exact = pair[1] * pair[1] - pair[0] * pair[0];
            assert!((other.shifts[i] - exact).abs() < 1e-9, "{other:?}");
        }
        for (beta, scale) in other.betas.iter().zip(&other.scales).skip(2) {
            assert!((scale.ln() + beta).abs() < 1e-9, "{other:?}");
        }
        assert_eq!(other.nearest(0.52), 3);
        assert!(other.are_sound());
    }
}
