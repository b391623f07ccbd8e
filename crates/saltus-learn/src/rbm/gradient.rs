//! An RBM as a model that can be learnt: its parameters in one list, and the gradient of log π.
//!
//! The list has a row of hidden units per site and value, site after site (with two values, per site); then the
//! biases of the hidden units; then those of the sites, in the order of the rows.

use crate::learnable::Learnable;
use rayon::prelude::*;
use saltus::engine::{SamplerBlock, kernel_block};
use saltus::kernel::layers::LayerGibbs;
use saltus::math::{logistic, vectorised};
use saltus::model::rbm::RbmCache;
use saltus::{ChainRng, Model, ModelError, Rbm, Space, States};
use std::sync::Arc;

/// Sites that one task adds up.
const SITES: usize = 16;
/// States that one task looks at.
const BLOCK: usize = 12;

/// Memory of a batch.
pub struct RbmWork {
    blocks: Vec<Block>,
    /// Probability of on of every hidden unit of every state.
    on: Vec<f32>,
}

struct Block {
    cache: RbmCache,
    inputs: Vec<f64>,
    /// Sum of log π.
    log_prob: f64,
}

impl Block {
    fn new(rbm: &Rbm) -> Self {
        Self { cache: rbm.new_cache(BLOCK), inputs: vec![0.0; rbm.row_length()], log_prob: 0.0 }
    }

    /// Hidden units and log π of some states.
    fn look(&mut self, rbm: &Rbm, states: &[u8], on: &mut [f32]) {
        let (sites, row) = (rbm.space().sites(), rbm.row_length());
        self.log_prob = 0.0;
        let rows = states.chunks_exact(sites).zip(on.chunks_exact_mut(row));
        for (chain, (state, on)) in rows.enumerate() {
            self.log_prob += look(rbm, (state, chain), &mut self.cache, &mut self.inputs, on);
        }
    }
}

/// Fills in the hidden units' probabilities of being on, given a state, and returns its log π.
fn look(
    rbm: &Rbm,
    (state, chain): (&[u8], usize),
    cache: &mut RbmCache,
    inputs: &mut [f64],
    on: &mut [f32],
) -> f64 {
    rbm.hidden_inputs(state, chain, cache, inputs);
    let hidden = vectorised(
        #[inline(always)]
        || {
            // Sixteen sums, in an order that does not depend on registers.
            let mut sums = [0.0f64; 16];
            let rows = inputs.as_chunks::<16>().0.iter().zip(on.as_chunks_mut::<16>().0);
            for (inputs, on) in rows {
                for lane in 0..16 {
                    let (log, probability, _) = logistic(inputs[lane] as f32);
                    sums[lane] += inputs[lane].max(0.0) + f64::from(log);
                    on[lane] = probability;
                }
            }
            sums.iter().sum::<f64>()
        },
    );
    // What fills the row up has input zero: on half the time, as far as the loop knows.
    let filling = rbm.row_length() - rbm.hidden();
    on[rbm.hidden()..].fill(0.0);
    hidden - filling as f64 * std::f64::consts::LN_2 + rbm.visible_log_prob(state)
}

/// The row of a value of a site among its site's; with two values there is one for value 1 alone.
fn row_of(space: &Space, value: u8) -> Option<usize> {
    match (space.is_binary(), value) {
        (true, 0) => None,
        (true, _) => Some(0),
        (false, value) => Some(usize::from(value)),
    }
}

fn add(sums: &mut [f32], factor: f32, terms: &[f32]) {
    vectorised(
        #[inline(always)]
        || {
            for (sum, term) in sums.iter_mut().zip(terms) {
                *sum += factor * term;
            }
        },
    );
}

/// The weights as [hidden, site, value], or [hidden, site] with two values.
pub(super) fn weights_by_unit(parameters: &[f32], table: usize, hidden: usize) -> Vec<f32> {
    let mut weight = vec![0.0; table * hidden];
    for (row, units) in parameters[..table * hidden].chunks_exact(hidden).enumerate() {
        for (unit, number) in units.iter().enumerate() {
            weight[unit * table + row] = *number;
        }
    }
    weight
}

impl Learnable for Rbm {
    type Work = RbmWork;

    fn new_work(&self, batch: usize) -> RbmWork {
        RbmWork {
            blocks: (0..batch.div_ceil(BLOCK)).map(|_| Block::new(self)).collect(),
            on: vec![0.0; batch * self.row_length()],
        }
    }

    fn parameters(&self) -> Vec<f32> {
        let (sites, values, hidden) = (self.space().sites(), self.space().values(), self.hidden());
        let first = if self.space().is_binary() { 1 } else { 0 };
        let rows =
            (0..sites).flat_map(|site| (first..values).map(move |value| (site, value as u8)));
        let weights = rows
            .clone()
            .flat_map(|(site, value)| (0..hidden).map(move |unit| self.weight(unit, site, value)));
        let hidden_bias = (0..hidden).map(|unit| self.hidden_bias(unit));
        let bias = |(site, value): (usize, u8)| {
            self.visible_biases()[(usize::from(value) - first) * sites + site]
        };
        weights.chain(hidden_bias).chain(rows.map(bias)).collect()
    }

    fn set_parameters(&mut self, parameters: &[f32]) -> Result<(), ModelError> {
        let (table, hidden) = (self.space().diff_len(), self.hidden());
        let biases = &parameters[table * hidden..];
        let weight = weights_by_unit(parameters, table, hidden);
        let (hidden_bias, visible_bias) = biases.split_at(hidden);
        let values = self.space().values();
        *self = Self::new(values, &weight, hidden_bias, visible_bias, self.data_mean())?;
        Ok(())
    }

    fn add_gradient(
        &self,
        state: &[u8],
        share: f32,
        gradient: &mut [f32],
    ) -> Result<(), ModelError> {
        let (planes, hidden) = (self.space().planes(), self.hidden());
        let mut on = vec![0.0; self.row_length()];
        let mut inputs = vec![0.0; self.row_length()];
        look(self, (state, 0), &mut self.new_cache(1), &mut inputs, &mut on);
        let (weights, biases) = gradient.split_at_mut(self.space().diff_len() * hidden);
        let (hidden_bias, visible_bias) = biases.split_at_mut(hidden);
        for (site, value) in state.iter().enumerate() {
            if let Some(row) = row_of(self.space(), *value) {
                let row = site * planes + row;
                visible_bias[row] += share;
                add(&mut weights[row * hidden..(row + 1) * hidden], share, &on);
            }
        }
        add(hidden_bias, share, &on);
        Ok(())
    }

    /// A task owns its sites and adds the states up in order, so that the sums do not depend on threads.
    fn add_mean_gradient(
        &self,
        states: States<'_>,
        share: f32,
        work: &mut RbmWork,
        gradient: &mut [f32],
    ) -> Result<f64, ModelError> {
        let (sites, planes) = (self.space().sites(), self.space().planes());
        let (hidden, length, count) = (self.hidden(), self.row_length(), states.chains());
        let RbmWork { blocks, on } = work;
        blocks.resize_with(blocks.len().max(count.div_ceil(BLOCK)), || Block::new(self));
        on.resize(on.len().max(count * length), 0.0);
        let on = &mut on[..count * length];
        let looks = states.bytes().par_chunks(BLOCK * sites).zip(on.par_chunks_mut(BLOCK * length));
        looks.zip(&mut *blocks).for_each(|((states, on), block)| block.look(self, states, on));
        let on = &*on;
        let share = share / count as f32;
        let (weights, biases) = gradient.split_at_mut(sites * planes * hidden);
        let (hidden_bias, visible_bias) = biases.split_at_mut(hidden);
        weights
            .par_chunks_mut(SITES * planes * hidden)
            .zip(visible_bias.par_chunks_mut(SITES * planes))
            .enumerate()
            .for_each(|(chunk, (weights, bias))| {
                let rows = weights.chunks_exact_mut(planes * hidden);
                for (local, (weights, bias)) in rows.zip(bias.chunks_exact_mut(planes)).enumerate()
                {
                    let site = chunk * SITES + local;
                    let values = states.bytes()[site..].iter().step_by(sites);
                    for (value, on) in values.zip(on.chunks_exact(length)) {
                        if let Some(row) = row_of(self.space(), *value) {
                            bias[row] += share;
                            add(&mut weights[row * hidden..(row + 1) * hidden], share, on);
                        }
                    }
                }
            });
        for on in on.chunks_exact(length) {
            add(hidden_bias, share, on);
        }
        let log_probs = blocks.iter().take(count.div_ceil(BLOCK)).map(|block| block.log_prob);
        Ok(log_probs.sum::<f64>() / count as f64)
    }

    /// Layer by layer: all hidden units, then all sites.
    fn own_block<'a>(
        &self,
        first_chain: usize,
        states: Vec<u8>,
        rngs: Vec<ChainRng>,
    ) -> Option<SamplerBlock<'a, Self>>
    where
        Self: 'a,
    {
        Some(kernel_block(self, Arc::new(LayerGibbs), first_chain, states, rngs, None))
    }
}
