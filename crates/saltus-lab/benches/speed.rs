//! How fast every sampler is on every target of the paper.
//!
//! `cargo bench -p saltus-lab` prints a table in Markdown: time per site and step on one and two
//! threads, and seconds for 100 chains of 100,000 steps on two threads beside the paper's own
//! table, which is of another computer: its figures are shown, and nothing is divided by them. Words after `--` choose targets. The reference machines are read from the folder
//! SALTUS_DATA, or from `../shared/data` beside the project; without them random ones of the same
//! size stand in.

use Method::{Bg, Dlmc, Dlmcf, Dmala, Gibbs, Gwg, Hb, Pas, Rwm};
use saltus::Control;
use saltus::model::fhmm::Fhmm;
use saltus::model::lattice::Lattice;
use saltus::model::paper::{self, Temperature};
use saltus::model::rbm::Rbm;
use saltus::run::Progress;
use saltus::{Method, Model, Run, Settings};
use saltus_lab::study::Target;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Samplers in the order of the paper's table.
const SAMPLERS: [Method; 9] = [Hb, Bg, Rwm, Gwg, Dmala, Pas, Dlmc, Dlmcf, Gibbs];
const CHAINS: usize = 100;
/// Wall time of one measurement after warm-up.
const MEASURED: Duration = Duration::from_millis(300);
const REPEATS: usize = 2;

fn main() {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let chosen = |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.contains(word));
    println!(
        "| target | sampler | 1 thread, ns per site and step | µs per chain and step | 2 threads, ns | 2 / 1 threads | 100 × 100k steps on 2 threads, s | paper, s |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for target in Target::ALL.into_iter().filter(|target| chosen(target.name())) {
        let side = |side| Lattice::free(side, side).unwrap();
        match target {
            Target::BernoulliLow => {
                measure(target, &paper::bernoulli(Temperature::Low, 10_000, 0).unwrap())
            }
            Target::BernoulliHigh => {
                measure(target, &paper::bernoulli(Temperature::High, 10_000, 0).unwrap())
            }
            Target::Categorical4 => measure(target, &paper::categorical(2000, 4, 0).unwrap()),
            Target::Categorical8 => measure(target, &paper::categorical(2000, 8, 0).unwrap()),
            Target::IsingLow => {
                measure(target, &paper::ising(Temperature::Low, side(50), 0).unwrap())
            }
            Target::IsingHigh => {
                measure(target, &paper::ising(Temperature::High, side(50), 0).unwrap())
            }
            Target::Potts4 => measure(target, &paper::potts(side(30), 4, 0).unwrap()),
            Target::Potts8 => measure(target, &paper::potts(side(30), 8, 0).unwrap()),
            Target::FhmmBinaryLow => measure(target, &Fhmm::simulate(100, 20, 2, 0).unwrap()),
            Target::FhmmBinaryHigh => measure(target, &Fhmm::simulate(200, 10, 2, 0).unwrap()),
            Target::Fhmm4 => measure(target, &Fhmm::simulate(200, 10, 4, 0).unwrap()),
            Target::Fhmm8 => measure(target, &Fhmm::simulate(200, 10, 8, 0).unwrap()),
            Target::Rbm200 => measure(target, &machine("mnist-binary-200", 200, 2)),
            Target::Rbm25 => measure(target, &machine("mnist-binary-25", 25, 2)),
            Target::Rbm4 => measure(target, &machine("fashion-mnist-4-levels-50", 50, 4)),
            Target::Rbm8 => measure(target, &machine("fashion-mnist-8-levels-50", 50, 8)),
            // As fast as what they are another reading of, or of a file that nobody published.
            Target::IsingLowText | Target::IsingHighText | Target::Rbm4Text | Target::Rbm8Text => {}
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
fn seconds_per_step<M: Model>(model: &M, sampler: Method, threads: usize) -> f64 {
    let settings = Settings {
        sampler: sampler.into(),
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
            true => return Control::Continue,
            false => *warm_since.get_or_insert_with(Instant::now),
        };
        if warm_since.elapsed() < MEASURED { Control::Continue } else { Control::Stop }
    };
    let outcome = Run::new(model, settings).monitor(stop_when_measured).go().unwrap();
    outcome.seconds.draws / outcome.trace.draws() as f64
}

/// The least of several measurements on one and on two threads, taken in turns.
fn one_and_two_threads<M: Model>(model: &M, sampler: Method) -> (f64, f64) {
    (0..REPEATS).fold((f64::INFINITY, f64::INFINITY), |(one, two), _| {
        let least = |so_far: f64, threads| so_far.min(seconds_per_step(model, sampler, threads));
        (least(one, 1), least(two, 2))
    })
}

fn measure<M: Model>(target: Target, model: &M) {
    let site_steps = (CHAINS * model.space().sites()) as f64;
    for sampler in SAMPLERS {
        let (one, two) = one_and_two_threads(model, sampler);
        let (one_ns, two_ns) = (one / site_steps * 1e9, two / site_steps * 1e9);
        let seconds = two * 100_000.0;
        let paper = target.paper_seconds(sampler);
        let paper = paper.map_or(String::new(), |paper| format!("{paper:.0}"));
        println!(
            "| {} | {sampler} | {one_ns:.2} | {:.2} | {two_ns:.2} | {:.2} | {seconds:.1} | {paper} |",
            target.name(),
            one / CHAINS as f64 * 1e6,
            one / two,
        );
    }
}
