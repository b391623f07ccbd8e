//! Chains of a Boltzmann machine that redraw all hidden units, then all sites.
//!
//! Annealing multiplies the energy of both layers: log f(v) = (1 − β) log p(v) + β b·v +
//! Σₘ softplus(β aₘ(v)), where aₘ is the input of hidden unit m. The layers stay independent given each
//! other at every temperature, so a step needs no acceptance test and can change everything
//! (Salakhutdinov and Murray 2008). At β = 0 the hidden units are fair coins.

use super::block::{Chains, Walk};
use super::ladder::Visit;
use crate::kernel::{StepError, check_start};
use crate::math::vectorised;
use crate::model::Model;
use crate::model::independent::Independent;
use crate::model::rbm::{Draws, Rbm, RbmCache, softplus_gain};
use std::sync::Arc;

/// The chains of a block.
pub(super) struct Alternating<'a> {
    machine: &'a Rbm,
    base: Arc<Independent>,
    log_normaliser: f64,
    cache: RbmCache,
    /// Inputs of one chain's hidden units at the machine's own temperature.
    hidden_inputs: Vec<f64>,
    /// The hidden units of every chain, β where they are on.
    units: Vec<f32>,
    visible_inputs: Vec<f32>,
    /// Biases of the sites at the present temperature.
    bias: Vec<f32>,
    draws: Draws,
}

/// log Z where annealing starts: independent sites, and a fair coin for every hidden unit.
pub(super) fn log_base(machine: &Rbm) -> f64 {
    machine.hidden() as f64 * std::f64::consts::LN_2
}

impl<'a> Alternating<'a> {
    pub(super) fn new(machine: &'a Rbm, base: Arc<Independent>, chains: usize) -> Self {
        let (space, row) = (machine.space(), machine.row_length());
        Self {
            machine,
            log_normaliser: base.log_normaliser(),
            base,
            cache: machine.new_cache(chains),
            hidden_inputs: vec![0.0; row],
            units: vec![0.0; chains * row],
            visible_inputs: vec![0.0; chains * space.diff_len()],
            bias: vec![0.0; space.diff_len()],
            draws: Draws::new(space, row),
        }
    }
}

impl Walk for Alternating<'_> {
    fn visit(&mut self, visit: &Visit, chains: &mut Chains) -> Result<(), StepError> {
        let Self { machine, base, cache, hidden_inputs, units, draws, .. } = self;
        let row = machine.row_length();
        for (chain, units) in units.chunks_exact_mut(row).enumerate() {
            let state = chains.position.state(chain);
            machine.hidden_inputs(state, chain, cache, hidden_inputs);
            if visit.to > visit.from {
                let of_base = base.log_prob_of(state) - self.log_normaliser;
                let slope = machine.visible_log_prob(state) - of_base;
                let gain = vectorised(
                    #[inline(always)]
                    || softplus_gain(hidden_inputs, visit.from, visit.to),
                );
                let log_weight = chains.log_weights[chain] + (visit.to - visit.from) * slope + gain;
                chains.log_weights[chain] = check_start(chain, log_weight)?;
            }
            if visit.moves {
                for (unit, input) in units.iter_mut().zip(&*hidden_inputs) {
                    *unit = (visit.beta * input) as f32;
                }
                draws.units(&mut chains.rngs[chain], units, visit.beta as f32);
            }
        }
        if visit.moves {
            self.redraw_sites(visit.beta, chains);
        }
        Ok(())
    }
}

impl Alternating<'_> {
    fn redraw_sites(&mut self, beta: f64, chains: &mut Chains) {
        let (share, beta) = ((1.0 - beta) as f32, beta as f32);
        let biases = self.machine.visible_biases().iter().zip(self.base.log_weights());
        for (bias, (own, of_base)) in self.bias.iter_mut().zip(biases) {
            *bias = share * of_base + beta * own;
        }
        self.machine.visible_inputs(&self.units, &mut self.visible_inputs);
        let inputs = self.visible_inputs.chunks_exact_mut(self.bias.len());
        for (chain, inputs) in inputs.enumerate() {
            let state = chains.position.state_mut(chain);
            self.draws.sites(&mut chains.rngs[chain], inputs, &self.bias, state);
            chains.acceptance[chain] += 1.0;
        }
    }
}
