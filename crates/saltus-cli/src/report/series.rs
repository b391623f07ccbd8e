//! The charts of one scalar: trace, running mean, autocorrelation, ranks, growth of the effective
//! draws, marginal.

use super::lines::{extremes, places};
use super::page::{Figure, Panel};
use crate::plot::chart::Chart;
use crate::plot::frame::Division;
use saltus::draws::sink::SITES_CHANGED;
use saltus::draws::trace::{HAMMING, LOG_PROB};
use saltus::run::MAGNETISATION;
use saltus::stats::{Movement, autocorrelation, diagnose};

/// Chains whose lines are drawn: more could not be told apart.
const DRAWN: usize = 4;
/// Bins of a histogram of ranks.
const RANK_BINS: usize = 20;
/// Most bins of a marginal.
const BINS: usize = 40;

/// Everything about one scalar.
pub fn panel(name: &str, chains: &[Vec<f64>]) -> Panel {
    let drawn = drawn(chains);
    let title = if name == LOG_PROB { "log π".to_owned() } else { name.replace('_', " ") };
    let about = match name {
        LOG_PROB => "log π of the state, up to a constant; the energy is its negative".to_owned(),
        HAMMING => "sites that differ from a fixed random state".to_owned(),
        name if name.starts_with(HAMMING) => {
            "sites that differ from another fixed random state".to_owned()
        }
        MAGNETISATION => "mean of the spins, −1 and 1".to_owned(),
        SITES_CHANGED => "sites changed by the steps that led to a draw".to_owned(),
        name => format!("the observable {name}"),
    };
    let finite = chains.iter().flatten().all(|value| value.is_finite());
    let figures = match (Movement::of(chains), finite) {
        (_, false) => Vec::new(),
        (Movement::Constant, _) => Vec::new(),
        (Movement::Frozen, _) => vec![trace(chains, &drawn), marginal(chains)],
        (Movement::Moving, _) => vec![
            trace(chains, &drawn),
            running_mean(chains, &drawn),
            correlation(chains),
            ranks(chains, &drawn),
            growth(chains),
            marginal(chains),
        ],
    };
    let empty = if finite {
        "It never changed in any chain: there is nothing to draw."
    } else {
        "It is not finite in some draws: there is nothing to draw."
    };
    Panel { id: name.to_owned(), title, about, figures, empty: empty.to_owned() }
}

/// The chains with the lowest and the highest mean and some between them: if chains disagree, it is
/// seen.
fn drawn(chains: &[Vec<f64>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..chains.len()).collect();
    order.sort_by(|a, b| mean(&chains[*a]).total_cmp(&mean(&chains[*b])));
    let count = chains.len().min(DRAWN);
    let last = chains.len().saturating_sub(1);
    let mut drawn: Vec<usize> = (0..count).map(|k| order[k * last / (count - 1).max(1)]).collect();
    drawn.dedup();
    drawn
}

fn mean(series: &[f64]) -> f64 {
    series.iter().sum::<f64>() / series.len().max(1) as f64
}

fn range(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    values.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

/// Which chains have which colour.
fn whose(drawn: &[usize]) -> String {
    let names: Vec<String> = drawn
        .iter()
        .enumerate()
        .map(|(k, chain)| format!(r#"<span class="key k{k}">chain {chain}</span>"#))
        .collect();
    names.join(" ")
}

fn trace(chains: &[Vec<f64>], drawn: &[usize]) -> Figure {
    let draws = chains[0].len();
    let high = range(chains.iter().flatten().copied());
    let mut chart = Chart::new((0.0, draws as f64), high, Division::Linear, "draw");
    for (k, chain) in drawn.iter().enumerate() {
        chart.line(extremes(&chains[*chain]), &format!("thin s{k}"));
    }
    Figure::new("Trace", chart.finish("value of each draw, chain by chain"), whose(drawn))
}

fn running_mean(chains: &[Vec<f64>], drawn: &[usize]) -> Figure {
    let draws = chains[0].len();
    let at = places(draws, 200);
    let means = |chain: &[f64]| -> Vec<(f64, f64)> {
        let mut sum = 0.0;
        let mut done = 0;
        at.iter()
            .map(|place| {
                sum += chain[done..*place].iter().sum::<f64>();
                done = *place;
                (*place as f64, sum / *place as f64)
            })
            .collect()
    };
    let all: Vec<Vec<(f64, f64)>> = chains.iter().map(|chain| means(chain)).collect();
    let pooled: Vec<(f64, f64)> = (0..at.len())
        .map(|k| (at[k] as f64, all.iter().map(|one| one[k].1).sum::<f64>() / all.len() as f64))
        .collect();
    // The first few means are wild and would flatten the rest.
    let settled = at.len() / 20;
    let shown = drawn.iter().flat_map(|chain| &all[*chain][settled..]).chain(&pooled[settled..]);
    let (low, high) = range(shown.map(|point| point.1));
    let mut chart = Chart::new((0.0, draws as f64), (low, high), Division::Linear, "draw");
    for (k, chain) in drawn.iter().enumerate() {
        chart.line(all[*chain][settled..].iter().copied(), &format!("s{k}"));
    }
    chart.line(pooled[settled..].iter().copied(), "strong");
    let caption = format!(r#"{} <span class="key ink">all chains</span>"#, whose(drawn));
    Figure::new("Running mean", chart.finish("mean of the draws so far"), caption)
}

fn correlation(chains: &[Vec<f64>]) -> Figure {
    let draws = chains[0].len();
    let found: Vec<Vec<f64>> =
        chains.iter().filter_map(|chain| autocorrelation(chain, draws / 2)).collect();
    let lags = found.first().map_or(0, Vec::len);
    let mean: Vec<f64> = (0..lags)
        .map(|lag| found.iter().map(|one| one[lag]).sum::<f64>() / found.len() as f64)
        .collect();
    // Twice as far as there is anything to see.
    let gone = mean.iter().position(|value| *value < 0.05).unwrap_or(lags);
    let shown = (2 * gone).clamp(20, 2000).min(lags);
    let low = range(mean[..shown].iter().copied()).0.min(0.0);
    let mut chart = Chart::new((0.0, shown as f64), (low, 1.0), Division::Linear, "lag");
    let points = places(shown, 300).into_iter().map(|place| place - 1);
    chart.line(points.map(|lag| (lag as f64, mean[lag])), "s0 filled");
    chart.level(0.0, "mark");
    let caption = format!("mean over {} chains that moved", found.len());
    Figure::new("Autocorrelation", chart.finish("correlation of draws by distance"), caption)
}

/// How the draws of a chain rank among all draws: flat if chains agree.
fn ranks(chains: &[Vec<f64>], drawn: &[usize]) -> Figure {
    let mut sorted: Vec<f64> = chains.iter().flatten().copied().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let total = sorted.len();
    let expected = chains[0].len() as f64 / RANK_BINS as f64;
    let shares: Vec<Vec<f64>> = drawn
        .iter()
        .map(|chain| {
            let mut bins = vec![0.0; RANK_BINS];
            for value in &chains[*chain] {
                // Equal values share the ranks between their first and their last.
                let first = sorted.partition_point(|other| other < value);
                let last = sorted.partition_point(|other| other <= value);
                spread(&mut bins, first, last, total);
            }
            bins.iter().map(|count| count / expected).collect()
        })
        .collect();
    let high = range(shares.iter().flatten().copied()).1.max(2.0);
    let mut chart =
        Chart::new((0.0, 100.0), (0.0, high), Division::Linear, "rank among all draws, %");
    chart.level(1.0, "mark dashed");
    for (k, bins) in shares.iter().enumerate() {
        let width = 100.0 / RANK_BINS as f64;
        let steps = bins
            .iter()
            .enumerate()
            .flat_map(|(bin, share)| [bin, bin + 1].map(|edge| (edge as f64 * width, *share)));
        chart.line(steps, &format!("s{k}"));
    }
    Figure::new("Ranks", chart.finish("share of each chain by rank, 1 if all agree"), whose(drawn))
}

/// Adds one draw whose rank lies anywhere in `first..last` of `total`.
fn spread(bins: &mut [f64], first: usize, last: usize, total: usize) {
    let place = |rank: usize| rank as f64 * bins.len() as f64 / total as f64;
    let (from, to) = (place(first), place(last));
    for bin in from as usize..bins.len().min(to.ceil() as usize) {
        let covered = to.min(bin as f64 + 1.0) - from.max(bin as f64);
        bins[bin] += covered / (to - from);
    }
}

fn growth(chains: &[Vec<f64>]) -> Figure {
    let draws = chains[0].len();
    let mut bulk = Vec::new();
    let mut tail = Vec::new();
    for place in places(draws, 10) {
        let so_far: Vec<&[f64]> = chains.iter().map(|chain| &chain[..place]).collect();
        let found = diagnose(&so_far);
        bulk.extend(found.ess_bulk.map(|ess| (place as f64, ess)));
        tail.extend(found.ess_tail.map(|ess| (place as f64, ess)));
    }
    let high = range(bulk.iter().chain(&tail).map(|point| point.1)).1.max(1.0);
    let mut chart =
        Chart::new((0.0, draws as f64), (0.0, high), Division::Linear, "draws per chain");
    for (points, class) in [(&bulk, "s0"), (&tail, "s1")] {
        chart.line(points.iter().copied(), class);
        chart.dots(points, class);
    }
    let caption = r#"<span class="key k0">bulk</span> <span class="key k1">tails</span> all chains together; a straight line is as it should be"#;
    Figure::new("Effective draws", chart.finish("effective draws by draws"), caption.to_owned())
}

fn marginal(chains: &[Vec<f64>]) -> Figure {
    let (low, high) = range(chains.iter().flatten().copied());
    let whole = chains.iter().flatten().all(|value| value.fract() == 0.0);
    // Whole numbers get bins of whole numbers.
    let width = match whole {
        true => ((high - low + 1.0) / BINS as f64).ceil().max(1.0),
        false => (high - low) / BINS as f64,
    };
    let start = if whole { low - 0.5 } else { low };
    let count = if whole { ((high - low + 1.0) / width).ceil() as usize } else { BINS };
    let mut bins = vec![0.0; count.max(1)];
    let total = (chains.len() * chains[0].len()) as f64;
    for value in chains.iter().flatten() {
        let bin = ((value - start) / width) as usize;
        bins[bin.min(count - 1)] += 100.0 / total;
    }
    let tallest = range(bins.iter().copied()).1;
    let x = (start, start + width * count as f64);
    let mut chart = Chart::new(x, (0.0, tallest), Division::Linear, "value");
    for (bin, share) in bins.iter().enumerate().filter(|(_, share)| **share > 0.0) {
        let from = start + width * bin as f64;
        chart.bar(from, from + width, *share, "s0");
    }
    let caption = "% of the draws of all chains".to_owned();
    Figure::new("Marginal", chart.finish("histogram of all draws"), caption)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_spread_over_ties() {
        let mut bins = vec![0.0; 4];
        spread(&mut bins, 0, 8, 8);
        assert_eq!(bins, [0.25; 4]);
        spread(&mut bins, 7, 8, 8);
        assert_eq!(bins, [0.25, 0.25, 0.25, 1.25]);
    }

    #[test]
    fn every_kind_of_series_makes_a_panel() {
        let moving: Vec<f64> = (0..50).map(|t| f64::from(t * 7 % 11)).collect();
        let cases = [
            (vec![moving.clone(), moving.clone()], 6),
            (vec![moving], 6),
            (vec![vec![1.0; 50], vec![2.0; 50]], 2),
            (vec![vec![1.0; 50]; 3], 0),
            (vec![vec![f64::NEG_INFINITY, 0.0]], 0),
            (vec![vec![0.5, 0.25]], 6),
        ];
        for (chains, figures) in cases {
            let panel = panel("test", &chains);
            assert_eq!(panel.figures.len(), figures, "{chains:?}");
            assert!(panel.figures.iter().all(|figure| !figure.svg.contains("NaN")));
        }
    }
}
