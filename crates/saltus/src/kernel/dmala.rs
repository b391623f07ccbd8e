//! Discrete MALA (DMALA; Zhang, Liu and Liu 2022, eq. 5): every site at once, the rates of its changes
//! normalised to a row, rⱼ ∝ h·g(e^Δⱼ), rᵢ ∝ 1, and a Metropolis–Hastings test.
//!
//! Their step size α is h = e^(−1/(2α)), which is below one. A larger h would flip every site of flat ground to and
//! fro, so it can be neither tuned nor set.

use super::metropolis::Metropolis;
use super::options::{Options, WithKernel};
use super::row::RowFormula;
use super::rows::Rows;
use super::{KernelTraits, Kind, ScaleTraits};
use crate::model::Model;
use crate::space::Space;

/// With this step size a step on flat ground is a fresh draw.
const LARGEST: f64 = 1.0;

/// What DMALA says of itself.
pub fn traits(space: &Space) -> KernelTraits {
    KernelTraits {
        name: "dmala",
        summary: "discrete MALA: all sites at once, normalised rates",
        reference: "Zhang, Liu and Liu 2022, A Langevin-like sampler for discrete distributions, ICML",
        kind: Kind::AllSites,
        is_balanced: true,
        has_solver: false,
        scale: Some(scale(space)),
        evaluations_charged: 4.0,
        is_weighted: false,
        is_tried: true,
    }
}

fn scale(space: &Space) -> ScaleTraits {
    let scale = ScaleTraits::step_size(space.changes(), LARGEST);
    ScaleTraits { allowed: (scale.allowed.0, LARGEST), ..scale }
}

pub(crate) fn with_kernel<'a, M: Model + 'a, W: WithKernel<'a, M>>(
    options: &Options,
    _model: &M,
    then: W,
) -> W::Output {
    let Options { balancing, differences, closeness, .. } = *options;
    then.with(Metropolis(Rows {
        traits,
        formula: RowFormula::Normalised,
        balancing,
        differences,
        closeness,
    }))
}
