//! Observables that a user names: weights of sites in a file, powers of the magnetisation, structure factors.

use crate::failure::Failure;
use saltus::draws::linear::Linear;
use saltus::draws::magnet::{MagnetisationPower, OfMagnetisation, StructureFactor};
use saltus::draws::sink::STATISTICS;
use saltus::draws::trace::{HAMMING, LOG_PROB};
use saltus::run::MAGNETISATION;
use saltus::summary::ENERGY;
use saltus::{Observable, Space};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::str::FromStr;

/// A name, and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observe {
    /// Its name among the observables.
    pub name: String,
    /// Where its weights are, if they are in a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Waves along each axis, if it is a structure factor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waves: Option<Vec<i64>>,
}

/// Names that need no file.
const POWERS: [(&str, MagnetisationPower); 3] = [
    ("abs_m", MagnetisationPower::Absolute),
    ("m2", MagnetisationPower::Second),
    ("m4", MagnetisationPower::Fourth),
];
/// The same of structure factors, before their waves.
const STRUCTURE: &str = "structure:";

impl FromStr for Observe {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if POWERS.iter().any(|(name, _)| *name == text) {
            return Ok(Self { name: text.to_owned(), file: None, waves: None });
        }
        if let Some(waves) = text.strip_prefix(STRUCTURE) {
            let wrong =
                || format!("'{text}' is not structure:K,K with a number of waves for every axis");
            let waves: Vec<i64> = waves
                .split(',')
                .map(|wave| wave.trim().parse().map_err(|_| wrong()))
                .collect::<Result<_, _>>()?;
            let words = waves.iter().map(|wave| wave.to_string().replace('-', "m"));
            let name = format!("structure_{}", words.collect::<Vec<_>>().join("_"));
            return Ok(Self { name, file: None, waves: Some(waves) });
        }
        let Some((name, file)) = text.split_once('=') else {
            return Err(
                "expected NAME=FILE, such as left=weights.txt, or abs_m, m2, m4, structure:0,1"
                    .to_owned(),
            );
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
        Ok(Self { name: name.to_owned(), file: Some(PathBuf::from(file)), waves: None })
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

    /// The observable.
    pub fn read(&self, space: &Space) -> Result<Box<dyn Observable>, Failure> {
        if let Some(file) = &self.file {
            return Ok(Box::new(Linear::read(file, space)?));
        }
        if !space.is_binary() {
            return Err(Failure::Usage(format!(
                "{} is of spins: of sites of two values",
                self.name
            )));
        }
        if let Some(waves) = &self.waves {
            let structure = StructureFactor::new(space, waves).ok_or_else(|| {
                let axes = space.shape().map_or(0, <[usize]>::len);
                Failure::Usage(format!(
                    "{} has a wave for {} axes, but sites stand in {axes}",
                    self.name,
                    waves.len()
                ))
            })?;
            return Ok(Box::new(structure));
        }
        let power = POWERS.iter().find(|(name, _)| *name == self.name);
        let power = power.map_or(MagnetisationPower::Absolute, |(_, power)| *power);
        Ok(Box::new(OfMagnetisation { power, sites: space.sites() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_a_file() {
        let observe: Observe = "left=a=b.txt".parse().unwrap();
        assert_eq!((observe.name.as_str(), observe.file), ("left", Some("a=b.txt".into())));
        let waves: Observe = "structure:0,-1".parse().unwrap();
        assert_eq!((waves.name.as_str(), waves.waves), ("structure_0_m1", Some(vec![0, -1])));
        for wrong in [
            "structure:",
            "structure:1,x",
            "m3",
            "left",
            "=file",
            "left=",
            "2nd=file",
            "a/b=file",
            "a b=file",
        ] {
            assert!(wrong.parse::<Observe>().is_err(), "{wrong}");
        }
    }
}
