//! What the encoder says of an image: a normal distribution of every latent number.

use rand_distr::{Distribution, StandardNormal};
use saltus::ChainRng;

/// Independent normal distributions, against the standard ones of the prior.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posterior<'c> {
    means: &'c [f32],
    log_variances: &'c [f32],
}

impl<'c> Posterior<'c> {
    /// What a row that came out of the encoder means.
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

    /// Kullback–Leibler divergence from the prior: ½ Σ (μ² + σ² − 1 − log σ²).
    pub(super) fn divergence(self) -> f64 {
        let terms = self.means.iter().zip(self.log_variances).map(|(mean, log_variance)| {
            let (mean, log_variance) = (f64::from(*mean), f64::from(*log_variance));
            mean * mean + log_variance.exp() - 1.0 - log_variance
        });
        0.5 * terms.sum::<f64>()
    }

    /// log p(z) − log q(z) of a draw and the noise it was made of: ½ Σ (ε² − z² + log σ²).
    pub(super) fn log_ratio(self, noise: &[f32], latent: &[f32]) -> f64 {
        let terms = latent.iter().zip(noise).zip(self.log_variances);
        let sum: f64 = terms
            .map(|((z, noise), log_variance)| {
                let (z, noise) = (f64::from(*z), f64::from(*noise));
                noise * noise - z * z + f64::from(*log_variance)
            })
            .sum();
        0.5 * sum
    }
}

/// Replaces a row that came out of the encoder by the gradient there: of a function of the draw, whose
/// gradient at the draw is `latent`, plus `factor` times the divergence from the prior.
pub(super) fn back(latent: &[f32], noise: &[f32], factor: f32, row: &mut [f32]) {
    let (means, log_variances) = row.split_at_mut(latent.len());
    for (((latent, noise), mean), log_variance) in
        latent.iter().zip(noise).zip(means).zip(log_variances)
    {
        let deviation = (0.5 * *log_variance).exp();
        *mean = latent + factor * *mean;
        *log_variance = 0.5 * (latent * deviation * noise + factor * (deviation * deviation - 1.0));
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
        assert!((Posterior::new(&row).divergence() - 3.306_852_8).abs() < 1e-6);
        assert_eq!(Posterior::new(&[0.0; 6]).divergence(), 0.0);
    }

    #[test]
    fn the_divergence_is_the_mean_of_the_ratio() {
        // ∫ N(ε) (log q(z) − log p(z)) dε at z = μ + σε, by the trapezoidal rule.
        let row = [0.7f32, -1.2];
        let posterior = Posterior::new(&row);
        let step = 1e-3;
        let integral: f64 = (-9000..=9000)
            .map(|index| {
                let noise = f64::from(index) * step;
                let mut latent = [0.0];
                posterior.draw(&[noise as f32], &mut latent);
                let density = (-0.5 * noise * noise).exp() / std::f64::consts::TAU.sqrt();
                -density * posterior.log_ratio(&[noise as f32], &latent) * step
            })
            .sum();
        assert!((integral - posterior.divergence()).abs() < 1e-5, "{integral}");
    }

    #[test]
    fn gradients_are_those_of_differences() {
        // The function of the draw is z₀ + 3·z₁, so its gradient at the draw is (1, 3).
        let (noise, factor) = ([0.3f32, -1.1], 0.25f32);
        let row = [0.5f32, -0.4, 0.2, -0.7];
        let value = |row: [f32; 4]| {
            let [mean_0, mean_1, log_0, log_1] = row.map(f64::from);
            let [noise_0, noise_1] = noise.map(f64::from);
            let z = mean_0 + (0.5 * log_0).exp() * noise_0;
            let y = mean_1 + (0.5 * log_1).exp() * noise_1;
            z + 3.0 * y + f64::from(factor) * Posterior::new(&row).divergence()
        };
        let mut found = row;
        back(&[1.0, 3.0], &noise, factor, &mut found);
        for index in 0..4 {
            let at = |change: f32| {
                let mut row = row;
                row[index] += change;
                (value(row), f64::from(row[index]))
            };
            let ((above, right), (below, left)) = (at(1e-2), at(-1e-2));
            let expected = (above - below) / (right - left);
            // The third derivatives are below 3, so that the difference is wrong by 5e-5 at most.
            assert!((f64::from(found[index]) - expected).abs() < 1e-4, "{index}: {found:?}");
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
