//! Chains that a sampler moves, on the path of geometric means between independent sites and the
//! model.

use super::block::{Chains, Walk};
use super::ladder::Visit;
use super::pilot::Scales;
use super::tempered::Tempered;
use crate::kernel::transition::WithKernel;
use crate::kernel::{Kernel, StepError, StepReport};
use crate::model::Model;
use crate::model::independent::Independent;
use crate::run::Settings;
use std::sync::Arc;

/// The chains of a block under one kernel.
pub(super) struct Sampled<'a, M: Model, K: Kernel<Tempered<'a, M>>> {
    model: Tempered<'a, M>,
    kernel: K,
    memory: K::Memory,
    scales: Scales,
    reports: Vec<StepReport>,
}

/// The walk of that many chains by the sampler of the settings.
pub(super) fn walk<'a, M: Model>(
    model: &'a M,
    base: &Arc<Independent>,
    settings: &Settings,
    chains: usize,
    scales: Scales,
) -> Box<dyn Walk + 'a> {
    let tempered = || Tempered::new(model, base.clone());
    let user = NewWalk { model: tempered(), chains, scales };
    settings.transition().with_kernel(&tempered(), user)
}

struct NewWalk<'a, M: Model> {
    model: Tempered<'a, M>,
    chains: usize,
    scales: Scales,
}

impl<'a, M: Model> WithKernel<'a, Tempered<'a, M>> for NewWalk<'a, M> {
    type Output = Box<dyn Walk + 'a>;

    fn with<K>(self, kernel: K) -> Self::Output
    where
        K: Kernel<Tempered<'a, M>> + 'a,
        K::Memory: 'a,
    {
        let Self { model, chains, scales } = self;
        Box::new(Sampled {
            memory: kernel.new_memory(&model, chains),
            model,
            kernel,
            scales,
            reports: vec![StepReport::default(); chains],
        })
    }
}

impl<'a, M: Model, K: Kernel<Tempered<'a, M>>> Walk for Sampled<'a, M, K> {
    fn visit(&mut self, visit: &Visit, chains: &mut Chains) -> Result<(), StepError> {
        let Self { model, kernel, memory, scales, reports } = self;
        let scale = scales.at(visit.beta);
        model.set_beta(visit.beta);
        kernel.start(scale, model, &mut chains.position, memory)?;
        if visit.to > visit.from {
            for (chain, log_weight) in chains.log_weights.iter_mut().enumerate() {
                let position = &chains.position;
                let slope = model.slope(position.state(chain), position.log_prob[chain]);
                *log_weight += (visit.to - visit.from) * slope;
            }
        }
        if visit.moves {
            kernel.step(scale, model, &mut chains.position, memory, &mut chains.rngs, reports)?;
            for (sum, report) in chains.acceptance.iter_mut().zip(&*reports) {
                *sum += report.acceptance;
            }
        }
        Ok(())
    }
}
