//! The gradient of the training loss, and one update of all parameters along it.
//!
//! The loss is the mean of log π over the chains minus its mean over the data.

use super::adam::{Moments, Step};
use super::gibbs::{BLOCK, Workspace};
use super::machine::Machine;
use crate::data::Examples;
use crate::math::vectorised;
use crate::rng::ChainRng;
use rayon::prelude::*;

/// Sites that one task adds up and updates.
const SITES: usize = 16;

/// States, and what the machine makes of them.
#[derive(Clone, Debug)]
pub(super) struct Phase {
    pub(super) states: Vec<u8>,
    /// Probability of on of every hidden unit.
    on: Vec<f32>,
    log_prob: Vec<f64>,
}

impl Phase {
    pub(super) fn new(machine: &Machine, count: usize) -> Self {
        Self {
            states: vec![0; count * machine.space.sites()],
            on: vec![0.0; count * machine.stride],
            log_prob: vec![0.0; count],
        }
    }

    /// Keeps room for that many states, whose content is left to the next call.
    pub(super) fn resize(&mut self, machine: &Machine, count: usize) {
        self.states.resize(count * machine.space.sites(), 0);
        self.on.resize(count * machine.stride, 0.0);
        self.log_prob.resize(count, 0.0);
    }

    /// Takes over examples.
    pub(super) fn show(
        &mut self,
        machine: &Machine,
        (examples, batch): (&Examples, &[u32]),
        rngs: &mut [ChainRng],
        work: &mut [Workspace],
    ) {
        self.resize(machine, batch.len());
        self.blocks(machine, rngs, work).zip(batch.par_chunks(BLOCK)).for_each(|(block, batch)| {
            let sites = machine.space.sites();
            let Block { states, rngs, .. } = block;
            for ((index, rng), state) in
                batch.iter().zip(rngs.iter_mut()).zip(states.chunks_exact_mut(sites))
            {
                examples.fill(*index as usize, rng, state);
            }
        });
    }

    /// Moves all states by block Gibbs steps.
    pub(super) fn walk(
        &mut self,
        machine: &Machine,
        steps: usize,
        rngs: &mut [ChainRng],
        work: &mut [Workspace],
    ) {
        self.blocks(machine, rngs, work).for_each(|block| {
            machine.gibbs(block.states, block.rngs, steps, block.work);
        });
    }

    /// Hidden units and log π of all states.
    pub(super) fn look(
        &mut self,
        machine: &Machine,
        rngs: &mut [ChainRng],
        work: &mut [Workspace],
    ) {
        let sites = machine.space.sites();
        self.blocks(machine, rngs, work).for_each(|block| {
            for ((state, on), log_prob) in block
                .states
                .chunks_exact(sites)
                .zip(block.on.chunks_exact_mut(machine.stride))
                .zip(block.log_prob)
            {
                *log_prob = machine.look(state, block.work, on);
            }
        });
    }

    /// Mean of log π over the states.
    pub(super) fn mean_log_prob(&self) -> f64 {
        self.log_prob.iter().sum::<f64>() / self.log_prob.len() as f64
    }

    /// Mean reconstruction error over the states.
    pub(super) fn reconstruction_error(&self, machine: &Machine, work: &mut Workspace) -> f64 {
        let errors = self
            .states
            .chunks_exact(machine.space.sites())
            .zip(self.on.chunks_exact(machine.stride))
            .map(|(state, on)| machine.reconstruction_error(state, on, work));
        errors.sum::<f64>() / self.log_prob.len() as f64
    }

    fn blocks<'p>(
        &'p mut self,
        machine: &Machine,
        rngs: &'p mut [ChainRng],
        work: &'p mut [Workspace],
    ) -> impl IndexedParallelIterator<Item = Block<'p>> {
        let count = self.log_prob.len();
        self.states
            .par_chunks_mut(BLOCK * machine.space.sites())
            .zip(self.on.par_chunks_mut(BLOCK * machine.stride))
            .zip(self.log_prob.par_chunks_mut(BLOCK))
            .zip(rngs[..count].par_chunks_mut(BLOCK))
            .zip(work)
            .map(|((((states, on), log_prob), rngs), work)| Block {
                states,
                on,
                log_prob,
                rngs,
                work,
            })
    }
}

/// A few states of a phase, for one thread.
struct Block<'p> {
    states: &'p mut [u8],
    on: &'p mut [f32],
    log_prob: &'p mut [f64],
    rngs: &'p mut [ChainRng],
    work: &'p mut Workspace,
}

/// The gradient of the loss in the layout of the RBM's parameters.
#[derive(Clone, Debug)]
pub(super) struct Gradient {
    pub(super) weights: Vec<f32>,
    pub(super) hidden_bias: Vec<f32>,
    pub(super) visible_bias: Vec<f32>,
}

impl Gradient {
    pub(super) fn new(machine: &Machine) -> Self {
        Self {
            weights: vec![0.0; machine.weights.len()],
            hidden_bias: vec![0.0; machine.hidden_bias.len()],
            visible_bias: vec![0.0; machine.visible_bias.len()],
        }
    }

    /// Computes it from the data and the chains. A task owns its sites and adds the states up in
    /// order, so that the sums do not depend on threads.
    pub(super) fn fill(&mut self, machine: &Machine, data: &Phase, chains: &Phase) {
        let (sites, planes, stride) =
            (machine.space.sites(), machine.space.planes(), machine.stride);
        let phases = [(data, -1.0), (chains, 1.0)]
            .map(|(phase, sign)| (phase, sign / phase.log_prob.len() as f32));
        self.weights
            .par_chunks_mut(SITES * planes * stride)
            .zip(self.visible_bias.par_chunks_mut(SITES * planes))
            .enumerate()
            .for_each(|(chunk, (weights, bias))| {
                weights.fill(0.0);
                bias.fill(0.0);
                for (local, (weights, bias)) in weights
                    .chunks_exact_mut(planes * stride)
                    .zip(bias.chunks_exact_mut(planes))
                    .enumerate()
                {
                    let site = chunk * SITES + local;
                    for (phase, share) in phases {
                        let values = phase.states[site..].iter().step_by(sites);
                        for (value, on) in values.zip(phase.on.chunks_exact(stride)) {
                            // With two values, there is a row for value 1 alone.
                            let row = match (planes, *value) {
                                (1, 0) => continue,
                                (1, _) => 0,
                                (_, value) => usize::from(value),
                            };
                            bias[row] += share;
                            add(&mut weights[row * stride..(row + 1) * stride], share, on);
                        }
                    }
                }
            });
        self.hidden_bias.fill(0.0);
        for (phase, share) in phases {
            for on in phase.on.chunks_exact(stride) {
                add(&mut self.hidden_bias, share, on);
            }
        }
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

/// Adam's memory of all parameters of an RBM.
#[derive(Clone, Debug)]
pub(super) struct Learner {
    weights: Moments,
    hidden_bias: Moments,
    visible_bias: Moments,
}

impl Learner {
    pub(super) fn new(machine: &Machine) -> Self {
        Self {
            weights: Moments::new(machine.weights.len()),
            hidden_bias: Moments::new(machine.hidden_bias.len()),
            visible_bias: Moments::new(machine.visible_bias.len()),
        }
    }

    /// Moves the parameters of an RBM.
    pub(super) fn update(&mut self, machine: &mut Machine, gradient: &Gradient, step: Step) {
        for (parameters, gradient, moments) in [
            (&mut machine.weights, &gradient.weights, &mut self.weights),
            (&mut machine.hidden_bias, &gradient.hidden_bias, &mut self.hidden_bias),
            (&mut machine.visible_bias, &gradient.visible_bias, &mut self.visible_bias),
        ] {
            let length = SITES * machine.stride;
            parameters
                .par_chunks_mut(length)
                .zip(gradient.par_chunks(length))
                .zip(moments.first.par_chunks_mut(length))
                .zip(moments.second.par_chunks_mut(length))
                .for_each(|(((parameters, gradient), first), second)| {
                    vectorised(
                        #[inline(always)]
                        || step.apply(parameters, gradient, (first, second)),
                    );
                });
        }
        machine.pack();
    }
}
