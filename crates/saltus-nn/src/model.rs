//! A deep energy-based model: a network on top of independent pixels, as something to sample from.

use crate::architecture::Architecture;
use crate::cpu::Cpu;
use crate::frequencies::Frequencies;
use crate::network::Network;
use crate::parameters::Parameters;
use saltus::math::vectorised;
use saltus::model::brute_force_diff;
use saltus::{Base, ChainRng, Differences, Model, ModelError, Space, States};

/// log π(x) = network(x) + log p(x), up to a constant, with p independent pixels of these [`Frequencies`].
///
/// Differences are first-order estimates from the gradient at the state, one evaluation for all
/// sites; Metropolis–Hastings makes samplers exact. Exact differences are found by trying all.
///
/// ```
/// use saltus::{Model, Settings, run};
/// use saltus_nn::{Architecture, DeepModel, Frequencies, Parameters};
/// let architecture = Architecture::new(6, 6, 2, 8)?.with_blocks(1)?;
/// let frequencies = Frequencies::new(architecture.space(), vec![0.3; 36])?;
/// let model: DeepModel = DeepModel::new(Parameters::random(architecture, 1), frequencies)?;
/// let settings = Settings { chains: 4, warmup: 50, draws: 50, ..Settings::default() };
/// let outcome = run::sample(&model, settings)?;
/// assert!(outcome.acceptance > 0.2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DeepModel<N = Cpu> {
    space: Space,
    parameters: Parameters,
    frequencies: Frequencies,
    network: N,
}

/// Memory of a block of chains of a [`DeepModel`].
#[derive(Clone, Debug)]
pub struct DeepCache<W> {
    work: W,
    /// What is known of every chain that is followed site by site.
    followed: Vec<Option<Followed>>,
}

/// What is known of a followed chain.
#[derive(Clone, Debug)]
struct Followed {
    log_prob: f64,
    /// The site that was tried last, and log π with each of its values.
    site: usize,
    tried: Vec<f64>,
}

impl<N: Network> DeepModel<N> {
    /// A network with these parameters on pixels of these frequencies.
    pub fn new(parameters: Parameters, frequencies: Frequencies) -> Result<Self, ModelError> {
        let (space, base) = (parameters.architecture().space(), frequencies.base());
        if *base.space() != space {
            return Err(ModelError::Invalid(format!(
                "a network for {} sites of {} values cannot stand on a base of {} sites of {}",
                space.sites(),
                space.values(),
                base.space().sites(),
                base.space().values()
            )));
        }
        Ok(Self { space, network: N::new(&parameters)?, parameters, frequencies })
    }

    /// The parameters of its network.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Its network's.
    pub fn architecture(&self) -> Architecture {
        *self.parameters.architecture()
    }

    /// The frequencies of the pixels it stands on.
    pub fn frequencies(&self) -> &Frequencies {
        &self.frequencies
    }

    /// Its network.
    pub fn network(&self) -> &N {
        &self.network
    }

    /// The same with other parameters.
    pub fn with_numbers(&self, numbers: &[f32]) -> Result<Self, ModelError> {
        let parameters = Parameters::new(*self.parameters.architecture(), numbers.to_vec())?;
        Self::new(parameters, self.frequencies.clone())
    }

    /// Changes the parameters of its network.
    pub fn change_parameters(&mut self, change: impl FnOnce(&mut [f32])) {
        change(self.parameters.numbers_mut());
        self.network.set_parameters(&self.parameters);
    }

    /// Adds the logarithms of the probabilities of states under independent pixels.
    pub(crate) fn add_base(&self, states: States<'_>, log_prob: &mut [f64]) {
        for (state, log_prob) in states.rows().zip(log_prob) {
            *log_prob += self.frequencies.base().log_prob(state);
        }
    }

    fn log_prob_of(&self, state: &[u8], work: &mut N::Workspace) -> Result<f64, ModelError> {
        let mut log_prob = [0.0];
        self.network.values(States::new(state, state.len()), work, &mut log_prob)?;
        Ok(log_prob[0] + self.frequencies.base().log_prob(state))
    }
}

impl<N: Network> Model for DeepModel<N> {
    type Cache = DeepCache<N::Workspace>;

    fn space(&self) -> &Space {
        &self.space
    }

    fn new_cache(&self, chains: usize) -> Self::Cache {
        DeepCache { work: self.network.new_workspace(chains), followed: vec![None; chains] }
    }

    fn log_prob(
        &self,
        states: States<'_>,
        cache: &mut Self::Cache,
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        self.network.values(states, &mut cache.work, log_prob)?;
        self.add_base(states, log_prob);
        Ok(())
    }

    fn log_prob_and_diff(
        &self,
        kind: Differences,
        states: States<'_>,
        cache: &mut Self::Cache,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        if kind == Differences::Exact {
            self.log_prob(states, cache, log_prob)?;
            return brute_force_diff(self, states, cache, log_prob, diff);
        }
        self.network.values_and_gradients(states, &mut cache.work, log_prob, diff)?;
        self.add_base(states, log_prob);
        for (state, diff) in states.rows().zip(diff.chunks_exact_mut(self.space.diff_len())) {
            to_differences(self.frequencies.base(), state, diff);
        }
        Ok(())
    }

    fn follow(
        &self,
        state: &[u8],
        chain: usize,
        cache: &mut Self::Cache,
    ) -> Result<f64, ModelError> {
        let log_prob = self.log_prob_of(state, &mut cache.work)?;
        let tried = vec![f64::NAN; self.space.values()];
        cache.followed[chain] = Some(Followed { log_prob, site: usize::MAX, tried });
        Ok(log_prob)
    }

    /// One evaluation for every value that the site does not have.
    fn site_diff(
        &self,
        state: &[u8],
        chain: usize,
        cache: &mut Self::Cache,
        site: usize,
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        if cache.followed[chain].is_none() {
            self.follow(state, chain, cache)?;
        }
        let Some(followed) = &mut cache.followed[chain] else {
            return Err(ModelError::Evaluation("no chain is followed".to_owned()));
        };
        let mut changed = state.to_vec();
        for (value, diff) in diff.iter_mut().enumerate() {
            let log_prob = if value == usize::from(state[site]) {
                followed.log_prob
            } else {
                changed[site] = value as u8;
                self.log_prob_of(&changed, &mut cache.work)?
            };
            followed.tried[value] = log_prob;
            *diff = log_prob - followed.log_prob;
        }
        followed.site = site;
        Ok(())
    }

    fn set_site(
        &self,
        state: &mut [u8],
        chain: usize,
        cache: &mut Self::Cache,
        site: usize,
        value: u8,
    ) {
        state[site] = value;
        let known = &mut cache.followed[chain];
        *known = known.take().filter(|followed| followed.site == site);
        if let Some(followed) = known {
            followed.log_prob = followed.tried[usize::from(value)];
            followed.site = usize::MAX;
        }
    }

    fn initial_state(&self, rng: &mut ChainRng, state: &mut [u8]) {
        self.frequencies.base().draw(rng, state);
    }

    fn base(&self) -> Base {
        self.frequencies.base().clone()
    }

    fn block_size(&self, chains: usize) -> usize {
        self.network.block_size(chains)
    }
}

/// Turns the gradient of a network at the codes of a state into first-order differences of network and base.
fn to_differences(base: &Base, state: &[u8], diff: &mut [f32]) {
    let (space, logs) = (base.space(), base.log_weights());
    if space.is_binary() {
        for ((value, diff), log) in state.iter().zip(diff).zip(logs) {
            let change = *diff + log;
            *diff = if *value == 0 { change } else { -change };
        }
        return;
    }
    let sites = space.sites();
    let own = state.iter().enumerate().map(|(site, value)| usize::from(*value) * sites + site);
    let own: Vec<f32> = own.map(|at| diff[at] + logs[at]).collect();
    // In one pass: tables of many values do not stay in the cache.
    vectorised(
        #[inline(always)]
        || {
            let planes = diff.chunks_exact_mut(sites).zip(logs.chunks_exact(sites));
            for (diff, logs) in planes {
                for ((diff, log), own) in diff.iter_mut().zip(logs).zip(&own) {
                    *diff = (*diff + log) - own;
                }
            }
        },
    );
}
