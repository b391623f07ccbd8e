//! A model of your own, twice: as an implementation of `Model`, and as closures in a `Callable`.
//!
//! The model is the hard-core gas on a ring: a site is empty or occupied, neighbours are never both
//! occupied, and every particle multiplies the probability by λ. States that are not allowed have
//! log π = −∞. A transfer matrix knows the density, which both runs must come to.
//!
//! ```sh
//! cargo run --release -p saltus --example own_model
//! ```

use saltus::model::callable::Callable;
use saltus::{ChainRng, Differences, Model, ModelError, Run, Settings, Space, States, Summary};

/// log π(x) = log λ · Σₙ xₙ on a ring, −∞ where two neighbours are occupied.
struct HardCore {
    space: Space,
    log_fugacity: f64,
}

impl HardCore {
    /// Parameters are checked where the model is made; the error is a sentence for its user.
    fn new(sites: usize, fugacity: f64) -> Result<Self, ModelError> {
        if sites < 3 {
            return Err(ModelError::invalid(format!("a ring needs three sites, got {sites}")));
        }
        if !(fugacity > 0.0 && fugacity.is_finite()) {
            return Err(ModelError::invalid(format!("λ must be positive, got {fugacity}")));
        }
        Ok(Self { space: Space::new(sites, 2)?, log_fugacity: fugacity.ln() })
    }
}

/// log π of one state.
fn log_prob_of(state: &[u8], log_fugacity: f64) -> f64 {
    let sites = state.len();
    if (0..sites).any(|site| state[site] == 1 && state[(site + 1) % sites] == 1) {
        return f64::NEG_INFINITY;
    }
    log_fugacity * state.iter().filter(|value| **value == 1).count() as f64
}

impl Model for HardCore {
    /// Nothing is kept of the chains.
    type Cache = ();

    fn space(&self) -> &Space {
        &self.space
    }

    fn new_cache(&self, _chains: usize) {}

    /// The one function that must be there.
    fn log_prob(
        &self,
        states: States<'_>,
        _cache: &mut (),
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        for (state, log_prob) in states.rows().zip(log_prob) {
            *log_prob = log_prob_of(state, self.log_fugacity);
        }
        Ok(())
    }

    /// Optional, for speed: one pass over the sites instead of an evaluation for every change. With
    /// two values there is one difference per site, that of its flip.
    fn log_prob_and_diff(
        &self,
        _kind: Differences,
        states: States<'_>,
        cache: &mut (),
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        self.log_prob(states, cache, log_prob)?;
        let sites = self.space.sites();
        for (state, diff) in states.rows().zip(diff.chunks_exact_mut(sites)) {
            for site in 0..sites {
                let neighbours = state[(site + sites - 1) % sites] + state[(site + 1) % sites];
                diff[site] = match (state[site], neighbours) {
                    (1, _) => -self.log_fugacity as f32,
                    (_, 0) => self.log_fugacity as f32,
                    _ => f32::NEG_INFINITY,
                };
            }
        }
        Ok(())
    }

    /// Chains start at random states unless a model knows better; most random states are forbidden
    /// here, and a run refuses to start from one.
    fn initial_state(&self, _rng: &mut ChainRng, state: &mut [u8]) {
        state.fill(0);
    }
}

/// Mean number of particles, λ ∂/∂λ log(μ₊ᴺ + μ₋ᴺ) with μ± = (1 ± √(1 + 4λ))/2.
fn exact_particles(sites: usize, fugacity: f64) -> f64 {
    let root = (1.0 + 4.0 * fugacity).sqrt();
    let (plus, minus) = ((1.0 + root) / 2.0, (1.0 - root) / 2.0);
    let power = |base: f64, exponent: usize| base.powi(exponent as i32);
    let slope = sites as f64 * (power(plus, sites - 1) - power(minus, sites - 1)) / root;
    fugacity * slope / (power(plus, sites) + power(minus, sites))
}

/// Samples any model of bits and compares its mean number of particles.
fn check<M: Model>(name: &str, model: &M, exact: f64) -> Result<(), Box<dyn std::error::Error>> {
    let settings = Settings { chains: 16, warmup: 500, draws: 1000, ..Settings::default() };
    let outcome = Run::new(model, settings)
        .observe("particles", |state: &[u8]| state.iter().map(|x| f64::from(*x)).sum())
        .go()?;
    let summary = Summary::new(name, &outcome);
    let particles = summary.observables.iter().find(|one| one.name == "particles").unwrap();
    let (mean, error) = (particles.diagnosis.mean.unwrap(), particles.diagnosis.mcse.unwrap());
    println!("{name}: {mean:.3} ± {error:.3} particles, exactly {exact:.3}");
    assert!((mean - exact).abs() < 5.0 * error, "{name}: {mean} is not {exact}");
    assert!(summary.converged, "{:?}", summary.findings);
    Ok(())
}

/// Runs it; public, because a test does, too.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (sites, fugacity) = (24, 2.0);
    let exact = exact_particles(sites, fugacity);
    check("hard core", &HardCore::new(sites, fugacity)?, exact)?;

    // The same without a type of its own. Differences are found by trying every change out.
    let log_fugacity = f64::ln(fugacity);
    let callable = Callable::new(Space::new(sites, 2)?, move |states, log_prob| {
        for (state, log_prob) in states.rows().zip(log_prob) {
            *log_prob = log_prob_of(state, log_fugacity);
        }
        Ok(())
    })
    .with_initial_state(|_rng, state| state.fill(0));
    check("closures", &callable, exact)?;

    assert_eq!(HardCore::new(24, -1.0).err().unwrap().to_string(), "λ must be positive, got -1");
    Ok(())
}
