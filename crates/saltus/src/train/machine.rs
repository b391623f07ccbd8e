//! The RBM that is being trained: its parameters, laid out for learning.

use crate::data::Examples;
use crate::math::matrix::PackedMatrix;
use crate::rng::ChainRng;
use crate::rng::{Learning, Stream};
use crate::space::Space;

/// Hidden units are filled up to whole groups of this many, which are added up in registers.
pub(super) const LANES: usize = 32;
/// Frequencies of the data are kept away from 0 and 1, so that no value is impossible.
const FREQUENCIES: (f64, f64) = (0.01, 0.99);
/// Parameters beyond this have nothing to do with data: no logarithm of odds comes near it.
const LARGEST: f32 = 1e6;

/// A restricted Boltzmann machine in training.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub(super) space: Space,
    pub(super) hidden: usize,
    /// Hidden units with the filling, whose weights are zero and which are never on.
    pub(super) stride: usize,
    /// A row of hidden units per site and value, site after site; with two values, per site.
    pub(super) weights: Vec<f32>,
    pub(super) hidden_bias: Vec<f32>,
    /// Site after site, like the rows of weights.
    pub(super) visible_bias: Vec<f32>,
    /// The weights again as hidden units by planes of sites, and the biases in planes.
    pub(super) product: PackedMatrix,
    pub(super) bias_planes: Vec<f32>,
}

impl Machine {
    /// An RBM before the first update.
    ///
    /// The weights are uniform in ±1/√n with n the number of inputs of a hidden unit (sites with
    /// two values, sites × values with more): small enough that all hidden units start out half
    /// on, large enough that they start out different. The hidden biases are zero. The visible
    /// biases give every value its frequency in the data: log-odds with two values, logarithms
    /// with more.
    pub(super) fn new(space: Space, hidden: usize, mean: &[f32], seed: u64) -> Self {
        let table = space.diff_len();
        let stride = hidden.next_multiple_of(LANES);
        let mut rng = ChainRng::new(seed, Stream::Learning(Learning::Weights, 0));
        let reach = 1.0 / (table as f64).sqrt();
        let mut weights = vec![0.0; table * stride];
        for unit in 0..hidden {
            for row in 0..table {
                weights[row * stride + unit] = (reach * (2.0 * rng.uniform() - 1.0)) as f32;
            }
        }
        let bias = |mean: &f32| {
            let mean = f64::from(*mean);
            let bias = if space.is_binary() { (mean / (1.0 - mean)).ln() } else { mean.ln() };
            bias as f32
        };
        let visible_bias: Vec<f32> = mean.iter().map(bias).collect();
        let mut machine = Self {
            space,
            hidden,
            stride,
            weights,
            hidden_bias: vec![0.0; stride],
            bias_planes: visible_bias.clone(),
            visible_bias,
            product: PackedMatrix::new(0, 0, |_, _| 0.0),
        };
        machine.pack();
        machine
    }

    /// Makes the planes of the parameters after these have changed.
    pub(super) fn pack(&mut self) {
        let (sites, planes) = (self.space.sites(), self.space.planes());
        let row = |column: usize| column % sites * planes + column / sites;
        let Self { weights, stride, hidden, .. } = &*self;
        self.product = PackedMatrix::new(*hidden, sites * planes, |unit, column| {
            weights[row(column) * stride + unit]
        });
        for column in 0..sites * planes {
            self.bias_planes[column] = self.visible_bias[row(column)];
        }
    }

    /// Whether all parameters are numbers to go on with.
    pub(super) fn is_usable(&self) -> bool {
        [&self.weights, &self.hidden_bias, &self.visible_bias]
            .iter()
            .all(|numbers| numbers.iter().all(|number| number.abs() <= LARGEST))
    }

    /// The weights as [hidden, site, value], or [hidden, site] with two values.
    pub(super) fn weights_by_unit(&self) -> Vec<f32> {
        let rows = self.weights.chunks_exact(self.stride);
        (0..self.hidden).flat_map(|unit| rows.clone().map(move |row| row[unit])).collect()
    }
}

/// How often each value occurs in the examples, kept away from 0 and 1.
pub(super) fn clamped_mean(examples: &Examples) -> Vec<f32> {
    let (low, high) = FREQUENCIES;
    examples.mean().iter().map(|mean| mean.clamp(low, high) as f32).collect()
}

/// Independent sites with these frequencies.
pub(super) fn draw_independent(space: &Space, mean: &[f32], rng: &mut ChainRng, state: &mut [u8]) {
    for (value, row) in state.iter_mut().zip(mean.chunks_exact(space.planes())) {
        *value = match row {
            [mean] => u8::from(rng.flip(f64::from(*mean))),
            row => {
                let weights: Vec<f64> = row.iter().map(|weight| f64::from(*weight)).collect();
                rng.index(&weights, weights.iter().sum()) as u8
            }
        };
    }
}
