//! Two claims of the paper about steps, tested directly: that PAS rejects more than DLMC where both propose as many changes, and that
//! the best step size is another while chains approach the target than once they are there.
//!
//! `cargo run --release -p saltus-lab --example phases -- FOLDER [CHAINS] [RBM.safetensors…]` writes `rejections.csv` and `phases.csv` for the
//! paper's lattices, and for RBMs in files.

use saltus::engine::sampler_block;
use saltus::kernel::row::RowFormula;
use saltus::model::lattice::Lattice;
use saltus::model::paper::{Temperature, ising, potts};
use saltus::rng::{ChainRng, Stream};
use saltus::{Balancing, Method, Model, Rbm, Sampler, Settings, States, run};
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Sweeps of Gibbs that bring chains to the target.
const SWEEPS: usize = 500;
/// Sites that PAS changes per step, and DLMC on average.
const CHANGES: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// Steps that chains have made since their start when the best step size is asked for; none is meant by the last, where they are in equilibrium.
const AGES: [Option<usize>; 4] = [Some(0), Some(5), Some(50), None];
/// Step sizes, each by this factor above the last.
const FACTOR: f64 = 1.35;
/// Proposals from every state.
const REPEATS: u64 = 4;

type Failed = Box<dyn Error>;

fn main() -> Result<(), Failed> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("name the folder to write to")?);
    let chains: usize = arguments.next().map_or(Ok(100), |text| text.parse())?;
    std::fs::create_dir_all(&folder)?;
    let mut tables = Tables {
        rejections: "target,weight,changes,h,pas_acceptance,pas_error,dlmc_acceptance,dlmc_error\n"
            .into(),
        phases: "target,weight,age,h,acceptance,accepted_changes,error,gain_of_log_prob\n".into(),
    };
    let (small, large) = (Lattice::free(30, 30)?, Lattice::free(50, 50)?);
    tables.add("ising-high", &ising(Temperature::High, large, 0)?, chains)?;
    tables.add("ising-low", &ising(Temperature::Low, large, 0)?, chains)?;
    tables.add("potts-4", &potts(small, 4, 0)?, chains)?;
    tables.add("potts-8", &potts(small, 8, 0)?, chains)?;
    for path in arguments {
        let name = Path::new(&path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        tables.add(&name, &Rbm::load(&path)?, chains)?;
    }
    std::fs::write(folder.join("rejections.csv"), &tables.rejections)?;
    std::fs::write(folder.join("phases.csv"), &tables.phases)?;
    Ok(())
}

struct Tables {
    rejections: String,
    phases: String,
}

impl Tables {
    fn add<M: Model + 'static>(
        &mut self,
        name: &str,
        model: &M,
        chains: usize,
    ) -> Result<(), Failed> {
        eprintln!("{name}");
        let sampler = Sampler::new(Method::Gibbs);
        let settings =
            Settings { sampler, chains, warmup: SWEEPS, draws: 1, ..Settings::default() };
        let settled = run::sample(model, settings)?.last_states;
        for weight in [Balancing::Sqrt, Balancing::Ratio] {
            self.add_rejections(name, model, weight, &settled)?;
            for age in AGES {
                let states = match age {
                    None => settled.clone(),
                    Some(steps) => young(model, weight, chains, steps)?,
                };
                self.add_phase(name, model, weight, age, &states)?;
            }
        }
        Ok(())
    }

    fn add_rejections<M: Model>(
        &mut self,
        name: &str,
        model: &M,
        weight: Balancing,
        states: &[Vec<u8>],
    ) -> Result<(), Failed> {
        let rows = Rows::at(model, weight, states)?;
        for changes in CHANGES.into_iter().filter(|changes| *changes <= model.space().sites()) {
            let Some(h) = rows.step_of(changes as f64) else { continue };
            let pas = step(model, Method::Pas, weight, changes as f64, states)?;
            let dlmc = step(model, Method::Dlmc, weight, h, states)?;
            let ((pas, pas_error), (dlmc, dlmc_error)) = (pas.acceptance(), dlmc.acceptance());
            writeln!(
                self.rejections,
                "{name},{weight},{changes},{h:.5e},{pas:.5},{pas_error:.5},{dlmc:.5},{dlmc_error:.5}"
            )?;
        }
        Ok(())
    }

    fn add_phase<M: Model>(
        &mut self,
        name: &str,
        model: &M,
        weight: Balancing,
        age: Option<usize>,
        states: &[Vec<u8>],
    ) -> Result<(), Failed> {
        let age = age.map_or("equilibrium".to_owned(), |steps| steps.to_string());
        for h in (-20..16).map(|power| 0.3 * FACTOR.powi(power)) {
            let taken = step(model, Method::Dlmc, weight, h, states)?;
            let ((acceptance, _), (changes, error)) = (taken.acceptance(), taken.changes());
            let (gain, _) = taken.gain();
            writeln!(
                self.phases,
                "{name},{weight},{age},{h:.5e},{acceptance:.5},{changes:.4},{error:.4},{gain:.4}"
            )?;
        }
        Ok(())
    }
}

/// States of chains that started where the model says, after so many steps of DLMC that change a twentieth of the sites each.
fn young<M: Model>(
    model: &M,
    weight: Balancing,
    chains: usize,
    steps: usize,
) -> Result<Vec<Vec<u8>>, Failed> {
    let start = |chain: usize| {
        let mut state = vec![0; model.space().sites()];
        model.initial_state(&mut ChainRng::new(5, Stream::Chain(chain as u64)), &mut state);
        state
    };
    let mut states: Vec<Vec<u8>> = (0..chains).map(start).collect();
    for number in 0..steps {
        let rows = Rows::at(model, weight, &states)?;
        let h = rows.step_of(model.space().sites() as f64 / 20.0).unwrap_or(1.0);
        states = walk(model, Method::Dlmc, weight, h, &states, number as u64)?.states;
    }
    Ok(states)
}

/// What single steps from many states did.
#[derive(Default)]
struct Taken {
    acceptances: Vec<f64>,
    changes: Vec<f64>,
    gains: Vec<f64>,
    states: Vec<Vec<u8>>,
}

impl Taken {
    fn acceptance(&self) -> (f64, f64) {
        mean(&self.acceptances)
    }

    fn changes(&self) -> (f64, f64) {
        mean(&self.changes)
    }

    fn gain(&self) -> (f64, f64) {
        mean(&self.gains)
    }
}

/// A mean and its standard error.
fn mean(numbers: &[f64]) -> (f64, f64) {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

/// Steps from the same states with several sets of random numbers, averaged state by state.
fn step<M: Model>(
    model: &M,
    method: Method,
    weight: Balancing,
    scale: f64,
    states: &[Vec<u8>],
) -> Result<Taken, Failed> {
    let mut all = Taken::default();
    for repeat in 0..REPEATS {
        let taken = walk(model, method, weight, scale, states, 1000 + repeat)?;
        for (sums, more) in [
            (&mut all.acceptances, taken.acceptances),
            (&mut all.changes, taken.changes),
            (&mut all.gains, taken.gains),
        ] {
            sums.resize(states.len(), 0.0);
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more / REPEATS as f64);
        }
    }
    Ok(all)
}

/// One step from every state.
fn walk<M: Model>(
    model: &M,
    method: Method,
    weight: Balancing,
    scale: f64,
    states: &[Vec<u8>],
    seed: u64,
) -> Result<Taken, Failed> {
    let sampler = Sampler { balancing: weight, ..Sampler::new(method) };
    let rngs = (0..states.len()).map(|chain| ChainRng::new(seed, Stream::Chain(chain as u64)));
    let mut block = sampler_block(model, &sampler, 0, states.concat(), rngs.collect(), None);
    block.set_scale(scale);
    block.start(model)?;
    let before = block.log_prob().to_vec();
    block.step(model)?;
    let gains = block.log_prob().iter().zip(before).map(|(after, before)| after - before);
    Ok(Taken {
        acceptances: block.reports().iter().map(|report| report.acceptance).collect(),
        changes: block.reports().iter().map(|report| f64::from(report.changed)).collect(),
        gains: gains.collect(),
        states: block.states().rows().map(<[u8]>::to_vec).collect(),
    })
}

/// The differences of all sites at many states, from which DLMC's rows are made.
struct Rows {
    weight: Balancing,
    /// Differences and current value of a site.
    sites: Vec<(Vec<f64>, usize)>,
    states: usize,
}

impl Rows {
    fn at<M: Model>(model: &M, weight: Balancing, states: &[Vec<u8>]) -> Result<Self, Failed> {
        let space = model.space();
        // A few states tell the mean of sums over all sites well enough.
        let few = &states[..states.len().min(10)];
        let bytes = few.concat();
        let mut diff = vec![0.0; few.len() * space.diff_len()];
        let mut log_prob = vec![0.0; few.len()];
        let mut cache = model.new_cache(few.len());
        model.log_prob_and_diff(
            Sampler::default().differences,
            States::new(&bytes, space.sites()),
            &mut cache,
            &mut log_prob,
            &mut diff,
        )?;
        let mut sites = Vec::new();
        for (state, diff) in few.iter().zip(diff.chunks_exact(space.diff_len())) {
            for (site, own) in state.iter().map(|value| usize::from(*value)).enumerate() {
                let row = match space.is_binary() {
                    true if own == 0 => vec![0.0, f64::from(diff[site])],
                    true => vec![f64::from(diff[site]), 0.0],
                    false => diff
                        .iter()
                        .skip(site)
                        .step_by(space.sites())
                        .map(|d| f64::from(*d))
                        .collect(),
                };
                sites.push((row, own));
            }
        }
        Ok(Self { weight, sites, states: few.len() })
    }

    /// Changes that a step of that size proposes on average.
    fn proposed(&self, h: f64) -> f64 {
        let stays = self.sites.iter().map(|(diff, own)| {
            RowFormula::Interpolated.log_row(diff, *own, h, self.weight)[*own].exp()
        });
        (self.sites.len() as f64 - stays.sum::<f64>()) / self.states as f64
    }

    /// The step size that proposes so many on average; none does if they are too many.
    fn step_of(&self, changes: f64) -> Option<f64> {
        let (mut low, mut high) = (-25.0f64, 15.0f64);
        if self.proposed(high.exp()) < changes {
            return None;
        }
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if self.proposed(middle.exp()) < changes { low = middle } else { high = middle }
        }
        Some((0.5 * (low + high)).exp())
    }
}
