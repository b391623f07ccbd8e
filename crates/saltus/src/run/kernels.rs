//! From the name of a sampler to its kernel.

use super::Settings;
use crate::kernel::Kernel;
use crate::kernel::block_gibbs::BlockGibbs;
use crate::kernel::conditional::Conditional;
use crate::kernel::gibbs::Gibbs;
use crate::kernel::hamming_ball::HammingBall;
use crate::kernel::local_change::LocalChange;
use crate::kernel::metropolis::Metropolis;
use crate::kernel::path::PathProposal;
use crate::kernel::random_walk::RandomWalk;
use crate::kernel::row::RowFormula;
use crate::kernel::row_table::Rows;
use crate::model::{Differences, Model};
use crate::sampler::Sampler;

/// What is done with a kernel, whichever it is.
pub(crate) trait UseKernel<'a, M: Model> {
    /// What comes of it.
    type Output;

    /// Does it.
    fn call<K: Kernel<M> + 'a>(self, kernel: K) -> Self::Output
    where
        K::Memory: 'a;
}

/// Hands the kernel that the settings name to `user`.
pub(crate) fn with_kernel<'a, M: Model + 'a, U: UseKernel<'a, M>>(
    model: &M,
    settings: &Settings,
    user: U,
) -> U::Output {
    let &Settings { sampler, weight, differences, solver, .. } = settings;
    let rows = |formula| Metropolis(Rows { formula, weight, differences });
    match sampler {
        Sampler::Rwm => user.call(RandomWalk),
        Sampler::Hb => user.call(Conditional(HammingBall)),
        Sampler::Bg => user.call(Conditional(BlockGibbs)),
        Sampler::Gibbs => user.call(Conditional(Gibbs)),
        Sampler::Lb1 | Sampler::Gwg | Sampler::Pas => {
            let differences = match sampler {
                Sampler::Lb1 => Differences::Exact,
                _ => differences,
            };
            // One change is followed; a path of many is quicker drawn from a whole evaluation.
            if sampler != Sampler::Pas && LocalChange::suits(model, differences) {
                user.call(LocalChange { weight })
            } else {
                user.call(Metropolis(PathProposal { weight, differences }))
            }
        }
        Sampler::Dmala => user.call(rows(RowFormula::Normalised)),
        Sampler::Dlmcf => user.call(rows(RowFormula::Euler)),
        Sampler::Dlmc => user.call(rows(solver.formula())),
    }
}
