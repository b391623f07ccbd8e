//! The library from outside: models, samplers, runs, stores and what they say.

#[cfg(feature = "zarr")]
mod folder;
mod tools;

mod agreement;
mod arviz;
#[cfg(feature = "zarr")]
mod attacks;
mod book;
mod coverage;
mod examples;
mod formats;
mod imports;
mod large;
mod marginals;
mod mixed;
mod models;
#[cfg(feature = "zarr")]
mod own;
mod panics;
mod readers;
#[cfg(feature = "zarr")]
mod resume;
mod running;
mod stationary;
#[cfg(feature = "zarr")]
mod store;
mod tempering;
mod tuning;
mod verdicts;
