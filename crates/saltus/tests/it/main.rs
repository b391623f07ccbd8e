//! The library as its users see it.

mod agreement;
mod arviz;
#[cfg(feature = "zarr")]
mod folder;
mod models;
#[cfg(feature = "zarr")]
mod resume;
mod running;
mod stationary;
#[cfg(feature = "zarr")]
mod store;
mod tools;
mod training;
mod verdicts;
