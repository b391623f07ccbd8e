//! Targets whose sites see many others: RBMs, and factorial hidden Markov models.

use crate::target::Target;
use saltus::math::{sigmoid, softplus};
use saltus::model::fhmm::{Fhmm, FhmmParameters};
use saltus::rng::ChainRng;
use saltus::{Model, Rbm};

/// Steps by layers, or sweeps, that bring a chain from a random state to the target.
const STEPS: usize = 500;

/// An RBM with sites of any number of values.
pub struct Machine {
    name: String,
    sites: usize,
    values: usize,
    hidden_bias: Vec<f64>,
    visible_bias: Vec<f64>,
    /// [unit][site · values + value]; value 0 has none where there are two.
    weights: Vec<Vec<f64>>,
}

impl Machine {
    pub fn new(name: String, rbm: &Rbm) -> Self {
        let (sites, values) = (rbm.space().sites(), rbm.space().values());
        let entries =
            || (0..sites).flat_map(|site| (0..values).map(move |value| (site, value as u8)));
        let is_none = |value: u8| values == 2 && value == 0;
        let bias = |(site, value): (usize, u8)| match is_none(value) {
            true => 0.0,
            false => {
                let plane = if values == 2 { 0 } else { usize::from(value) };
                f64::from(rbm.visible_biases()[plane * sites + site])
            }
        };
        let weight = |unit: usize, (site, value): (usize, u8)| match is_none(value) {
            true => 0.0,
            false => f64::from(rbm.weight(unit, site, value)),
        };
        let units = 0..rbm.hidden();
        Self {
            name,
            sites,
            values,
            hidden_bias: units.clone().map(|unit| f64::from(rbm.hidden_bias(unit))).collect(),
            visible_bias: entries().map(bias).collect(),
            weights: units
                .map(|unit| entries().map(|entry| weight(unit, entry)).collect())
                .collect(),
        }
    }

    /// Inputs of the hidden units.
    fn inputs(&self, probabilities: &[f64]) -> Vec<f64> {
        let units = self.hidden_bias.iter().zip(&self.weights);
        units
            .map(|(bias, weights)| {
                bias + weights.iter().zip(probabilities).map(|(w, p)| w * p).sum::<f64>()
            })
            .collect()
    }

    /// The table of sites and values where units are on with these probabilities.
    fn given_units(&self, on: &[f64]) -> Vec<f64> {
        let mut local = self.visible_bias.clone();
        for (on, weights) in on.iter().zip(&self.weights) {
            local.iter_mut().zip(weights).for_each(|(local, weight)| *local += on * weight);
        }
        local
    }

    fn one_hot(&self, state: &[u8]) -> Vec<f64> {
        let mut probabilities = vec![0.0; self.sites * self.values];
        for (site, value) in state.iter().enumerate() {
            probabilities[site * self.values + usize::from(*value)] = 1.0;
        }
        probabilities
    }
}

impl Target for Machine {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn values(&self) -> usize {
        self.values
    }

    fn sites(&self) -> usize {
        self.sites
    }

    fn log_prob(&self, state: &[u8]) -> f64 {
        let at = |(site, value): (usize, &u8)| {
            self.visible_bias[site * self.values + usize::from(*value)]
        };
        let visible: f64 = state.iter().enumerate().map(at).sum();
        visible + self.inputs(&self.one_hot(state)).into_iter().map(softplus).sum::<f64>()
    }

    fn expected_local(&self, probabilities: &[f64]) -> Vec<f64> {
        let on: Vec<f64> = self.inputs(probabilities).into_iter().map(sigmoid).collect();
        self.given_units(&on)
    }

    fn is_white(&self, site: usize) -> bool {
        site.is_multiple_of(2)
    }

    fn equilibrium(&self, rng: &mut ChainRng) -> Vec<u8> {
        let mut state: Vec<u8> = (0..self.sites).map(|_| rng.below(self.values) as u8).collect();
        for _ in 0..STEPS {
            let inputs = self.inputs(&self.one_hot(&state));
            let on: Vec<f64> = inputs
                .into_iter()
                .map(|input| f64::from(u8::from(rng.flip(sigmoid(input)))))
                .collect();
            let rows = self.given_units(&on);
            for (value, row) in state.iter_mut().zip(rows.chunks_exact(self.values)) {
                *value = drawn(row, rng);
            }
        }
        state
    }
}

/// A factorial hidden Markov model.
pub struct Hidden {
    name: String,
    parameters: FhmmParameters,
}

impl Hidden {
    pub fn new(name: String, model: &Fhmm) -> Self {
        Self { name, parameters: model.parameters().clone() }
    }

    fn weight(&self, factor: usize, value: usize) -> f64 {
        let FhmmParameters { values, weights, .. } = &self.parameters;
        match (*values, value) {
            (2, 0) => 0.0,
            (2, _) => f64::from(weights[factor]),
            (values, value) => f64::from(weights[factor * values + value]),
        }
    }

    /// log P of starting with a value, and of going from one to another.
    fn prior(&self, from: Option<usize>, to: usize) -> f64 {
        let FhmmParameters { values, initial_probability, stay_probability, .. } = self.parameters;
        let (likely, usual) = match from {
            None => (initial_probability, 0),
            Some(from) => (stay_probability, from),
        };
        if to == usual { likely.ln() } else { ((1.0 - likely) / (values - 1) as f64).ln() }
    }

    /// What is left of the observation at a time where values have these probabilities.
    fn residual(&self, time: usize, probabilities: &[f64]) -> f64 {
        let FhmmParameters { factors, values, bias, observations, .. } = &self.parameters;
        let row = &probabilities[time * factors * values..][..factors * values];
        let sum: f64 =
            row.iter().enumerate().map(|(at, p)| p * self.weight(at / values, at % values)).sum();
        f64::from(observations[time]) - bias - sum
    }

    fn one_hot(&self, state: &[u8]) -> Vec<f64> {
        let values = self.parameters.values;
        let mut probabilities = vec![0.0; state.len() * values];
        for (site, value) in state.iter().enumerate() {
            probabilities[site * values + usize::from(*value)] = 1.0;
        }
        probabilities
    }
}

impl Target for Hidden {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn values(&self) -> usize {
        self.parameters.values
    }

    fn sites(&self) -> usize {
        self.parameters.observations.len() * self.parameters.factors
    }

    fn log_prob(&self, state: &[u8]) -> f64 {
        let FhmmParameters { factors, noise, .. } = self.parameters;
        let prior = |site: usize| {
            let before = site.checked_sub(factors).map(|before| usize::from(state[before]));
            self.prior(before, usize::from(state[site]))
        };
        let probabilities = self.one_hot(state);
        let seen =
            (0..state.len() / factors).map(|time| self.residual(time, &probabilities).powi(2));
        (0..state.len()).map(prior).sum::<f64>() - seen.sum::<f64>() / (2.0 * noise * noise)
    }

    fn expected_local(&self, probabilities: &[f64]) -> Vec<f64> {
        let FhmmParameters { factors, values, noise, .. } = self.parameters;
        let mut local = Vec::with_capacity(probabilities.len());
        for site in 0..self.sites() {
            let (time, factor) = (site / factors, site % factors);
            let pull = self.residual(time, probabilities) / (noise * noise);
            let row = |site: usize| &probabilities[site * values..][..values];
            for value in 0..values {
                let before = match site.checked_sub(factors) {
                    None => self.prior(None, value),
                    Some(before) => {
                        let terms = row(before).iter().enumerate();
                        terms.map(|(from, p)| p * self.prior(Some(from), value)).sum()
                    }
                };
                let after = match site + factors < self.sites() {
                    false => 0.0,
                    true => {
                        let terms = row(site + factors).iter().enumerate();
                        terms.map(|(to, p)| p * self.prior(Some(value), to)).sum()
                    }
                };
                local.push(before + after + pull * self.weight(factor, value));
            }
        }
        local
    }

    fn is_white(&self, site: usize) -> bool {
        (site / self.parameters.factors).is_multiple_of(2)
    }

    fn equilibrium(&self, rng: &mut ChainRng) -> Vec<u8> {
        let FhmmParameters { factors, values, noise, .. } = self.parameters;
        let mut state: Vec<u8> = (0..self.sites()).map(|_| rng.below(values) as u8).collect();
        let mut probabilities = self.one_hot(&state);
        for site in (0..STEPS).flat_map(|_| 0..self.sites()) {
            let (time, factor) = (site / factors, site % factors);
            let own = usize::from(state[site]);
            let left = self.residual(time, &probabilities) + self.weight(factor, own);
            let row: Vec<f64> = (0..values)
                .map(|value| {
                    let before = site.checked_sub(factors).map(|before| usize::from(state[before]));
                    let after = state
                        .get(site + factors)
                        .map_or(0.0, |after| self.prior(Some(value), usize::from(*after)));
                    let error = left - self.weight(factor, value);
                    self.prior(before, value) + after - error * error / (2.0 * noise * noise)
                })
                .collect();
            state[site] = drawn(&row, rng);
            probabilities[site * values + own] = 0.0;
            probabilities[site * values + usize::from(state[site])] = 1.0;
        }
        state
    }
}

/// A value drawn by the logarithms of weights.
fn drawn(row: &[f64], rng: &mut ChainRng) -> u8 {
    let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = row.iter().map(|log| (log - most).exp()).collect();
    rng.index(&weights, weights.iter().sum()) as u8
}
