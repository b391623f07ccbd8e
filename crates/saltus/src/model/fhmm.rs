//! Factorial hidden Markov models: several independent chains of hidden values seen only through
//! the noisy sum of their weights.

use super::lanes::fhmm::FhmmLanes;
use super::lanes::transposed::Transposed;
use super::lanes::{self, by_groups};
use super::{Differences, Model, Sweep, SweptChains, Work, check_finite, check_length};
use crate::adjacency::Adjacency;
use crate::error::ModelError;
use crate::math::vectorised;
use crate::rng::{ChainRng, Stream};
use crate::space::{Space, States};
use rand_distr::{Distribution, StandardNormal};

/// Beyond this many pairs the adjacency is not worth its memory: the model then has none.
const MOST_EDGES: usize = 1 << 22;

/// What defines a [`Fhmm`].
#[derive(Clone, Debug, PartialEq)]
pub struct FhmmParameters {
    /// Number of hidden chains K.
    pub factors: usize,
    /// Number of values C of a hidden chain.
    pub values: usize,
    /// What a value adds to the mean: with two values, `weights[k]` for value 1 of factor k (value
    /// 0 adds nothing); with more, `weights[k·values + j]` for value j.
    pub weights: Vec<f32>,
    /// What is always added to the mean.
    pub bias: f64,
    /// Standard deviation σ of the noise.
    pub noise: f64,
    /// Probability that a hidden chain starts with value 0; the other values are equally likely.
    pub initial_probability: f64,
    /// Probability that a hidden chain keeps its value; the other values are equally likely.
    pub stay_probability: f64,
    /// What was observed, one number per time step.
    pub observations: Vec<f32>,
}

/// The posterior of the hidden values of a factorial hidden Markov model given its observations.
///
/// log π(x) = log p(x₁) + Σ log p(xₗ | xₗ₋₁) − Σ (yₗ − Σₖ Wₖ(xₗₖ) − b)² / 2σ². Factor k at time l is
/// site `l·factors + k`.
///
/// ```
/// use saltus::model::fhmm::Fhmm;
/// use saltus::{ChainRng, Model, States, rng::Stream};
/// let model = Fhmm::simulate(200, 10, 2, 1)?;
/// let mut state = vec![0; model.space().sites()];
/// model.initial_state(&mut ChainRng::new(1, Stream::Chain(0)), &mut state);
/// let mut log_prob = [0.0];
/// model.log_prob(States::new(&state, 2000), &mut model.new_cache(1), &mut log_prob)?;
/// assert!(log_prob[0].is_finite());
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Fhmm {
    space: Space,
    parameters: FhmmParameters,
    /// The weights repeated for every time step, plane after plane, so that loops run over sites.
    site_weights: Vec<f32>,
    /// log P(start at 0) and log P(start at one other given value).
    log_initial: [f64; 2],
    /// log P(stay) and log P(move to one other given value).
    log_transition: [f64; 2],
    adjacency: Option<Adjacency>,
    /// How sixteen chains are swept together, unless single precision is too rough for that.
    lanes: Option<FhmmLanes>,
}

/// Memory of a block of chains of a [`Fhmm`].
#[derive(Clone, Debug)]
pub struct FhmmCache {
    /// Residuals of the followed chains, one row of time steps per chain.
    followed: Vec<f64>,
    residuals: Vec<f64>,
    /// Residual over σ², repeated for every site of its time step.
    pulls: Vec<f32>,
    /// Values as numbers, with one time step of "nothing" before and after.
    codes: Vec<f32>,
    /// Weight of the value each site has.
    current: Vec<f32>,
    /// Log-prior, up to a constant, of the value each site has.
    standing: Vec<f32>,
    turned: Transposed,
}

impl Fhmm {
    /// The model with those parameters.
    pub fn new(parameters: FhmmParameters) -> Result<Self, ModelError> {
        let FhmmParameters {
            factors,
            values,
            ref weights,
            bias,
            noise,
            initial_probability,
            stay_probability,
            ref observations,
        } = parameters;
        let space = space_of(observations.len(), factors, values)?;
        check_length("the table of weights", weights.len(), factors * space.planes())?;
        check_finite("weights", weights)?;
        check_finite("observations", observations)?;
        if !bias.is_finite() {
            return Err(ModelError::invalid(format!(
                "the bias is {bias}, not a number a model can use"
            )));
        }
        // The square must leave the differences, which are single precision, finite.
        if !(1e-15..=1e15).contains(&noise) {
            return Err(ModelError::invalid(format!(
                "the noise must lie between 1e-15 and 1e15, got {noise}"
            )));
        }
        for (what, probability) in
            [("initial probability", initial_probability), ("stay probability", stay_probability)]
        {
            if !(probability > 0.0 && probability < 1.0) {
                return Err(ModelError::invalid(format!(
                    "the {what} must lie strictly between 0 and 1, got {probability}"
                )));
            }
        }
        let log_pair =
            |probability: f64| [probability.ln(), ((1.0 - probability) / (values - 1) as f64).ln()];
        let planes = space.planes();
        let site_weights = (0..planes)
            .flat_map(|plane| {
                (0..space.sites()).map(move |site| weights[site % factors * planes + plane])
            })
            .collect();
        let (log_initial, log_transition) =
            (log_pair(initial_probability), log_pair(stay_probability));
        let lanes = FhmmLanes::new(
            (factors, values),
            // Single precision after the division, so that what overflows is seen.
            (0..factors * values)
                .map(|at| (parameters.weight(at / values, (at % values) as u8) / noise) as f32)
                .collect(),
            observations.iter().map(|y| ((f64::from(*y) - bias) / noise) as f32).collect(),
            (log_transition[0] - log_transition[1], log_initial[0] - log_initial[1]),
        );
        Ok(Self {
            space,
            site_weights,
            log_initial,
            log_transition,
            adjacency: interactions(observations.len(), factors),
            lanes,
            parameters,
        })
    }

    /// A model with random parameters and observations drawn from it.
    ///
    /// Weights and bias are standard normal, σ = 2, a hidden chain starts at 0 with probability
    /// 0.9 and keeps its value with probability 0.8.
    pub fn simulate(
        length: usize,
        factors: usize,
        values: usize,
        seed: u64,
    ) -> Result<Self, ModelError> {
        let space = space_of(length, factors, values)?;
        let mut rng = ChainRng::new(seed, Stream::Model);
        let normal = |rng: &mut ChainRng| -> f64 { StandardNormal.sample(rng) };
        let weights: Vec<f32> =
            (0..factors * space.planes()).map(|_| normal(&mut rng) as f32).collect();
        let mut parameters = FhmmParameters {
            factors,
            values,
            weights,
            bias: normal(&mut rng),
            noise: 2.0,
            initial_probability: 0.9,
            stay_probability: 0.8,
            observations: Vec::with_capacity(length),
        };
        let mut hidden = vec![0u8; factors];
        for time in 0..length {
            for value in &mut hidden {
                let (keep, probability) = if time == 0 {
                    (0, parameters.initial_probability)
                } else {
                    (*value, parameters.stay_probability)
                };
                *value = keep;
                if rng.uniform() > probability {
                    // One of the other values, equally likely.
                    let other = rng.below(values - 1) as u8;
                    *value = other + u8::from(other >= keep);
                }
            }
            let mean: f64 = hidden
                .iter()
                .enumerate()
                .map(|(factor, value)| parameters.weight(factor, *value))
                .sum();
            let observation = mean + parameters.bias + parameters.noise * normal(&mut rng);
            parameters.observations.push(observation as f32);
        }
        Self::new(parameters)
    }

    /// The same without colours, so that sweeps site by site go in the order of time, too.
    #[cfg(test)]
    pub(crate) fn in_order_of_time(self) -> Self {
        Self { adjacency: None, ..self }
    }

    /// The parameters it was made from.
    pub fn parameters(&self) -> &FhmmParameters {
        &self.parameters
    }

    /// Number of time steps.
    pub fn length(&self) -> usize {
        self.parameters.observations.len()
    }

    /// Number of hidden chains.
    pub fn factors(&self) -> usize {
        self.parameters.factors
    }

    /// What the observations leave unexplained at every time step.
    fn fill_residuals(&self, state: &[u8], residuals: &mut [f64]) {
        let FhmmParameters { factors, values, bias, ref weights, ref observations, .. } =
            self.parameters;
        for ((residual, observation), state) in
            residuals.iter_mut().zip(observations).zip(state.chunks_exact(factors))
        {
            let mut mean = bias;
            if self.space.is_binary() {
                for (weight, value) in weights.iter().zip(state) {
                    mean += f64::from(weight * f32::from(*value));
                }
            } else {
                for (weights, value) in weights.chunks_exact(values).zip(state) {
                    mean += f64::from(weights[usize::from(*value)]);
                }
            }
            *residual = f64::from(*observation) - mean;
        }
    }

    /// log π of a state whose residuals are known.
    fn log_prob_of(&self, state: &[u8], residuals: &[f64]) -> f64 {
        let factors = self.parameters.factors;
        let zeros = state[..factors].iter().filter(|value| **value == 0).count();
        let later = &state[factors..];
        let stays: usize = vectorised(
            #[inline(always)]
            || later.iter().zip(state).map(|(now, before)| usize::from(now == before)).sum(),
        );
        let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
        zeros as f64 * self.log_initial[0]
            + (factors - zeros) as f64 * self.log_initial[1]
            + stays as f64 * self.log_transition[0]
            + (later.len() - stays) as f64 * self.log_transition[1]
            - squares * 0.5 * self.precision()
    }

    /// 1/σ².
    fn precision(&self) -> f64 {
        self.parameters.noise.powi(-2)
    }

    fn diff_of(&self, kind: Differences, state: &[u8], cache: &mut FhmmCache, diff: &mut [f32]) {
        let (sites, factors) = (self.space.sites(), self.parameters.factors);
        let precision = self.precision();
        // The only difference between the two kinds: the curvature of the squared residual.
        let curvature = match kind {
            Differences::Taylor => 0.0,
            Differences::Exact => (0.5 * precision) as f32,
        };
        let stay = (self.log_transition[0] - self.log_transition[1]) as f32;
        let start = (self.log_initial[0] - self.log_initial[1]) as f32;
        for (pulls, residual) in cache.pulls.chunks_exact_mut(factors).zip(&cache.residuals) {
            pulls.fill((residual * precision) as f32);
        }
        let binary = self.space.is_binary();
        let codes = &mut cache.codes[factors..factors + sites];
        vectorised(
            #[inline(always)]
            || {
                for (code, value) in codes.iter_mut().zip(state) {
                    // Two values: ±1, so that the product of two codes says whether they agree.
                    let value = f32::from(*value);
                    *code = if binary { 1.0 - 2.0 * value } else { value };
                }
            },
        );
        let view = SiteView {
            before: &cache.codes[..sites],
            here: &cache.codes[factors..factors + sites],
            after: &cache.codes[2 * factors..],
            pulls: &cache.pulls,
            stay,
            curvature,
        };
        if binary {
            vectorised(
                #[inline(always)]
                || view.flips(&self.site_weights, diff),
            );
            for (diff, code) in diff[..factors].iter_mut().zip(view.here) {
                *diff -= code * start;
            }
            return;
        }
        for (site, (current, value)) in cache.current.iter_mut().zip(state).enumerate() {
            *current = self.site_weights[usize::from(*value) * sites + site];
        }
        vectorised(
            #[inline(always)]
            || view.fill_standing(&mut cache.standing),
        );
        for (standing, value) in cache.standing[..factors].iter_mut().zip(state) {
            *standing += start * f32::from(u8::from(*value == 0));
        }
        for (value, (plane, weights)) in
            diff.chunks_exact_mut(sites).zip(self.site_weights.chunks_exact(sites)).enumerate()
        {
            vectorised(
                #[inline(always)]
                || view.plane(value as f32, weights, &cache.current, &cache.standing, plane),
            );
            if value == 0 {
                for (diff, value) in plane[..factors].iter_mut().zip(state) {
                    *diff += start * f32::from(u8::from(*value != 0));
                }
            }
        }
    }

    /// Log-prior of a value of one site, up to a constant, given the rest of its hidden chain.
    fn log_prior(&self, state: &[u8], site: usize, value: u8) -> f64 {
        let factors = self.parameters.factors;
        let before = match site.checked_sub(factors) {
            Some(before) => self.log_transition[usize::from(state[before] != value)],
            None => self.log_initial[usize::from(value != 0)],
        };
        let after = state
            .get(site + factors)
            .map_or(0.0, |after| self.log_transition[usize::from(*after != value)]);
        before + after
    }
}

impl FhmmParameters {
    fn weight(&self, factor: usize, value: u8) -> f64 {
        f64::from(if self.values == 2 {
            self.weights[factor] * f32::from(value)
        } else {
            self.weights[factor * self.values + usize::from(value)]
        })
    }
}

/// What the loops over sites read.
#[derive(Clone, Copy)]
struct SiteView<'a> {
    before: &'a [f32],
    here: &'a [f32],
    after: &'a [f32],
    pulls: &'a [f32],
    /// What agreeing with a neighbour in time is worth.
    stay: f32,
    curvature: f32,
}

impl SiteView<'_> {
    /// Two values: the change if each site flips, the start of the hidden chains apart.
    #[inline(always)]
    fn flips(&self, weights: &[f32], diff: &mut [f32]) {
        let sites = diff.len();
        let (before, here) = (&self.before[..sites], &self.here[..sites]);
        let (after, pulls) = (&self.after[..sites], &self.pulls[..sites]);
        let weights = &weights[..sites];
        for site in 0..sites {
            let neighbours = before[site] + after[site];
            let gain = weights[site] * pulls[site] - self.stay * neighbours;
            diff[site] = here[site] * gain - self.curvature * (weights[site] * weights[site]);
        }
    }

    /// What the neighbours in time think of a value.
    #[inline(always)]
    fn agreement(&self, site: usize, value: f32) -> f32 {
        let agrees = |code: f32| if code == value { 1.0 } else { 0.0 };
        self.stay * (agrees(self.before[site]) + agrees(self.after[site]))
    }

    /// More values: what the neighbours in time think of the value each site has.
    #[inline(always)]
    fn fill_standing(&self, standing: &mut [f32]) {
        let view = self.cut(standing.len());
        for (site, standing) in standing.iter_mut().enumerate() {
            *standing = view.agreement(site, view.here[site]);
        }
    }

    /// More values: the change if each site took one value, the start of the hidden chains apart.
    #[inline(always)]
    fn plane(
        &self,
        value: f32,
        weights: &[f32],
        current: &[f32],
        standing: &[f32],
        diff: &mut [f32],
    ) {
        let sites = diff.len();
        let view = self.cut(sites);
        let (weights, current) = (&weights[..sites], &current[..sites]);
        let standing = &standing[..sites];
        for site in 0..sites {
            let step = weights[site] - current[site];
            let prior = view.agreement(site, value) - standing[site];
            let change = step * (view.pulls[site] - view.curvature * step) + prior;
            diff[site] = if view.here[site] == value { 0.0 } else { change };
        }
    }

    /// The same with all slices of one length, so that loops need no bounds checks.
    #[inline(always)]
    fn cut(&self, sites: usize) -> Self {
        Self {
            before: &self.before[..sites],
            here: &self.here[..sites],
            after: &self.after[..sites],
            pulls: &self.pulls[..sites],
            ..*self
        }
    }
}

fn space_of(length: usize, factors: usize, values: usize) -> Result<Space, ModelError> {
    let sites = length.checked_mul(factors).ok_or_else(|| {
        ModelError::invalid(format!("{length} time steps of {factors} factors are too many sites"))
    })?;
    Space::new(sites, values)
}

/// Sites of one time step all interact through the sum; neighbours in time within a factor.
fn interactions(length: usize, factors: usize) -> Option<Adjacency> {
    let sites = length * factors;
    if sites.saturating_mul(factors + 1) / 2 > MOST_EDGES {
        return None;
    }
    let mut pairs = Vec::new();
    for site in 0..sites {
        let end_of_step = site - site % factors + factors;
        let in_time = Some(site + factors).filter(|next| *next < sites);
        for other in (site + 1..end_of_step).chain(in_time) {
            pairs.push((site as u32, other as u32));
        }
    }
    Some(Adjacency::new(sites, &pairs))
}

impl Model for Fhmm {
    type Cache = FhmmCache;

    fn space(&self) -> &Space {
        &self.space
    }

    fn new_cache(&self, chains: usize) -> FhmmCache {
        let sites = self.space.sites();
        let outside = if self.space.is_binary() { 0.0 } else { -1.0 };
        let scratch = if self.space.is_binary() { 0 } else { sites };
        FhmmCache {
            followed: vec![0.0; chains * self.length()],
            residuals: vec![0.0; self.length()],
            pulls: vec![0.0; sites],
            codes: vec![outside; sites + 2 * self.parameters.factors],
            current: vec![0.0; scratch],
            standing: vec![0.0; scratch],
            turned: Transposed::default(),
        }
    }

    fn log_prob(
        &self,
        states: States<'_>,
        cache: &mut FhmmCache,
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        for (state, log_prob) in states.rows().zip(log_prob) {
            self.fill_residuals(state, &mut cache.residuals);
            *log_prob = self.log_prob_of(state, &cache.residuals);
        }
        Ok(())
    }

    fn log_prob_and_diff(
        &self,
        kind: Differences,
        states: States<'_>,
        cache: &mut FhmmCache,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        for ((state, log_prob), diff) in
            states.rows().zip(log_prob).zip(diff.chunks_exact_mut(self.space.diff_len()))
        {
            self.fill_residuals(state, &mut cache.residuals);
            *log_prob = self.log_prob_of(state, &cache.residuals);
            self.diff_of(kind, state, cache, diff);
        }
        Ok(())
    }

    fn work(&self) -> Work {
        let (sites, entries) = (self.space.sites() as f64, self.space.diff_len() as f64);
        let site =
            if self.space.is_binary() { 22.0 } else { 10.0 + 8.0 * self.space.values() as f64 };
        let swept =
            if self.space.is_binary() { 4.0 } else { 2.0 + 0.85 * self.space.values() as f64 };
        let sweep = self.lanes.as_ref().map(|_| swept * sites);
        Work { evaluation: sites + 0.2 * entries, site, sweep, far: 0.0, is_known: true }
    }

    fn is_incremental(&self) -> bool {
        true
    }

    fn follow(&self, state: &[u8], chain: usize, cache: &mut FhmmCache) -> Result<f64, ModelError> {
        let length = self.length();
        let residuals = &mut cache.followed[chain * length..(chain + 1) * length];
        self.fill_residuals(state, residuals);
        Ok(self.log_prob_of(state, residuals))
    }

    fn site_diff(
        &self,
        state: &[u8],
        chain: usize,
        cache: &mut FhmmCache,
        site: usize,
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        let (time, factor) = (site / self.parameters.factors, site % self.parameters.factors);
        let residual = cache.followed[chain * self.length() + time];
        let weight = self.parameters.weight(factor, state[site]);
        let prior = self.log_prior(state, site, state[site]);
        let precision = self.precision();
        for (value, diff) in diff.iter_mut().enumerate() {
            let step = self.parameters.weight(factor, value as u8) - weight;
            *diff = step * precision * (residual - 0.5 * step)
                + (self.log_prior(state, site, value as u8) - prior);
        }
        Ok(())
    }

    fn set_site(
        &self,
        state: &mut [u8],
        chain: usize,
        cache: &mut FhmmCache,
        site: usize,
        value: u8,
    ) {
        let (time, factor) = (site / self.parameters.factors, site % self.parameters.factors);
        cache.followed[chain * self.length() + time] -=
            self.parameters.weight(factor, value) - self.parameters.weight(factor, state[site]);
        state[site] = value;
    }

    fn adjacency(&self) -> Option<&Adjacency> {
        self.adjacency.as_ref()
    }

    fn sweep(&self, chains: SweptChains<'_>, cache: &mut FhmmCache) -> bool {
        let Some(lanes) = self.lanes.as_ref().filter(|_| chains.is_multiple_of_model()) else {
            return false;
        };
        by_groups(chains, self.space.sites(), |mut group| {
            let changed = lanes.sweep(&mut group, &mut cache.turned);
            let states = group.states.chunks_exact(self.space.sites());
            for ((state, done), changed) in states.zip(group.done).zip(changed) {
                // In double precision and afresh: that costs less than the sweep.
                self.fill_residuals(state, &mut cache.residuals);
                let log_prob = self.log_prob_of(state, &cache.residuals);
                *done = Sweep { changed, log_prob };
            }
        });
        true
    }

    fn sweep_block_size(&self, chains: usize) -> usize {
        if self.lanes.is_some() { lanes::CHAINS } else { self.block_size(chains) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(values: usize, weights: Vec<f32>, observations: Vec<f32>) -> FhmmParameters {
        FhmmParameters {
            factors: weights.len() / if values == 2 { 1 } else { values },
            values,
            weights,
            bias: 0.5,
            noise: 1.0,
            initial_probability: 0.9,
            stay_probability: 0.8,
            observations,
        }
    }

    fn log_prob(model: &Fhmm, state: &[u8]) -> f64 {
        let mut out = [0.0];
        model.log_prob(States::new(state, state.len()), &mut model.new_cache(1), &mut out).unwrap();
        out[0]
    }

    #[test]
    fn a_small_model_by_hand() {
        let model = Fhmm::new(parameters(2, vec![1.0], vec![1.5, 0.5])).unwrap();
        // Start at 1 (0.1), move to 0 (0.2), both observations explained.
        assert!((log_prob(&model, &[1, 0]) - 0.02f64.ln()).abs() < 1e-12);
        // Start at 1, stay (0.8), the second observation missed by one.
        assert!((log_prob(&model, &[1, 1]) - (0.08f64.ln() - 0.5)).abs() < 1e-12);
        let model = Fhmm::new(parameters(3, vec![0.0, 1.0, -2.0], vec![0.5, 0.5])).unwrap();
        // Start at 2 (0.1 / 2), move to 1 (0.2 / 2), missed by 2 and by 1.
        assert!((log_prob(&model, &[2, 1]) - (0.005f64.ln() - 2.5)).abs() < 1e-12);
    }

    #[test]
    fn without_evidence_the_posterior_is_the_prior_and_sums_to_one() {
        for (values, weights) in [(2, vec![0.0; 2]), (3, vec![0.0; 6])] {
            let model = Fhmm::new(parameters(values, weights, vec![0.5; 3])).unwrap();
            let mut total = 0.0;
            for number in 0..values.pow(6) {
                let state: Vec<u8> =
                    (0..6).map(|site| (number / values.pow(site) % values) as u8).collect();
                total += log_prob(&model, &state).exp();
            }
            assert!((total - 1.0).abs() < 1e-12, "{total}");
        }
    }

    #[test]
    fn a_simulation_follows_its_recipe() {
        let model = Fhmm::simulate(4000, 3, 4, 7).unwrap();
        let parameters = model.parameters();
        assert_eq!(parameters.weights.len(), 12);
        assert_eq!((model.length(), model.factors()), (4000, 3));
        // In the long run every value is equally likely, so y has mean b + Σ mean W and a variance
        // of σ² plus that of the weights; neighbours in time are dependent, hence the wide margin.
        let (mut mean, mut variance) = (parameters.bias, 4.0);
        for weights in parameters.weights.chunks_exact(4) {
            let average = weights.iter().map(|w| f64::from(*w)).sum::<f64>() / 4.0;
            mean += average;
            variance +=
                weights.iter().map(|w| (f64::from(*w) - average).powi(2) / 4.0).sum::<f64>();
        }
        let observed = &parameters.observations;
        let found = observed.iter().map(|y| f64::from(*y)).sum::<f64>() / 4000.0;
        assert!((found - mean).abs() < 0.3, "{found} {mean}");
        let spread = observed.iter().map(|y| (f64::from(*y) - mean).powi(2) / 4000.0).sum::<f64>();
        assert!((spread / variance - 1.0).abs() < 0.15, "{spread} {variance}");
        assert_eq!(Fhmm::simulate(4000, 3, 4, 7).unwrap().parameters(), parameters);
    }

    #[test]
    fn the_graph_joins_a_time_step_and_neighbours_in_time() {
        let model = Fhmm::simulate(3, 2, 2, 0).unwrap();
        let adjacency = model.adjacency().unwrap();
        let neighbours = |site| {
            let mut all: Vec<usize> =
                adjacency.neighbours(site).iter().map(|other| *other as usize).collect();
            all.sort_unstable();
            all
        };
        assert_eq!(neighbours(0), [1, 2]);
        assert_eq!(neighbours(3), [1, 2, 5]);
    }

    #[test]
    fn impossible_parameters_are_refused_in_a_sentence() {
        let reason = |change: fn(&mut FhmmParameters)| {
            let mut parameters = parameters(2, vec![1.0, 2.0], vec![0.5; 3]);
            change(&mut parameters);
            Fhmm::new(parameters).unwrap_err().to_string()
        };
        assert_eq!(
            reason(|p| p.weights.push(0.0)),
            "the table of weights has 3 entries, expected 2"
        );
        assert!(reason(|p| p.noise = 0.0).contains("got 0"));
        assert!(reason(|p| p.noise = f64::NAN).contains("got NaN"));
        assert!(reason(|p| p.bias = f64::INFINITY).contains("inf"));
        assert!(reason(|p| p.stay_probability = 1.0).contains("stay probability"));
        assert!(reason(|p| p.initial_probability = -0.1).contains("-0.1"));
        assert!(reason(|p| p.observations[1] = f32::NAN).contains("observations[1]"));
        assert!(reason(|p| p.observations.clear()).contains("at least one site"));
        assert!(reason(|p| p.values = 1).contains("between 2 and 256"));
        assert!(reason(|p| p.factors = usize::MAX).contains("too many"));
    }
}
