//! How fast every sampler is on every target of the paper, beside the figures of others.
//!
//! `cargo bench -p saltus` prints two tables in Markdown: time per site and step on one and two
//! threads beside DISCS (the authors' JAX benchmark; two cores AMD EPYC, 100 chains, float32, one
//! thread), and seconds for 100 chains of 100,000 steps on two threads beside the paper's own
//! table. Words after `--` choose targets. The reference machines are read from the folder
//! SALTUS_DATA, or from `../shared/data` beside the project; without them random ones of the same
//! size stand in.

use Sampler::{Bg, Dlmc, Dlmcf, Dmala, Gibbs, Gwg, Hb, Pas, Rwm};
use saltus::model::fhmm::Fhmm;
use saltus::model::lattice::Lattice;
use saltus::model::paper::{self, Temperature};
use saltus::model::rbm::Rbm;
use saltus::run::{Progress, Wish};
use saltus::{Model, Run, Sampler, Settings};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Samplers in the order of the paper's table.
const SAMPLERS: [Sampler; 9] = [Hb, Bg, Rwm, Gwg, Dmala, Pas, Dlmc, Dlmcf, Gibbs];
const CHAINS: usize = 100;
/// Wall time of one measurement after warm-up.
const MEASURED: Duration = Duration::from_millis(300);
const REPEATS: usize = 2;

/// A target: its name, the paper's seconds in the order above, and DISCS's nanoseconds per site and
/// step where they were measured.
struct Target {
    name: &'static str,
    paper: [f64; 8],
    discs: &'static [(Sampler, f64)],
}

fn main() {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let chosen = |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.contains(word));
    println!(
        "| target | sampler | 1 thread, ns per site and step | µs per chain and step | 2 threads, ns | 2 / 1 threads | DISCS, ns | DISCS / saltus | 100 × 100k steps on 2 threads, s | paper, s | paper / saltus |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for target in TARGETS.iter().filter(|target| chosen(target.name)) {
        let side = |side| Lattice::free(side, side).unwrap();
        match target.name {
            "bernoulli-low" => {
                measure(target, &paper::bernoulli(Temperature::Low, 10_000, 0).unwrap())
            }
            "bernoulli-high" => {
                measure(target, &paper::bernoulli(Temperature::High, 10_000, 0).unwrap())
            }
            "categorical-4" => measure(target, &paper::categorical(2000, 4, 0).unwrap()),
            "categorical-8" => measure(target, &paper::categorical(2000, 8, 0).unwrap()),
            "ising-low" => measure(target, &paper::ising(Temperature::Low, side(50), 0).unwrap()),
            "ising-high" => measure(target, &paper::ising(Temperature::High, side(50), 0).unwrap()),
            "potts-4" => measure(target, &paper::potts(side(30), 4, 0).unwrap()),
            "potts-8" => measure(target, &paper::potts(side(30), 8, 0).unwrap()),
            "fhmm-binary-low" => measure(target, &Fhmm::simulate(100, 20, 2, 0).unwrap()),
            "fhmm-binary-high" => measure(target, &Fhmm::simulate(200, 10, 2, 0).unwrap()),
            "fhmm-4" => measure(target, &Fhmm::simulate(200, 10, 4, 0).unwrap()),
            "fhmm-8" => measure(target, &Fhmm::simulate(200, 10, 8, 0).unwrap()),
            "rbm-200" => measure(target, &machine("mnist-binary-200", 200, 2)),
            "rbm-25" => measure(target, &machine("mnist-binary-25", 25, 2)),
            "rbm-4" => measure(target, &machine("fashion-mnist-4-levels-50", 50, 4)),
            _ => measure(target, &machine("fashion-mnist-8-levels-50", 50, 8)),
        }
    }
}

/// A reference machine, or a random one of its size.
fn machine(name: &str, hidden: usize, values: usize) -> Rbm {
    let data = std::env::var_os("SALTUS_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")),
        PathBuf::from,
    );
    let path = data.join("rbm-reference").join(name).with_extension("safetensors");
    Rbm::load(path).unwrap_or_else(|_| Rbm::random(784, hidden, values, 0).unwrap())
}

/// Seconds per step of all chains on that many threads.
fn seconds_per_step<M: Model>(model: &M, sampler: Sampler, threads: usize) -> f64 {
    let settings = Settings {
        sampler,
        chains: CHAINS,
        warmup: match sampler {
            Gibbs => 20,
            // Its radius starts far too large and takes long to come down.
            Rwm => 2000,
            _ => 300,
        },
        draws: 10_000_000,
        threads: Some(threads),
        ..Settings::default()
    };
    let mut warm_since = None;
    let stop_when_measured = |progress: Progress| {
        let warm_since = match progress.warming_up {
            true => return Wish::Continue,
            false => *warm_since.get_or_insert_with(Instant::now),
        };
        if warm_since.elapsed() < MEASURED { Wish::Continue } else { Wish::Stop }
    };
    let outcome = Run::new(model, &settings).monitor(stop_when_measured).go().unwrap();
    outcome.seconds.draws / outcome.trace.draws() as f64
}

/// The least of several measurements on one and on two threads, taken in turns.
fn one_and_two_threads<M: Model>(model: &M, sampler: Sampler) -> (f64, f64) {
    (0..REPEATS).fold((f64::INFINITY, f64::INFINITY), |(one, two), _| {
        let least = |so_far: f64, threads| so_far.min(seconds_per_step(model, sampler, threads));
        (least(one, 1), least(two, 2))
    })
}

fn measure<M: Model>(target: &Target, model: &M) {
    let site_steps = (CHAINS * model.space().sites()) as f64;
    for (column, sampler) in SAMPLERS.into_iter().enumerate() {
        let (one, two) = one_and_two_threads(model, sampler);
        let (one_ns, two_ns) = (one / site_steps * 1e9, two / site_steps * 1e9);
        let discs = target.discs.iter().find(|(of, _)| *of == sampler);
        let (discs, times) = discs.map_or((String::new(), String::new()), |(_, ns)| {
            (format!("{ns:.1}"), format!("{:.1}", ns / one_ns))
        });
        let seconds = two * 100_000.0;
        let (paper, faster) = match target.paper.get(column) {
            Some(paper) => (format!("{paper:.0}"), format!("{:.1}", paper / seconds)),
            None => (String::new(), String::new()),
        };
        println!(
            "| {} | {sampler} | {one_ns:.2} | {:.2} | {two_ns:.2} | {:.2} | {discs} | {times} | {seconds:.1} | {paper} | {faster} |",
            target.name,
            one / CHAINS as f64 * 1e6,
            one / two,
        );
    }
}

#[rustfmt::skip]
const TARGETS: [Target; 16] = [
    Target { name: "bernoulli-low", paper: [144., 61., 76., 231., 153., 406., 213., 149.], discs: &[] },
    Target { name: "bernoulli-high", paper: [143., 61., 73., 197., 156., 245., 217., 150.], discs: &[(Dlmc, 46.), (Dlmcf, 31.), (Dmala, 30.)] },
    Target { name: "categorical-4", paper: [351., 112., 500., 115., 150., 514., 184., 170.], discs: &[] },
    Target { name: "categorical-8", paper: [794., 458., 501., 121., 161., 526., 231., 194.], discs: &[(Dlmc, 400.), (Dmala, 280.)] },
    Target { name: "ising-low", paper: [203., 101., 149., 491., 490., 557., 548., 476.], discs: &[] },
    Target { name: "ising-high", paper: [205., 106., 158., 519., 514., 589., 584., 507.], discs: &[(Dlmc, 47.), (Dlmcf, 32.), (Dmala, 30.), (Gwg, 127e3 / 2500.), (Pas, 1930e3 / 2500.), (Rwm, 21e3 / 2500.)] },
    Target { name: "potts-4", paper: [484., 198., 412., 409., 452., 824., 494., 476.], discs: &[] },
    Target { name: "potts-8", paper: [1335., 1022., 428., 416., 451., 832., 486., 470.], discs: &[(Dlmc, 765.), (Dmala, 426.)] },
    Target { name: "fhmm-binary-low", paper: [216., 141., 228., 490., 476., 555., 542., 469.], discs: &[] },
    Target { name: "fhmm-binary-high", paper: [216., 141., 228., 495., 475., 559., 549., 474.], discs: &[(Dlmc, 201.), (Dmala, 95.)] },
    Target { name: "fhmm-4", paper: [450., 204., 492., 398., 433., 800., 470., 450.], discs: &[] },
    Target { name: "fhmm-8", paper: [1490., 1168., 499., 393., 436., 804., 475., 456.], discs: &[(Dlmc, 2032.), (Dmala, 1244.)] },
    Target { name: "rbm-200", paper: [144., 83., 105., 225., 235., 304., 296., 229.], discs: &[(Dlmc, 63.), (Dmala, 44.5)] },
    Target { name: "rbm-25", paper: [142., 82., 102., 229., 234., 305., 298., 229.], discs: &[] },
    Target { name: "rbm-4", paper: [783., 357., 369., 195., 236., 590., 269., 255.], discs: &[] },
    Target { name: "rbm-8", paper: [2721., 2283., 389., 276., 304., 684., 322., 313.], discs: &[(Dlmc, 8315.)] },
];
