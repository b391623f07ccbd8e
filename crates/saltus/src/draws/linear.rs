//! Linear observables of a state, read from text files of one weight per line.

use super::observable::Observable;
use crate::error::ModelError;
use crate::model::edge_list::{number, read_lines, site, value_of};
use crate::space::Space;
use std::collections::HashMap;
use std::path::Path;

/// A weighted sum over sites: of their values, or of whether they have a certain value.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("weights.txt");
/// use saltus::Space;
/// use saltus::draws::linear::Linear;
/// use saltus::Observable;
/// std::fs::write(&path, "# site weight\n0 0.5\n# site value weight\n2 1 10\n")?;
/// let observable = Linear::read(&path, &Space::new(3, 4)?)?;
/// assert_eq!(observable.value(&[3, 0, 1]), 11.5);
/// assert_eq!(observable.value(&[2, 0, 2]), 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    terms: Vec<Term>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Term {
    site: usize,
    /// The value that counts; otherwise all do, as numbers.
    value: Option<u8>,
    weight: f64,
}

impl Linear {
    /// Reads `site weight` or `site value weight` per line, separated by spaces or commas, sites
    /// and values counted from 0. What follows a `#` is a comment.
    pub fn read(path: impl AsRef<Path>, space: &Space) -> Result<Self, ModelError> {
        let path = path.as_ref();
        let failed = |reason| ModelError::File { path: path.display().to_string(), reason };
        let lines = read_lines(path, |words| {
            let (at, value, weight) = match words {
                [at, weight] => (at, None, weight),
                [at, value, weight] => (at, Some(value_of(value, space.values())? as u8), weight),
                _ => {
                    return Err(format!(
                        "expected 'site weight' or 'site value weight', found '{}'",
                        words.join(" ")
                    ));
                }
            };
            let at = site(at)? as usize;
            if at >= space.sites() {
                return Err(format!("names site {at}, but the last site is {}", space.sites() - 1));
            }
            let number: f64 = number(weight, "a number")?;
            if !number.is_finite() {
                return Err(format!("'{weight}' is not a finite number"));
            }
            Ok(Term { site: at, value, weight: number })
        })?;
        let mut seen = HashMap::new();
        for (line, term) in &lines {
            if let Some(earlier) = seen.insert((term.site, term.value), line) {
                return Err(failed(format!(
                    "line {line}: the weight of site {} was already given in line {earlier}",
                    term.site
                )));
            }
        }
        if lines.is_empty() {
            return Err(failed("holds no weight".to_owned()));
        }
        Ok(Self { terms: lines.into_iter().map(|(_, term)| term).collect() })
    }
}

impl Observable for Linear {
    /// The sum for one state of the space it was read for.
    fn value(&self, state: &[u8]) -> f64 {
        let terms = self.terms.iter().map(|term| match term.value {
            None => term.weight * f64::from(state[term.site]),
            Some(value) if state[term.site] == value => term.weight,
            Some(_) => 0.0,
        });
        terms.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Linear, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let found = Linear::read(file.path(), &Space::new(4, 3).unwrap());
        found.map_err(|error| error.to_string())
    }

    #[test]
    fn bad_files_are_refused_in_a_sentence() {
        let cases = [
            ("", "holds no weight"),
            ("0 1\n1", "line 2: expected 'site weight'"),
            ("0 1 2 3", "found '0 1 2 3'"),
            ("4 1", "names site 4, but the last site is 3"),
            ("0 3 1", "names value 3, but the last value is 2"),
            ("0 heavy", "found 'heavy'"),
            ("0 inf", "'inf' is not a finite number"),
            ("1 2\n1 3", "line 2: the weight of site 1 was already given in line 1"),
        ];
        for (text, expected) in cases {
            let sentence = read(text).unwrap_err();
            assert!(sentence.contains(expected), "{text}: {sentence}");
        }
        assert!(read("1 2\n1 0 3\n1 1 3").is_ok());
    }
}
