//! Transition matrices of every kernel on tiny models, enumerated through the real code: π must
//! stay as it is, and known wrong kernels must be told apart.

mod clamped;
mod conditionals;
mod factorised;
mod forbidden;
mod jumps;
mod layers;
mod mixed;
mod models;
mod paths;
mod rungs;
mod samplers;
mod tools;
mod wrong;
