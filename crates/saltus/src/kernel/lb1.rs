//! The locally balanced sampler of one site (LB-1; Zanella 2020, eq. 7): one change per step, drawn in
//! proportion to g(e^Δ) from the true differences, and a test.

use super::local_change::LocalChange;
use super::metropolis::Metropolis;
use super::options::{Options, WithKernel};
use super::path::PathProposal;
use super::{KernelTraits, Kind};
use crate::model::{Differences, Model};
use crate::space::Space;

/// What the locally balanced sampler says of itself.
pub fn traits(space: &Space) -> KernelTraits {
    KernelTraits {
        name: "lb1",
        summary: "locally balanced: one informed change per step, exact differences",
        reference: "Zanella 2020, Informed proposals for local MCMC in discrete spaces, JASA 115",
        kind: Kind::FewSites,
        is_balanced: true,
        has_solver: false,
        scale: None,
        evaluations_charged: 2.0 * (space.changes() as f64 + 1.0),
        is_weighted: false,
        is_tried: false,
    }
}

pub(crate) fn with_kernel<'a, M: Model + 'a, W: WithKernel<'a, M>>(
    options: &Options,
    model: &M,
    then: W,
) -> W::Output {
    let Options { balancing, closeness, .. } = *options;
    let differences = Differences::Exact;
    // One change is followed where the model can; else it is drawn from a whole evaluation.
    if LocalChange::suits(model, differences) {
        then.with(LocalChange { traits, balancing, closeness })
    } else {
        then.with(Metropolis(PathProposal { traits, balancing, differences, closeness }))
    }
}
