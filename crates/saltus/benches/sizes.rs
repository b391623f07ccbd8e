//! Cost per site and step of an Ising model as it grows from a thousand to a million sites, and the
//! memory that a hundred chains of a million sites take.
//!
//! `cargo bench -p saltus --bench sizes` prints a table in Markdown; figures are the least of five
//! runs.

use saltus::model::lattice::Lattice;
use saltus::model::paper::{self, Temperature};
use saltus::{Method, Sampler, Settings, run};

const SAMPLERS: [Method; 4] = [Method::Dlmc, Method::Dlmcf, Method::Dmala, Method::Gibbs];

fn main() {
    let heading = SAMPLERS.map(|sampler| sampler.to_string()).join(" | ");
    println!("| lattice | sites | {heading} |\n|---|---|{}", "---|".repeat(SAMPLERS.len()));
    for side in [32, 56, 100, 178, 316, 562, 1000] {
        let sites = side * side;
        let cells = SAMPLERS.map(|sampler| {
            let runs = (0..5).map(|_| nanoseconds(side, sampler, 2, 20_000_000 / sites));
            format!("{:.2}", runs.fold(f64::INFINITY, f64::min))
        });
        println!("| {side}×{side} | {sites} | {} |", cells.join(" | "));
    }
    nanoseconds(1000, Method::Dlmc, 100, 2);
    match peak_memory() {
        Some(peak) => println!("\ndlmc, 100 chains of 1000×1000 sites: peak memory {peak}"),
        None => println!("\npeak memory is not known on this system"),
    }
}

/// Nanoseconds per site and step, on one thread.
fn nanoseconds(side: usize, method: Method, chains: usize, draws: usize) -> f64 {
    let lattice = Lattice::free(side, side).unwrap();
    let model = paper::ising(Temperature::High, lattice, 0).unwrap();
    let scale = (method != Method::Gibbs).then_some(0.02);
    let sampler = Sampler { scale, ..Sampler::new(method) };
    let threads = Some(1);
    let settings = Settings { sampler, chains, warmup: 2, draws, threads, ..Settings::default() };
    let outcome = run::sample(&model, settings).unwrap();
    outcome.seconds.draws * 1e9 / (chains * draws * side * side) as f64
}

/// The most memory that this process has held so far.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().skip(1).collect::<Vec<_>>().join(" "))
}
