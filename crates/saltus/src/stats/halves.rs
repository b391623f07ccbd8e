//! Half chains side by side, whose R̂ and effective sample size all judgements of several chains
//! share, whatever the draws were turned into before.

use super::ess::Ess;
use super::lags::Autocovariance;
use super::moments;

/// Both halves of every chain, one after the other, without the middle draw of an odd length.
pub(super) struct Halves {
    /// Draws per half.
    length: usize,
    values: Vec<f64>,
    /// The mean of the variances of the halves.
    within: f64,
    /// The variance of their means.
    between: f64,
}

/// The draws of chains of one length that are in the halves, in place.
pub(super) fn keep_halves(draws: &mut Vec<f64>, length: usize) {
    if !length.is_multiple_of(2) {
        let mut place = 0;
        draws.retain(|_| {
            place += 1;
            (place - 1) % length != length / 2
        });
    }
}

impl Halves {
    /// Halves of so many draws each, at least two, one after the other.
    pub(super) fn new(values: Vec<f64>, length: usize) -> Self {
        let (means, variances): (Vec<f64>, Vec<f64>) =
            values.chunks_exact(length).map(moments).unzip();
        let within = variances.iter().sum::<f64>() / variances.len() as f64;
        Self { length, values, within, between: moments(&means).1 }
    }

    /// How much wider the pooled draws are than those of a half; `None` if all are equal.
    pub(super) fn rhat(&self) -> Option<f64> {
        let Self { within, between, .. } = *self;
        if within + between == 0.0 {
            return None;
        }
        // Halves that are constants but differ have no variance within: the ratio is infinite.
        let n = self.length as f64;
        Some((between / within + (n - 1.0) / n).sqrt())
    }

    /// The effective sample size of all draws together, for estimating their mean.
    pub(super) fn ess(&self, autocovariance: &mut Autocovariance) -> Ess {
        let n = self.length;
        let Self { within, between, .. } = *self;
        if within + between == 0.0 {
            return Ess::Stuck;
        }
        let pooled = within * (n as f64 - 1.0) / n as f64 + between;

        // Autocovariances with divisor n, averaged over the halves.
        let draws = self.values.len() as f64;
        let mut lags = autocovariance.lags(self.values.iter().copied(), n);
        let correlation = |lag: usize| 1.0 - (within - lags.sum(lag) / draws) / pooled;
        let time = autocorrelation_time(n, correlation);
        Ess::Estimated(draws / time.max(1.0 / draws.log10()))
    }
}

/// −1 + 2 Σ ρ_t over Geyer's initial positive, monotone sequence of pairs, in the variant of Stan
/// and ArviZ: the last pair contributes its even lag, once.
fn autocorrelation_time(lags: usize, mut correlation: impl FnMut(usize) -> f64) -> f64 {
    // The pair of lags 0 and 1 and those that follow, while their sums stay positive.
    let mut pairs = Vec::new();
    let mut last = (1.0, correlation(1));
    let mut lag = 2;
    while lag + 2 < lags && last.0 + last.1 > 0.0 {
        pairs.push(last);
        last = (correlation(lag), correlation(lag + 1));
        lag += 2;
    }
    // A pair may be no larger than the one before it.
    let mut ceiling = f64::INFINITY;
    let mut total = 0.0;
    for (even, odd) in pairs {
        ceiling = ceiling.min(even + odd);
        total += ceiling;
    }
    // The even lag of a pair whose sum is negative counts only if it is itself positive.
    let tail = if last.0 > 0.0 || last.0 + last.1 >= 0.0 { last.0 } else { 0.0 };
    -1.0 + 2.0 * total + tail
}
