//! The path-auxiliary sampler (PAS; Sun et al. 2022, algorithm 1): several informed changes of distinct
//! sites, one after the other, and one test for the whole path.

use super::metropolis::Metropolis;
use super::options::{Options, WithKernel};
use super::path::PathProposal;
use super::traits::INFORMED_ACCEPTANCE;
use super::{KernelTraits, Kind, ScaleTraits};
use crate::model::Model;
use crate::space::Space;

/// What PAS says of itself.
pub fn traits(space: &Space) -> KernelTraits {
    KernelTraits {
        name: "pas",
        summary: "path-auxiliary: a tuned number of informed changes per step",
        reference: "Sun, Dai, Xia and Ramamurthy 2022, Path auxiliary proposal for MCMC in discrete space, ICLR",
        kind: Kind::FewSites,
        is_balanced: true,
        has_solver: false,
        scale: Some(ScaleTraits::radius(
            space.free_sites(),
            fresh_share(space),
            INFORMED_ACCEPTANCE,
        )),
        evaluations_charged: 4.0,
        is_weighted: false,
        is_tried: true,
    }
}

/// The share of sites that a fresh draw on flat ground changes.
pub(super) fn fresh_share(space: &Space) -> f64 {
    let values = space.values() as f64;
    (values - 1.0) / values
}

pub(crate) fn with_kernel<'a, M: Model + 'a, W: WithKernel<'a, M>>(
    options: &Options,
    _model: &M,
    then: W,
) -> W::Output {
    let Options { balancing, differences, closeness, .. } = *options;
    then.with(Metropolis(PathProposal { traits, balancing, differences, closeness }))
}
