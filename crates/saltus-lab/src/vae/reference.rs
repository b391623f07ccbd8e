//! Autoencoders as their definition says, in double precision and one number at a time: what the fast
//! ways are tested against.

use super::plan::{Layer, Plans};
use super::sizes::VaeSizes;
use saltus::math::{log_sum_exp, sigmoid, softplus};
use std::f64::consts::TAU;

/// Means and logarithms of variances of latent numbers.
type Normal = (Vec<f64>, Vec<f64>);

/// An autoencoder whose layers are known by their names.
struct Slow<'p> {
    sizes: VaeSizes,
    layers: Vec<(String, Layer)>,
    parameters: &'p [f64],
}

impl<'p> Slow<'p> {
    fn new(sizes: &VaeSizes, parameters: &'p [f64]) -> Self {
        Self { sizes: *sizes, layers: Plans::new(sizes).layers, parameters }
    }

    fn layer(&self, name: &str) -> &Layer {
        &self.layers.iter().find(|(found, _)| found == name).unwrap().1
    }

    fn dense(&self, name: &str, input: &[f64]) -> Vec<f64> {
        let layer = self.layer(name);
        assert_eq!(input.len(), layer.inputs, "{name}");
        let rows = self.parameters[layer.weight.clone()].chunks_exact(layer.inputs);
        rows.zip(&self.parameters[layer.bias.clone()])
            .map(|(row, bias)| bias + row.iter().zip(input).map(|(w, x)| w * x).sum::<f64>())
            .collect()
    }

    fn gated(&self, name: &str, input: &[f64]) -> Vec<f64> {
        units(&self.dense(name, input))
    }

    /// What a perceptron of two gated layers and a linear one makes of numbers.
    fn perceptron(&self, net: &str, input: &[f64]) -> Vec<f64> {
        let first = self.gated(&format!("{net}.first"), input);
        let second = self.gated(&format!("{net}.second"), &first);
        self.dense(&format!("{net}.last"), &second)
    }

    /// A convolution of a map [row][column][channel], straight from its sum.
    fn convolve(
        &self,
        name: &str,
        (map, rows, columns): (&[f64], usize, usize),
        (kernel, stride): (usize, usize),
    ) -> Vec<f64> {
        let layer = self.layer(name);
        let channels = map.len() / rows / columns;
        let weight = &self.parameters[layer.weight.clone()];
        let mut found = Vec::new();
        for row in (0..rows as isize).step_by(stride) {
            for column in (0..columns as isize).step_by(stride) {
                for output in 0..layer.outputs {
                    let mut sum = self.parameters[layer.bias.start + output];
                    for (down, across, channel) in (0..kernel).flat_map(|down| {
                        (0..kernel).flat_map(move |across| {
                            (0..channels).map(move |channel| (down, across, channel))
                        })
                    }) {
                        let reach = (kernel / 2) as isize;
                        let (y, x) =
                            (row + down as isize - reach, column + across as isize - reach);
                        if y < 0 || x < 0 || y >= rows as isize || x >= columns as isize {
                            continue;
                        }
                        let seen = map[(y as usize * columns + x as usize) * channels + channel];
                        let at = (down * kernel + across) * channels + channel;
                        sum += weight[output * layer.inputs + at] * seen;
                    }
                    found.push(sum);
                }
            }
        }
        found
    }

    /// The five convolutions of an encoder.
    fn narrowed(&self, net: &str, image: &[f64], kernels: [usize; 4]) -> Vec<f64> {
        let (mut rows, mut columns) = (self.sizes.rows(), self.sizes.columns());
        let mut map = image.to_vec();
        let [first, second, third, fourth] = kernels;
        for (name, kernel, stride) in [
            ("first", first, 1),
            ("second", second, 2),
            ("third", third, 1),
            ("fourth", fourth, 2),
            ("fifth", 3, 1),
        ] {
            let name = format!("{net}.{name}");
            let pairs = self.convolve(&name, (&map, rows, columns), (kernel, stride));
            (rows, columns) = (rows.div_ceil(stride), columns.div_ceil(stride));
            map = pairs.chunks_exact(self.layer(&name).outputs).flat_map(units).collect();
        }
        map
    }

    fn normal(&self, mut row: Vec<f64>) -> Normal {
        let log_variances = row.split_off(self.sizes.latent());
        (row, log_variances)
    }

    /// Of the uppermost latent numbers of an image.
    fn upper(&self, image: &[u8]) -> Normal {
        let image = self.input(image);
        self.normal(match (self.sizes.levels(), self.sizes.channels()) {
            (1, _) => self.perceptron("encoder", &image),
            (_, None) => self.perceptron("upper.encoder", &image),
            _ => {
                let seen = self.narrowed("upper.encoder", &image, [7, 3, 5, 3]);
                self.dense("upper.encoder.last", &seen)
            }
        })
    }

    /// Of the lower ones, given the upper: by the encoder and by the prior.
    fn lower(&self, image: &[u8], upper: &[f64]) -> (Normal, Normal) {
        let image = self.input(image);
        let mut seen = match self.sizes.channels() {
            None => self.gated("lower.encoder.of_image", &image),
            Some(_) => self.narrowed("lower.encoder", &image, [3; 4]),
        };
        seen.extend(self.gated("lower.encoder.of_upper", upper));
        let both = self.gated("lower.encoder.both", &seen);
        (
            self.normal(self.dense("lower.encoder.last", &both)),
            self.normal(self.perceptron("lower.prior", upper)),
        )
    }

    fn decoded(&self, latent: &[Vec<f64>]) -> Vec<f64> {
        let [upper, lower] = latent else { return self.perceptron("decoder", &latent[0]) };
        let mut both = self.gated("decoder.of_lower", lower);
        both.extend(self.gated("decoder.of_upper", upper));
        let mut both = self.gated("decoder.both", &both);
        if self.sizes.channels().is_none() {
            return self.dense("decoder.last", &both);
        }
        let (rows, columns) = (self.sizes.rows(), self.sizes.columns());
        for name in ["first", "second", "third", "fourth"] {
            let name = format!("decoder.{name}");
            let pairs = self.convolve(&name, (&both, rows, columns), (3, 1));
            both = pairs.chunks_exact(self.layer(&name).outputs).flat_map(units).collect();
        }
        self.convolve("decoder.last", (&both, rows, columns), (1, 1))
    }

    fn input(&self, image: &[u8]) -> Vec<f64> {
        let most = (self.sizes.values() - 1) as f64;
        image.iter().map(|value| f64::from(*value) / most).collect()
    }

    /// log p(x | z).
    fn log_prob(&self, image: &[u8], latent: &[Vec<f64>]) -> f64 {
        let decoded = self.decoded(latent);
        let values = self.sizes.values() as f64;
        if self.sizes.values() == 2 {
            let terms =
                decoded.iter().zip(image).map(|(l, bit)| f64::from(*bit) * l - softplus(*l));
            return terms.sum();
        }
        let terms = image.iter().zip(decoded.chunks_exact(2)).map(|(level, pair)| {
            let (mean, scale) = (pair[0], pair[1]);
            let at = |edge: f64| match edge {
                0.0 => 0.0,
                edge if edge == values => 1.0,
                edge => sigmoid((edge / values - sigmoid(mean)) / scale.clamp(-7.0, 2.0).exp()),
            };
            (at(f64::from(*level) + 1.0) - at(f64::from(*level))).ln()
        });
        terms.sum()
    }

    /// The bound of an image from one draw, made of that noise, with its divergences weighted.
    fn loss(&self, image: &[u8], noise: &[f32], weight: f64) -> f64 {
        let (of_upper, of_lower) = noise.split_at(self.sizes.latent());
        let standard = (vec![0.0; of_upper.len()], vec![0.0; of_upper.len()]);
        let posterior = self.upper(image);
        let mut divergence = divergence(&posterior, &standard);
        let mut latent = vec![drawn(&posterior, of_upper)];
        if self.sizes.levels() == 2 {
            let (posterior, prior) = self.lower(image, &latent[0]);
            divergence += self::divergence(&posterior, &prior);
            latent.push(drawn(&posterior, of_lower));
        }
        weight * divergence - self.log_prob(image, &latent)
    }

    /// log p(x, z) of latent numbers of which there is one per level.
    fn log_joint(&self, image: &[u8], latent: &[f64]) -> f64 {
        let rows: Vec<Vec<f64>> = latent.iter().map(|number| vec![*number]).collect();
        let lower = latent.get(1).map_or(0.0, |lower| {
            let (_, prior) = self.lower(image, &rows[0]);
            log_normal(*lower, prior.0[0], prior.1[0])
        });
        self.log_prob(image, &rows) + log_normal(latent[0], 0.0, 0.0) + lower
    }
}

/// Units of numbers and then their gates.
fn units(pairs: &[f64]) -> Vec<f64> {
    let (values, gates) = pairs.split_at(pairs.len() / 2);
    values.iter().zip(gates).map(|(value, gate)| value * sigmoid(*gate)).collect()
}

fn drawn((means, log_variances): &Normal, noise: &[f32]) -> Vec<f64> {
    let both = means.iter().zip(log_variances).zip(noise);
    both.map(|((mean, log), noise)| mean + (0.5 * log).exp() * f64::from(*noise)).collect()
}

/// Of one from the other, by the formula for two normal distributions.
fn divergence(one: &Normal, other: &Normal) -> f64 {
    let terms = (0..one.0.len()).map(|at| {
        let (mean, log, m, l) = (one.0[at], one.1[at], other.0[at], other.1[at]);
        0.5 * (l - log + (log.exp() + (mean - m).powi(2)) / l.exp() - 1.0)
    });
    terms.sum()
}

fn log_normal(z: f64, mean: f64, log_variance: f64) -> f64 {
    -0.5 * ((z - mean).powi(2) / log_variance.exp() + log_variance + TAU.ln())
}

/// The training loss of images, one after the other, with the noise of their latent numbers.
pub(super) fn loss(
    sizes: &VaeSizes,
    parameters: &[f64],
    images: &[u8],
    noise: &[f32],
    weight: f64,
) -> f64 {
    let slow = Slow::new(sizes, parameters);
    let count = images.len() / sizes.pixels();
    let images = images.chunks_exact(sizes.pixels()).zip(noise.chunks_exact(sizes.noise()));
    images.map(|(image, noise)| slow.loss(image, noise, weight)).sum::<f64>() / count as f64
}

/// log ∫ e^f(z) dz by the trapezoidal rule, for functions that are small beyond ±9.
fn log_integral(f: impl Fn(f64) -> f64) -> f64 {
    log_integral_in_steps(0.01, f)
}

fn log_integral_in_steps(step: f64, f: impl Fn(f64) -> f64) -> f64 {
    let most = (9.0 / step) as i32;
    let terms: Vec<f64> = (-most..=most).map(|index| f(f64::from(index) * step)).collect();
    log_sum_exp(&terms) + step.ln()
}

/// log p(x) of an autoencoder of one latent number per level.
pub(super) fn log_likelihood(sizes: &VaeSizes, parameters: &[f64], image: &[u8]) -> f64 {
    let slow = Slow::new(sizes, parameters);
    if sizes.levels() == 1 {
        return log_integral(|z| slow.log_joint(image, &[z]));
    }
    // Two numbers are integrated over in coarser steps, well below the scales of what is random.
    log_integral_in_steps(0.1, |upper| {
        log_integral_in_steps(0.1, |lower| slow.log_joint(image, &[upper, lower]))
    })
}

/// How far the weight p(x, z) / q(z | x) of a draw from q scatters around its mean p(x): its variance
/// over the square of that.
pub(super) fn scatter(sizes: &VaeSizes, parameters: &[f64], image: &[u8]) -> f64 {
    let slow = Slow::new(sizes, parameters);
    let (mean, log_variance) = slow.upper(image);
    let of_upper = |z: f64| log_normal(z, mean[0], log_variance[0]);
    let square = match sizes.levels() {
        1 => log_integral(|z| 2.0 * slow.log_joint(image, &[z]) - of_upper(z)),
        _ => log_integral_in_steps(0.1, |upper| {
            let ((mean, log_variance), _) = slow.lower(image, &[upper]);
            log_integral_in_steps(0.1, |lower| {
                let of_lower = log_normal(lower, mean[0], log_variance[0]);
                2.0 * slow.log_joint(image, &[upper, lower]) - of_upper(upper) - of_lower
            })
        }),
    };
    (square - 2.0 * log_likelihood(sizes, parameters, image)).exp_m1()
}

/// The bound on log p(x) that training maximises, over all noise of the one latent number.
pub(super) fn evidence_bound(sizes: &VaeSizes, parameters: &[f64], image: &[u8]) -> f64 {
    const STEP: f64 = 0.01;
    (-900..=900)
        .map(|index| {
            let noise = f64::from(index) * STEP;
            let density = log_normal(noise, 0.0, 0.0).exp();
            -STEP * density * loss(sizes, parameters, image, &[noise as f32], 1.0)
        })
        .sum()
}
