//! What can be chosen about the kernel of a sampler, and how a kernel is handed on whatever its type.

use super::Kernel;
use super::gibbs::Scan;
use super::solver::Solver;
use crate::balancing::Balancing;
use crate::closeness::Closeness;
use crate::model::{Differences, Model};

/// Everything that decides the transitions of a sampler but their scale.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// The balancing function g, for samplers that have one.
    pub balancing: Balancing,
    /// How dlmc makes its rows.
    pub solver: Solver,
    /// The differences that proposals see.
    pub differences: Differences,
    /// How close the values of a site are to each other.
    pub closeness: Closeness,
    /// The sites that a step of gibbs redraws.
    pub scan: Scan,
}

/// What is to be done with a kernel, whichever it is.
pub trait WithKernel<'a, M: Model> {
    /// What comes of it.
    type Output;

    /// Does it.
    fn with<K>(self, kernel: K) -> Self::Output
    where
        K: Kernel<M> + 'a,
        K::Scratch: 'a,
        K::Own: 'a;
}
