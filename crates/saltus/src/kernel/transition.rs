//! A transition by name: which kernel a sampler is on a model.

use super::Kernel;
use super::block_gibbs::BlockGibbs;
use super::closeness::Closeness;
use super::conditional::Conditional;
use super::gibbs::{Gibbs, Scan};
use super::hamming_ball::HammingBall;
use super::jump_process::{Jumps, LocalJumps};
use super::local_change::LocalChange;
use super::metropolis::Metropolis;
use super::path::PathProposal;
use super::random_walk::RandomWalk;
use super::row::RowFormula;
use super::row_table::Rows;
use crate::model::{Differences, Model};
use crate::sampler::Sampler;
use crate::solver::Solver;
use crate::weight::Weight;

/// A sampler with everything that decides its transitions but their scale.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Transition {
    /// The sampler.
    pub sampler: Sampler,
    /// Its weight function.
    pub weight: Weight,
    /// How dlmc makes its rows; the others have no choice.
    pub solver: Solver,
    /// The differences it sees.
    pub differences: Differences,
    /// How close values are to each other.
    pub closeness: Closeness,
    /// The sites that a step of gibbs redraws.
    pub scan: Scan,
}

/// What is to be done with a kernel, whichever it is.
pub(crate) trait WithKernel<'a, M: Model> {
    type Output;

    fn with<K>(self, kernel: K) -> Self::Output
    where
        K: Kernel<M> + 'a,
        K::Memory: 'a;
}

impl Transition {
    /// Does something with the kernel of this transition on a model.
    pub(crate) fn with_kernel<'a, M: Model + 'a, W: WithKernel<'a, M>>(
        self,
        model: &M,
        then: W,
    ) -> W::Output {
        let Self { sampler, weight, solver, differences, closeness, scan } = self;
        let rows = |formula| Metropolis(Rows { formula, weight, differences, closeness });
        match sampler {
            Sampler::Rwm => then.with(RandomWalk),
            Sampler::Hb => then.with(Conditional(HammingBall)),
            Sampler::Bg => then.with(Conditional(BlockGibbs)),
            Sampler::Gibbs => then.with(Conditional(Gibbs(scan))),
            Sampler::Lb1 | Sampler::Gwg | Sampler::Pas => {
                let differences = match sampler {
                    Sampler::Lb1 => Differences::Exact,
                    _ => differences,
                };
                // One change is followed; a path of many is quicker drawn from a whole evaluation.
                if sampler != Sampler::Pas && LocalChange::suits(model, differences) {
                    then.with(LocalChange { weight, closeness })
                } else {
                    then.with(Metropolis(PathProposal { weight, differences, closeness }))
                }
            }
            Sampler::Dld if LocalChange::suits(model, Differences::Exact) => {
                then.with(LocalJumps { weight, closeness })
            }
            Sampler::Dld => then.with(Jumps { weight, closeness }),
            Sampler::Dmala => then.with(rows(RowFormula::Normalised)),
            Sampler::Dlmcf => then.with(rows(RowFormula::Euler)),
            Sampler::Dlmc => then.with(rows(solver.formula())),
        }
    }
}
