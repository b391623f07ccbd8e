//! Observables that a user names: weights of sites in a file.

use crate::failure::Failure;
use saltus::Space;
use saltus::draws::linear::Linear;
use saltus::draws::sink::STATISTICS;
use saltus::draws::trace::{HAMMING, LOG_PROB};
use saltus::run::MAGNETISATION;
use saltus::summary::ENERGY;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::str::FromStr;

/// A name and the file of its weights.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observe {
    /// Its name among the observables.
    pub name: String,
    /// Where its weights are.
    pub file: PathBuf,
}

impl FromStr for Observe {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((name, file)) = text.split_once('=') else {
            return Err("expected NAME=FILE, such as left=weights.txt".to_owned());
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(plain) {
            return Err(format!(
                "'{name}' is not a name of letters, digits and underscores that begins with a letter"
            ));
        }
        if file.is_empty() {
            return Err(format!("{name} has no file; expected NAME=FILE"));
        }
        Ok(Self { name: name.to_owned(), file: PathBuf::from(file) })
    }
}

impl Observe {
    /// Whether a name has a meaning of its own, in a run or in its store.
    pub fn is_taken(name: &str) -> bool {
        let coordinates = [
            "marginals",
            "best",
            "best_states",
            "chain",
            "draw",
            "site",
            "byte",
            "state",
            "state_bits",
            "lp",
        ];
        let own = [LOG_PROB, ENERGY, MAGNETISATION];
        name.starts_with(HAMMING)
            || own.contains(&name)
            || STATISTICS.contains(&name)
            || coordinates.contains(&name)
    }

    /// Reads its weights.
    pub fn read(&self, space: &Space) -> Result<Linear, Failure> {
        Ok(Linear::read(&self.file, space)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_a_file() {
        let observe: Observe = "left=a=b.txt".parse().unwrap();
        assert_eq!((observe.name.as_str(), observe.file.to_str()), ("left", Some("a=b.txt")));
        for wrong in ["left", "=file", "left=", "2nd=file", "a/b=file", "a b=file"] {
            assert!(wrong.parse::<Observe>().is_err(), "{wrong}");
        }
    }
}
