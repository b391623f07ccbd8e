//! What encoders and priors say of latent numbers: a normal distribution of every one.

use rand_distr::{Distribution, StandardNormal};
use saltus::ChainRng;

/// Independent normal distributions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Normals<'c> {
    means: &'c [f32],
    log_variances: &'c [f32],
}

impl<'c> Normals<'c> {
    /// What a row that came out of an encoder or a prior means.
    pub(super) fn new(row: &'c [f32]) -> Self {
        let (means, log_variances) = row.split_at(row.len() / 2);
        Self { means, log_variances }
    }

    /// A draw z = μ + σ·ε from standard normal ε.
    pub(super) fn draw(self, noise: &[f32], latent: &mut [f32]) {
        for (((z, noise), mean), log_variance) in
            latent.iter_mut().zip(noise).zip(self.means).zip(self.log_variances)
        {
            *z = mean + (0.5 * log_variance).exp() * noise;
        }
    }

    /// Kullback–Leibler divergence from a prior, standard normal if there is no other:
    /// ½ Σ ((μ − m)²/s² + σ²/s² − 1 − log σ²/s²).
    pub(super) fn divergence(self, prior: Option<Normals<'_>>) -> f64 {
        let terms = self.means.iter().zip(self.log_variances).enumerate();
        let terms = terms.map(|(at, (mean, log_variance))| {
            let (m, log_s) = prior.map_or((0.0, 0.0), |prior| prior.at(at));
            let (apart, log_ratio) = (f64::from(*mean) - m, f64::from(*log_variance) - log_s);
            apart * apart * (-log_s).exp() + log_ratio.exp() - 1.0 - log_ratio
        });
        0.5 * terms.sum::<f64>()
    }

    /// log p(z) − log q(z) of a draw from `self` and the noise it was made of: ½ Σ (ε² − (z − m)²/s² + log σ²/s²).
    pub(super) fn log_ratio(
        self,
        prior: Option<Normals<'_>>,
        noise: &[f32],
        latent: &[f32],
    ) -> f64 {
        let terms = latent.iter().zip(noise).zip(self.log_variances).enumerate();
        let sum: f64 = terms
            .map(|(at, ((z, noise), log_variance))| {
                let (m, log_s) = prior.map_or((0.0, 0.0), |prior| prior.at(at));
                let (apart, noise) = (f64::from(*z) - m, f64::from(*noise));
                noise * noise - apart * apart * (-log_s).exp() + f64::from(*log_variance) - log_s
            })
            .sum();
        0.5 * sum
    }

    fn at(&self, number: usize) -> (f64, f64) {
        (f64::from(self.means[number]), f64::from(self.log_variances[number]))
    }
}

/// Replaces a row that came out of an encoder by the gradient there: of a function of the draw, whose gradient at the draw is
/// `latent`, plus `factor` times the divergence from the prior. A row of a prior is replaced likewise.
pub(super) fn back(
    latent: &[f32],
    noise: &[f32],
    factor: f32,
    row: &mut [f32],
    prior: Option<&mut [f32]>,
) {
    let (means, log_variances) = row.split_at_mut(latent.len());
    let Some(prior) = prior else {
        for (((latent, noise), mean), log_variance) in
            latent.iter().zip(noise).zip(means).zip(log_variances)
        {
            let deviation = (0.5 * *log_variance).exp();
            *mean = latent + factor * *mean;
            *log_variance =
                0.5 * (latent * deviation * noise + factor * (deviation * deviation - 1.0));
        }
        return;
    };
    let (of_means, of_logs) = prior.split_at_mut(latent.len());
    for at in 0..latent.len() {
        let deviation = (0.5 * log_variances[at]).exp();
        let precision = (-of_logs[at]).exp();
        let apart = means[at] - of_means[at];
        let spread = deviation * deviation * precision;
        means[at] = latent[at] + factor * apart * precision;
        log_variances[at] = 0.5 * (latent[at] * deviation * noise[at] + factor * (spread - 1.0));
        of_means[at] = -factor * apart * precision;
        of_logs[at] = 0.5 * factor * (1.0 - spread - apart * apart * precision);
    }
}

/// Standard normal numbers.
pub(super) fn fill_noise(rng: &mut ChainRng, noise: &mut [f32]) {
    noise.iter_mut().for_each(|number| *number = StandardNormal.sample(rng));
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus::rng::Stream;

    #[test]
    fn the_divergence_is_that_computed_by_hand() {
        let row = [1.0, -2.0, 0.0, 4f32.ln()];
        // ½·(1 + 1 − 1 − 0) + ½·(4 + 4 − 1 − 1.3862944).
        assert!((Normals::new(&row).divergence(None) - 3.306_852_8).abs() < 1e-6);
        assert_eq!(Normals::new(&[0.0; 6]).divergence(None), 0.0);
        // From N(3, 1) and N(−2, 2): ½·4 and ½·(0 + 2 − 1 − log 2).
        let prior = [3.0, -2.0, 0.0, 2f32.ln()];
        let found = Normals::new(&row).divergence(Some(Normals::new(&prior)));
        assert!((found - 2.0 - 0.5 * (1.0 - 2f64.ln())).abs() < 1e-6, "{found}");
    }

    #[test]
    fn the_divergence_is_the_mean_of_the_ratio() {
        // ∫ N(ε) (log q(z) − log p(z)) dε at z = μ + σε, by the trapezoidal rule.
        let (row, prior) = ([0.7f32, -1.2], [-0.4f32, 0.6]);
        let posterior = Normals::new(&row);
        let step = 1e-3;
        for prior in [None, Some(Normals::new(&prior))] {
            let integral: f64 = (-9000..=9000)
                .map(|index| {
                    let noise = f64::from(index) * step;
                    let mut latent = [0.0];
                    posterior.draw(&[noise as f32], &mut latent);
                    let density = (-0.5 * noise * noise).exp() / std::f64::consts::TAU.sqrt();
                    -density * posterior.log_ratio(prior, &[noise as f32], &latent) * step
                })
                .sum();
            assert!((integral - posterior.divergence(prior)).abs() < 1e-5, "{integral}");
        }
    }

    #[test]
    fn gradients_are_those_of_differences() {
        // The function of the draw is z₀ + 3·z₁, so its gradient at the draw is (1, 3).
        let (noise, factor) = ([0.3f32, -1.1], 0.25f32);
        let rows = [0.5f32, -0.4, 0.2, -0.7, 0.1, 0.8, -0.3, 0.4];
        let value = |rows: [f32; 8], has_prior: bool| {
            let [mean_0, mean_1, log_0, log_1, ..] = rows.map(f64::from);
            let [noise_0, noise_1] = noise.map(f64::from);
            let z = mean_0 + (0.5 * log_0).exp() * noise_0;
            let y = mean_1 + (0.5 * log_1).exp() * noise_1;
            let prior = has_prior.then(|| Normals::new(&rows[4..]));
            z + 3.0 * y + f64::from(factor) * Normals::new(&rows[..4]).divergence(prior)
        };
        for has_prior in [false, true] {
            let mut found = rows;
            let (row, prior) = found.split_at_mut(4);
            back(&[1.0, 3.0], &noise, factor, row, has_prior.then_some(prior));
            for index in 0..if has_prior { 8 } else { 4 } {
                let at = |change: f32| {
                    let mut rows = rows;
                    rows[index] += change;
                    (value(rows, has_prior), f64::from(rows[index]))
                };
                let ((above, right), (below, left)) = (at(1e-2), at(-1e-2));
                let expected = (above - below) / (right - left);
                // The third derivatives are below 4, so that the difference is wrong by 7e-5 at most.
                assert!((f64::from(found[index]) - expected).abs() < 1.2e-4, "{index}: {found:?}");
            }
        }
    }

    #[test]
    fn noise_is_standard_normal() {
        let mut noise = vec![0.0; 100_000];
        fill_noise(&mut ChainRng::new(1, Stream::Data(0)), &mut noise);
        let moment = |power: i32| {
            noise.iter().map(|number| f64::from(*number).powi(power)).sum::<f64>() / 1e5
        };
        // Five standard errors: of the mean √(1/n), of the square √(2/n), of the fourth power √(96/n).
        assert!(moment(1).abs() < 0.016 && (moment(2) - 1.0).abs() < 0.023, "{}", moment(2));
        assert!((moment(4) - 3.0).abs() < 0.155, "{}", moment(4));
    }
}
