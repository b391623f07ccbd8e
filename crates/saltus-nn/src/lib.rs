//! Deep energy-based models of discrete data, to sample from and to train with [`saltus`].
//!
//! An [`Architecture`] names a network of the family of residual networks that the paper trains.
//! [`Parameters`] and the [`Frequencies`] of pixels make it a [`DeepModel`], which every sampler of
//! [`saltus`] takes. How the network is computed is behind one trait, [`Network`]: [`Cpu`] by this
//! crate's own loops, and with the feature `burn` `Burn` by burn's tensors, on a GPU with `wgpu` or
//! `cuda`. A deep model is learnt by [`saltus_learn`], by the recipes of [`train`].

mod architecture;
#[cfg(feature = "burn")]
mod burn;
mod cpu;
#[doc(hidden)]
pub mod derivative;
#[doc(hidden)]
pub mod file;
mod frequencies;
mod gradient;
pub mod layout;
mod model;
mod network;
mod parameters;
#[cfg(test)]
mod reference;
pub mod train;

pub use architecture::Architecture;
#[cfg(feature = "burn")]
pub use burn::Burn;
pub use cpu::{Cpu, CpuWorkspace};
pub use frequencies::Frequencies;
pub use gradient::DeepWork;
pub use model::{DeepCache, DeepModel};
pub use network::Network;
pub use parameters::Parameters;
