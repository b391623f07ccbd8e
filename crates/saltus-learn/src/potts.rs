//! Potts models of aligned sequences: direct coupling analysis by Boltzmann learning.
//!
//! log p(x) = Σᵢ hᵢ(xᵢ) + Σ_{i<j} Jᵢⱼ(xᵢ, xⱼ) is the least committed distribution with the frequencies of letters and of
//! pairs of letters that an [`Alignment`] shows (Weigt et al. 2009; Figliuzzi, Barrat-Charlaix and Weigt 2018). log p is linear
//! in h and J, so that the data enter by their [`Frequencies`] alone, and chains are all that an iteration needs. What
//! adabmDCA judges by is printed here too: the correlation of connected two-site correlations (Rosset et al. 2025).
//!
//! ```
//! use saltus_learn::potts::{Alignment, PottsSettings, train_potts};
//! use saltus::Control;
//! let fasta = ">a\nACA\n>b\nAGA\n>c\nCGC\n>d\nCAC\n";
//! let alignment = Alignment::read_fasta(fasta.as_bytes(), None)?;
//! // Of few letters all pairs are frequent: Adam may follow each at its own pace.
//! let settings = PottsSettings { chains: 200, iterations: 400, epsilon: 0.05, ..PottsSettings::default() };
//! let trained = train_potts(&alignment, &settings, |_| Control::Continue)?;
//! // The first and the third letter go together.
//! assert!(trained.model.coupling(0, 2, 1, 1) > trained.model.coupling(0, 2, 1, 2) + 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alignment;
mod file;
mod frequencies;
mod model;
#[cfg(test)]
mod tests;
mod train;

pub use alignment::Alignment;
pub use file::{fasta, parameters_text};
pub use frequencies::Frequencies;
pub use model::{Potts, PottsCache};
pub use train::{
    PottsProgress, PottsReport, PottsSettings, PottsTraining, TrainedPotts, train_potts,
};
