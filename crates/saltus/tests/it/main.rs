//! The library from outside: models, samplers, runs, stores and what they say.

#[cfg(feature = "zarr")]
mod folder;
mod tools;

mod agreement;
mod arviz;
mod book;
mod examples;
mod imports;
mod mixed;
mod models;
#[cfg(feature = "zarr")]
mod own;
mod panics;
#[cfg(feature = "zarr")]
mod resume;
mod running;
mod stationary;
#[cfg(feature = "zarr")]
mod store;
mod training;
mod verdicts;
