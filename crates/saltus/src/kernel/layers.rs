//! Gibbs sampling of a restricted Boltzmann machine layer by layer: all hidden units given the sites,
//! then all sites given the hidden units (Smolensky 1986; Hinton 2002).
//!
//! At an inverse temperature β both layers are annealed, log f(v) = (1 − β) log p(v) + β b·v +
//! Σₘ softplus(β aₘ(v)), where aₘ is the input of hidden unit m: the layers stay independent given each
//! other at every temperature, so that a step needs no acceptance test and can change everything
//! (Salakhutdinov and Murray 2008). At β = 0 the hidden units are fair coins.
//!
//! That is the path of annealing, [`LayerGibbs`]. Ladders stand on powers of π itself, where units count as β Σ softplus(aₘ)
//! instead: [`Layers`], the sampler, makes the same step there and accepts it by how much the two differ. At the model and at the base
//! they do not, and everything is accepted.

use super::options::{Options, WithKernel};
use super::{Chains, Kernel, KernelTraits, Kind, StepReport, accept, check_start};
use crate::base::Base;
use crate::error::{ModelError, StepError, StepFailure};
use crate::math::bytes::count_differences;
use crate::math::vectorised;
use crate::model::Model;
use crate::model::rbm::{Draws, Rbm, RbmCache, softplus_gain};
use crate::space::Space;

/// What Gibbs sampling by layers says of itself.
pub fn traits(_space: &Space) -> KernelTraits {
    KernelTraits {
        name: "layers",
        summary: "Gibbs by layers: all hidden units, then all sites of an RBM",
        reference: "Hinton 2002, Neural Computation 14; Salakhutdinov and Murray 2008, ICML",
        kind: Kind::Structure,
        is_balanced: false,
        has_solver: false,
        scale: None,
        evaluations_charged: 2.0,
        is_weighted: false,
        is_tried: true,
    }
}

pub(crate) fn with_kernel<'a, M: Model + 'a, W: WithKernel<'a, M>>(
    _options: &Options,
    _model: &M,
    then: W,
) -> W::Output {
    then.with(Layers)
}

/// Redraws all hidden units and all sites in turn.
#[derive(Clone, Copy, Debug)]
pub struct LayerGibbs;

/// What [`LayerGibbs`] keeps of a block of chains.
pub struct LayerScratch {
    cache: RbmCache,
    /// Inputs of every chain's hidden units at the model's own temperature.
    hidden_inputs: Vec<f64>,
    /// The hidden units of every chain, β where they are on.
    units: Vec<f32>,
    visible_inputs: Vec<f32>,
    /// Biases of the sites on the rung of one chain.
    bias: Vec<f32>,
    before: Vec<u8>,
    draws: Draws,
}

impl LayerScratch {
    /// The inputs of the hidden units of a chain.
    fn inputs(&self, rbm: &Rbm, chain: usize) -> &[f64] {
        let row = rbm.row_length();
        &self.hidden_inputs[chain * row..(chain + 1) * row]
    }
}

/// log Z where the path starts: independent sites, and a fair coin for every hidden unit.
pub fn log_base(rbm: &Rbm) -> f64 {
    rbm.hidden() as f64 * std::f64::consts::LN_2
}

/// Biases of the sites on a rung: those of the model and of the base.
fn fill_bias(rbm: &Rbm, base: Option<&Base>, beta: f64, bias: &mut [f32]) {
    let (share, beta) = ((1.0 - beta) as f32, beta as f32);
    match base {
        None => bias.copy_from_slice(rbm.visible_biases()),
        Some(base) => {
            let biases = rbm.visible_biases().iter().zip(base.log_weights());
            for (bias, (own, of_base)) in bias.iter_mut().zip(biases) {
                *bias = share * of_base + beta * own;
            }
        }
    }
}

impl Kernel<Rbm> for LayerGibbs {
    type Scratch = LayerScratch;
    type Own = ();

    fn traits(&self, model: &Rbm) -> KernelTraits {
        traits(model.space())
    }

    fn new_scratch(&self, rbm: &Rbm, chains: usize) -> LayerScratch {
        let (space, row) = (rbm.space(), rbm.row_length());
        LayerScratch {
            cache: rbm.new_cache(chains),
            hidden_inputs: vec![0.0; chains * row],
            units: vec![0.0; chains * row],
            visible_inputs: vec![0.0; chains * space.diff_len()],
            bias: vec![0.0; space.diff_len()],
            before: vec![0; space.sites()],
            draws: Draws::new(space, row),
        }
    }

    fn start(
        &self,
        rbm: &Rbm,
        chains: &mut Chains,
        scratch: &mut LayerScratch,
    ) -> Result<(), StepError> {
        let row = rbm.row_length();
        for chain in 0..chains.len() {
            let inputs = &mut scratch.hidden_inputs[chain * row..(chain + 1) * row];
            let state = chains.state(chain);
            rbm.hidden_inputs(state, chain, &mut scratch.cache, inputs);
            let log_prob = rbm.visible_log_prob(state) + log_base(rbm) + gain_from_zero(inputs);
            chains.log_prob[chain] = check_start(chain, log_prob)?;
        }
        chains.evaluate_base();
        Ok(())
    }

    /// What is kept does not depend on the rung.
    fn adjust(
        &self,
        _rbm: &Rbm,
        _chains: &mut Chains,
        _scratch: &mut LayerScratch,
    ) -> Result<(), StepError> {
        Ok(())
    }

    fn step(
        &self,
        rbm: &Rbm,
        chains: &mut Chains,
        scratch: &mut LayerScratch,
    ) -> Result<(), StepError> {
        let row = rbm.row_length();
        let LayerScratch { hidden_inputs, units, visible_inputs, bias, before, draws, .. } =
            scratch;
        let rows = units.chunks_exact_mut(row).zip(hidden_inputs.chunks_exact(row));
        for (number, (units, inputs)) in rows.enumerate() {
            let beta = chains.betas[number];
            for (unit, input) in units.iter_mut().zip(inputs) {
                *unit = (beta * input) as f32;
            }
            draws.units(&mut chains.rngs[number], units, beta as f32);
        }
        rbm.visible_inputs(units, visible_inputs);
        for (number, inputs) in visible_inputs.chunks_exact_mut(bias.len()).enumerate() {
            let chain = chains.chain(number);
            fill_bias(rbm, chain.rung.base, chain.rung.beta, bias);
            before.copy_from_slice(chain.state);
            draws.sites(chain.rng, inputs, bias, chain.state);
            let changed = count_differences(before, chain.state);
            *chain.report = StepReport { acceptance: 1.0, changed, evaluations: 1 };
        }
        self.start(rbm, chains, scratch)
    }

    fn log_gain(
        &self,
        rbm: &Rbm,
        chains: &Chains,
        scratch: &mut LayerScratch,
        chain: usize,
        (from, to): (f64, f64),
    ) -> f64 {
        let slope = rbm.visible_log_prob(chains.state(chain)) - chains.log_base[chain];
        let inputs = scratch.inputs(rbm, chain);
        let gain = vectorised(
            #[inline(always)]
            || softplus_gain(inputs, from, to),
        );
        (to - from) * slope + gain
    }
}

/// Σ softplus of the inputs, beyond what it is where all are zero.
fn gain_from_zero(inputs: &[f64]) -> f64 {
    vectorised(
        #[inline(always)]
        || softplus_gain(inputs, 0.0, 1.0),
    )
}

/// [`LayerGibbs`] for models of any type that say which RBM they are, on the path of powers of π.
#[derive(Clone, Copy, Debug)]
pub struct Layers;

/// What [`Layers`] keeps of a block of chains.
pub struct CorrectedScratch {
    layers: LayerScratch,
    before: Before,
}

/// Chains before a step, to go back to where it is not accepted.
#[derive(Default)]
struct Before {
    states: Vec<u8>,
    inputs: Vec<f64>,
    log_prob: Vec<f64>,
    log_base: Vec<f64>,
}

impl CorrectedScratch {
    fn new(rbm: &Rbm, chains: usize) -> Self {
        Self { layers: LayerGibbs.new_scratch(rbm, chains), before: Before::default() }
    }

    /// By how much the power of π exceeds the density that a step keeps at β, but for a constant.
    fn excess(inputs: &[f64], beta: f64) -> f64 {
        let gain = |to: f64| {
            vectorised(
                #[inline(always)]
                || softplus_gain(inputs, 0.0, to),
            )
        };
        beta * gain(1.0) - gain(beta)
    }

    /// Makes a step, and takes back what is not accepted.
    fn step(&mut self, rbm: &Rbm, chains: &mut Chains) -> Result<(), StepError> {
        if (0..chains.len()).all(|chain| chains.betas[chain] == 1.0) {
            return LayerGibbs.step(rbm, chains, &mut self.layers);
        }
        let Self { layers, before } = self;
        before.states.clone_from(&chains.states);
        before.inputs.clone_from(&layers.hidden_inputs);
        before.log_prob.clone_from(&chains.log_prob);
        before.log_base.clone_from(&chains.log_base);
        LayerGibbs.step(rbm, chains, layers)?;
        let (row, sites) = (rbm.row_length(), rbm.space().sites());
        for number in 0..chains.len() {
            let beta = chains.betas[number];
            if beta == 1.0 {
                continue;
            }
            let units = number * row..(number + 1) * row;
            let here = Self::excess(&layers.hidden_inputs[units.clone()], beta);
            let there = Self::excess(&before.inputs[units.clone()], beta);
            let (acceptance, accepted) = accept(number, here - there, &mut chains.rngs[number])?;
            chains.reports[number].acceptance = acceptance;
            if !accepted {
                let state = number * sites..(number + 1) * sites;
                chains.states[state.clone()].copy_from_slice(&before.states[state]);
                layers.hidden_inputs[units.clone()].copy_from_slice(&before.inputs[units]);
                chains.log_prob[number] = before.log_prob[number];
                if let Some(log_base) = chains.log_base.get_mut(number) {
                    *log_base = before.log_base[number];
                }
                chains.reports[number].changed = 0;
            }
        }
        Ok(())
    }
}

/// The RBM that a model is.
fn rbm_of<M: Model>(model: &M) -> Result<&Rbm, ModelError> {
    model.rbm().ok_or_else(|| {
        ModelError::invalid(
            "layers is for RBMs whose sites are all free: gibbs or dlmc sample the rest",
        )
    })
}

/// The same as a failure of the first chain.
fn known<M: Model>(model: &M) -> Result<&Rbm, StepError> {
    rbm_of(model).map_err(|error| StepError { chain: 0, cause: StepFailure::Model(error) })
}

impl<M: Model> Kernel<M> for Layers {
    type Scratch = Option<CorrectedScratch>;
    type Own = ();

    fn traits(&self, model: &M) -> KernelTraits {
        traits(model.space())
    }

    fn suits(&self, model: &M) -> Result<(), ModelError> {
        rbm_of(model).map(|_| ())
    }

    fn work(&self, model: &M) -> f64 {
        let hidden = model.rbm().map_or(0.0, |rbm| rbm.hidden() as f64);
        let entries = model.space().diff_len() as f64;
        // Two products, and a draw of every site.
        let (product, draw) = if model.space().is_binary() { (0.02, 0.5) } else { (0.034, 1.0) };
        product * hidden * entries + 5.0 * hidden + draw * entries
    }

    fn is_likely(&self, _model: &M) -> bool {
        true
    }

    fn new_scratch(&self, model: &M, chains: usize) -> Option<CorrectedScratch> {
        model.rbm().map(|rbm| CorrectedScratch::new(rbm, chains))
    }

    fn start(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Option<CorrectedScratch>,
    ) -> Result<(), StepError> {
        let rbm = known(model)?;
        let count = chains.len();
        let scratch = scratch.get_or_insert_with(|| CorrectedScratch::new(rbm, count));
        LayerGibbs.start(rbm, chains, &mut scratch.layers)
    }

    /// What is kept does not depend on the rung.
    fn adjust(
        &self,
        _model: &M,
        _chains: &mut Chains,
        _scratch: &mut Option<CorrectedScratch>,
    ) -> Result<(), StepError> {
        Ok(())
    }

    fn step(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Option<CorrectedScratch>,
    ) -> Result<(), StepError> {
        let rbm = known(model)?;
        let count = chains.len();
        scratch.get_or_insert_with(|| CorrectedScratch::new(rbm, count)).step(rbm, chains)
    }
}
