//! Non-reversible parallel tempering around any kernel and any model (Syed, Bouchard-Côté, Deligiannidis
//! and Doucet 2022), and log Z with it.
//!
//! Replicas stand on rungs 0 = b₀ < … < b_N = 1 of the path p^(1−b) π^b from independent sites p to the
//! model π. In a *scan* every replica makes a step of the kernel, the lowest one is drawn afresh from p, and
//! neighbours swap rungs: even pairs in even scans, odd pairs in odd ones. So states of the highest rung have
//! come all the way from p and are in no mode for ever.
//!
//! ```
//! use saltus::model::lattice::Lattice;
//! use saltus::model::pairwise::Pairwise;
//! use saltus::temper::Temper;
//! use saltus::{Run, Sampler, Settings};
//! // Spins that are all up or all down, and never change from one to the other on their own.
//! let model = Pairwise::ising_lattice(Lattice::periodic(6, 6)?, 0.7, vec![0.0; 36])?;
//! let settings = Settings {
//!     temper: Some(Temper::default()), chains: 4, warmup: 400, draws: 500, ..Sampler::gibbs().into()
//! };
//! let outcome = Run::new(&model, settings)
//!     .observe("up", |state: &[u8]| state.iter().map(|x| f64::from(*x)).sum())
//!     .go()?;
//! let ladder = outcome.tempering.expect("asked for");
//! assert!(ladder.round_trips > 10);
//! let mostly_up = |chain: &Vec<f64>| chain.iter().filter(|up| **up > 18.0).count();
//! assert!(outcome.trace.series("up").unwrap().iter().all(|chain| mostly_up(chain) > 10));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adapt;
mod barrier;
mod cubic;
mod ensemble;
mod evidence;
mod ladder;
mod mbar;
mod report;
mod rungs;

pub(crate) use adapt::{Adapter, Measured, Plan};
pub use barrier::{IDENTIFIED, trips_per_scan};
#[cfg(test)]
pub(crate) use ensemble::{Ensemble, Swapped};
pub use ladder::RungDraw;
pub(crate) use ladder::{Ladder, LadderParts, NewBlock, RungNumbers};
pub use mbar::{Averages, Reweighting, Value};
pub(crate) use report::Tally;
pub use report::{LadderVerdict, TemperReport};
pub use rungs::Rungs;

use serde::{Deserialize, Serialize};

/// How a run is tempered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Temper {
    /// Number of rungs, the base and the model among them; found in warm-up unless it is given.
    pub rungs: Option<usize>,
    /// The ladder itself, if it was found before: by the pilot of a run in parts. Nothing is changed about it in warm-up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ladder: Option<Rungs>,
}
