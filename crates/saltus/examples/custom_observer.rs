//! What to take from a run besides log π: an observable that is followed change by change, and an
//! observer that sums every draw up in a memory of its own.
//!
//! An `Observable` is one number per draw; a closure is one. If it is a sum of whole numbers over sites
//! it can say so (`Count`), and is then followed where few sites change. An `Observer` sees all chains of
//! a block at every draw, and its state is part of checkpoints. The open Ising chain has
//! ⟨s₀ sᵣ⟩ = tanh(J)ʳ.
//!
//! ```sh
//! cargo run --release -p saltus --example custom_observer
//! ```

use saltus::draws::observable::Count;
use saltus::model::lattice::Lattice;
use saltus::model::pairwise::Pairwise;
use saltus::{Draws, Observable, Observer, Run, Sampler, Settings, Space};

/// Spins up at even sites less spins up at odd ones.
struct Staggered;

impl Observable for Staggered {
    fn value(&self, state: &[u8]) -> f64 {
        self.value_of(self.count(state))
    }

    fn as_count(&self) -> Option<&dyn Count> {
        Some(self)
    }
}

impl Count for Staggered {
    fn count(&self, state: &[u8]) -> i64 {
        (0..state.len()).map(|site| self.change(site, 0, state[site])).sum()
    }

    fn change(&self, site: usize, from: u8, to: u8) -> i64 {
        let sign = if site.is_multiple_of(2) { 1 } else { -1 };
        sign * (i64::from(to) - i64::from(from))
    }

    fn value_of(&self, count: i64) -> f64 {
        count as f64
    }
}

/// The correlation of the first spin with every other.
struct Correlation;

/// By chain: draws so far, and the sum of s₀ sᵣ for every r.
type Sums = Vec<(f64, Vec<f64>)>;

/// The mean over chains, and its standard error from how chains differ.
struct Correlations {
    mean: Vec<f64>,
    error: Vec<f64>,
}

impl Observer for Correlation {
    type State = Sums;
    type Output = Correlations;

    fn new_state(&self, space: &Space, chains: usize) -> Sums {
        vec![(0.0, vec![0.0; space.sites()]); chains]
    }

    fn see(&self, chains: &mut Sums, draws: &Draws<'_>) {
        for (chain, (total, sums)) in chains.iter_mut().enumerate() {
            let (state, weight) = (draws.state(chain), draws.weight(chain));
            *total += weight;
            for (sum, value) in sums.iter_mut().zip(state) {
                *sum += if *value == state[0] { weight } else { -weight };
            }
        }
    }

    /// Blocks come in the order of the chains, whatever the threads did.
    fn finish(&self, blocks: Vec<Sums>) -> Correlations {
        let chains: Vec<Vec<f64>> = blocks
            .into_iter()
            .flatten()
            .map(|(total, sums)| sums.into_iter().map(|sum| sum / total).collect())
            .collect();
        let (count, sites) = (chains.len() as f64, chains[0].len());
        let mean: Vec<f64> =
            (0..sites).map(|r| chains.iter().map(|chain| chain[r]).sum::<f64>() / count).collect();
        let spread =
            |r: usize| chains.iter().map(|chain| (chain[r] - mean[r]).powi(2)).sum::<f64>();
        let error = (0..sites).map(|r| (spread(r) / (count * (count - 1.0))).sqrt()).collect();
        Correlations { error, mean }
    }
}

/// Runs it; public, because a test does, too.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (sites, coupling) = (16, 0.6f32);
    let model = Pairwise::ising_lattice(Lattice::free(1, sites)?, coupling, vec![0.0; sites])?;
    // One site per step, recorded in a journal: counts are followed.
    let settings = Settings {
        sampler: Sampler::gwg(),
        chains: 20,
        warmup: 1000,
        draws: 4000,
        thin: 4,
        ..Settings::default()
    };
    let outcome = Run::new(&model, settings)
        .observe("staggered", Staggered)
        .observer("correlation", Correlation)
        .keep_states()
        .go()?;

    // What was followed is what the states say.
    for (chain, series) in outcome.trace.series("staggered").unwrap().iter().enumerate() {
        for (state, followed) in outcome.trace.states(chain).chunks(sites).zip(series) {
            assert_eq!(Staggered.value(state), *followed);
        }
    }

    let found = outcome.observed::<Correlation>("correlation").unwrap();
    for r in 0..5 {
        let exact = f64::from(coupling).tanh().powi(r as i32);
        println!("⟨s₀ s{r}⟩ = {:.4} ± {:.4}, exactly {exact:.4}", found.mean[r], found.error[r]);
        assert!((found.mean[r] - exact).abs() <= 5.0 * found.error[r]);
    }
    Ok(())
}
