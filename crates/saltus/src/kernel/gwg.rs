//! Gibbs with gradients (GWG; Grathwohl et al. 2021, algorithm 1): one change per step, drawn in
//! proportion to g(e^Δ) from first-order differences, and a test.

use super::local_change::LocalChange;
use super::metropolis::Metropolis;
use super::options::{Options, WithKernel};
use super::path::PathProposal;
use super::{KernelTraits, Kind};
use crate::model::Model;
use crate::space::Space;

/// What Gibbs with gradients says of itself.
pub fn traits(_space: &Space) -> KernelTraits {
    KernelTraits {
        name: "gwg",
        summary: "Gibbs with gradients: one informed change per step",
        reference: "Grathwohl, Swersky, Hashemi, Duvenaud and Maddison 2021, Oops I took a gradient, ICML",
        kind: Kind::FewSites,
        is_balanced: true,
        has_solver: false,
        scale: None,
        evaluations_charged: 4.0,
        is_weighted: false,
        is_tried: true,
    }
}

pub(crate) fn with_kernel<'a, M: Model + 'a, W: WithKernel<'a, M>>(
    options: &Options,
    model: &M,
    then: W,
) -> W::Output {
    let Options { balancing, closeness, .. } = *options;
    let differences = options.differences;
    // One change is followed where the model can; else it is drawn from a whole evaluation.
    if LocalChange::suits(model, differences) {
        then.with(LocalChange { traits, balancing, closeness })
    } else {
        then.with(Metropolis(PathProposal { traits, balancing, differences, closeness }))
    }
}
