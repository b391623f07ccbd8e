//! Kernels from the literature that might be worth having (`kernels.rs`), beside those that saltus has: effective draws per
//! thousand evaluations of the model, on binary targets. A step of each costs one evaluation, and these are written as
//! plainly as can be: what does not win here cannot win by the clock. Stars count the seeds of which chains did not agree.
//!
//! ```text
//! cargo run --release --package saltus --example candidates -- [DIR/rbm-reference/mnist-binary-25.safetensors] > candidates.tsv
//! ```

mod kernels;

use kernels::{Cyclical, Flips, Row, SeveralFlips};
use saltus::kernel::Kernel;
use saltus::kernel::metropolis::Metropolis;
use saltus::model::fhmm::Fhmm;
use saltus::model::graph::Edge;
use saltus::model::lattice::Lattice;
use saltus::model::pairwise::Pairwise;
use saltus::model::paper::{self, Temperature};
use saltus::model::rbm::Rbm;
use saltus::stats::diagnose;
use saltus::{ChainRng, Model, Outcome, Run, Sampler, Settings};

const CHAINS: usize = 16;
const WARMUP: usize = 2000;
const DRAWS: usize = 6000;
const SEEDS: u64 = 3;
/// Powers of the differences, of which the best is what tuning α would come to.
const ALPHAS: [f64; 7] = [0.5, 0.53, 0.56, 0.6, 0.65, 0.75, 1.0];
/// Cycles: short and long ones; of step sizes alone, far and less far apart, and of powers as well.
const CYCLES: [(&str, Cyclical); 5] = [
    ("sizes-4", Cyclical { length: 4, sizes: (3.0, 1.0 / 3.0), powers: (0.5, 0.5) }),
    ("sizes-10", Cyclical { length: 10, sizes: (10.0, 0.3), powers: (0.5, 0.5) }),
    ("cycle-4", Cyclical { length: 4, sizes: (3.0, 1.0 / 3.0), powers: (0.6, 0.5) }),
    ("cycle-16", Cyclical { length: 16, sizes: (3.0, 1.0 / 3.0), powers: (0.6, 0.5) }),
    ("cycle-16-bold", Cyclical { length: 16, sizes: (3.0, 1.0 / 3.0), powers: (0.95, 0.5) }),
];

/// Effective draws per thousand steps of the slowest of log π and the Hamming distance, and whether chains agree.
fn worth(outcome: &Outcome) -> (f64, bool) {
    let trace = &outcome.trace;
    let judged = [trace.log_prob(), trace.hamming()].map(diagnose);
    let fewest = judged.iter().map(|one| one.ess_bulk.unwrap_or(0.0)).fold(f64::INFINITY, f64::min);
    let agrees = judged.iter().all(|one| one.rhat.is_some_and(|rhat| rhat < 1.05));
    (1000.0 * fewest / (trace.draws() * trace.chains()) as f64, agrees)
}

/// The mean over seeds, the spread, and how many of them did not agree.
fn mean(mut run: impl FnMut(u64) -> (f64, bool)) -> String {
    let runs: Vec<(f64, bool)> = (0..SEEDS).map(&mut run).collect();
    let mean = runs.iter().map(|(worth, _)| worth).sum::<f64>() / SEEDS as f64;
    let spread = runs.iter().map(|(worth, _)| (worth - mean).abs()).fold(0.0, f64::max);
    let apart = runs.iter().filter(|(_, agrees)| !agrees).count();
    format!("{mean:.3}±{spread:.3}{}", "*".repeat(apart))
}

fn measure<M: Model + 'static>(name: &str, model: &M) {
    let settings = |seed: u64, sampler: Sampler| Settings {
        chains: CHAINS,
        warmup: WARMUP,
        draws: DRAWS,
        seed,
        thin: 1,
        ..Settings::from(sampler)
    };
    let ours = |sampler: Sampler| {
        mean(|seed| worth(&Run::new(model, settings(seed, sampler.clone())).go().unwrap()))
    };
    fn theirs<M: Model + 'static, K: Kernel<M> + Clone>(
        model: &M,
        settings: impl Fn(u64) -> Settings,
        kernel: K,
    ) -> String
    where
        K::Scratch: 'static,
        K::Own: 'static,
    {
        mean(|seed| worth(&Run::with_kernel(model, kernel.clone(), settings(seed)).go().unwrap()))
    }
    let plain = |seed| settings(seed, Sampler::dmala());
    let mut row = vec![name.to_owned()];
    for sampler in [Sampler::dlmc(), Sampler::dlmcf(), Sampler::dmala(), Sampler::pas()] {
        row.push(ours(sampler));
    }
    row.push(theirs(model, plain, Metropolis(Flips(Row::Restricted))));
    for alpha in ALPHAS {
        row.push(theirs(model, plain, Metropolis(Flips(Row::Power(alpha)))));
    }
    for (_, cycle) in CYCLES {
        row.push(theirs(model, plain, cycle));
    }
    row.push(theirs(model, plain, Metropolis(SeveralFlips)));
    println!("{}", row.join("\t"));
}

/// Spins that all see each other, at an inverse temperature (Sherrington and Kirkpatrick 1975).
fn glass(sites: usize, beta: f64) -> Pairwise {
    let mut rng = ChainRng::new(7, saltus::rng::Stream::Model);
    let mut edges = Vec::new();
    for first in 0..sites as u32 {
        for second in first + 1..sites as u32 {
            let sign = if rng.flip(0.5) { 1.0 } else { -1.0 };
            let weight = (sign * beta / (sites as f64).sqrt()) as f32;
            edges.push(Edge { from: first, to: second, weight });
        }
    }
    Pairwise::ising(&edges, vec![0.0; sites]).unwrap()
}

/// Spins that all like each other (Curie and Weiss), at an inverse temperature of which 1 is critical.
fn wells(sites: usize, beta: f64) -> Pairwise {
    let weight = (beta / sites as f64) as f32;
    let all = 0..sites as u32;
    let edges: Vec<Edge> = (all.clone())
        .flat_map(|from| (from + 1..sites as u32).map(move |to| Edge { from, to, weight }))
        .collect();
    Pairwise::ising(&edges, vec![0.0; sites]).unwrap()
}

fn main() {
    let ours = ["target", "dlmc", "dlmcf", "dmala", "pas", "restricted"].map(str::to_owned);
    let powers = ALPHAS.map(|alpha| format!("α={alpha}"));
    let cycles = CYCLES.map(|(name, _)| name.to_owned());
    let last = ["several-flips".to_owned()];
    println!("{}", [&ours[..], &powers, &cycles, &last].concat().join("\t"));
    let high = paper::ising(Temperature::High, Lattice::free(20, 20).unwrap(), 0).unwrap();
    measure("ising high 20²", &high);
    let low = paper::ising(Temperature::Low, Lattice::free(20, 20).unwrap(), 0).unwrap();
    measure("ising low 20²", &low);
    let magnet = Lattice::periodic(12, 12).unwrap();
    let magnet = Pairwise::ising_lattice(magnet, 0.38, vec![0.0; 144]).unwrap();
    measure("torus 12² β 0.38", &magnet);
    measure("fhmm 30×5", &Fhmm::simulate(30, 5, 2, 0).unwrap());
    measure("rbm 100×25", &Rbm::random(100, 25, 2, 0).unwrap());
    measure("sk 100 β 0.8", &glass(100, 0.8));
    measure("sk 100 β 0.4", &glass(100, 0.4));
    // Two wells, between which a chain has to come: all spins like each other, beyond the critical point.
    measure("two wells of 30", &wells(30, 1.15));
    measure("two wells of 60", &wells(60, 1.08));
    if let Some(path) = std::env::args().nth(1) {
        measure("rbm 25 of digits", &Rbm::load(path).unwrap());
    }
}
