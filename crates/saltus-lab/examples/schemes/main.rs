//! What a step of DLMC is worth with other discretisations, such that the samplers have and such
//! that they do not: accepted changes per evaluation of the model, at the best step size of each.
//!
//! `cargo run --release -p saltus-lab --example schemes -- FOLDER [CHAINS [RBM.safetensors…]]` writes `schemes.csv` (every
//! step size) and `schemes.md` (the best) for Potts models of 4 and 8 values, for factorial hidden Markov models of 2 and 4, and
//! for RBMs in files.

mod lattice;
mod others;
mod scheme;
mod target;

use lattice::Potts;
use others::{Hidden, Machine};
use rayon::prelude::*;
use saltus::Balancing::{self, Ratio, Sqrt};
use saltus::Rbm;
use saltus::model::fhmm::Fhmm;
use saltus::rng::{ChainRng, Stream};
use scheme::Scheme;
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use target::Target;

/// Proposals from each chain's state, for each scheme and step size.
const PROPOSALS: usize = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("name the folder to write to")?);
    let chains: u64 = arguments.next().map_or(Ok(100), |text| text.parse())?;
    std::fs::create_dir_all(&folder)?;
    let mut targets: Vec<Box<dyn Target>> = vec![Box::new(Potts::new(4)), Box::new(Potts::new(8))];
    for (name, values) in [("fhmm-binary-high", 2), ("fhmm-4", 4)] {
        let model = Fhmm::simulate(200, 10, values, 0)?;
        targets.push(Box::new(Hidden::new(name.to_owned(), &model)));
    }
    for path in arguments {
        let name = Path::new(&path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        targets.push(Box::new(Machine::new(name, &Rbm::load(&path)?)));
    }
    let mut csv = "target,weight,scheme,h,evaluations,acceptance,efficiency,error\n".to_owned();
    let mut table = "| target | weight | scheme | h | acceptance | changed per evaluation | of interpolation |\n\
                     |---|---|---|---|---|---|---|\n"
        .to_owned();
    for (target, weight) in targets.iter().flat_map(|target| [(target, Sqrt), (target, Ratio)]) {
        let name = target.name();
        eprintln!("{name}, weight function {weight}");
        let trials = trials(&**target, weight, chains);
        for Trial { scheme, h, acceptance, efficiency, error } in &trials {
            let evaluations = scheme.evaluations();
            writeln!(
                csv,
                "{name},{weight},{scheme},{h:.4e},{evaluations},{acceptance:.4},{efficiency:.4},{error:.4}"
            )?;
        }
        let best = |scheme: Scheme| {
            let own = trials.iter().filter(move |trial| trial.scheme == scheme);
            own.max_by(|a, b| a.efficiency.total_cmp(&b.efficiency))
        };
        let usual = best(Scheme::INTERPOLATED).map_or(f64::NAN, |trial| trial.efficiency);
        for Trial { scheme, h, acceptance, efficiency, error } in
            Scheme::ALL.into_iter().filter_map(best)
        {
            let ratio = efficiency / usual;
            writeln!(
                table,
                "| {name} | {weight} | {scheme} | {h:.3} | {acceptance:.2} | {efficiency:.1} ± {error:.1} | {ratio:.2} |"
            )?;
        }
        std::fs::write(folder.join("schemes.csv"), &csv)?;
        std::fs::write(folder.join("schemes.md"), &table)?;
    }
    print!("{table}");
    Ok(())
}

/// A scheme at a step size.
struct Trial {
    scheme: Scheme,
    h: f64,
    acceptance: f64,
    /// Expected number of accepted changes per evaluation, and its standard error over chains.
    efficiency: f64,
    error: f64,
}

fn trials(target: &dyn Target, weight: Balancing, chains: u64) -> Vec<Trial> {
    let states: Vec<Vec<u8>> = (0..chains)
        .into_par_iter()
        .map(|chain| target.equilibrium(&mut ChainRng::new(1, Stream::Chain(chain))))
        .collect();
    let mut trials = Vec::new();
    for scheme in Scheme::ALL {
        for h in (-8..9).map(|power| 0.3 * 1.5f64.powi(power)) {
            let of_chain = |(chain, state): (usize, &Vec<u8>)| {
                let mut rng = ChainRng::new(2, Stream::Chain(chain as u64));
                let mut mean = (0.0, 0.0);
                for _ in 0..PROPOSALS {
                    let (accepted, changed) = scheme.propose(target, state, h, weight, &mut rng);
                    mean.0 += accepted / PROPOSALS as f64;
                    mean.1 += accepted * changed / scheme.evaluations() / PROPOSALS as f64;
                }
                mean
            };
            let means: Vec<(f64, f64)> = states.par_iter().enumerate().map(of_chain).collect();
            let count = means.len() as f64;
            let acceptance = means.iter().map(|mean| mean.0).sum::<f64>() / count;
            let efficiency = means.iter().map(|mean| mean.1).sum::<f64>() / count;
            let squares: f64 = means.iter().map(|mean| (mean.1 - efficiency).powi(2)).sum();
            let error = (squares / (count - 1.0) / count).sqrt();
            trials.push(Trial { scheme, h, acceptance, efficiency, error });
        }
    }
    trials
}
