//! Kernels from the literature that might be worth having, beside those that saltus has: effective draws per
//! thousand evaluations of the model, on binary targets. A step of each costs one evaluation, and these are written as
//! plainly as can be: what does not win here cannot win by the clock.
//!
//! ```text
//! cargo run --release --package saltus --example candidates
//! ```

use saltus::kernel::metropolis::{Metropolis, MetropolisScratch, Proposal};
use saltus::kernel::{Chains, Kernel, KernelTraits, Kind, ScaleTraits};
use saltus::model::fhmm::Fhmm;
use saltus::model::graph::Edge;
use saltus::model::lattice::Lattice;
use saltus::model::pairwise::Pairwise;
use saltus::model::paper::{self, Temperature};
use saltus::model::rbm::Rbm;
use saltus::stats::diagnose;
use saltus::{ChainRng, Differences, Model, Outcome, Run, Sampler, Settings, Space, StepError};

const CHAINS: usize = 16;
const WARMUP: usize = 2000;
const DRAWS: usize = 6000;
const SEEDS: u64 = 3;

/// The probability that a site flips, from the difference of its flip.
#[derive(Clone, Copy, Debug)]
enum Row {
    /// The paper's forward Euler with h restricted so that every row is a distribution: h·g ≤ 1 at every site of the
    /// state (Sun et al. 2023, section 4.1), instead of clipped site by site.
    Restricted,
    /// h·t^α against 1: any-scale balancing (Sun et al. 2023b; α = ½ is DMALA).
    Power(f64),
}

/// Flips every site with its own probability.
#[derive(Clone, Copy, Debug)]
struct Flips(Row);

const STEP_SIZE: f64 = 1e4;

fn traits(name: &'static str, scale: ScaleTraits) -> KernelTraits {
    KernelTraits {
        name,
        summary: "a candidate",
        reference: "see experiments/candidates",
        kind: Kind::AllSites,
        is_balanced: false,
        has_solver: false,
        scale: Some(scale),
        evaluations_charged: 1.0,
        is_weighted: false,
    }
}

impl Flips {
    fn fill(self, h: f64, diff: &[f32], table: &mut Vec<f64>) {
        table.clear();
        match self.0 {
            Row::Restricted => {
                let rates = diff.iter().map(|d| (0.5 * f64::from(*d)).exp());
                let h = rates.clone().fold(h, |h, rate| h.min(1.0 / rate));
                table.extend(rates.map(|rate| h * rate));
            }
            Row::Power(alpha) => table.extend(diff.iter().map(|d| {
                let odds = h.ln() + alpha * f64::from(*d);
                1.0 / (1.0 + (-odds).exp())
            })),
        }
    }
}

fn log_of(table: &[f64], from: &[u8], to: &[u8]) -> f64 {
    let sites = table.iter().zip(from.iter().zip(to));
    sites.map(|(p, (from, to))| if from == to { (-p).ln_1p() } else { p.ln() }).sum()
}

impl Proposal for Flips {
    type Table = Vec<f64>;
    type Path = ();

    fn traits(&self, space: &Space) -> KernelTraits {
        traits("flips", ScaleTraits::step_size(space.sites(), STEP_SIZE))
    }

    fn new_table(&self, _space: &Space) -> Vec<f64> {
        Vec::new()
    }

    fn differences(&self) -> Differences {
        Differences::Taylor
    }

    fn prepare(
        &self,
        scale: f64,
        from: &[u8],
        diff: &[f32],
        table: &mut Vec<f64>,
        to: &[u8],
        (): &(),
    ) -> f64 {
        self.fill(scale, diff, table);
        log_of(table, from, to)
    }

    fn draw(
        &self,
        _scale: f64,
        state: &[u8],
        table: &mut Vec<f64>,
        rng: &mut ChainRng,
        proposed: &mut [u8],
        (): &mut (),
    ) -> f64 {
        for (site, p) in table.iter().enumerate() {
            proposed[site] = state[site] ^ u8::from(rng.flip(*p));
        }
        log_of(table, state, proposed)
    }
}

/// Gibbs with gradients of several flips: sites drawn with replacement from one softmax of half the differences, all flipped at once,
/// the list of draws as auxiliary variable (Grathwohl et al. 2021, section 6.1). PAS draws without replacement.
#[derive(Clone, Copy, Debug)]
struct SeveralFlips;

impl Proposal for SeveralFlips {
    /// Cumulated weights, and their logarithms.
    type Table = (Vec<f64>, Vec<f64>);
    type Path = Vec<usize>;

    fn traits(&self, space: &Space) -> KernelTraits {
        traits("several flips", ScaleTraits::radius(space.sites(), 0.5, 0.574))
    }

    fn new_table(&self, _space: &Space) -> Self::Table {
        Self::Table::default()
    }

    fn differences(&self) -> Differences {
        Differences::Taylor
    }

    fn prepare(
        &self,
        _scale: f64,
        _from: &[u8],
        diff: &[f32],
        (sums, logs): &mut Self::Table,
        _to: &[u8],
        path: &Vec<usize>,
    ) -> f64 {
        logs.clear();
        logs.extend(diff.iter().map(|d| 0.5 * f64::from(*d)));
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        sums.clear();
        let mut sum = 0.0;
        sums.extend(logs.iter().map(|log| {
            sum += (log - largest).exp();
            sum
        }));
        let total = sum.ln() + largest;
        logs.iter_mut().for_each(|log| *log -= total);
        path.iter().map(|site| logs[*site]).sum()
    }

    fn draw(
        &self,
        scale: f64,
        state: &[u8],
        (sums, logs): &mut Self::Table,
        rng: &mut ChainRng,
        proposed: &mut [u8],
        path: &mut Vec<usize>,
    ) -> f64 {
        // One fewer now and then, against parity.
        let count = scale.round().max(1.0) as usize - usize::from(rng.flip(0.1));
        proposed.copy_from_slice(state);
        path.clear();
        for _ in 0..count {
            let at = rng.uniform() * sums[sums.len() - 1];
            let site = sums.partition_point(|sum| *sum <= at).min(sums.len() - 1);
            proposed[site] ^= 1;
            path.push(site);
        }
        path.iter().map(|site| logs[*site]).sum()
    }
}

/// Automatic cyclical sampling (Pynadath, Bhattacharya, Hariharan and Zhang 2024): step sizes and powers of the differences go from bold to
/// careful and begin again. Getting ready for another scale is not counted, in its favour.
#[derive(Clone, Copy, Debug)]
struct Cyclical {
    length: usize,
}

impl Cyclical {
    /// Factor of the scale and power at a step.
    fn at(self, step: usize) -> (f64, f64) {
        let phase = (step % self.length) as f64 / self.length as f64;
        let bold = 0.5 * (1.0 + (std::f64::consts::PI * phase).cos());
        ((3.0f64.ln() * (2.0 * bold - 1.0)).exp(), 0.5 + 0.45 * bold)
    }
}

impl<M: Model> Kernel<M> for Cyclical {
    type Scratch = MetropolisScratch<M, Flips>;
    type Own = ();

    fn traits(&self, model: &M) -> KernelTraits {
        traits("cyclical", ScaleTraits::step_size(model.space().sites(), STEP_SIZE))
    }

    fn new_scratch(&self, model: &M, chains: usize) -> Self::Scratch {
        Metropolis(Flips(Row::Power(0.5))).new_scratch(model, chains)
    }

    fn start(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        Metropolis(Flips(Row::Power(0.5))).start(model, chains, scratch)
    }

    fn step(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        let (factor, alpha) = self.at(chains.step);
        let kernel = Metropolis(Flips(Row::Power(alpha)));
        let scales = chains.scales.clone();
        chains.scales.iter_mut().for_each(|scale| *scale *= factor);
        kernel.start(model, chains, scratch)?;
        kernel.step(model, chains, scratch)?;
        chains.scales = scales;
        Ok(())
    }
}

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
    for alpha in [0.5, 0.6, 0.75, 1.0] {
        row.push(theirs(model, plain, Metropolis(Flips(Row::Power(alpha)))));
    }
    for length in [4, 16] {
        row.push(theirs(model, plain, Cyclical { length }));
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

fn main() {
    let names = "target dlmc dlmcf dmala pas restricted α=0.5 α=0.6 α=0.75 α=1 cycle-4 cycle-16 several-flips";
    println!("{}", names.split(' ').collect::<Vec<_>>().join("\t"));
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
}
