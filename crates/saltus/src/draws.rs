//! What is taken from the states of a run, and where it goes.

pub mod linear;
pub mod magnet;
pub mod observable;
pub mod observer;
pub mod observers;
pub mod sink;
pub mod sites;
pub mod trace;
