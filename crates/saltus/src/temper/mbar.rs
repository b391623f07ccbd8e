//! Averages at any inverse temperature from the draws of all rungs (Shirts and Chodera 2008), with errors
//! by leaving out an ensemble at a time.

use super::evidence::standard_error;
use super::ladder::RungDraw;
use crate::math::{log_sum_exp, sigmoid};
use rayon::prelude::*;
use serde::Serialize;

/// Draws that are looked at; of more, evenly spaced ones.
const MOST_DRAWS: usize = 100_000;
/// Rounds of the equations of all rungs together, and of those with an ensemble left out.
const ROUNDS: usize = 100;
const ROUNDS_WITHOUT: usize = 4;
const CLOSE: f64 = 1e-6;

/// A draw: V = log π − log p, log π, and what was observed.
#[derive(Clone, Debug)]
struct Sample {
    v: f64,
    log_prob: f64,
    observed: Box<[f64]>,
}

/// The draws of all rungs, weighed against each other.
pub struct Reweighting {
    /// By ensemble.
    samples: Vec<Vec<Sample>>,
    /// The logarithm of the mixture of all rungs at every draw: of all ensembles, and of all but one each.
    mixtures: Vec<Vec<f64>>,
    left_out: Vec<Option<usize>>,
}

/// A number and its standard error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Value {
    /// The number.
    pub mean: f64,
    /// Its error, by leaving out an ensemble at a time; none if there is only one.
    pub se: Option<f64>,
}

/// Averages of powers of log π and of what was observed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Averages {
    /// log Σ p^(1−β) π^β.
    pub log_z: f64,
    /// log π and its square.
    pub log_prob: [f64; 2],
    /// Of every observable.
    pub observed: Vec<f64>,
}

impl Reweighting {
    /// From the inverse temperatures of the rungs and the draws on them, by ensemble, then by scan and
    /// rung.
    pub fn new(betas: &[f64], draws: &[Vec<RungDraw>]) -> Self {
        let rungs = betas.len();
        // Draws of the base that the model forbids tell nothing of the rungs above.
        let forbidden = draws.iter().flatten().any(|draw| draw.log_prob == f64::NEG_INFINITY);
        let first = usize::from(forbidden && rungs > 2);
        let betas = &betas[first..];
        let total: usize = draws.iter().map(Vec::len).sum();
        let every = (total / MOST_DRAWS).max(1);
        let scans = |draws: &Vec<RungDraw>| draws.len() / rungs;
        let kept = |draws: &Vec<RungDraw>| scans(draws).div_ceil(every);
        let number: usize = draws.iter().map(kept).sum();
        let rows = |draws: &Vec<RungDraw>| -> Vec<Vec<Sample>> {
            let rows = draws.chunks_exact(rungs).step_by(every);
            let row = |row: &[RungDraw]| row[first..].iter().map(sample).collect();
            rows.map(row).collect()
        };
        let by_scan: Vec<Vec<Vec<Sample>>> = draws.iter().map(rows).collect();
        let start = bridges(betas, &by_scan);
        let samples: Vec<Vec<Sample>> = by_scan
            .iter()
            .map(|rows| rows.iter().flatten().filter(|x| x.v.is_finite()).cloned().collect())
            .collect();
        let full = solve(betas, &samples, None, number as f64, &start, ROUNDS);
        let mut left_out = vec![None];
        if draws.len() > 1 {
            left_out.extend((0..draws.len()).map(Some));
        }
        let mixture = |left_out: &Option<usize>| {
            let (log_z, number) = match left_out {
                None => (full.clone(), number),
                Some(one) => {
                    let number = number - kept(&draws[*one]);
                    let found =
                        solve(betas, &samples, Some(*one), number as f64, &full, ROUNDS_WITHOUT);
                    (found, number)
                }
            };
            log_mixtures(betas, &samples, &log_z, number as f64)
        };
        let mixtures = left_out.par_iter().map(mixture).collect();
        Self { samples, mixtures, left_out }
    }

    /// Averages at an inverse temperature: from all ensembles, then with each left out.
    fn averages(&self, beta: f64) -> Vec<Averages> {
        let of = |(mixture, left_out): (&Vec<f64>, &Option<usize>)| {
            let mut logs = Vec::new();
            let mut kept = Vec::new();
            let mut at = 0;
            for (number, samples) in self.samples.iter().enumerate() {
                for sample in samples {
                    if Some(number) != *left_out {
                        logs.push(beta * sample.v - mixture[at]);
                        kept.push(sample);
                    }
                    at += 1;
                }
            }
            let log_z = log_sum_exp(&logs);
            let numbers = kept.first().map_or(0, |sample: &&Sample| sample.observed.len());
            let observed = vec![0.0; numbers];
            let mut averages = Averages { log_z, observed, ..Averages::default() };
            for (log, sample) in logs.iter().zip(kept) {
                let weight = (log - log_z).exp();
                averages.log_prob[0] += weight * sample.log_prob;
                averages.log_prob[1] += weight * sample.log_prob * sample.log_prob;
                for (average, number) in averages.observed.iter_mut().zip(&sample.observed) {
                    *average += weight * number;
                }
            }
            averages
        };
        self.mixtures.iter().zip(&self.left_out).map(of).collect()
    }

    /// Functions of the averages at an inverse temperature, with their errors.
    pub fn at(&self, beta: f64, functions: &[&(dyn Fn(&Averages) -> f64 + Sync)]) -> Vec<Value> {
        let averages = self.averages(beta);
        let value = |function: &&(dyn Fn(&Averages) -> f64 + Sync)| {
            let without: Vec<f64> = averages[1..].iter().map(function).collect();
            Value { mean: function(&averages[0]), se: standard_error(&without) }
        };
        functions.iter().map(value).collect()
    }
}

fn sample(draw: &RungDraw) -> Sample {
    let RungDraw { log_prob, log_base, observed } = draw;
    Sample { v: log_prob - log_base, log_prob: *log_prob, observed: observed.clone() }
}

/// log Z of every rung, from bridges between neighbours: where the equations of all start.
fn bridges(betas: &[f64], ensembles: &[Vec<Vec<Sample>>]) -> Vec<f64> {
    let mut log_z = vec![0.0];
    for lower in 0..betas.len() - 1 {
        let step = betas[lower + 1] - betas[lower];
        let on = |rung: usize| ensembles.iter().flatten().map(move |row| step * row[rung].v);
        let finite: Vec<f64> = on(lower + 1).filter(|w| w.is_finite()).collect();
        let mut shift = finite.iter().sum::<f64>() / finite.len().max(1) as f64;
        for _ in 0..30 {
            let up: f64 = on(lower).map(|w| sigmoid(w - shift)).sum();
            let down: f64 = on(lower + 1).map(|w| sigmoid(shift - w)).sum();
            let change = (up / down).ln();
            if !change.is_finite() || change.abs() < CLOSE {
                break;
            }
            shift += change;
        }
        log_z.push(log_z[lower] + shift);
    }
    log_z
}

/// log Σₖ n e^(bₖ V − log Zₖ) at every draw.
fn log_mixtures(betas: &[f64], samples: &[Vec<Sample>], log_z: &[f64], number: f64) -> Vec<f64> {
    let all: Vec<f64> = samples.iter().flatten().map(|sample| sample.v).collect();
    all.par_iter()
        .map_init(Vec::new, |logs, v| {
            logs.clear();
            logs.extend(betas.iter().zip(log_z).map(|(beta, log_z)| beta * v - log_z));
            number.ln() + log_sum_exp(logs)
        })
        .collect()
}

/// log Z of every rung by the equations of all together: Zₖ = Σₓ e^(bₖ V(x)) / mixture(x).
fn solve(
    betas: &[f64],
    samples: &[Vec<Sample>],
    left_out: Option<usize>,
    number: f64,
    start: &[f64],
    rounds: usize,
) -> Vec<f64> {
    let mut log_z = start.to_vec();
    for _ in 0..rounds {
        let mixtures = log_mixtures(betas, samples, &log_z, number);
        let owner =
            samples.iter().enumerate().flat_map(|(n, all)| all.iter().map(move |x| (n, x.v)));
        let rows: Vec<(f64, f64)> = owner
            .zip(&mixtures)
            .filter(|((owner, _), _)| Some(*owner) != left_out)
            .map(|((_, v), mixture)| (v, *mixture))
            .collect();
        let rung = |beta: &f64| {
            log_sum_exp(&rows.iter().map(|(v, mixture)| beta * v - mixture).collect::<Vec<f64>>())
        };
        let mut next: Vec<f64> = betas.par_iter().map(rung).collect();
        // Only ratios are told; the lowest stays where it is.
        let shift = next[0] - log_z[0];
        next.iter_mut().for_each(|one| *one -= shift);
        let change = next.iter().zip(&log_z).map(|(one, other)| (one - other).abs());
        let change = change.fold(0.0, f64::max);
        log_z = next;
        if change < CLOSE {
            break;
        }
    }
    log_z
}
