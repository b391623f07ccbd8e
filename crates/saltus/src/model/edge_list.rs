//! Reads graphs of couplings and their fields from text files of one entry per line.

use super::graph::Edge;
use crate::error::ModelError;
use std::collections::HashMap;
use std::path::Path;
use std::str::FromStr;

/// Reads couplings: one edge `i j J` per line, separated by spaces or commas, sites numbered from
/// 0. What follows a `#` is a comment.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("triangle.txt");
/// std::fs::write(&path, "# a triangle\n0 1 0.5\n1 2 0.5\n2, 0, -0.5\n")?;
/// let edges = saltus::model::edge_list::read_edges(&path)?;
/// assert_eq!((edges[2].from, edges[2].to, edges[2].weight), (2, 0, -0.5));
/// assert_eq!(saltus::model::edge_list::sites_joined(&edges), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_edges(path: impl AsRef<Path>) -> Result<Vec<Edge>, ModelError> {
    let edges = read_lines(path.as_ref(), |words| {
        let [from, to, weight] = words else {
            return Err(format!(
                "expected an edge 'i j J' of two sites and a coupling, found '{}'",
                words.join(" ")
            ));
        };
        let edge = Edge { from: site(from)?, to: site(to)?, weight: weight_of(weight)? };
        if edge.from == edge.to {
            return Err(format!("joins site {from} to itself; use a field instead"));
        }
        Ok(edge)
    })?;
    Ok(edges.into_iter().map(|(_, edge)| edge).collect())
}

/// Number of sites that a list of edges needs: its largest site and one, as they count from 0.
pub fn sites_joined(edges: &[Edge]) -> usize {
    edges.iter().map(|edge| edge.from.max(edge.to) as usize + 1).max().unwrap_or(0)
}

/// Reads fields, for sites that have one: `i b` per line with two values per site (pulling towards
/// value 1 where b > 0), `i value b` with more. The rest is as in [`read_edges`].
///
/// The result has the layout of [`Pairwise::ising`](super::pairwise::Pairwise::ising) or
/// [`Pairwise::potts`](super::pairwise::Pairwise::potts), with 0 where the file says nothing.
pub fn read_fields(
    path: impl AsRef<Path>,
    sites: usize,
    values: usize,
) -> Result<Vec<f32>, ModelError> {
    let path = path.as_ref();
    let planes = if values == 2 { 1 } else { values };
    let entries = read_lines(path, |words| {
        let (number, value, field) = match words {
            [number, field] if planes == 1 => (number, 0, field),
            [number, value, field] if planes > 1 => (number, value_of(value, values)?, field),
            _ => {
                let expected = if planes == 1 { "'i b'" } else { "'i value b'" };
                return Err(format!(
                    "expected a field {expected} of a site with {values} values, found '{}'",
                    words.join(" ")
                ));
            }
        };
        let at = site(number)? as usize;
        if at >= sites {
            return Err(format!("names site {at}, but the last site is {}", sites as i64 - 1));
        }
        Ok((at * planes + value, weight_of(field)?))
    })?;
    let mut fields = vec![0.0; sites * planes];
    let mut seen = HashMap::new();
    for (line, (at, field)) in entries {
        if let Some(earlier) = seen.insert(at, line) {
            let value =
                if planes > 1 { format!(" of value {}", at % planes) } else { String::new() };
            let reason = format!(
                "line {line}: the field{value} at site {} was already given in line {earlier}",
                at / planes
            );
            return Err(ModelError::File { path: path.display().to_string(), reason });
        }
        fields[at] = field;
    }
    Ok(fields)
}

/// Hands the words of every line that has some to `parse`; results and errors come with the
/// line's number.
pub(crate) fn read_lines<T>(
    path: &Path,
    parse: impl Fn(&[&str]) -> Result<T, String>,
) -> Result<Vec<(usize, T)>, ModelError> {
    let failed = |reason| ModelError::File { path: path.display().to_string(), reason };
    let text = std::fs::read_to_string(path)
        .map_err(|error| failed(format!("cannot be read: {error}")))?;
    let mut entries = Vec::new();
    // Some editors begin a file with an invisible mark.
    for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let content = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = content
            .split(|c: char| c == ',' || c.is_whitespace())
            .filter(|word| !word.is_empty())
            .collect();
        if !words.is_empty() {
            let entry =
                parse(&words).map_err(|reason| failed(format!("line {}: {reason}", number + 1)))?;
            entries.push((number + 1, entry));
        }
    }
    Ok(entries)
}

pub(crate) fn site(word: &str) -> Result<u32, String> {
    number(word, "the number of a site, counted from 0").and_then(|site: u32| {
        // The number of sites must have room in the same type.
        if site == u32::MAX { Err(format!("site {site} is too large")) } else { Ok(site) }
    })
}

pub(crate) fn value_of(word: &str, values: usize) -> Result<usize, String> {
    let value: usize = number(word, "a value, counted from 0")?;
    if value < values {
        Ok(value)
    } else {
        Err(format!("names value {value}, but the last value is {}", values - 1))
    }
}

fn weight_of(word: &str) -> Result<f32, String> {
    let weight: f32 = number(word, "a number")?;
    if weight.is_finite() { Ok(weight) } else { Err(format!("'{word}' is not a finite number")) }
}

pub(crate) fn number<T: FromStr>(word: &str, expected: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("expected {expected}, found '{word}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    fn edges(text: &str) -> Result<Vec<Edge>, String> {
        read_edges(file(text).path()).map_err(reason)
    }

    fn fields(text: &str, sites: usize, values: usize) -> Result<Vec<f32>, String> {
        read_fields(file(text).path(), sites, values).map_err(reason)
    }

    fn reason(error: ModelError) -> String {
        match error {
            ModelError::File { reason, .. } => reason,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn spaces_commas_comments_and_blank_lines() {
        let found = edges("\u{feff}# graph\r\n\n 0\t1  1e-1 # weak\r\n1,2,-2\n").unwrap();
        let edge = |from, to, weight| Edge { from, to, weight };
        assert_eq!(found, [edge(0, 1, 0.1), edge(1, 2, -2.0)]);
        assert_eq!(sites_joined(&found), 3);
        assert_eq!(sites_joined(&edges("# nothing").unwrap()), 0);
    }

    #[test]
    fn fields_go_where_they_belong() {
        assert_eq!(fields("2 1.5\n0,-1\n", 3, 2).unwrap(), [-1.0, 0.0, 1.5]);
        assert_eq!(fields("1 2 0.5", 2, 3).unwrap(), [0.0, 0.0, 0.0, 0.0, 0.0, 0.5]);
    }

    #[test]
    fn sentences_name_the_line_and_what_was_found() {
        let cases = [
            (edges("0 1 1\n0 1\n").map(drop), "line 2: expected an edge 'i j J'"),
            (edges("0 1 1 1").map(drop), "found '0 1 1 1'"),
            (edges("# x\n\n-1 1 1").map(drop), "line 3: expected the number of a site"),
            (edges("0 1.5 1").map(drop), "found '1.5'"),
            (edges("0 1 strong").map(drop), "found 'strong'"),
            (edges("0 1 NaN").map(drop), "'NaN' is not a finite number"),
            (edges("0 1 1e99").map(drop), "'1e99' is not a finite number"),
            (edges("5 5 1").map(drop), "line 1: joins site 5 to itself"),
            (edges("0 4294967295 1").map(drop), "too large"),
            (fields("0 1 1", 3, 2).map(drop), "expected a field 'i b'"),
            (fields("0 1", 3, 4).map(drop), "expected a field 'i value b'"),
            (fields("0 4 1", 3, 4).map(drop), "names value 4, but the last value is 3"),
            (fields("3 1", 3, 2).map(drop), "names site 3, but the last site is 2"),
            (
                fields("1 1\n1 2", 3, 2).map(drop),
                "line 2: the field at site 1 was already given in line 1",
            ),
            (
                fields("1 2 1\n1 2 2", 3, 3).map(drop),
                "line 2: the field of value 2 at site 1 was already",
            ),
        ];
        for (result, expected) in cases {
            let sentence = result.unwrap_err();
            assert!(sentence.contains(expected), "{sentence}");
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = read_edges("no/such/edges.txt").unwrap_err().to_string();
        assert!(error.starts_with("no/such/edges.txt: cannot be read"), "{error}");
    }
}
