//! log Z from a ladder: bridges between neighbours (Bennett 1976; Meng and Wong 1996), the error by leaving
//! out an ensemble at a time, and stepping stones on either side.

use super::ensemble::Sums;
use super::rungs::Rungs;

/// log Z of a rung less that of the one below, for all: e^c Σ 1/(1 + e^(c − w)) / Σ 1/(1 + e^(w′ − c)).
///
/// Right for every c, and best where c is what comes out.
pub(super) fn log_ratios(sums: &Sums, shifts: &[f64]) -> Vec<f64> {
    let pairs = sums.pairs.iter().zip(shifts);
    pairs.map(|(pair, shift)| shift + (pair.up / pair.down).ln()).collect()
}

fn bridge(sums: &Sums, rungs: &Rungs) -> f64 {
    log_ratios(sums, &rungs.shifts).iter().sum()
}

/// Low on average: Σ log mean e^w over draws of the lower rungs.
fn forward(sums: &Sums, rungs: &Rungs) -> f64 {
    let pairs = sums.pairs.iter().zip(&rungs.shifts);
    pairs.map(|(pair, shift)| shift + (pair.stone_up / sums.scans as f64).ln()).sum()
}

/// High on average: −Σ log mean e^(−w) over draws of the upper rungs.
fn backward(sums: &Sums, rungs: &Rungs) -> f64 {
    let pairs = sums.pairs.iter().zip(&rungs.shifts);
    pairs.map(|(pair, shift)| shift - (pair.stone_down / sums.scans as f64).ln()).sum()
}

/// An estimate of log Z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Evidence {
    pub(super) log_z: f64,
    /// From leaving out an ensemble at a time; none if there is only one.
    pub(super) standard_error: Option<f64>,
    /// The truth lies between these but for chance: stepping stones up and down, three of their errors
    /// beyond.
    pub(super) bracket: Option<(f64, f64)>,
    /// The mean of stepping stones up and down, and its error: what Pigeons (Surjanovic et al. 2023) tells, to compare.
    pub(super) stones: (f64, Option<f64>),
}

impl Evidence {
    /// From the sums of every ensemble.
    pub(super) fn of(ensembles: &[&Sums], rungs: &Rungs) -> Self {
        let (log_z, standard_error) = jackknife(ensembles, |sums| bridge(sums, rungs));
        let (lower, lower_error) = jackknife(ensembles, |sums| forward(sums, rungs));
        let (upper, upper_error) = jackknife(ensembles, |sums| backward(sums, rungs));
        let stones =
            jackknife(ensembles, |sums| 0.5 * (forward(sums, rungs) + backward(sums, rungs)));
        let bracket = lower_error.zip(upper_error).map(|(below, above)| {
            let (lower, upper) = (lower - 3.0 * below, upper + 3.0 * above);
            (lower.min(log_z), upper.max(log_z))
        });
        let bracket = bracket.filter(|(lower, upper)| lower.is_finite() && upper.is_finite());
        Self { log_z, standard_error, bracket, stones }
    }
}

/// An estimate from all ensembles, and its standard error from leaving out one at a time.
pub(super) fn jackknife(
    ensembles: &[&Sums],
    estimate: impl Fn(&Sums) -> f64,
) -> (f64, Option<f64>) {
    let of = |left_out: Option<usize>| {
        let mut sums = Sums::default();
        for (number, ensemble) in ensembles.iter().enumerate() {
            if Some(number) != left_out {
                sums.add(ensemble);
            }
        }
        estimate(&sums)
    };
    let without: Vec<f64> = match ensembles.len() {
        0 | 1 => Vec::new(),
        count => (0..count).map(|number| of(Some(number))).collect(),
    };
    (of(None), standard_error(&without))
}

/// The jackknife error of estimates that leave out one ensemble each; none of fewer than two.
pub(crate) fn standard_error(without: &[f64]) -> Option<f64> {
    let count = without.len() as f64;
    let mean = without.iter().sum::<f64>() / count;
    let squares: f64 = without.iter().map(|one| (one - mean) * (one - mean)).sum();
    let error = ((count - 1.0) / count * squares).sqrt();
    (without.len() > 1 && error.is_finite()).then_some(error)
}

#[cfg(test)]
mod tests {
    use super::super::ensemble::PairSums;
    use super::*;

    /// Two rungs with two states each of V = 0 and V = v; expectations are exact.
    fn exact_sums(v: f64, shift: f64, scans: u64) -> Sums {
        let weight = scans as f64;
        // Below both states are equally likely, above they are as 1 to e^v.
        let upper = [1.0 / (1.0 + v.exp()), v.exp() / (1.0 + v.exp())];
        let mut pair = PairSums::default();
        for (w, (low, high)) in [0.0, v].into_iter().zip([0.5, 0.5].into_iter().zip(upper)) {
            pair.up += weight * low / (1.0 + (shift - w).exp());
            pair.down += weight * high / (1.0 + (w - shift).exp());
            pair.stone_up += weight * low * (w - shift).exp();
            pair.stone_down += weight * high * (shift - w).exp();
        }
        Sums { scans, trips: 0, pairs: vec![pair], rungs: vec![Default::default(); 2] }
    }

    #[test]
    fn bridges_and_stones_are_exact_in_expectation_whatever_the_shift() {
        for v in [0.0f64, 1.3, -4.0, 9.0] {
            let exact = (0.5 * (1.0 + v.exp())).ln();
            for shift in [0.0, 2.0, -1.0] {
                let rungs =
                    Rungs { betas: vec![0.0, 1.0], scales: vec![1.0; 2], shifts: vec![shift] };
                let sums = exact_sums(v, shift, 10);
                for found in
                    [bridge(&sums, &rungs), forward(&sums, &rungs), backward(&sums, &rungs)]
                {
                    assert!((found - exact).abs() < 1e-9, "{v} {shift}: {found} {exact}");
                }
                let evidence = Evidence::of(&[&sums, &sums], &rungs);
                assert!(evidence.standard_error.unwrap() < 1e-9);
                assert!((evidence.bracket.unwrap().0 - exact).abs() < 1e-9);
                assert!((evidence.stones.0 - exact).abs() < 1e-9);
                assert_eq!(Evidence::of(&[&sums], &rungs).standard_error, None);
            }
        }
    }

    #[test]
    fn the_error_of_a_mean_is_the_usual_one() {
        let values = [1.0, 4.0, 2.0, 9.0];
        let total: f64 = values.iter().sum();
        let without: Vec<f64> = values.iter().map(|value| (total - value) / 3.0).collect();
        let mean = total / 4.0;
        let variance: f64 =
            values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / 3.0;
        assert!((standard_error(&without).unwrap() - (variance / 4.0).sqrt()).abs() < 1e-12);
    }
}
