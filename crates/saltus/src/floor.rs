//! A floor under log Z: what the surroundings of places far from where chains start hold by themselves.
//!
//! For any density q over states, log Z ≥ Σ q (log π − log q). From every place short chains at the model's own temperature
//! say how often each site has each value there; q has independent sites with these frequencies, and the mean is taken over
//! draws from it. So a floor is no estimate: it may be far too low, and is too high only by chance, which its error tells.

use crate::control::Control;
use crate::finding::Finding;
use crate::model::Model;
use crate::rng::{ChainRng, Stream};
use crate::run::{Run, Settings};
use crate::space::States;

/// Steps from a place before sites are looked at, and draws at which they are.
const APPROACH: usize = 50;
const STAY: usize = 100;
/// Draws of independent sites.
const DRAWS: usize = 256;
/// Standard errors of either number that log Z may be below its floor.
const ERRORS: f64 = 4.0;
/// Nats that are of no interest.
const NEGLIGIBLE: f64 = 0.02;
/// Bytes of states that are kept.
const MOST_BYTES: usize = 100_000_000;

/// What log Z is not below, but for chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor {
    /// The mean of log π − log q over draws of q.
    pub log_z: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// The highest floor around the least values, the largest, and the [places](Model::places) that the model knows; none if
/// no chain can be sent there. Of the settings sampler, inverse temperature, seed and threads count.
///
/// ```
/// use saltus::{Control, Independent, Sampler, floor};
/// // Independent sites are their own q: Z = (1 + e)³, and the floor is log Z itself.
/// let model = Independent::bernoulli(vec![1.0; 3])?;
/// let floor = floor::floor(&model, &Sampler::gibbs().into(), || Control::Continue).unwrap();
/// let log_z = 3.0 * (1.0 + 1f64.exp()).ln();
/// assert!(floor.log_z < log_z + 1e-6 && floor.log_z > log_z - 0.1);
/// # Ok::<(), saltus::ModelError>(())
/// ```
pub fn floor<M: Model>(
    model: &M,
    settings: &Settings,
    mut monitor: impl FnMut() -> Control + Send,
) -> Option<Floor> {
    let sites = model.space().sites();
    let starts = places(model, settings.seed);
    let chains = starts.len() / sites;
    if chains == 0 || starts.len().saturating_mul(STAY) > MOST_BYTES {
        return None;
    }
    let beta = settings.beta.unwrap_or(1.0);
    let settings = Settings {
        chains,
        warmup: APPROACH,
        draws: STAY,
        thin: 1,
        time_limit: None,
        until_ess: None,
        until_rhat: None,
        until_log_z: None,
        temper: None,
        ..settings.clone()
    };
    let seed = settings.seed;
    let run = Run::new(model, settings).keep_states().start_from(starts).first_chain(1 << 42);
    let outcome = run.monitor(move |_| monitor()).go().ok()?;
    if !outcome.ended.is_success() || outcome.trace.states(0).len() != STAY * sites {
        return None;
    }
    let mut rng = ChainRng::new(seed, Stream::Chain(1 << 43));
    let floors =
        (0..chains).filter_map(|chain| around(model, outcome.trace.states(chain), beta, &mut rng));
    floors.max_by(|one, other| one.log_z.total_cmp(&other.log_z))
}

/// A finding if log Z was found to be below its floor by more than chance.
pub fn of_floor(log_z: f64, error: Option<f64>, floor: Option<Floor>) -> Option<Finding> {
    let Floor { log_z: at_least, standard_error } = floor?;
    let chance = ERRORS * (standard_error + error.unwrap_or(0.0));
    (at_least > log_z + chance + NEGLIGIBLE).then_some(Finding::MissedMass { log_z, at_least })
}

/// Allowed states far from where chains start, one after the other.
fn places<M: Model>(model: &M, seed: u64) -> Vec<u8> {
    let space = model.space();
    let sites = space.sites();
    let mut places = model.places(&mut ChainRng::new(seed, Stream::Model));
    if model.sums().is_empty() {
        places.push(vec![0; sites]);
        places.push((0..sites).map(|site| (space.values_at(site) - 1) as u8).collect());
    }
    let mut cache = model.new_cache(1);
    places.retain(|state| {
        let mut log_prob = [f64::NEG_INFINITY];
        let known = model.log_prob(States::new(state, sites), &mut cache, &mut log_prob);
        known.is_ok() && log_prob[0].is_finite()
    });
    places.concat()
}

/// The floor by independent sites that have each value as often as these states; none where draws of them are forbidden.
fn around<M: Model>(model: &M, states: &[u8], beta: f64, rng: &mut ChainRng) -> Option<Floor> {
    let space = model.space();
    let sites = space.sites();
    let mut counts = vec![vec![0.0; space.values()]; sites];
    for state in states.chunks_exact(sites) {
        for (count, value) in counts.iter_mut().zip(state) {
            count[usize::from(*value)] += 1.0;
        }
    }
    let of_all = (states.len() / sites) as f64;
    let mut cache = model.new_cache(1);
    let mut state = vec![0; sites];
    let mut gains = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        let mut log_q = 0.0;
        for (value, count) in state.iter_mut().zip(&counts) {
            let drawn = rng.index(count, of_all);
            log_q += (count[drawn] / of_all).ln();
            *value = drawn as u8;
        }
        let mut log_prob = [0.0];
        model.log_prob(States::new(&state, sites), &mut cache, &mut log_prob).ok()?;
        gains.push(beta * log_prob[0] - log_q);
    }
    let draws = gains.len() as f64;
    let mean = gains.iter().sum::<f64>() / draws;
    let variance = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / (draws - 1.0);
    let standard_error = (variance / draws).sqrt();
    mean.is_finite().then_some(Floor { log_z: mean, standard_error })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::lattice::Lattice;
    use crate::model::pairwise::Pairwise;
    use crate::model::rbm::Rbm;
    use crate::sampler::Sampler;

    #[test]
    fn a_needle_is_under_the_floor() {
        // Sites that are rarely on, and a unit that holds up twenty of forty: 0.27 without it, 74 with it.
        let pattern = |site: usize| site * 7 % 40 < 20;
        let weights: Vec<f32> =
            (0..40).map(|site| if pattern(site) { 30.0 } else { -30.0 }).collect();
        let rbm = Rbm::new(2, &weights, &[-426.0], &[-5.0; 40], None).unwrap();
        let found = floor(&rbm, &Sampler::dlmc().into(), || Control::Continue);
        assert!((found.unwrap().log_z - 74.0).abs() < 0.1, "{found:?}");
        let finding = of_floor(0.2686, Some(0.001), found).unwrap();
        assert_eq!(finding.code(), "missed-mass");
        assert_eq!(of_floor(74.0, Some(0.001), found), None);
    }

    #[test]
    fn a_floor_is_below_log_z() {
        // By listing all states of eight seeds of cold spins in a field.
        for seed in 0..8 {
            let field = 0.1 * seed as f32;
            let spins = Lattice::periodic(3, 3).unwrap();
            let model = Pairwise::ising_lattice(spins, 0.3, vec![field; 9]).unwrap();
            let exact = crate::exact::Exact::new(&model).unwrap().log_z();
            let settings = Settings { seed, ..Sampler::gibbs().into() };
            let found = floor(&model, &settings, || Control::Continue).unwrap();
            assert!(found.log_z < exact + ERRORS * found.standard_error, "{found:?} {exact}");
            assert_eq!(of_floor(exact, None, Some(found)), None);
        }
    }
}
