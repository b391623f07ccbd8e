//! The normaliser of a small lattice by annealed importance sampling, beside the sum over all states.
//!
//! Forward chains give a number that is low on average, chains that go back from draws of the model one
//! that is high on average; here the draws are exact ones, so that the truth lies between the two but for
//! chance.
//!
//! ```sh
//! cargo run --release -p saltus --example log_z
//! ```

use saltus::ais::{Ais, AisSettings, Estimate};
use saltus::math::log_sum_exp;
use saltus::model::lattice::Lattice;
use saltus::model::pairwise::Pairwise;
use saltus::rng::Stream;
use saltus::{ChainRng, Model, ModelError, Sampler, States};

/// log π of every state of bits, numbered in binary.
fn enumerate<M: Model>(model: &M) -> Result<Vec<f64>, ModelError> {
    let sites = model.space().sites();
    let mut cache = model.new_cache(1);
    (0..1u32 << sites)
        .map(|number| {
            let mut log_prob = [0.0];
            let state = bits(number, sites);
            model.log_prob(States::new(&state, sites), &mut cache, &mut log_prob)?;
            Ok(log_prob[0])
        })
        .collect()
}

/// The state of a number.
fn bits(number: u32, sites: usize) -> Vec<u8> {
    (0..sites).map(|site| (number >> site & 1) as u8).collect()
}

/// Runs it; public, because a test does, too.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Pairwise::ising_lattice(Lattice::free(4, 4)?, 0.4, vec![0.1; 16])?;
    let log_probs = enumerate(&model)?;
    let exact = log_sum_exp(&log_probs);

    // Exact draws, from which chains go back.
    let weights: Vec<f64> = log_probs.iter().map(|log_prob| (log_prob - exact).exp()).collect();
    let mut rng = ChainRng::new(1, Stream::Model);
    let starts = (0..200).flat_map(|_| bits(rng.index(&weights, 1.0) as u32, 16)).collect();

    let settings = AisSettings {
        chains: 200,
        temperatures: 300,
        sampler: Sampler::dlmc(),
        ..AisSettings::default()
    };
    let outcome = Ais::new(&model, settings).reverse_from(starts).go()?;
    let show = |name: &str, found: Option<Estimate>| {
        let found = found.expect("not stopped");
        let error = found.standard_error.expect("more than one chain");
        println!(
            "{name}: {:.4} ± {error:.4}, {:.0} of 200 chains effective",
            found.log_z, found.effective_chains
        );
        assert!((found.log_z - exact).abs() < 5.0 * error, "{name} is not {exact}");
        assert!(found.effective_chains > 50.0, "too few temperatures");
    };
    show("forward", outcome.forward);
    show("reverse", outcome.reverse);
    println!("exact: {exact:.4}");
    Ok(())
}
