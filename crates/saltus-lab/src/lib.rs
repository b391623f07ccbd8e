//! The laboratory of saltus: what was built to study its samplers and is not needed to use them.
//!
//! [`study`] names what the paper measured; the command `saltus-lab paper` repeats it and judges its
//! claims. [`flow`] is the gradient flow behind the samplers, on spaces small enough to enumerate.
//! [`vae`] is a variational autoencoder, which deep energy-based models are compared with. The example
//! `schemes` tries discretisations that the samplers do not have.

#[doc(hidden)]
pub mod arguments;
#[doc(hidden)]
pub mod commands;
pub mod flow;
pub mod study;
pub mod vae;
