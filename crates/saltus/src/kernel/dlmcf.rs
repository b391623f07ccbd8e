//! DLMC by forward Euler (DLMCf; Sun et al. 2023, eq. 19), clipped at the conditional distribution so that
//! it is a distribution for every step: rⱼ = min(h·g(e^Δⱼ), νⱼ), the rest stays.

use super::metropolis::Metropolis;
use super::options::{Options, WithKernel};
use super::row::RowFormula;
use super::rows::Rows;
use super::traits::SATURATED_STEP;
use super::{KernelTraits, Kind, ScaleTraits};
use crate::model::Model;
use crate::space::Space;

/// What DLMCf says of itself.
pub fn traits(space: &Space) -> KernelTraits {
    KernelTraits {
        name: "dlmcf",
        summary: "DLMC by clipped forward Euler: all sites at once",
        reference: "Sun, Dai, Dai, Zhou and Schuurmans 2023, Discrete Langevin samplers via Wasserstein gradient flow, AISTATS",
        kind: Kind::AllSites,
        is_balanced: true,
        has_solver: false,
        scale: Some(ScaleTraits::step_size(space.changes(), SATURATED_STEP)),
        evaluations_charged: 4.0,
        is_weighted: false,
        is_tried: true,
    }
}

pub(crate) fn with_kernel<'a, M: Model + 'a, W: WithKernel<'a, M>>(
    options: &Options,
    _model: &M,
    then: W,
) -> W::Output {
    let Options { balancing, differences, closeness, .. } = *options;
    then.with(Metropolis(Rows {
        traits,
        formula: RowFormula::Euler,
        balancing,
        differences,
        closeness,
    }))
}
