//! A kernel of your own with tuning, verdict and annealing as for those of the library.
//!
//! `Window` redraws a few neighbouring sites blindly and accepts or rejects. Where the window stands
//! is nothing that the state of a chain tells, so it is carried on in `Own`, which checkpoints keep; how
//! many sites it holds is the scale, which a run tunes. The open Ising chain knows all answers.
//!
//! ```sh
//! cargo run --release -p saltus --example own_kernel
//! ```

use saltus::ais::{Ais, AisSettings};
use saltus::kernel::{
    ChainMut, Kind, ScaleTraits, StepReport, accept, check_log_prob, check_start,
};
use saltus::model::lattice::Lattice;
use saltus::model::pairwise::Pairwise;
use saltus::{Chains, Kernel, KernelTraits, Model, Run, Settings, States, StepError, Summary};
use serde::{Deserialize, Serialize};

/// Redraws `scale` sites from where the last window ended, and tests: min(1, f(x′)/f(x)), because the
/// way back is as likely as the way there.
struct Window;

/// What a chain carries on: where its next window begins.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Cursor(usize);

/// What can be computed anew: the model's cache and a proposed state.
struct WindowScratch<M: Model> {
    cache: M::Cache,
    proposed: Vec<u8>,
}

impl<M: Model> Kernel<M> for Window {
    type Scratch = WindowScratch<M>;
    type Own = Cursor;

    fn traits(&self, model: &M) -> KernelTraits {
        let sites = model.space().sites();
        KernelTraits {
            name: "window",
            summary: "redraws neighbouring sites blindly, window after window",
            reference: "this example",
            kind: Kind::WithoutDifferences,
            is_balanced: false,
            has_solver: false,
            // From 1 to all sites; half of a window's bits change in a fresh draw.
            scale: Some(ScaleTraits::radius(sites, 0.5, 0.4)),
            evaluations_charged: 2.0,
            is_weighted: false,
            is_tried: false,
        }
    }

    fn new_scratch(&self, model: &M, chains: usize) -> Self::Scratch {
        WindowScratch { cache: model.new_cache(chains), proposed: Vec::new() }
    }

    /// Fills in log π of all chains, and log p where they stand on a path of temperatures.
    fn start(
        &self,
        model: &M,
        chains: &mut Chains<Cursor>,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        let states = States::new(&chains.states, chains.space().sites());
        let evaluated = model.log_prob(states, &mut scratch.cache, &mut chains.log_prob);
        evaluated.map_err(StepError::at(0))?;
        for (chain, log_prob) in chains.log_prob.iter().enumerate() {
            check_start(chain, *log_prob)?;
        }
        chains.evaluate_base();
        Ok(())
    }

    /// Nothing that is kept depends on scale or temperature, so a change of them costs nothing.
    fn adjust(
        &self,
        _model: &M,
        _chains: &mut Chains<Cursor>,
        _scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        Ok(())
    }

    fn step(
        &self,
        model: &M,
        chains: &mut Chains<Cursor>,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        (0..chains.len()).try_for_each(|chain| step(model, chains.chain(chain), scratch))
    }
}

/// One step of one chain. Every random decision goes through its own stream.
fn step<M: Model>(
    model: &M,
    chain: ChainMut<'_, Cursor>,
    scratch: &mut WindowScratch<M>,
) -> Result<(), StepError> {
    let (space, sites) = (model.space(), chain.state.len());
    let WindowScratch { cache, proposed } = scratch;
    proposed.clear();
    proposed.extend_from_slice(chain.state);
    // A scale between two numbers of sites is one of them, by chance.
    let length = (chain.scale + chain.rng.uniform()).floor().clamp(1.0, sites as f64) as usize;
    for site in (chain.own.0..chain.own.0 + length).map(|site| site % sites) {
        proposed[site] = chain.rng.below(space.values_at(site)) as u8;
    }
    chain.own.0 = (chain.own.0 + length) % sites;

    let mut there = [0.0];
    let evaluated = model.log_prob(States::new(proposed, sites), cache, &mut there);
    evaluated.map_err(StepError::at(chain.number))?;
    let log_prob = check_log_prob(chain.number, there[0])?;
    let log_base = chain.rung.base.map_or(0.0, |base| base.log_prob(proposed));
    let here = chain.rung.mix(*chain.log_prob, *chain.log_base);
    let ratio = chain.rung.mix(log_prob, log_base) - here;
    let (acceptance, accepted) = accept(chain.number, ratio, chain.rng)?;
    let mut changed = 0;
    if accepted {
        for site in 0..sites {
            if chain.state[site] != proposed[site] {
                // Where all changes are recorded, observers follow them instead of whole states.
                chain.journal.record(site, chain.state[site], proposed[site]);
                changed += 1;
            }
        }
        chain.state.copy_from_slice(proposed);
        (*chain.log_prob, *chain.log_base) = (log_prob, log_base);
    }
    *chain.report = StepReport { acceptance, changed, evaluations: 1 };
    Ok(())
}

/// Runs it; public, because a test does, too.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (sites, coupling) = (12, 0.5f32);
    let model = Pairwise::ising_lattice(Lattice::free(1, sites)?, coupling, vec![0.0; sites])?;
    let coupling = f64::from(coupling);
    let bonds = (sites - 1) as f64;

    let settings = Settings { chains: 16, warmup: 1000, draws: 2000, ..Settings::default() };
    let outcome = Run::with_kernel(&model, Window, settings).go()?;
    let summary = Summary::new("open chain", &outcome);
    let (mean, error) = (summary.log_prob.mean.unwrap(), summary.log_prob.mcse.unwrap());
    let exact = coupling * bonds * coupling.tanh();
    println!(
        "{}: windows of {:.2} sites, acceptance {:.3}",
        summary.sampler,
        outcome.scale.unwrap(),
        outcome.acceptance
    );
    println!("mean log π {mean:.4} ± {error:.4}, exactly {exact:.4}");
    assert!((mean - exact).abs() < 5.0 * error);
    assert!((outcome.acceptance - 0.4).abs() < 0.1, "tuning missed its target");

    // The same kernel on a path of temperatures, from independent spins to the model.
    let settings = AisSettings { chains: 200, temperatures: 200, ..AisSettings::default() };
    let found = Ais::with_kernel(&model, Window, settings).go()?.forward.expect("not stopped");
    let exact = sites as f64 * 2f64.ln() + bonds * coupling.cosh().ln();
    let error = found.standard_error.unwrap();
    println!("log Z {:.4} ± {error:.4}, exactly {exact:.4}", found.log_z);
    assert!((found.log_z - exact).abs() < 5.0 * error);
    Ok(())
}
