//! Discrete Langevin Monte Carlo (DLMC; Sun et al. 2023, eq. 18): every site follows its Wasserstein
//! gradient flow for a time h, rⱼ = νⱼ(1 − e^(−h·g(e^Δⱼ)/νⱼ)), the rest stays, and a Metropolis–Hastings
//! test. A [`Solver`](super::solver::Solver) may make the step of time otherwise.

use super::metropolis::Metropolis;
use super::options::{Options, WithKernel};

use super::rows::Rows;
use super::traits::SATURATED_STEP;
use super::{KernelTraits, Kind, ScaleTraits};
use crate::model::Model;
use crate::space::Space;

/// What DLMC says of itself.
pub fn traits(space: &Space) -> KernelTraits {
    KernelTraits {
        name: "dlmc",
        summary: "discrete Langevin Monte Carlo: all sites at once, interpolated in time",
        reference: "Sun, Dai, Dai, Zhou and Schuurmans 2023, Discrete Langevin samplers via Wasserstein gradient flow, AISTATS",
        kind: Kind::AllSites,
        is_balanced: true,
        has_solver: true,
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
        formula: options.solver.formula(),
        balancing,
        differences,
        closeness,
    }))
}
