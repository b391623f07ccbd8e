//! Aligned sequences: read from FASTA or made of states, and weighted by how many are alike.

use crate::data::DataError;
use rayon::prelude::*;
use saltus::Space;
use saltus::math::bytes::count_differences;

/// Alphabets that letters are looked for in, in this order.
const ALPHABETS: [&str; 3] = ["-ACGU", "-ACGT", "-ACDEFGHIKLMNPQRSTVWY"];
/// An alphabet is that of an alignment if it has all letters of so many of its sequences.
const MOST: f64 = 0.5;

/// Sequences of equal length over an alphabet.
#[derive(Clone, Debug, PartialEq)]
pub struct Alignment {
    letters: Vec<char>,
    space: Space,
    states: Vec<u8>,
    left_out: usize,
}

impl Alignment {
    /// Reads a FASTA file, in an alphabet that is found by its letters unless one is given. A sequence with
    /// letters that are not of the alphabet is left out, as adabmDCA does; a point is a gap.
    pub fn read_fasta(bytes: &[u8], alphabet: Option<&str>) -> Result<Self, DataError> {
        let sequences = sequences(bytes)?;
        let alphabet = match alphabet {
            Some(alphabet) => alphabet.to_owned(),
            None => alphabet_of(&sequences)?,
        };
        let letters: Vec<char> = alphabet.chars().collect();
        check_letters(&letters)?;
        let length = sequences[0].1.chars().count();
        let mut states = Vec::with_capacity(sequences.len() * length);
        let mut left_out = 0;
        for (line, sequence) in &sequences {
            let found = sequence.chars().count();
            if found != length {
                return Err(DataError::Invalid(format!(
                    "the sequence at line {line} has {found} letters, but the first has {length}: \
                     sequences must be aligned"
                )));
            }
            let value = |letter| letters.iter().position(|known| *known == letter);
            let values: Option<Vec<u8>> =
                sequence.chars().map(|letter| Some(value(letter)? as u8)).collect();
            match values {
                Some(values) => states.extend(values),
                None => left_out += 1,
            }
        }
        if states.is_empty() {
            return Err(DataError::Invalid(format!(
                "no sequence has letters of the alphabet {alphabet} alone"
            )));
        }
        let space = space(length, letters.len())?;
        Ok(Self { letters, space, states, left_out })
    }

    /// States of a space, one after the other, whose values are called by these letters; by digits and letters
    /// without any.
    pub fn of_states(states: Vec<u8>, sites: usize, values: usize) -> Result<Self, DataError> {
        let names = ('0'..='9').chain('A'..='Z').chain('a'..='z');
        let letters: Vec<char> = names.take(values).collect();
        if letters.len() < values {
            return Err(DataError::Invalid(format!(
                "{values} values are more than the {} letters there are",
                letters.len()
            )));
        }
        check_letters(&letters)?;
        let space = space(sites, values)?;
        // The same checks as for any other examples.
        crate::data::Examples::new(space.clone(), states.clone())?;
        Ok(Self { letters, space, states, left_out: 0 })
    }

    /// The letters that values stand for.
    pub fn letters(&self) -> &[char] {
        &self.letters
    }

    /// The space of its sequences.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The sequences as states, one after the other.
    pub fn states(&self) -> &[u8] {
        &self.states
    }

    /// Number of sequences.
    pub fn count(&self) -> usize {
        self.states.len() / self.space.sites()
    }

    /// Sequences that were left out because of their letters.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// The weight of every sequence: one over the number of sequences, itself among them, that agree with it
    /// at a share of `identity` of the sites or more.
    pub fn weights(&self, identity: f64) -> Vec<f64> {
        let sites = self.space.sites();
        // What may differ, such that rounding does not decide.
        let most = ((1.0 - identity) * sites as f64 + 1e-9).floor() as u32;
        let rows: Vec<&[u8]> = self.states.chunks_exact(sites).collect();
        let alike =
            |row: &&[u8]| rows.iter().filter(|other| count_differences(row, other) <= most).count();
        rows.par_iter().map(|row| 1.0 / alike(row) as f64).collect()
    }
}

fn space(sites: usize, values: usize) -> Result<Space, DataError> {
    Space::new(sites, values).map_err(|error| DataError::Invalid(error.to_string()))
}

fn check_letters(letters: &[char]) -> Result<(), DataError> {
    let twice = |at: usize| letters[..at].contains(&letters[at]);
    if let Some(at) = (0..letters.len()).find(|at| twice(*at)) {
        return Err(DataError::Invalid(format!("the alphabet has {} twice", letters[at])));
    }
    match letters.len() {
        2..=256 => Ok(()),
        length => Err(DataError::Invalid(format!(
            "an alphabet has between 2 and 256 letters, not {length}"
        ))),
    }
}

/// The sequences of a FASTA file with the lines they begin at.
fn sequences(bytes: &[u8]) -> Result<Vec<(usize, String)>, DataError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| DataError::Invalid("is not a text, as FASTA files are".to_owned()))?;
    let mut sequences: Vec<(usize, String)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('>') {
            sequences.push((number + 1, String::new()));
            continue;
        }
        if line.is_empty() {
            continue;
        }
        let Some((_, sequence)) = sequences.last_mut() else {
            return Err(DataError::Invalid(format!(
                "line {}: a FASTA file begins with '>' and a name",
                number + 1
            )));
        };
        sequence.extend(line.chars().map(|letter| match letter {
            '.' => '-',
            letter => letter.to_ascii_uppercase(),
        }));
    }
    if sequences.is_empty() {
        return Err(DataError::Invalid("holds no sequence ('>' and a name)".to_owned()));
    }
    match sequences.iter().find(|(_, sequence)| sequence.is_empty()) {
        Some((line, _)) => {
            Err(DataError::Invalid(format!("line {line}: a name without a sequence")))
        }
        None => Ok(sequences),
    }
}

/// The smallest alphabet that most sequences are written in.
fn alphabet_of(sequences: &[(usize, String)]) -> Result<String, DataError> {
    let share = |alphabet: &str| {
        let fits = |(_, sequence): &&(usize, String)| {
            sequence.chars().all(|letter| alphabet.contains(letter))
        };
        sequences.iter().filter(fits).count() as f64 / sequences.len() as f64
    };
    ALPHABETS.into_iter().find(|alphabet| share(alphabet) > MOST).map(str::to_owned).ok_or_else(
        || {
            DataError::Invalid(format!(
                "most sequences have letters that are in none of the alphabets {}: name one",
                ALPHABETS.join(", ")
            ))
        },
    )
}
