//! Every sampler by name, with everything that can be chosen about its transitions.

use super::tools::{At, DOUBLE, Matrix, SINGLE, check_law, transitions_at};
use crate::balancing::Balancing;
use crate::closeness::Closeness;
use crate::kernel::gibbs::Scan;
use crate::kernel::local_change::LocalChange;
use crate::kernel::options::WithKernel;
use crate::kernel::path::PathProposal;
use crate::kernel::row::RowFormula;
use crate::kernel::rows::Rows;
use crate::kernel::solver::Solver;
use crate::kernel::{Kernel, Kind, ScaleUnit, dlmc, lb1, pas};
use crate::model::{Differences, Model};
use crate::sampler::{Method, Sampler};

/// Every sampler of any model whose draws are not weighted, with every balancing function, both kinds of
/// differences, every solver and every scan.
pub(super) fn unweighted() -> Vec<Sampler> {
    let mut samplers = Vec::new();
    let general = Method::ALL.iter().copied().filter(|method| method.is_general());
    for method in general.filter(|method| !method.is_weighted()) {
        let plain = Sampler::new(method);
        match method {
            Method::Gibbs => {
                samplers
                    .extend([Scan::Sweep, Scan::One].map(|scan| Sampler { scan, ..plain.clone() }));
            }
            _ if !method.is_balanced() => samplers.push(plain),
            _ => {
                for balancing in Balancing::ALL {
                    for differences in [Differences::Taylor, Differences::Exact] {
                        samplers.push(Sampler { balancing, differences, ..plain.clone() });
                    }
                }
            }
        }
    }
    for solver in Solver::ALL.into_iter().skip(1) {
        samplers.push(Sampler { solver, ..Sampler::dlmc() });
    }
    samplers
}

/// The same with one balancing function each.
pub(super) fn one_of_each() -> Vec<Sampler> {
    let of_default = |sampler: &Sampler| sampler.balancing == Balancing::default();
    unweighted().into_iter().filter(of_default).collect()
}

/// What a sampler is called in a failed test.
pub(super) fn name_of(sampler: &Sampler) -> String {
    let Sampler { balancing, differences, solver, scan, .. } = sampler;
    format!("{sampler} ({balancing}, {differences:?}, {solver}, {scan:?})")
}

/// A scale that lets it move, and sometimes be rejected.
pub(super) fn scale_of<M: Model>(model: &M, sampler: &Sampler) -> f64 {
    match sampler.traits(model.space()).scale.map(|scale| scale.unit) {
        None => 1.0,
        Some(ScaleUnit::StepSize) => 0.6,
        Some(ScaleUnit::Radius) => 1.5,
    }
}

/// A sweep in a fixed order is the only one that is not reversible.
pub(super) fn is_reversible(sampler: &Sampler) -> bool {
    (sampler.method, sampler.scan) != (Method::Gibbs, Scan::Sweep)
}

/// How well it keeps π: rows of all sites are single precision.
pub(super) fn tolerance_of<M: Model>(model: &M, sampler: &Sampler) -> f64 {
    match sampler.traits(model.space()).kind {
        Kind::AllSites => SINGLE,
        Kind::WithoutDifferences | Kind::FewSites | Kind::Structure => DOUBLE,
    }
}

struct Law<'t, M> {
    model: &'t M,
    at: &'t At,
}

impl<'a, M: Model + 'a> WithKernel<'a, M> for Law<'_, M> {
    type Output = Matrix;

    fn with<K>(self, kernel: K) -> Matrix
    where
        K: Kernel<M> + 'a,
        K::Scratch: 'a,
        K::Own: 'a,
    {
        transitions_at(self.model, &kernel, self.at)
    }
}

/// The exact law of one step of a sampler from every state.
pub(super) fn law_of<M: Model>(model: &M, sampler: &Sampler, at: &At) -> Matrix {
    sampler.with_kernel(model, Law { model, at })
}

/// Checks that a sampler leaves the density at a place as it is.
pub(super) fn check_sampler<M: Model>(
    name: &str,
    model: &M,
    sampler: &Sampler,
    at: &At,
    tolerance: f64,
) {
    let name = format!("{} on {name} at β = {}", name_of(sampler), at.beta);
    let law = law_of(model, sampler, at);
    check_law(&name, &at.density(model), &law, is_reversible(sampler), tolerance);
}

/// The proposal of DLMC, DLMCf and DMALA.
pub(super) fn rows(
    formula: RowFormula,
    balancing: Balancing,
    differences: Differences,
    closeness: Closeness,
) -> Rows {
    Rows { traits: dlmc::traits, formula, balancing, differences, closeness }
}

/// The proposal of PAS, GWG and LB-1.
pub(super) fn path(
    balancing: Balancing,
    differences: Differences,
    closeness: Closeness,
) -> PathProposal {
    PathProposal { traits: pas::traits, balancing, differences, closeness }
}

/// GWG and LB-1 by neighbourhoods.
pub(super) fn local(balancing: Balancing, closeness: Closeness) -> LocalChange {
    LocalChange { traits: lb1::traits, balancing, closeness }
}
