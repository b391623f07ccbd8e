//! Transition matrices of every kernel on tiny models, enumerated through the real code: π must
//! stay as it is, and known wrong kernels must be told apart.

mod candidates;
mod clamped;
mod clusters;
mod conditionals;
mod constraints;
mod factor_graphs;
mod factorised;
mod forbidden;
mod jumps;
mod ladders;
mod layers;
mod mixed;
mod mixing;
mod models;
mod paths;
mod rungs;
mod samplers;
mod sweeps;
mod tools;
mod wrong;
