//! A model at a temperature between its own and that of independent sites, for every sampler.

use super::remembered::Remembered;
use crate::model::graph::Graph;
use crate::model::independent::Independent;
use crate::model::{Differences, Model, ModelError};
use crate::space::{Space, States};
use std::sync::Arc;

/// log f(x) = (1 − β) log p(x) + β log π(x), with p the independent sites, normalised.
///
/// β is part of the model, and a kernel must be started again when it has changed.
pub(super) struct Tempered<'a, M: Model> {
    model: &'a M,
    base: Arc<Independent>,
    log_normaliser: f64,
    beta: f64,
}

/// Memory of a block: the model's, that of the independent sites, and what these say.
pub(super) struct TemperedCache<M: Model> {
    model: M::Cache,
    remembered: Remembered,
    base: Vec<f32>,
    log_prob: Vec<f64>,
    diff: Vec<f32>,
    site_diff: Vec<f64>,
}

impl<'a, M: Model> Tempered<'a, M> {
    pub(super) fn new(model: &'a M, base: Arc<Independent>) -> Self {
        Self { model, log_normaliser: base.log_normaliser(), base, beta: 1.0 }
    }

    pub(super) fn set_beta(&mut self, beta: f64) {
        self.beta = beta;
    }

    /// log π(x) − log p(x), if log f(x) is that.
    pub(super) fn slope(&self, state: &[u8], log_prob: f64) -> f64 {
        (log_prob - self.base_log_prob(state)) / self.beta
    }

    fn base_log_prob(&self, state: &[u8]) -> f64 {
        self.base.log_prob_of(state) - self.log_normaliser
    }

    fn mix(&self, state: &[u8], log_prob: f64) -> f64 {
        (1.0 - self.beta) * self.base_log_prob(state) + self.beta * log_prob
    }
}

impl<M: Model> Model for Tempered<'_, M> {
    type Cache = TemperedCache<M>;

    fn space(&self) -> &Space {
        self.model.space()
    }

    fn new_cache(&self, chains: usize) -> TemperedCache<M> {
        TemperedCache {
            model: self.model.new_cache(chains),
            remembered: Remembered::nothing(),
            base: self.base.new_cache(chains),
            log_prob: vec![0.0; chains],
            diff: vec![0.0; chains * self.space().diff_len()],
            site_diff: vec![0.0; self.space().values()],
        }
    }

    fn log_prob(
        &self,
        states: States<'_>,
        cache: &mut TemperedCache<M>,
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        self.model.log_prob(states, &mut cache.model, log_prob)?;
        for (state, log_prob) in states.rows().zip(log_prob) {
            *log_prob = self.mix(state, *log_prob);
        }
        Ok(())
    }

    fn log_prob_and_diff(
        &self,
        kind: Differences,
        states: States<'_>,
        cache: &mut TemperedCache<M>,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        let TemperedCache {
            model, remembered, base, log_prob: of_base, diff: diff_of_base, ..
        } = cache;
        let of_base = &mut of_base[..states.chains()];
        let diff_of_base = &mut diff_of_base[..diff.len()];
        if !remembered.recall(kind, states, log_prob, diff) {
            self.model.log_prob_and_diff(kind, states, model, log_prob, diff)?;
            remembered.keep(kind, states, log_prob, diff);
        }
        self.base.log_prob_and_diff(kind, states, base, of_base, diff_of_base)?;
        for (log_prob, of_base) in log_prob.iter_mut().zip(&*of_base) {
            *log_prob = (1.0 - self.beta) * (of_base - self.log_normaliser) + self.beta * *log_prob;
        }
        let (share, beta) = ((1.0 - self.beta) as f32, self.beta as f32);
        for (diff, of_base) in diff.iter_mut().zip(&*diff_of_base) {
            *diff = share * of_base + beta * *diff;
        }
        Ok(())
    }

    fn taylor_is_exact(&self) -> bool {
        self.model.taylor_is_exact()
    }

    fn is_incremental(&self) -> bool {
        self.model.is_incremental()
    }

    fn follow(
        &self,
        state: &[u8],
        chain: usize,
        cache: &mut TemperedCache<M>,
    ) -> Result<f64, ModelError> {
        let log_prob = self.model.follow(state, chain, &mut cache.model)?;
        Ok(self.mix(state, log_prob))
    }

    fn site_diff(
        &self,
        state: &[u8],
        chain: usize,
        cache: &mut TemperedCache<M>,
        site: usize,
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        let TemperedCache { model, base, site_diff: of_base, .. } = cache;
        self.model.site_diff(state, chain, model, site, diff)?;
        self.base.site_diff(state, chain, base, site, of_base)?;
        for (diff, of_base) in diff.iter_mut().zip(of_base) {
            *diff = (1.0 - self.beta) * *of_base + self.beta * *diff;
        }
        Ok(())
    }

    fn set_site(
        &self,
        state: &mut [u8],
        chain: usize,
        cache: &mut TemperedCache<M>,
        site: usize,
        value: u8,
    ) {
        self.model.set_site(state, chain, &mut cache.model, site, value);
    }

    fn graph(&self) -> Option<&Graph> {
        self.model.graph()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::brute_force_diff;
    use crate::model::rbm::Rbm;

    #[test]
    fn it_is_the_mixture_and_its_differences_are_brute_force() {
        for values in [2, 3] {
            let machine = Rbm::random(6, 4, values, 3).unwrap();
            let frequencies: Vec<f32> =
                (0..machine.space().diff_len()).map(|i| 0.1 + 0.03 * i as f32).collect();
            let base = Arc::new(Independent::with_frequencies(values, &frequencies).unwrap());
            let mut model = Tempered::new(&machine, base.clone());
            let states: Vec<u8> = (0..12).map(|i| (i * i / 3 % values) as u8).collect();
            let states = States::new(&states, 6);
            let (mut of_machine, mut of_base) = ([0.0; 2], [0.0; 2]);
            machine.log_prob(states, &mut machine.new_cache(2), &mut of_machine).unwrap();
            base.log_prob(states, &mut base.new_cache(2), &mut of_base).unwrap();
            for beta in [0.0, 0.3, 1.0] {
                model.set_beta(beta);
                let mut cache = model.new_cache(2);
                let (mut log_prob, mut diff) = ([0.0; 2], vec![0.0; 2 * model.space().diff_len()]);
                let kind = Differences::Exact;
                model
                    .log_prob_and_diff(kind, states, &mut cache, &mut log_prob, &mut diff)
                    .unwrap();
                let mut brute = diff.clone();
                brute_force_diff(&model, states, &mut cache, &log_prob, &mut brute).unwrap();
                for (diff, brute) in diff.iter().zip(brute) {
                    assert!((diff - brute).abs() < 2e-5, "{diff}, {brute}");
                }
                for chain in 0..2 {
                    let of_base = of_base[chain] - base.log_normaliser();
                    let exact = (1.0 - beta) * of_base + beta * of_machine[chain];
                    assert!((log_prob[chain] - exact).abs() < 1e-9);
                    let state = states.row(chain);
                    let followed = model.follow(state, chain, &mut cache).unwrap();
                    assert!((followed - exact).abs() < 1e-6);
                    let mut by_site = vec![0.0; values];
                    model.site_diff(state, chain, &mut cache, 2, &mut by_site).unwrap();
                    for (value, change) in by_site.iter().enumerate() {
                        let mut changed = state.to_vec();
                        changed[2] = value as u8;
                        let there = model.follow(&changed, chain, &mut cache).unwrap();
                        assert!((there - followed - change).abs() < 1e-5);
                        model.follow(state, chain, &mut cache).unwrap();
                    }
                    if beta > 0.0 {
                        let slope = model.slope(state, log_prob[chain]);
                        assert!((slope - (of_machine[chain] - of_base)).abs() < 1e-9);
                    }
                }
            }
        }
    }
}
