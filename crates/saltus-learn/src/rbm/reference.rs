//! The statistics of the RBMs that the paper's authors trained and published.

use super::statistics::{RbmStatistics, Statistics};
use crate::data::Dataset;

/// The statistics of the published RBM for that dataset with that many hidden units and values,
/// if there is one.
pub fn reference(dataset: &Dataset, hidden: usize, values: usize) -> Option<RbmStatistics> {
    let (weight, hidden_bias, visible_bias) = match (dataset, hidden, values) {
        (Dataset::Mnist, 25, 2) => (
            [-0.0768, 0.1692, -0.5162, 0.4155],
            [0.1764, 0.2727, -0.2592, 0.4858],
            [-2.9813, 1.8140, -4.8127, 0.1473],
        ),
        (Dataset::Mnist, 200, 2) => (
            [-0.0281, 0.0768, -0.4147, 0.2908],
            [0.0383, 0.1342, -0.2885, 0.3042],
            [-2.9259, 1.7870, -4.6735, 0.2436],
        ),
        (Dataset::FashionMnist, 50, 4) => (
            [-0.0298, 0.2400, -1.5125, 1.0976],
            [-0.0030, 0.1030, -0.2537, 0.2023],
            [-2.0023, 1.3074, -4.8486, 0.3076],
        ),
        (Dataset::FashionMnist, 50, 8) => (
            [-0.0307, 0.2169, -1.4447, 1.1889],
            [-0.0127, 0.1585, -0.3212, 0.3608],
            [-2.8027, 1.1729, -4.8316, 0.2974],
        ),
        _ => return None,
    };
    let statistics = |[mean, sd, min, max]: [f64; 4]| Statistics { mean, sd, min, max };
    Some(RbmStatistics {
        weight: statistics(weight),
        hidden_bias: statistics(hidden_bias),
        visible_bias: statistics(visible_bias),
    })
}
