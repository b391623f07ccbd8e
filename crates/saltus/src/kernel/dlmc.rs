//! Discrete Langevin Monte Carlo (DLMC; Sun et al. 2023, eq. 18): every site follows its Wasserstein
//! gradient flow for a time h, rⱼ = νⱼ(1 − e^(−h·g(e^Δⱼ)/νⱼ)), the rest stays, and a Metropolis–Hastings
//! test. A [`Solver`] may make the step of time otherwise.

use super::metropolis::Metropolis;
use super::options::{Options, WithKernel};

use super::rows::Rows;
use super::solver::Solver;
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
        scale: Some(ScaleTraits::step_size(space.changes(), SATURATED_STEP)),
        evaluations_charged: 4.0,
        is_weighted: false,
    }
}

/// Towards Metropolised Gibbs a step on flat ground changes every site if it is long: a fresh draw has
/// (1 − e^(−h(C − 1))) / (C − 1) = 1/C; with two values h = ln 2.
fn metropolised_traits(space: &Space) -> KernelTraits {
    let values = space.values() as f64;
    let scale = ScaleTraits::step_size(space.changes(), values.ln() / (values - 1.0));
    KernelTraits { scale: Some(scale), ..traits(space) }
}

/// What DLMC with that solver says of itself.
pub fn of_solver(solver: Solver) -> fn(&Space) -> KernelTraits {
    match solver {
        Solver::Interpolate | Solver::Euler | Solver::Exact => traits,
        Solver::Metropolised => metropolised_traits,
    }
}

pub(crate) fn with_kernel<'a, M: Model + 'a, W: WithKernel<'a, M>>(
    options: &Options,
    _model: &M,
    then: W,
) -> W::Output {
    let Options { balancing, differences, closeness, .. } = *options;
    then.with(Metropolis(Rows {
        traits: of_solver(options.solver),
        formula: options.solver.formula(),
        balancing,
        differences,
        closeness,
    }))
}
