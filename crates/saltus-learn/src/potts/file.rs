//! Potts models and sequences as text, in the formats of adabmDCA.

use super::Potts;
use saltus::Model;
use std::fmt::Write;

/// The parameters as adabmDCA writes them, `J i j a b v` for i < j and `h i a v`, which `saltus sample FILE` reads.
pub fn parameters_text(model: &Potts, letters: &[char]) -> String {
    let sites = model.space().sites();
    let mut text = String::new();
    for one in 0..sites {
        for other in one + 1..sites {
            for (a, letter) in letters.iter().enumerate() {
                for (b, other_letter) in letters.iter().enumerate() {
                    let number = model.coupling(one, other, a as u8, b as u8);
                    let _ = writeln!(text, "J {one} {other} {letter} {other_letter} {number}");
                }
            }
        }
    }
    for site in 0..sites {
        for (a, letter) in letters.iter().enumerate() {
            let _ = writeln!(text, "h {site} {letter} {}", model.field(site, a as u8));
        }
    }
    text
}

/// Sequences of a model as FASTA, each with its energy −log π, as adabmDCA writes them.
pub fn fasta(states: &[u8], log_probs: &[f64], letters: &[char]) -> String {
    let mut text = String::new();
    let sites = states.len() / log_probs.len().max(1);
    for (number, (state, log_prob)) in states.chunks_exact(sites.max(1)).zip(log_probs).enumerate()
    {
        let letters: String = state.iter().map(|value| letters[usize::from(*value)]).collect();
        let _ = writeln!(text, ">sequence {} | DCAenergy: {:.3}\n{letters}", number + 1, -log_prob);
    }
    text
}
