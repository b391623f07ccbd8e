//! Fast, exact sampling from discrete distributions.
//!
//! A [`Model`] gives log π of a block of states, and the differences that single changes would
//! make. A [`Sampler`] moves chains through its [`Space`]. A [`Run`] warms them up, tunes the
//! sampler's scale, draws, and leaves an [`Outcome`] that a [`Summary`] puts into numbers and words.
//!
//! ```
//! use saltus::model::callable::Callable;
//! use saltus::{Settings, Space, Summary, run};
//!
//! // Twelve bits that like their neighbours to be equal.
//! let model = Callable::new(Space::new(12, 2)?, |states, log_prob| {
//!     for (state, log_prob) in states.rows().zip(log_prob) {
//!         *log_prob = state.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64;
//!     }
//!     Ok(())
//! });
//! let settings = Settings { chains: 8, warmup: 300, draws: 300, ..Settings::default() };
//! let outcome = run::sample(&model, settings)?;
//! let summary = Summary::new("neighbours", &outcome);
//! // Each of the eleven pairs is equal with probability e/(1 + e).
//! let exact = 11.0 * 1f64.exp() / (1.0 + 1f64.exp());
//! assert!((summary.log_prob.mean.unwrap() - exact).abs() < 0.3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Data flows through the modules in this order, and imports go only this way: `space` and
//! [`rng`], [`model`], [`kernel`], `sampler`, `tune`, `engine`, [`draws`], [`run`], `store`,
//! [`ais`], `summary`. Draws go to memory ([`Trace`]) or, with the feature `zarr`, to disk (`store`),
//! from where a run can be resumed. [`ais`] finds normalisers, and with them likelihoods. Models are learnt from
//! data by the crate `saltus-learn`.
//!
//! # Where to look
//!
//! | to do what | look at |
//! |---|---|
//! | sample a model of this library | [`model`], or by name [`zoo`]; then [`Run`] |
//! | sample a model of your own | [`Model`], [`model::callable`], the example `own_model` |
//! | fix some sites | [`model::clamped`] |
//! | choose and set a sampler | [`Sampler`], [`Balancing`], [`Closeness`] |
//! | move chains by a kernel of your own | [`Kernel`], [`Chains`], [`Run::with_kernel`], the example `own_kernel` |
//! | take numbers from draws | [`Observable`], [`Observer`], [`draws::observers`], the example `custom_observer` |
//! | keep draws, stop and resume | [`Trace`], [`Sink`], `store`, the example `draws_and_resume` |
//! | judge a run | [`Summary`], [`Finding`], [`stats`] |
//! | cross between modes | [`temper`] |
//! | find the best states | [`minimize`] |
//! | find log Z | [`temper`], [`ais`], the example `log_z` |
//!
//! # Features
//!
//! Nothing is on by default.
//!
//! | feature | what it adds |
//! |---|---|
//! | `zarr` | `store`: draws on disk as a Zarr store that xarray and ArviZ open, runs that are resumed from it, files of annealing's checkpoints |
//! | `clap` | the models of [`zoo`] as subcommands of a command line |
//!
//! # Promises
//!
//! The same seed gives the same draws, byte for byte, for any number of threads and however often a run is
//! stopped and resumed. A model's −∞ is a forbidden state and is rejected; NaN and +∞ stop the run, which
//! names chain and step and keeps what was drawn. There is no `unsafe` code.

// Tests compile files that use the library from outside.
#[cfg(test)]
extern crate self as saltus;

mod adjacency;
pub mod ais;
mod balancing;
mod base;
pub mod choose;
mod closeness;
mod control;
pub mod draws;
#[doc(hidden)]
pub mod engine;
mod error;
pub mod exact;
#[doc(hidden)]
pub mod files;
mod finding;
pub mod floor;
pub mod kernel;
#[doc(hidden)]
pub mod math;
pub mod minimize;
pub mod model;
#[doc(hidden)]
pub mod names;
mod parts;
pub mod rng;
pub mod run;
#[doc(hidden)]
pub mod sampler;
mod scouts;
#[cfg(test)]
mod skeletons;
#[doc(hidden)]
pub mod space;
pub mod stats;
#[cfg(feature = "zarr")]
pub mod store;
#[doc(hidden)]
pub mod summary;
pub mod temper;
#[doc(hidden)]
pub mod tensor_file;
#[doc(hidden)]
pub mod tune;
mod workers;
pub mod zoo;

// What a model is made of.
pub use adjacency::Adjacency;
pub use base::Base;
pub use error::ModelError;
pub use model::callable::Callable;
pub use model::clamped::Clamped;
pub use model::factor::Factor;
pub use model::factors::Factors;
pub use model::graph::Edge;
pub use model::independent::Independent;
pub use model::lattice::Lattice;
pub use model::pairwise::Pairwise;
pub use model::rbm::Rbm;
pub use model::{Differences, Model, Rung, Sweep, Work};
pub use space::{Space, States};

// How chains move.
pub use balancing::Balancing;
pub use closeness::Closeness;
pub use error::{StepError, StepFailure};
pub use kernel::solver::Solver;
pub use kernel::{
    ChainMut, Chains, Journal, Kernel, KernelTraits, Kind, ScaleTraits, ScaleUnit, SiteChange,
    StepReport,
};
pub use rng::{ChainRng, Stream};
pub use sampler::{Method, Sampler, SamplerError};

// Runs.
pub use choose::{Choice, Trial};
pub use control::{Control, Ended, Reached, Seconds};
pub use run::{Checkpoint, ModelRef, Outcome, Progress, Run, RunError, Settings};
pub use tune::Round;
pub use workers::Workers;

// What is taken from draws, and where it goes.
pub use draws::observable::{Count, Hamming, Magnetisation, Observable};
pub use draws::observer::{Draws, Observer};
pub use draws::observers::{Best, BestState, Histogram, MarginalTable, Marginals, Moments};
pub use draws::sink::{ChainDraws, Plan, Saved, Sink, SinkError};
pub use draws::sites::{SiteCounts, Sites};
pub use draws::trace::Trace;

// What a run came to.
pub use finding::{
    AcceptanceCause, Advice, Assurance, Disagreement, Finding, is_further_distance, of_annealing,
    of_ladder, plain_name,
};
pub use run::{Elsewhere, Scouts, Unsent};
pub use summary::{ObservableSummary, Summary};

/// The examples of the READMEs and of the book are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../README.md")]
#[doc = include_str!("../../../docs/architecture.md")]
#[doc = include_str!("../../../docs/likelihood.md")]
#[doc = include_str!("../../../docs/models.md")]
#[doc = include_str!("../../../docs/observing.md")]
#[doc = include_str!("../../../docs/own-model.md")]
struct Pages;
